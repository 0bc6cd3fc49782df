/**
 * What structured evidence means: words of typed fields, HTTP statuses, JSON-RPC codes, the category and actions of a
 * session failure record. Data only; `classify.ts` decides which evidence counts.
 */
import type { FailureKind, FailureNeed, RetryVerdict } from "./failure.ts";
import type { FailureRecord } from "./verdict.ts";

/**
 * How much a piece of evidence says. `exact` names the cause and nothing replaces it; `plain` yields to a text that
 * forbids a retry; `general` (a wrapper, a 5xx, a category) yields to any better word.
 */
export type Grade = "exact" | "plain" | "general";

export interface Row {
  readonly id: string;
  readonly kind: FailureKind;
  readonly grade: Grade;
}

/** Words by kind and grade; spelling and separators do not matter (`rateLimitExceeded`, `rate_limit_exceeded`). */
const NAMES: readonly (readonly [FailureKind, Grade, string])[] = [
  // codex `codexErrorInfo` (recordings codex-acp 2.6.0, failure policy) and the Responses API's own codes.
  [
    "usage_limit",
    "exact",
    "usageLimitExceeded usage_limit_reached insufficient_quota quota_exhausted usage_not_included",
  ],
  ["usage_limit", "exact", "billing_error billing_hard_limit_reached billing_not_active insufficient_credits"],
  // kiro wire notes, section 12.
  ["usage_limit", "exact", "MonthlyLimitError MonthlyLimitExceeded FreeTierLimitExceeded DailyLimitError"],
  ["context_overflow", "exact", "contextWindowExceeded context_length_exceeded model_context_window_exceeded"],
  ["context_overflow", "exact", "CONTENT_LENGTH_EXCEEDS_THRESHOLD ContextWindowOverflow prompt_too_long"],
  ["budget", "exact", "sessionBudgetExceeded"],
  ["model_unavailable", "exact", "modelNotFound model_not_found model_not_supported unsupported_model"],
  ["model_unavailable", "plain", "not_found_error"],
  ["model_capacity", "exact", "policyCapacityUnavailable flexUnavailable"],
  ["model_capacity", "exact", "INSUFFICIENT_MODEL_CAPACITY MODEL_TEMPORARILY_UNAVAILABLE"],
  ["policy_denied", "exact", "cyberPolicy misalignmentPolicyViolation cyber_policy misalignment_policy_violation"],
  ["policy_denied", "exact", "content_filter content_policy_violation CONTENT_FILTERED"],
  ["malformed_request", "exact", "invalid_encrypted_content"],
  ["malformed_request", "plain", "ValidationException"],
  ["request_rejected", "exact", "request_too_large IMAGE_FORMAT_UNSUPPORTED ImageValidationError"],
  ["request_rejected", "exact", "unsupported_country_region_territory"],
  ["request_rejected", "plain", "badRequest bad_request invalid_request_error invalid_request invalid_argument"],
  ["busy", "exact", "thread_active_writer prompt_in_progress session_busy"],
  // claude-agent-acp 0.101.0, `data.startupFailureReason`.
  ["configuration", "exact", "proxy_invalid"],
  ["auth", "plain", "unauthorized unauthenticated authentication_failed authentication_error authentication_required"],
  ["auth", "plain", "auth_required invalid_api_key oauth_org_not_allowed verification_required permission_error"],
  ["auth", "plain", "ExpiredTokenException ExpiredToken TokenExpiredError TokenInvalidError InvalidTokenException"],
  ["auth", "plain", "InvalidGrantException invalid_grant AccessDenied AccessDeniedException"],
  ["auth", "plain", "UnauthorizedException UnrecognizedClientException InvalidSignatureException InvalidSignature"],
  ["rate_limit", "plain", "rateLimitExceeded rate_limit rate_limit_error slow_down too_many_requests throttled"],
  ["rate_limit", "plain", "Throttling ThrottlingException ThrottlingError TooManyRequestsException"],
  ["rate_limit", "plain", "ServiceQuotaExceededException RequestLimitExceeded RESOURCE_EXHAUSTED"],
  ["overloaded", "plain", "overloaded overloaded_error server_is_overloaded ModelOverloadedError"],
  // codex uses it for a model at capacity too; the text tells.
  ["overloaded", "general", "serverOverloaded"],
  // Claude puts a full context window under it too; the text tells.
  ["output_limit", "plain", "max_output_tokens"],
  ["network", "plain", "ClientNetworkError NetworkError StreamIdleTimeoutError StreamTimeoutError timeout_error"],
  ["network", "plain", "DispatchFailure ConnectionReset ConnectionResetError"],
  ["network", "general", "httpConnectionFailed responseStreamConnectionFailed responseStreamDisconnected"],
  ["network", "general", "responseTooManyFailedAttempts"],
  ["service_error", "general", "server_error internalServerError InternalServerException InternalFailure api_error"],
  ["service_error", "general", "ServiceUnavailable ServiceUnavailableException ServiceUnavailableError internal_error"],
  // kiro V3 `retryErrorType`: says that a repeat may help, not why.
  ["service_error", "general", "TRANSIENT"],
];

