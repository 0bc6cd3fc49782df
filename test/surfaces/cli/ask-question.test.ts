import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { QuestionAnswer, QuestionField, QuestionRequest } from "../../../src/acp/questions.ts";
import { createAskPerson } from "../../../src/surfaces/cli/ask-person.ts";
import { createAskQuestion } from "../../../src/surfaces/cli/ask-question.ts";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { PersonQueue } from "../../../src/surfaces/cli/person-input.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { Collector } from "./run-main.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const field = (id: string, more: Partial<QuestionField> = {}): QuestionField => ({
  id,
  label: id,
  kind: "text",
  choices: [],
  required: false,
  ...more,
});
const COLOUR = field("colour", {
  kind: "choice",
  choices: [
    { value: "red", label: "Red" },
    { value: "blue", label: "Blue" },
  ],
  customId: "colour_custom",
});
const form = (...fields: readonly QuestionField[]): QuestionRequest => ({
  sessionId: "s",
  message: "Which colour?",
  fields,
});

/** A terminal with somebody at it. */
function person(keyboard = new PassThrough()) {
  const screen = new Collector({ isTTY: true });
  const terminal = new Terminal({
    stdout: new BatchedOutput(screen),
    stdoutIsTerminal: true,
    stderr: screen,
    env: {},
    noColor: true,
  });
  const stdin = { kind: "terminal", shared: false, open: () => keyboard } as const;
  const queue = new PersonQueue();
  const ask = createAskQuestion({ stdin }, terminal, { queue, agent: () => "claude" });
  const askPerson = createAskPerson({ stdin }, terminal, { queue, onNo: () => {} });
  const shown = () => screen.text.replaceAll("\r\u001b[K", "").trimEnd().split("\n");
  return { ask, askPerson, keyboard, screen, shown };
}

const never = () => new AbortController().signal;
const accept = (content: Record<string, string | number | boolean | string[]>): QuestionAnswer => ({
  action: "accept",
  content,
});

describe("a form, line by line", () => {
  test.each<{ from: string; fields: readonly QuestionField[]; typed: readonly string[]; answer: QuestionAnswer }>([
    { from: "a choice", fields: [COLOUR], typed: ["2"], answer: accept({ colour: "blue" }) },
    { from: "words of one's own", fields: [COLOUR], typed: ["Green"], answer: accept({ colour_custom: "Green" }) },
    { from: "Other, then a number", fields: [COLOUR], typed: ["3", " 42 "], answer: accept({ colour_custom: "42" }) },
    { from: "Other, and back", fields: [COLOUR], typed: ["3", "", "1"], answer: accept({ colour: "red" }) },
    {
      from: "choices and words",
      fields: [{ ...COLOUR, kind: "choices" }],
      typed: ["1,3", "and pink"],
      answer: accept({ colour: ["red"], colour_custom: "and pink" }),
    },
    {
      from: "too few choices beside the words: again",
      fields: [{ ...COLOUR, kind: "choices", min: 2 }],
      typed: ["1,3", "and pink", "1 2"],
      answer: accept({ colour: ["red", "blue"] }),
    },
    { from: "nothing: declined", fields: [COLOUR], typed: [""], answer: { action: "decline" } },
    {
      from: "a wrong answer is asked again",
      fields: [field("n", { kind: "integer", min: 1 })],
      typed: ["x", "0", "7"],
      answer: accept({ n: 7 }),
    },
    {
      from: "Enter takes the default",
      fields: [field("n", { kind: "integer", defaultValue: 3 })],
      typed: [""],
      answer: accept({ n: 3 }),
    },
    {
      from: "what is required is asked again, and declined by a second Enter",
      fields: [field("name", { required: true }), field("other")],
      typed: ["", ""],
      answer: { action: "decline" },
    },
    {
      from: "what is required, after one Enter",
      fields: [field("name", { required: true })],
      typed: ["", "Ann"],
      answer: accept({ name: "Ann" }),
    },
    {
      from: "several fields are shown once more before they are sent",
      fields: [COLOUR, field("name"), field("sure", { kind: "boolean" })],
      typed: ["1", "", "y", ""],
      answer: accept({ colour: "red", sure: true }),
    },
    {
      from: "an answer is changed in the review",
      fields: [COLOUR, field("name")],
      typed: ["1", "Ann", "1", "Green", ""],
      answer: accept({ colour_custom: "Green", name: "Ann" }),
    },
    {
      from: "a review that is declined",
      fields: [COLOUR, field("name")],
      typed: ["1", "Ann", "9", "-"],
      answer: { action: "decline" },
    },
    { from: "all skipped: declined", fields: [COLOUR, field("name")], typed: ["", ""], answer: { action: "decline" } },
    { from: "a form without fields", fields: [], typed: ["maybe", "yes"], answer: accept({}) },
    { from: "Enter is no yes", fields: [], typed: [""], answer: { action: "decline" } },
    { from: "nor is no", fields: [], typed: ["no"], answer: { action: "decline" } },
    {
      from: "keys of a prototype",
      fields: [field("__proto__")],
      typed: ["x"],
      answer: accept(JSON.parse('{"__proto__":"x"}')),
    },
  ])("$from", async ({ fields, typed, answer }) => {
    const { ask, keyboard } = person();
    const answered = ask(form(...fields), never());
    keyboard.write(typed.map((line) => `${line}\n`).join(""));
    expect(await answered).toEqual(answer);
    keyboard.end();
  });
});

