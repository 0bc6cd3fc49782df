import { describe, expect, test } from "vitest";
import { classifyError } from "../../src/errors/classify.ts";
import type { FailureKind, FailureNeed, RetryVerdict } from "../../src/errors/failure.ts";
import { readRawError } from "../../src/errors/raw.ts";
import type { ClassifyContext } from "../../src/errors/verdict.ts";

interface Family {
  readonly family: string;
  readonly text: string;
  readonly kind: FailureKind;
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
  readonly advertisedModels?: readonly string[];
}

const ID = "a0000002-0000-4000-8000-000000000002";
const ENVELOPE = "Encountered an error in the response stream: ";
const final = (kind: FailureKind, needs?: FailureNeed) =>
  ({ kind, retry: "never", ...(needs === undefined ? {} : { needs }) }) as const;
const passing = (kind: FailureKind) => ({ kind, retry: "backoff" }) as const;

/** kiro wire notes, section 12, in its order. */
const FAMILIES: readonly Family[] = [
  { family: "login expired", text: "ExpiredTokenException: token is past its date", ...final("auth", "login") },
  { family: "login expired", text: "TokenExpiredError: refresh it", ...final("auth", "login") },
  { family: "login rejected", text: "InvalidGrantException: try another one", ...final("auth", "login") },
  { family: "login rejected", text: "You are not logged in", ...final("auth", "login") },
  { family: "login rejected", text: "HTTP 401 from the service", ...final("auth", "login") },
  { family: "login rejected", text: "status: 403 Forbidden", ...final("auth", "login") },
  { family: "login rejected", text: "The bearer token included in the request is invalid", ...final("auth", "login") },
  { family: "login expired", text: "Your session is invalid or expired", ...final("auth", "login") },
  {
    family: "fresh credential",
    text: "The security token included in the request is invalid",
    kind: "credentials_settling",
    retry: "backoff",
    needs: "login",
  },
  {
    family: "fresh credential",
    text: "UnrecognizedClientException: The security token included in the request is invalid. HTTP 403",
    kind: "credentials_settling",
    retry: "backoff",
    needs: "login",
  },
  {
    family: "not that wording",
    text: "The security token included in the request is expired",
    ...final("auth", "login"),
  },
  { family: "allowance", text: "The monthly usage limit has been reached", ...final("usage_limit", "quota") },
  { family: "allowance", text: "You've reached your daily usage limit", ...final("usage_limit", "quota") },
  { family: "allowance", text: "MonthlyLimitError: nothing left", ...final("usage_limit", "quota") },
  { family: "allowance", text: "FreeTierLimitExceeded", ...final("usage_limit", "quota") },
  { family: "throttled", text: "The request was throttled by the service", ...passing("rate_limit") },
  { family: "throttled", text: "Too many requests, please wait before trying again.", ...passing("rate_limit") },
  { family: "throttled", text: "ThrottlingException: Rate exceeded", ...passing("rate_limit") },
  { family: "throttled", text: "TooManyRequestsException", ...passing("rate_limit") },
  { family: "throttled", text: "ServiceQuotaExceededException", ...passing("rate_limit") },
  {
    family: "model, no list known",
    text: "The model 'model-a' is not available. Please use '/model' to select a different model and try again.",
    ...passing("model_capacity"),
  },
  {
    family: "model in the list, other case",
    text: "The model 'Model-A' is not available.",
    advertisedModels: ["model-b", "model-a"],
    ...passing("model_capacity"),
  },
  {
    family: "model in the list with an effort",
    text: "The model 'model-a' is not available.",
    advertisedModels: ["model-a[high]"],
    ...passing("model_capacity"),
  },
  {
    family: "model not in the list",
    text: "The model 'model-a' is not available.",
    advertisedModels: ["model-b"],
    ...final("model_unavailable", "human"),
  },
  {
    family: "model id not in the list",
    text: "Invalid model ID: model-a",
    advertisedModels: ["model-b"],
    ...final("model_unavailable", "human"),
  },
  {
    family: "model id in the list",
    text: "Invalid model ID: model-a",
    advertisedModels: ["MODEL-A"],
    ...passing("model_capacity"),
  },
  {
    family: "nameless capacity, straight apostrophe",
    text: "The model you've selected is temporarily unavailable. Please use '/model' to select a different model and try again.",
    advertisedModels: ["model-b"],
    ...passing("model_capacity"),
  },
  {
    family: "nameless capacity, curly apostrophe",
    text: "The model you’ve selected is temporarily unavailable.",
    ...passing("model_capacity"),
  },
  {
    family: "high load",
    text: "Encountered unexpectedly high load when processing the request, please try again.",
    ...passing("overloaded"),
  },
  { family: "high load", text: "We are experiencing high traffic, please try again.", ...passing("overloaded") },
  { family: "high load", text: "Due to a high volume of traffic", ...passing("overloaded") },
  { family: "high load", text: "INSUFFICIENT_MODEL_CAPACITY", ...passing("model_capacity") },
  { family: "high load", text: "MODEL_TEMPORARILY_UNAVAILABLE", ...passing("model_capacity") },
  { family: "high load", text: "The service is overloaded", ...passing("overloaded") },
  { family: "high load", text: "529 overloaded_error", ...passing("overloaded") },
  { family: "server fault", text: "InternalServerError", ...passing("service_error") },
  { family: "server fault", text: "InternalServerException: fault", ...passing("service_error") },
  { family: "server fault", text: "Internal Server Error", ...passing("service_error") },
  { family: "server fault", text: "ServiceUnavailableException", ...passing("service_error") },
  { family: "server fault", text: "HTTP 500", ...passing("service_error") },
  { family: "server fault", text: "HTTP 502", ...passing("service_error") },
  { family: "server fault", text: "HTTP 504", ...passing("service_error") },
  { family: "wrapper before the stream", text: "Kiro failed to generate a response", ...passing("service_error") },
  { family: "wrapper in the turn", text: "The service failed to process the request", ...passing("service_error") },
  {
    family: "stream time-out",
    text: "The stream timed out receiving the response after 2000ms",
    ...passing("network"),
  },
  { family: "token too old (V3)", text: "TokenInvalidError: renew it", ...final("auth", "login") },
  {
    family: "history broken",
    text: "invalid conversation history received",
    ...final("malformed_request", "new_session"),
  },
  {
    family: "workflow elsewhere",
    text: "Workflow 'wf_1' appears to be running in another process (owner pid 19, liveness verdict: live); refusing to load it here.",
    ...passing("busy"),
  },
  { family: "network path", text: "dispatch failure", ...passing("network") },
  { family: "network path", text: "DispatchFailure", ...passing("network") },
  { family: "network path", text: "ConnectionReset", ...passing("network") },
  {
    family: "network path",
    text: "error sending request for url (https://service.example/)",
    ...passing("network"),
  },
  { family: "network path", text: "request or response body error", ...passing("network") },
  { family: "network path", text: "connect ECONNREFUSED 127.0.0.1:1", ...passing("network") },
  { family: "network path", text: "fetch failed", ...passing("network") },
  { family: "name not found", text: "getaddrinfo ENOTFOUND service.example", ...passing("network") },
  { family: "malformed", text: "Improperly formed request.", ...final("malformed_request", "new_session") },
  { family: "malformed", text: "ValidationException", ...final("malformed_request", "new_session") },
  {
    family: "tool schema",
    text: "tools.12.custom.input_schema does not support oneOf at the top level",
    ...final("request_rejected"),
  },
  { family: "overflow", text: "Context window overflowed", ...final("context_overflow", "new_session") },
  { family: "overflow", text: "CONTENT_LENGTH_EXCEEDS_THRESHOLD", ...final("context_overflow", "new_session") },
  { family: "overflow", text: "input is too long", ...final("context_overflow", "new_session") },
  {
    family: "message cannot shrink",
    text: "This message is too large to send. Shorten it and try again",
    ...final("request_rejected"),
  },
  { family: "image", text: "IMAGE_FORMAT_UNSUPPORTED", ...final("request_rejected") },
  { family: "image", text: "ImageValidationError: no", ...final("request_rejected") },
  { family: "image", text: "Could not process image", ...final("request_rejected") },
  { family: "image", text: "messages.3.content.0: image exceeds 5 MB maximum", ...final("request_rejected") },
  { family: "busy", text: "Prompt already in progress", ...passing("busy") },
  { family: "missing agent", text: "Mode 'x' not found", ...final("configuration", "human") },
  {
    family: "lock",
    text: "Failed to start session: Session is active in another process (PID 26121)",
    ...passing("busy"),
  },
  {
    family: "unknown session",
    text: "Failed to start session: Session not found: 12ab",
    ...final("session_not_found", "new_session"),
  },
  { family: "V3 method", text: "Unknown ext method: _kiro/powers/refresh", ...final("protocol", "human") },
  { family: "nobody knows", text: "Cannot read properties of undefined (reading 'replace')", ...final("unknown") },
];

