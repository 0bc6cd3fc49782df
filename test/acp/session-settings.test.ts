import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { OpenSessionOptions } from "../../src/acp/open-session.ts";
import { chunk, end, err, logOf, reply, update } from "../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import { play, recordOf, rejectionOf, start } from "./drive.ts";

const air = (fields: { readonly [key: string]: Json }): Json => ({ jetbrains: { air: { version: 1, ...fields } } });

const select = (id: string, category: string, current: string, values: readonly Json[], meta?: Json): Json => ({
  id,
  name: id.toUpperCase(),
  category,
  type: "select",
  currentValue: current,
  options: values.map((value) => (typeof value === "string" ? { value, name: `The ${value}` } : value)),
  ...(meta !== undefined && { _meta: meta }),
});

/** In the shape of recording claude-agent-acp 0.101.0 text-plain. */
function claudeOptions({ model = "opus", mode = "default", efforts = ["low", "medium", "high"] } = {}): Json {
  return [
    select("mode", "mode", mode, [
      { value: "default", name: "Manual", _meta: air({ kind: "standard" }) },
      { value: "auto", name: "Auto", _meta: air({ kind: "auto_review" }) },
      { value: "bypassPermissions", name: "Bypass", _meta: air({ kind: "full_access" }) },
    ]),
    select("model", "model", model, ["opus", "sonnet", "opus[1m]"], air({ recommendedValue: "opus" })),
    select("effort", "thought_level", "medium", efforts, air({ recommendedValue: "gone" })),
  ];
}

const sessionEvent = (fields: object): Partial<TurnEvent> => expect.objectContaining({ type: "session", ...fields });

const setTo = (configOptions: Json): readonly Action[] => [reply({ configOptions })];

/** The events of one turn that are about the session, after the first. */
async function news(newResult: { readonly [key: string]: Json }, actions: readonly Action[], model?: string) {
  const turn = [...actions, chunk("Done"), end()];
  await using agent = await start({ newResult, on: { "session/prompt": [turn] } });
  const session = await agent.open(model === undefined ? {} : { model });
  const { events } = await play(session);
  const about = events.filter(({ type }) => type === "session" || type === "mode");
  return { first: about[0], news: about.slice(1), session };
}
const changed = (configOptions: Json): Action => update({ sessionUpdate: "config_option_update", configOptions });

const MODES: Json = {
  currentModeId: "default",
  availableModes: [
    { id: "default", name: "Manual", description: "Asks", _meta: air({ kind: "standard" }) },
    { id: "auto", name: "Auto", _meta: air({ kind: "auto_review" }) },
    { id: "odd", _meta: air({ kind: "wild" }) },
  ],
};

describe("what a session offers", () => {
  test("names, what is set, recommendations and kinds", async () => {
    await using agent = await start({ newResult: { modes: MODES, configOptions: claudeOptions() } });
    const { offers } = await agent.open();
    expect(offers).toEqual({
      models: {
        id: "model",
        name: "MODEL",
        current: "opus",
        recommended: "opus",
        choices: [
          { value: "opus", name: "The opus" },
          { value: "sonnet", name: "The sonnet" },
          { value: "opus[1m]", name: "The opus[1m]" },
        ],
      },
      modes: {
        id: "mode",
        name: "MODE",
        current: "default",
        choices: [
          { value: "default", name: "Manual", description: "Asks", kind: "standard" },
          { value: "auto", name: "Auto", kind: "auto_review" },
          { value: "odd", name: "odd" },
        ],
      },
      // What it recommends cannot be chosen: then nothing is recommended.
      options: [
        {
          id: "effort",
          name: "EFFORT",
          current: "medium",
          choices: ["low", "medium", "high"].map((value) => ({ value, name: `The ${value}` })),
        },
      ],
    });
  });

  test("of an agent that lists models alone, and of one that lists nothing", async () => {
    const models = { currentModelId: "m1", availableModels: [{ modelId: "m1", name: "One" }] };
    await using listing = await start({ newResult: { models } });
    expect((await listing.open()).offers).toEqual({
      models: { id: "model", name: "model", current: "m1", choices: [{ value: "m1", name: "One" }] },
      options: [],
    });
    await using silent = await start({});
    expect((await silent.open()).offers).toEqual({ options: [] });
  });
});

