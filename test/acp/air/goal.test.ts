/** Goal snapshots and requests as pure functions (seed document 002, Goal), with what an agent may send by mistake or malice. */
import { describe, expect, test } from "vitest";
import { GoalState, goalParams, isReached, readGoalUpdate } from "../../../src/acp/air/goal.ts";
import type { GoalRequest } from "../../../src/acp/air/goal.ts";
import { readSteeringAnswer, steeringParams } from "../../../src/acp/air/steering.ts";
import { AcpError } from "../../../src/errors/acp-error.ts";

const snapshot = (goal: unknown, version: unknown = 1) => ({
  sessionUpdate: "session_info_update",
  _meta: { jetbrains: { air: { version, goal } } },
});
const agent = (...actions: string[]) => ({ label: "The agent", goalActions: new Set(actions) });
const ACTIVE = { objective: "Ship it", status: "active" };

describe("what is read of a snapshot", () => {
  test.each([
    {
      from: "seed 002, Session state",
      goal: {
        objective: "Ship the change",
        status: "active",
        iterations: 3,
        lastReason: "Tests still need work",
        createdAt: 1710000000123,
        controlMethod: "_session/goal",
      },
      read: {
        objective: "Ship the change",
        status: "active",
        iterations: 3,
        lastReason: "Tests still need work",
        createdAt: 1710000000123,
      },
    },
    {
      from: "recording codex-acp 2.6.0 air/goal",
      goal: {
        objective: "Ship the change",
        status: "complete",
        tokenBudget: null,
        tokensUsed: 120,
        timeUsedSeconds: 0,
        createdAt: 1796008950000,
        updatedAt: 1796008951000,
        controlMethod: "_session/goal",
      },
      read: {
        objective: "Ship the change",
        status: "complete",
        tokenBudget: null,
        tokensUsed: 120,
        timeUsedSeconds: 0,
        createdAt: 1796008950000,
        updatedAt: 1796008951000,
      },
    },
    {
      from: "recording claude-agent-acp 0.101.0 air/goal-set",
      goal: { objective: "Ship it", status: "active", controlMethod: "_session/goal" },
      read: ACTIVE,
    },
    { from: "claude: no reason yet", goal: { ...ACTIVE, lastReason: null }, read: ACTIVE },
    { from: "seed 002: clearing publishes null", goal: null, read: null },
    {
      from: "wrong types of what may be missing",
      goal: { ...ACTIVE, iterations: "3", createdAt: Infinity, tokensUsed: {} },
      read: ACTIVE,
    },
    {
      from: "an objective without end",
      goal: { ...ACTIVE, objective: "x".repeat(100_000) },
      read: { ...ACTIVE, objective: "x".repeat(32_768) },
    },
  ])("$from", ({ goal, read }) => {
    expect(readGoalUpdate(snapshot(goal))).toEqual(read);
  });

  test.each(["active", "paused", "blocked", "limited", "complete"])("seed 002: the status %s", (status) => {
    expect(readGoalUpdate(snapshot({ ...ACTIVE, status }))).toEqual({ objective: "Ship it", status });
  });

  test.each([
    { from: "a status of later", goal: { ...ACTIVE, status: "dreaming" } },
    { from: "a status of the prototype", goal: { ...ACTIVE, status: "constructor" } },
    { from: "no status", goal: { objective: "Ship it" } },
    { from: "no objective", goal: { status: "active" } },
    { from: "a blank objective", goal: { objective: " \n", status: "active" } },
    { from: "a text", goal: "Ship it" },
    { from: "a list", goal: [ACTIVE] },
    { from: "a number", goal: 1 },
    { from: "undefined", goal: undefined },
  ])("ignored: $from", ({ goal }) => {
    const state = new GoalState(null);
    expect(state.apply(snapshot(goal))).toEqual([]);
    expect(state.current).toBeNull();
  });

  test("a newer version of the namespace is not ours; a key of the prototype is none", () => {
    expect(readGoalUpdate(snapshot(ACTIVE, 2))).toBeUndefined();
    expect(readGoalUpdate({ _meta: { jetbrains: { air: Object.create({ goal: ACTIVE }) } } })).toBeUndefined();
    expect(readGoalUpdate({ _meta: null })).toBeUndefined();
    expect(readGoalUpdate({})).toBeUndefined();
  });

  test("the newest stays, and clearing is news", () => {
    const state = new GoalState();
    expect(state.current).toBeUndefined();
    expect(state.apply(snapshot(ACTIVE))).toEqual([{ type: "goal", goal: ACTIVE }]);
    expect(state.apply({ sessionUpdate: "session_info_update", title: "Another title" })).toEqual([]);
    expect(state.current).toEqual(ACTIVE);
    expect(state.apply(snapshot(null))).toEqual([{ type: "goal", goal: null }]);
    expect(state.current).toBeNull();
  });
});

