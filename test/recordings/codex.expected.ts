/**
 * codex-acp 2.6.0: what each recording must come to. Pure data; the frames were read one by one, and `why` names those
 * that decide. `air` answers a failure with a record on the result, `plain` with a sentence after `systemError`.
 */
import type { FailureKind } from "../../src/errors/failure.ts";
import {
  cancelled,
  completed,
  empty,
  failed,
  failedToStart,
  needs,
  refused,
  rejected,
  type ExpectedTurn,
  type RecordingRow,
} from "./expectation.ts";

type More = NonNullable<Parameters<typeof failed>[1]>;

/** Failed by the record on the prompt result. Nothing was shown unless `more` says so. */
function record(
  kind: FailureKind,
  category: string,
  actions: readonly string[],
  title: string,
  more: More = {},
): ExpectedTurn {
  return failed(kind, { source: "session_failure", replaySafety: "no_output", category, actions, title, ...more });
}

/** Failed by `threadStatus: systemError`; the chunk without `messageId` after it is the title and no text. */
function sentence(kind: FailureKind, title: string, more: More = {}): ExpectedTurn {
  return failed(kind, { source: "thread_status", replaySafety: "no_output", title, ...more });
}

/** The same failure told both ways. */
function told(
  kind: FailureKind,
  category: string,
  actions: readonly string[],
  title: string,
  more: More = {},
): Pick<RecordingRow, "air" | "plain"> {
  const { warnings, ...both } = more;
  return {
    air: [record(kind, category, actions, title, { ...both, ...(warnings && { warnings }) })],
    plain: [sentence(kind, title, both)],
  };
}

/** A filter said no, told both ways: refused with the title as explanation. */
function filtered(explanation: string, text = ""): Pick<RecordingRow, "air" | "plain"> {
  const turn = refused({ explanation }, { text });
  return { air: [turn], plain: [turn] };
}

/** The same good answer both ways, with the titles of the warning records that only AIR gets. */
function answered(text: string, warnings: readonly string[] = []): Pick<RecordingRow, "air" | "plain"> {
  return { air: [completed(text, { warnings })], plain: [completed(text)] };
}

/** The plain client's allowance is a JSON-RPC error -32603 whose text stands in `data.message`. */
function spent(title: string, more: More = {}): ExpectedTurn {
  return rejected("usage_limit", { source: "rpc_error", replaySafety: "no_output", title, ...more });
}

/** JSON-RPC error 1001: the adapter lost its own child. What the turn had done is not known. */
function childDied(title: RegExp, more: More = {}): ExpectedTurn {
  return rejected("agent_died", {
    source: "rpc_error",
    replaySafety: "unknown",
    title,
    ...more,
  });
}

/** The adapter itself was killed in the middle of the turn. */
function adapterDied(text: string): ExpectedTurn {
  return rejected("agent_died", { source: "exit", replaySafety: "unknown", text });
}

/** The record of a dead child; the adapter starts another one by itself. */
function connectionLost(text: string): ExpectedTurn {
  return record("agent_died", "connection", BOTH, "Connection to Codex was lost.", { replaySafety: "unknown", text });
}

const RETRY = ["retry"];
const BOTH = ["retry", "new_session"];
const RECONNECTING = "Reconnecting... 1/2";
const NO_NETWORK = "Reconnecting... waiting for network";
const HIGH_DEMAND = "We’re currently experiencing high demand, which may cause temporary errors.";
const NOT_COMPACTED = [`Compaction failed: ${HIGH_DEMAND}`];
const NO_SUCH_MODEL = "The model 'no-such-model' does not exist or you do not have access to it.";
const AT_CAPACITY = "Selected model is at capacity. Please try a different model.";
const TOKENS_PER_MINUTE =
  "rate limit exceeded: Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000. Please try again in 0.4s.";
const CUT = "stream disconnected before completion";
const BAD_VALUE =
  '{"error":{"message":"Bad value.","type":"invalid_request_error","param":null,"code":"invalid_value"}}';
