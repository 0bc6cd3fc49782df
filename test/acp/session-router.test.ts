/** Whose a frame or a question is, and what is not sent again when nobody can say (case C17, case C05). */
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  err,
  logOf,
  permission,
  promptsIn,
  reply,
  tool,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, play, recordOf, rejectionOf, start, textsOf } from "./drive.ts";
import type { Started } from "./drive.ts";

const allowOnce: PermissionPolicy = async () => ({ action: "select", optionId: "a", denied: false });
const rejectOnce: PermissionPolicy = async () => ({ action: "select", optionId: "r", denied: true });
const allowed = { outcome: { outcome: "selected", optionId: "a" } };
const rejected = { outcome: { outcome: "selected", optionId: "r" } };
/** The usual question, answered. */
const asks = (sessionId = "$S"): readonly Action[] => [permission("t1", { sessionId }), waitForAnswer("p1")];
const overloaded = err(-32603, "overloaded_error");

describe("a tool that was allowed may have run: the prompt is not sent again", () => {
  test.each<{ from: string; turn: readonly Action[]; outcome: object }>([
    {
      from: "a call that was never announced, then an error",
      turn: [...asks(), overloaded],
      outcome: { kind: "failed", attempts: 1, failure: { kind: "overloaded", replaySafety: "tool_started" } },
    },
    {
      from: "a call of a child session, then an error",
      turn: [...asks("child-99"), overloaded],
      outcome: { kind: "failed", attempts: 1, failure: { kind: "overloaded", replaySafety: "tool_started" } },
    },
    {
      from: "a call that was never announced, then an empty end",
      turn: [...asks(), end()],
      outcome: { kind: "empty", attempts: 1, failure: null },
    },
    {
      from: "a call of a child session, then an empty end",
      turn: [...asks("child-99"), end()],
      outcome: { kind: "empty", attempts: 1, failure: null },
    },
  ])("$from", async ({ turn, outcome }) => {
    const driven = await drive(turns(turn, [chunk("again"), end()]), { permissions: allowOnce });
    expect(driven.outcome).toMatchObject(outcome);
    expect(driven.prompts).toBe(1);
    expect(answerTo(driven.log, "p1")?.result).toEqual(allowed);
  });

  test.each([
    { from: "an error", last: overloaded },
    { from: "an empty end", last: end() },
  ])("one that was refused has not run: after $from it is sent again", async ({ last }) => {
    const driven = await drive(turns([...asks(), last], [chunk("again"), end()]), { permissions: rejectOnce });
    expect(driven.outcome).toMatchObject({ kind: "completed", text: "again", attempts: 2 });
  });

  test("a yes that comes when the prompt has failed and is out again is not given", async () => {
    const asked = Promise.withResolvers<void>();
    const turn = [permission("t1"), overloaded];
    await using agent = await start(turns(turn, [chunk("again"), waitForAnswer("p1"), end()]), {
      permissions: async () => {
        await asked.promise;
        return { action: "select", optionId: "a", denied: false };
      },
    });
    const played = play(await agent.open());
    await agent.until(() => promptsIn(agent.log).length === 2);
    asked.resolve();
    expect((await played).outcome).toMatchObject({ kind: "completed", text: "again", attempts: 2 });
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
  });
});

/** A tool frame of a session that nobody opened. */
const childTool = (more: { readonly [key: string]: Json } = {}): Action =>
  call("session/update", {
    sessionId: "child-99",
    update: { sessionUpdate: "tool_call", toolCallId: "c1", title: "x", kind: "execute" },
    ...more,
  });
const untouched = { kind: "completed", text: "again", attempts: 2 };
const touched = { kind: "failed", attempts: 1, failure: { replaySafety: "tool_started" } };
const again: readonly Action[] = [chunk("again"), end()];
/** The agent has handled everything that was sent so far. */
const sync: readonly Action[] = [call("_sync", {}, "sync"), waitForAnswer("sync")];

const whileOpening = (frame: Action): Scenario => ({
  on: {
    "session/new": [[{ default: true }], [frame, ...sync, { untilFile: "open" }, reply({ sessionId: "s2" })]],
    "session/prompt": [[{ untilFile: "fail" }, overloaded], again],
  },
});

