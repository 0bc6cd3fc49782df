/**
 * claude-agent-acp 0.101.0: what each recording must come to. Pure data; the frames were read one by one, and `why`
 * names those that decide. `air` answers a failure with a record on the result; `plain` with a JSON-RPC error and,
 * before it, the same sentence as a chunk. That chunk has a `messageId` like every answer, so it is text and output.
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
  truncated,
  type ExpectedTurn,
  type Needs,
  type RecordingRow,
} from "./expectation.ts";

type More = NonNullable<Parameters<typeof failed>[1]>;
type BothWays = Pick<RecordingRow, "air" | "plain">;

/** The same turns whatever the client declared. */
function same(...turns: readonly ExpectedTurn[]): BothWays {
  return { air: turns, plain: turns };
}

/** Neither can be driven yet. */
function later(letter: Needs["letter"], why: string): BothWays {
  return { air: needs(letter, why), plain: needs(letter, why) };
}

/** A good answer; `warnings` are the records that only AIR gets. */
function answered(text: string, warnings: readonly string[] = []): BothWays {
  return { air: [completed(text, { warnings })], plain: [completed(text, { warnings: [] })] };
}

/** A good answer around permission questions, answered in this order. */
function asked(answers: readonly string[], text: string, more: Partial<ExpectedTurn> = {}): ExpectedTurn {
  return completed(text, { answers, warnings: [], ...more });
}

/** A question that the policy `reads` denies; the model goes on. */
function denied(text: string): ExpectedTurn {
  return asked(["reject"], text, { exitCode: 5 });
}

/** Failed by the record on the prompt result. Nothing was shown unless `more` says so. */
function record(
  kind: FailureKind,
  category: string,
  actions: readonly string[],
  words: string,
  more: More = {},
): ExpectedTurn {
  return failed(kind, {
    source: "session_failure",
    replaySafety: "no_output",
    category,
    actions,
    title: words.length > 400 ? containing(words) : words,
    warnings: [],
    ...more,
  });
}

/** Failed by a JSON-RPC error whose sentence was streamed before it; `shown` is what the model had said until then. */
function sentence(kind: FailureKind, words: string, shown = "", more: More = {}): ExpectedTurn {
  return rejected(kind, {
    source: "rpc_error",
    replaySafety: "output_seen",
    title: containing(words),
    text: shown + words,
    warnings: [],
    ...more,
  });
}

