import { describe, expect, test } from "vitest";
import { classifyError, classifyRecord, classifyStderr, classifyText } from "../../src/errors/classify.ts";
import type { FailureAction } from "../../src/errors/failure.ts";
import { readRawError } from "../../src/errors/raw.ts";
import type { ClassifyContext, Verdict } from "../../src/errors/verdict.ts";

const rpc = (code: number, message: string, data?: unknown, context: ClassifyContext = {}): Omit<Verdict, "rule"> => {
  const { rule: _rule, ...verdict } = classifyError(readRawError({ code, message, data }), context);
  return verdict;
};
const record = (category: string, actions: readonly FailureAction[], title = "x"): Omit<Verdict, "rule"> => {
  const { rule: _rule, ...verdict } = classifyRecord({ category, actions, title });
  return verdict;
};

describe("cases", () => {
  test.each([
    {
      from: "C05 a: rate limit that resets at a time of day",
      verdict: rpc(-32603, "Internal error: rate limit", {
        errorKind: "rate_limit",
        details: "resets 8pm (Europe/Berlin)",
      }),
      expected: { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "8pm (Europe/Berlin)" },
    },
    {
      from: "C05 b",
      verdict: rpc(-32603, "You've hit your session limit · resets 8pm"),
      expected: { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "8pm" },
    },
    {
      from: "C05 c: the provider's body inside the message",
      verdict: rpc(-32603, 'Request failed {"type":"usage_limit_reached","resets_in_seconds":13872}'),
      expected: { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "in 13872 seconds" },
    },
    {
      from: "C05 d",
      verdict: rpc(-32603, "429 Too Many Requests, retry-after: 2"),
      expected: { kind: "rate_limit", retry: "backoff", retryAfterMs: 2000 },
    },
    {
      from: "C06 a",
      verdict: rpc(-32000, "Authentication required"),
      expected: { kind: "auth", retry: "never", needs: "login" },
    },
    {
      from: "C06 b",
      verdict: rpc(-32603, "Internal error", 'Failed to authenticate: 401 {"type":"authentication_error"}'),
      expected: { kind: "auth", retry: "never", needs: "login" },
    },
    {
      from: "C06 c: auth code, limit reason",
      verdict: rpc(-32000, "Authentication required", { message: "usage limit exceeded" }),
      expected: { kind: "usage_limit", retry: "never", needs: "quota" },
    },
    {
      from: "C07",
      verdict: rpc(-32603, "Internal error", "Improperly formed request. (Request ID: 4c2c)"),
      expected: { kind: "malformed_request", retry: "never", needs: "new_session", requestId: "4c2c" },
    },
    {
      from: "C21: busy in another process",
      verdict: rpc(-32603, "Already open in another process"),
      expected: { kind: "busy", retry: "backoff" },
    },
    {
      from: "C21: -32602",
      verdict: rpc(-32602, 'Session "x" not found'),
      expected: { kind: "session_not_found", retry: "never", needs: "new_session" },
    },
    {
      from: "C21: data.details",
      verdict: rpc(-32603, "Internal error", { details: "Session x not found" }),
      expected: { kind: "session_not_found", retry: "never", needs: "new_session" },
    },
    {
      from: "bridge notes, 18.32: busy under -32600",
      verdict: rpc(-32600, "Another prompt is already running"),
      expected: { kind: "busy", retry: "backoff" },
    },
  ])("$from", ({ verdict, expected }) => {
    expect(verdict).toEqual(expected);
  });
});

