/**
 * The facts of every failure kind. Verdict, need and exit code are read from here and from nowhere else, so that they
 * cannot drift apart; the sentences stand in `wording.ts` under the same keys.
 */
import type { FailureCategory, FailureKind, FailureNeed, RetryVerdict } from "./failure.ts";

export interface KindFacts {
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
  /** Exit code of `ostler ask` when a turn ends with this kind. */
  readonly exit: number;
  /** Icon and label group for failures that no record of the harness put into one. */
  readonly category: FailureCategory;
}

export const KINDS: Readonly<Record<FailureKind, KindFacts>> = {
  auth: { retry: "never", needs: "login", exit: 6, category: "access" },
  credentials_settling: { retry: "backoff", needs: "login", exit: 6, category: "access" },
  usage_limit: { retry: "never", needs: "quota", exit: 8, category: "limit" },
  rate_limit: { retry: "backoff", exit: 8, category: "limit" },
  context_overflow: { retry: "never", needs: "new_session", exit: 8, category: "limit" },
  budget: { retry: "never", needs: "new_session", exit: 8, category: "limit" },
  output_limit: { retry: "never", exit: 11, category: "limit" },
  model_unavailable: { retry: "never", needs: "human", exit: 1, category: "request" },
  model_capacity: { retry: "backoff", exit: 1, category: "service" },
  malformed_request: { retry: "never", needs: "new_session", exit: 1, category: "request" },
  request_rejected: { retry: "never", exit: 1, category: "request" },
  policy_denied: { retry: "never", exit: 7, category: "request" },
  overloaded: { retry: "backoff", exit: 1, category: "service" },
  service_error: { retry: "backoff", exit: 1, category: "service" },
  network: { retry: "backoff", exit: 1, category: "connection" },
  agent_died: { retry: "after_respawn", exit: 9, category: "connection" },
  agent_spawn: { retry: "never", needs: "human", exit: 9, category: "connection" },
  protocol: { retry: "never", needs: "human", exit: 9, category: "connection" },
  timeout: { retry: "never", exit: 3, category: "connection" },
  busy: { retry: "backoff", exit: 10, category: "request" },
  session_not_found: { retry: "never", needs: "new_session", exit: 4, category: "request" },
  gate: { retry: "never", needs: "human", exit: 5, category: "access" },
  configuration: { retry: "never", needs: "human", exit: 1, category: "request" },
  compaction: { retry: "never", exit: 1, category: "service" },
  unknown: { retry: "never", exit: 1, category: "unknown" },
};

/** Exit codes of `ostler ask` that no failure kind owns. */
export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  timeout: 3,
  permissionDenied: 5,
  refused: 7,
  truncatedOrEmpty: 11,
  sigint: 130,
  sigterm: 143,
} as const;
