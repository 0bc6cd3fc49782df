/** The commands that are measured. Each of them drives one agent through one prompt and ends. */
import { fileURLToPath } from "node:url";

/** A program and its arguments. */
export type Command = readonly string[];
export type Output = "text" | "json";

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const OSTLER_BUNDLE = pathOf("../dist/cli/ostler.cjs");

const ASK: Command = [process.execPath, pathOf("../bin/ostler.js"), "ask"];

/** The base of the one-shot: a Node that does nothing. */
export const BARE_NODE: Command = [process.execPath, "-e", "0"];

/** Answers the prompt with the lines of `file`, `times` over. */
export function floodAgent(file: string, times = 1): Command {
  return ["sh", pathOf("agent/flood.sh"), file, String(times)];
}

export function ostler(agent: Command, output: Output): Command {
  const format = output === "json" ? "ndjson" : "text";
  return [...ASK, "--format", format, "--agent", commandLineOf(agent), "hello"];
}

/** In a session of its own that is kept, and with it everything that goes over the wire: a run with its log. */
export function keptOstler(agent: Command, name: string): Command {
  return [...ASK, "--session", name, "--agent", commandLineOf(agent), "hello"];
}

/** acpx, the nearest neighbour, as `npm install acpx` leaves it: `cli` is its dist/cli.js. */
export function acpx(cli: string, agent: Command): Command {
  return [process.execPath, cli, "--agent", commandLineOf(agent), "--format", "text", "exec", "hello"];
}

/** The base of a frame: the least that a client in Node can do. */
export function minimalClient(agent: Command, output: Output): Command {
  return [process.execPath, pathOf("clients/minimal.js"), output, ...agent];
}

/** The agent alone, its output read and thrown away: what no client can save. */
export function agentAlone(agent: Command): Command {
  const requests = ["initialize", "session/new", "session/prompt"]
    .map((method, index) => `{"jsonrpc":"2.0","id":${index + 1},"method":"${method}"}`)
    .join("\n");
  return [
    "sh",
    "-c",
    'requests=$1; shift; printf "%s\\n" "$requests" | "$@" | wc -c',
    "agent-alone",
    requests,
    ...agent,
  ];
}

function commandLineOf(command: Command): string {
  return command.map((word) => `'${word}'`).join(" ");
}