const ROW_BY_NAME: ReadonlyMap<string, Row> = new Map(
  NAMES.flatMap(([kind, grade, words]) =>
    words.split(" ").map((word) => [fold(word), { id: `name:${word}`, kind, grade }] as const),
  ),
);

/** The meaning of one structured word; undefined for words that say nothing (`other`, `unknown`, `error`). */
export function rowOfName(name: string): Row | undefined {
  return name.length > 80 ? undefined : ROW_BY_NAME.get(fold(name));
}

/** Words that are unmistakable even in the middle of a sentence: `ThrottlingException: …`, `MODEL_TEMPORARILY_UNAVAILABLE`. */
const UNMISTAKABLE =
  /\b(?:[A-Z][A-Za-z]{2,40}(?:Exception|Error|Exceeded|Failure|Reset)|[A-Z]{3,20}(?:_[A-Z]{2,20}){1,5}|[a-z]{3,20}(?:_[a-z]{2,20}){0,4}_(?:error|exceeded|reached|quota))\b/g;

/** The structured words inside a text, in order. */
export function namesInText(text: string): readonly string[] {
  return text.match(UNMISTAKABLE) ?? [];
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

const STATUS_KINDS: Readonly<Record<number, readonly [FailureKind, Grade]>> = {
  401: ["auth", "plain"],
  402: ["usage_limit", "plain"],
  403: ["auth", "plain"],
  407: ["configuration", "plain"],
  408: ["network", "plain"],
  425: ["service_error", "plain"],
  429: ["rate_limit", "plain"],
  529: ["overloaded", "plain"],
};

/** The meaning of an HTTP status; 404 is about the model when the text is. */
export function rowOfStatus(status: number, text: string): Row {
  const id = `status:${status}`;
  const known = STATUS_KINDS[status];
  if (known !== undefined) return { id, kind: known[0], grade: known[1] };
  if (status >= 500) return { id, kind: "service_error", grade: "general" };
  const kind = status === 404 && /\bmodel\b/i.test(text) ? "model_unavailable" : "request_rejected";
  return { id, kind, grade: "plain" };
}

/**
 * JSON-RPC codes. `general` ones (-32600, -32602) only say that a request was bad; they count when nothing else is
 * known. -32603 says nothing at all.
 */
const CODE_KINDS: Readonly<Record<number, readonly [FailureKind, Grade]>> = {
  1001: ["agent_died", "exact"], // codex-acp 2.6.0: its own child died
  [-32000]: ["auth", "plain"],
  [-32002]: ["session_not_found", "plain"],
  [-32022]: ["protocol", "exact"], // codex-acp 2.6.0 protocol-version-0
  [-32600]: ["request_rejected", "general"],
  [-32601]: ["protocol", "plain"],
  [-32602]: ["request_rejected", "general"],
  [-32700]: ["protocol", "exact"],
};

export function rowOfCode(code: number): Row | undefined {
  const known = CODE_KINDS[code];
  return known === undefined ? undefined : { id: `code:${code}`, kind: known[0], grade: known[1] };
}

/** What category and actions alone say (typed failures, section 7.2); `retry` and `needs` are those of its table. */
export interface RecordRow {
  readonly kind: FailureKind;
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
}

/** A warning that the harness retries by itself: nothing died and nothing is spent yet, whatever its category. */
export function rowOfProgress({ category }: Pick<FailureRecord, "category">): RecordRow {
  if (category === "connection") return { kind: "network", retry: "backoff" };
  return { kind: category === "limit" ? "rate_limit" : "service_error", retry: "backoff" };
}

export function rowOfRecord({ category, actions }: Pick<FailureRecord, "category" | "actions">): RecordRow {
  const retry = actions.includes("retry");
  const newSession = actions.includes("new_session");
  const session = newSession ? { needs: "new_session" as const } : {};
  if (actions.includes("login")) return { kind: "auth", retry: "never", needs: "login" };
  switch (category) {
    case "access":
      if (retry) return { kind: "service_error", retry: "backoff", needs: "human" };
      return { kind: "auth", retry: "never", needs: "login" };
    case "limit":
      if (newSession) return { kind: "context_overflow", retry: "never", ...session };
      if (retry) return { kind: "rate_limit", retry: "backoff" };
      return { kind: "usage_limit", retry: "never", needs: "quota" };
    case "request":
      return { kind: "request_rejected", retry: "never", ...session };
    case "connection":
      if (retry || newSession) return { kind: "agent_died", retry: "after_respawn" };
      return { kind: "agent_died", retry: "never", needs: "human" };
    case "service":
      return retry
        ? { kind: "service_error", retry: "backoff" }
        : { kind: "service_error", retry: "never", ...session };
    default:
      return retry ? { kind: "unknown", retry: "backoff" } : { kind: "unknown", retry: "never", ...session };
  }
}
