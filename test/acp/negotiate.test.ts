import { expect, test } from "vitest";
import { modelSetting, readAgentCapabilities, readHandshake } from "../../src/acp/negotiate.ts";
import { knownModels, readSessionInfo } from "../../src/acp/session-info.ts";

const select = (id: string, category: string, values: readonly string[], current?: string) => ({
  id,
  category,
  type: "select",
  currentValue: current,
  options: values.map((value) => ({ value, name: value })),
});

test.each<{ from: string; result: object; expected: object }>([
  {
    from: "nothing: unknown",
    result: {},
    expected: { modes: undefined, models: [], currentModel: undefined, options: [] },
  },
  {
    from: "null where an object belongs",
    result: { modes: null, models: null, configOptions: null },
    expected: { modes: undefined, models: [], options: [] },
  },
  {
    from: "kiro v2 (kiro wire notes, section 4)",
    result: {
      modes: { currentModeId: "kiro_default", availableModes: [{ id: "kiro_default" }, { id: "kiro_planner" }] },
      models: { currentModelId: "auto", availableModels: [{ modelId: "auto" }, { modelId: "model-a" }] },
    },
    expected: {
      modes: { current: "kiro_default", available: ["kiro_default", "kiro_planner"] },
      models: ["auto", "model-a"],
      currentModel: "auto",
    },
  },
  {
    from: "an empty list of modes is none, not unknown",
    result: { modes: { availableModes: [] } },
    expected: { modes: { current: null, available: [] } },
  },
  {
    from: "other spellings of the ids",
    result: {
      modes: { currentModeId: "b", availableModes: [{ modeId: "a" }, { value: "b" }, { name: "nameless" }] },
      models: { availableModels: [{ id: "m1" }, { modelId: "m2", id: "wrong" }] },
    },
    expected: { modes: { current: "b", available: ["a", "b"] }, models: ["m1", "m2"] },
  },
  {
    from: "modes and models as options (claude, kiro V3)",
    result: {
      configOptions: [
        select("mode", "mode", ["default", "auto"], "auto"),
        select("model", "model", ["m1", "m2"], "m2"),
      ],
    },
    expected: { modes: { current: "auto", available: ["default", "auto"] }, models: ["m1", "m2"], currentModel: "m2" },
  },
  {
    from: "an option of that category under another id",
    result: { configOptions: [select("llm", "model", ["m1"], "m1")] },
    expected: { models: ["m1"], currentModel: "m1" },
  },
  {
    from: "options in groups",
    result: {
      configOptions: [
        {
          id: "model",
          category: "model",
          currentValue: "m2",
          options: [
            { group: "a", options: [{ value: "m1" }, { id: "m2" }] },
            { group: "b", options: [{ value: "m3" }] },
          ],
        },
      ],
    },
    expected: { models: ["m1", "m2", "m3"], currentModel: "m2" },
  },
  {
    from: "an option without an id, and other things",
    result: { configOptions: [{ category: "model" }, null, 5, "x", select("effort", "thought_level", ["low"])] },
    expected: {
      models: [],
      options: [{ id: "effort", category: "thought_level", current: undefined, values: ["low"] }],
    },
  },
])("$from", ({ result, expected }) => {
  expect(readSessionInfo({ ...result })).toMatchObject(expected);
});

test("a listed mode block wins over a mode option", () => {
  const info = readSessionInfo({
    modes: { currentModeId: "a", availableModes: [{ id: "a" }] },
    configOptions: [select("mode", "mode", ["b"], "b")],
  });
  expect(info.modes).toEqual({ current: "a", available: ["a"] });
});

test("every model that a person may type is known: listed, and with its effort (codex)", () => {
  const info = readSessionInfo({
    models: { availableModels: [{ modelId: "m1[low]" }, { modelId: "m1[high]" }] },
    configOptions: [select("model", "model", ["m1"], "m1")],
  });
  expect(knownModels(info)).toEqual(["m1", "m1[low]", "m1[high]"]);
});

test.each<{ from: string; result: object; expected: object }>([
  {
    from: "an option",
    result: { configOptions: [select("llm", "model", ["m1"])] },
    expected: { method: "session/set_config_option", params: { configId: "llm", value: "m1" } },
  },
  {
    from: "no option: the draft method",
    result: { models: { availableModels: [{ modelId: "m1" }] } },
    expected: { method: "session/set_model", params: { modelId: "m1" } },
  },
])("a model is set by $from", ({ result, expected }) => {
  expect(modelSetting(readSessionInfo({ ...result }), "m1")).toEqual(expected);
});

const NO_AIR = { capabilities: new Set(), goalActions: new Set(), steering: false };
const NOTHING = {
  load: false,
  resume: false,
  close: false,
  fork: false,
  list: false,
  subagents: false,
  air: NO_AIR,
  mcpHttp: false,
  image: false,
  embeddedContext: undefined,
};

test.each<{ from: string; result: unknown; expected: object }>([
  { from: "nothing", result: undefined, expected: NOTHING },
  { from: "no object", result: "yes", expected: NOTHING },
  { from: "null where objects belong", result: { agentCapabilities: null }, expected: NOTHING },
  {
    from: "wrong types say nothing",
    result: {
      agentCapabilities: {
        loadSession: "true",
        sessionCapabilities: { resume: true, close: null },
        promptCapabilities: { image: 1, embeddedContext: "no" },
        mcpCapabilities: { http: "yes" },
      },
    },
    expected: NOTHING,
  },
  {
    from: "recording claude-agent-acp 0.101.0, codex-acp 2.6.0",
    result: {
      agentCapabilities: {
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true },
        loadSession: true,
        sessionCapabilities: { close: {}, delete: {}, fork: {}, list: {}, resume: {} },
      },
    },
    expected: {
      ...NOTHING,
      mcpHttp: true,
      load: true,
      resume: true,
      close: true,
      fork: true,
      list: true,
      image: true,
      embeddedContext: true,
    },
  },
  {
    from: "recording kiro-cli 2.4.1",
    result: {
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: false },
        sessionCapabilities: {},
      },
    },
    expected: { ...NOTHING, load: true, image: true, embeddedContext: false },
  },
])("capabilities, $from", ({ result, expected }) => {
  expect(readAgentCapabilities(result)).toEqual(expected);
});

test.each<{ from: string; result: unknown; expected: object }>([
  { from: "nothing", result: null, expected: { agent: null, authMethods: [] } },
  { from: "kiro V3 has no agentInfo", result: { authMethods: {} }, expected: { agent: null, authMethods: [] } },
  {
    from: "the title before the name",
    result: { agentInfo: { name: "n", title: "T", version: "1" }, authMethods: [{ id: "a", name: "A" }, 5] },
    expected: { agent: { name: "T", version: "1" }, authMethods: [{ id: "a", name: "A" }] },
  },
  { from: "a name alone", result: { agentInfo: { name: "n" } }, expected: { agent: { name: "n", version: "" } } },
])("handshake, $from", ({ result, expected }) => {
  expect(readHandshake(result)).toMatchObject(expected);
});
