import { expect, test } from "vitest";
import { Attempts } from "../../../src/failures/observation/attempts.ts";
import { RunSessions } from "../../../src/failures/observation/run-session.ts";

test("of many ended attempts the oldest successes are forgotten first, then the oldest others", () => {
  const sessions = new RunSessions();
  const session = sessions.get("s");
  const attempts = new Attempts(sessions, () => "operation", 3);
  const end = (id: string, outcome: "succeeded" | "failed", n: number): void => {
    const attempt = attempts.start(session, id, n);
    attempts.declare(attempt, { attemptId: `id-${id}` });
    attempts.spend(`id-${id}`);
    attempt.outcome = outcome;
    attempts.ended(attempt);
  };
  const kept = (): string[] =>
    ["f1", "s1", "f2", "s2", "f3", "f4"].filter((id) => attempts.byToolCallId(id) !== undefined);
  end("f1", "failed", 1);
  end("s1", "succeeded", 2);
  end("f2", "failed", 3);
  end("s2", "succeeded", 4);
  expect(kept()).toEqual(["f1", "f2", "s2"]);
  end("f3", "failed", 5);
  expect(kept()).toEqual(["f1", "f2", "f3"]);
  end("f4", "failed", 6);
  expect(kept()).toEqual(["f2", "f3", "f4"]);
  expect(attempts.byAttemptId("id-s1")).toBeUndefined();
  // What was named once stays spent.
  expect(attempts.isSpent("id-s1")).toBe(true);
});
