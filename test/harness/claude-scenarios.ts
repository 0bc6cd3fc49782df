/**
 * What `ostler ask -b claude` must make of Claude Code 2.1.318 behind claude-agent-acp 0.101.0. Pure data. How often
 * Claude Code asks the service again by itself depends on the answer (wire notes of claude-agent-acp 0.101.0, points 6, 7
 * and 10), hence the ranges.
 */
import { join } from "node:path";
import { anthropicError, refusal, stop, streamError, type AnthropicStep } from "../model-service/anthropic.ts";
import { cut, emptyAnswer, hang, httpError, heldText, text, toolCall } from "../model-service/steps.ts";
import { attachedImage, missingMcpServer } from "./scenario-files.ts";
import { DUMMY_KEYS, type ScenarioHome } from "./scenario-home.ts";
import { cancelled, completed, empty, failed, refused, type Scenario, type Script } from "./scenario.ts";

const LONG_ANSWER = Array.from({ length: 2_000 }, (_, index) => `word${index} `).join("");
const DECLINED = "This request was declined by a safety classifier.";

/** The model writes a file with the harness's own tool, then says so. */
function writes({ workspace }: ScenarioHome): Script<AnthropicStep> {
  return [toolCall("Write", { file_path: join(workspace, "made.txt"), content: "line one\n" }), text("Written.")];
}

const RUNS_COMMAND: Script<AnthropicStep> = [
  toolCall("Bash", { command: "touch made.txt", description: "Make a file" }),
  text("Run."),
];

const ANSWERS: readonly Scenario<AnthropicStep>[] = [
  { name: "a plain answer", service: [text("Hello from the service.")], expect: completed("Hello from the service.") },
  {
    name: "a confined agent answers, and is told of the tools of its run",
    service: [text("Hello from inside.")],
    ask: ["--confined"],
    expect: completed("Hello from inside.", { sent: [/mcp__ostler__run/, /mcp__ostler__failure_disposition/] }),
  },
  {
    name: "a confined agent runs a search that finds nothing, as it declared",
    service: [
      toolCall("mcp__ostler__run", { command: "grep nothing notes.txt", expectedExitCodes: [1] }),
      text("Nothing."),
    ],
    ask: ["--confined", "--approve", "all"],
    expect: completed("Nothing.", { prompts: 2, says: [/exitCode\\*":1,/], never: [/unclassified/i] }),
  },
  { name: "a long answer, every word of it", service: [text(LONG_ANSWER, 2_000)], expect: completed(LONG_ANSWER) },
  {
    name: "the first words are shown before the last one was sent",
    service: [heldText("one ", "two three")],
    expect: completed("one two three", { says: [/"type":"text","text":"one "/] }),
  },
  {
    name: "an answer in the format text goes to stdout and nothing else does",
    service: [text("Hello from the service.")],
    format: "text",
    expect: completed("", { stdout: "Hello from the service.\n" }),
  },
  {
    name: "the format quiet prints the answer and says nothing else",
    service: [text("Hello from the service.")],
    format: "quiet",
    expect: completed("", { stdout: "Hello from the service.\n" }),
  },
  {
    name: "an empty answer, which Claude Code asks for twice, is not success",
    service: [emptyAnswer()],
    expect: empty(2),
  },
  {
    name: "an empty answer gets one more try of ours",
    service: [emptyAnswer()],
    ask: ["--retries", "3"],
    expect: empty(4, { attempts: 2 }),
  },
  {
    name: "an image is attached to the prompt",
    service: [text("A dot.")],
    prepare: attachedImage,
    expect: completed("A dot.", { sent: [/"media_type":"image\/png"/] }),
  },
  {
    name: "an MCP server that cannot start does not end the turn, and is named",
    service: [text("Fine without it.")],
    prepare: missingMcpServer,
    expect: completed("Fine without it.", { says: [/broken/] }),
  },
];

const TOOLS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "a default ask told to write a file leaves no file",
    service: writes,
    expect: completed("Written.", { exitCode: 5, prompts: 2 }),
  },
  {
    name: "a default ask told to run a command that writes leaves no file",
    service: RUNS_COMMAND,
    expect: completed("Run.", { exitCode: 5, prompts: 2 }),
  },
  {
    name: "a denial that --approve none asked for keeps exit 0",
    service: writes,
    ask: ["--approve", "none"],
    expect: completed("Written.", { prompts: 2 }),
  },
  {
    name: "a mode that accepts every edit is said",
    service: writes,
    ask: ["--mode", "acceptEdits"],
    expect: completed("Written.", { prompts: 2, files: ["made.txt"], says: [/acceptEdits.*without asking/] }),
  },
  {
    name: "--approve all lets a tool write",
    service: writes,
    ask: ["--approve", "all"],
    expect: completed("Written.", { prompts: 2, files: ["made.txt"] }),
  },
  {
    name: "--approve all lets a command write",
    service: RUNS_COMMAND,
    ask: ["--approve", "all"],
    expect: completed("Run.", { prompts: 2, files: ["made.txt"] }),
  },
  {
    name: "reading in the workspace needs no permission",
    service: ({ workspace }) => [toolCall("Read", { file_path: join(workspace, "notes.txt") }), text("It says alpha.")],
    expect: completed("It says alpha.", { prompts: 2, says: [/"kind":"read"/] }),
  },
  {
    name: "reading outside the workspace is denied by default",
    service: [toolCall("Read", { file_path: "/etc/hostname" }), text("I could not.")],
    expect: completed("I could not.", { exitCode: 5, prompts: 2 }),
  },
];

const REFUSALS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "a refusal without a reason",
    service: [refusal()],
    ask: ["--retries", "3"],
    expect: refused({}, 2),
  },
  {
    name: "a refusal in the format text is a card on stderr",
    service: [refusal()],
    format: "text",
    expect: refused({}, 2, { stdout: "", says: [/declined|refused/i] }),
  },
  {
    name: "a refusal with a reason, which the adapter tells as text",
    service: [refusal({ category: "general_harms", explanation: DECLINED })],
    ask: ["--retries", "3"],
    expect: refused({}, 2, { text: DECLINED }),
  },
];