const CYBER = "This request has been flagged for possible cybersecurity risk.";
const QUOTA = "Quota exceeded. Check your plan and billing details.";
const KILLED = /^The Codex app-server was killed by SIGKILL, .* starts it again on the next request\./;
const CRASH_LOOP = /^The Codex app-server crashed 5 times in the last 5 min .* or try again in \d min\./;
const usageLimit = (resetAt: string) =>
  "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit " +
  `https://chatgpt.com/settings/usage to purchase more credits or try again at ${resetAt}.`;
const status = (text: string) =>
  `unexpected status ${text}, url: http://127.0.0.1:4010/v1/responses, request id: req_fake`;
const words = (stem: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${stem}${from + index} `).join("");
const parts = (count: number) => words("part", 0, count);

const AUTH_REQUIRED = { source: "rpc_error", title: "Authentication required" } as const;
const LOGGED_OUT = rejected("auth", { ...AUTH_REQUIRED, replaySafety: "no_output" });

/** Text, thoughts, tools: turns that end well. */
const ANSWERS: readonly RecordingRow[] = [
  { case: "plain-text", ...answered("Hello from the scripted service."), why: "three chunks of one message" },
  {
    case: "long-text",
    ...answered(words("w", 0, 60) + words("w", 1960, 2000)),
    why: "100 chunks, all that the recorder kept",
  },
  { case: "reasoning", ...answered("Answer after thought."), why: "thought chunks are not text" },
  { case: "shell-ok", ...answered("It printed hi."), why: "tool done, then text" },
  { case: "shell-exit3", ...answered("It failed with 3."), why: "a failed command is the model's business" },
  {
    case: "shell-grep-nomatch",
    ...answered("No match."),
    why: "search without a match is a failed tool, not a failed turn",
  },
  {
    case: "apply-patch",
    ...answered("Edited."),
    why: "edit done, then text; stderr after the end is the recorder's kill",
  },
  {
    case: "apply-patch-bad-context",
    ...answered("The patch did not apply."),
    why: "the refused patch leaves no frame",
  },
  { case: "apply-patch-bad-format", ...answered("The patch was malformed."), why: "edit frame completed, then text" },
  { case: "bad-mcp-server", ...answered("Fine without the server."), why: "failed start-up tool before the prompt" },
  {
    case: "config-deprecated",
    air: [completed("Fine.")],
    plain: [completed("Fine.")],
    why: "a notice after the result",
  },
  { case: "config-unknown-key", ...answered("Fine."), why: "nothing is said about the key" },
  { case: "guardian-allow", ...answered("Done."), why: "a second model allowed the command" },
  { case: "guardian-deny", ...answered("I will not do that then."), why: "the second model's no is not ours: exit 0" },
  { case: "guardian-garbage", ...answered("Not run."), why: "unreadable review: failed tool, then text" },
  { case: "guardian-http-500", ...answered("Not run."), why: "the review failed, the turn did not" },
  {
    case: "background-terminal",
    ...answered("It runs on in the background."),
    why: "frames of the command after the result are late",
  },
  {
    case: "async-task-stop",
    ...answered("Running in the background.", [
      "Background work was ended with this command: sleep 30 (--wait-tasks waits for it)",
    ]),
    why: "the only prompt ends well with a command left running, which AIR tells of: it is ended and named",
    rest: needs("C", "_session/async_task/stop"),
  },
  {
    case: "goal",
    ...answered('Command "/goal" requires [<objective>|clear|pause|resume].'),
    why: "prompt `/goal`: a chunk without messageId but no systemError is the answer",
    rest: needs("C", "goal set, pause, resume, clear"),
  },
  {
    case: "compact-auto",
    air: [completed("Turn one."), completed("After compaction.")],
    plain: [completed("Turn one."), completed("After compaction.")],
    why: "prompt 2 compacts by itself and answers",
  },
  {
    case: "compact-manual",
    air: [completed("Turn one."), completed(""), completed("After compaction.")],
    plain: [completed("Turn one."), completed(""), completed("After compaction.")],
    why: "prompt 2 is `/compact`: one completed compaction and no text is a completed turn",
  },
  {
    case: "declared-compact-auto",
    air: [completed("Turn one."), completed("After compaction.")],
    plain: [completed("Turn one."), completed("After compaction.")],
    why: "prompt 2 compacts by itself and answers: compaction_update in place of the tool call",
  },
  {
    case: "declared-compact-manual",
    air: [completed("Turn one."), completed(""), completed("After compaction.")],
    plain: [completed("Turn one."), completed(""), completed("After compaction.")],
    why: "prompt 2 is `/compact`: one completed compaction_update and no text is a completed turn",
  },
  {
    case: "two-sessions-at-once",
    air: [completed(parts(8)), completed(parts(8))],
    plain: [completed(parts(8)), completed(parts(8))],
    why: "interleaved chunks of two sessions do not mix",
    drive: { twoSessions: true },
  },
  {
    case: "two-prompts-at-once",
    air: needs("B", "the queue of a conversation: a session has one prompt in flight"),
    plain: needs("B", "the queue of a conversation: a session has one prompt in flight"),
    why: "both prompts are written before the first answer",
  },
  {
    case: "set-unknown-model",
    ...answered("Done after the retry."),
    why: "modes and models that the adapter rejects (-32602) do not end the session",
    rest: needs("C", "values refused with the list of what there is"),
  },
  {
    case: "refusal-content",
    air: [empty()],
    plain: [empty()],
    why: "refusal content leaves no frame: empty, and codex gets no second try",
    drive: { retries: 3 },
  },
];

/** Questions of the harness, decided by the policy that the row names. */
const PERMISSIONS: readonly RecordingRow[] = [
  {
    case: "shell-approval-allow",
    air: [completed("Allowed and done.", { answers: ["allow_once"] })],
    plain: [completed("Allowed and done.", { answers: ["allow_once"] })],
    why: "allow_once is picked, never the allow_always beside it",
    drive: { approve: "all" },
  },
  {
    case: "shell-approval-allow-exit3",
    air: [completed("It failed with 3.", { answers: ["allow_once"] })],
    plain: [completed("It failed with 3.", { answers: ["allow_once"] })],
    why: "allowed, the command failed, the model said so",
    drive: { approve: "all" },
  },
  {
    case: "shell-approval-reject",
    air: [cancelled(5, { answers: ["cancel"] })],
    plain: [cancelled(5, { answers: ["cancel"] })],
    why: "reads denies an execute with the offered reject_once; codex then cancels its turn",
    drive: { approve: "reads" },
  },
  {
    case: "shell-approval-cancelled",
    air: [cancelled(1, { answers: ["cancel"] })],
    plain: [cancelled(1, { answers: ["cancel"] })],
    why: "a no that was asked for with none does not change the code of a harness's cancel",
    drive: { approve: "none" },
  },
  {
    case: "apply-patch-approval-reject",
    air: [cancelled(5, { answers: ["cancel"] })],
    plain: [cancelled(5, { answers: ["cancel"] })],
    why: "reads denies an edit; the AIR request has no kind, the tool frame has",
    drive: { approve: "reads" },
  },
  {
    case: "shell-approval-session-cancel",
    air: [cancelled(130, { answers: ["cancelled"] })],
    plain: [cancelled(130, { answers: ["cancelled"] })],
    why: "cancelled while the question is open: answered `cancelled`",
    drive: { abortTurn: 1, holdPermission: true },
  },
];

/** The service said no. */
const REFUSALS: readonly RecordingRow[] = [
  { case: "failed-cyber-policy", ...filtered(CYBER), why: "request record without actions: a policy filter" },
  { case: "http-400-cyber-policy", ...filtered(CYBER), why: "the same by HTTP 400" },
  {
    case: "http-400-usage-policy",
    ...filtered(
      "Invalid prompt: your prompt was flagged as potentially violating our usage policy. " +
        "Please try again with a different prompt.",
    ),
    why: "a usage policy filter, although the record says service and retry",
  },
  {
    case: "incomplete-content-filter",
    ...filtered(`${CUT}: Incomplete response returned, reason: content_filter`, "Partial answer "),
    why: "content filter in the title; the two cut attempts before are superseded",
  },
];

/** Allowance, rate, context: exit 8. */
const LIMITS: readonly RecordingRow[] = [
  {
    case: "http-429-usage-limit",
    air: [record("usage_limit", "limit", [], usageLimit("4:44 AM"), { resetAt: "4:44 AM" })],
    plain: [spent(usageLimit("4:52 AM"), { resetAt: "4:52 AM" })],
    why: "limit without actions / codexErrorInfo usageLimitExceeded; the error sentence in between is no text",
  },
  {
    case: "http-429-insufficient-quota",
    air: [record("usage_limit", "limit", [], QUOTA)],
    plain: [spent(QUOTA)],
    why: "limit without actions / codexErrorInfo usageLimitExceeded",
  },
  {
    case: "failed-insufficient-quota",
    air: [record("usage_limit", "limit", [], QUOTA)],
    plain: [spent(QUOTA)],
    why: "the same inside the stream",
  },
  {
    case: "failed-usage-limit-reached",
    ...told("usage_limit", "service", RETRY, `${CUT}: The usage limit has been reached`, { warnings: [] }),
    why: "a spent limit in the title of a service/retry record",
  },
  {
    case: "http-429-rate-limit",
    ...told(
      "rate_limit",
      "limit",
      RETRY,
      "exceeded retry limit, last status: 429 Too Many Requests, request id: req_fake",
      {
        requestId: "req_fake",
        warnings: [],
      },
    ),
    why: "status 429 in the title; warnings share the record's id",
  },
  {
    case: "failed-rate-limit-never",
    ...told("rate_limit", "limit", RETRY, TOKENS_PER_MINUTE, { retryAfterMs: 400, warnings: [] }),
    why: "tokens per minute, with the provider's own wait",
  },
  {
    case: "failed-context-length",
    ...told(
      "context_overflow",
      "limit",
      ["new_session"],
      "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    ),
    why: "limit with new_session, title names the context window",
  },
  {
    case: "load-after-failure",
    air: [
      completed("Turn one fine."),
      record("usage_limit", "limit", [], usageLimit("4:44 AM"), { resetAt: "4:44 AM" }),
    ],
    plain: [completed("Turn one fine."), spent(usageLimit("4:52 AM"), { resetAt: "4:52 AM" })],
    why: "both prompts of the first adapter process",
    rest: needs("B", "session/load in a second process"),
  },
];

/** The service rejected the request: exit 1, never again by itself. */
const REJECTIONS: readonly RecordingRow[] = [
  {
    case: "http-400-invalid-request",
    ...told(
      "request_rejected",
      "service",
      RETRY,
      '{"error":{"message":"Invalid value: \'foo\'. Supported values are: \'bar\'.","type":"invalid_request_error",' +
        '"param":null,"code":"invalid_value"}}',
    ),
    why: "invalid_request_error in the title; the record's retry is not a verdict",
  },
  {
    case: "http-400-improperly-formed",
    ...told(
      "malformed_request",
      "service",
      RETRY,
      '{"error":{"message":"Improperly formed request.","type":"invalid_request_error","param":null,"code":null}}',
    ),
    why: "improperly formed: the history is broken",
  },
  {
    case: "http-400-encrypted-content",
    ...told(
      "malformed_request",
      "service",
      RETRY,
      "The current provider can't read this thread's earlier reasoning, which another provider or account encrypted. " +
        "This happens after the provider changes in a thread. Switch back to the previous provider or start a new thread.",
    ),
    why: "the thread's history cannot be read any more: only a new session helps",
  },
  {
    case: "http-413",
    ...told("request_rejected", "connection", BOTH, status("413 Payload Too Large: Request body too large"), {
      requestId: "req_fake",
      warnings: [],
    }),
    why: "status 413 decides, not category connection",
  },
  {
    case: "failed-model-not-found",
    ...told(
      "model_unavailable",
      "service",
      RETRY,
      "The model 'gpt-5.5' does not exist or you do not have access to it.",
    ),
    why: "does not exist or no access",
  },
  {
    case: "declared-model-notice",
    air: [record("model_unavailable", "service", RETRY, NO_SUCH_MODEL, { warnings: [] })],
    plain: [sentence("model_unavailable", NO_SUCH_MODEL, { warnings: [] })],
    why: "the client takes notices: the fallback metadata are a notice, for AIR too, and no warning of the turn",
  },
  {
    case: "http-404-model-not-found",
    air: [
      record("model_unavailable", "service", RETRY, NO_SUCH_MODEL, {
        warnings: [
          "Model metadata for `no-such-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
        ],
      }),
    ],
    plain: [
      sentence("model_unavailable", NO_SUCH_MODEL, {
        replaySafety: "output_seen",
        text: "Warning: Model metadata for `no-such-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n\n",
      }),
    ],
    why: "plain: only chunks after systemError are known to be the adapter's, the warning before it stays text",
  },
  {
    case: "fail-then-ok",
    air: [
      record("request_rejected", "service", RETRY, BAD_VALUE),
      completed("Fine."),
      record("request_rejected", "service", RETRY, BAD_VALUE),
    ],
    plain: [sentence("request_rejected", BAD_VALUE), completed("Fine."), sentence("request_rejected", BAD_VALUE)],
    why: "prompts 1 and 3 fail, 2 does not: no failure is carried over",
  },
];

