import { describe, expect, test } from "vitest";
import type { OpenSessionOptions } from "../../src/acp/open-session.ts";
import type { Approval } from "../../src/acp/ports.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { AcpModelUnavailable } from "../../src/errors/acp-error.ts";
import type { Profile } from "../../src/errors/failure.ts";
import { AcpRequestTimeout, AcpRuntimeDead } from "../../src/errors/runtime-error.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import { call, end, err, logOf, promptsIn, reply, turns, update, waitFor } from "../fixtures/agents/scenario.ts";
import { play, recordOf, rejectionOf, start } from "./drive.ts";

/** The requests that shaped the session, without their session id. */
function settingsIn(log: string): readonly unknown[] {
  return logOf(log).flatMap(({ frame }) => {
    if (frame?.method?.startsWith("session/set_") !== true) return [];
    const { sessionId: _, ...params } = frame.params ?? {};
    return [[frame.method.slice("session/".length), params]];
  });
}

const MODES: Json = { currentModeId: "auto", availableModes: [{ id: "auto" }, { id: "default" }, { id: "plan" }] };
const CODEX_MODES: Json = {
  currentModeId: "agent",
  availableModes: [{ id: "read-only" }, { id: "workspace-write" }, { id: "agent" }, { id: "agent-full-access" }],
};
const canClose: Scenario = {
  initializeResult: { agentCapabilities: { sessionCapabilities: { close: {} } } },
};
const MODELS: Json = { currentModelId: "m1", availableModels: [{ modelId: "m1" }, { modelId: "m2" }] };