const rows = FAMILIES.flatMap((family) =>
  [
    family.text,
    `${family.text} (request_id: ${ID})`,
    `${ENVELOPE}${family.text}`,
    `${ENVELOPE}${family.text} (Request ID: ${ID})`,
  ].map((text) => ({ ...family, text, hasId: text.includes(ID) })),
);

describe.each([
  { form: "a string", dataOf: (text: string): unknown => text },
  { form: "{details}", dataOf: (text: string): unknown => ({ details: text }) },
  { form: "{message}", dataOf: (text: string): unknown => ({ message: text, errorType: "Other" }) },
  { form: "JSON in a string", dataOf: (text: string): unknown => JSON.stringify({ error: { message: text } }) },
])("kiro, -32603 with data as $form", ({ dataOf }) => {
  test.each(rows)("$family: $text", ({ text, kind, retry, needs, advertisedModels, hasId }) => {
    const context: ClassifyContext = { profile: "kiro", ...(advertisedModels && { advertisedModels }) };
    const raw = readRawError({ code: -32603, message: "Internal error", data: dataOf(text) });
    const verdict = classifyError(raw, context);
    expect({ kind: verdict.kind, retry: verdict.retry, needs: verdict.needs }).toEqual({ kind, retry, needs });
    expect(verdict.requestId).toBe(hasId ? ID : undefined);
    expect(raw.text).not.toContain("response stream");
  });
});

