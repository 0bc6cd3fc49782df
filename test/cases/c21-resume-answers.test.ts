/**
 * Case C21, the part of one request: what each answer to `session/load` and `session/resume` comes to. What is done about
 * it (the other method, a wait, a new session) is decided in `test/host/resume-ladder.test.ts`.
 */
import { describe, expect, test } from "vitest";
import type { WireTap } from "../../src/acp/ports.ts";
import { readOwnerPid } from "../../src/acp/resume-session.ts";
import type { FailureKind, Profile } from "../../src/errors/failure.ts";
import { AcpRequestTimeout, AcpRuntimeDead } from "../../src/errors/runtime-error.ts";
import { play, recordOf, rejectionOf, start, textsOf } from "../acp/drive.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import {
  air,
  answerTo,
  call,
  chunk,
  end,
  err,
  logOf,
  permission,
  record,
  reply,
  tool,
  update,
} from "../fixtures/agents/scenario.ts";

const ID = "00000000-0000-4000-8000-000000000000";

/** An agent that can do everything with sessions, and answers a load or resume so. */
function agent(answer: readonly Action[], more: Scenario["on"] = {}): Scenario {
  return {
    on: { "session/load": [answer], "session/resume": [answer], ...more },
    initializeResult: { agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, close: {} } } },
  };
}

interface Row {
  readonly from: string;
  readonly profile: Profile;
  readonly error: readonly [code: number, message: string, data?: Json];
  readonly kind: FailureKind;
  readonly owner?: number;
}

const REFUSALS: readonly Row[] = [
  {
    from: "case C21: -32002",
    profile: "generic",
    error: [-32002, "Session not found"],
    kind: "session_not_found",
  },
  {
    from: "case C21: invalid params that name the session",
    profile: "generic",
    error: [-32602, 'Session "x" not found'],
    kind: "session_not_found",
  },
  {
    from: "case C21: only the details say it",
    profile: "generic",
    error: [-32603, "Internal error", { details: "Session x not found" }],
    kind: "session_not_found",
  },
  {
    from: "recording claude-agent-acp 0.101.0 load-unknown, a UUID",
    profile: "claude",
    error: [-32002, "Resource not found", { sessionId: ID }],
    kind: "session_not_found",
  },
  {
    from: "recording claude-agent-acp 0.101.0 load-unknown, no UUID",
    profile: "claude",
    error: [
      -32603,
      "Internal error",
      {
        details:
          'Claude Code returned an error result: Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value "not-a-uuid" is not a UUID and does not match any session title.',
      },
    ],
    kind: "session_not_found",
  },
  {
    from: "claude-agent-acp, the first sentence alone",
    profile: "claude",
    error: [
      -32603,
      "Internal error",
      { details: "Claude Code returned an error result: Error: --resume requires a valid session ID or session title" },
    ],
    kind: "session_not_found",
  },
  {
    from: "recording codex-acp 2.6.0 load-unknown-session, a UUID",
    profile: "codex",
    error: [-32603, "Internal error", { details: `no rollout found for thread id ${ID}` }],
    kind: "session_not_found",
  },
  {
    from: "recording codex-acp 2.6.0 load-unknown-session, no UUID",
    profile: "codex",
    error: [
      -32603,
      "Internal error",
      {
        details:
          "invalid session id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
      },
    ],
    kind: "session_not_found",
  },
  {
    from: "kiro wire notes, section 6 (2.8.1)",
    profile: "kiro",
    error: [-32603, "Internal error", `Failed to start session: Session not found: ${ID}`],
    kind: "session_not_found",
  },
  {
    from: "recording kiro-cli 2.16.0 load-after-sigkill: the pid is that of a dead process",
    profile: "kiro",
    error: [-32603, "Internal error", "Failed to start session: Session is active in another process (PID 26121)"],
    kind: "busy",
    owner: 26121,
  },
  {
    from: "kiro wire notes, section 6: the lock file of a dying holder",
    profile: "kiro",
    error: [-32603, "Internal error", "Failed to start session: failed to re-read lock file"],
    kind: "busy",
  },
  {
    from: "recording kiro-cli V3 2.16.2 workflow-owned-by-other-process",
    profile: "kiro",
    error: [
      -32603,
      "Internal error",
      {
        details:
          "Workflow 'wf_000000000001' appears to be running in another process (owner pid 1920787, liveness verdict: live); refusing to load it here. Retry after that process releases it or its run goes stale.",
      },
    ],
    kind: "busy",
    owner: 1920787,
  },
  {
    from: "case C21: already open",
    profile: "generic",
    error: [-32603, "Internal error", { details: "Already open in another process" }],
    kind: "busy",
  },
  {
    from: "recording codex-acp 2.6.0 load-active-elsewhere",
    profile: "codex",
    error: [
      -32600,
      "Invalid request: This Codex session is in use by another Codex client (the Codex app, the CLI or an IDE extension). Close the session there or quit that client, then try again.",
      { reason: "thread_active_writer", threadId: ID, details: `thread ${ID} already has an active writer` },
    ],
    kind: "busy",
  },
  {
    from: "case C21: an internal error that says nothing leaves the ladder to wait",
    profile: "generic",
    error: [-32603, "Internal error"],
    kind: "unknown",
  },
  {
    from: "advertised, and then not known",
    profile: "generic",
    error: [-32601, '"Method not found": session/load'],
    kind: "request_rejected",
  },
  { from: "signed out", profile: "claude", error: [-32000, "Authentication required"], kind: "auth" },
];