describe("the mode before the first prompt", () => {
  test.concurrent.each<{
    from: string;
    profile: Profile;
    modes?: Json;
    approval?: Approval;
    mode?: string;
    set: readonly unknown[];
    notes?: readonly RegExp[];
    current?: string | null;
  }>([
    {
      from: "claude starts in auto",
      profile: "claude",
      modes: MODES,
      set: [["set_mode", { modeId: "default" }]],
      current: "default",
    },
    {
      from: "claude asks already",
      profile: "claude",
      modes: { ...MODES, currentModeId: "default" },
      set: [],
      current: "default",
    },
    {
      from: "codex starts in agent",
      profile: "codex",
      modes: CODEX_MODES,
      set: [["set_mode", { modeId: "read-only" }]],
      current: "read-only",
    },
    {
      from: "codex, everything approved",
      profile: "codex",
      modes: CODEX_MODES,
      approval: "all",
      set: [["set_mode", { modeId: "workspace-write" }]],
      current: "workspace-write",
    },
    {
      from: "codex, nothing approved",
      profile: "codex",
      modes: CODEX_MODES,
      approval: "none",
      set: [["set_mode", { modeId: "read-only" }]],
      current: "read-only",
    },
    {
      from: "kiro is left as it is",
      profile: "kiro",
      modes: { currentModeId: "kiro_default", availableModes: [{ id: "kiro_default" }] },
      set: [],
      current: "kiro_default",
    },
    { from: "an agent nobody knows is left as it is", profile: "generic", modes: MODES, set: [], current: "auto" },
    { from: "no modes were told", profile: "claude", set: [] },
    {
      from: "a mode that was asked for, and asks",
      profile: "claude",
      modes: MODES,
      mode: "plan",
      set: [["set_mode", { modeId: "plan" }]],
      current: "plan",
    },
    {
      from: "a mode that was asked for, and does not ask",
      profile: "claude",
      modes: MODES,
      mode: "auto",
      set: [["set_mode", { modeId: "auto" }]],
      notes: [/^Mode "auto" lets \S+ act without asking/],
      current: "auto",
    },
    {
      from: "the same at codex",
      profile: "codex",
      modes: CODEX_MODES,
      mode: "agent",
      set: [["set_mode", { modeId: "agent" }]],
      notes: [/^Mode "agent" lets \S+ act without asking/],
      current: "agent",
    },
    {
      from: "a mode of which nobody knows whether it asks",
      profile: "generic",
      modes: MODES,
      mode: "plan",
      set: [["set_mode", { modeId: "plan" }]],
      current: "plan",
    },
    {
      from: "no modes were told: the agent decides",
      profile: "kiro",
      mode: "reviewer",
      set: [["set_mode", { modeId: "reviewer" }]],
    },
  ])("$from", async ({ profile, modes, approval = "reads", mode, set, notes = [], current }) => {
    const scenario: Scenario = modes === undefined ? {} : { newResult: { modes } };
    await using agent = await start(scenario, { profile, approval });
    const session = await agent.open(mode === undefined ? {} : { mode });
    expect(settingsIn(agent.log)).toEqual(set);
    expect(session.notes).toHaveLength(notes.length);
    for (const [index, note] of notes.entries()) expect(session.notes[index]).toMatch(note);
    expect(session.modes?.current).toBe(current);
  });

  test.concurrent("a harness that cannot be put into its asking mode is said once, with the first turn", async () => {
    const scenario = { newResult: { modes: MODES }, on: { "session/set_mode": [[err(-32603, "Internal error")]] } };
    await using agent = await start(scenario, { profile: "claude" });
    const session = await agent.open();
    expect(session.notes).toHaveLength(1);
    expect(session.notes[0]).toContain('could not be put into mode "default"');
    const [first, second] = [await play(session), await play(session)];
    const said = [first, second].map(
      ({ events }) => events.filter((event) => event.type === "notice" && event.from === "ostler").length,
    );
    expect(said).toEqual([1, 0]);
    expect(session.modes?.current).toBe("auto");
  });

  test.concurrent("codex is started in the mode that asks, too", () => {
    expect(backendFor("codex").env("reads")).toEqual({ INITIAL_AGENT_MODE: "read-only" });
  });

  test.concurrent("claude is told at session/new that permissions may not be skipped", async () => {
    await using agent = await start({}, { profile: "claude" });
    await agent.open();
    const opened = logOf(agent.log).find(({ frame }) => frame?.method === "session/new");
    expect(opened?.frame?.params).toMatchObject({
      mcpServers: [],
      _meta: { claudeCode: { options: { allowDangerouslySkipPermissions: false } } },
    });
  });

  test.concurrent.each<{ from: string; newResult: { readonly [key: string]: Json }; title: RegExp }>([
    {
      from: "a list without it",
      newResult: { modes: MODES },
      title: /has no mode "gone": it has auto, default, plan$/,
    },
    {
      from: "an empty list: none",
      newResult: { modes: { availableModes: [] } },
      title: /has no mode "gone": it has no modes$/,
    },
  ])("a mode the agent does not have: $from", async ({ newResult, title }) => {
    await using agent = await start({ newResult });
    const error = await rejectionOf(agent.open({ mode: "gone" }));
    expect(recordOf(error)).toMatchObject({ kind: "configuration", retry: "never", replaySafety: "not_sent" });
    expect(recordOf(error)?.title).toMatch(title);
    expect(settingsIn(agent.log)).toEqual([]);
  });

  test.concurrent("a mode whose file is missing (kiro wire notes, section 5)", async () => {
    const scenario = { on: { "session/set_mode": [[err(-32603, "Internal error", "Mode 'reviewer' not found")]] } };
    await using agent = await start(scenario, { profile: "kiro" });
    const error = await rejectionOf(agent.open({ mode: "reviewer" }));
    expect(recordOf(error)).toMatchObject({
      kind: "configuration",
      retry: "never",
      title: "Mode 'reviewer' not found",
    });
  });
});

