/** Background tasks and subagents in the turns of a real agent process. */
import { describe, expect, test } from "vitest";
import { initializeParams } from "../../src/acp/negotiate.ts";
import type { SessionEvent } from "../../src/acp/events.ts";
import { backendFor } from "../../src/backends/registry.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  chunk,
  end,
  err,
  logOf,
  permission,
  record,
  recordUpdate,
  reply,
  tool,
  toolUpdate,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, play, start } from "./drive.ts";

const STOP = "_session/async_task/stop";

const spawned = (asyncTaskId = "t1", fields: Readonly<Record<string, Json>> = {}, sessionId = "$S"): Action =>
  update(
    { sessionUpdate: "async_task_spawned", asyncTaskId, name: "sleep 60", taskType: "shell", canStop: true, ...fields },
    sessionId,
  );
const taskState = (asyncTaskId: string, state: string, sessionId = "$S"): Action =>
  update({ sessionUpdate: "async_task_state_update", asyncTaskId, state }, sessionId);
const subagent = (subagentSessionId = "child-1", sessionId = "$S"): Action =>
  update({ sessionUpdate: "subagent_spawned", subagentSessionId, name: "Small check", task: "look" }, sessionId);
const subagentState = (state: string, subagentSessionId = "child-1"): Action =>
  update({ sessionUpdate: "subagent_state_update", subagentSessionId, state });
const overloaded = err(-32603, "overloaded_error");

describe("what is declared", () => {
  test.each([
    { from: "AIR", air: true, subagents: {}, names: ["asyncTasks", "nativeSubagentSessions"] },
    { from: "a plain client", air: false, subagents: undefined, names: [] },
  ])("$from", ({ air, subagents, names }) => {
    const params = JSON.parse(JSON.stringify(initializeParams(backendFor("agent", { air }), "1")));
    const { clientCapabilities } = params;
    const declared: string[] = clientCapabilities._meta?.jetbrains?.air?.capabilities ?? [];
    expect(clientCapabilities.subagents).toEqual(subagents);
    expect(declared.filter((name) => name === "asyncTasks" || name === "nativeSubagentSessions")).toEqual(names);
  });
});

describe("stopping a task", () => {
  test.each<{
    readonly from: string;
    readonly stop: readonly Action[] | undefined;
    readonly answer: unknown;
    readonly left: string[];
  }>([
    {
      from: "contract, Stop request: stopped is told, then answered",
      stop: [taskState("t1", "stopped"), reply({ stopped: true })],
      answer: { stopped: true },
      left: ["monitor"],
    },
    { from: "contract: false", stop: [reply({ stopped: false })], answer: { stopped: false }, left: ["t1", "monitor"] },
    { from: "an answer of another form", stop: [reply("yes")], answer: { stopped: false }, left: ["t1", "monitor"] },
    {
      from: "an agent without the method",
      stop: undefined,
      answer: { stopped: false, problem: "Method not found" },
      left: ["t1", "monitor"],
    },
    {
      from: "no answer in time",
      stop: [waitFor("never")],
      answer: { stopped: false, problem: "_session/async_task/stop was not answered within 0.2 s" },
      left: ["t1", "monitor"],
    },
  ])("$from", async ({ stop, answer, left }) => {
    const scenario: Scenario = {
      on: {
        "session/prompt": [[spawned(), spawned("monitor", { canStop: false }), chunk("Started."), end()]],
        ...(stop !== undefined && { [STOP]: [stop] }),
      },
    };
    await using agent = await start(scenario);
    const session = await agent.open();
    await play(session);
    expect(session.tasks.map(({ taskId }) => taskId)).toEqual(["t1", "monitor"]);
    expect(await session.stopTask("t1", { timeoutMs: 200 })).toEqual(answer);
    expect(session.tasks.map(({ taskId }) => taskId)).toEqual(left);
    // The agent's word is kept: it is not asked.
    expect(await session.stopTask("monitor")).toMatchObject({
      stopped: false,
      problem: expect.stringMatching(/cannot/),
    });
    const asked = logOf(agent.log).flatMap(({ frame }) => (frame?.method === STOP ? [frame.params] : []));
    expect(asked).toEqual([{ sessionId: "s1", asyncTaskId: "t1" }]);
  });

  test("nothing runs where the process is gone, and nobody is asked", async () => {
    await using agent = await start(turns([spawned(), chunk("Started."), end()]));
    const session = await agent.open();
    await play(session);
    await agent.runtime.stop();
    expect([session.tasks, (await session.stopTask("t1")).stopped]).toEqual([[], false]);
  });

  test("the task of a subagent is the session's to stop", async () => {
    const scenario: Scenario = {
      on: {
        "session/prompt": [[subagent(), spawned("t1", {}, "child-1"), chunk("Started."), end()]],
        [STOP]: [[taskState("t1", "stopped", "child-1"), reply({ stopped: true })]],
      },
    };
    await using agent = await start(scenario);
    const session = await agent.open();
    const { events } = await play(session);
    expect(events).toContainEqual({
      type: "subagent",
      subagentId: "child-1",
      event: expect.objectContaining({ type: "task", taskId: "t1", state: "running" }),
    });
    expect([await session.stopTask("t1"), session.tasks]).toEqual([{ stopped: true }, []]);
  });
});

