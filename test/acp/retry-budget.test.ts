import { describe, expect, test } from "vitest";
import { createRetryBudget } from "../../src/acp/retry-budget.ts";

/** What happens to a budget: seconds that pass, or a call. */
type Step = number | "take" | "giveBack" | "landed" | "spend";

describe("how many tries are left of three", () => {
  test.each<{ from: string; steps: readonly Step[]; left: number }>([
    { from: "at first", steps: [], left: 3 },
    { from: "each try takes one", steps: ["take", "take"], left: 1 },
    { from: "not less than none", steps: ["take", "take", "take", "take"], left: 0 },
    { from: "one that was dropped comes back", steps: ["take", "take", "giveBack"], left: 2 },
    { from: "more is not handed back than was taken", steps: ["giveBack", "giveBack"], left: 3 },
    { from: "a turn that landed returns all", steps: ["take", "take", "take", "landed"], left: 3 },
    { from: "a minute after the last try", steps: ["take", "take", 60], left: 3 },
    { from: "not sooner", steps: ["take", "take", 59.9], left: 1 },
    { from: "counted from the last, not from the first", steps: ["take", 59, "take", 59], left: 1 },
    { from: "a try after that begins anew", steps: ["take", "take", 61, "take"], left: 2 },
    { from: "nothing may be tried again", steps: ["spend"], left: 0 },
    { from: "until a turn lands", steps: ["spend", "landed"], left: 3 },
    { from: "a try that was handed back late takes no other with it", steps: ["take", 61, "giveBack"], left: 3 },
  ])("$from", ({ steps, left }) => {
    let now = 5000;
    const budget = createRetryBudget(3, () => now);
    for (const step of steps) {
      if (typeof step === "number") now += step * 1000;
      else budget[step]();
    }
    expect(budget.left).toBe(left);
  });
});

test("a try is refused when none is left", () => {
  const budget = createRetryBudget(1);
  expect(budget.take()).toBe(true);
  expect(budget.take()).toBe(false);
});

test("a budget of nothing allows nothing, however long one waits", () => {
  let now = 0;
  const budget = createRetryBudget(0, () => now);
  now = 120_000;
  expect(budget.take()).toBe(false);
  expect(budget.left).toBe(0);
});
