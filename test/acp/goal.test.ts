/** The goal of a session through a real child: what is asked for, what the agent does for it, and how that ends. */
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  chunk,
  end,
  err,
  permission,
  promptsIn,
  record,
  recordUpdate,
  reply,
  tool,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { inOneWrite, isRunning, recordOf, rejectionOf } from "./drive.ts";
import { ACTIVE, advertised, goal, heard, inShort, isTurn, opened, requestsIn, status } from "./goals.ts";

const SET = { action: "set", objective: "Ship it" } as const;
const DONE = { ...ACTIVE, status: "complete" };
const said = (text: string, messageId = "m1"): Action => chunk(text, { messageId });
/** Plays one goal request after the other. */
const goals = (...requests: readonly (readonly Action[])[]): NonNullable<Scenario["on"]> => ({
  "_session/goal": requests,
});
/** Waits for a file of the test, so that the test decides what comes first. */
const until = (name: string): Action => ({ untilFile: name });

describe("what the agent does for a goal", () => {
  test("is told as work that no prompt started, and ends with the agent's answer", async () => {
    // As in recording codex-acp 2.6.0 air/goal: the request is answered when the goal turn is over.
    const on = goals([
      goal(ACTIVE),
      status("active"),
      said("The goal "),
      said("is complete."),
      goal(DONE),
      status("idle"),
      reply({}),
    ]);
    const open = await opened(on);
    expect(open.session.goal).toBeUndefined();
    const answer = await open.session.setGoal({ action: "set", objective: " Ship it " });
    expect(requestsIn(open, "_session/goal")).toEqual([{ sessionId: "s1", action: "set", objective: "Ship it" }]);
    expect(answer).toMatchObject({
      goal: DONE,
      work: { kind: "completed", text: "The goal is complete.", sessionId: "s1" },
    });
    expect(open.session.goal).toEqual(DONE);
    expect(inShort(open.told)).toEqual([
      "none goal active",
      "none started",
      "none session",
      "none text The goal ",
      "none text is complete.",
      "none goal complete",
      "none ended completed",
    ]);
    expect(promptsIn(open.agent.log)).toHaveLength(0);
  });

  test("an agent that never says whether it rests has done when it answers (recording claude-agent-acp 0.101.0 air/goal-set)", async () => {
    const on = goals([goal(ACTIVE), said("Goal set: Ship it", "m1"), said("Working on the goal.", "m2"), reply({})]);
    const open = await opened(on, { profile: "claude", advertises: advertised(["set", "clear"]) });
    const { work } = await open.session.setGoal(SET);
    expect(work).toMatchObject({ kind: "completed", text: "Goal set: Ship itWorking on the goal." });
    expect(open.session.goal).toEqual(ACTIVE);
  });

  test.each(["pause", "clear"] as const)("%s is no work", async (action) => {
    const on = goals([goal(action === "clear" ? null : { ...ACTIVE, status: "paused" }), reply({})]);
    const open = await opened(on);
    expect(await open.session.setGoal({ action })).toEqual({
      goal: action === "clear" ? null : { ...ACTIVE, status: "paused" },
    });
    expect(requestsIn(open, "_session/goal")).toEqual([{ sessionId: "s1", action }]);
    expect(inShort(open.told)).toEqual([`none goal ${action === "clear" ? "null" : "paused"}`]);
  });

  test("a goal that comes to no work is none either, and the session takes a prompt at once", async () => {
    const open = await opened(goals([goal({ ...ACTIVE, status: "limited" }), reply({})]));
    expect(await open.session.setGoal(SET)).toEqual({ goal: { ...ACTIVE, status: "limited" } });
    expect(inShort(open.told)).toEqual(["none goal limited"]);
    expect(await open.session.prompt("hello").outcome).toMatchObject({ kind: "completed", text: "ok" });
  });

  test("goes on after the answer, as often as the agent likes (recording codex-acp 2.6.0 air/goal, after the clear)", async () => {
    const on = goals([
      goal(ACTIVE),
      status("active"),
      said("One."),
      status("idle"),
      status("active"),
      reply({}),
      until("go"),
      said("Two.", "m2"),
      status("idle"),
    ]);
    const open = await opened(on);
    const { work } = await open.session.setGoal(SET);
    expect(work).toBeUndefined();
    open.agent.touch("go");
    await heard(open, isTurn("ended"));
    expect(inShort(open.told).slice(1)).toEqual([
      "none started",
      "none session",
      "none text One.",
      "none text Two.",
      "none ended completed",
    ]);
  });

  test("an agent that works by itself is heard only while its goal is active", async () => {
    const prompt: Action[] = [
      end(),
      status("active"),
      said("By itself."),
      tool("t1"),
      permission("t1"),
      waitForAnswer("p1"),
      status("idle"),
    ];
    const open = await opened(
      { "session/prompt": [prompt] },
      { permissions: async () => ({ action: "select", optionId: "a", denied: false }) },
    );
    await open.session.prompt("hello").outcome;
    await open.agent.until(() => answerTo(open.agent.log, "p1") !== undefined);
    expect(answerTo(open.agent.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "r" } });
    expect(open.told.filter(isTurn("started"))).toEqual([]);
  });

  test("a turn that sets a goal leaves it to the agent, which goes on by itself", async () => {
    const prompt: Action[] = [
      inOneWrite(goal(ACTIVE), status("active"), said("Set."), status("idle"), end(), status("active")),
      until("go"),
      said("More.", "m2"),
      status("idle"),
    ];
    const open = await opened({ "session/prompt": [prompt] });
    expect(await open.session.prompt("/goal Ship it").outcome).toMatchObject({ text: "Set." });
    open.agent.touch("go");
    await heard(open, isTurn("ended"));
    expect(inShort(open.told).slice(-4)).toEqual([
      "none started",
      "none session",
      "none text More.",
      "none ended completed",
    ]);
  });
});