describe("a refusal", () => {
  test.concurrent.each(REFUSALS)("$from: $kind", async ({ profile, error, kind, owner }) => {
    await using started = await start(agent([err(...error)]), { profile });
    const { runtime } = started;
    for (const via of ["load", "resume"] as const) {
      const failure = recordOf(await rejectionOf(runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via })));
      expect(failure).toMatchObject({ kind, replaySafety: "not_sent" });
      expect(readOwnerPid(failure?.title ?? "")).toBe(owner);
    }
    expect(runtime.sessionCount).toBe(0);
    expect(runtime.state).toBe("ready");
  });
});

describe("no answer", () => {
  test("a load that hangs is a request that timed out; a session that opens too late is closed again", async () => {
    const scenario = agent([{ untilFile: "go" }, reply({})]);
    await using started = await start(scenario, { timeouts: { sessionMs: 30 } });
    const error = await rejectionOf(started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" }));
    expect(error).toBeInstanceOf(AcpRequestTimeout);
    expect(error).toMatchObject({ method: "session/load", kind: "timeout" });
    started.touch("go");
    await started.until(() => paramsOf(started.log, "session/close") !== undefined);
    expect(paramsOf(started.log, "session/close")).toEqual({ sessionId: ID });
  });

  test("the budget begins anew with every frame of the replay, and of nobody else", async () => {
    const frames = Array.from({ length: 24 }, (_, n): Action[] => [{ delayMs: 50 }, chunk(`old ${n}`, {}, ID)]);
    await using started = await start(agent([...frames.flat(), reply({})]), { timeouts: { sessionMs: 1000 } });
    const session = await started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" });
    expect(session.replayedFrames).toBe(24);

    const foreign = Array.from({ length: 20 }, (_, n): Action[] => [{ delayMs: 20 }, chunk(`${n}`, {}, "other")]);
    await using other = await start(agent([...foreign.flat(), reply({})]), { timeouts: { sessionMs: 100 } });
    const error = await rejectionOf(other.runtime.resumeSession({ cwd: other.cwd, sessionId: ID, via: "load" }));
    expect(error).toBeInstanceOf(AcpRequestTimeout);
  });

  test("an endless replay ends at ten budgets", async () => {
    const frames = Array.from({ length: 600 }, (): Action[] => [{ delayMs: 5 }, chunk("again", {}, ID)]);
    await using started = await start(agent([...frames.flat(), reply({})]), { timeouts: { sessionMs: 200 } });
    const began = performance.now();
    const error = await rejectionOf(started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" }));
    expect(error).toBeInstanceOf(AcpRequestTimeout);
    expect(performance.now() - began).toBeGreaterThan(1500);
  });

  test.each([
    { from: "kiro wire notes, section 6 (2.4.0): exit 0 instead of an answer", ends: { exit: 0 } },
    { from: "a crash", ends: { exit: 3 } },
    { from: "killed", ends: { kill: "SIGKILL" } },
  ] as const)("$from: the process died", async ({ ends }) => {
    await using started = await start(agent([ends]), { profile: "kiro" });
    const error = await rejectionOf(started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" }));
    expect(error).toBeInstanceOf(AcpRuntimeDead);
    expect(recordOf(error)).toMatchObject({ kind: "agent_died", retry: "after_respawn", replaySafety: "not_sent" });
    expect(started.runtime.state).toBe("dead");
  });
});

test("a method that is not advertised is not asked for", async () => {
  await using started = await start({ on: { "session/load": [[reply({})]] } });
  const error = await rejectionOf(started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" }));
  expect(recordOf(error)).toMatchObject({ kind: "request_rejected", title: 'Agent "scripted" cannot load a session' });
  expect(paramsOf(started.log, "session/load")).toBeUndefined();
});

test("500 old updates are neither text, nor events, nor failures; what is asked meanwhile is refused, and said", async () => {
  const old: Action[] = [
    ...Array.from({ length: 500 }, (_, n) => chunk(`old ${n}`, {}, ID)),
    update({ sessionUpdate: "tool_call", toolCallId: "t0", title: "Old", kind: "edit", status: "completed" }, ID),
    update({ sessionUpdate: "session_info_update", _meta: air(record()) }, ID),
    call("_kiro.dev/metadata", { sessionId: ID, stopReason: "CONTENT_FILTERED" }),
    permission("t0", { sessionId: ID, id: "old" }),
    reply({ modes: { currentModeId: "m", availableModes: [{ id: "m" }] } }),
  ];
  await using started = await start(agent(old, { "session/prompt": [[chunk("new"), end()]] }), { profile: "kiro" });
  const session = await started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" });
  // kiro V3, and the protocol, answer without an id.
  expect(session.id).toBe(ID);
  expect(session.replayedFrames).toBe(503);
  expect(session.modes).toEqual({ current: "m", available: ["m"] });
  const { outcome, events } = await play(session);
  expect(outcome).toMatchObject({ kind: "completed", text: "new", warnings: [], denied: ["rm -rf x"] });
  expect(textsOf(events, "text")).toEqual(["new"]);
  expect(events.map(({ type }) => type)).toEqual(["session", "permission", "text"]);
  expect(started.sunk).toEqual([]);
  expect(answerTo(started.log, "old")?.result).toEqual({ outcome: { outcome: "selected", optionId: "r" } });
});

test("what kiro V3 marks as replay is none of the running turn, whenever it comes", async () => {
  const marked = { _meta: { kiro: { replay: true } } };
  const late = [chunk("old", marked), chunk("new"), tool("t0", marked), end()];
  await using started = await start(agent([reply({})], { "session/prompt": [late] }), { profile: "kiro" });
  const session = await started.runtime.resumeSession({ cwd: started.cwd, sessionId: "sess_1", via: "load" });
  const { outcome, events } = await play(session);
  expect(outcome).toMatchObject({ kind: "completed", text: "new" });
  expect(events.filter(({ type }) => type === "tool")).toEqual([]);
  expect(session.replayedFrames).toBe(2);
});

test("the running turn of another session hears nothing of a replay", async () => {
  const waiting = [chunk("one"), { untilFile: "go" } as const, end()];
  const load = [chunk("old", {}, ID), permission("t0", { sessionId: ID, id: "old" }), reply({})];
  await using started = await start(agent(load, { "session/prompt": [waiting] }));
  const turn = (await started.open()).prompt("hello");
  await started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" });
  started.touch("go");
  expect(await turn.outcome).toMatchObject({ kind: "completed", text: "one", denied: [] });
});

describe("what is asked for, and what is set afterwards", () => {
  test.each<{ readonly from: string; readonly profile: Profile; readonly id: string; readonly meta: unknown }>([
    {
      from: "kiro wire notes, section 6: some builds of v2 ignore a load without the file",
      profile: "kiro",
      id: ID,
      meta: { "_kiro.dev/session_file": `/home/u/.kiro/sessions/cli/${ID}.json` },
    },
    { from: "kiro V3 keeps its sessions elsewhere", profile: "kiro", id: `sess_${ID}`, meta: undefined },
    { from: "an id that is no name of a file", profile: "kiro", id: "../x", meta: undefined },
    {
      from: "claude needs its options on load too",
      profile: "claude",
      id: ID,
      meta: { claudeCode: { options: { allowDangerouslySkipPermissions: false } } },
    },
    { from: "any agent", profile: "generic", id: ID, meta: undefined },
  ])("$from", async ({ profile, id, meta }) => {
    const sent: unknown[] = [];
    const env = { PATH: process.env["PATH"] ?? "", HOME: "/home/u" };
    const tap: WireTap = (entry) => entry.dir === "out" && sent.push(entry.frame);
    await using started = await start(agent([reply({})]), { profile, env, tap });
    await started.runtime.resumeSession({ cwd: started.cwd, sessionId: id, via: "load", mcpServers: [{ name: "m" }] });
    const params = { sessionId: id, cwd: started.cwd, mcpServers: [{ name: "m" }], ...(meta ? { _meta: meta } : {}) };
    expect(sent[1]).toMatchObject({ method: "session/load" });
    expect(sent[1]).toHaveProperty("params", params);
  });

  test("mode and model as for a new session; the sentence of the caller comes first", async () => {
    const info = {
      modes: { currentModeId: "auto", availableModes: [{ id: "auto" }, { id: "default" }] },
      models: { currentModelId: "m1", availableModels: [{ modelId: "m1" }, { modelId: "m2" }] },
    };
    await using started = await start(agent([reply(info)]), { profile: "claude" });
    const options = { cwd: started.cwd, sessionId: ID, via: "resume", model: "m2", notes: ["Back again"] } as const;
    const session = await started.runtime.resumeSession(options);
    expect(session.modes?.current).toBe("default");
    expect(paramsOf(started.log, "session/set_mode")).toEqual({ sessionId: ID, modeId: "default" });
    expect(paramsOf(started.log, "session/set_model")).toEqual({ sessionId: ID, modelId: "m2" });
    expect(session.notes).toEqual(["Back again"]);
  });

  test("a session that comes back in a mode that does not ask is refused where the policy requires it", async () => {
    const info = { modes: { currentModeId: "auto", availableModes: [{ id: "auto" }] } };
    const scenario = agent([reply(info)], { "session/set_mode": [[err(-32602, "Invalid params")]] });
    await using started = await start(scenario, { profile: "claude", gate: "required" });
    const error = await rejectionOf(started.runtime.resumeSession({ cwd: started.cwd, sessionId: ID, via: "load" }));
    expect(recordOf(error)).toMatchObject({ kind: "gate" });
    await started.until(() => paramsOf(started.log, "session/close") !== undefined);
    expect(started.runtime.sessionCount).toBe(0);
  });
});

describe("the same session twice", () => {
  test("is refused while it is open here, and may be loaded again once it was closed", async () => {
    await using started = await start(agent([reply({})]));
    const again = { cwd: started.cwd, sessionId: ID, via: "load" } as const;
    const first = await started.runtime.resumeSession(again);
    expect(recordOf(await rejectionOf(started.runtime.resumeSession(again)))).toMatchObject({ kind: "busy" });
    await first.close();
    const second = await started.runtime.resumeSession(again);
    expect((await play(second)).outcome).toMatchObject({ kind: "completed", text: "ok" });
    expect((await play(first)).outcome).toMatchObject({ kind: "failed", failure: { kind: "session_not_found" } });
  });
});

function paramsOf(log: string, method: string): unknown {
  return logOf(log).find(({ frame }) => frame?.method === method)?.frame?.params;
}