describe("what is asked for", () => {
  test.each([
    {
      request: { action: "set", objective: "  Ship it\n" },
      params: { sessionId: "s1", action: "set", objective: "Ship it" },
    },
    { request: { action: "clear" }, params: { sessionId: "s1", action: "clear" } },
  ] satisfies { request: GoalRequest; params: object }[])(
    "$request.action as the contract spells it",
    ({ request, params }) => {
      expect(goalParams("s1", request, agent("set", "clear"))).toEqual(params);
    },
  );

  test.each([
    {
      from: "seed 002: no action that is not advertised",
      request: { action: "pause" },
      can: ["set", "clear"],
      says: "The agent cannot pause a goal; it can set and clear",
    },
    {
      from: "one action",
      request: { action: "resume" },
      can: ["clear"],
      says: "The agent cannot resume a goal; it can clear",
    },
    {
      from: "the order is the contract's",
      request: { action: "resume" },
      can: ["clear", "pause", "set"],
      says: "The agent cannot resume a goal; it can set, pause and clear",
    },
    { from: "no goals at all", request: { action: "set", objective: "x" }, can: [], says: "The agent has no goals" },
    {
      from: "actions that only the agent knows",
      request: { action: "clear" },
      can: ["dream"],
      says: "The agent has no goals",
    },
    {
      from: "seed 002: set needs an objective",
      request: { action: "set", objective: " \t" },
      can: ["set"],
      says: "A goal needs an objective: say what is to be reached",
    },
  ] satisfies { from: string; request: GoalRequest; can: string[]; says: string }[])(
    "refused: $from",
    ({ request, can, says }) => {
      const ask = () => goalParams("s1", request, agent(...can));
      expect(ask).toThrow(AcpError);
      expect(ask).toThrow(expect.objectContaining({ kind: "request_rejected", message: says }));
    },
  );

  test.each([
    { request: { action: "set", objective: "Ship it " }, goal: { objective: "Ship it", status: "active" }, is: true },
    { request: { action: "set", objective: "Ship it" }, goal: { objective: "Another", status: "active" }, is: false },
    { request: { action: "pause" }, goal: { objective: "x", status: "paused" }, is: true },
    { request: { action: "pause" }, goal: { objective: "x", status: "active" }, is: false },
    { request: { action: "resume" }, goal: { objective: "x", status: "active" }, is: true },
    { request: { action: "resume" }, goal: null, is: false },
    { request: { action: "clear" }, goal: null, is: true },
    { request: { action: "clear" }, goal: undefined, is: false },
  ] as const)("$request.action is reached: $is ($goal)", ({ request, goal, is }) => {
    expect(isReached(request, goal)).toBe(is);
  });
});

describe("steering", () => {
  test("an idle session gives the words back (recording codex-acp 2.6.0 steer-idle)", () => {
    expect(steeringParams("s1", [{ type: "text", text: "x" }])).toEqual({
      sessionId: "s1",
      prompt: [{ type: "text", text: "x" }],
      _meta: { steering: { idleBehavior: "promptRequired" } },
    });
  });

  test.each([
    { from: "steer-mid-turn", result: { outcome: "injected" }, read: { outcome: "injected" } },
    {
      from: "steer-idle",
      result: { outcome: "promptRequired", reason: "noRunningTurn" },
      read: { outcome: "promptRequired", reason: "noRunningTurn" },
    },
    { from: "steer-idle", result: { outcome: "startedNewTurn" }, read: { outcome: "startedNewTurn" } },
    {
      from: "no reason",
      result: { outcome: "promptRequired", reason: 7 },
      read: { outcome: "promptRequired", reason: "" },
    },
    { from: "codex could not", result: { outcome: "failed" }, read: { outcome: "unknown", said: "failed" } },
    { from: "a number", result: { outcome: 1 }, read: { outcome: "unknown", said: "nothing" } },
    { from: "null", result: null, read: { outcome: "unknown", said: "nothing" } },
    { from: "a text", result: "injected", read: { outcome: "unknown", said: "nothing" } },
  ])("answer: $from $read.outcome", ({ result, read }) => {
    expect(readSteeringAnswer(result)).toEqual(read);
  });
});