test.each(rows)("kiro, without data the message is the provider's own field: $family: $text", (row) => {
  const context: ClassifyContext = {
    profile: "kiro",
    ...(row.advertisedModels && { advertisedModels: row.advertisedModels }),
  };
  const verdict = classifyError(readRawError({ code: -32603, message: row.text }), context);
  expect({ kind: verdict.kind, retry: verdict.retry }).toEqual({ kind: row.kind, retry: row.retry });
});

test.each([
  {
    from: "kiro V3 stream-idle-timeout",
    error: {
      code: -32000,
      message: `The model response stalled and timed out. Please try again. (Request ID: ${ID})`,
      data: { errorType: "StreamIdleTimeoutError", retryErrorType: "TRANSIENT", requestId: ID },
    },
    expected: { kind: "network", retry: "backoff", requestId: ID },
  },
  {
    from: "kiro V3 network",
    error: {
      code: -32000,
      message: "A network error occurred. Check your connection.",
      data: { errorType: "ClientNetworkError", retryErrorType: "TRANSIENT" },
    },
    expected: { kind: "network", retry: "backoff" },
  },
  {
    from: "kiro V3, a type nobody has recorded that says TRANSIENT",
    error: { code: -32000, message: "It failed", data: { errorType: "BrandNewError", retryErrorType: "TRANSIENT" } },
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "kiro V3, a retry type that is not TRANSIENT",
    error: {
      code: -32603,
      message: "It failed",
      data: { errorType: "ClientNetworkError", retryErrorType: "PERMANENT" },
    },
    expected: { kind: "network", retry: "never" },
  },
  {
    from: "kiro V3 token",
    error: { code: -32000, message: "Sign in again", data: { errorType: "TokenInvalidError" } },
    expected: { kind: "auth", retry: "never", needs: "login" },
  },
  {
    from: "bare -32603",
    error: { code: -32603, message: "Internal error" },
    expected: { kind: "unknown", retry: "never" },
  },
  {
    from: "v2 method not found",
    error: { code: -32601, message: "Method not found", data: "session/list" },
    expected: { kind: "protocol", retry: "never", needs: "human" },
  },
  {
    from: "kiro V3 bad params",
    error: { code: -32602, message: "Invalid params: workspacePaths must be a non-empty array" },
    expected: { kind: "request_rejected", retry: "never" },
  },
])("$from is $expected.kind", ({ error, expected }) => {
  const { rule: _rule, ...verdict } = classifyError(readRawError(error), { profile: "kiro" });
  expect(verdict).toEqual(expected);
});

test("what only kiro means is read for kiro, or when the harness is not known", () => {
  const settling = readRawError({ code: -32603, message: "The security token included in the request is invalid" });
  expect(classifyError(settling).kind).toBe("credentials_settling");
  expect(classifyError(settling, { profile: "codex" }).kind).toBe("auth");
  const model = readRawError({ code: -32603, message: "The model 'm' is not available" });
  expect(classifyError(model, { profile: "codex" }).kind).toBe("model_unavailable");
});
