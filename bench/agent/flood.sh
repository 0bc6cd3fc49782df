#!/bin/sh
# usage: flood.sh FILE TIMES
# An ACP agent that costs two milliseconds, so that the client is what gets measured. It answers a prompt with the lines of
# FILE, TIMES over, at full speed, and reads nothing while it prints.
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
  *'"method":"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}' ;;
  *'"method":"session/new"'*) result='{"sessionId":"bench"}' ;;
  *'"method":"session/prompt"'*)
    left=$2
    while [ "$left" -gt 0 ]; do
      cat "$1"
      left=$((left - 1))
    done
    result='{"stopReason":"end_turn"}'
    ;;
  *) result='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
