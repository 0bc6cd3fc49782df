import { describe, expect, test } from "vitest";
import { readIntent } from "../../../src/failures/observation/intent-rules.ts";

const ID = "must be 1 to 64 of the characters A-Z a-z 0-9 . _ : / - that begin with a letter or a digit";
const CODES = "must be a list of 1 to 16 different whole numbers from 1 to 255";

describe("a declared intent", () => {
  test.each([
    { from: "nothing declared", input: { command: "ls" }, intent: {} },
    { from: "no object", input: "ls", intent: {} },
    {
      from: "section 9.1, ids",
      input: { operationId: "unit:tests/a_b.c-1", attemptId: "7" },
      intent: { operationId: "unit:tests/a_b.c-1", attemptId: "7" },
    },
    { from: "section 9.1, 64 characters", input: { attemptId: "a".repeat(64) }, intent: { attemptId: "a".repeat(64) } },
    {
      from: "section 9.1, null and empty string",
      input: { operationId: null, attemptId: "", expectedExitCodes: null },
      intent: {},
    },
    { from: "case 25", input: { expectedExitCodes: [0, 1] }, intent: { expectedExitCodes: [1] } },
    { from: "case 25, only zeros", input: { expectedExitCodes: [0] }, intent: {} },
    { from: "the bounds", input: { expectedExitCodes: [1, 255] }, intent: { expectedExitCodes: [1, 255] } },
    {
      from: "16 codes",
      input: { expectedExitCodes: Array.from({ length: 16 }, (_, index) => index + 1) },
      intent: { expectedExitCodes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] },
    },
  ])("is taken: $from", ({ input, intent }) => {
    expect(readIntent(input)).toEqual({ ok: true, intent });
  });

  test.each([
    { from: "case 24, a code twice", input: { expectedExitCodes: [1, 1] }, reason: `expectedExitCodes ${CODES}` },
    { from: "case 24, 256", input: { expectedExitCodes: [256] }, reason: `expectedExitCodes ${CODES}` },
    { from: "case 24, an empty list", input: { expectedExitCodes: [] }, reason: `expectedExitCodes ${CODES}` },
    { from: "case 24, a text", input: { expectedExitCodes: "1" }, reason: `expectedExitCodes ${CODES}` },
    { from: "a numeric text in the list", input: { expectedExitCodes: ["1"] }, reason: `expectedExitCodes ${CODES}` },
    { from: "a fraction", input: { expectedExitCodes: [1.5] }, reason: `expectedExitCodes ${CODES}` },
    { from: "a negative code", input: { expectedExitCodes: [-1] }, reason: `expectedExitCodes ${CODES}` },
    {
      from: "17 codes",
      input: { expectedExitCodes: Array.from({ length: 17 }, (_, index) => index + 1) },
      reason: `expectedExitCodes ${CODES}`,
    },
    { from: "a number as id", input: { operationId: 7 }, reason: `operationId ${ID}` },
    { from: "a boolean as id", input: { attemptId: true }, reason: `attemptId ${ID}` },
    { from: "a space", input: { operationId: "unit tests" }, reason: `operationId ${ID}` },
    { from: "a dot first", input: { attemptId: ".a" }, reason: `attemptId ${ID}` },
    { from: "65 characters", input: { attemptId: "a".repeat(65) }, reason: `attemptId ${ID}` },
    { from: "a line end", input: { operationId: "a\n" }, reason: `operationId ${ID}` },
  ])("is refused whole: $from", ({ input, reason }) => {
    expect(readIntent({ command: "ls", attemptId: "good", ...input })).toEqual({ ok: false, reason });
  });
});