describe("questions of the agent while it works for a goal", () => {
  const asks = goals([
    goal(ACTIVE),
    status("active"),
    tool("t1"),
    permission("t1"),
    waitForAnswer("p1"),
    said("Done."),
    status("idle"),
    reply({}),
  ]);

  test.each([
    { optionId: "a", denied: false, told: "none permission allowed" },
    { optionId: "r", denied: true, told: "none permission denied" },
  ])("the policy decides: $told", async ({ optionId, denied, told }) => {
    const open = await opened(asks, { permissions: async () => ({ action: "select", optionId, denied }) });
    const { work } = await open.session.setGoal(SET);
    expect(answerTo(open.agent.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId } });
    expect(work?.denied).toEqual(denied ? ["rm -rf x"] : []);
    expect(inShort(open.told)).toContain(told);
  });

  test("without a policy the work ends, and says so", async () => {
    const stops = goals([
      goal(ACTIVE),
      status("active"),
      tool("t1"),
      permission("t1"),
      waitFor("session/cancel"),
      status("idle"),
      reply({}),
    ]);
    const open = await opened(stops);
    const { work } = await open.session.setGoal(SET);
    expect(work).toMatchObject({ kind: "failed", failure: { kind: "gate" } });
  });
});

describe("work that fails", () => {
  const TITLE = '{"error":{"message":"Bad value.","type":"invalid_request_error","param":null,"code":"invalid_value"}}';

  test("a record beside systemError says why (recording codex-acp 2.6.0 air/goal-failing)", async () => {
    const open = await opened(
      goals([
        goal(ACTIVE),
        status("active"),
        goal({ ...ACTIVE, status: "blocked" }),
        status("systemError"),
        recordUpdate(record({ id: "u1:error", title: TITLE, actions: ["retry"] })),
        reply({}),
      ]),
    );
    const { goal: now, work } = await open.session.setGoal(SET);
    expect(now).toMatchObject({ status: "blocked" });
    expect(work).toMatchObject({
      kind: "failed",
      failure: { id: "u1:error", kind: "request_rejected", source: "session_failure" },
    });
    expect(open.agent.sunk.map(({ id, severity }) => `${severity} ${id}`)).toContain("error u1:error");
    expect(inShort(open.told).at(-1)).toBe("none ended failed");
  });

  test("the sentence after systemError is not the answer (recording codex-acp 2.6.0 plain/goal-failing)", async () => {
    const open = await opened(
      goals([goal(ACTIVE), status("active"), status("systemError"), chunk(`${TITLE}\n\n`), reply({})]),
    );
    const { work } = await open.session.setGoal(SET);
    expect(work).toMatchObject({
      kind: "failed",
      text: "",
      failure: { source: "thread_status", kind: "request_rejected" },
    });
  });

  test("an error instead of an answer, before any work: thrown", async () => {
    const open = await opened(goals([err(-32000, "Authentication required")]));
    const error = await rejectionOf(open.session.setGoal(SET));
    expect(recordOf(error)).toMatchObject({ kind: "auth" });
    expect(open.told).toEqual([]);
  });

  test("an error instead of an answer, after some: told once, with what was said", async () => {
    const open = await opened(
      goals([
        goal(ACTIVE),
        status("active"),
        said("Half"),
        status("idle"),
        err(-32603, "Internal error", { status: 529 }),
      ]),
    );
    const { work } = await open.session.setGoal(SET);
    expect(work).toMatchObject({ kind: "failed", text: "Half", partial: true });
    expect(open.told.filter(isTurn("ended"))).toHaveLength(1);
  });

  test("the agent dies: told, and the session is over", async () => {
    const open = await opened(goals([goal(ACTIVE), status("active"), said("Half"), { exit: 3 }]));
    const { work } = await open.session.setGoal(SET);
    expect(work).toMatchObject({ kind: "failed", failure: { kind: "agent_died", replaySafety: "unknown" } });
    expect(open.agent.sunk.map(({ kind }) => kind)).toEqual(["agent_died"]);
  });

  test("the agent dies after the answer, while it goes on: told as well", async () => {
    const open = await opened(goals([goal(ACTIVE), status("active"), reply({}), until("go"), { exit: 3 }]));
    await open.session.setGoal(SET);
    open.agent.touch("go");
    await heard(open, isTurn("ended"));
    expect(open.agent.sunk.map(({ kind }) => kind)).toEqual(["agent_died"]);
  });

  test("silence has its limit: the agent is told to stop, and the goal stays", async () => {
    const open = await opened(
      goals([goal(ACTIVE), status("active"), said("Hm"), waitFor("session/cancel"), status("idle"), reply({})]),
    );
    const { work } = await open.session.setGoal(SET, { timeouts: { idleMs: 200 } });
    expect(work).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
    expect(requestsIn(open, "session/cancel")).toEqual([{ sessionId: "s1" }]);
    expect(open.session.goal).toEqual(ACTIVE);
  });
});