describe("records: category and actions (case C03, typed failures, section 9)", () => {
  test.each<[string, string, FailureAction[], Omit<Verdict, "rule">]>([
    ["39", "access", ["login"], { kind: "auth", retry: "never", needs: "login" }],
    ["40", "service", ["login"], { kind: "auth", retry: "never", needs: "login" }],
    ["41 a", "limit", [], { kind: "usage_limit", retry: "never", needs: "quota" }],
    ["41 b", "limit", ["retry"], { kind: "rate_limit", retry: "backoff" }],
    ["41 c", "limit", ["new_session"], { kind: "context_overflow", retry: "never", needs: "new_session" }],
    ["42", "request", ["retry"], { kind: "request_rejected", retry: "never" }],
    ["table, row 7", "request", ["new_session"], { kind: "request_rejected", retry: "never", needs: "new_session" }],
    ["43 claude", "connection", ["new_session"], { kind: "agent_died", retry: "after_respawn", childDied: true }],
    [
      "43 codex",
      "connection",
      ["retry", "new_session"],
      { kind: "agent_died", retry: "after_respawn", childDied: true },
    ],
    ["table, row 11", "connection", [], { kind: "agent_died", retry: "never", needs: "human", childDied: true }],
    ["table, row 12", "service", ["retry"], { kind: "service_error", retry: "backoff" }],
    ["table, row 13", "service", ["new_session"], { kind: "service_error", retry: "never", needs: "new_session" }],
    ["44", "service", [], { kind: "service_error", retry: "never" }],
    ["table, row 2", "access", ["retry"], { kind: "service_error", retry: "backoff", needs: "human" }],
    ["table, row 3", "access", [], { kind: "auth", retry: "never", needs: "login" }],
    ["45 a", "zzz", ["retry"], { kind: "unknown", retry: "backoff" }],
    ["45 b", "zzz", [], { kind: "unknown", retry: "never" }],
    ["table, row 16", "unknown", ["new_session"], { kind: "unknown", retry: "never", needs: "new_session" }],
  ])("%s: %s %j", (_row, category, actions, expected) => {
    expect(record(category, actions)).toEqual(expected);
    expect(record(category, actions, "")).toEqual(expected);
  });

  test("46: -32000 stays auth beside a raised service record", () => {
    const context = { record: { category: "service", actions: ["retry"], title: "x" } } as const;
    expect(rpc(-32000, "Authentication required", undefined, context)).toEqual({
      kind: "auth",
      retry: "never",
      needs: "login",
    });
  });

  test("47: -32603 takes the verdict of the record raised in its turn", () => {
    const context = { record: { category: "limit", actions: [], title: "x" } } as const;
    expect(rpc(-32603, "Internal error", undefined, context)).toEqual({
      kind: "usage_limit",
      retry: "never",
      needs: "quota",
    });
  });

  test("48: codexErrorInfo without a record", () => {
    expect(rpc(-32603, "Internal error", { codexErrorInfo: "usageLimitExceeded" }).kind).toBe("usage_limit");
  });

  test.each([
    [
      "49",
      "service",
      ["retry"],
      "Improperly formed request.",
      { kind: "malformed_request", retry: "never", needs: "new_session" },
    ],
    ["50", "limit", [], "Too many requests, try again", { kind: "usage_limit", retry: "never", needs: "quota" }],
    [
      "50, with a structured word",
      "limit",
      [],
      "MODEL_TEMPORARILY_UNAVAILABLE",
      { kind: "usage_limit", retry: "never", needs: "quota" },
    ],
    ["50, with a status", "limit", [], "HTTP 503", { kind: "usage_limit", retry: "never", needs: "quota" }],
    [
      "a rate limit that is an allowance",
      "limit",
      ["retry"],
      "You've hit your weekly limit",
      { kind: "usage_limit", retry: "never", needs: "quota" },
    ],
    [
      "no respawn for a status",
      "connection",
      ["retry", "new_session"],
      "unexpected status 500 Internal",
      { kind: "service_error", retry: "backoff" },
    ],
    [
      "a dead child under any category",
      "service",
      ["retry"],
      "The Claude Agent process exited unexpectedly.",
      { kind: "agent_died", retry: "after_respawn", childDied: true },
    ],
    [
      "a dead child that nobody may retry",
      "service",
      [],
      "Connection to Codex was lost.",
      { kind: "agent_died", retry: "never", childDied: true },
    ],
  ] as const)("%s: %s %j «%s»", (_row, category, actions, title, expected) => {
    expect(record(category, actions, title)).toEqual(expected);
  });
});

