/** Questions of an agent under `ostler ask`: a person at a terminal answers them, nobody else is asked. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Json, Scenario } from "../../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  logOf,
  permission,
  turns,
  waitFor,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { linesOf, newFolder, run } from "./run-main.ts";
import type { RunOptions } from "./run-main.ts";

const FORM: Json = {
  mode: "form",
  sessionId: "$S",
  message: "Which colour?",
  requestedSchema: {
    type: "object",
    properties: {
      question_0: { type: "string", title: "Colour", oneOf: [{ const: "Red", title: "Red", description: "Warm" }] },
      question_0_custom: {
        type: "string",
        title: "Other",
        _meta: { jetbrains: { air: { version: 1, customAnswer: { questionId: "question_0", isCustomAnswer: true } } } },
      },
    },
  },
};
const question = call("elicitation/create", FORM, "q1");
const asks: Scenario = turns([question, waitForAnswer("q1"), chunk("Thanks."), end()]);

/** A terminal where `typed` is written when `until` is on the screen. */
function typing(typed: string, until = "Enter skips it"): Pick<RunOptions, "terminal" | "stdin" | "onStderr"> {
  const keyboard = new PassThrough();
  let isTyped = false;
  return {
    terminal: true,
    stdin: { kind: "terminal", open: () => keyboard },
    onStderr: (text) => {
      if (isTyped || !text.includes(until)) return;
      isTyped = true;
      keyboard.write(typed);
    },
  };
}

function elicitation(log: string): unknown {
  const { params } = logOf(log).find(({ frame }) => frame?.method === "initialize")?.frame ?? {};
  const { clientCapabilities = {} }: { clientCapabilities?: { elicitation?: unknown } } = params ?? {};
  return clientCapabilities.elicitation;
}

describe("at a terminal", () => {
  test.each([
    { from: "a choice", typed: "1\n", content: { question_0: "Red" } },
    { from: "words of one's own", typed: "Green\n", content: { question_0_custom: "Green" } },
    { from: "Other, then the words", typed: "2\nGreen\n", content: { question_0_custom: "Green" } },
  ])("$from goes back", async ({ typed, content }) => {
    const { exitCode, stderr, stdout, log } = await run(["ask", "--no-color", "hello"], {
      scenario: asks,
      ...typing(typed),
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "accept", content });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Thanks.\n" });
    expect(stderr).toContain(
      " asks: Which colour?\n\r\u001b[K  Colour\n  1) Red: Warm\n  2) Other: in your own words\nAnswer with a number or in your own words; Enter skips it.\n",
    );
    expect(elicitation(log)).toEqual({ form: {} });
  });

  test("an empty line declines, which is no denial", async () => {
    const { exitCode, log } = await run(["ask", "hello"], { scenario: asks, ...typing("\n") });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "decline" });
    expect(exitCode).toBe(0);
  });

  test("Ctrl-C cancels the question and stops the turn", async () => {
    const scenario = turns([question, waitFor("session/cancel"), end("cancelled")]);
    let isSent = false;
    const { exitCode, log } = await run(["ask", "hello"], {
      scenario,
      terminal: true,
      stdin: { kind: "terminal", open: () => new PassThrough() },
      onStderr: (text, signal) => {
        if (isSent || !text.includes("Enter skips it")) return;
        isSent = true;
        signal("SIGINT");
      },
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(exitCode).toBe(130);
  });

  test("a question that the agent takes back is closed, and said", async () => {
    const folder = newFolder();
    const { exitCode, stderr, log } = await run(["ask", "hello"], {
      scenario: turns([
        question,
        { untilFile: "shown" },
        call("$/cancel_request", { requestId: "q1" }),
        waitForAnswer("q1"),
        chunk("Never mind."),
        end(),
      ]),
      terminal: true,
      stdin: { kind: "terminal", open: () => new PassThrough() },
      folder,
      onStderr: (text) => {
        if (text.includes("Enter skips it")) writeFileSync(join(folder, "shown"), "");
      },
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(stderr).toContain("The question is closed.\n");
    expect(stderr).toContain("Not answered: Which colour? (The agent took the question back)");
    expect(exitCode).toBe(0);
  });

  test("nobody answers in time: cancelled, and said", async () => {
    const { exitCode, stderr, log } = await run(["ask", "hello"], {
      scenario: asks,
      terminal: true,
      stdin: { kind: "terminal", open: () => new PassThrough() },
      config: { timeouts: { permissionS: 1 } },
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(stderr).toContain("Not answered: Which colour? (Nobody answered within 1 s)");
    expect(exitCode).toBe(0);
  });
});

describe("where nobody can answer it is not declared", () => {
  test.each<{ from: string; argv: readonly string[]; options: RunOptions }>([
    { from: "no terminal", argv: [], options: {} },
    { from: "ndjson at a terminal", argv: ["--json"], options: typing("1\n") },
    { from: "json at a terminal", argv: ["--format", "json"], options: typing("1\n") },
    { from: "quiet at a terminal", argv: ["--format", "quiet"], options: typing("1\n") },
    { from: "input from a pipe", argv: [], options: { terminal: true, stdin: { kind: "pipe", text: "" } } },
  ])("$from", async ({ argv, options }) => {
    const { exitCode, stderr, log } = await run(["ask", ...argv, "hello"], { scenario: asks, ...options });
    expect(elicitation(log)).toBeUndefined();
    expect(answerTo(log, "q1")?.error).toMatchObject({ code: -32601 });
    expect(stderr).not.toContain("asks:");
    expect(exitCode).toBe(0);
  });
});

test("a permission that is asked while the session opens is denied, said, and exits 5", async () => {
  const scenario: Scenario = {
    on: {
      "session/new": [[permission("t1", { sessionId: "s1" }), waitForAnswer("p1"), { default: true }]],
      "session/prompt": [[chunk("Could not."), end()]],
    },
  };
  const text = await run(["ask", "--approve", "all", "hello"], { scenario });
  expect(answerTo(text.log, "p1")?.result).toEqual({ outcome: { outcome: "selected", optionId: "r" } });
  expect(text.exitCode).toBe(5);
  expect(text.stderr).toContain("Denied: rm -rf x (The session is not open yet)");

  const { exitCode, stdout } = await run(["ask", "--approve", "all", "--json", "hello"], { scenario });
  expect(exitCode).toBe(5);
  expect(linesOf(stdout).filter(({ type }) => type === "permission")).toMatchObject([{ answer: { denied: true } }]);
});