test("what the person sees of one question", async () => {
  const { ask, keyboard, shown } = person();
  const answered = ask(form(COLOUR), never());
  keyboard.write("9\n3\nGreen\n");
  await answered;
  expect(shown()).toEqual([
    "claude asks: Which colour?",
    "  colour",
    "  1) Red",
    "  2) Blue",
    "  3) Other: in your own words",
    "Answer with a number or in your own words; Enter skips it.",
    "Type a number from 1 to 3.",
    "Type your answer; Enter goes back to the choices.",
  ]);
});

test("what the person sees of several", async () => {
  const { ask, keyboard, shown } = person();
  const answered = ask(form(COLOUR, field("name")), never());
  keyboard.write("2\n\n\n");
  await answered;
  expect(shown()).toEqual([
    "claude asks: Which colour?",
    "Question 1 of 2",
    "  colour",
    "  1) Red",
    "  2) Blue",
    "  3) Other: in your own words",
    "Answer with a number or in your own words; Enter skips it.",
    "Question 2 of 2",
    "  name",
    "Type your answer; Enter skips it.",
    "Your answers:",
    "  1) colour: Blue",
    "  2) name: (no answer)",
    "Enter sends them; a number changes one; - declines to answer.",
  ]);
});

test("a question that is withdrawn leaves the screen", async () => {
  const { ask, screen, shown } = person();
  const over = new AbortController();
  const answered = ask(form(COLOUR), over.signal);
  await vi.waitUntil(() => screen.text.includes("Enter skips it"));
  over.abort("The agent took the question back");
  expect(await answered).toEqual({ action: "cancel", reason: "Nobody answered" });
  expect(shown().at(-1)).toBe("The question is closed.");
});

test("at the end of the input nobody answers, neither this question nor the next", async () => {
  const { ask, keyboard, screen } = person();
  keyboard.end();
  const nobody = { action: "cancel", reason: "Nobody answered" };
  expect(await Promise.all([ask(form(COLOUR), never()), ask(form(field("second")), never())])).toEqual([
    nobody,
    nobody,
  ]);
  expect(screen.text).not.toContain("second");
});

test("questions and permissions wait for each other", async () => {
  const { ask, askPerson, keyboard, screen } = person();
  const question = ask(form(COLOUR), never());
  const permission = askPerson(
    {
      sessionId: "s",
      toolCallId: "t",
      title: "rm -rf x",
      paths: [],
      options: [
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ],
      isQuestion: false,
    },
    never(),
    "",
  );
  await vi.waitUntil(() => screen.text.includes("Enter skips it"));
  expect(screen.text).not.toContain("rm -rf x");
  keyboard.write("1\n");
  expect(await question).toEqual(accept({ colour: "red" }));
  await vi.waitUntil(() => screen.text.includes("rm -rf x"));
  keyboard.write("2\n");
  expect(await permission).toBe("no");
});

test("what was typed ahead at a terminal answers nothing", async () => {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const { ask, screen } = person(keyboard);
  keyboard.write("1\n\n");
  const answered = ask(form(COLOUR), never());
  await vi.waitUntil(() => screen.text.includes("Enter skips it"));
  keyboard.write("2\n");
  expect(await answered).toEqual(accept({ colour: "blue" }));
});
