import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerText } from "../../src/acp/answer.ts";
import type { TurnEventBody } from "../../src/acp/events.ts";

/** `m1:text` is a chunk of message m1, `:text` one without an id, `|` a tool call, `~` a retry that the harness announced. */
function say(script: readonly string[], keep = true) {
  const events: TurnEventBody[] = [];
  const answer = new AnswerText({ keep, emit: (event) => events.push(event) });
  for (const step of script) {
    const colon = step.indexOf(":");
    if (step === "|") answer.boundary();
    else if (step === "~") answer.retried();
    else answer.chunk(step.slice(colon + 1), colon === 0 ? undefined : step.slice(0, colon));
  }
  answer.finish();
  const superseded = events.flatMap((event) =>
    event.type === "text" && event.superseded === true ? [event.messageId] : [],
  );
  return { text: answer.text, visible: answer.visible, superseded, events };
}

describe("which text stands", () => {
  test.each<{ from: string; script: readonly string[]; text: string; superseded?: readonly string[] }>([
    { from: "one message", script: ["m1:Hel", "m1:lo"], text: "Hello" },
    { from: "no ids at all: all text is meant", script: [":Hello", ":Hello"], text: "HelloHello" },
    {
      from: "a retry record between: streamed again",
      script: ["m1:Hello wo", "~", "m2:Hello world"],
      text: "Hello world",
      superseded: ["m1"],
    },
    {
      from: "a retry record between: other words",
      script: ["m1:I think", "~", "m2:Let me start over"],
      text: "Let me start over",
      superseded: ["m1"],
    },
    {
      from: "no record: the cut attempt is a prefix (recording stream-cut)",
      script: ["m1:Hello wo", "m2:Hel", "m2:lo world"],
      text: "Hello world",
      superseded: ["m1"],
    },
    {
      from: "no record: the same text twice",
      script: ["m1:Hello", "m2:Hello"],
      text: "Hello",
      superseded: ["m1"],
    },
    {
      from: "the second is cut too, as a prefix of the first",
      script: ["m1:Hello world", "m2:Hello"],
      text: "Hello",
      superseded: ["m1"],
    },
    { from: "no record: other words are a second message", script: ["m1:One. ", "m2:Two."], text: "One. Two." },
    {
      from: "the same beginning, then other words",
      script: ["m1:Hello world", "m2:Hello moon"],
      text: "Hello worldHello moon",
    },
    {
      from: "a tool call between: both are meant",
      script: ["m1:Hello", "|", "m2:Hello"],
      text: "HelloHello",
    },
    {
      from: "a tool call and a retry between: both are meant",
      script: ["m1:Hello", "|", "~", "m2:Hello"],
      text: "HelloHello",
    },
    {
      from: "a tool call before both does not count",
      script: ["|", "m1:Hello wo", "~", "m2:Hello world"],
      text: "Hello world",
      superseded: ["m1"],
    },
    {
      from: "three attempts",
      script: ["m1:Hel", "~", "m2:Hello w", "~", "m3:Hello world"],
      text: "Hello world",
      superseded: ["m1", "m2"],
    },
    {
      from: "three attempts without records",
      script: ["m1:Hel", "m2:Hello w", "m3:Hello world"],
      text: "Hello world",
      superseded: ["m1", "m2"],
    },
    {
      from: "a retry before anything was said",
      script: ["~", "m1:Hello"],
      text: "Hello",
    },
    {
      from: "a retry inside one message: the harness goes on",
      script: ["m1:Hel", "~", "m1:lo"],
      text: "Hello",
    },
    {
      from: "a message after the one that was streamed again",
      script: ["m1:Hel", "~", "m2:Hello. ", "|", "m3:Bye."],
      text: "Hello. Bye.",
      superseded: ["m1"],
    },
    {
      from: "text without an id after one with an id is no repeat",
      script: ["m1:Hello", "~", ":Hello"],
      text: "HelloHello",
    },
    {
      from: "the first of three stays when only the others repeat",
      script: ["m1:First. ", "m2:Sec", "m3:Second."],
      text: "First. Second.",
      superseded: ["m2"],
    },
    { from: "empty chunks are nothing", script: ["m1:", "m2:Hello", "m3:"], text: "Hello" },
    { from: "nothing", script: [], text: "" },
  ])("$from", ({ script, text, superseded = [] }) => {
    expect(say(script)).toMatchObject({ text, superseded, visible: text !== "" });
  });
});

