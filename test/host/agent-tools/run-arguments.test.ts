import { expect, test } from "vitest";
import { readNamedAttempt, readRunCall } from "../../../src/host/agent-tools/run-arguments.ts";

test.each([
  {
    from: "a command alone",
    input: { command: "npm test" },
    call: { command: "npm test", cwd: "/w", timeoutS: 600, intent: {} },
  },
  {
    from: "everything",
    input: {
      command: "rg x",
      cwd: "src",
      timeout: 1.5,
      operationId: "search",
      attemptId: "search-1",
      expectedExitCodes: [1],
    },
    call: {
      command: "rg x",
      cwd: "/w/src",
      timeoutS: 1.5,
      intent: { operationId: "search", attemptId: "search-1", expectedExitCodes: [1] },
    },
  },
  {
    from: "null and empty ids are absent (failure observations, section 9.1)",
    input: { command: "ls", cwd: null, timeout: null, operationId: "", attemptId: null, expectedExitCodes: null },
    call: { command: "ls", cwd: "/w", timeoutS: 600, intent: {} },
  },
  {
    from: "failure observations, case 25",
    input: { command: "ls", expectedExitCodes: [0, 1] },
    call: { command: "ls", cwd: "/w", timeoutS: 600, intent: { expectedExitCodes: [1] } },
  },
  {
    from: "another folder",
    input: { command: "ls", cwd: "/elsewhere", timeout: 3600 },
    call: { command: "ls", cwd: "/elsewhere", timeoutS: 3600, intent: {} },
  },
])("taken: $from", ({ input, call }) => {
  expect(readRunCall(input, "/w")).toEqual({ ok: true, call });
});

const CODES = "expectedExitCodes must be a list of 1 to 16 different whole numbers from 1 to 255";
const COMMAND = "command must be a text of 1 to 100000 bytes, not blank";
const TIMEOUT = "timeout must be a number of seconds above 0 and up to 3600";

test.each([
  { from: "no object", input: "npm test", reason: "The arguments are not an object with a command" },
  { from: "no command", input: {}, reason: COMMAND },
  { from: "a blank command", input: { command: " \n" }, reason: COMMAND },
  { from: "a list of words", input: { command: ["npm", "test"] }, reason: COMMAND },
  { from: "a command of 100,001 characters", input: { command: "x".repeat(100_001) }, reason: COMMAND },
  { from: "as many in fewer characters", input: { command: "é".repeat(50_001) }, reason: COMMAND },
  { from: "a zero byte", input: { command: "a\0b" }, reason: "command must not hold a zero byte" },
  { from: "a number as folder", input: { command: "ls", cwd: 1 }, reason: /^cwd must be the path of a folder/ },
  { from: "a timeout as text", input: { command: "ls", timeout: "5" }, reason: TIMEOUT },
  { from: "a timeout of 0", input: { command: "ls", timeout: 0 }, reason: TIMEOUT },
  { from: "a timeout above the longest", input: { command: "ls", timeout: 3601 }, reason: TIMEOUT },
  { from: "failure observations, case 24: twice", input: { command: "ls", expectedExitCodes: [1, 1] }, reason: CODES },
  { from: "failure observations, case 24: 256", input: { command: "ls", expectedExitCodes: [256] }, reason: CODES },
  { from: "failure observations, case 24: empty", input: { command: "ls", expectedExitCodes: [] }, reason: CODES },
  { from: "failure observations, case 24: a text", input: { command: "ls", expectedExitCodes: "1" }, reason: CODES },
  { from: "an id as number", input: { command: "ls", attemptId: 7 }, reason: /^attemptId must be/ },
  {
    from: "a flag of no tool",
    input: { command: "ls", force: true },
    reason: /^There is no field "force"; the fields are/,
  },
  {
    from: "a field as another tool spells it",
    input: { command: "ls", operation_id: "x" },
    reason: 'There is no field "operation_id"; did you mean operationId?',
  },
])("refused: $from", ({ input, reason }) => {
  const read = readRunCall(input, "/w");
  expect(read.ok ? "taken" : read.reason).toMatch(reason);
});

test.each([
  { from: "well-formed", input: { attemptId: "a1" }, named: "a1" },
  { from: "not accepted", input: { attemptId: "not an id" }, named: "not an id" },
  { from: "none", input: { command: "ls" }, named: undefined },
  { from: "no text", input: { attemptId: 5 }, named: undefined },
  { from: "no arguments", input: null, named: undefined },
])("the attempt that a call names: $from", ({ input, named }) => {
  expect(readNamedAttempt(input)).toBe(named);
});