describe("subagents", () => {
  test("its words, its calls and its failure are told as its own, and the turn goes on", async () => {
    const { outcome, events } = await drive(
      turns([
        subagent(),
        chunk("Child text", {}, "child-1"),
        update({ sessionUpdate: "tool_call", toolCallId: "c1", title: "ls", kind: "execute" }, "child-1"),
        update(
          {
            sessionUpdate: "session_info_update",
            _meta: { jetbrains: { air: { version: 1, sessionFailure: record() } } },
          },
          "child-1",
        ),
        subagentState("failed"),
        chunk("Parent text"),
        end(),
      ]),
    );
    expect(outcome).toMatchObject({ kind: "completed", text: "Parent text", warnings: [] });
    const told = events.flatMap((event) =>
      event.type === "subagent" ? ["state" in event ? event.state : event.event.type] : [],
    );
    expect(told).toEqual(["running", "text", "tool", "failure", "failed"]);
    expect(events.filter(({ type }) => type === "failure" || type === "tool")).toEqual([]);
  });

  test("without a session of its own: under the call that started it; a call of it is a call of the session", async () => {
    const meta = { _meta: { claudeCode: { parentToolUseId: "toolu_1" } } };
    const { outcome, events } = await drive(
      turns([
        tool("toolu_1", { title: "Small check", kind: "think" }),
        chunk("I look.", { messageId: "m1", ...meta }),
        tool("toolu_2", { title: "ls", ...meta }),
        toolUpdate("toolu_2", { status: "completed", ...meta }),
        toolUpdate("toolu_1", { status: "completed" }),
        chunk("Done.", { messageId: "m2" }),
        end(),
      ]),
      { profile: "claude" },
    );
    expect(outcome).toMatchObject({ kind: "completed", text: "Done." });
    expect(events).toContainEqual({
      type: "subagent",
      subagentId: "toolu_1",
      event: { type: "text", text: "I look.", messageId: "m1" },
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tool",
        toolCallId: "toolu_2",
        parentToolCallId: "toolu_1",
        status: "completed",
      }),
    );
  });

  test("a question of it is asked as one of its own session", async () => {
    const driven = await drive(
      turns([subagent(), permission("c1", { sessionId: "child-1" }), waitForAnswer("p1"), chunk("ok"), end()]),
      {
        permissions: async (request) => ({
          action: "select",
          optionId: request.sessionId === "child-1" ? "a" : "r",
          denied: false,
        }),
      },
    );
    expect(answerTo(driven.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "a" } });
    expect(driven.outcome.kind).toBe("completed");
  });

  test("a subagent of a subagent belongs to the same turn, also when others run", async () => {
    const scenario: Scenario = {
      prompts: {
        one: [
          [
            subagent("child-1"),
            subagent("child-2", "child-1"),
            waitFor("session/prompt"),
            chunk("deep", {}, "child-2"),
            chunk("one"),
            end(),
          ],
        ],
        two: [[chunk("two"), waitFor("session/cancel"), end("cancelled")]],
      },
    };
    await using agent = await start(scenario);
    const [first, second] = [await agent.open(), await agent.open()];
    const playing = play(first, {}, "one");
    const other = second.prompt("two");
    const { events } = await playing;
    other.cancel();
    await other.outcome;
    expect(events.filter(({ type }) => type === "subagent")).toEqual([
      expect.objectContaining({ subagentId: "child-1", state: "running" }),
      expect.objectContaining({ subagentId: "child-2", state: "running", parentId: "child-1" }),
      { type: "subagent", subagentId: "child-2", event: { type: "text", text: "deep" } },
    ]);
  });
});

