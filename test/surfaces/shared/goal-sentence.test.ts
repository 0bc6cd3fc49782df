/** A goal in words: one line on every surface, without secrets and control characters, and said once. */
import { describe, expect, test } from "vitest";
import { Remarks } from "../../../src/surfaces/cli/remarks.ts";
import { ScrubbedEvents } from "../../../src/surfaces/cli/scrubbed-events.ts";
import { goalSentence } from "../../../src/surfaces/shared/goal-sentence.ts";

const KEY = "sk-proj-1234567890abcdefghijklmnop";

describe("a goal in one line", () => {
  test.each([
    { goal: undefined, line: "The agent has not said whether there is a goal" },
    { goal: null, line: "No goal" },
    { goal: { objective: "Ship it", status: "paused" }, line: "Goal paused: Ship it" },
    {
      goal: { objective: "Ship it", status: "active", iterations: 3, lastReason: "Tests still need work" },
      line: "Goal active: Ship it (round 3; Tests still need work)",
    },
    { goal: { objective: "Ship it", status: "active", iterations: 0 }, line: "Goal active: Ship it" },
    { goal: { objective: "Ship\u001b[31m\nit", status: "active" }, line: "Goal active: Ship it" },
    { goal: { objective: `Use ${KEY}`, status: "blocked" }, line: "Goal blocked: Use [redacted]" },
  ] as const)("$line", ({ goal, line }) => {
    expect(goalSentence(goal)).toBe(line);
  });

  test("what only counts on is not said again", () => {
    const remarks = new Remarks();
    const goal = { objective: "Ship it", status: "active", tokensUsed: 1 } as const;
    expect(remarks.of({ type: "goal", goal })).toEqual([{ text: "◎ Goal active: Ship it", tone: "dim" }]);
    expect(remarks.of({ type: "goal", goal: { ...goal, tokensUsed: 2 } })).toEqual([]);
    expect(remarks.of({ type: "goal", goal: null })).toEqual([{ text: "◎ No goal", tone: "dim" }]);
  });

  test("an event for a program keeps its numbers and loses its secrets", () => {
    const goal = { objective: `Use ${KEY}`, status: "active", lastReason: `No ${KEY}`, tokensUsed: 7 } as const;
    expect(new ScrubbedEvents().of({ type: "goal", goal, outsidePrompt: true })).toEqual({
      type: "goal",
      goal: { objective: "Use [redacted]", status: "active", lastReason: "No [redacted]", tokensUsed: 7 },
      outsidePrompt: true,
    });
    expect(new ScrubbedEvents().of({ type: "goal", goal: null })).toEqual({ type: "goal", goal: null });
  });
});
