import { describe, expect, test } from "vitest";
import { decideDue, deliveryAtEnd, GRACE_MS } from "../../../src/failures/notify/due.ts";
import type { DueFacts } from "../../../src/failures/notify/due.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import { broke, delivered, disposed, failed, fold, gap, STARTED_AT, succeeded } from "../incidents/records.ts";

/** Three failures of one operation, from the n-th line on: the third is observed two seconds after the first. */
const strikes = (name: string, from = 0) =>
  [0, 1, 2].map((i) => failed(`${name}${from + i}`, name, [from + i * 2 + 1, from + i * 2 + 2]));
const running = { callback: true, told: [] } as const satisfies DueFacts["meta"];

/** What is decided, in short: the moment and the ids, or seconds until somebody has to look again. */
function decided(events: readonly JournalEvent[], afterMs: number, more: Partial<DueFacts> = {}) {
  const due = decideDue({ state: fold(events), meta: running, now: STARTED_AT + afterMs, ...more });
  if (!("wakeAt" in due)) return `${due.moment}: ${due.incidents.map(({ id }) => id).join(" ")}`;
  return due.wakeAt === undefined ? "never" : `at ${due.wakeAt - STARTED_AT}`;
}

describe("while a run goes on (failure observations, section 8)", () => {
  test.each<{ from: string; events: readonly JournalEvent[]; afterMs?: number; due: string }>([
    { from: "nothing failed", events: [], due: "never" },
    { from: "case 1: one tool failure never wakes anybody", events: [failed("a", "x", [1, 2])], due: "never" },
    { from: "two failures of one operation", events: strikes("a").slice(0, 2), due: "never" },
    { from: "case 9: the third, a minute after it", events: strikes("a"), afterMs: 61_999, due: "at 62000" },
    { from: "case 9: now", events: strikes("a"), afterMs: 62_000, due: "running: a0" },
    {
      from: "case 11: told at the third, then two more",
      events: [...strikes("a"), delivered("a0"), ...strikes("a", 9)],
      due: "never",
    },
    {
      from: "case 12: told, recovered, and three failures again",
      events: [...strikes("a"), delivered("a0"), succeeded("a", [7, 8], "a0"), ...strikes("a", 9)],
      due: "running: a9",
    },
    {
      from: "case 16: an exit that was declared",
      events: [failed("a", "rg", [1, 2], { expected: true })],
      due: "never",
    },
    {
      from: "case 36: marked open by the agent",
      events: [failed("a", "x", [1, 2]), disposed("open", "a")],
      afterMs: 60_999,
      due: "at 61000",
    },
    {
      from: "case 37: open, then recovered",
      events: [failed("a", "x", [1, 2]), disposed("open", "a"), succeeded("x", [3, 4], "a")],
      due: "never",
    },
    { from: "disposed as expected", events: [...strikes("a"), disposed("expected", "a0")], due: "never" },
    {
      from: "open after it was told",
      events: [...strikes("a"), delivered("a0"), disposed("open", "a0")],
      due: "never",
    },
    {
      from: "only counted at two, then the third",
      events: [...strikes("a").slice(0, 2), delivered("a0"), ...strikes("a").slice(2)],
      due: "running: a0",
    },
    {
      from: "only counted, then open",
      events: [failed("a", "x", [1, 2]), delivered("a"), disposed("open", "a")],
      due: "running: a",
    },
    {
      from: "only counted, then failed once more",
      events: [failed("a", "x", [1, 2]), delivered("a"), failed("b", "x", [3, 4])],
      due: "never",
    },
    { from: "no tool: a minute after it was first seen", events: [broke("exit", "x")], afterMs: 0, due: "at 60000" },
    { from: "seen again: no later", events: [broke("exit", "x"), broke("exit", "y")], afterMs: 0, due: "at 60000" },
    {
      from: "rejected calls never add up",
      events: [1, 2, 3].map((i) => ({ ...broke("rejected-intent", `r${i}`), operation: "r" })),
      due: "never",
    },
    { from: "a gap waits for the end", events: [gap("g", "scan")], due: "never" },
    {
      from: "of two, the one whose minute is over",
      events: [broke("exit", "x"), broke("model", "m")],
      afterMs: 60_500,
      due: "running: x",
    },
    { from: "of two, both; the newest first", events: [broke("exit", "x"), broke("model", "m")], due: "running: m x" },
  ])("$from", ({ events, afterMs = 10 * GRACE_MS, due }) => {
    expect(decided(events, afterMs)).toBe(due);
  });

  test("case 64: a run without callback tells nothing", () => {
    expect(decided([broke("exit", "x")], 10 * GRACE_MS, { meta: { callback: false, told: ["lost"] } })).toBe("never");
  });
});

describe("a gap that is found when no further callback follows", () => {
  test.each<{ from: string; told: DueFacts["meta"]["told"]; events: readonly JournalEvent[]; due: string }>([
    {
      from: "case 70: after the orphaned callback",
      told: ["orphaned"],
      events: [gap("g", "scan")],
      due: "late-gap: g",
    },
    { from: "after the lost callback", told: ["lost"], events: [gap("g", "scan")], due: "late-gap: g" },
    { from: "case 70: once", told: ["lost"], events: [gap("g", "scan"), delivered("g")], due: "never" },
    { from: "a completed run has told its gaps", told: ["completion"], events: [gap("g", "scan")], due: "never" },
    {
      from: "what requires action still has its minute",
      told: ["lost"],
      events: [broke("exit", "x")],
      due: "at 60000",
    },
  ])("$from", ({ told, events, due }) => {
    expect(decided(events, 5000, { meta: { callback: true, told } })).toBe(due);
  });
});

describe("while Ostler itself tries again (section 8, rule 7)", () => {
  const events = [broke("model", "m", "prompt")];
  test.each<{ from: string; until: number; afterMs: number; due: string }>([
    { from: "the retry goes on", until: Infinity, afterMs: 200_000, due: "never" },
    { from: "the retry ended before the minute was over", until: 30_000, afterMs: 0, due: "at 60000" },
    { from: "the retry ended later", until: 95_000, afterMs: 70_000, due: "at 95000" },
    { from: "that time has come", until: 95_000, afterMs: 95_000, due: "running: m" },
  ])("$from", ({ until, afterMs, due }) => {
    expect(decided(events, afterMs, { retryUntil: new Map([["prompt", STARTED_AT + until]]) })).toBe(due);
  });

  test("another operation does not wait for it", () => {
    expect(decided(events, GRACE_MS, { retryUntil: new Map([["another", Infinity]]) })).toBe("running: m");
  });
});

test("at its end: everything unresolved that was not told, tool failures as a number", () => {
  const state = fold([
    ...strikes("a"),
    delivered("a0"),
    broke("exit", "x"),
    failed("u", "npm test", [20, 21]),
    gap("g", "scan"),
    failed("e", "rg", [22, 23], { expected: true }),
    failed("r", "make", [24, 25]),
    succeeded("make", [26, 27], "r"),
  ]);
  const { moment, incidents, counted } = deliveryAtEnd(state, "completion");
  expect(moment).toBe("completion");
  expect(incidents.map(({ id }) => id)).toEqual(["g", "x"]);
  expect(counted.map(({ id }) => id)).toEqual(["u"]);
});
