/** What a row promises, in the form of an observation: its own words, and what no run may ever do. */
import { expect } from "vitest";
import type { Expected, Range } from "./scenario.ts";

/** For `toMatchObject`: an exact value everywhere but where the harness's own retries decide a count. */
export function promised(expected: Expected): Readonly<Record<string, unknown>> {
  const { exitCode, prompts, secondModelAsked = 0, files = [], stdout } = expected;
  return {
    exitCode,
    ...(stdout === undefined ? { result: promisedResult(expected) } : { stdout }),
    prompts: typeof prompts === "number" ? prompts : expect.toBeOneOf(numbersOf(prompts)),
    secondModelAsked,
    files: ["notes.txt", ...files].sort(),
    unkept: [],
    malformedOutput: [],
    stackTraces: [],
    secretsPrinted: [],
    secretsKept: [],
    processesLeft: [],
    outbound: expected.reachesOut ? expect.any(Array) : [],
  };
}

function promisedResult(expected: Expected): Readonly<Record<string, unknown>> {
  const { outcome, exitCode, failure, refusal = null, text = "", attempts = 1 } = expected;
  return {
    type: "result",
    outcome,
    exitCode,
    text,
    partial: text !== "" && outcome !== "completed",
    failure: failure === undefined ? null : { ...failure, transient: failure.retry !== "never" },
    refusal,
    attempts,
  };
}

function numbersOf([atLeast, atMost]: Range): number[] {
  return Array.from({ length: atMost - atLeast + 1 }, (_, index) => atLeast + index);
}
