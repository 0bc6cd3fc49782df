import { expect, test } from "vitest";
import { AnswerView } from "../../../src/surfaces/cli/answer-view.ts";

type Step = readonly [text: string, id?: string] | { readonly drop: string } | "tool";

/** What the person sees: stdout, and the sentences beside it. */
function show(steps: readonly Step[]) {
  let shown = "";
  const said: string[] = [];
  const view = new AnswerView({ print: (text) => (shown += text), say: (sentence) => said.push(sentence) });
  for (const step of steps) {
    if (step === "tool") view.boundary();
    else if ("drop" in step) view.supersede(step.drop);
    else view.text(step[0], step[1]);
  }
  view.finish();
  return { shown, said };
}

const STARTS_OVER = "The answer above was cut; it starts over.";

test.each<{ from: string; steps: readonly Step[]; shown: string; said: readonly string[] }>([
  {
    from: "one message in pieces",
    steps: [
      ["ab", "1"],
      ["cd", "1"],
    ],
    shown: "abcd",
    said: [],
  },
  { from: "an agent without ids", steps: [["ab"], ["ab"], ["cd"]], shown: "ababcd", said: [] },
  {
    from: "two different messages",
    steps: [
      ["one.", "1"],
      ["two.", "2"],
    ],
    shown: "one.\n\ntwo.",
    said: [],
  },
  {
    from: "two messages that begin alike",
    steps: [
      ["I see. Yes", "1"],
      ["I ", "2"],
      ["see. No", "2"],
    ],
    shown: "I see. Yes\n\nI see. No",
    said: [],
  },
  {
    from: "a retry that says the same and goes on",
    steps: [["Hello wo", "1"], { drop: "1" }, ["Hel", "2"], ["lo world", "2"]],
    shown: "Hello world",
    said: [],
  },
  {
    from: "a prefix without an announced retry",
    steps: [["Hello wo", "1"], ["Hello ", "2"], ["world", "2"], { drop: "1" }],
    shown: "Hello world",
    said: [],
  },
  {
    from: "a retry that says something else",
    steps: [["Hello wo", "1"], { drop: "1" }, ["Hel", "2"], ["p is here", "2"]],
    shown: "Hello wo\nHelp is here",
    said: [STARTS_OVER],
  },
  {
    from: "a retry that differs from the first letter",
    steps: [["abc", "1"], { drop: "1" }, ["xyz", "2"]],
    shown: "abc\nxyz",
    said: [STARTS_OVER],
  },
  {
    from: "a retry that stops earlier",
    steps: [["Hello world", "1"], { drop: "1" }, ["Hello", "2"]],
    shown: "Hello world",
    said: ["The agent sent its answer again and stopped 6 characters earlier."],
  },
  {
    from: "three attempts, each longer",
    steps: [["ab", "1"], { drop: "1" }, ["abc", "2"], { drop: "2" }, ["abcd", "3"]],
    shown: "abcd",
    said: [],
  },
  {
    from: "the second attempt is the shortest",
    steps: [["abc", "1"], { drop: "1" }, ["a", "2"], { drop: "2" }, ["abcd", "3"]],
    shown: "abcd",
    said: [],
  },
  {
    from: "the same words after a tool call",
    steps: [["Done.", "1"], "tool", ["Done.", "2"]],
    shown: "Done.\n\nDone.",
    said: [],
  },
  {
    from: "a short message that is a prefix only so far, then a tool",
    steps: [["abcdef", "1"], ["abc", "2"], "tool", ["x", "3"]],
    shown: "abcdef\n\nabc\n\nx",
    said: [],
  },
])("$from", ({ steps, shown, said }) => {
  expect(show(steps)).toEqual({ shown, said });
});

test("a message too long to compare is said to start over", () => {
  const long = "x".repeat(1024 * 1024 + 1);
  const { shown, said } = show([[long, "1"], { drop: "1" }, ["y", "2"]]);
  expect(shown.length).toBe(long.length + 2);
  expect(said).toEqual([STARTS_OVER]);
});