test("a superseded message is told once, without text, after the text it takes back", () => {
  expect(say(["m1:Hel", "~", "m2:Hello"]).events).toEqual([
    { type: "text", text: "Hel", messageId: "m1" },
    { type: "text", text: "", messageId: "m1", superseded: true },
    { type: "text", text: "Hello", messageId: "m2" },
  ]);
});

test.each([
  { text: " \n\t", visible: false },
  { text: "\u00A0", visible: false },
  { text: "0", visible: true },
  { text: " x", visible: true },
])("$text is visible: $visible", ({ text, visible }) => {
  expect(say([`m1:${text}`]).visible).toBe(visible);
});

describe("without keeping the text", () => {
  test.each([
    { from: "a retry", script: ["m1:Hello wo", "~", "m2:Hello world"], superseded: ["m1"] },
    { from: "a prefix", script: ["m1:Hello wo", "m2:Hello world"], superseded: ["m1"] },
    { from: "other words", script: ["m1:One", "m2:Two"], superseded: [] },
    { from: "a tool call", script: ["m1:Hello", "|", "m2:Hello"], superseded: [] },
  ])("$from: the same is superseded, and the text is empty", ({ script, superseded }) => {
    expect(say(script, false)).toMatchObject({ text: "", superseded, visible: true });
  });

  test("a message that is too long to compare is judged by retries alone", () => {
    const long = "x".repeat(1024 * 1024 + 1);
    expect(say([`m1:${long}`, `m2:${long}`], false).superseded).toEqual([]);
    expect(say([`m1:${long}`, "~", `m2:${long}`], false).superseded).toEqual(["m1"]);
  });
});

/** Cuts every message of a script into chunks of any size. */
function cut(script: readonly string[], sizes: readonly number[]): string[] {
  let n = 0;
  return script.flatMap((step) => {
    const colon = step.indexOf(":");
    if (colon < 0) return [step];
    const [id, text] = [step.slice(0, colon), step.slice(colon + 1)];
    const chunks: string[] = [];
    for (let at = 0; at < text.length; n += 1) {
      const size = sizes[n % sizes.length] ?? 1;
      chunks.push(`${id}:${text.slice(at, at + size)}`);
      at += size;
    }
    return chunks;
  });
}

const words = fc.string({ unit: fc.constantFrom("a", "b", " ", "😀"), minLength: 1, maxLength: 12 });
const scripts = fc
  .array(fc.oneof({ weight: 4, arbitrary: words }, fc.constantFrom("|", "~")), { maxLength: 8 })
  .map((steps) => steps.map((step, index) => (step === "|" || step === "~" ? step : `m${index}:${step}`)));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });

describe("chunking never matters (fast-check)", () => {
  test("text and superseded messages are those of whole messages", () => {
    fc.assert(
      fc.property(scripts, sizes, fc.boolean(), (script, pieces, keep) => {
        const whole = say(script, keep);
        const inPieces = say(cut(script, pieces), keep);
        expect({ text: inPieces.text, superseded: inPieces.superseded }).toEqual({
          text: whole.text,
          superseded: whole.superseded,
        });
      }),
      { numRuns: 300 },
    );
  });

  test("what a reader of the events has left is the text", () => {
    fc.assert(
      fc.property(scripts, sizes, (script, pieces) => {
        const { text, events } = say(cut(script, pieces));
        const shown = new Map<string, string>();
        for (const event of events) {
          if (event.type !== "text" || event.messageId === undefined) continue;
          if (event.superseded === true) shown.delete(event.messageId);
          else shown.set(event.messageId, (shown.get(event.messageId) ?? "") + event.text);
        }
        expect([...shown.values()].join("")).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test("nothing is lost while nothing repeats", () => {
    const different = fc.uniqueArray(fc.constantFrom("x1 ", "y2 ", "z3 ", "w4 ", "v5 "), { maxLength: 5 });
    fc.assert(
      fc.property(different, sizes, (texts, pieces) => {
        const script = texts.map((text, index) => `m${index}:${text}`);
        expect(say(cut(script, pieces))).toMatchObject({ text: texts.join(""), superseded: [] });
      }),
      { numRuns: 100 },
    );
  });
});