/** Signed out, or signed in without the right. */
const ACCESS: readonly RecordingRow[] = [
  { case: "http-401", air: [LOGGED_OUT], plain: [LOGGED_OUT], why: "JSON-RPC -32000 in both modes" },
  {
    case: "http-403",
    ...told(
      "auth",
      "connection",
      BOTH,
      status("403 Forbidden: You have insufficient permissions for this operation."),
      {
        requestId: "req_fake",
        warnings: [],
      },
    ),
    why: "status 403 decides, not category connection; no place or network is named",
  },
  {
    case: "login-api-key-401",
    air: [LOGGED_OUT, LOGGED_OUT],
    plain: [LOGGED_OUT, LOGGED_OUT],
    why: "both prompts -32000, before and after the recorded logout",
  },
  {
    case: "login-api-key",
    air: [failedToStart("auth", AUTH_REQUIRED)],
    plain: [failedToStart("auth", AUTH_REQUIRED)],
    why: "first session/new is -32000",
    rest: needs("C", "authenticate, then the prompt that answers"),
  },
  {
    case: "not-logged-in",
    air: [failedToStart("auth", AUTH_REQUIRED)],
    plain: [failedToStart("auth", AUTH_REQUIRED)],
    why: "session/new is -32000",
    rest: needs("C", "authenticate without a key, and with an unknown method"),
  },
  {
    case: "config-broken",
    air: [failedToStart("auth", AUTH_REQUIRED)],
    plain: [failedToStart("auth", AUTH_REQUIRED)],
    why: "codex answers a broken config.toml with -32000; the frames hold nothing else",
  },
];