const REQUESTS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "400 of a text that Claude Code does not know, with a key in it that is not printed",
    service: [
      httpError(400, anthropicError("invalid_request_error", `messages.1.content: bad key ${DUMMY_KEYS.anthropic}`)),
    ],
    ask: ["--retries", "3"],
    expect: failed("request_rejected", "never", 1, [1, 7]),
  },
  {
    name: "400 prompt too long",
    service: [
      httpError(400, anthropicError("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")),
    ],
    ask: ["--retries", "3"],
    expect: failed("context_overflow", "never", 8, 1),
  },
  {
    name: "400 credit balance",
    service: [
      httpError(
        400,
        anthropicError("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
      ),
    ],
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 1),
  },
  {
    name: "401",
    service: [httpError(401, anthropicError("authentication_error", "invalid x-api-key"))],
    ask: ["--retries", "3"],
    expect: failed("auth", "never", 6, 2),
  },
  {
    name: "402 billing",
    service: [httpError(402, anthropicError("billing_error", "Your account has a billing problem."))],
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 1),
  },
  {
    name: "403",
    service: [httpError(403, anthropicError("permission_error", "Your API key does not have permission."))],
    ask: ["--retries", "3"],
    expect: failed("auth", "never", 6, 1),
  },
  {
    name: "404 for the model",
    service: [httpError(404, anthropicError("not_found_error", "model: claude-opus-5-5"))],
    ask: ["--retries", "3"],
    expect: failed("model_unavailable", "never", 1, 2),
  },
  {
    name: "413 too large",
    service: [httpError(413, anthropicError("request_too_large", "Request exceeds the maximum size"))],
    ask: ["--retries", "3"],
    expect: failed("request_rejected", "never", 1, 1),
  },
];

const RATE_LIMITED = httpError(
  429,
  anthropicError("rate_limit_error", "This request would exceed the rate limit for your organization."),
  { "retry-after": "1" },
);

const LIMITS: readonly Scenario<AnthropicStep>[] = [
  { name: "429 without retries", service: [RATE_LIMITED], expect: failed("rate_limit", "backoff", 8, 2) },
  {
    name: "429 is sent once more with --retries 1",
    service: [RATE_LIMITED],
    ask: ["--retries", "1"],
    expect: failed("rate_limit", "backoff", 8, 4, { attempts: 2, says: [/"type":"retry"/] }),
  },
  {
    name: "a spent allowance of a subscription is never retried",
    service: [
      httpError(429, anthropicError("rate_limit_error", "This request would exceed your account's rate limit."), {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "1893456000",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
      }),
    ],
    env: { ANTHROPIC_API_KEY: null, CLAUDE_CODE_OAUTH_TOKEN: DUMMY_KEYS.anthropicToken },
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 1),
  },
  {
    name: "an output limit keeps the text once and marks it",
    service: [stop("max_tokens", "This answer is cut")],
    ask: ["--retries", "3"],
    expect: {
      outcome: "truncated",
      exitCode: 11,
      failure: { kind: "output_limit", retry: "never" },
      text: "This answer is cut",
      prompts: [1, 5],
    },
  },
];

