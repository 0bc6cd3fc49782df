/** What an agent declares of AIR, what its older versions sent instead, and what of its metadata Ostler leaves alone. */
import { expect, test } from "vitest";
import { initializeParams, readAgentCapabilities } from "../../../src/acp/negotiate.ts";
import { readAgentAir } from "../../../src/acp/air/capabilities.ts";
import { readUsage } from "../../../src/acp/normalize.ts";
import { readQuestionRequest } from "../../../src/acp/question-form.ts";
import { offersOf, readSessionInfo } from "../../../src/acp/session-info.ts";
import { UpdateReader } from "../../../src/acp/update-reader.ts";
import { claudeBackend } from "../../../src/backends/claude.ts";
import { genericHabits } from "../../../src/backends/generic.ts";

const air = (value: object) => ({ jetbrains: { air: value } });
const GOAL = { version: 1, controlMethod: "_session/goal", actions: ["set", "clear"] };
const DECLARED = { version: 1, capabilities: ["planFile", "asyncTasks"], goal: GOAL };
const NOTHING = { capabilities: [], goalActions: [], steering: false };

test.each<{ from: string; result: object; said: object }>([
  {
    from: "the document's own example",
    result: { _meta: { ...air(DECLARED), steering: { supported: true } } },
    said: { capabilities: ["planFile", "asyncTasks"], goalActions: ["set", "clear"], steering: true },
  },
  {
    from: "to a client that is not AIR: steering alone",
    result: { _meta: { steering: { supported: true } } },
    said: { ...NOTHING, steering: true },
  },
  { from: "nothing", result: {}, said: NOTHING },
  { from: "another version of the namespace", result: { _meta: air({ ...DECLARED, version: 2 }) }, said: NOTHING },
  {
    from: "another version of the goal",
    result: { _meta: air({ ...DECLARED, goal: { ...GOAL, version: 2 } }) },
    said: { ...NOTHING, capabilities: ["planFile", "asyncTasks"] },
  },
  {
    from: "wrong types",
    result: { _meta: { ...air({ version: 1, capabilities: "planFile", goal: [] }), steering: { supported: "true" } } },
    said: NOTHING,
  },
  {
    from: "words of which one is none",
    result: { _meta: air({ version: 1, capabilities: ["planFile", 7] }) },
    said: { ...NOTHING, capabilities: ["planFile"] },
  },
  { from: "before 0.101: the goal outside of the namespace", result: { _meta: { goal: GOAL } }, said: NOTHING },
])("an agent declares: $from", ({ result, said }) => {
  const { capabilities, goalActions, steering } = readAgentAir({ ...result });
  expect({ capabilities: [...capabilities], goalActions: [...goalActions], steering }).toEqual(said);
});

test("everything that is declared, and nothing else", () => {
  expect(initializeParams({ ...claudeBackend, notices: true }, "1", { questions: true })).toEqual({
    protocolVersion: 1,
    clientInfo: { name: "ostler", title: "Ostler", version: "1" },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {} },
      subagents: {},
      session: { compaction: {}, notices: {} },
      _meta: {
        jetbrains: {
          air: {
            version: 1,
            capabilities: [
              "sessionFailure",
              "recommendedValue",
              "diffPatch",
              "planFile",
              "planContentDelta",
              "agentFileChangeReport",
              "asyncTasks",
              "nativeSubagentSessions",
              "rawInputRendering",
            ],
          },
        },
        terminal_output_delta: true,
      },
    },
  });
});

test.each([
  { subagents: {}, has: true },
  { subagents: true, has: false },
  { subagents: null, has: false },
])("an agent says that it has subagents by an object, and by nothing else: $subagents", ({ subagents, has }) => {
  expect(readAgentCapabilities({ agentCapabilities: { sessionCapabilities: { subagents } } }).subagents).toBe(has);
});

test("the kind of a mode stands beside each mode, or beside each value of the mode option; an older place is not read", () => {
  const modeOption = {
    id: "mode",
    category: "mode",
    currentValue: "plan",
    options: [
      { value: "plan", name: "Plan", _meta: air({ version: 1, kind: "plan" }) },
      { value: "bypassPermissions", name: "Bypass", _meta: { kind: "full_access" } },
    ],
  };
  const { modes } = offersOf(readSessionInfo({ configOptions: [modeOption] }), {});
  expect(modes?.choices).toEqual([
    { value: "plan", name: "Plan", kind: "plan" },
    { value: "bypassPermissions", name: "Bypass" },
  ]);
});

test("a goal and a compaction outside of the namespace are none", () => {
  const generic = new UpdateReader({ ...genericHabits, id: "mine", label: "Mine" }, {});
  expect(
    generic.read({
      sessionUpdate: "session_info_update",
      _meta: { goal: { objective: "Ship it", status: "active" } },
    }),
  ).toEqual([]);
  const [call] = generic.read({
    sessionUpdate: "tool_call",
    toolCallId: "c1",
    title: "Compact conversation",
    kind: "think",
    _meta: { contextCompaction: { version: 1, trigger: "manual" } },
  });
  expect(call).toMatchObject({ type: "tool", toolCallId: "c1" });
});

test("the mark of an own answer outside of the namespace ties no fields together", () => {
  const read = readQuestionRequest("s1", {
    mode: "form",
    message: "Which?",
    requestedSchema: {
      type: "object",
      properties: {
        q: { type: "string", enum: ["a", "b"] },
        q_custom: {
          type: "string",
          title: "Other",
          _meta: { _askUserQuestionCustomAnswer: { questionId: "q", isCustomAnswer: true } },
        },
      },
    },
  });
  const fields = typeof read === "string" ? [] : read.fields;
  expect(fields.map(({ id, customId }) => [id, customId])).toEqual([
    ["q", undefined],
    ["q_custom", undefined],
  ]);
});

test("metadata that Ostler has no use for change nothing of a call", () => {
  const call = { sessionUpdate: "tool_call", toolCallId: "c1", title: "npm test", kind: "execute" };
  const bare = new UpdateReader(claudeBackend, {}).read(call);
  const laden = new UpdateReader(claudeBackend, {}).read({
    ...call,
    _meta: {
      terminal_info: { terminal_id: "c1" },
      claudeCode: { toolResponse: { status: "ok", isAsync: true, stdout: "x" }, promptQueueing: true },
      "_claude/origin": { kind: "x" },
      gateway: { url: "http://127.0.0.1" },
      "subagent-transcript": true,
    },
  });
  expect(laden).toEqual(bare);
});

test("the tokens of a turn are also split by model, where the agent says it", () => {
  const counts = { inputTokens: 240, outputTokens: 10, cachedInputTokens: 7 };
  const quota = { token_count: counts, model_usage: [{ model: "opus", token_count: counts }, { model: 7 }] };
  const usage = { inputTokens: 240, outputTokens: 10, cachedReadTokens: 7 };
  const tokens = { inputTokens: 240, outputTokens: 10, cachedTokens: 7 };
  expect(readUsage({ usage, _meta: { quota } })).toEqual({ ...tokens, byModel: [{ model: "opus", ...tokens }] });
  expect(readUsage({ usage, _meta: { quota: null } })).toEqual({ ...tokens, byModel: [] });
});