/** The service or the way to it failed, or recovered by the harness's own retry. */
const SERVICE: readonly RecordingRow[] = [
  {
    case: "http-500-never",
    ...told("service_error", "service", BOTH, HIGH_DEMAND, { warnings: [] }),
    why: "service record after HTTP 500; warnings share its id",
  },
  {
    case: "http-500-default-retries",
    ...told("service_error", "service", BOTH, HIGH_DEMAND, { warnings: [] }),
    why: "the same after five tries of codex",
  },
  {
    case: "resume-after-failure",
    ...told("service_error", "service", BOTH, HIGH_DEMAND, { warnings: [] }),
    why: "the prompt of the first adapter process",
    rest: needs("B", "session/resume in a second process"),
  },
  {
    case: "http-503-plain-never",
    ...told("service_error", "connection", BOTH, status("503 Service Unavailable: upstream connect error"), {
      requestId: "req_fake",
      warnings: [],
    }),
    why: "status 503 decides, not category connection",
  },
  {
    case: "http-503-overloaded-never",
    ...told("model_capacity", "service", RETRY, AT_CAPACITY),
    why: "at capacity",
  },
  { case: "failed-overloaded", ...told("model_capacity", "service", RETRY, AT_CAPACITY), why: "at capacity" },
  {
    case: "failed-server-error-never",
    ...told("service_error", "service", RETRY, `${CUT}: An error occurred while processing your request.`, {
      warnings: [],
    }),
    why: "service with retry",
  },
  {
    case: "hang-after-headers",
    ...told("service_error", "service", RETRY, `${CUT}: idle timeout waiting for SSE`, { warnings: [] }),
    why: "service with retry",
  },
  {
    case: "stream-cut-never",
    ...told("service_error", "service", RETRY, `${CUT}: Transport error: network error: error decoding response body`, {
      text: "Half an ans",
      replaySafety: "output_seen",
      warnings: [RECONNECTING, "Reconnecting... 2/2"],
    }),
    why: "three cut attempts: two superseded, the last stays as partial text",
  },
  {
    case: "stream-end-early-never",
    ...told("service_error", "service", RETRY, `${CUT}: stream closed before response.completed`, {
      text: "Half an ans",
      replaySafety: "output_seen",
      warnings: [RECONNECTING, "Reconnecting... 2/2"],
    }),
    why: "the same, closed cleanly",
  },
  {
    case: "compact-fails",
    air: [
      completed("Turn one."),
      record("service_error", "service", BOTH, HIGH_DEMAND, { replaySafety: "no_output", warnings: [] }),
    ],
    plain: [completed("Turn one."), sentence("service_error", HIGH_DEMAND, { replaySafety: "no_output" })],
    why: "prompt 2 is `/compact`: the record is more specific than that the compaction failed, and nothing was changed",
  },
  {
    case: "declared-compact-fails",
    air: [
      completed("Turn one."),
      record("service_error", "service", BOTH, HIGH_DEMAND, { replaySafety: "no_output", warnings: [] }),
    ],
    plain: [completed("Turn one."), sentence("service_error", HIGH_DEMAND, { replaySafety: "no_output" })],
    why: "the same with a compaction_update that fails",
  },
  {
    case: "declared-compact-auto-fails",
    air: [
      completed("Turn one."),
      record("service_error", "service", BOTH, HIGH_DEMAND, {
        replaySafety: "no_output",
        warnings: ["Reconnecting... 2/2", ...NOT_COMPACTED],
      }),
    ],
    plain: [
      completed("Turn one."),
      sentence("service_error", HIGH_DEMAND, { replaySafety: "no_output", warnings: NOT_COMPACTED }),
    ],
    why: "prompt 2 compacts by itself, and the turn fails with it, by a record of another id than the retries had",
  },
  {
    case: "http-429-rate-limit-recover",
    ...answered("Done after the retry.", [RECONNECTING]),
    why: "one warning, then text",
  },
  {
    case: "failed-rate-limit-recover",
    ...answered("Done after the retry.", [RECONNECTING]),
    why: "one warning, then text",
  },
  {
    case: "failed-server-error-recover",
    ...answered("Done after the retry.", [RECONNECTING]),
    why: "one warning, then text",
  },
  {
    case: "hang-after-headers-recover",
    ...answered("Done after the retry.", [RECONNECTING]),
    why: "one warning, then text",
  },
  { case: "garbage-sse", ...answered("Done after the retry.", [RECONNECTING]), why: "one warning, then text" },
  { case: "http-500-recover", ...answered("Done after the retry."), why: "retried without a word" },
  { case: "http-503-overloaded-recover", ...answered("Done after the retry."), why: "retried without a word" },
  {
    case: "conn-refused-then-up",
    ...answered("Done after the retry.", [NO_NETWORK]),
    why: "two revisions of one warning stand once",
  },
];