const SERVICE: readonly Scenario<AnthropicStep>[] = [
  {
    name: "500 every time",
    service: [httpError(500, anthropicError("api_error", "Internal server error"))],
    expect: failed("service_error", "backoff", 1, 2),
  },
  {
    name: "500 once is mended by Claude Code itself",
    service: [httpError(500, anthropicError("api_error", "Internal server error")), text("Fine now.")],
    expect: completed("Fine now.", { prompts: 2 }),
  },
  {
    name: "503",
    service: [httpError(503, anthropicError("api_error", "Service unavailable"))],
    expect: failed("service_error", "backoff", 1, 2),
  },
  {
    name: "529 overloaded",
    service: [httpError(529, anthropicError("overloaded_error", "Overloaded"))],
    expect: failed("overloaded", "backoff", 1, 2),
  },
  {
    name: "an error event in the stream: the partial text stands once, and nothing is sent again",
    service: [streamError("api_error", "Internal server error", "Partial answer")],
    ask: ["--retries", "3"],
    expect: failed("service_error", "backoff", 1, [2, 4], { text: "Partial answer" }),
  },
  {
    name: "a stream cut once: the answer stands once",
    service: [cut("Half an ans"), text("Half an answer, whole.")],
    expect: completed("Half an answer, whole.", { prompts: 2 }),
  },
  {
    name: "a stream cut every time: the partial text stands once, and nothing is sent again",
    service: [cut("Half an ans")],
    ask: ["--retries", "3"],
    expect: failed("network", "backoff", 1, [2, 4], { text: "Half an ans" }),
  },
  {
    name: "a refused connection",
    service: "nothing listens",
    expect: failed("network", "backoff", 1, 0),
  },
  {
    name: "silence ends at --idle-timeout",
    service: [hang("Half an ans")],
    ask: ["--idle-timeout", "10"],
    expect: failed("timeout", "never", 3, 1, { text: "Half an ans" }),
  },
  {
    name: "a request that gets no byte ends at --timeout",
    service: [hang()],
    ask: ["--timeout", "10"],
    expect: failed("timeout", "never", 3, 1),
  },
];

const ENDINGS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "Ctrl-C in the middle of the answer",
    service: [hang("Half an ans")],
    interrupt: { when: "text", signal: "SIGINT", target: "ostler" },
    expect: cancelled(130, { text: "Half an ans" }),
  },
  {
    name: "SIGTERM before the first word",
    service: [hang()],
    interrupt: { when: "turn", signal: "SIGTERM", target: "ostler" },
    expect: cancelled(143),
  },
  {
    name: "kill -9 of the adapter",
    service: [hang("Half an ans")],
    ask: ["--retries", "3"],
    interrupt: { when: "text", signal: "SIGKILL", target: "adapter" },
    expect: failed("agent_died", "after_respawn", 9, 1, { text: "Half an ans" }),
  },
  {
    name: "kill -9 of Claude Code under the adapter",
    service: [hang("Half an ans")],
    ask: ["--retries", "3"],
    interrupt: { when: "text", signal: "SIGKILL", target: "harness" },
    expect: failed("agent_died", "after_respawn", 9, 1, { text: "Half an ans" }),
  },
];

const SETTINGS: readonly Scenario<AnthropicStep>[] = [
  {
    name: "no login",
    service: [text("Never said.")],
    env: { ANTHROPIC_API_KEY: null },
    ask: ["--retries", "3"],
    expect: failed("auth", "never", 6, 0),
  },
  {
    name: "no login, told to a person with what signs in",
    service: [text("Never said.")],
    format: "text",
    env: { ANTHROPIC_API_KEY: null },
    expect: failed("auth", "never", 6, 0, { stdout: "", says: [/ANTHROPIC_API_KEY|\/login|claude auth login/] }),
  },
  {
    name: "a model that Claude Code does not offer",
    service: [text("Never said.")],
    ask: ["--model", "no-such-model"],
    expect: failed("model_unavailable", "never", 1, 0, { attempts: 0, says: [/no-such-model/] }),
  },
  {
    name: "a model from the environment that the service does not know",
    service: [httpError(404, anthropicError("not_found_error", "model: no-such-model"))],
    env: { ANTHROPIC_MODEL: "no-such-model" },
    ask: ["--retries", "3"],
    expect: failed("model_unavailable", "never", 1, 2, { says: [/no-such-model/] }),
  },
  {
    name: "a mode that Claude Code does not offer",
    service: [text("Never said.")],
    ask: ["--mode", "no-such-mode"],
    expect: failed("configuration", "never", 1, 0, { attempts: 0, says: [/no-such-mode.*default/] }),
  },
  {
    name: "a claude program that does not exist",
    service: [text("Never said.")],
    env: { CLAUDE_CODE_EXECUTABLE: "/nonexistent/claude" },
    ask: ["--retries", "3"],
    expect: failed("agent_spawn", "never", 9, 0, { attempts: 0, says: [/\/nonexistent\/claude/] }),
  },
  {
    name: "a proxy that is no URL",
    service: [text("Never said.")],
    env: { HTTPS_PROXY: "not a url" },
    expect: failed("configuration", "never", 1, 0, { attempts: 0, says: [/HTTPS_PROXY/] }),
  },
];

export const CLAUDE_SCENARIOS: readonly Scenario<AnthropicStep>[] = [
  ...ANSWERS,
  ...TOOLS,
  ...REFUSALS,
  ...REQUESTS,
  ...LIMITS,
  ...SERVICE,
  ...ENDINGS,
  ...SETTINGS,
];
