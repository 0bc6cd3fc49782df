/**
 * What `ostler ask -b codex` must make of codex 0.166 behind codex-acp 2.6.0. Pure data. Numbers of prompts follow from
 * the retries in `codexConfig`: a request that fails is sent twice, a stream that fails is opened twice, and HTTP 5xx
 * counts as both (wire notes of codex-acp 2.6.0, section "Files").
 */
import {
  applyPatch,
  failed as fails,
  incomplete,
  openAiError,
  refusal,
  type OpenAiStep,
} from "../model-service/openai.ts";
import { cut, emptyAnswer, hang, httpError, heldText, text, toolCall } from "../model-service/steps.ts";
import { attachedImage, codexConfigFile, missingMcpServer } from "./scenario-files.ts";
import { codexConfig, DUMMY_KEYS } from "./scenario-home.ts";
import { cancelled, completed, empty, failed, refused, type Scenario } from "./scenario.ts";

const LONG_ANSWER = Array.from({ length: 2_000 }, (_, index) => `word${index} `).join("");

/** A command outside the sandbox: codex asks before it runs. */
const WRITE_BY_COMMAND = toolCall("exec_command", {
  cmd: "touch made.txt",
  sandbox_permissions: "require_escalated",
  justification: "May I make a file?",
});
const WRITE_BY_PATCH = applyPatch("*** Add File: made.txt", "+line one");

const RATE_LIMITED = httpError(
  429,
  openAiError("rate_limit_error", "rate_limit_exceeded", "Rate limit reached on tokens per min. Try again in 0.2s."),
  { "retry-after": "1" },
);

/** The line of a provider that wants an OpenAI login, as the built-in one does. */
const NEEDS_LOGIN = "requires_openai_auth = true";

const OVERLOADED = "Our servers are currently overloaded. Please try again later.";
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
const CYBER = "This request has been flagged for possible cybersecurity risk.";

