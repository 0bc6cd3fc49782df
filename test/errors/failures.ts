/** Failures for tests that only care about some of the fields. */
import type { Failure, FailureKind } from "../../src/errors/failure.ts";
import { KINDS } from "../../src/errors/kinds.ts";

export function failureOf(kind: FailureKind, more: Partial<Failure> = {}): Failure {
  const { retry, needs, category } = KINDS[kind];
  return {
    id: "t1:error",
    revision: 1,
    kind,
    source: "rpc_error",
    category,
    severity: "error",
    title: "it failed.",
    actions: [],
    retry,
    transient: retry !== "never",
    ...(needs === undefined ? {} : { needs }),
    replaySafety: "no_output",
    rule: "test",
    ...more,
  };
}

export const ALL_KINDS: readonly FailureKind[] = [
  "auth",
  "credentials_settling",
  "usage_limit",
  "rate_limit",
  "context_overflow",
  "budget",
  "output_limit",
  "model_unavailable",
  "model_capacity",
  "malformed_request",
  "request_rejected",
  "policy_denied",
  "overloaded",
  "service_error",
  "network",
  "agent_died",
  "agent_spawn",
  "protocol",
  "timeout",
  "busy",
  "session_not_found",
  "gate",
  "configuration",
  "compaction",
  "unknown",
];
