import { describe, expect, test } from "vitest";
import { checkAnswer, problemOf, questionProblems } from "../../src/acp/question-answer.ts";
import type { QuestionAnswer, QuestionField, QuestionRequest, QuestionValue } from "../../src/acp/questions.ts";
import { cpuMs } from "../cpu-time.ts";

const field = (more: Partial<QuestionField> = {}): QuestionField => ({
  id: "a",
  label: "A",
  kind: "text",
  choices: [],
  required: false,
  ...more,
});
const XY = [
  { value: "x", label: "X" },
  { value: "y", label: "Y" },
];
const requestOf = (...fields: readonly QuestionField[]): QuestionRequest => ({ sessionId: "s", message: "?", fields });

describe("one value", () => {
  test.each<{
    from: string;
    field: Partial<QuestionField>;
    good: readonly QuestionValue[];
    bad: readonly [QuestionValue, string][];
  }>([
    {
      from: "text",
      field: { min: 2, max: 3 },
      good: ["ab", "abc", "😀😀😀"],
      bad: [
        ["a", "It is less than 2 characters"],
        ["abcd", "It is more than 3 characters"],
        [3, "It is a text"],
        [["ab"], "It is a text"],
      ],
    },
    {
      from: "a text of any length, within reason",
      field: {},
      good: ["", "x".repeat(100_000)],
      bad: [["x".repeat(100_001), "It is longer than 100000 characters"]],
    },
    {
      from: "a pattern",
      field: { pattern: "^[a-z]+$" },
      good: ["abc"],
      bad: [["ABC", "It does not fit the pattern ^[a-z]+$"]],
    },
    { from: "a pattern that is none is the agent's to judge", field: { pattern: "(" }, good: ["abc"], bad: [] },
    {
      from: "an e-mail address",
      field: { format: "email" },
      good: ["a@b"],
      bad: [
        ["a", "It is not an e-mail address"],
        ["a b@c", "It is not an e-mail address"],
      ],
    },
    {
      from: "a URI",
      field: { format: "uri" },
      good: ["https://example.com/x", "urn:isbn:1"],
      bad: [
        ["example.com", "It is not a URI with its scheme"],
        ["https://a b", "It is not a URI with its scheme"],
      ],
    },
    {
      from: "a date",
      field: { format: "date" },
      good: ["2026-11-30", "2024-02-29"],
      bad: [
        ["2026-02-30", "It is not a date like 2026-11-30"],
        ["30.11.2026", "It is not a date like 2026-11-30"],
        ["2026-13-01", "It is not a date like 2026-11-30"],
      ],
    },
    {
      from: "a time",
      field: { format: "date-time" },
      good: ["2026-11-30T14:00:00Z", "2026-11-30t14:00:00.5+02:00"],
      bad: [
        ["2026-11-30", "It is not a time like 2026-11-30T14:00:00Z"],
        ["2026-11-30T25:00:00Z", "It is not a time like 2026-11-30T14:00:00Z"],
        ["2026-11-30T14:00:00", "It is not a time like 2026-11-30T14:00:00Z"],
      ],
    },
    {
      from: "a number",
      field: { kind: "number", min: -1, max: 1.5 },
      good: [-1, 0.25, 1.5],
      bad: [
        [-1.1, "It is less than -1"],
        [2, "It is more than 1.5"],
        [Number.NaN, "It is a number"],
        [Infinity, "It is a number"],
        ["1", "It is a number"],
      ],
    },
    {
      from: "a whole number",
      field: { kind: "integer" },
      good: [0, -7],
      bad: [
        [0.5, "It is a whole number"],
        [2 ** 60, "It is a whole number"],
      ],
    },
    { from: "yes or no", field: { kind: "boolean" }, good: [true, false], bad: [["yes", "It is a yes or a no"]] },
    {
      from: "a choice",
      field: { kind: "choice", choices: XY },
      good: ["x"],
      bad: [
        ["X", "It is none of the choices"],
        ["toString", "It is none of the choices"],
        [["x"], "It is none of the choices"],
      ],
    },
    {
      from: "several choices",
      field: { kind: "choices", choices: XY, min: 1, max: 1 },
      good: [["x"], ["y"]],
      bad: [
        [[], "It is less than 1 choice"],
        [["x", "y"], "It is more than 1 choice"],
        [["x", "x"], "A choice is made twice"],
        [["z"], "It is none of the choices"],
        ["x", "It is a list of choices"],
      ],
    },
  ])("$from", ({ field: rules, good, bad }) => {
    expect(good.map((value) => problemOf(field(rules), value))).toEqual(good.map(() => undefined));
    expect(bad.map(([value]) => [value, problemOf(field(rules), value)])).toEqual(bad);
  });

  test("a pattern that goes back and forth for ever does not hold up the process", () => {
    const before = cpuMs();
    expect(problemOf(field({ pattern: "^(a+)+$" }), `${"a".repeat(60)}!`)).toBeUndefined();
    expect(cpuMs() - before).toBeLessThan(500);
  });
});