describe("a setting that is not offered is refused before it is sent", () => {
  test.concurrent.each<{
    from: string;
    newResult?: { readonly [key: string]: Json };
    open: Partial<OpenSessionOptions>;
    title: string;
    kind: string;
  }>([
    {
      from: "a model, with the nearest one",
      open: { model: "opsu" },
      title:
        'Agent "scripted" has no model "opsu" for this account: it has opus, sonnet, opus[1m]; did you mean "opus"?',
      kind: "model_unavailable",
    },
    {
      from: "a mode",
      open: { mode: "atuo" },
      title: 'Agent "scripted" has no mode "atuo": it has default, auto, bypassPermissions; did you mean "auto"?',
      kind: "configuration",
    },
    {
      from: "a mode of an agent without modes",
      newResult: { modes: { availableModes: [] } },
      open: { mode: "plan" },
      title: 'Agent "scripted" has no mode "plan": it has no modes',
      kind: "configuration",
    },
    {
      from: "an option",
      open: { configOptions: { efort: "high" } },
      title: 'Agent "scripted" has no option "efort": it has mode, model, effort; did you mean "effort"?',
      kind: "configuration",
    },
    {
      from: "a value of an option",
      open: { configOptions: { effort: "hihg" } },
      title: 'Option "effort" of Agent "scripted" cannot be "hihg": it has low, medium, high; did you mean "high"?',
      kind: "configuration",
    },
    {
      from: "an option of an agent that has none",
      newResult: { configOptions: [] },
      open: { configOptions: { effort: "high" } },
      title: 'Agent "scripted" has no option "effort": it has no options',
      kind: "configuration",
    },
  ])("$from", async ({ newResult = { configOptions: claudeOptions() }, open, title, kind }) => {
    await using agent = await start({ newResult });
    const failure = recordOf(await rejectionOf(agent.open(open)));
    expect(failure).toMatchObject({ title, kind, retry: "never", replaySafety: "not_sent" });
    expect(logOf(agent.log).some(({ frame }) => frame?.method?.startsWith("session/set_"))).toBe(false);
  });

  test.concurrent.each<{ from: string; on: Scenario["on"]; open: Partial<OpenSessionOptions>; title: string }>(
    [
      { from: "no models at all", on: "session/set_model", open: { model: "m1" }, title: "The model of" },
      { from: "no modes at all", on: "session/set_mode", open: { mode: "m1" }, title: "The mode of" },
      {
        from: "no options at all",
        on: "session/set_config_option",
        open: { configOptions: { effort: "high" } },
        title: 'The option "effort" of',
      },
    ].map(({ on, ...row }) => ({ ...row, on: { [on]: [[err(-32601, "Method not found")]] } })),
  )("an agent that says of itself that it has $from", async ({ on, open, title }) => {
    await using agent = await start({ on: on! });
    expect(recordOf(await rejectionOf(agent.open(open)))).toMatchObject({
      kind: "configuration",
      title: `${title} Agent "scripted" cannot be chosen`,
    });
  });
});

describe("settings that hang together", () => {
  test("another model brings its own options, and those count", async () => {
    const answer = setTo(claudeOptions({ model: "sonnet", efforts: ["low", "max"] }));
    await using agent = await start({
      newResult: { configOptions: claudeOptions() },
      on: { "session/set_config_option": [answer] },
    });
    const session = await agent.open({ model: "sonnet", configOptions: { effort: "max" } });
    expect(session.offers.models?.current).toBe("sonnet");
    expect(session.offers.options[0]?.choices.map(({ value }) => value)).toEqual(["low", "max"]);
    const title = 'Option "effort" of Agent "scripted" cannot be "high": it has low, max';
    const refused = recordOf(await rejectionOf(agent.open({ model: "sonnet", configOptions: { effort: "high" } })));
    expect(refused).toMatchObject({ title });
  });

  test("a mode that is set as an option is a mode: said when it does not ask, refused where it must", async () => {
    const scenario: Scenario = {
      newResult: { modes: MODES, configOptions: claudeOptions() },
      on: { "session/set_config_option": [setTo(claudeOptions({ mode: "bypassPermissions" }))] },
    };
    const open = { configOptions: { mode: "bypassPermissions" } };
    await using agent = await start(scenario, { profile: "claude" });
    const session = await agent.open(open);
    expect(session.modes?.current).toBe("bypassPermissions");
    expect(session.notes).toEqual([expect.stringMatching(/^Mode "bypassPermissions" lets .* act without asking/)]);
    await using gated = await start(scenario, { profile: "claude", gate: "required" });
    expect(recordOf(await rejectionOf(gated.open(open)))).toMatchObject({ kind: "gate" });
  });
});