describe("stopping", () => {
  test("the signal stops the work softly; the goal stays", async () => {
    const open = await opened(
      goals([
        goal(ACTIVE),
        status("active"),
        said("Half"),
        waitFor("session/cancel"),
        said(" and no more."),
        status("idle"),
        reply({}),
      ]),
    );
    const stop = new AbortController();
    const asked = open.session.setGoal(SET, { signal: stop.signal });
    await heard(open, ({ event }) => event.type === "text");
    stop.abort();
    expect(await asked).toMatchObject({
      goal: ACTIVE,
      work: { kind: "cancelled", by: "caller", text: "Half and no more." },
    });
    expect(requestsIn(open, "_session/goal")).toHaveLength(1);
  });

  test("an agent that does not stop is ended after its grace", async () => {
    const open = await opened(goals([goal(ACTIVE), status("active"), said("Half")]), {
      timeouts: { turn: { cancelGraceMs: 100 } },
    });
    const stop = new AbortController();
    const asked = open.session.setGoal(SET, { signal: stop.signal });
    await heard(open, ({ event }) => event.type === "text");
    stop.abort();
    expect(await asked).toMatchObject({ work: { kind: "cancelled", by: "caller" } });
    await open.agent.runtime.gone;
    expect(isRunning(open.agent.runtime.pid)).toBe(false);
  });

  test("a signal that fired keeps the request from being sent", async () => {
    const open = await opened({});
    await expect(open.session.setGoal(SET, { signal: AbortSignal.abort(new Error("No")) })).rejects.toThrow("No");
    expect(requestsIn(open, "_session/goal")).toEqual([]);
  });

  test("an agent that Ostler ends has not failed", async () => {
    const open = await opened(goals([goal(ACTIVE), status("active"), reply({})]));
    await open.session.setGoal(SET);
    open.agent.runtime.kill();
    await open.agent.runtime.gone;
    expect(open.agent.sunk).toEqual([]);
    expect(inShort(open.told).at(-1)).toBe("none ended cancelled");
  });

  test("closing the session stops its work first", async () => {
    const open = await opened({
      ...goals([goal(ACTIVE), status("active"), reply({}), waitFor("session/cancel"), status("idle")]),
      "session/close": [[reply({})]],
    });
    await open.session.setGoal(SET);
    await open.session.close();
    expect(requestsIn(open, "session/cancel")).toHaveLength(1);
    expect(inShort(open.told).at(-1)).toBe("none ended cancelled");
    const error = await rejectionOf(open.session.setGoal({ action: "clear" }));
    expect(recordOf(error)).toMatchObject({ kind: "session_not_found" });
  });
});

