/** The end of a background command as an event, and which runs try the same thing. */
import { describe, expect, test } from "vitest";
import { eventOfExit, operationOfCommand } from "../../../src/failures/observation/command-exit.ts";
import type { CommandEnding, CommandFacts } from "../../../src/failures/observation/command-exit.ts";

const RUN: CommandFacts = { id: "cm_mx3jkhdqwzf3_1", kind: "command", cwd: "/w" };
const ENDING: CommandEnding = { code: 0, signal: null, timedOut: false };
const SEEN = { at: 5, evidence: "output.log#byte=6" };

test.each<{ from: string; command?: Partial<CommandFacts>; ending: Partial<CommandEnding>; event: object | undefined }>(
  [
    { from: "exit 0", ending: {}, event: undefined },
    { from: "exit 0 with declared codes", command: { expectedExitCodes: [1] }, ending: {}, event: undefined },
    {
      from: "another code",
      ending: { code: 3 },
      event: { category: "exit", expected: false, exitCode: 3, summary: "The command exited with 3" },
    },
    {
      from: "failure observations, case 16: a declared code",
      command: { expectedExitCodes: [1] },
      ending: { code: 1 },
      event: { category: "exit", expected: true, exitCode: 1, summary: "The command exited with 1" },
    },
    {
      from: "failure observations, case 17: a code beside the declared one",
      command: { expectedExitCodes: [1] },
      ending: { code: 2 },
      event: { category: "exit", expected: false, exitCode: 2, summary: "The command exited with 2" },
    },
    {
      from: "failure observations, case 18: its time is up, and it ends with the declared code",
      command: { expectedExitCodes: [1] },
      ending: { code: 1, timedOut: true },
      event: { category: "exit", expected: false, exitCode: 1, summary: "The command timed out" },
    },
    {
      from: "its time is up, and it ends well",
      ending: { code: 0, timedOut: true },
      event: { category: "exit", expected: false, exitCode: 0, summary: "The command timed out" },
    },
    {
      from: "a signal",
      command: { expectedExitCodes: [1] },
      ending: { code: null, signal: "SIGKILL" },
      event: {
        category: "exit",
        expected: false,
        exitCode: null,
        signal: "SIGKILL",
        summary: "The command was ended by SIGKILL",
      },
    },
    {
      from: "no start",
      command: { expectedExitCodes: [1] },
      ending: { code: null, problem: "It is not there" },
      event: { category: "supervision", expected: false, exitCode: null, summary: "It is not there" },
    },
  ],
)("$from", ({ command, ending, event }) => {
  const run = { ...RUN, ...command };
  const seen = eventOfExit(run, { ...ENDING, ...ending }, SEEN);
  const whole = { id: "exit:cm_mx3jkhdqwzf3_1:1", kind: "failure", operation: operationOfCommand(run), ...SEEN };
  expect(seen).toEqual(event === undefined ? undefined : { ...whole, ...event });
});

describe("the operation", () => {
  const declared = { ...RUN, operationId: "deploy" };

  test("of a declared id is the same in every run of that kind and folder, whatever the command", () => {
    expect(operationOfCommand({ ...declared, id: "cm_other0_2", expectedExitCodes: [1] })).toBe(
      operationOfCommand(declared),
    );
  });

  test.each<{ from: string; other: CommandFacts }>([
    { from: "another id", other: { ...declared, operationId: "deploy-2" } },
    { from: "another folder", other: { ...declared, cwd: "/w/sub" } },
    { from: "another kind", other: { ...declared, kind: "watch" } },
    { from: "none declared", other: RUN },
  ])("is another with $from", ({ other }) => {
    expect(operationOfCommand(other)).not.toBe(operationOfCommand(declared));
  });

  test("of no id is that run's alone", () => {
    expect(operationOfCommand({ ...RUN, id: "cm_other0_2" })).not.toBe(operationOfCommand(RUN));
  });
});
