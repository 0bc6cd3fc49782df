/** Failures and decisions as tests write them: the fields that matter, the rest as a plain `service_error` has it. */
import type { Decision } from "../../src/acp/outcome.ts";
import type { Failure } from "../../src/errors/failure.ts";

export function failure(fields: Partial<Failure> = {}): Failure {
  return {
    id: "t1:error",
    revision: 1,
    kind: "service_error",
    source: "rpc_error",
    category: "service",
    severity: "error",
    title: "It failed",
    actions: [],
    retry: "backoff",
    transient: true,
    replaySafety: "no_output",
    rule: "test",
    ...fields,
  };
}

export function failed(fields: Partial<Failure> = {}): Decision {
  return { kind: "failed", failure: failure(fields), warnings: [] };
}

export const COMPLETED: Decision = { kind: "completed", warnings: [] };
export const EMPTY: Decision = { kind: "empty", failure: null, unreadable: false, warnings: [] };