const ANSWERS: readonly Scenario<OpenAiStep>[] = [
  { name: "a plain answer", service: [text("Hello from the service.")], expect: completed("Hello from the service.") },
  {
    name: "a confined agent answers, and is told of the tools of its run",
    service: [text("Hello from inside.")],
    ask: ["--confined"],
    expect: completed("Hello from inside.", { sent: [/- ostler: Run commands whose result matters/] }),
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
    name: "an answer in the format text goes to stdout and nothing else does",
    service: [text("Hello from the service.")],
    format: "text",
    expect: completed("", { stdout: "Hello from the service.\n" }),
  },
  {
    name: "an answer in the format json is one object",
    service: [text("Hello from the service.")],
    format: "json",
    expect: completed("Hello from the service."),
  },
  {
    name: "an empty answer is not success and, with codex, not tried again",
    service: [emptyAnswer()],
    ask: ["--retries", "3"],
    expect: empty(1),
  },
  {
    name: "an image is attached to the prompt",
    service: [text("A dot.")],
    prepare: attachedImage,
    expect: completed("A dot.", { sent: [/"type":"input_image","image_url":"data:image\/png;base64,/] }),
  },
  {
    name: "an MCP server that cannot start does not end the turn",
    service: [text("Fine without it.")],
    prepare: missingMcpServer,
    expect: completed("Fine without it."),
  },
];

const TOOLS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "a default ask told to write a file by a command leaves no file",
    service: [WRITE_BY_COMMAND, text("Written.")],
    expect: cancelled(5),
  },
  {
    name: "a default ask told to write a file by a patch leaves no file",
    service: [WRITE_BY_PATCH, text("Written.")],
    expect: cancelled(5),
  },
  {
    name: "a write inside the sandbox, where codex does not ask, leaves no file either",
    service: [toolCall("exec_command", { cmd: "touch made.txt" }), text("I could not.")],
    expect: completed("I could not.", { prompts: 2 }),
  },
  {
    name: "a denial that --approve none asked for is the harness's own cancel",
    service: [WRITE_BY_COMMAND, text("Written.")],
    ask: ["--approve", "none"],
    expect: cancelled(1),
  },
  {
    name: "a mode that lets a second model approve is said",
    service: [WRITE_BY_COMMAND, text("Written.")],
    ask: ["--mode", "agent"],
    expect: completed("Written.", {
      prompts: 2,
      secondModelAsked: 1,
      files: ["made.txt"],
      says: [/\bagent\b.*without asking/],
    }),
  },
  {
    name: "--approve all lets a command write",
    service: [WRITE_BY_COMMAND, text("Written.")],
    ask: ["--approve", "all"],
    expect: completed("Written.", { prompts: 2, files: ["made.txt"] }),
  },
  {
    name: "--approve all lets a patch write",
    service: [WRITE_BY_PATCH, text("Written.")],
    ask: ["--approve", "all"],
    expect: completed("Written.", { prompts: 2, files: ["made.txt"] }),
  },
  {
    name: "reading in the workspace needs no permission",
    service: [toolCall("exec_command", { cmd: "cat notes.txt" }), text("It says alpha.")],
    expect: completed("It says alpha.", { prompts: 2, says: [/"kind":"read"/] }),
  },
];

const REFUSALS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "a policy code in the stream",
    service: [fails("cyber_policy", CYBER)],
    ask: ["--retries", "3"],
    expect: refused({ explanation: CYBER }, 1),
  },
  {
    name: "a policy code as HTTP 400",
    service: [httpError(400, openAiError("invalid_request", "cyber_policy", CYBER))],
    ask: ["--retries", "3"],
    expect: refused({ explanation: CYBER }, 1),
  },
  {
    name: "a policy that codex reports as a service fault worth retrying",
    service: [fails("bio_policy", "This content was flagged for possible biological risk.")],
    ask: ["--retries", "3"],
    expect: refused({ explanation: "This content was flagged for possible biological risk." }, 1),
  },
  {
    name: "a content filter after some text, which stands once",
    service: [incomplete("content_filter", "Partial answer ")],
    expect: refused(
      { explanation: "stream disconnected before completion: Incomplete response returned, reason: content_filter" },
      2,
      { text: "Partial answer " },
    ),
  },
  {
    name: "refusal content, which codex drops, is an empty turn",
    service: [refusal("I can't help with that.")],
    ask: ["--retries", "3"],
    expect: empty(1),
  },
];

const REQUESTS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "400 malformed request is never retried",
    service: [httpError(400, openAiError("invalid_request_error", null, "Improperly formed request."))],
    ask: ["--retries", "3"],
    expect: failed("malformed_request", "never", 1, 1),
  },
  {
    name: "400 invalid value, with the key in the message, which is not printed",
    service: [
      httpError(
        400,
        openAiError("invalid_request_error", "invalid_value", `Invalid value: 'foo' (key ${DUMMY_KEYS.openAi}).`),
      ),
    ],
    ask: ["--retries", "3"],
    expect: failed("request_rejected", "never", 1, 1, { says: [/Invalid value: 'foo'/] }),
  },
  {
    name: "401",
    service: [httpError(401, openAiError("invalid_request_error", "invalid_api_key", "Incorrect API key provided."))],
    ask: ["--retries", "3"],
    expect: failed("auth", "never", 6, 2),
  },
  {
    name: "402 payment required",
    service: [httpError(402, openAiError("billing_error", "billing_hard_limit_reached", "Billing hard limit reached"))],
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 2),
  },
  {
    name: "403 forbidden",
    service: [httpError(403, openAiError("permission_error", "forbidden", "You have insufficient permissions."))],
    expect: failed("auth", "never", 6, 2),
  },
  {
    name: "403 of a proxy that blocks the place is no login problem",
    service: [
      httpError(403, "<html><body>Cloudflare: you have been blocked</body></html>", {
        "content-type": "text/html",
        "cf-ray": "abc123-XXX",
      }),
    ],
    expect: failed("request_rejected", "never", 1, 2),
  },
  {
    name: "404 for the configured model",
    service: [
      httpError(
        404,
        openAiError(
          "invalid_request_error",
          "model_not_found",
          "The model 'gpt-5.5' does not exist or you do not have access to it.",
        ),
      ),
    ],
    ask: ["--retries", "3"],
    expect: failed("model_unavailable", "never", 1, 1),
  },
  {
    name: "413 too large",
    service: [httpError(413, openAiError("invalid_request_error", "payload_too_large", "Request body too large"))],
    expect: failed("request_rejected", "never", 1, 2),
  },
];

