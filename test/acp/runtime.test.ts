import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CommandLine } from "../../src/acp/ports.ts";
import type { PermissionRequest } from "../../src/acp/types.ts";
import { AcpAuthRequired } from "../../src/errors/acp-error.ts";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import type { Profile } from "../../src/errors/failure.ts";
import { MISBEHAVING, NOT_ACP, behindLauncher } from "../fixtures/agents/misbehaving.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import {
  agentCommand,
  call,
  chunk,
  end,
  err,
  logOf,
  permission,
  processesIn,
  promptsIn,
  reply,
  tool,
  toolUpdate,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, inOneWrite, isRunning, play, recordOf, rejectionOf, start, textsOf } from "./drive.ts";

const works: Scenario = turns([chunk("works"), end()]);
const initializing = (...answer: readonly Action[]): Scenario => ({ on: { initialize: [answer] } });

const readCall = (sessionId: string, name: string): Action =>
  update(
    {
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      title: name,
      kind: "read",
      status: "completed",
      locations: [{ path: `/${name}` }],
    },
    sessionId,
  );

describe("what cannot be started, and why", () => {
  test.concurrent.each<{
    from: string;
    scenario: Scenario;
    kind: string;
    retry: string;
    title: RegExp;
    profile?: Profile;
  }>([
    {
      from: "dies before it reads",
      scenario: MISBEHAVING.diesOnStart,
      kind: "configuration",
      retry: "never",
      title: /exited with code 4: cannot start: no space left/,
    },
    {
      from: "dies while it is asked",
      scenario: MISBEHAVING.diesOnInitialize,
      kind: "agent_spawn",
      retry: "never",
      title: /exited with code 3: panic: cannot read state$/,
    },
    {
      from: "is killed while it is asked",
      scenario: initializing({ kill: "SIGKILL" }),
      kind: "agent_spawn",
      retry: "never",
      title: /was killed by SIGKILL$/,
    },
    {
      from: "ends well without a word",
      scenario: initializing({ exit: 0 }),
      kind: "agent_spawn",
      retry: "never",
      title: /exited with code 0$/,
    },
    {
      from: "is signed out, and says so on stderr",
      scenario: MISBEHAVING.signedOut,
      kind: "auth",
      retry: "never",
      title: /You are not logged in/,
    },
    {
      from: "cannot find a module",
      scenario: { start: [{ stderr: "Error: Cannot find module '/x/y.js'\n" }, { exit: 1 }] },
      kind: "agent_spawn",
      retry: "never",
      title: /Cannot find module/,
    },
    {
      from: "does not know its flags",
      scenario: { start: [{ stderr: "error: unexpected argument '--acp' found\n" }, { exit: 2 }] },
      kind: "configuration",
      retry: "never",
      title: /unexpected argument/,
    },
    {
      from: "refuses",
      scenario: MISBEHAVING.refusesInitialize,
      kind: "agent_spawn",
      retry: "never",
      title: /^broken install$/,
    },
    {
      from: "wants a login first",
      scenario: initializing(err(-32000, "Authentication required")),
      kind: "auth",
      retry: "never",
      title: /Authentication required/,
    },
    {
      from: "does not know the method",
      scenario: initializing(err(-32601, "Method not found")),
      kind: "protocol",
      retry: "never",
      title: /Method not found/,
    },
    {
      from: "speaks a newer version",
      scenario: MISBEHAVING.wrongVersion,
      kind: "protocol",
      retry: "never",
      title: /speaks ACP version 99, Ostler speaks 1$/,
    },
    {
      from: "speaks a draft version",
      scenario: { initializeResult: { protocolVersion: 0 } },
      kind: "protocol",
      retry: "never",
      title: /speaks ACP version 0/,
    },
    {
      from: "answers with a date",
      scenario: { initializeResult: { protocolVersion: "2025-08-22" } },
      kind: "protocol",
      retry: "never",
      title: /speaks ACP version 2025-08-22/,
    },
    {
      from: "says no version",
      scenario: initializing(reply({})),
      kind: "protocol",
      retry: "never",
      title: /speaks no ACP version/,
    },
    {
      from: "answers null",
      scenario: initializing(reply(null)),
      kind: "protocol",
      retry: "never",
      title: /speaks no ACP version/,
    },
    {
      from: "closes its output and stays",
      scenario: initializing({ ignoreStdinEnd: true }, { closeStdout: true }),
      kind: "agent_spawn",
      retry: "never",
      title: /closed its output/,
    },
  ])("$from: $kind", async ({ scenario, kind, retry, title }) => {
    const folder = mkdtempSync(join(tmpdir(), "ostler-runtime-"));
    const log = join(folder, "agent.log");
    const error = await rejectionOf(
      start(scenario, { cwd: folder, env: { PATH: process.env["PATH"] ?? "", AGENT_LOG: log } }),
    );
    expect(recordOf(error)).toMatchObject({ kind, retry, replaySafety: "not_sent" });
    expect(recordOf(error)?.title).toMatch(title);
    expect(processesIn(log)).toHaveLength(1);
    expect(processesIn(log).filter(isRunning)).toEqual([]);
  });

  test.concurrent("the exit is told at once, not after the handshake's time", async () => {
    const startedAt = performance.now();
    await rejectionOf(start(MISBEHAVING.diesOnInitialize, { timeouts: { handshakeMs: 60_000 } }));
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  test.concurrent("a silent agent has the handshake's time, and is ended", async () => {
    const error = await rejectionOf(start(MISBEHAVING.silent, { timeouts: { handshakeMs: 50 } }));
    expect(error).toBeInstanceOf(AcpRuntimeError);
    expect(error.message).toBe('Agent "scripted" did not speak ACP within 0.05 s');
  });

  test.concurrent("what it printed instead of speaking is told", async () => {
    const loading: Scenario = { on: { initialize: [[{ stderr: "still loading\n" }, waitFor("never")]] } };
    const error = await rejectionOf(start(loading, { timeouts: { handshakeMs: 2500 } }));
    expect(recordOf(error)).toMatchObject({ kind: "protocol", details: "still loading" });
  });

  test.concurrent("cat is told from an agent without waiting (case C12)", async () => {
    const startedAt = performance.now();
    const error = await rejectionOf(start(works, { command: NOT_ACP, timeouts: { handshakeMs: 60_000 } }));
    expect(recordOf(error)).toMatchObject({ kind: "protocol", source: "framing" });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  test.concurrent.each<{ from: string; command: CommandLine; title: RegExp }>([
    {
      from: "a missing program",
      command: { file: "/nonexistent/agent", args: [] },
      title: /Starting \/nonexistent\/agent failed \(ENOENT\)$/,
    },
    { from: "a folder", command: { file: tmpdir(), args: [] }, title: /failed \(EACCES\)$/ },
  ])("$from is agent_spawn, source spawn", async ({ command, title }) => {
    const error = await rejectionOf(start(works, { command }));
    expect(error).toBeInstanceOf(AcpRuntimeError);
    expect(recordOf(error)).toMatchObject({ kind: "agent_spawn", source: "spawn", needs: "human" });
    expect(recordOf(error)?.title).toMatch(title);
  });

  test.concurrent("a missing login is its own class", async () => {
    expect(await rejectionOf(start(MISBEHAVING.signedOut))).toBeInstanceOf(AcpAuthRequired);
  });

  test.concurrent("stderr is in the details, without its secrets", async () => {
    const secret = "sk-ant-SECRETSECRET1234";
    const error = await rejectionOf(start({ start: [{ stderr: `first\ntoken=${secret}\nlast\n` }, { exit: 1 }] }));
    expect(recordOf(error)?.details).toBe("first\ntoken=[redacted]\nlast");
    expect(error.message).not.toContain(secret);
  });

  test.concurrent("the caller gives up: its reason is thrown, and the agent is ended", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const starting = rejectionOf(start(MISBEHAVING.silent, { signal: stop.signal }));
    stop.abort(reason);
    expect(await starting).toBe(reason);
    expect(await rejectionOf(start(works, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

describe("what an agent says about itself", () => {
  test.concurrent.each<{
    from: string;
    initializeResult: NonNullable<Scenario["initializeResult"]>;
    agent: object | null;
    methods: readonly object[];
  }>([
    {
      from: "a title beats a name",
      initializeResult: {
        agentInfo: { name: "a", title: "Agent A", version: "1.2" },
        authMethods: [{ id: "x", name: "X" }],
      },
      agent: { name: "Agent A", version: "1.2" },
      methods: [{ id: "x", name: "X" }],
    },
    {
      from: "no version",
      initializeResult: { agentInfo: { name: "a" } },
      agent: { name: "a", version: "" },
      methods: [],
    },
    { from: "nothing (kiro V3)", initializeResult: { agentInfo: null, authMethods: null }, agent: null, methods: [] },
    {
      from: "other types",
      initializeResult: { agentInfo: { name: 5 }, authMethods: ["x", null, {}] },
      agent: null,
      methods: [{ id: "", name: "" }],
    },
  ])("$from", async ({ initializeResult, agent: info, methods }) => {
    await using agent = await start({ initializeResult });
    expect(agent.runtime.agent).toEqual(info);
    expect(agent.runtime.authMethods).toEqual(methods);
    expect(agent.runtime.state).toBe("ready");
  });

  test.concurrent("the first event of a turn says who answers", async () => {
    const { events } = await drive({
      ...works,
      newResult: {
        modes: { currentModeId: "m", availableModes: [{ id: "m" }] },
        models: { currentModelId: "big", availableModels: [{ modelId: "big" }] },
      },
    });
    expect(events[0]).toEqual({
      type: "session",
      sessionId: "s1",
      backend: "scripted",
      agent: "scripted 1.0.0",
      model: "big",
      mode: "m",
    });
  });
});

describe("a launcher", () => {
  test.concurrent("that exits well while its child serves on: the turn works, and the end is ended", async () => {
    const agent = await start(works, { command: behindLauncher(works) });
    const session = await agent.open();
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "works" });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "works" });
    expect(processesIn(agent.log).filter(isRunning)).toHaveLength(1);
    await agent.runtime.stop();
    expect(processesIn(agent.log).filter(isRunning)).toEqual([]);
  });

  test.concurrent("whose child dies", async () => {
    const dies = turns([chunk("partial words"), { exit: 3 }]);
    const { outcome } = await drive(dies, { command: behindLauncher(dies) });
    expect(outcome).toMatchObject({
      kind: "failed",
      text: "partial words",
      failure: { kind: "agent_died", source: "exit" },
    });
  });
});

describe("frames out of turn", () => {
  test.concurrent("after the result: no text, no activity of the next turn", async () => {
    const late = inOneWrite(
      end(),
      chunk(" late"),
      tool("t1"),
      update({ sessionUpdate: "plan", entries: [] }),
      call("_x/metadata", { sessionId: "$S" }),
    );
    await using agent = await start(turns([chunk("works"), late], [end()], [chunk("next"), end()]));
    const session = await agent.open();
    const first = await play(session);
    const second = await play(session, { retries: 0 });
    const third = await play(session);
    expect(first.outcome).toMatchObject({ kind: "completed", text: "works" });
    expect(second.outcome).toMatchObject({ kind: "empty", text: "" });
    expect(second.events.filter(({ type }) => type === "tool" || type === "plan")).toEqual([]);
    expect(third.outcome).toMatchObject({ kind: "completed", text: "next" });
  });

  test.concurrent("before the result of session/new: delivered to the session that it names", async () => {
    const asked: PermissionRequest[] = [];
    const scenario: Scenario = {
      on: {
        "session/new": [[readCall("s1", "mine"), readCall("other", "not mine"), { default: true }]],
        "session/prompt": [[permission("t1", { title: "" }), waitForAnswer("p1"), end()]],
      },
    };
    const { outcome } = await drive(scenario, {
      permissions: (request) => {
        asked.push(request);
        return Promise.resolve({ action: "cancel", denied: true });
      },
      prompt: { retries: 0 },
    });
    expect(asked).toMatchObject([{ toolCallId: "t1", kind: "read", paths: ["/mine"] }]);
    expect(outcome.text).toBe("");
  });

  test.concurrent("text of a child session is not the parent's; its frames are activity", async () => {
    const scenario = turns([
      chunk("child words", {}, "child-1"),
      chunk("whole"),
      update(
        { sessionUpdate: "tool_call", toolCallId: "c1", title: "x", kind: "execute", status: "pending" },
        "child-1",
      ),
      end(),
    ]);
    const { outcome, events } = await drive(scenario);
    expect(outcome).toMatchObject({ kind: "completed", text: "whole" });
    expect(textsOf(events, "text").join("")).toBe("whole");
    expect(events.filter(({ type }) => type === "tool")).toEqual([]);
  });

  test.concurrent("updates nobody knows, and updates that are none", async () => {
    const { outcome } = await drive(
      turns([
        update({ sessionUpdate: "an_update_of_tomorrow", deep: { value: [1] } }),
        call("session/update", { sessionId: "$S" }),
        call("session/update", { sessionId: "$S", update: "text" }),
        call("session/update", { update: { sessionUpdate: "agent_message_chunk" } }),
        call("session/update", { sessionId: 5, update: {} }),
        update({ sessionUpdate: "agent_message_chunk" }),
        update({ sessionUpdate: "agent_message_chunk", content: [] }),
        update({ sessionUpdate: "tool_call" }),
        update({ sessionUpdate: "tool_call_update", toolCallId: 5 }),
        update({ sessionUpdate: "plan", entries: "x" }),
        update({ sessionUpdate: "available_commands_update" }),
        update({ sessionUpdate: "session_info_update" }),
        chunk("works"),
        end(),
      ]),
    );
    expect(outcome).toMatchObject({ kind: "completed", text: "works" });
  });

  test.concurrent("tool calls are merged: an absent field means unchanged", async () => {
    const { events } = await drive(
      turns([
        tool("t1", { title: "npm test", locations: [{ path: "/w/a.ts" }], rawInput: { command: "npm test" } }),
        toolUpdate("t1", { status: "in_progress" }),
        toolUpdate("t1", { status: "completed", rawOutput: { exit_code: 2 } }),
        chunk("ok"),
        end(),
      ]),
    );
    expect(events.flatMap((event) => (event.type === "tool" ? [event] : [])).at(-1)).toEqual({
      type: "tool",
      toolCallId: "t1",
      title: "npm test",
      kind: "execute",
      status: "completed",
      paths: ["/w/a.ts"],
      rawInput: { command: "npm test" },
      rawOutput: { exit_code: 2 },
      exitCode: 2,
    });
  });
});

describe("the end", () => {
  test.concurrent("stop during a turn ends it, and leaves nothing", async () => {
    const agent = await start(turns([chunk("half"), { delayMs: 60_000 }, end()]));
    const session = await agent.open();
    const turn = session.prompt("hello");
    for await (const event of turn.events) if (event.type === "text") break;
    await agent.runtime.stop();
    expect(await turn.outcome).toMatchObject({ kind: "failed", text: "half", failure: { kind: "agent_died" } });
    expect(agent.runtime.state).toBe("dead");
    expect(processesIn(agent.log).filter(isRunning)).toEqual([]);
    expect(recordOf(await rejectionOf(agent.open()))).toMatchObject({ kind: "agent_died", replaySafety: "not_sent" });
  });

  test.concurrent("kill is at once", async () => {
    const agent = await start(MISBEHAVING.ignoresCancel);
    const session = await agent.open();
    const turn = session.prompt("hello");
    for await (const event of turn.events) if (event.type === "text") break;
    agent.runtime.kill();
    expect(await turn.outcome).toMatchObject({ kind: "failed", failure: { kind: "agent_died" } });
    await agent.runtime.stop();
    expect(isRunning(agent.runtime.pid)).toBe(false);
  });

  test.concurrent("stop is idempotent, also when the agent is gone already", async () => {
    const agent = await start(turns([{ exit: 3 }]));
    await play(await agent.open());
    await agent.runtime.stop();
    await agent.runtime.stop();
    agent.runtime.kill();
    expect(agent.runtime.state).toBe("dead");
  });

  test.concurrent("the environment of the child is the one given, with the backend's own", async () => {
    const command: CommandLine = agentCommand({ start: [{ stderr: "up\n" }] });
    await using agent = await start(works, { command, profile: "codex" });
    expect(agent.runtime.backend.env("reads")).toEqual({ INITIAL_AGENT_MODE: "read-only" });
    expect(logOf(agent.log).filter(({ frame }) => frame?.method === "initialize")).toHaveLength(1);
    expect(promptsIn(agent.log)).toEqual([]);
  });
});