describe("the model and the options", () => {
  const MODEL_OPTION: Json = [
    { id: "model", category: "model", type: "select", currentValue: "m1", options: [{ value: "m1" }, { value: "m2" }] },
  ];
  test.concurrent.each<{
    from: string;
    newResult?: { readonly [key: string]: Json };
    open: Partial<OpenSessionOptions>;
    set: readonly unknown[];
  }>([
    { from: "listed", newResult: { models: MODELS }, open: { model: "m2" }, set: [["set_model", { modelId: "m2" }]] },
    {
      from: "the current one is set all the same",
      newResult: { models: MODELS },
      open: { model: "m1" },
      set: [["set_model", { modelId: "m1" }]],
    },
    {
      from: "an option",
      newResult: { configOptions: MODEL_OPTION },
      open: { model: "m2" },
      set: [["set_config_option", { configId: "model", value: "m2" }]],
    },
    { from: "nothing is known: the agent decides", open: { model: "m9" }, set: [["set_model", { modelId: "m9" }]] },
    { from: "no model asked for", newResult: { models: MODELS }, open: {}, set: [] },
    {
      from: "listed with its effort, beside an option (codex)",
      newResult: {
        models: { currentModelId: "m1[low]", availableModels: [{ modelId: "m1[low]" }] },
        configOptions: MODEL_OPTION,
      },
      open: { model: "m1[low]" },
      set: [["set_model", { modelId: "m1[low]" }]],
    },
    {
      from: "options in the order given",
      open: { configOptions: { effort: "high", autopilot: "off" } },
      set: [
        ["set_config_option", { configId: "effort", value: "high" }],
        ["set_config_option", { configId: "autopilot", value: "off" }],
      ],
    },
  ])("$from", async ({ newResult = {}, open, set }) => {
    await using agent = await start({ newResult });
    const session = await agent.open(open);
    expect(settingsIn(agent.log)).toEqual(set);
    expect(session.notes).toEqual([]);
  });

  test.concurrent("a model that is not in the list of the account is refused before it is set", async () => {
    await using agent = await start({ newResult: { models: MODELS } });
    const error = await rejectionOf(agent.open({ model: "m9" }));
    expect(error).toBeInstanceOf(AcpModelUnavailable);
    expect(error).toMatchObject({ modelId: "m9", advertised: ["m1", "m2"], transient: false });
    expect(error.message).toContain('has no model "m9" for this account: it has m1, m2');
    expect(settingsIn(agent.log)).toEqual([]);
  });

  test.concurrent("a long list is cut in the sentence", async () => {
    const availableModels = Array.from({ length: 20 }, (_, n) => ({ modelId: `m${n}` }));
    await using agent = await start({ newResult: { models: { availableModels } } });
    const error = await rejectionOf(agent.open({ model: "x" }));
    expect(error.message).toContain("m7 and 12 more");
    expect(error.message).not.toContain("m8");
  });

  test.concurrent("a model that the agent refuses (recording claude-agent-acp 0.101.0 set-unknown-model)", async () => {
    const refusal = err(-32603, "Internal error", { details: "Invalid value for config option model: m9" });
    await using agent = await start({ on: { "session/set_model": [[refusal]] } });
    const error = await rejectionOf(agent.open({ model: "m9" }));
    expect(recordOf(error)).toMatchObject({ kind: "model_unavailable", retry: "never" });
  });
});