describe("what it means for the turn", () => {
  test.each([
    { from: "a subagent began", began: subagent() },
    { from: "a task began", began: spawned() },
  ])("$from, then an error: nothing is sent again", async ({ began }) => {
    const driven = await drive(turns([began, overloaded], [chunk("again"), end()]));
    expect(driven.outcome).toMatchObject({ kind: "failed", attempts: 1, failure: { replaySafety: "tool_started" } });
  });

  test.each<{ readonly from: string; readonly turn: readonly Action[]; readonly kind: string }>([
    {
      from: "a subagent that runs may be silent as long as a tool",
      turn: [chunk("Wait."), subagent(), { delayMs: 900 }, subagentState("completed"), end()],
      kind: "completed",
    },
    {
      from: "one that has ended leaves the agent no such time",
      turn: [chunk("Wait."), subagent(), subagentState("completed"), waitFor("session/cancel"), end("cancelled")],
      kind: "failed",
    },
    {
      from: "a command that went to the background is no tool that runs",
      turn: [
        tool("t1", { status: "in_progress" }),
        toolUpdate("t1", { _meta: { jetbrains: { air: { asyncTasks: { backgrounded: true } } } } }),
        waitFor("session/cancel"),
        end("cancelled"),
      ],
      kind: "failed",
    },
  ])("$from", async ({ turn, kind }) => {
    const { outcome } = await drive(turns(turn), { prompt: { timeouts: { idleMs: 300, toolMs: 20_000 }, retries: 0 } });
    expect(outcome.kind).toBe(kind);
  });
});

test("after the turn: what belongs to it is late, what claude begins by itself belongs to no turn", async () => {
  await using agent = await start(
    turns([
      spawned(),
      subagent(),
      chunk("Started.", { messageId: "m1" }),
      end(),
      { delayMs: 20 },
      chunk("Child report", {}, "child-1"),
      taskState("t1", "completed"),
      spawned("turn-1", { taskType: "turn", name: "Claude is working" }),
      chunk("More.", { messageId: "m2" }),
      subagent("child-9"),
      chunk("Other report", {}, "child-9"),
      taskState("turn-1", "completed"),
      recordUpdate(record({ severity: "warning" })),
    ]),
  );
  const session = await agent.open();
  const heard: SessionEvent[] = [];
  const isOver = new Promise<void>((resolve) => {
    session.subscribe((event) => {
      heard.push(event);
      if (event.event.type === "warning") resolve();
    });
  });
  const turn = session.prompt("hello");
  await turn.outcome;
  await isOver;
  const at = heard.findIndex(({ event }) => event.type === "turn" && event.state === "ended");
  const after = heard.slice(at + 1).map((told) => [told.event.type, whose(told)]);
  expect(after).toEqual([
    ["subagent", "late"],
    ["task", "late"],
    ["task", "nobody's"],
    ["text", "nobody's"],
    ["subagent", "nobody's"],
    ["subagent", "nobody's"],
    ["task", "nobody's"],
    ["warning", "late"],
  ]);
});

function whose({ turnId, late }: SessionEvent): string {
  if (turnId === null) return "nobody's";
  return late === true ? "late" : "its own";
}