const LIMITS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "429 without retries",
    service: [RATE_LIMITED],
    expect: failed("rate_limit", "backoff", 8, 2),
  },
  {
    name: "429 is sent once more with --retries 1",
    service: [RATE_LIMITED],
    ask: ["--retries", "1"],
    expect: failed("rate_limit", "backoff", 8, 4, { attempts: 2, says: [/"type":"retry"/] }),
  },
  {
    name: "a spent allowance is never retried",
    service: [
      httpError(429, {
        error: {
          type: "usage_limit_reached",
          message: "The usage limit has been reached",
          plan_type: "plus",
          resets_in_seconds: 5_400,
        },
      }),
    ],
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 1),
  },
  {
    name: "a spent allowance in the format text is a card on stderr",
    service: [httpError(429, openAiError("insufficient_quota", "insufficient_quota", QUOTA))],
    format: "text",
    expect: failed("usage_limit", "never", 8, 1, { stdout: "", says: [/Quota exceeded/], never: [/"type":/] }),
  },
  {
    name: "insufficient quota is never retried",
    service: [httpError(429, openAiError("insufficient_quota", "insufficient_quota", QUOTA))],
    ask: ["--retries", "3"],
    expect: failed("usage_limit", "never", 8, 1),
  },
  {
    name: "context overflow in the stream",
    service: [fails("context_length_exceeded", "Your input exceeds the context window of this model.")],
    ask: ["--retries", "3"],
    expect: failed("context_overflow", "never", 8, 1),
  },
  {
    name: "context overflow as HTTP 400",
    service: [
      httpError(
        400,
        openAiError(
          "invalid_request_error",
          "context_length_exceeded",
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
      ),
    ],
    ask: ["--retries", "3"],
    expect: failed("context_overflow", "never", 8, 1),
  },
  {
    name: "an output limit keeps the text and marks it",
    service: [incomplete("max_output_tokens", "Partial answer ")],
    ask: ["--retries", "3"],
    expect: {
      outcome: "truncated",
      exitCode: 11,
      failure: { kind: "output_limit", retry: "never" },
      text: "Partial answer ",
      prompts: 1,
    },
  },
];

