import { describe, expect, test } from "vitest";
import type { QuestionField, QuestionValue } from "../../../src/acp/questions.ts";
import { readTyped, renderAnswer, renderField } from "../../../src/surfaces/cli/question-words.ts";
import type { Typed } from "../../../src/surfaces/cli/question-words.ts";

const field = (more: Partial<QuestionField> = {}): QuestionField => ({
  id: "a",
  label: "Colour",
  kind: "text",
  choices: [],
  required: false,
  ...more,
});
const CHOICES = [
  { value: "r", label: "Red", description: "Warm" },
  { value: "b", label: "Blue" },
];
const ONE = field({ kind: "choice", choices: CHOICES });
const ONE_OR_OWN = field({ kind: "choice", choices: CHOICES, customId: "a_custom" });
const MANY = field({ kind: "choices", choices: CHOICES, max: 1 });
const MANY_OR_OWN = field({ kind: "choices", choices: CHOICES, customId: "a_custom" });

const value = (given: QuestionValue): Typed => ({ kind: "value", value: given });
const problem = (text: string): Typed => ({ kind: "problem", problem: text });

describe("what a line means", () => {
  test.each<{ from: string; field: QuestionField; lines: readonly [typed: string, meaning: Typed][] }>([
    {
      from: "a text, as it was typed",
      field: field({ max: 5 }),
      lines: [
        [" a b ", value(" a b ")],
        ["", { kind: "empty" }],
        ["  ", { kind: "empty" }],
        ["abcdef", problem("It is more than 5 characters")],
      ],
    },
    {
      from: "yes or no",
      field: field({ kind: "boolean" }),
      lines: [
        ["Y", value(true)],
        ["yes", value(true)],
        ["no", value(false)],
        ["1", problem("Type y or n")],
      ],
    },
    {
      from: "a number",
      field: field({ kind: "number", max: 10 }),
      lines: [
        ["1.5", value(1.5)],
        ["-.5", value(-0.5)],
        ["1e1", value(10)],
        ["0x10", problem("Type a number")],
        ["1,5", problem("Type a number")],
        ["Infinity", problem("Type a number")],
        ["1e999", problem("It is a number")],
        ["11", problem("It is more than 10")],
      ],
    },
    {
      from: "a whole number",
      field: field({ kind: "integer" }),
      lines: [
        ["3", value(3)],
        ["3.5", problem("It is a whole number")],
      ],
    },
    {
      from: "one choice",
      field: ONE,
      lines: [
        ["1", value("r")],
        [" 2 ", value("b")],
        ["blue", value("b")],
        ["0", problem("Type a number from 1 to 2")],
        ["3", problem("Type a number from 1 to 2")],
        ["1,2", problem("Type a number from 1 to 2")],
        ["green", problem("Type a number from 1 to 2")],
      ],
    },
    {
      from: "one choice, or words of one's own",
      field: ONE_OR_OWN,
      lines: [
        ["2", value("b")],
        ["3", { kind: "other", picked: [] }],
        ["dark green", { kind: "custom", text: "dark green" }],
        ["42", problem("Type a number from 1 to 3")],
      ],
    },
    {
      from: "several choices",
      field: MANY,
      lines: [
        ["1", value(["r"])],
        ["Red", value(["r"])],
        ["1,1", value(["r"])],
        ["1, 2", problem("It is more than 1 choice")],
        ["1 3", problem("Type numbers from 1 to 2")],
      ],
    },
    {
      from: "several choices and words of one's own",
      field: MANY_OR_OWN,
      lines: [
        ["1 2", value(["r", "b"])],
        ["1,3", { kind: "other", picked: ["r"] }],
        ["red and green", { kind: "custom", text: "red and green" }],
      ],
    },
  ])("$from", ({ field: asked, lines }) => {
    expect(lines.map(([typed]) => [typed, readTyped(asked, typed)])).toEqual(lines);
  });
});

describe("what is shown", () => {
  test.each<{ from: string; field: QuestionField; shown: readonly string[] }>([
    {
      from: "choices with Other",
      field: { ...ONE_OR_OWN, description: "Of the door" },
      shown: [
        "  Colour: Of the door",
        "  1) Red: Warm",
        "  2) Blue",
        "  3) Other: in your own words",
        "Answer with a number or in your own words; Enter skips it.",
      ],
    },
    {
      from: "a default",
      field: { ...MANY, defaultValue: ["r", "b"] },
      shown: ["  Colour", "  1) Red: Warm", "  2) Blue", "Answer with numbers (1,3); Enter takes Red, Blue."],
    },
    {
      from: "a required date",
      field: field({ label: "Day", format: "date", required: true }),
      shown: ["  Day", "Type a date like 2026-11-30; an answer is required."],
    },
    {
      from: "a default of no",
      field: field({ label: "Sure?", kind: "boolean", defaultValue: false }),
      shown: ["  Sure?", "Answer with y or n; Enter takes no."],
    },
    {
      from: "words of a hostile agent stay on their line, without control characters and secrets",
      field: field({
        label: "a\u001b[2J\nb",
        kind: "choice",
        choices: [{ value: "x", label: "key sk-ant-api03-REDACTME0123456789abcdef\r" }],
      }),
      shown: ["  a b", "  1) key [redacted]", "Answer with a number; Enter skips it."],
    },
  ])("$from", ({ field: asked, shown }) => {
    expect(renderField(asked).split("\n")).toEqual(shown);
  });

  test.each<{ from: string; field: QuestionField; given?: QuestionValue; custom?: string; shown: string }>([
    { from: "nothing", field: ONE, shown: "(no answer)" },
    { from: "a choice by its name", field: ONE, given: "r", shown: "Red" },
    {
      from: "choices and words",
      field: MANY_OR_OWN,
      given: ["r", "b"],
      custom: "and more",
      shown: "Red, Blue; and more",
    },
    { from: "a yes", field: field({ kind: "boolean" }), given: true, shown: "yes" },
    { from: "a number", field: field({ kind: "number" }), given: 1.5, shown: "1.5" },
  ])("an answer: $from", ({ field: asked, given, custom, shown }) => {
    expect(renderAnswer(asked, given, custom)).toBe(shown);
  });
});