describe("session/new fails in every way", () => {
  test.concurrent.each<{
    from: string;
    answer: readonly Action[];
    kind: string;
    retry: string;
    title?: RegExp;
    profile?: Profile;
  }>([
    {
      from: "an error that says nothing: no session can be had",
      answer: [err(-32603, "Internal error")],
      kind: "agent_spawn",
      retry: "never",
    },
    { from: "bad parameters are ours", answer: [err(-32602, "Invalid params")], kind: "agent_spawn", retry: "never" },
    { from: "not signed in", answer: [err(-32000, "Authentication required")], kind: "auth", retry: "never" },
    {
      from: "throttled",
      answer: [err(-32603, "Internal error", "Too many requests")],
      kind: "rate_limit",
      retry: "backoff",
    },
    {
      from: "spent",
      answer: [err(-32603, "Internal error", "You've reached your monthly usage limit")],
      kind: "usage_limit",
      retry: "never",
    },
    { from: "no such method", answer: [err(-32601, "Method not found")], kind: "protocol", retry: "never" },
    { from: "no network", answer: [err(-32603, "Internal error", "fetch failed")], kind: "network", retry: "backoff" },
    { from: "no id", answer: [reply({})], kind: "protocol", retry: "never", title: /opened a session without an id$/ },
    { from: "an id that is a number", answer: [reply({ sessionId: 7 })], kind: "protocol", retry: "never" },
    { from: "a result that is a text", answer: [reply("s1")], kind: "protocol", retry: "never" },
    { from: "null", answer: [reply(null)], kind: "protocol", retry: "never" },
    {
      from: "its process dies",
      answer: [{ stderr: "panic: boom\n" }, { exit: 3 }],
      kind: "agent_died",
      retry: "after_respawn",
      title: /exited with code 3: panic: boom/,
    },
    {
      from: "its process ends well and says nothing (kiro wire notes, section 4)",
      answer: [{ exit: 0 }],
      kind: "agent_died",
      retry: "after_respawn",
      title: /exited with code 0/,
    },
    {
      from: "its process dies signed out",
      answer: [{ stderr: "You are not logged in\n" }, { exit: 1 }],
      kind: "auth",
      retry: "never",
    },
    {
      from: "it closes its output",
      answer: [{ ignoreStdinEnd: true }, { closeStdout: true }],
      kind: "agent_died",
      retry: "after_respawn",
      title: /closed its output/,
    },
  ])("$from: $kind", async ({ answer, kind, retry, title = /./, profile = "generic" }) => {
    await using agent = await start({ on: { "session/new": [answer] } }, { profile });
    const error = await rejectionOf(agent.open());
    expect(recordOf(error)).toMatchObject({ kind, retry, replaySafety: "not_sent" });
    expect(recordOf(error)?.title).toMatch(title);
    expect(promptsIn(agent.log)).toEqual([]);
  });

  test.concurrent("a death is a dead runtime, and says with which code", async () => {
    await using agent = await start({ on: { "session/new": [[{ exit: 3 }]] } });
    const error = await rejectionOf(agent.open());
    expect(error).toBeInstanceOf(AcpRuntimeDead);
    expect(agent.runtime.state).toBe("dead");
    const again = await rejectionOf(agent.open());
    expect(again).toBeInstanceOf(AcpRuntimeDead);
  });

  test.concurrent("no answer: a request that timed out, and a session that opens too late is closed again", async () => {
    const answer = [{ untilFile: "go" }, reply({ sessionId: "late" })];
    await using agent = await start(
      { on: { "session/new": [answer, [{ default: true }]] }, ...canClose },
      { timeouts: { sessionMs: 30 } },
    );
    const error = await rejectionOf(agent.open());
    expect(error).toBeInstanceOf(AcpRequestTimeout);
    expect(error).toMatchObject({ method: "session/new", budgetMs: 30, transient: true });
    expect(error.message).toContain("session/new was not answered within 0.03 s");
    agent.touch("go");
    await agent.until(() => logOf(agent.log).some(({ frame }) => frame?.method === "session/close"));
    const closed = logOf(agent.log).find(({ frame }) => frame?.method === "session/close");
    expect(closed?.frame?.params).toEqual({ sessionId: "late" });
    expect(agent.runtime.state).toBe("ready");
  });

  test.concurrent("the caller gives up", async () => {
    await using agent = await start({ on: { "session/new": [[waitFor("never")]] } });
    const stop = new AbortController();
    const opening = rejectionOf(agent.open({ signal: stop.signal }));
    await agent.until(() => logOf(agent.log).some(({ frame }) => frame?.method === "session/new"));
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await opening).toBe(reason);
    expect(await rejectionOf(agent.open({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

describe("a signed-out codex with a key in its environment", () => {
  const scenario = {
    initializeResult: {
      authMethods: [
        { id: "api-key", name: "API key" },
        { id: "chat-gpt", name: "ChatGPT" },
      ],
    },
    on: {
      "session/new": [[err(-32000, "Authentication required")], [{ default: true }]],
      authenticate: [[reply({})]],
    },
  } satisfies Scenario;

  test.concurrent("signs in with it once, says so, and opens again", async () => {
    await using agent = await start(scenario, {
      profile: "codex",
      env: { PATH: process.env["PATH"] ?? "", OPENAI_API_KEY: "sk-test-SECRETSECRET" },
    });
    const session = await agent.open();
    expect(session.notes).toEqual(["Codex was signed in with OPENAI_API_KEY; it keeps the key in its auth.json"]);
  });

  test.concurrent("without a key a person has to", async () => {
    await using agent = await start(scenario, { profile: "codex" });
    expect(recordOf(await rejectionOf(agent.open()))).toMatchObject({ kind: "auth", needs: "login" });
    expect(logOf(agent.log).filter(({ frame }) => frame?.method === "authenticate")).toEqual([]);
  });
});

test.concurrent("frames before the result of session/new belong to the session (kiro wire notes, section 4)", async () => {
  const early = update({ sessionUpdate: "current_mode_update", currentModeId: "early" }, "s1");
  const scenario: Scenario = {
    on: {
      "session/new": [
        [call("_kiro.dev/metadata", { sessionId: "s1", contextUsagePercentage: 1 }), early, { default: true }],
      ],
      ...turns([end()]).on,
    },
  };
  await using agent = await start(scenario, { profile: "kiro" });
  const session = await agent.open();
  const { outcome } = await play(session, { retries: 0 });
  expect(outcome.kind).toBe("empty");
});
