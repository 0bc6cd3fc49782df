/**
 * The one shape of everything that failed, whatever its source: a record of the harness, a JSON-RPC error, a dead
 * process, a deadline. Types only; the facts of each kind stand in `kinds.ts`.
 */

/** The closed list of what can go wrong. One word decides verdict, exit code and wording (`kinds.ts`). */
export type FailureKind =
  | "auth"
  | "credentials_settling"
  | "usage_limit"
  | "rate_limit"
  | "context_overflow"
  | "budget"
  | "output_limit"
  | "model_unavailable"
  | "model_capacity"
  | "malformed_request"
  | "request_rejected"
  | "policy_denied"
  | "overloaded"
  | "service_error"
  | "network"
  | "agent_died"
  | "agent_spawn"
  | "protocol"
  | "timeout"
  | "busy"
  | "session_not_found"
  | "gate"
  | "configuration"
  | "compaction"
  | "unknown";

/** Where the evidence came from. */
export type FailureSource =
  | "session_failure"
  | "rpc_error"
  | "exit"
  | "timeout"
  | "framing"
  | "spawn"
  | "thread_status";

/** The broad visual group of a record (AIR session failure extension, section "Categories"). Drives icon and label only. */
export type FailureCategory = "connection" | "access" | "limit" | "request" | "service" | "unknown";

/** What a harness recommends. Buttons come from these alone; the verdict does not (recordings: codex recommends `retry` for malformed requests). */
export type FailureAction = "retry" | "login" | "new_session";

/** `warning` never fails a turn. */
export type FailureSeverity = "warning" | "error";

/** What may be done by itself: `backoff` = wait and try again, `after_respawn` = needs a fresh process first, `never` = a person decides. */
export type RetryVerdict = "backoff" | "after_respawn" | "never";

/** What somebody has to bring before another try makes sense. */
export type FailureNeed = "login" | "new_session" | "quota" | "human";

/**
 * What had happened to the prompt when the failure struck. `not_sent` and `no_output` (the harness itself answered, and
 * neither output nor a tool call was seen) allow an automatic resend; the others never do.
 */
export type ReplaySafety = "not_sent" | "no_output" | "output_seen" | "tool_started" | "unknown";

/** One failure, as every surface, the library and the result line show it. All text is scrubbed (`redact.ts`). */
export interface Failure {
  /** `<turnId>:error` or `<sessionId>:session-error:<epoch>:<n>`; the harness's own id where it gave one. */
  readonly id: string;
  /** From 1; the same id with a higher revision replaces the earlier state in place. */
  readonly revision: number;
  readonly kind: FailureKind;
  readonly source: FailureSource;
  /** One of {@link FailureCategory}, or the harness's own word, verbatim. */
  readonly category: FailureCategory | (string & {});
  readonly severity: FailureSeverity;
  /** What happened, in the provider's own words where there are any; else a fixed sentence per kind. */
  readonly title: string;
  readonly details?: string;
  readonly actions: readonly FailureAction[];
  readonly retry: RetryVerdict;
  /** `retry !== "never"`. */
  readonly transient: boolean;
  readonly needs?: FailureNeed;
  /** When a limit ends, as received (`8pm (Europe/Berlin)`, an ISO time): never computed from a guess. */
  readonly resetAt?: string;
  /** The provider's own wait in milliseconds. */
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  readonly replaySafety: ReplaySafety;
  /** The row that decided (`patterns.ts`, `classify.ts`), for logs and reports. */
  readonly rule: string;
}

/** Why the model said no. A field is an empty string when the provider did not say; it is never guessed. */
export interface RefusalInfo {
  readonly category: string;
  readonly explanation: string;
  readonly recommendedModel: string;
}

/** Whose wire habits to expect. `generic` is any other ACP agent: nothing backend-specific is read. */
export type Profile = "kiro" | "codex" | "claude" | "generic";