describe("what the agent changes by itself is told once", () => {
  test.concurrent.each<{
    from: string;
    newResult?: { readonly [key: string]: Json };
    model?: string;
    actions: readonly Action[];
    first: object;
    news: readonly unknown[];
  }>([
    {
      from: "another model after a refusal (recording claude-agent-acp 0.101.0 refusal-fallback)",
      actions: [
        changed(claudeOptions({ model: "claude-opus-4-8" })),
        changed(claudeOptions({ model: "claude-opus-4-8" })),
      ],
      first: { model: "opus", mode: "default" },
      news: [sessionEvent({ model: "claude-opus-4-8", mode: "default", sessionId: "s1" })],
    },
    {
      from: "the same model again",
      actions: [changed(claudeOptions())],
      first: { model: "opus" },
      news: [],
    },
    {
      from: "a larger variant of the model is another one",
      actions: [changed(claudeOptions({ model: "opus[1m]" }))],
      first: { model: "opus" },
      news: [sessionEvent({ model: "opus[1m]" })],
    },
    {
      from: "codex names the model with its effort, its option does not",
      newResult: {
        models: { currentModelId: "m1[low]", availableModels: [{ modelId: "m1[low]" }, { modelId: "m2[low]" }] },
        configOptions: [select("model", "model", "m1", ["m1", "m2"])],
      },
      actions: [
        changed([select("model", "model", "m1", ["m1", "m2"])]),
        changed([select("model", "model", "m2", ["m1", "m2"])]),
      ],
      first: { model: "m1[low]" },
      news: [sessionEvent({ model: "m2" })],
    },
    {
      from: "a mode that is told in both ways",
      actions: [
        update({ sessionUpdate: "current_mode_update", currentModeId: "auto" }),
        changed(claudeOptions({ mode: "auto" })),
      ],
      first: { mode: "default" },
      news: [{ type: "mode", modeId: "auto" }],
    },
    {
      from: "a mode that only the options tell",
      actions: [changed(claudeOptions({ mode: "auto" }))],
      first: { mode: "default" },
      news: [{ type: "mode", modeId: "auto" }],
    },
    {
      from: "nonsense",
      actions: [
        changed("none"),
        changed([null, 5, { id: "model", category: "model", currentValue: 7, options: "x" }]),
        update({ sessionUpdate: "current_mode_update", currentModeId: 5 }),
      ],
      first: { model: "opus", mode: "default" },
      news: [],
    },
  ])(
    "$from",
    async ({ newResult = { modes: MODES, configOptions: claudeOptions() }, model, actions, first, news: wanted }) => {
      const { first: told, news: seen } = await news(newResult, actions, model);
      expect(told).toMatchObject(first);
      expect(seen).toEqual(wanted);
    },
  );

  test("the next turn begins with what is set by then", async () => {
    const swap = [changed(claudeOptions({ model: "sonnet", mode: "auto" })), chunk("One"), end()];
    await using agent = await start({
      newResult: { modes: MODES, configOptions: claudeOptions() },
      on: { "session/prompt": [swap, [chunk("Two"), end()]] },
    });
    const session = await agent.open();
    await play(session);
    expect(session).toMatchObject({ modes: { current: "auto" }, offers: { models: { current: "sonnet" } } });
    expect((await play(session)).events[0]).toMatchObject({ type: "session", model: "sonnet", mode: "auto" });
  });
});