/** Turns that somebody or something ended. */
const ENDED: readonly RecordingRow[] = [
  {
    case: "conn-refused",
    air: [rejected("timeout", { source: "timeout", replaySafety: "unknown", stopReason: "cancelled" })],
    plain: [rejected("timeout", { source: "timeout", replaySafety: "unknown" })],
    why: "warnings for ever: our own deadline ends it; the plain adapter never answers at all",
    drive: { timeoutS: 3 },
  },
  {
    case: "dns-fail",
    air: [cancelled(130)],
    plain: [cancelled(130)],
    why: "warnings for ever, then the caller's cancel",
    drive: { abortTurn: 1 },
  },
  {
    case: "hang-no-bytes",
    air: [cancelled(130)],
    plain: [cancelled(130)],
    why: "no frame at all, then the caller's cancel",
    drive: { abortTurn: 1 },
  },
  {
    case: "cancel-idle",
    ...answered("Done after the retry."),
    why: "the recorded cancel came before any prompt and ends nothing",
  },
  {
    case: "cancel-mid-command",
    air: [cancelled(130)],
    plain: [cancelled(130)],
    why: "cancelled with a command in flight, which runs on",
    drive: { abortTurn: 1 },
  },
  {
    case: "cancel-mid-text",
    air: [cancelled(130, { text: parts(7) }), completed("Second turn fine.")],
    plain: [cancelled(130, { text: parts(6) }), completed("Second turn fine.")],
    why: "a chunk between cancel and result is still text; prompt 2 is an ordinary turn",
    drive: { abortTurn: 1 },
  },
  {
    case: "request-cancel",
    air: [cancelled(130, { text: parts(8) })],
    plain: [cancelled(130, { text: parts(7) })],
    why: "recorded with $/cancel_request, ended here with session/cancel",
    drive: { abortTurn: 1 },
  },
  {
    case: "session-close-mid-turn",
    air: [
      cancelled(130, { text: parts(4) }),
      rejected("session_not_found", { source: "rpc_error", replaySafety: "no_output" }),
    ],
    plain: [
      cancelled(130, { text: parts(5) }),
      rejected("session_not_found", { source: "rpc_error", replaySafety: "no_output" }),
    ],
    why: "recorded with session/close, ended here with session/cancel; prompt 2 is -32002",
    drive: { abortTurn: 1 },
  },
  {
    case: "stdin-closed-mid-turn",
    air: [cancelled(130, { text: parts(5), stopReason: null })],
    plain: [cancelled(130, { text: parts(4), stopReason: null })],
    why: "the adapter answers neither the prompt nor a cancel and goes when stdin ends",
    drive: { abortTurn: 1 },
  },
  { case: "kill-adapter", air: [adapterDied(parts(6))], plain: [adapterDied(parts(7))], why: "SIGKILL after text" },
  {
    case: "term-adapter",
    air: [adapterDied(parts(7))],
    plain: [adapterDied(parts(6))],
    why: "a foreign SIGTERM is a death",
  },
  {
    case: "kill-adapter-mid-command",
    air: [adapterDied("")],
    plain: [adapterDied("")],
    why: "SIGKILL with a command in flight",
  },
  {
    case: "kill-codex-child",
    air: [connectionLost(parts(6)), completed("Back after the restart.")],
    plain: [childDied(KILLED, { text: parts(7) }), completed("Back after the restart.")],
    why: "prompt 1 loses the adapter's child, prompt 2 gets a new one",
  },
  {
    case: "kill-codex-child-idle",
    air: [completed("First turn."), completed("Second turn after idle crash.")],
    plain: [completed("First turn."), completed("Second turn after idle crash.")],
    why: "a death between turns is mended by the adapter",
  },
  {
    case: "kill-codex-child-unprompted",
    air: [childDied(/^Session \S+ had no messages yet and was lost/)],
    plain: [childDied(/^Session \S+ had no messages yet and was lost/)],
    why: "1001 in both modes: the session went with the child",
  },
  {
    case: "crash-loop",
    air: [
      connectionLost(parts(1)),
      connectionLost(parts(4)),
      connectionLost(parts(2)),
      connectionLost(parts(3)),
      connectionLost(parts(1)),
      childDied(CRASH_LOOP, { retryAfterMs: 256_248 }),
      childDied(CRASH_LOOP, { retryAfterMs: 256_164 }),
    ],
    plain: [
      childDied(KILLED, { text: parts(3) }),
      childDied(KILLED, { text: parts(1) }),
      childDied(KILLED, { text: parts(1) }),
      childDied(KILLED, { text: parts(2) }),
      completed(parts(60)),
      childDied(CRASH_LOOP, { text: parts(2), retryAfterMs: 237_660 }),
      childDied(CRASH_LOOP, { retryAfterMs: 237_490 }),
    ],
    why: "five deaths, then the adapter stops restarting; plain prompt 5 was not hit",
  },
  {
    case: "load-active-elsewhere",
    ...answered("Turn one."),
    why: "the prompt of the first adapter process",
    rest: needs("B", "session/load of a session that another process owns"),
  },
];