const SERVICE: readonly Scenario<OpenAiStep>[] = [
  {
    name: "500 every time",
    service: [httpError(500, openAiError("server_error", "internal_error", "The server had an error."))],
    expect: failed("service_error", "backoff", 1, 4),
  },
  {
    name: "500 once is mended by codex itself",
    service: [httpError(500, openAiError("server_error", null, "The server had an error.")), text("Fine now.")],
    expect: completed("Fine now.", { prompts: 2 }),
  },
  {
    name: "503 overloaded",
    service: [httpError(503, openAiError("service_unavailable_error", "server_is_overloaded", OVERLOADED))],
    expect: failed("model_capacity", "backoff", 1, 2),
  },
  {
    name: "503 of a gateway",
    service: [httpError(503, "upstream connect error", { "content-type": "text/plain" })],
    expect: failed("service_error", "backoff", 1, 4),
  },
  {
    name: "a stream cut once: the answer stands once",
    service: [cut("Half an ans"), text("Half an answer, whole.")],
    expect: completed("Half an answer, whole.", { prompts: 2 }),
  },
  {
    name: "the same in the format text: the first half is not printed twice",
    service: [cut("Half an ans"), text("Half an answer, whole.")],
    format: "text",
    expect: completed("", { prompts: 2, stdout: "Half an answer, whole.\n" }),
  },
  {
    name: "a stream cut every time: the partial text stands once, and nothing is sent again",
    service: [cut("Half an ans")],
    ask: ["--retries", "3"],
    expect: failed("service_error", "backoff", 1, 2, { text: "Half an ans" }),
  },
  {
    name: "a refused connection, which codex retries for ever, ends at --timeout and says what was last heard",
    service: "nothing listens",
    ask: ["--timeout", "10"],
    expect: failed("timeout", "never", 3, 0, { says: [/waiting for network/] }),
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

const ENDINGS: readonly Scenario<OpenAiStep>[] = [
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
    name: "kill -9 of codex under the adapter",
    service: [hang("Half an ans")],
    ask: ["--retries", "3"],
    interrupt: { when: "text", signal: "SIGKILL", target: "harness" },
    expect: failed("agent_died", "after_respawn", 9, 1, { text: "Half an ans" }),
  },
  {
    name: "kill -9 of codex before the first word: nobody knows what it did, so nothing is sent again",
    service: [hang()],
    ask: ["--retries", "3"],
    interrupt: { when: "turn", signal: "SIGKILL", target: "harness" },
    expect: failed("agent_died", "after_respawn", 9, 1),
  },
];

const SETTINGS: readonly Scenario<OpenAiStep>[] = [
  {
    name: "no login",
    service: [text("Never said.")],
    env: { OPENAI_API_KEY: null },
    prepare: (home, url) => codexConfigFile(home, codexConfig(url, NEEDS_LOGIN)),
    expect: failed("auth", "never", 6, 0, { attempts: 0 }),
  },
  {
    name: "no login, told to a person with the command that signs in",
    service: [text("Never said.")],
    format: "text",
    env: { OPENAI_API_KEY: null },
    prepare: (home, url) => codexConfigFile(home, codexConfig(url, NEEDS_LOGIN)),
    expect: failed("auth", "never", 6, 0, { stdout: "", says: [/codex login/] }),
  },
  {
    name: "an API key in the environment is login enough",
    service: [text("Hello from the service.")],
    prepare: (home, url) => codexConfigFile(home, codexConfig(url, NEEDS_LOGIN)),
    expect: completed("Hello from the service."),
  },
  {
    name: "a key variable that the provider names and nobody set",
    service: [text("Never said.")],
    env: { OPENAI_API_KEY: null },
    ask: ["--retries", "3"],
    expect: failed("configuration", "never", 1, 0, { says: [/OPENAI_API_KEY/] }),
  },
  {
    name: "a broken config.toml looks like a missing login, and the login card says so",
    service: [text("Never said.")],
    format: "text",
    prepare: (home) => codexConfigFile(home, "this is not toml\n"),
    expect: failed("auth", "never", 6, 0, { stdout: "", says: [/config\.toml/], reachesOut: true }),
  },
  {
    name: "a model that codex does not offer",
    service: [text("Never said.")],
    ask: ["--model", "no-such-model"],
    expect: failed("model_unavailable", "never", 1, 0, { attempts: 0, says: [/no-such-model/] }),
  },
  {
    name: "a mode that codex does not offer",
    service: [text("Never said.")],
    ask: ["--mode", "no-such-mode"],
    expect: failed("configuration", "never", 1, 0, { attempts: 0, says: [/no-such-mode.*read-only/] }),
  },
  {
    name: "a codex program that does not exist",
    service: [text("Never said.")],
    env: { CODEX_PATH: "/nonexistent/codex" },
    expect: failed("agent_spawn", "never", 9, 0, { attempts: 0, says: [/\/nonexistent\/codex/] }),
  },
  {
    name: "the first words are shown before the last one was sent",
    service: [heldText("one ", "two three")],
    expect: completed("one two three", { says: [/"type":"text","text":"one "/] }),
  },
];

export const CODEX_SCENARIOS: readonly Scenario<OpenAiStep>[] = [
  ...ANSWERS,
  ...TOOLS,
  ...REFUSALS,
  ...REQUESTS,
  ...LIMITS,
  ...SERVICE,
  ...ENDINGS,
  ...SETTINGS,
];