describe("a tool of a child while another session is being opened", () => {
  test.each([
    { from: "it names no parent", frame: childTool(), outcome: touched },
    {
      from: "it names its parent",
      frame: childTool({ _meta: { kiro: { parentSessionId: "s1" } } }),
      outcome: touched,
    },
    { from: "an update that is none", frame: chunk("x", {}, "child-99"), outcome: untouched },
  ])("$from: the running turn knows at once", async ({ frame, outcome }) => {
    await using agent = await start(whileOpening(frame));
    const played = play(await agent.open());
    const second = agent.open();
    await agent.until(() => answerTo(agent.log, "sync") !== undefined);
    agent.touch("fail");
    expect((await played).outcome).toMatchObject(outcome);
    agent.touch("open");
    await second;
  });
});

test.each([
  { from: "a tool of a child that names no parent", frame: childTool(), outcome: touched },
  { from: "a tool of a session without an id", frame: childTool({ sessionId: null }), outcome: touched },
  { from: "text of a child", frame: chunk("x", {}, "child-99"), outcome: untouched },
  {
    from: "a tool of a child of a third session",
    frame: childTool({ _meta: { kiro: { parentSessionId: "s3" } } }),
    outcome: untouched,
  },
])("two turns run, and $from: both know what may have run", async ({ frame, outcome }) => {
  const first = [{ untilFile: "fail" }, overloaded];
  await using agent = await start(turns(first, [frame, ...sync, { untilFile: "fail" }, overloaded], again));
  const [one, two] = [await agent.open(), await agent.open()];
  await agent.open();
  const played = [play(one), play(two)];
  await agent.until(() => answerTo(agent.log, "sync") !== undefined);
  agent.touch("fail");
  for (const { outcome: found } of await Promise.all(played)) expect(found).toMatchObject(outcome);
});

test("a tool that may be of another turn is no answer of this one: its silence is told, and it is not asked again", async () => {
  await using agent = await start(turns([{ untilFile: "go" }, end()], [childTool(), end()], again));
  const [one, two] = [await agent.open(), await agent.open()];
  const first = play(one);
  expect((await play(two)).outcome).toMatchObject({ kind: "empty", attempts: 1 });
  agent.touch("go");
  expect((await first).outcome).toMatchObject({ kind: "empty", attempts: 1 });
});

describe("an id that is in use", () => {
  test.each([
    { from: "session/new", open: (agent: Started) => agent.open({ mode: "never", model: "never" }) },
    { from: "session/load", open: load },
  ])("$from is answered with it: refused, and the session that has it stays as it is", async ({ open }) => {
    const scenario: Scenario = {
      initializeResult: { agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } } },
      on: {
        "session/new": [[{ default: true }], [reply({ sessionId: "s1" })]],
        "session/load": [[reply({ sessionId: "s1" })]],
      },
    };
    await using agent = await start(scenario);
    const first = await agent.open();
    const failure = recordOf(await rejectionOf(open(agent)));
    expect(failure).toMatchObject({ kind: "protocol", rule: "session-id-taken" });
    expect(failure?.title).toContain("under the id of another one that is in use: s1");
    expect(agent.runtime.sessionCount).toBe(1);
    const methods = logOf(agent.log).flatMap(({ frame }) => frame?.method ?? []);
    expect(methods).not.toContain("session/close");
    expect(methods.filter((method) => method.startsWith("session/set"))).toEqual([]);
    expect((await play(first)).outcome).toMatchObject({ kind: "completed", text: "ok" });
  });

  test("two that are opened at once get the same: the second is refused", async () => {
    const both: Scenario = { on: { "session/new": [[{ untilFile: "go" }, reply({ sessionId: "same" })]] } };
    await using agent = await start(both);
    const opened = [agent.open(), agent.open()];
    agent.touch("go");
    const settled = await Promise.allSettled(opened);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(agent.runtime.sessionCount).toBe(1);
  });

  test("an empty id is none", async () => {
    await using agent = await start({ on: { "session/new": [[reply({ sessionId: "" })]] } });
    expect(recordOf(await rejectionOf(agent.open()))).toMatchObject({ kind: "protocol", rule: "no-session-id" });
  });
});

