/**
 * Every failure title, JSON-RPC error and plain error sentence of the recordings, with what each must come to. The verdict
 * of a row was decided by reading the frames around it. Ids, clocks and ports are masked (`mask`). Rows from the index of
 * the recordings have no file here.
 */
import type { FailureAction, FailureKind, FailureNeed, Profile, RetryVerdict } from "../../src/errors/failure.ts";

export interface Expected {
  readonly kind: FailureKind;
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
  readonly resetAt?: string;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
}

export interface RecordRow {
  readonly from: string;
  readonly profile: Profile;
  readonly category: string;
  readonly actions: readonly FailureAction[];
  readonly title: string;
  readonly expected: Expected;
}

export interface RpcRow {
  readonly from: string;
  readonly profile: Profile;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly expected: Expected;
}

/** What differs from run to run: ids, clocks, waits, the coloured stderr that codex appends. */
export function mask(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- the escape byte marks where the child's stderr begins
      .replace(/(?:\n|\\n)(?:\u001B|\\u001b)[\s\S]*?(?="|$)/, "")
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "019900aa-0000-7000-8000-000000000000")
      .replace(/\d:\d\d AM/, "4:44 AM")
      .replace(/5:\d\dam/, "5:51am")
      .replace(/req_fake\d+/, "req_fake")
      .replace(/again in \d min/, "again in 4 min")
      .replace(/"retryAfterMs":\d+/, '"retryAfterMs":237660')
      .trim()
  );
}

function record(
  from: string,
  [category, ...actions]: readonly [string, ...FailureAction[]],
  title: string,
  expected: Expected,
): RecordRow {
  return { from, profile: from.startsWith("codex") ? "codex" : "claude", category, actions, title, expected };
}

function rpc(from: string, error: RpcRow["error"], expected: Expected): RpcRow {
  return { from, profile: from.startsWith("codex") ? "codex" : "claude", error, expected };
}