describe("structured fields", () => {
  test.each([
    ["usageLimitExceeded", "usage_limit"],
    ["rateLimitExceeded", "rate_limit"],
    ["serverOverloaded", "overloaded"],
    ["contextWindowExceeded", "context_overflow"],
    ["sessionBudgetExceeded", "budget"],
    ["cyberPolicy", "policy_denied"],
    ["misalignmentPolicyViolation", "policy_denied"],
    ["badRequest", "request_rejected"],
    ["unauthorized", "auth"],
    ["internalServerError", "service_error"],
    ["modelNotFound", "model_unavailable"],
    ["policyCapacityUnavailable", "model_capacity"],
    ["other", "unknown"],
    [{ responseStreamDisconnected: { httpStatusCode: null } }, "network"],
    [{ responseStreamDisconnected: { httpStatusCode: 401 } }, "auth"],
    [{ responseStreamDisconnected: { httpStatusCode: 402 } }, "usage_limit"],
    [{ responseStreamDisconnected: { httpStatusCode: 403 } }, "auth"],
    [{ responseStreamDisconnected: { httpStatusCode: 413 } }, "request_rejected"],
    [{ httpConnectionFailed: { httpStatusCode: 503 } }, "service_error"],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, "rate_limit"],
  ])("codexErrorInfo %j is %s", (codexErrorInfo, kind) => {
    expect(rpc(-32603, "Internal error", { message: "It failed", codexErrorInfo }).kind).toBe(kind);
  });

  test.each([
    [{ errorKind: "authentication_failed" }, "auth"],
    [{ errorKind: "oauth_org_not_allowed" }, "auth"],
    [{ errorKind: "billing_error" }, "usage_limit"],
    [{ errorKind: "rate_limit" }, "rate_limit"],
    [{ errorKind: "overloaded" }, "overloaded"],
    [{ errorKind: "server_error" }, "service_error"],
    [{ errorKind: "invalid_request" }, "request_rejected"],
    [{ errorKind: "model_not_found" }, "model_unavailable"],
    [{ errorKind: "max_output_tokens" }, "output_limit"],
    [{ errorKind: "unknown" }, "unknown"],
    [{ error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded"],
    [{ error: { type: "rate_limit_error" } }, "rate_limit"],
    [{ error: { type: "invalid_request_error", code: "context_length_exceeded" } }, "context_overflow"],
    [{ error: { type: "insufficient_quota", code: "insufficient_quota" } }, "usage_limit"],
    [{ error: { type: "invalid_request_error", code: "model_not_found" } }, "model_unavailable"],
    [{ error: { code: 429, status: "RESOURCE_EXHAUSTED" } }, "rate_limit"],
    [{ error: { message: "x", code: "unsupported_country_region_territory" }, status: 403 }, "request_rejected"],
    [{ reason: "thread_active_writer" }, "busy"],
    [{ startupFailureReason: "proxy_invalid" }, "configuration"],
    [{ statusCode: 503 }, "service_error"],
    [{ httpStatusCode: 429 }, "rate_limit"],
    [{ details: "503 Service Unavailable" }, "service_error"],
    [{ details: '{"error":{"type":"authentication_error","message":"x"}}' }, "auth"],
  ])("data %j is %s", (data, kind) => {
    expect(rpc(-32603, "Internal error", data).kind).toBe(kind);
  });

  test.each([
    [400, "request_rejected"],
    [401, "auth"],
    [402, "usage_limit"],
    [403, "auth"],
    [404, "request_rejected"],
    [408, "network"],
    [413, "request_rejected"],
    [422, "request_rejected"],
    [425, "service_error"],
    [429, "rate_limit"],
    [500, "service_error"],
    [503, "service_error"],
    [529, "overloaded"],
  ])("an HTTP status as JSON-RPC code: %i is %s", (code, kind) => {
    expect(rpc(code, "It failed").kind).toBe(kind);
  });

  test("404 is about the model when the text is", () => {
    expect(rpc(-32603, "HTTP 404: model: claude-x").kind).toBe("model_unavailable");
  });

  test.each([
    ["a 500 whose body names a spent allowance", "HTTP 500: you have used up your credits", "usage_limit"],
    [
      "a 429 whose body names a spent allowance",
      "HTTP 429: You exceeded your current quota, please check your plan",
      "usage_limit",
    ],
    [
      "a 529 beside the word capacity",
      "API Error: Repeated 529 Overloaded errors. The model is at capacity",
      "overloaded",
    ],
    ["a 400 that ends in try again", "HTTP 400: bad value, please try again", "request_rejected"],
    ["a 403 of a network", "HTTP 403: your network is blocked", "request_rejected"],
    ["a 503 that says overloaded", "HTTP 503: overloaded", "overloaded"],
  ])("%s is %s", (_from, message, kind) => {
    expect(rpc(-32603, message).kind).toBe(kind);
  });

  test.each([
    [-32000, "rate limit reached", "rate_limit"],
    [-32000, "HTTP 503", "service_error"],
    [-32000, "something else", "auth"],
    [-32002, "Resource not found", "session_not_found"],
    [-32700, "Parse error", "protocol"],
    [1001, "HTTP 503 in the stderr of a dead child", "agent_died"],
    [-32099, "teapot", "unknown"],
  ])("code %i «%s» is %s", (code, message, kind) => {
    expect(rpc(code, message).kind).toBe(kind);
  });
});

/** Sentences of public providers and gateways; none of them was recorded here. */
describe("everyday texts", () => {
  test.each([
    ["You have reached the weekly usage limit", "usage_limit"],
    ["Claude usage limit reached. Your limit will reset at 3pm", "usage_limit"],
    ["5-hour limit reached ∙ resets 3pm", "usage_limit"],
    ["You exceeded your current quota, please check your plan and billing details.", "usage_limit"],
    ["Monthly spending cap exceeded", "usage_limit"],
    ["Your plan's credits are exhausted", "usage_limit"],
    ["Insufficient credits", "usage_limit"],
    ["Quota exceeded for metric 'requests' and limit 'requests per minute'", "rate_limit"],
    ["Rate exceeded", "rate_limit"],
    ["You have exceeded your rate limit", "rate_limit"],
    ["You exceeded your requests per minute limit, rate limit reached", "rate_limit"],
    ["This model's maximum context length is 8192 tokens", "context_overflow"],
    ["Project does not have access to model `gpt-5`", "model_unavailable"],
    ["The model `gpt-9` does not exist", "model_unavailable"],
    ["Model gpt-9 not found", "model_unavailable"],
    ["Output blocked by content filtering policy", "policy_denied"],
    ["The response was filtered due to the content management policy", "policy_denied"],
    ["finish_reason: content_filter", "policy_denied"],
    ["messages.1: `tool_use` ids were found without `tool_result` blocks", "malformed_request"],
    ["image dimensions exceed max allowed size", "request_rejected"],
    ["Request Entity Too Large", "request_rejected"],
    ["Incorrect API key provided", "auth"],
    ["No API key found", "auth"],
    ["Token expired", "auth"],
    ["Unauthorized", "auth"],
    ["Error: 401 bad key", "auth"],
    ["The agent is busy", "busy"],
    ["Server is too busy", "overloaded"],
    ["The service is temporarily unavailable", "service_error"],
    ["upstream connect error or disconnect/reset before headers", "service_error"],
    ["The server had an error while processing your request", "service_error"],
    ["Connection error.", "network"],
    ["network is unreachable", "network"],
    ["write: broken pipe", "network"],
    ["Request timeout", "network"],
    ["a token was unexpected in line 3", "unknown"],
    ["the limit of five images", "unknown"],
    ["see the content of policy.md", "unknown"],
    ["model trains run late", "unknown"],
  ])("«%s» is %s", (message, kind) => {
    expect(rpc(-32603, message).kind).toBe(kind);
  });
});

describe("weak points of the bridge (bridge notes, section 19)", () => {
  test.each([
    ["status: 403", "auth"],
    ["status code: 403", "auth"],
    ["HTTP/1.1 403", "auth"],
    ["request failed (403)", "auth"],
    ["statusCode=503", "service_error"],
    ["status=503", "service_error"],
    ["502 Bad Gateway", "service_error"],
    ["Too many requests, please wait", "rate_limit"],
    ["unexpectedly high load", "overloaded"],
    ["session is invalid or expired", "auth"],
    ["quota exceeded", "usage_limit"],
    ["operation timed out", "network"],
    ["input is too long", "context_overflow"],
    ["context limit exceeded", "context_overflow"],
    ["fatal: a rebase is already in progress", "unknown"],
    ["git: merge already in progress, please try again", "unknown"],
    ["please try again", "unknown"],
    ["try your request again", "unknown"],
    ["connection refused, see the page about your daily limit", "network"],
    ["Connection reset while reading the daily limit", "network"],
    ["getaddrinfo EAI_AGAIN service.example", "network"],
    ["listening on port (443)", "unknown"],
    ["read 500 lines", "unknown"],
    ["Limit 500 tokens", "unknown"],
    ["the API returned 4040 rows", "unknown"],
    ["teapot", "unknown"],
    ["", "unknown"],
  ])("«%s» is %s", (message, kind) => {
    expect(rpc(-32603, message).kind).toBe(kind);
    expect(classifyText(message).kind).toBe(kind);
  });

  test("an echo in the message does not flip an error that its data explains", () => {
    const verdict = rpc(-32603, 'While sending "Improperly formed request.":', { details: "socket hang up" });
    expect(verdict.kind).toBe("network");
  });

  test("what is said long after or long before is seen, what stands in the middle of a flood is not", () => {
    const flood = "x ".repeat(50_000);
    expect(rpc(-32603, `Improperly formed request. ${flood}`).kind).toBe("malformed_request");
    expect(rpc(-32603, `${flood} ECONNREFUSED`).kind).toBe("network");
    expect(rpc(-32603, `${flood} ECONNREFUSED ${flood}`).kind).toBe("unknown");
  });
});

test("a provider that says a repeat cannot help is believed, whatever its words", () => {
  const data = { retryErrorType: "PERMANENT", details: "connect ECONNREFUSED" };
  expect(rpc(-32603, "Internal error", data)).toEqual({ kind: "network", retry: "never" });
});

describe("facts", () => {
  test.each([
    ["resets 5:51am (UTC)", "5:51am (UTC)"],
    ["You've hit your weekly limit · resets Mar 3, 9am (UTC)", "Mar 3, 9am (UTC)"],
    ["You’ve hit your usage limit. Visit the page or try again at Dec 3rd, 2026 4:44 AM.", "Dec 3rd, 2026 4:44 AM"],
    ["You've hit your usage limit. Try again in 4 days 3 hours.", "in 4 days 3 hours"],
    ["usage limit reached, resets 2026-12-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
    ['{"type":"usage_limit_reached","resets_at":1796083200}', "2026-12-01T00:00:00.000Z"],
    ["Quota exceeded. Please try again later.", undefined],
  ])("reset time of «%s»", (text, resetAt) => {
    const verdict = classifyText(text);
    expect(verdict.kind).toBe("usage_limit");
    expect(verdict.resetAt).toBe(resetAt);
  });

  test.each([
    ["429, retry-after: 2", 2000],
    ["429 Too Many Requests. Retry-After: 0.5", 500],
    ["rate limit reached. Please try again in 0.4s.", 400],
    ["rate limit reached. Please try again in 250ms.", 250],
    ["rate limit reached. Retry after 3 seconds", 3000],
    ["rate limit reached. Try again in 2 minutes", 120_000],
    ['{"type":"rate_limit_error","retry_after":7}', 7000],
    ["rate limit reached", undefined],
  ])("wait of «%s»", (text, retryAfterMs) => {
    const verdict = classifyText(text);
    expect(verdict.kind).toBe("rate_limit");
    expect(verdict.retryAfterMs).toBe(retryAfterMs);
    expect(verdict.resetAt).toBeUndefined();
  });

  test.each([
    ["HTTP 500, request id: req_1", "req_1"],
    ["HTTP 500 (request_id: a-b-c)", "a-b-c"],
    ["HTTP 500 (Request ID: 4c2c).", "4c2c"],
    ['{"request_id":"req_2","message":"HTTP 500"}', "req_2"],
    ["HTTP 500, request-id absent", undefined],
  ])("request id of «%s»", (text, requestId) => {
    expect(classifyText(text).requestId).toBe(requestId);
  });
});

describe("stderr of a process that died", () => {
  test.each([
    ["You are not logged in, please log in with kiro-cli login", "auth"],
    ["INFO start\nERROR client registration failed: HTTP 429 Too Many Requests", "rate_limit"],
    ["error: unexpected argument '--agent-engin' found\n\nUsage: kiro-cli acp", "configuration"],
    ["write failed: No space left on device (os error 28)", "configuration"],
    ["kiro-cli: error while loading shared libraries: libssl.so.3: cannot open shared object file", "agent_spawn"],
    ["kiro-cli: /lib/libc.so.6: version `GLIBC_2.38' not found", "agent_spawn"],
    ["[APP-SERVER EXIT] The Codex app-server could not be started (spawn /nonexistent/codex ENOENT)", "agent_spawn"],
    ["env: node: No such file or directory", "agent_spawn"],
    ["Error: Cannot find module '/app/dist/index.js'", "agent_spawn"],
    ["panic: boom token=sk-ant-SECRET", undefined],
    ["registration failed\nsomething else\nHTTP 429", undefined],
    ["[session/create] phase=settings durationMs=80", undefined],
    ["RequestError: Authentication required", undefined],
    ["", undefined],
  ])("«%s» is %s", (tail, kind) => {
    expect(classifyStderr(tail)?.kind).toBe(kind);
  });

  test("a stderr text is no evidence anywhere else", () => {
    expect(classifyText("error: unexpected argument '--x' found").kind).toBe("unknown");
  });
});