describe("beside prompts", () => {
  test("cancelling a turn does not clear the goal (seed 002, Goal)", async () => {
    const open = await opened({
      "session/prompt": [[goal(ACTIVE), said("Hm"), waitFor("session/cancel"), end("cancelled")]],
    });
    const turn = open.session.prompt("hello");
    await heard(open, ({ event }) => event.type === "text");
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled" });
    expect(open.session.goal).toEqual(ACTIVE);
    expect(requestsIn(open, "_session/goal")).toEqual([]);
  });

  test("while a prompt runs the goal is set beside it, and what happens belongs to the prompt", async () => {
    const open = await opened({
      "session/prompt": [[said("One. "), { wait: { method: "_session/goal" } }, until("go"), said("Two."), end()]],
      "_session/goal": [[goal(ACTIVE), until("go"), reply({})]],
    });
    const turn = open.session.prompt("hello");
    await heard(open, ({ event }) => event.type === "text");
    // The agent answers when its turn is over; the snapshot is enough.
    expect(await open.session.setGoal(SET)).toEqual({ goal: ACTIVE });
    open.agent.touch("go");
    expect(await turn.outcome).toMatchObject({ kind: "completed", text: "One. Two." });
    expect(inShort(open.told).filter((line) => line.startsWith("none"))).toEqual([]);
  });

  test("a prompt takes the frames over from work that still runs", async () => {
    const open = await opened({
      ...goals([goal(ACTIVE), status("active"), said("For the goal."), reply({})]),
      "session/prompt": [[said("For the prompt.", "m2"), end()]],
    });
    await open.session.setGoal(SET);
    await heard(open, ({ event }) => event.type === "text");
    expect(await open.session.prompt("hello").outcome).toMatchObject({ kind: "completed", text: "For the prompt." });
    expect(inShort(open.told).filter((line) => / (started|ended|text)/.test(line))).toEqual([
      "none started",
      "none text For the goal.",
      "none ended completed",
      "turn started",
      "turn text For the prompt.",
      "turn ended completed",
    ]);
  });

  test("a goal that comes after the result is no late news of the turn", async () => {
    const open = await opened({ "session/prompt": [[end(), goal(ACTIVE)]] });
    await open.session.prompt("hello", { retries: 0 }).outcome;
    await heard(open, ({ event }) => event.type === "goal");
    expect(inShort(open.told)).toContain("none goal active");
  });

  test("what is not advertised is not sent", async () => {
    const open = await opened({}, { advertises: advertised(["set", "clear"]) });
    await expect(open.session.setGoal({ action: "pause" })).rejects.toMatchObject({
      kind: "request_rejected",
      message: expect.stringMatching(/cannot pause a goal; it can set and clear$/),
    });
    expect(requestsIn(open, "_session/goal")).toEqual([]);
  });
});

test("the goal of a session that is loaded is known from its replay", async () => {
  const scenario: NonNullable<Scenario["on"]> = {
    "session/load": [[goal({ ...ACTIVE, status: "paused" }), reply({})]],
  };
  const { agent } = await opened(scenario, {
    advertises: { ...advertised(), agentCapabilities: { loadSession: true } },
  });
  const session = await agent.runtime.resumeSession({ sessionId: "old", via: "load", cwd: dirname(agent.log) });
  expect(session.goal).toEqual({ objective: "Ship it", status: "paused" });
});