describe("what is over has no part in the turns of others", () => {
  const grace = { cancelGraceMs: 20 };
  const spawned = update({ sessionUpdate: "subagent_spawned", subagentSessionId: "child-99", name: "x" });

  const ask = permission("t1", { sessionId: "child-99" });
  const known: readonly { from: string; before: readonly Action[]; after: readonly Action[] }[] = [
    {
      from: "a child that its parent had named",
      before: [spawned],
      after: [],
    },
    {
      from: "a child that its parent names later",
      before: [],
      after: [update({ sessionUpdate: "subagent_spawned", subagentSessionId: "child-99" }, "s1")],
    },
    {
      from: "a child that had named its parent",
      before: [childTool({ _meta: { kiro: { parentSessionId: "s1" } } })],
      after: [],
    },
    {
      from: "a child that names the tool call of its parent",
      before: [tool("toolu_1")],
      after: [childTool({ _meta: { claudeCode: { parentToolUseId: "toolu_1" } } })],
    },
    {
      from: "a child that names nobody, heard while its parent ran alone",
      before: [childTool()],
      after: [],
    },
  ];

  test.each([
    ...known,
    {
      from: "a child that nobody has heard of: the turn that was given up may have begun it",
      before: [],
      after: [],
    },
  ])("$from, of a turn that was given up: refused", async ({ before, after }) => {
    const first = [...before, chunk("begun"), waitFor("never")];
    await using agent = await start(turns(first, [...after, ask, waitForAnswer("p1"), chunk("done"), end()]), {
      permissions: allowOnce,
    });
    const [one, two] = [await agent.open(), await agent.open()];
    const turn = one.prompt("hello", { timeouts: grace });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    await turn.outcome;
    expect(one.retired).toBe(true);
    const { outcome, events } = await play(two);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    expect(outcome).toMatchObject({ kind: "completed", text: "done", denied: [] });
    expect(events.filter(({ type }) => type === "permission")).toEqual([]);
  });

  test.each(known)("$from, of a session that was closed: refused", async ({ before, after }) => {
    const first = [...before, chunk("begun"), end()];
    await using agent = await start(turns(first, [...after, ask, waitForAnswer("p1"), chunk("done"), end()]), {
      permissions: allowOnce,
    });
    const [one, two] = [await agent.open(), await agent.open()];
    await play(one);
    await one.close();
    expect((await play(two)).outcome).toMatchObject({ kind: "completed", text: "done", denied: [] });
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
  });

  test("a session that could not be loaded is known: its question is refused, its tools are no other turn's", async () => {
    const scenario: Scenario = {
      initializeResult: { agentCapabilities: { loadSession: true } },
      on: {
        "session/load": [[err(-32002, "Session not found")]],
        "session/prompt": [
          [permission("t1", { sessionId: "old" }), waitForAnswer("p1"), childTool({ sessionId: "old" }), overloaded],
          again,
        ],
      },
    };
    await using agent = await start(scenario, { permissions: allowOnce });
    const session = await agent.open();
    await rejectionOf(load(agent));
    expect((await play(session)).outcome).toMatchObject(untouched);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    // It may be tried again.
    expect(recordOf(await rejectionOf(load(agent)))).not.toMatchObject({ kind: "busy" });
  });
});

const ask = (params: { readonly [key: string]: Json }): Action =>
  call(
    "session/request_permission",
    { sessionId: "$S", toolCall: { toolCallId: "t2", title: "two" }, ...params },
    "p1",
  );

describe("two requests under one id", () => {
  const swapped = [
    { optionId: "r", name: "Yes", kind: "allow_once" },
    { optionId: "a", name: "No", kind: "reject_once" },
  ];
  const cancelled = { outcome: { outcome: "cancelled" } };

  test.each<{ from: string; second: Action; answer: object }>([
    { from: "the other session asks", second: permission("t2"), answer: rejected },
    { from: "the same session asks", second: permission("t2", { sessionId: "s1" }), answer: rejected },
    { from: "no option rejects in both", second: ask({ options: swapped }), answer: cancelled },
    { from: "the other offers nothing", second: ask({ options: [] }), answer: cancelled },
    { from: "another method", second: call("fs/read_text_file", { sessionId: "$S" }, "p1"), answer: rejected },
  ])("$from: one answer, and it is a no to both", async ({ second, answer }) => {
    const asked = Promise.withResolvers<void>();
    const first = [permission("t1"), waitForAnswer("p1"), chunk("one"), end()];
    const later = [permission("t3"), ...sync, { untilFile: "go" }, chunk("two"), end()];
    const scenario = turns(first, [second, waitForAnswer("p1"), ...later]);
    const seen: string[] = [];
    await using agent = await start(scenario, {
      permissions: async ({ toolCallId }) => {
        seen.push(toolCallId);
        asked.resolve();
        // The first is open until it is refused; the others would be allowed.
        if (toolCallId === "t1") await new Promise(() => {});
        return { action: "select", optionId: "a", denied: false };
      },
    });
    const [one, two] = [await agent.open(), await agent.open()];
    const played = play(one);
    await asked.promise;
    const other = play(two);
    expect((await played).outcome).toMatchObject({ kind: "completed", text: "one" });
    await agent.until(() => answerTo(agent.log, "sync") !== undefined);
    agent.touch("go");
    await other;
    // A third question under the id is refused too: the agent may still hold one of the two open.
    expect(answersTo(agent.log, "p1")).toEqual([answer, rejected]);
    expect(seen).toEqual(["t1"]);
  });
});