/** A title is cut at 400 characters, and the plain client's may stand behind the name of the JSON-RPC code. */
function containing(words: string): RegExp {
  return new RegExp(words.slice(0, 300).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
}

/** The same failure told both ways, after the harness's own retries named by `warnings` (AIR only). */
function told(
  kind: FailureKind,
  category: string,
  actions: readonly string[],
  words: string,
  more: Pick<More, "warnings" | "resetAt"> = {},
): BothWays {
  const { warnings = [], ...facts } = more;
  return {
    air: [record(kind, category, actions, words, { ...facts, warnings })],
    plain: [sentence(kind, words, "", facts)],
  };
}

/** -32000: the only failure that both clients get as an error. */
function signedOut(words: string): BothWays {
  const both = { source: "rpc_error", title: "Authentication required", warnings: [] } as const;
  return {
    air: [rejected("auth", { ...both, replaySafety: "no_output" })],
    plain: [rejected("auth", { ...both, replaySafety: words === "" ? "no_output" : "output_seen", text: words })],
  };
}

/** The model said no. The adapter tells nothing structured: every field of the refusal is empty. */
function declined(text: string, warnings: readonly string[] = []): ExpectedTurn {
  return refused({}, { stopReason: "refusal", text, warnings });
}

/** The record of a dead Claude child. What the turn had done is not known. */
function connectionLost(text: string): ExpectedTurn {
  const title = "The connection to Claude was lost.";
  return record("agent_died", "connection", NEW_SESSION, title, { replaySafety: "unknown", text });
}

/** The plain client's sentence for it, streamed nowhere. */
function processExited(text: string): ExpectedTurn {
  const title = containing("The Claude Agent process exited unexpectedly. Please start a new session.");
  return rejected("agent_died", { source: "rpc_error", replaySafety: "unknown", title, text });
}

/** The adapter itself was killed in the middle of the turn. */
function adapterDied(text: string): ExpectedTurn {
  return rejected("agent_died", { source: "exit", replaySafety: "unknown", text });
}

/** The warnings of the harness's own retries, one a number. */
function retrying(numbers: readonly number[], of = 2): string[] {
  return numbers.map((number) => `Retrying Claude, attempt ${number} of ${of}.`);
}

/** The same when no HTTP answer came. */
function reconnecting(numbers: readonly number[], of = 2): string[] {
  return numbers.map((number) => `Reconnecting to Claude, attempt ${number} of ${of}.`);
}

const RETRY = ["retry"];
const NEW_SESSION = ["new_session"];
const USUALLY_TEMPORARY =
  " This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference " +
  "gateway (127.0.0.1:8080).";
const HTTP_500 = `API Error: 500 Internal server error.${USUALLY_TEMPORARY}`;
const HTTP_502 = `API Error: 502 Bad Gateway.${USUALLY_TEMPORARY}`;
const HTTP_503 = `API Error: 503 Service unavailable.${USUALLY_TEMPORARY}`;
const HTTP_529 =
  "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a " +
  "moment. If it persists, check your inference gateway (127.0.0.1:8080).";
const HTTP_400 = "API Error: 400 fake structural rejection";
const HTTP_402 = "API Error: 402 Your account has a billing problem.";
const VERIFICATION = "API Error: Your organization must complete verification.";
const UNPROCESSABLE = "API Error: 422 Unprocessable.";
const MID_RESPONSE = "API Error: Server error mid-response. The response above may be incomplete.";
const GARBAGE = 'API Error: JSON Parse error: Unexpected identifier "not"';
const DROPPED =
  "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.";
const REFUSED = "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)";
const TOO_LONG =
  "Prompt is too long · the request is ~250000 tokens (limit 200000) but this conversation is only ~2604 tokens — the " +
  "rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be " +
  "compacted; reduce attached files/tools or start with less context.";
const OUTPUT_MAXIMUM =
  "API Error: Claude's response exceeded the 128000 output token maximum. To configure this behavior, set the " +
  "CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.";
const DECLINED = "This request was declined by a safety classifier.";
const fallback = (category: string, to: string) =>
  `claude-opus-5-5 declined this request (${category}); retried with ${to}. The session will continue on ${to}. ${DECLINED}`;
const noEvents = (requestId: string) =>
  "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the " +
  "request. Response: content-type json, body is JSON but not a Message, size unknown, request-id absent, " +
  "intermediary headers transfer-encoding. This was the non-streaming retry of streaming request " +
  `${requestId}, which failed with: no_events, StreamNoEventsError; 0 stream events received.`;
const noModel = (model: string) =>
  `There's an issue with the selected model (${model}). It may not exist or you may not have access to it.`;
/** The plain client's long sentence of a refusal. */
const flagged = (model: string, article: string, details: string, requestId: number) =>
  `API Error: ${model}'s safeguards flagged this message (https://www.anthropic.com/legal/aup). ` +
  (details === "bio"
    ? "Our intentionally broad safeguards allow us to deliver more capabilities faster, but can sometimes flag " +
      "legitimate biology tasks. "
    : "This sometimes happens with safe, normal conversations. ") +
  `Claude Code can't respond to this message with ${model}.\n\n` +
  "Try rephrasing the request in a new session or change your model.\n\n" +
  `Learn more: https://support.claude.com/en/articles/${article}` +
  (details === "" ? "" : `\n\nDetails: \`[${details}]\``) +
  `\n\nRequest ID: req_fake${padded(requestId)}\n\nMessage ID: msg_fake${padded(requestId + 1)}`;
const padded = (id: number) => String(id).padStart(6, "0");
const words = (stem: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${stem}${from + index} `).join("");
const ticks = (count: number) => words("t", 0, count);

const RAN = "Running it.The command has been run.";
const HELLO = "Hello from the fake service.";
const LIMIT_5H = (resetAt: string) => `You've hit your 5-hour limit · resets ${resetAt}`;
/** A `/compact` that failed: `end_turn`, and no record. */
const NOT_COMPACTED = failed("compaction", {
  source: "rpc_error",
  replaySafety: "no_output",
  title: `Error during compaction: ${HTTP_500}`,
  warnings: [],
});
const NOT_COMPACTED_BY_ITSELF = { warnings: [`Compaction failed: ${HTTP_500}`] };
const TOO_FEW_GROUPS = { warnings: ["Compaction failed: too_few_groups"] };
const TOO_LONG_TO_COMPACT = `Prompt is too long · automatic compaction failed: ${HTTP_500}`;
const OVERFLOWED = rejected("context_overflow", {
  source: "rpc_error",
  replaySafety: "no_output",
  title: containing(TOO_LONG_TO_COMPACT),
  ...NOT_COMPACTED_BY_ITSELF,
});

const NOT_FOUND = rejected("session_not_found", {
  source: "rpc_error",
  replaySafety: "no_output",
  title: "Resource not found",
});

/** Text, thoughts, tools, subagents: turns that end well. */
const ANSWERS: readonly RecordingRow[] = [
  { case: "text-plain", ...answered(HELLO), why: "three chunks of one message" },
  {
    case: "text-long",
    ...answered(words("word", 0, 20) + words("word", 1980, 2000)),
    why: "40 chunks, all that the recorder kept",
  },
  { case: "text-multi-turn", ...same(completed("Answer 1."), completed("Answer 2.")), why: "two prompts, two answers" },
  {
    case: "text-empty",
    ...same(empty({ prompts: 2, warnings: [] })),
    why: "end_turn without a chunk, and once more the same: there is one more try, not three",
  },
  { case: "thinking", ...answered("Thought about it."), why: "thought chunks are not text" },
  { case: "todo-plan", ...answered("Planned."), why: "TaskCreate and TaskUpdate leave no tool frame" },
  {
    case: "bash-no-permission-needed",
    ...same(asked([], RAN)),
    why: "a read-only command, allowed by the CLI; text before and after it is two messages",
  },
  {
    case: "bash-grep-nomatch",
    ...same(asked([], RAN)),
    why: "exit 1 of grep is a completed tool",
  },
  { case: "bash-timeout", ...same(asked([], RAN)), why: "a failed tool is the model's business" },
  { case: "read-missing", ...answered("It is missing."), why: "failed read, then text" },
  { case: "edit-no-match", ...answered("It failed."), why: "failed edit that never asked, then text" },
  { case: "tool-unknown", ...answered("No such tool."), why: "failed call of a tool that does not exist" },
  { case: "tool-bad-input", ...answered("Bad input."), why: "failed call that its schema rejected" },
  {
    case: "subagent-ok",
    ...same(completed("The subagent is done.", { warnings: [], mustNotAppear: ["Subagent report"] })),
    why: "text of the child session (AIR) and of the tool result (plain) is not the parent's",
  },
  {
    case: "declared-subagent-ok",
    ...same(completed("The subagent is done.", { warnings: [], mustNotAppear: ["Subagent report"] })),
    why: "native for both: subagent_spawned (AIR), subagent_update and session_message (plain)",
  },
  {
    case: "subagent-background",
    ...same(completed("Launched.Noted the background report.", { warnings: [], mustNotAppear: ["Background report"] })),
    why: "two messages of the parent around a chunk of the child",
  },
  {
    case: "bash-background",
    ...same(completed("Started in the background.", { warnings: [], mustNotAppear: ["The background work ended"] })),
    why: "the turn that the CLI starts by itself after the result is late",
  },
  {
    case: "bash-background-stop",
    ...answered("Started.", [
      "Background work was ended with this command: Long background work (--wait-tasks waits for it)",
    ]),
    why: "the only prompt ends well with a command left running, which AIR tells of: it is ended and named",
    rest: needs("C", "_session/async_task/stop"),
  },
  {
    case: "mcp-server-missing",
    ...answered("Answered without it."),
    why: "the chunk about the server has kind mcpServerStatus and no messageId: adapter words",
  },
  { case: "slash-unknown", ...answered("x"), why: "an unknown command goes to the model" },
  {
    case: "ask-question-unsupported",
    ...answered(
      "Thanks for: [tool_result is_error] <tool_use_error>Error: No such tool available: AskUserQuestion. " +
        "AskUserQuestion is disabled for t",
    ),
    why: "without form elicitation the CLI has no question tool: failed call, then text",
  },
  {
    case: "ask-question-accept",
    ...answered(
      `Thanks for: [tool_result] Your questions have been answered: "Which colour?"="Red". You can now continue with these answers in mind.`,
    ),
    drive: { question: { action: "accept", content: { question_0: "Red" } } },
    why: "form elicitation, answered with a choice; then text",
  },
  {
    case: "ask-question-decline",
    ...answered("Thanks for: [tool_result] The user did not answer the questions."),
    drive: { question: { action: "decline" } },
    why: "form elicitation, declined: the call is completed, then text",
  },
  {
    case: "ask-question-cancel",
    ...answered("Thanks for: [tool_result is_error] Tool permission request failed: Error: Tool use aborted"),
    drive: { question: { action: "cancel" } },
    why: "form elicitation, cancelled: the call failed, then text; no permission was denied",
  },
  {
    case: "compact-ok",
    ...same(completed("Some answer."), completed("Some answer."), completed("")),
    why: "prompt 3 is `/compact`: one completed compaction and no text is a completed turn",
  },
  {
    case: "compact-auto",
    ...same(completed("Answer 1."), completed("<summary>Short summary.</summary>"), completed("Answer 4.")),
    why: "prompt 2 compacts by itself and answers",
  },
  {
    case: "compact-fail",
    ...same(completed("Some answer."), completed("Some answer."), NOT_COMPACTED),
    why: "prompt 3 is a `/compact` whose tool call fails on end_turn without a record",
  },
  {
    case: "compact-nothing",
    ...same(completed("Error: No messages to compact")),
    why: "`/compact` as first prompt: no compaction begins, and the text has the messageId of an answer",
  },
  {
    case: "compact-auto-warn",
    ...same(
      completed("Answer 1."),
      completed("Answer 2.", TOO_FEW_GROUPS),
      completed("Answer 6.", NOT_COMPACTED_BY_ITSELF),
    ),
    why: "prompts 2 and 3 compact by themselves, that fails, and the turn goes on",
  },
  {
    case: "declared-compact-ok",
    ...same(completed("Some answer."), completed("Some answer."), completed("")),
    why: "prompt 3 is `/compact`: compaction_update completed, with the summary, then with its facts",
  },
  {
    case: "declared-compact-fail",
    ...same(completed("Some answer."), completed("Some answer."), NOT_COMPACTED),
    why: "prompt 3 is a `/compact` whose compaction_update is failed with an error, on end_turn",
  },
  {
    case: "declared-compact-auto",
    ...same(completed("Answer 1."), completed("<summary>Short summary.</summary>"), completed("Answer 4.")),
    why: "prompt 2 compacts by itself and answers",
  },
  {
    case: "declared-compact-auto-warn",
    ...same(
      completed("Answer 1."),
      completed("Answer 2.", TOO_FEW_GROUPS),
      completed("Answer 6.", NOT_COMPACTED_BY_ITSELF),
    ),
    why: "as compact-auto-warn, with compaction_update",
  },
  {
    case: "declared-compact-auto-fail",
    air: [
      completed("Answer 1."),
      record("context_overflow", "service", RETRY, TOO_LONG_TO_COMPACT, NOT_COMPACTED_BY_ITSELF),
      record("context_overflow", "service", RETRY, TOO_LONG_TO_COMPACT, NOT_COMPACTED_BY_ITSELF),
    ],
    plain: [completed("Answer 1."), OVERFLOWED, OVERFLOWED],
    why: "the compaction that the turn needs fails: the record or error says so, the compaction itself is a warning",
  },
  {
    case: "declared-compact-cancel",
    ...same(completed("Some answer."), completed("Some answer."), cancelled(130)),
    why: "prompt 3 is a `/compact` that the caller cancels: compaction_update cancelled, then the result",
    drive: { abortTurn: 3 },
  },
  {
    case: "set-unknown-model",
    ...answered("Answered by claude-sonnet-5-5"),
    why: "models, options and modes that are rejected (-32602, -32601) do not end the session; the warning is adapter words",
    rest: needs("C", "values refused with the list of what there is"),
  },
  {
    case: "list-sessions",
    ...same(completed("Fine."), NOT_FOUND),
    why: "prompt 2 comes after the recorded session/close: -32002",
    rest: needs("B", "session/list and session/close"),
  },
  {
    case: "cancel-idle",
    ...answered("Still fine."),
    why: "the recorded cancel came before any prompt and ends nothing",
  },
  {
    case: "cancel-race-next-prompt",
    air: [completed("Fine."), completed("Fine."), completed("Fine.")],
    plain: [
      completed("Fine."),
      rejected("unknown", {
        source: "rpc_error",
        replaySafety: "no_output",
        title: containing("[ede_diagnostic] result_type=user last_content_type=n/a"),
      }),
      completed("Fine."),
    ],
    why: "plain prompt 2 was hit by the late cancel: -32603 without data that no row knows",
  },
  {
    case: "two-sessions",
    air: [completed("Fine."), record("request_rejected", "service", RETRY, HTTP_400)],
    plain: [completed("Fine."), sentence("request_rejected", HTTP_400)],
    why: "the failure of one session is not the other's",
    drive: { twoSessions: true },
  },
  {
    case: "two-prompts",
    ...later("B", "the queue of a conversation: a session has one prompt in flight"),
    why: "both prompts are written before the first answer",
  },
  {
    case: "two-prompts-first-fails",
    ...later("B", "the queue of a conversation: a session has one prompt in flight"),
    why: "both prompts are written before the first answer",
  },
  {
    case: "two-prompts-cancel",
    ...later("B", "the queue of a conversation: a session has one prompt in flight"),
    why: "both prompts are written before the first answer",
  },
];

/** Questions of the harness, decided by the policy that the row names. */
const PERMISSIONS: readonly RecordingRow[] = [
  {
    case: "bash-allow",
    ...same(asked(["allow-once"], RAN)),
    why: "allowed, done, then text",
    drive: { approve: "all" },
  },
  {
    case: "bash-reject",
    ...same(denied(RAN)),
    why: "reads denies an execute with the offered reject_once; the model goes on: completed, exit 5",
    drive: { approve: "reads" },
  },
  {
    case: "bash-perm-cancelled",
    ...same(asked(["reject"], RAN)),
    why: "a no that was asked for with none keeps exit 0",
    drive: { approve: "none" },
  },
  {
    case: "bash-perm-error",
    ...same(denied(RAN)),
    why: "AIR asks without a kind: the tool frame says execute",
    drive: { approve: "reads" },
  },
  {
    case: "bash-perm-session-cancel",
    ...same(cancelled(130, { text: "Running it.", answers: ["cancelled"] })),
    why: "cancelled while the question is open: answered `cancelled`",
    drive: { abortTurn: 1, holdPermission: true },
  },
  {
    case: "bash-perm-unanswered",
    ...same(cancelled(130, { text: "Running it.", answers: ["cancelled"] })),
    why: "the adapter withdraws the question with $/cancel_request after our cancel",
    drive: { abortTurn: 1, holdPermission: true },
  },
  {
    case: "bash-exit3",
    ...same(asked(["allow-once"], RAN)),
    why: "allowed, exit 3, the model goes on; an allow_always stands among the options and is not picked",
    drive: { approve: "all" },
  },
  {
    case: "bash-not-found",
    ...same(asked(["allow-once"], RAN)),
    why: "allowed, exit 127, the model goes on",
    drive: { approve: "all" },
  },
  {
    case: "bash-background-fail",
    ...same(asked(["allow-once"], "Started in the background.")),
    why: "its failure and the turn about it come after the result",
    drive: { approve: "all" },
  },
  {
    case: "tool-retry-same",
    ...same(asked(["allow-once", "allow-once", "allow-once", "allow-once"], "Passed on the fourth try.")),
    why: "four questions, four answers",
    drive: { approve: "all" },
  },
  { case: "write-new", ...same(asked(["allow-once"], "Written.")), why: "an allowed edit", drive: { approve: "all" } },
  {
    case: "edit-diff",
    ...same(asked(["reject"], "Edited.", { exitCode: 5 })),
    why: "the read needs no question, the edit is denied; what the model says about it is not evidence",
    drive: { approve: "reads" },
  },
  {
    case: "exit-plan-approve",
    ...same(asked(["exit-plan-default"], "After the plan.")),
    why: "of three ways to say yes only one is allow_once; the warning about billing is adapter words",
    drive: { approve: "all" },
  },
];

/** The model or its safeguards said no. */
const REFUSALS: readonly RecordingRow[] = [
  {
    case: "refusal-bare",
    air: [declined("")],
    plain: [declined(flagged("Opus 5.5", "8106465", "", 5))],
    why: "stopReason refusal; the notice has kind informational: adapter words",
  },
  {
    case: "refusal-details-null",
    air: [declined("")],
    plain: [declined(flagged("Opus 5.5", "8106465", "", 2535))],
    why: "the same",
  },
  {
    case: "refusal-after-text",
    air: [declined(`I was going to say${DECLINED}`, [fallback("bio", "claude-opus-5")])],
    plain: [declined(`I was going to say${flagged("Opus 5", "16049681", "bio", 4999)}${DECLINED}`)],
    why: "three equal attempts stand once; the explanation has a messageId; the fallback is a record (AIR) or adapter words",
  },
  {
    case: "refusal-then-ok",
    air: [declined(DECLINED), completed("Fine again.")],
    plain: [declined(flagged("Opus 5.5", "8106465", "general_harms", 11) + DECLINED), completed("Fine again.")],
    why: "prompt 2 is an ordinary turn",
  },
  {
    case: "declared-refusal-fallback",
    ...same(completed("Answered by claude-opus-4-8", { warnings: [], mustNotAppear: ["**"] })),
    why: "the client takes notices: the fallback is a notice, for AIR too, and no warning of the turn",
  },
  {
    case: "refusal-fallback",
    ...answered("Answered by claude-opus-4-8", [fallback("cyber", "claude-opus-4-8")]),
    why: "another model answered: end_turn, with the fallback as a warning",
  },
  {
    case: "load-after-refusal",
    air: [declined(DECLINED, [fallback("cyber", "claude-opus-4-8")])],
    plain: [
      declined(
        "API Error: Opus 4.8's safeguards flagged this message. Our intentionally broad safeguards allow us to deliver " +
          "more capabilities faster, but can sometimes flag legitimate cybersecurity work. Learn more: " +
          "https://support.claude.com/en/articles/14604842-real-time-cyber-safeguards-on-claude\n\nDetails: `[cyber]`\n\n" +
          `Request ID: req_fake005127\n\nMessage ID: msg_fake005128${DECLINED}`,
      ),
    ],
    why: "the prompt of the first adapter process",
    rest: needs("B", "session/load in a second process"),
  },
];

/** Output, context, allowance, rate, budget of turns. */
const LIMITS: readonly RecordingRow[] = [
  {
    case: "max-tokens",
    air: [
      truncated("output_limit", "This answer is cut", {
        source: "session_failure",
        replaySafety: "output_seen",
        category: "limit",
        actions: NEW_SESSION,
        title: OUTPUT_MAXIMUM,
        warnings: [],
      }),
    ],
    plain: [
      truncated("output_limit", `This answer is cut${OUTPUT_MAXIMUM}`, {
        source: "rpc_error",
        replaySafety: "output_seen",
        stopReason: null,
        title: containing(OUTPUT_MAXIMUM),
        warnings: [],
      }),
    ],
    why: "limit, errorKind max_output_tokens; four equal attempts stand once",
  },
  {
    case: "max-turns",
    air: [
      truncated("output_limit", "", {
        source: "session_failure",
        replaySafety: "tool_started",
        category: "limit",
        actions: NEW_SESSION,
        title: "Reached maximum number of turns (1)",
        answers: ["allow-once"],
      }),
    ],
    plain: [
      truncated("output_limit", "", {
        source: "rpc_error",
        replaySafety: "tool_started",
        stopReason: null,
        title: containing("Reached maximum number of turns (1)"),
        answers: ["allow-once"],
      }),
    ],
    why: "means max_turn_requests; plain has no data, only the words",
    drive: { approve: "all" },
  },
  {
    case: "http-400-prompt-too-long",
    ...told("context_overflow", "request", [], TOO_LONG),
    why: "the words name the token limit; the record says request, the data invalid_request",
  },
  {
    case: "http-400-credit",
    ...told("usage_limit", "limit", [], "Credit balance is too low"),
    why: "limit without actions, errorKind billing_error",
  },
  {
    case: "http-429-usage-oauth",
    ...told("usage_limit", "limit", [], LIMIT_5H("5:51am (UTC)"), { resetAt: "5:51am (UTC)" }),
    why: "limit without actions; errorKind rate_limit, but the words say a spent allowance: never",
  },
  {
    case: "load-after-usage-limit",
    air: [
      completed("Fine."),
      record("usage_limit", "limit", [], LIMIT_5H("5:37am (UTC)"), { resetAt: "5:37am (UTC)" }),
    ],
    plain: [completed("Fine."), sentence("usage_limit", LIMIT_5H("5:37am (UTC)"), "", { resetAt: "5:37am (UTC)" })],
    why: "both prompts of the first adapter process",
    rest: needs("B", "session/load in a second process"),
  },
  { case: "usage-warning-oauth", ...answered("Near the limit."), why: "the warning stands in a usage_update only" },
  {
    case: "http-429-rate",
    ...told(
      "rate_limit",
      "limit",
      RETRY,
      "API Error: Request rejected (429) · This request would exceed the rate limit for your organization of 50 requests per minute.",
      { warnings: retrying([1, 2]) },
    ),
    why: "limit with retry, errorKind rate_limit",
  },
  {
    case: "http-429-usage-apikey",
    ...told(
      "rate_limit",
      "limit",
      RETRY,
      "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
      { warnings: retrying([1, 2]) },
    ),
    why: "an API key has no allowance: limit with retry, errorKind rate_limit",
  },
  {
    case: "http-429-recover",
    ...answered("Recovered after the rate limit.", retrying([1])),
    why: "one warning, then text",
  },
];

/** The service rejected the request, the account or the model: never again by itself. */
const REJECTIONS: readonly RecordingRow[] = [
  {
    case: "http-400-invalid",
    ...told("request_rejected", "service", RETRY, "API Error: 400 messages.1.content: fake structural rejection"),
    why: "status 400 in the words beats service/retry and errorKind unknown",
  },
  {
    case: "fail-twice",
    air: [
      record("request_rejected", "service", RETRY, HTTP_400),
      record("request_rejected", "service", RETRY, HTTP_400),
    ],
    plain: [sentence("request_rejected", HTTP_400), sentence("request_rejected", HTTP_400)],
    why: "status 400, two records with ids of their own",
  },
  {
    case: "load-after-failure",
    air: [completed("Fine."), record("request_rejected", "service", RETRY, HTTP_400)],
    plain: [completed("Fine."), sentence("request_rejected", HTTP_400)],
    why: "both prompts of the first adapter process",
    rest: needs("B", "session/load in a second process"),
  },
  {
    case: "http-404-model",
    ...told("model_unavailable", "request", [], noModel("claude-opus-5-5")),
    why: "no such model or no access, errorKind model_not_found",
  },
  {
    case: "env-unknown-model",
    ...told("model_unavailable", "request", [], noModel("no-such-model-9")),
    why: "the same, chosen by the environment",
  },
  {
    case: "http-401",
    ...signedOut("Invalid API key · Fix external API key"),
    why: "-32000 for both clients",
  },
  {
    case: "http-401-oauth",
    ...signedOut(
      "Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token.",
    ),
    why: "-32000 for both clients",
  },
  {
    case: "http-403",
    ...signedOut(
      "Failed to authenticate. API Error: 403 Your API key does not have permission to use the specified resource.",
    ),
    why: "-32000 for both clients",
  },
  { case: "no-api-key", ...signedOut(""), why: "-32000 and not a word more" },
  {
    case: "http-403-verification",
    ...told("auth", "service", RETRY, VERIFICATION),
    why: "a 403 told without its status: the account has to be verified, the same request cannot pass; errorKind verification_required",
  },
];

/** The service or the way to it: worth another try while nothing was shown. */
const SERVICE: readonly RecordingRow[] = [
  {
    case: "http-500",
    ...told("service_error", "service", RETRY, HTTP_500, { warnings: retrying([1, 2]) }),
    why: "status 500",
  },
  {
    case: "http-503",
    ...told("service_error", "service", RETRY, HTTP_503, { warnings: retrying([1, 2]) }),
    why: "status 503",
  },
  {
    case: "http-529-forever",
    ...told("overloaded", "service", RETRY, HTTP_529, { warnings: retrying([1, 2]) }),
    why: "529 Overloaded in the words",
  },
  {
    case: "http-529-default-retries",
    ...told("overloaded", "service", RETRY, HTTP_529, { warnings: retrying([1, 2], 10) }),
    why: "the same; the recorded cancel came after the result",
  },
  { case: "http-500-recover", ...answered("Recovered after 500.", retrying([1])), why: "one warning, then text" },
  {
    case: "http-529-recover",
    ...answered("Recovered after overload.", retrying([1, 2])),
    why: "two warnings, then text",
  },
  {
    case: "fail-then-ok",
    air: [
      record("service_error", "service", RETRY, HTTP_500, { warnings: retrying([1, 2]) }),
      completed("Works again.", { warnings: [] }),
    ],
    plain: [sentence("service_error", HTTP_500), completed("Works again.", { warnings: [] })],
    why: "the failure of prompt 1 does not stick to prompt 2",
  },
  {
    case: "sse-error-api",
    air: [
      record("service_error", "service", RETRY, MID_RESPONSE, { text: "Partial answer", replaySafety: "output_seen" }),
    ],
    plain: [sentence("service_error", MID_RESPONSE, "Partial answer")],
    why: "server error in the stream; four equal attempts stand once, as partial text",
  },
  {
    case: "sse-empty",
    air: [record("service_error", "service", RETRY, noEvents("req_fake002365"))],
    plain: [sentence("service_error", noEvents("req_fake005055"))],
    why: "a gateway answered 200 without a message: the response is malformed, not the request",
  },
  {
    case: "conn-refused",
    ...told("network", "service", RETRY, REFUSED, { warnings: reconnecting([1, 2]) }),
    why: "ECONNREFUSED is more specific than service and server_error",
  },
  {
    case: "conn-refused-mid-session",
    air: [completed("Answered."), record("network", "service", RETRY, REFUSED, { warnings: reconnecting([1, 2]) })],
    plain: [completed("Answered."), sentence("network", REFUSED)],
    why: "prompt 2 meets no server",
  },
  {
    case: "conn-cut-forever",
    air: [
      record("network", "service", RETRY, DROPPED, { text: "Partial ans", replaySafety: "output_seen", warnings: [] }),
    ],
    plain: [sentence("network", DROPPED, "Partial ans")],
    why: "ECONNRESET; warnings and record share one id; three cut attempts stand once",
  },
  {
    case: "hang-no-bytes",
    ...told("network", "service", RETRY, "Request timed out", { warnings: reconnecting([1], 1) }),
    why: "the harness's own deadline for a silent server, after a reconnect",
  },
];

/** Several failures on one session: none sticks to the next prompt. */
const SEQUENCES: readonly RecordingRow[] = [
  {
    case: "seq-http-errors",
    air: [
      record("usage_limit", "service", RETRY, HTTP_402),
      record("auth", "service", RETRY, VERIFICATION),
      rejected("auth", { source: "rpc_error", replaySafety: "no_output", title: "Authentication required" }),
      record("request_rejected", "service", RETRY, UNPROCESSABLE),
      record("service_error", "service", RETRY, HTTP_502, { warnings: retrying([1, 2]) }),
      record("service_error", "service", RETRY, HTTP_503, { warnings: retrying([1, 2]) }),
      completed("Recovered after 500.", { warnings: retrying([1]) }),
      completed("Recovered after the rate limit.", { warnings: retrying([1]) }),
      completed("Recovered after overload.", { warnings: retrying([1, 2]) }),
      completed(HELLO, { warnings: [] }),
    ],
    plain: [
      sentence("usage_limit", HTTP_402),
      sentence("auth", VERIFICATION),
      sentence("auth", "Failed to authenticate. API Error: 403 Forbidden", "", { title: "Authentication required" }),
      sentence("request_rejected", UNPROCESSABLE),
      sentence("service_error", HTTP_502),
      sentence("service_error", HTTP_503),
      completed("Recovered after 500."),
      completed("Recovered after the rate limit."),
      completed("Recovered after overload."),
      completed(HELLO),
    ],
    why: "402 is a spent allowance, 422 a rejected request, whatever the record recommends",
  },
  {
    case: "seq-stream-errors",
    air: [
      record("service_error", "service", RETRY, MID_RESPONSE, { text: "Partial answer", replaySafety: "output_seen" }),
      record("service_error", "service", RETRY, MID_RESPONSE, { text: "Partial answer", replaySafety: "output_seen" }),
      record("service_error", "service", RETRY, GARBAGE),
      record("service_error", "service", RETRY, noEvents("req_fake000124")),
      record("network", "service", RETRY, DROPPED, { warnings: reconnecting([1, 2]) }),
      declined(`I was going to say${DECLINED}`, [fallback("bio", "claude-opus-5")]),
      declined(""),
      completed(HELLO, { warnings: [] }),
    ],
    plain: [
      sentence("service_error", MID_RESPONSE, "Partial answer"),
      sentence("service_error", MID_RESPONSE, "Partial answer"),
      sentence("service_error", GARBAGE),
      sentence("service_error", noEvents("req_fake000082")),
      sentence("network", DROPPED),
      declined(`I was going to say${flagged("Opus 5", "16049681", "bio", 141)}${DECLINED}`),
      declined(flagged("Opus 5", "16049681", "", 153)),
      completed(HELLO),
    ],
    why: "errorKind unknown without a status is what AIR calls service/retry; failures of the service do not stick",
  },
  {
    case: "seq-tools",
    ...same(
      asked([], RAN),
      asked(["allow-once"], RAN),
      asked([], RAN),
      asked([], RAN),
      asked(["allow-once"], RAN),
      asked([], RAN),
      completed("It is missing."),
      completed("It failed."),
      completed("No such tool."),
      completed("Bad input."),
      asked(["allow-once", "allow-once", "allow-once", "allow-once"], "Passed on the fourth try."),
      completed("Planned."),
      completed(HELLO),
    ),
    why: "thirteen prompts; request ids of the permission questions run on",
    drive: { approve: "all" },
  },
];

/** Turns that somebody or something ended. */
const ENDED: readonly RecordingRow[] = [
  {
    case: "stall-mid-stream",
    ...same(
      rejected("timeout", {
        source: "timeout",
        replaySafety: "unknown",
        stopReason: "cancelled",
        text: "Partial ans",
      }),
    ),
    why: "silence after a chunk: our own deadline ends it, the adapter acknowledges the cancel",
    drive: { timeoutS: 3 },
  },
  {
    case: "hang-no-bytes-cancel",
    ...same(cancelled(130)),
    why: "no frame at all, then the caller's cancel",
    drive: { abortTurn: 1 },
  },
  {
    case: "cancel-mid-text",
    air: [cancelled(130, { text: ticks(11) })],
    plain: [cancelled(130, { text: ticks(12) })],
    why: "a chunk between cancel and result is still text",
    drive: { abortTurn: 1 },
  },
  {
    case: "cancel-mid-tool",
    ...same(cancelled(130, { answers: ["allow-once"] }), completed("Second turn fine.")),
    why: "cancelled with a command in flight; prompt 2 is an ordinary turn",
    drive: { approve: "all", abortTurn: 1 },
  },
  {
    case: "cancel-during-retry",
    air: [cancelled(130, { warnings: retrying([1, 2], 6) })],
    plain: [sentence("overloaded", HTTP_529)],
    why: "AIR was cancelled between retries; plain had failed before the cancel",
    drive: { abortTurn: 1 },
  },
  {
    case: "kill-child-mid-turn",
    air: [connectionLost(ticks(6)), NOT_FOUND],
    plain: [processExited(ticks(6)), NOT_FOUND],
    why: "connection/new_session or its sentence: the child died; prompt 2 is -32002",
  },
  {
    case: "kill-child-idle",
    ...same(completed("ok"), NOT_FOUND),
    why: "the record between the turns fails neither; prompt 2 is -32002",
  },
  {
    case: "kill-child-reload",
    air: [connectionLost(ticks(9))],
    plain: [processExited(ticks(7))],
    why: "the child died mid turn",
    rest: needs("B", "session/load of the same session in the same process"),
  },
  {
    case: "kill-adapter-mid-turn",
    air: [adapterDied(ticks(8))],
    plain: [adapterDied(ticks(7))],
    why: "SIGKILL after text",
  },
  {
    case: "kill-adapter-turn-ends",
    air: [adapterDied(ticks(7))],
    plain: [adapterDied(ticks(6))],
    why: "SIGKILL after text; that the child finished the turn is on no wire",
  },
  {
    case: "kill-adapter-mid-tool",
    ...same(adapterDied("")),
    why: "SIGKILL with a command in flight",
    drive: { approve: "all" },
  },
  {
    case: "load-after-kill",
    air: [adapterDied(ticks(7))],
    plain: [adapterDied(ticks(6))],
    why: "SIGKILL after text, the first adapter process",
    rest: needs("B", "session/load in a second process"),
  },
  { case: "kill-adapter-idle", ...same(completed("Done.")), why: "the adapter died after the turn had ended" },
  {
    case: "term-adapter-mid-turn",
    ...same(cancelled(1, { text: ticks(7) })),
    why: "a foreign SIGTERM: the adapter answers cancelled before it goes, which nobody here asked for",
  },
  {
    case: "stdin-close-mid-turn",
    ...same(cancelled(130, { text: ticks(6), stopReason: null })),
    why: "the adapter answers neither the prompt nor a cancel and goes when stdin ends",
    drive: { abortTurn: 1 },
  },
];

/** No session came up, or none was asked for. */
const STARTS: readonly RecordingRow[] = [
  {
    case: "claude-binary-exits",
    ...same(failedToStart("agent_spawn", { source: "rpc_error" })),
    why: "session/new is -32603, details: the child exited with code 7 before there was a session",
  },
  {
    case: "protocol-errors",
    ...same(
      failedToStart("agent_spawn", {
        source: "rpc_error",
        title: "Invalid params: `cwd` must be an absolute path, but received: relative",
      }),
    ),
    why: "the error without an id is noise; the first session/new is -32602, which no other row knows",
  },
  {
    case: "prompt-before-initialize",
    ...same(failedToStart("protocol")),
    why: "the recording has no initialize, so the agent has none (-32601): no handshake",
  },
  {
    case: "load-after-tool-failure",
    ...same(asked(["allow-once"], RAN)),
    why: "the prompt of the first adapter process: exit 3, the model goes on",
    drive: { approve: "all" },
    rest: needs("B", "session/load in a second process"),
  },
  {
    case: "load-unknown",
    ...later("B", "session/load and session/resume of an unknown id"),
    why: "no session is opened",
  },
  {
    case: "no-api-key-authenticate",
    ...later("C", "authenticate: a method that the adapter does not have"),
    why: "there is no prompt",
  },
  {
    case: "goal-set",
    ...later("C", "_session/goal set and clear"),
    why: "there is no prompt",
  },
  {
    case: "steering",
    ...later("C", "_session/steering into the running turn"),
    why: "the turn goes on only after the steering",
  },
];

/** Every recording of claude-agent-acp 0.101.0, once. */
export const CLAUDE_RECORDINGS: readonly RecordingRow[] = [
  ...ANSWERS,
  ...PERMISSIONS,
  ...REFUSALS,
  ...LIMITS,
  ...REJECTIONS,
  ...SERVICE,
  ...SEQUENCES,
  ...ENDED,
  ...STARTS,
];

/** The same prompt once more, where nothing was shown: `plain` had shown the sentence of the error. */
export const CLAUDE_RESENDS: readonly RecordingRow[] = [
  {
    case: "http-500",
    air: [failed("service_error", { replaySafety: "no_output", prompts: 2 })],
    plain: [sentence("service_error", HTTP_500)],
    why: "a passing failure with nothing shown is sent again",
    drive: { retries: 1 },
  },
];