describe("a whole form", () => {
  const request = requestOf(
    field({ id: "a", required: true }),
    field({ id: "b", label: "B", kind: "choice", choices: XY, customId: "b_custom", required: true }),
    field({ id: "c", label: "C", kind: "integer" }),
  );
  test.each<{ from: string; content: Record<string, QuestionValue>; problems: readonly string[] }>([
    { from: "everything", content: { a: "t", b: "x", c: 1 }, problems: [] },
    { from: "what is not required may be missing", content: { a: "t", b: "x" }, problems: [] },
    { from: "an answer of one's own stands for the choice", content: { a: "t", b_custom: "Green" }, problems: [] },
    { from: "both: the note to a choice", content: { a: "t", b: "x", b_custom: "dark" }, problems: [] },
    {
      from: "nothing",
      content: {},
      problems: ["A: An answer is required", "B: An answer is required"],
    },
    {
      from: "an answer of one's own that says nothing",
      content: { a: "t", b_custom: "  " },
      problems: ["B: An answer of one's own is a text"],
    },
    {
      from: "a field that is not there",
      content: { a: "t", b: "x", d: 1 },
      problems: ["There is no field d"],
    },
    { from: "a value of the wrong type", content: { a: "t", b: "x", c: "1" }, problems: ["C: It is a number"] },
  ])("$from", ({ content, problems }) => {
    expect(questionProblems(request, content)).toEqual(problems);
  });
});

describe("what goes back", () => {
  const request = requestOf(field({ kind: "choice", choices: XY, label: "Colour" }));
  const wrong = (answer: unknown): QuestionAnswer => checkAnswer(request, JSON.parse(JSON.stringify(answer ?? null)));
  test.each<{ from: string; answer: unknown; expected: object }>([
    {
      from: "a good answer",
      answer: { action: "accept", content: { a: "x" } },
      expected: { action: "accept", content: { a: "x" } },
    },
    { from: "no wish to answer", answer: { action: "decline" }, expected: { action: "decline" } },
    { from: "nobody decided", answer: { action: "cancel", reason: "r" }, expected: { action: "cancel", reason: "r" } },
    {
      from: "a choice that was not offered",
      answer: { action: "accept", content: { a: "z" } },
      expected: { action: "cancel", reason: "The answer was not sent. Colour: It is none of the choices" },
    },
    {
      from: "no content",
      answer: { action: "accept" },
      expected: { action: "cancel", reason: "The answer was not sent: it is none" },
    },
    {
      from: "a list",
      answer: { action: "accept", content: ["x"] },
      expected: { action: "cancel", reason: "The answer was not sent: it is none" },
    },
    {
      from: "another word",
      answer: { action: "yes" },
      expected: { action: "cancel", reason: "The answer was not sent: it is none" },
    },
    {
      from: "nothing at all",
      answer: null,
      expected: { action: "cancel", reason: "The answer was not sent: it is none" },
    },
  ])("$from", ({ answer, expected }) => {
    expect(wrong(answer)).toEqual(expected);
  });
});