const replays = (more: Json, after: readonly Action[] = []): Scenario => ({
  initializeResult: { agentCapabilities: { loadSession: true } },
  on: { "session/load": [[chunk("old", {}, "old"), reply(more), ...after]] },
});

describe("a session that is reopened", () => {
  const told = "The agent reopened the session under another id";

  test.each<{ from: string; answer: Json; id: string; notices: readonly string[] }>([
    { from: "the same id", answer: { sessionId: "old" }, id: "old", notices: [] },
    { from: "another id", answer: { sessionId: "new" }, id: "new", notices: [told] },
    { from: "an empty id", answer: { sessionId: "" }, id: "old", notices: [] },
    { from: "an id that is no text", answer: { sessionId: 7 }, id: "old", notices: [] },
    { from: "nothing", answer: null, id: "old", notices: [] },
  ])("is answered with $from", async ({ answer, id, notices }) => {
    await using agent = await start(replays(answer));
    const session = await load(agent);
    expect(session.id).toBe(id);
    const { outcome, events } = await play(session);
    expect(outcome).toMatchObject({ kind: "completed", text: "ok", sessionId: id });
    expect(textsOf(events, "notice")).toEqual(notices);
  });

  test("what comes between the answer and the first prompt is no part of any turn", async () => {
    const late = [chunk("late", {}, "old"), tool("t1"), { ...chunk("more", {}, "old"), times: 1500 }];
    const scenario = replays({ sessionId: "old" }, [...late, ...sync]);
    await using agent = await start({ ...scenario, on: { ...scenario.on, "session/prompt": [[overloaded], again] } });
    const session = await load(agent);
    await agent.until(() => answerTo(agent.log, "sync") !== undefined);
    const { outcome, events } = await play(session);
    expect(outcome).toMatchObject(untouched);
    expect(textsOf(events, "text")).toEqual(["again"]);
    expect(events.filter(({ type }) => type === "tool")).toEqual([]);
  });

  test("nor of the turn of another session, however much it is and however long its settings take", async () => {
    const scenario = replays({ sessionId: "old" }, [
      { ...childTool({ sessionId: "old" }), times: 1500 },
      permission("t1", { sessionId: "old" }),
      waitForAnswer("p1"),
    ]);
    const on = {
      ...scenario.on,
      "session/set_mode": [[{ untilFile: "set" }, reply({})]],
      "session/prompt": [[{ untilFile: "fail" }, overloaded], again],
    };
    await using agent = await start({ ...scenario, on }, { permissions: allowOnce });
    const played = play(await agent.open());
    const opened = agent.runtime.resumeSession({ cwd: dirname(agent.log), sessionId: "old", via: "load", mode: "ask" });
    await agent.until(() => answerTo(agent.log, "p1") !== undefined);
    agent.touch("fail");
    expect((await played).outcome).toMatchObject(untouched);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    agent.touch("set");
    await opened.catch(() => {});
  });
});

function answersTo(log: string, id: string): readonly unknown[] {
  return logOf(log).flatMap(({ frame }) =>
    frame !== undefined && frame.method === undefined && frame.id === id ? [frame.result] : [],
  );
}

/** Gets back to the session "old". */
function load(agent: Started): Promise<Session> {
  return agent.runtime.resumeSession({ cwd: dirname(agent.log), sessionId: "old", via: "load" });
}