/** Records of severity error, and one of each kind of warning. */
export const RECORDS: readonly RecordRow[] = [
  record("codex-acp 2.6.0 compact-fails", ["connection"], "Reconnecting... 1/2", { kind: "network", retry: "backoff" }),
  record(
    "codex-acp 2.6.0 compact-fails",
    ["service", "retry", "new_session"],
    "We’re currently experiencing high demand, which may cause temporary errors.",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 config-deprecated",
    ["unknown"],
    '`[features].web_search` is deprecated because web search is enabled by default. — Set `web_search` to `"live"`, `"indexed"`, `"cached"`, or `"disabled"` at the top level (or under a profile) in config.toml if you want to override it.',
    { kind: "unknown", retry: "never" },
  ),
  record("codex-acp 2.6.0 conn-refused-then-up", ["connection"], "Reconnecting... waiting for network", {
    kind: "network",
    retry: "backoff",
  }),
  record("codex-acp 2.6.0 crash-loop", ["connection", "retry", "new_session"], "Connection to Codex was lost.", {
    kind: "agent_died",
    retry: "after_respawn",
  }),
  record(
    "codex-acp 2.6.0 fail-then-ok",
    ["service", "retry"],
    '{"error":{"message":"Bad value.","type":"invalid_request_error","param":null,"code":"invalid_value"}}',
    { kind: "request_rejected", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 failed-context-length",
    ["limit", "new_session"],
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  record(
    "codex-acp 2.6.0 failed-cyber-policy",
    ["request"],
    "This request has been flagged for possible cybersecurity risk.",
    { kind: "policy_denied", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 failed-insufficient-quota",
    ["limit"],
    "Quota exceeded. Check your plan and billing details.",
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  record(
    "codex-acp 2.6.0 failed-model-not-found",
    ["service", "retry"],
    "The model 'gpt-5.5' does not exist or you do not have access to it.",
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  record(
    "codex-acp 2.6.0 failed-overloaded",
    ["service", "retry"],
    "Selected model is at capacity. Please try a different model.",
    { kind: "model_capacity", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 failed-rate-limit-never",
    ["limit", "retry"],
    "rate limit exceeded: Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000. Please try again in 0.4s.",
    { kind: "rate_limit", retry: "backoff", retryAfterMs: 400 },
  ),
  record(
    "codex-acp 2.6.0 failed-server-error-never",
    ["service", "retry"],
    "stream disconnected before completion: An error occurred while processing your request.",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 failed-usage-limit-reached",
    ["service", "retry"],
    "stream disconnected before completion: The usage limit has been reached",
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  record(
    "codex-acp 2.6.0 hang-after-headers",
    ["service", "retry"],
    "stream disconnected before completion: idle timeout waiting for SSE",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 http-400-encrypted-content",
    ["service", "retry"],
    "The current provider can't read this thread's earlier reasoning, which another provider or account encrypted. This happens after the provider changes in a thread. Switch back to the previous provider or start a new thread.",
    { kind: "malformed_request", retry: "never", needs: "new_session" },
  ),
  record(
    "codex-acp 2.6.0 http-400-improperly-formed",
    ["service", "retry"],
    '{"error":{"message":"Improperly formed request.","type":"invalid_request_error","param":null,"code":null}}',
    { kind: "malformed_request", retry: "never", needs: "new_session" },
  ),
  record(
    "codex-acp 2.6.0 http-400-invalid-request",
    ["service", "retry"],
    '{"error":{"message":"Invalid value: \'foo\'. Supported values are: \'bar\'.","type":"invalid_request_error","param":null,"code":"invalid_value"}}',
    { kind: "request_rejected", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 http-400-usage-policy",
    ["service", "retry"],
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
    { kind: "policy_denied", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 http-403",
    ["connection", "retry", "new_session"],
    "unexpected status 403 Forbidden: You have insufficient permissions for this operation., url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    { kind: "auth", retry: "never", needs: "login", requestId: "req_fake" },
  ),
  record(
    "codex-acp 2.6.0 http-404-model-not-found",
    ["unknown"],
    "Model metadata for `no-such-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
    { kind: "unknown", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 http-404-model-not-found",
    ["service", "retry"],
    "The model 'no-such-model' does not exist or you do not have access to it.",
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  record(
    "codex-acp 2.6.0 http-413",
    ["connection", "retry", "new_session"],
    "unexpected status 413 Payload Too Large: Request body too large, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    { kind: "request_rejected", retry: "never", requestId: "req_fake" },
  ),
  record("codex-acp 2.6.0 http-429-rate-limit-recover", ["limit"], "Reconnecting... 1/2", {
    kind: "rate_limit",
    retry: "backoff",
  }),
  record(
    "codex-acp 2.6.0 http-429-rate-limit",
    ["limit", "retry"],
    "exceeded retry limit, last status: 429 Too Many Requests, request id: req_fake",
    { kind: "rate_limit", retry: "backoff", requestId: "req_fake" },
  ),
  record(
    "codex-acp 2.6.0 http-429-usage-limit",
    ["limit"],
    "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:44 AM.",
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "4:44 AM" },
  ),
  record(
    "codex-acp 2.6.0 http-503-plain-never",
    ["connection", "retry", "new_session"],
    "unexpected status 503 Service Unavailable: upstream connect error, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    { kind: "service_error", retry: "backoff", requestId: "req_fake" },
  ),
  record(
    "codex-acp 2.6.0 incomplete-content-filter",
    ["service", "retry"],
    "stream disconnected before completion: Incomplete response returned, reason: content_filter",
    { kind: "policy_denied", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 load-after-failure",
    ["unknown"],
    "Codex could not find bubblewrap on PATH. Install bubblewrap with your OS package manager. See the sandbox prerequisites: https://developers.openai.com/codex/concepts/sandboxing#prerequisites. Codex will use the bundled bubblewrap in the meantime.",
    { kind: "unknown", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 stream-cut-never",
    ["service", "retry"],
    "stream disconnected before completion: Transport error: network error: error decoding response body",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 stream-end-early-never",
    ["service", "retry"],
    "stream disconnected before completion: stream closed before response.completed",
    { kind: "service_error", retry: "backoff" },
  ),
  record("claude-agent-acp 0.101.0 cancel-during-retry", ["service"], "Retrying Claude, attempt 1 of 6.", {
    kind: "service_error",
    retry: "backoff",
  }),
  record("claude-agent-acp 0.101.0 conn-cut-forever", ["connection"], "Reconnecting to Claude, attempt 1 of 2.", {
    kind: "network",
    retry: "backoff",
  }),
  record(
    "claude-agent-acp 0.101.0 conn-cut-forever",
    ["service", "retry"],
    "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.",
    { kind: "network", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 conn-refused-mid-session",
    ["service", "retry"],
    "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
    { kind: "network", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 env-unknown-model",
    ["request"],
    "There's an issue with the selected model (no-such-model-9). It may not exist or you may not have access to it.",
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  record(
    "claude-agent-acp 0.101.0 fail-then-ok",
    ["service", "retry"],
    "API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    { kind: "service_error", retry: "backoff" },
  ),
  record("claude-agent-acp 0.101.0 fail-twice", ["service", "retry"], "API Error: 400 fake structural rejection", {
    kind: "request_rejected",
    retry: "never",
  }),
  record("claude-agent-acp 0.101.0 hang-no-bytes", ["service", "retry"], "Request timed out", {
    kind: "network",
    retry: "backoff",
  }),
  record("claude-agent-acp 0.101.0 http-400-credit", ["limit"], "Credit balance is too low", {
    kind: "usage_limit",
    retry: "never",
    needs: "quota",
  }),
  record(
    "claude-agent-acp 0.101.0 http-400-invalid",
    ["service", "retry"],
    "API Error: 400 messages.1.content: fake structural rejection",
    { kind: "request_rejected", retry: "never" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-400-prompt-too-long",
    ["request"],
    "Prompt is too long · the request is ~250000 tokens (limit 200000) but this conversation is only ~2604 tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context.",
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  record(
    "claude-agent-acp 0.101.0 declared-compact-auto-fail",
    ["service", "retry"],
    "Prompt is too long · automatic compaction failed: API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-403-verification",
    ["service", "retry"],
    "API Error: Your organization must complete verification.",
    { kind: "auth", retry: "never", needs: "login" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-404-model",
    ["request"],
    "There's an issue with the selected model (claude-opus-5-5). It may not exist or you may not have access to it.",
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  record("claude-agent-acp 0.101.0 http-429-rate", ["limit"], "Retrying Claude, attempt 1 of 2.", {
    kind: "rate_limit",
    retry: "backoff",
  }),
  record(
    "claude-agent-acp 0.101.0 http-429-rate",
    ["limit", "retry"],
    "API Error: Request rejected (429) · This request would exceed the rate limit for your organization of 50 requests per minute.",
    { kind: "rate_limit", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-429-usage-apikey",
    ["limit", "retry"],
    "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
    { kind: "rate_limit", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-429-usage-oauth",
    ["limit"],
    "You've hit your 5-hour limit · resets 5:51am (UTC)",
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "5:51am (UTC)" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-503",
    ["service", "retry"],
    "API Error: 503 Service unavailable. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 http-529-default-retries",
    ["service", "retry"],
    "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    { kind: "overloaded", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 kill-child-idle",
    ["connection", "new_session"],
    "The connection to Claude was lost.",
    { kind: "agent_died", retry: "after_respawn" },
  ),
  record(
    "claude-agent-acp 0.101.0 load-after-refusal",
    ["unknown"],
    "claude-opus-5-5 declined this request (cyber); retried with claude-opus-4-8. The session will continue on claude-opus-4-8.\n\nThis request was declined by a safety classifier.",
    { kind: "unknown", retry: "never" },
  ),
  record(
    "claude-agent-acp 0.101.0 max-tokens",
    ["limit", "new_session"],
    "API Error: Claude's response exceeded the 128000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
    { kind: "output_limit", retry: "never" },
  ),
  record("claude-agent-acp 0.101.0 max-turns", ["limit", "new_session"], "Reached maximum number of turns (1)", {
    kind: "output_limit",
    retry: "never",
  }),
  record(
    "claude-agent-acp 0.101.0 refusal-after-text",
    ["unknown"],
    "claude-opus-5-5 declined this request (bio); retried with claude-opus-5. The session will continue on claude-opus-5.\n\nThis request was declined by a safety classifier.",
    { kind: "unknown", retry: "never" },
  ),
  record(
    "claude-agent-acp 0.101.0 seq-http-errors",
    ["service", "retry"],
    "API Error: 402 Your account has a billing problem.",
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  record("claude-agent-acp 0.101.0 seq-http-errors", ["service", "retry"], "API Error: 422 Unprocessable.", {
    kind: "request_rejected",
    retry: "never",
  }),
  record(
    "claude-agent-acp 0.101.0 seq-http-errors",
    ["service", "retry"],
    "API Error: 502 Bad Gateway. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    ["service", "retry"],
    "API Error: Server error mid-response. The response above may be incomplete.",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    ["service", "retry"],
    'API Error: JSON Parse error: Unexpected identifier "not"',
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    ["service", "retry"],
    "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request. Response: content-type json, body is JSON but not a Message, size unknown, request-id absent, intermediary headers transfer-encoding. This was the non-streaming retry of streaming request req_fake, which failed with: no_events, StreamNoEventsError; 0 stream events received.",
    { kind: "service_error", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 index http-403-cloudflare",
    ["connection", "retry", "new_session"],
    "Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden), url: http://127.0.0.1:4010/v1/responses, cf-ray: abc123-FRA",
    { kind: "request_rejected", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 index http-402",
    ["connection", "retry", "new_session"],
    "unexpected status 402 Payment Required: Billing hard limit has been reached, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    { kind: "usage_limit", retry: "never", needs: "quota", requestId: "req_fake" },
  ),
  record(
    "codex-acp 2.6.0 index not included",
    ["limit"],
    "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.",
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  record("codex-acp 2.6.0 index slow down", ["limit", "retry"], "rate limit exceeded: Slow down.", {
    kind: "rate_limit",
    retry: "backoff",
  }),
  record(
    "codex-acp 2.6.0 index failed-misalignment-policy",
    ["request"],
    "This request was blocked due to a misalignment policy violation.",
    { kind: "policy_denied", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 index failed-bio-policy",
    ["service", "retry"],
    "This content was flagged for possible biological risk.",
    { kind: "policy_denied", retry: "never" },
  ),
  record(
    "codex-acp 2.6.0 index incomplete-max-tokens",
    ["service", "retry"],
    "Incomplete response returned, reason: max_output_tokens",
    { kind: "output_limit", retry: "never" },
  ),
  record("codex-acp 2.6.0 index missing key", ["service", "retry"], "Missing environment variable: `OPENAI_API_KEY`.", {
    kind: "configuration",
    retry: "never",
    needs: "human",
  }),
  record(
    "codex-acp 2.6.0 index failed-policy-capacity",
    ["service", "retry"],
    "Policy-restricted capacity is unavailable. Please try again later.",
    { kind: "model_capacity", retry: "backoff" },
  ),
  record(
    "codex-acp 2.6.0 index out of credits",
    ["service", "retry"],
    "stream disconnected before completion: You are out of credits.",
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  record(
    "codex-acp 2.6.0 index failed-unknown-code",
    ["service", "retry"],
    "stream disconnected before completion: Something brand new went wrong.",
    { kind: "service_error", retry: "backoff" },
  ),
  record("codex-acp 2.6.0 index nested message", ["service", "retry"], "Readable inner message.", {
    kind: "service_error",
    retry: "backoff",
  }),
  record(
    "codex-acp 2.6.0 index model not in plan",
    ["service", "retry"],
    '{"detail":"The \'gpt-5.5\' model is not supported when using Codex with a ChatGPT account."}',
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  record(
    "codex-acp 2.6.0 index http-400-context-length",
    ["service", "retry"],
    '{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}',
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  record(
    "claude-agent-acp 0.101.0 index http-429-usage-oauth-weekly",
    ["limit"],
    "You've hit your weekly limit · resets 5:39am (UTC)",
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "5:39am (UTC)" },
  ),
  record(
    "claude-agent-acp 0.101.0 index context-window-exceeded",
    ["limit", "new_session"],
    "API Error: The model has reached its context window limit.",
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  record("claude-agent-acp 0.101.0 index max-budget", ["limit", "new_session"], "Reached maximum budget ($0.0001)", {
    kind: "budget",
    retry: "never",
    needs: "new_session",
  }),
  record(
    "claude-agent-acp 0.101.0 index http-429-long-retry-after",
    ["limit", "retry"],
    "API Error: Request rejected (429) · Slow down for long.",
    { kind: "rate_limit", retry: "backoff" },
  ),
  record(
    "claude-agent-acp 0.101.0 index http-413",
    ["request"],
    "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the request over the limit. Remove older images or compact the conversation.",
    { kind: "request_rejected", retry: "never" },
  ),
];

/** JSON-RPC errors of any request. */
export const RPC_ERRORS: readonly RpcRow[] = [
  rpc(
    "codex-acp 2.6.0 codex-path-exits",
    {
      code: 1001,
      message: "Codex process has exited with code 1",
      data: { exitCode: 1, signal: null, restartable: true },
    },
    { kind: "agent_died", retry: "after_respawn" },
  ),
  rpc(
    "codex-acp 2.6.0 codex-path-exits",
    { code: -32600, message: "Invalid request: ACP connection must be initialized before 'session/new'" },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 config-broken",
    { code: -32000, message: "Authentication required" },
    { kind: "auth", retry: "never", needs: "login" },
  ),
  rpc(
    "codex-acp 2.6.0 crash-loop",
    {
      code: 1001,
      message:
        "The Codex app-server crashed 5 times in the last 5 min (last: it was killed by SIGKILL, which usually means it ran out of memory), so the agent stopped restarting it. Restart the agent, or try again in 4 min.",
      data: { exitCode: null, signal: "SIGKILL", restartable: false, retryAfterMs: 237660 },
    },
    { kind: "agent_died", retry: "after_respawn", retryAfterMs: 237660 },
  ),
  rpc(
    "codex-acp 2.6.0 goal",
    {
      code: -32602,
      message: "Invalid params",
      data: {
        _errors: [],
        action: { _errors: ["Invalid discriminator value. Expected 'set' | 'pause' | 'resume' | 'clear'"] },
      },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 kill-codex-child-unprompted",
    {
      code: 1001,
      message:
        "Session 019900aa-0000-7000-8000-000000000000 had no messages yet and was lost when the Codex app-server restarted. Start a new session.",
      data: { exitCode: null, signal: null, restartable: false },
    },
    { kind: "agent_died", retry: "after_respawn" },
  ),
  rpc(
    "codex-acp 2.6.0 load-active-elsewhere",
    {
      code: -32600,
      message:
        "Invalid request: This Codex session is in use by another Codex client (the Codex app, the CLI or an IDE extension). Close the session there or quit that client, then try again.",
      data: {
        reason: "thread_active_writer",
        threadId: "019900aa-0000-7000-8000-000000000000",
        details: "thread 019900aa-0000-7000-8000-000000000000 already has an active writer",
      },
    },
    { kind: "busy", retry: "backoff" },
  ),
  rpc(
    "codex-acp 2.6.0 load-active-elsewhere",
    {
      code: -32002,
      message: "Session 019900aa-0000-7000-8000-000000000000 not found",
      data: { sessionId: "019900aa-0000-7000-8000-000000000000" },
    },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "codex-acp 2.6.0 load-unknown-session",
    {
      code: -32603,
      message: "Internal error",
      data: { details: "no rollout found for thread id 019900aa-0000-7000-8000-000000000000" },
    },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "codex-acp 2.6.0 load-unknown-session",
    {
      code: -32603,
      message: "Internal error",
      data: {
        details:
          "invalid session id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
      },
    },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "codex-acp 2.6.0 not-logged-in",
    {
      code: -32603,
      message: "Internal error: CODEX_API_KEY or OPENAI_API_KEY is not set",
      data: { envVars: ["CODEX_API_KEY", "OPENAI_API_KEY"] },
    },
    { kind: "configuration", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 not-logged-in",
    { code: -32602, message: "Invalid params" },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32600, message: "Invalid request", data: "first ACP request must be initialize" },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32700, message: "Parse error" },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32600, message: "Invalid request", data: { hello: 1 } },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32601, message: '"Method not found": no/such/method', data: { method: "no/such/method" } },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32602, message: "Invalid params: cwd must be an absolute path" },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params",
      data: { _errors: [], cwd: { _errors: ["Invalid input: expected string, received undefined"] } },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    { code: -32002, message: "Session nope not found", data: { sessionId: "nope" } },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params",
      data: { _errors: [], prompt: { _errors: ["Invalid input: expected array, received undefined"] } },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "codex-acp 2.6.0 protocol-version-0",
    { code: -32022, message: "Unsupported protocol version", data: { requested: 0, supported: [1, 2] } },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "codex-acp 2.6.0 crash-loop",
    {
      code: 1001,
      message:
        "The Codex app-server was killed by SIGKILL, which usually means it ran out of memory. The agent starts it again on the next request.",
      data: { exitCode: null, signal: "SIGKILL", restartable: true },
    },
    { kind: "agent_died", retry: "after_respawn" },
  ),
  rpc(
    "codex-acp 2.6.0 failed-insufficient-quota",
    {
      code: -32603,
      message: "Internal error",
      data: { message: "Quota exceeded. Check your plan and billing details.", codexErrorInfo: "usageLimitExceeded" },
    },
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  rpc(
    "codex-acp 2.6.0 http-429-usage-limit",
    {
      code: -32603,
      message: "Internal error",
      data: {
        message:
          "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:44 AM.",
        codexErrorInfo: "usageLimitExceeded",
      },
    },
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "4:44 AM" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 claude-binary-exits",
    {
      code: -32603,
      message: "Internal error",
      data: { details: "Claude Code process exited with code 7. stderr: cannot start: fake reason" },
    },
    { kind: "agent_spawn", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-401-oauth",
    { code: -32000, message: "Authentication required" },
    { kind: "auth", retry: "never", needs: "login" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 kill-child-idle",
    { code: -32002, message: "Resource not found", data: { sessionId: "019900aa-0000-7000-8000-000000000000" } },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 list-sessions",
    { code: -32602, message: "Invalid params: Unknown session/list cursor: bogus" },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 load-unknown",
    {
      code: -32603,
      message: "Internal error",
      data: {
        details:
          'Claude Code returned an error result: Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value "not-a-uuid" is not a UUID and does not match any session title.',
      },
    },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 no-api-key-authenticate",
    { code: -32602, message: "Invalid params: Unsupported authentication method: bogus", data: { methodId: "bogus" } },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 prompt-before-initialize",
    { code: -32600, message: "Invalid request", data: "first ACP request must be initialize" },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    { code: -32700, message: "Parse error" },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    { code: -32601, message: '"Method not found": nope/nope', data: { method: "nope/nope" } },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params: `cwd` must be an absolute path, but received: relative",
      data: { cwd: "relative" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params: `cwd` does not exist on the machine running the agent: /nonexistent-dir",
      data: { cwd: "/nonexistent-dir" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params",
      data: {
        _errors: [],
        cwd: { _errors: ["Invalid input: expected string, received undefined"] },
        mcpServers: { _errors: ["Invalid input: expected array, received undefined"] },
      },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    { code: -32002, message: "Resource not found", data: { sessionId: "unknown" } },
    { kind: "session_not_found", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params",
      data: { _errors: [], prompt: { _errors: ["Invalid input: expected array, received undefined"] } },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 protocol-errors",
    {
      code: -32602,
      message: "Invalid params: Content blocks of type audio are not supported",
      data: { type: "audio" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 set-unknown-model",
    { code: -32602, message: "Invalid params: Invalid value for config option model: no-such-model-9" },
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 set-unknown-model",
    { code: -32601, message: '"Method not found": session/set_model', data: { method: "session/set_model" } },
    { kind: "protocol", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 set-unknown-model",
    { code: -32602, message: "Invalid params: Unknown config option: nope" },
    { kind: "configuration", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 set-unknown-model",
    { code: -32602, message: "Invalid params: Invalid Mode: nope" },
    { kind: "configuration", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 set-unknown-model",
    { code: -32602, message: "Invalid params: Mode bypassPermissions is not available in this session" },
    { kind: "configuration", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 cancel-during-retry",
    {
      code: -32603,
      message:
        "Internal error: API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
      data: { errorKind: "server_error" },
    },
    { kind: "overloaded", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 cancel-race-next-prompt",
    {
      code: -32603,
      message: "Internal error: [ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null",
    },
    { kind: "unknown", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 conn-cut-forever",
    {
      code: -32603,
      message:
        "Internal error: API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.",
      data: { errorKind: "server_error" },
    },
    { kind: "network", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 conn-refused-mid-session",
    {
      code: -32603,
      message: "Internal error: API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
      data: { errorKind: "server_error" },
    },
    { kind: "network", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 env-unknown-model",
    {
      code: -32603,
      message:
        "Internal error: There's an issue with the selected model (no-such-model-9). It may not exist or you may not have access to it.",
      data: { errorKind: "model_not_found" },
    },
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 fail-then-ok",
    {
      code: -32603,
      message:
        "Internal error: API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
      data: { errorKind: "server_error" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 fail-twice",
    {
      code: -32603,
      message: "Internal error: API Error: 400 fake structural rejection",
      data: { errorKind: "unknown" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 hang-no-bytes",
    { code: -32603, message: "Internal error: Request timed out", data: { errorKind: "server_error" } },
    { kind: "network", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-400-credit",
    { code: -32603, message: "Internal error: Credit balance is too low", data: { errorKind: "billing_error" } },
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-400-invalid",
    {
      code: -32603,
      message: "Internal error: API Error: 400 messages.1.content: fake structural rejection",
      data: { errorKind: "unknown" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-400-prompt-too-long",
    {
      code: -32603,
      message:
        "Internal error: Prompt is too long · the request is ~250000 tokens (limit 200000) but this conversation is only ~2604 tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context.",
      data: { errorKind: "invalid_request" },
    },
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 declared-compact-auto-fail",
    {
      code: -32603,
      message:
        "Internal error: Prompt is too long · automatic compaction failed: API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
    },
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-403-verification",
    {
      code: -32603,
      message: "Internal error: API Error: Your organization must complete verification.",
      data: { errorKind: "verification_required" },
    },
    { kind: "auth", retry: "never", needs: "login" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-404-model",
    {
      code: -32603,
      message:
        "Internal error: There's an issue with the selected model (claude-opus-5-5). It may not exist or you may not have access to it.",
      data: { errorKind: "model_not_found" },
    },
    { kind: "model_unavailable", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-429-rate",
    {
      code: -32603,
      message:
        "Internal error: API Error: Request rejected (429) · This request would exceed the rate limit for your organization of 50 requests per minute.",
      data: { errorKind: "rate_limit" },
    },
    { kind: "rate_limit", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-429-usage-apikey",
    {
      code: -32603,
      message:
        "Internal error: API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
      data: { errorKind: "rate_limit" },
    },
    { kind: "rate_limit", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-429-usage-oauth",
    {
      code: -32603,
      message: "Internal error: You've hit your 5-hour limit · resets 5:51am (UTC)",
      data: { errorKind: "rate_limit" },
    },
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "5:51am (UTC)" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 http-503",
    {
      code: -32603,
      message:
        "Internal error: API Error: 503 Service unavailable. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
      data: { errorKind: "server_error" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 kill-child-mid-turn",
    {
      code: -32603,
      message: "Internal error: The Claude Agent process exited unexpectedly. Please start a new session.",
    },
    { kind: "agent_died", retry: "after_respawn" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 max-tokens",
    {
      code: -32603,
      message:
        "Internal error: API Error: Claude's response exceeded the 128000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
      data: { errorKind: "max_output_tokens" },
    },
    { kind: "output_limit", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 max-turns",
    { code: -32603, message: "Internal error: Reached maximum number of turns (1)" },
    { kind: "output_limit", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-http-errors",
    {
      code: -32603,
      message: "Internal error: API Error: 402 Your account has a billing problem.",
      data: { errorKind: "unknown" },
    },
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-http-errors",
    { code: -32603, message: "Internal error: API Error: 422 Unprocessable.", data: { errorKind: "unknown" } },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-http-errors",
    {
      code: -32603,
      message:
        "Internal error: API Error: 502 Bad Gateway. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8080).",
      data: { errorKind: "server_error" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    {
      code: -32603,
      message: "Internal error: API Error: Server error mid-response. The response above may be incomplete.",
      data: { errorKind: "server_error" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    {
      code: -32603,
      message: 'Internal error: API Error: JSON Parse error: Unexpected identifier "not"',
      data: { errorKind: "unknown" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 seq-stream-errors",
    {
      code: -32603,
      message:
        "Internal error: API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request. Response: content-type json, body is JSON but not a Message, size unknown, request-id absent, intermediary headers transfer-encoding. This was the non-streaming retry of streaming request req_fake, which failed with: no_events, StreamNoEventsError; 0 stream events received.",
      data: { errorKind: "unknown" },
    },
    { kind: "service_error", retry: "backoff" },
  ),
  rpc(
    "codex-acp 2.6.0 index not included",
    {
      code: -32603,
      message: "Internal error",
      data: {
        message: "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.",
        codexErrorInfo: "usageLimitExceeded",
      },
    },
    { kind: "usage_limit", retry: "never", needs: "quota" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index http-429-usage-oauth-weekly",
    {
      code: -32603,
      message: "Internal error: You've hit your weekly limit · resets 5:45am (UTC)",
      data: { errorKind: "rate_limit" },
    },
    { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "5:45am (UTC)" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index context-window-exceeded",
    {
      code: -32603,
      message: "Internal error: API Error: The model has reached its context window limit.",
      data: { errorKind: "max_output_tokens" },
    },
    { kind: "context_overflow", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index max-budget",
    { code: -32603, message: "Internal error: Reached maximum budget ($0.0001)" },
    { kind: "budget", retry: "never", needs: "new_session" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index http-413",
    {
      code: -32603,
      message:
        "Internal error: Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the request over the limit.",
      data: { errorKind: "invalid_request" },
    },
    { kind: "request_rejected", retry: "never" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index startup-proxy-invalid",
    {
      code: -32603,
      message: 'Internal error: Invalid proxy URL in HTTPS_PROXY: "not a url" cannot be parsed as a URL.',
      data: { startupFailureReason: "proxy_invalid" },
    },
    { kind: "configuration", retry: "never", needs: "human" },
  ),
  rpc(
    "claude-agent-acp 0.101.0 index no-claude-binary",
    {
      code: -32603,
      message: "Internal error",
      data: {
        details:
          "Claude Code native binary not found at /nonexistent/claude. Please ensure Claude Code is installed via native installer or specify a valid path.",
      },
    },
    { kind: "agent_spawn", retry: "never", needs: "human" },
  ),
];

/** What codex says in plain text after `systemError`; each also ends with blank lines on the wire. */
export const SENTENCES: readonly { readonly from: string; readonly title: string; readonly expected: Expected }[] = [
  {
    from: "codex-acp 2.6.0 compact-fails",
    title: "We’re currently experiencing high demand, which may cause temporary errors.",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 fail-then-ok",
    title: '{"error":{"message":"Bad value.","type":"invalid_request_error","param":null,"code":"invalid_value"}}',
    expected: { kind: "request_rejected", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 failed-context-length",
    title:
      "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    expected: { kind: "context_overflow", retry: "never", needs: "new_session" },
  },
  {
    from: "codex-acp 2.6.0 failed-cyber-policy",
    title: "This request has been flagged for possible cybersecurity risk.",
    expected: { kind: "policy_denied", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 failed-insufficient-quota",
    title: "Quota exceeded. Check your plan and billing details.",
    expected: { kind: "usage_limit", retry: "never", needs: "quota" },
  },
  {
    from: "codex-acp 2.6.0 failed-model-not-found",
    title: "The model 'gpt-5.5' does not exist or you do not have access to it.",
    expected: { kind: "model_unavailable", retry: "never", needs: "human" },
  },
  {
    from: "codex-acp 2.6.0 failed-overloaded",
    title: "Selected model is at capacity. Please try a different model.",
    expected: { kind: "model_capacity", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 failed-rate-limit-never",
    title:
      "rate limit exceeded: Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000. Please try again in 0.4s.",
    expected: { kind: "rate_limit", retry: "backoff", retryAfterMs: 400 },
  },
  {
    from: "codex-acp 2.6.0 failed-server-error-never",
    title: "stream disconnected before completion: An error occurred while processing your request.",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 failed-usage-limit-reached",
    title: "stream disconnected before completion: The usage limit has been reached",
    expected: { kind: "usage_limit", retry: "never", needs: "quota" },
  },
  {
    from: "codex-acp 2.6.0 hang-after-headers",
    title: "stream disconnected before completion: idle timeout waiting for SSE",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 http-400-encrypted-content",
    title:
      "The current provider can't read this thread's earlier reasoning, which another provider or account encrypted. This happens after the provider changes in a thread. Switch back to the previous provider or start a new thread.",
    expected: { kind: "malformed_request", retry: "never", needs: "new_session" },
  },
  {
    from: "codex-acp 2.6.0 http-400-improperly-formed",
    title: '{"error":{"message":"Improperly formed request.","type":"invalid_request_error","param":null,"code":null}}',
    expected: { kind: "malformed_request", retry: "never", needs: "new_session" },
  },
  {
    from: "codex-acp 2.6.0 http-400-invalid-request",
    title:
      '{"error":{"message":"Invalid value: \'foo\'. Supported values are: \'bar\'.","type":"invalid_request_error","param":null,"code":"invalid_value"}}',
    expected: { kind: "request_rejected", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 http-400-usage-policy",
    title:
      "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
    expected: { kind: "policy_denied", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 http-403",
    title:
      "unexpected status 403 Forbidden: You have insufficient permissions for this operation., url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    expected: { kind: "auth", retry: "never", needs: "login", requestId: "req_fake" },
  },
  {
    from: "codex-acp 2.6.0 http-404-model-not-found",
    title: "The model 'no-such-model' does not exist or you do not have access to it.",
    expected: { kind: "model_unavailable", retry: "never", needs: "human" },
  },
  {
    from: "codex-acp 2.6.0 http-413",
    title:
      "unexpected status 413 Payload Too Large: Request body too large, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    expected: { kind: "request_rejected", retry: "never", requestId: "req_fake" },
  },
  {
    from: "codex-acp 2.6.0 http-429-rate-limit",
    title: "exceeded retry limit, last status: 429 Too Many Requests, request id: req_fake",
    expected: { kind: "rate_limit", retry: "backoff", requestId: "req_fake" },
  },
  {
    from: "codex-acp 2.6.0 http-429-usage-limit",
    title:
      "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 4:44 AM.",
    expected: { kind: "usage_limit", retry: "never", needs: "quota", resetAt: "4:44 AM" },
  },
  {
    from: "codex-acp 2.6.0 http-503-plain-never",
    title:
      "unexpected status 503 Service Unavailable: upstream connect error, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    expected: { kind: "service_error", retry: "backoff", requestId: "req_fake" },
  },
  {
    from: "codex-acp 2.6.0 incomplete-content-filter",
    title: "stream disconnected before completion: Incomplete response returned, reason: content_filter",
    expected: { kind: "policy_denied", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 load-after-failure",
    title:
      "Config warning: Codex could not find bubblewrap on PATH. Install bubblewrap with your OS package manager. See the sandbox prerequisites: https://developers.openai.com/codex/concepts/sandboxing#prerequisites. Codex will use the bundled bubblewrap in the meantime.",
    expected: { kind: "unknown", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 stream-cut-never",
    title: "stream disconnected before completion: Transport error: network error: error decoding response body",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 stream-end-early-never",
    title: "stream disconnected before completion: stream closed before response.completed",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 index http-403-cloudflare",
    title:
      "Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden), url: http://127.0.0.1:4010/v1/responses, cf-ray: abc123-FRA",
    expected: { kind: "request_rejected", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 index http-402",
    title:
      "unexpected status 402 Payment Required: Billing hard limit has been reached, url: http://127.0.0.1:4010/v1/responses, request id: req_fake",
    expected: { kind: "usage_limit", retry: "never", needs: "quota", requestId: "req_fake" },
  },
  {
    from: "codex-acp 2.6.0 index failed-misalignment-policy",
    title: "This request was blocked due to a misalignment policy violation.",
    expected: { kind: "policy_denied", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 index failed-bio-policy",
    title: "This content was flagged for possible biological risk.",
    expected: { kind: "policy_denied", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 index incomplete-max-tokens",
    title: "Incomplete response returned, reason: max_output_tokens",
    expected: { kind: "output_limit", retry: "never" },
  },
  {
    from: "codex-acp 2.6.0 index missing key",
    title: "Missing environment variable: `OPENAI_API_KEY`.",
    expected: { kind: "configuration", retry: "never", needs: "human" },
  },
  {
    from: "codex-acp 2.6.0 index failed-policy-capacity",
    title: "Policy-restricted capacity is unavailable. Please try again later.",
    expected: { kind: "model_capacity", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 index out of credits",
    title: "stream disconnected before completion: You are out of credits.",
    expected: { kind: "usage_limit", retry: "never", needs: "quota" },
  },
  {
    from: "codex-acp 2.6.0 index failed-unknown-code",
    title: "stream disconnected before completion: Something brand new went wrong.",
    expected: { kind: "service_error", retry: "backoff" },
  },
  {
    from: "codex-acp 2.6.0 index model not in plan",
    title: '{"detail":"The \'gpt-5.5\' model is not supported when using Codex with a ChatGPT account."}',
    expected: { kind: "model_unavailable", retry: "never", needs: "human" },
  },
  {
    from: "codex-acp 2.6.0 index http-400-context-length",
    title:
      '{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}',
    expected: { kind: "context_overflow", retry: "never", needs: "new_session" },
  },
];