/** No session came up, or none was asked for. */
const STARTS: readonly RecordingRow[] = [
  {
    case: "codex-path-exits",
    air: [failedToStart("agent_died", { source: "rpc_error", title: "Codex process has exited with code 1" })],
    plain: [failedToStart("agent_died", { source: "rpc_error", title: "Codex process has exited with code 1" })],
    why: "initialize is 1001: the adapter's child died",
  },
  {
    case: "codex-path-missing",
    air: [failedToStart("agent_spawn")],
    plain: [failedToStart("agent_spawn")],
    why: "exit 0 before initialize was answered, the reason on stderr",
  },
  {
    case: "protocol-version-0",
    air: [failedToStart("protocol", { source: "rpc_error" })],
    plain: [failedToStart("protocol", { source: "rpc_error" })],
    why: "initialize is -32022",
  },
  {
    case: "protocol-version-2",
    air: [failedToStart("protocol")],
    plain: [failedToStart("protocol")],
    why: "initialize answers version 2, which was not asked for",
  },
  {
    case: "protocol-version-99",
    air: [failedToStart("protocol")],
    plain: [failedToStart("protocol")],
    why: "initialize answers version 2, which was not asked for",
  },
  {
    case: "protocol-errors",
    air: [failedToStart("agent_spawn", { source: "rpc_error", title: "Invalid params: cwd must be an absolute path" })],
    plain: [
      failedToStart("agent_spawn", { source: "rpc_error", title: "Invalid params: cwd must be an absolute path" }),
    ],
    why: "errors without an id are noise; the first session/new is -32602, which no other row knows",
  },
  {
    case: "load-unknown-session",
    air: needs("B", "session/load of an unknown id"),
    plain: needs("B", "session/load of an unknown id"),
    why: "no session is opened",
  },
  {
    case: "goal-failing",
    air: needs("C", "a goal that fails outside any prompt"),
    plain: needs("C", "a goal that fails outside any prompt"),
    why: "there is no prompt",
  },
  {
    case: "steer-idle",
    air: needs("C", "_session/steering while idle"),
    plain: needs("C", "_session/steering while idle"),
    why: "there is no prompt",
  },
  {
    case: "steer-idle-failing",
    air: needs("C", "_session/steering while idle"),
    plain: needs("C", "_session/steering while idle"),
    why: "there is no prompt",
  },
  {
    case: "steer-mid-turn",
    air: needs("C", "_session/steering into the running turn"),
    plain: needs("C", "_session/steering into the running turn"),
    why: "the turn goes on only after the steering",
  },
];

/** Every recording of codex-acp 2.6.0, once. */
export const CODEX_RECORDINGS: readonly RecordingRow[] = [
  ...ANSWERS,
  ...PERMISSIONS,
  ...REFUSALS,
  ...LIMITS,
  ...REJECTIONS,
  ...ACCESS,
  ...SERVICE,
  ...ENDED,
  ...STARTS,
];

/** Failures that are safe to send again, with one try more: the same prompt reaches the agent twice. */
export const CODEX_RESENDS: readonly RecordingRow[] = [
  {
    case: "http-500-never",
    ...told("service_error", "service", BOTH, HIGH_DEMAND, { prompts: 2 }),
    why: "a passing failure with nothing shown is sent again",
    drive: { retries: 1 },
  },
  {
    case: "failed-rate-limit-never",
    ...told("rate_limit", "limit", RETRY, TOKENS_PER_MINUTE, { prompts: 2, retryAfterMs: 400 }),
    why: "sent again after the provider's own wait",
    drive: { retries: 1 },
  },
];
