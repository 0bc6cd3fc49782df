import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { createAskPerson, renderQuestion } from "../../../src/surfaces/cli/ask-person.ts";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { Collector } from "./run-main.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const request = (title: string): PermissionRequest => ({
  sessionId: "s",
  toolCallId: title,
  title,
  paths: [],
  options: [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ],
  isQuestion: false,
});

/** Keys one by one: what raw mode was set to, in order. */
class Keys extends PassThrough {
  readonly isTTY = true;
  readonly modes: boolean[] = [];
  setRawMode(isRaw: boolean): void {
    this.modes.push(isRaw);
  }
}

/** A terminal with somebody at it; `noes` counts what the person declined, `stops` the presses of Ctrl-C. */
function person(keyboard = new PassThrough()) {
  const screen = new Collector({ isTTY: true });
  const stdout = new BatchedOutput(screen);
  const terminal = new Terminal({ stdout, stdoutIsTerminal: true, stderr: screen, env: {}, noColor: true });
  let noes = 0;
  let stops = 0;
  const ask = createAskPerson(
    { stdin: { kind: "terminal", shared: false, open: () => keyboard } },
    terminal,
    () => (noes += 1),
    () => (stops += 1),
  );
  return { ask, keyboard, screen, terminal, noes: () => noes, stops: () => stops };
}

test("of two questions at once a line answers the one on the screen", async () => {
  const { ask, keyboard, screen, noes } = person();
  const { signal } = new AbortController();
  const answers = [ask(request("list files"), signal, ""), ask(request("remove files"), signal, "")];
  keyboard.write("1\n");
  expect(await answers[0]).toBe("yes");
  expect(screen.text).not.toContain("remove files");
  keyboard.write("2\n");
  expect(await answers[1]).toBe("no");
  expect(screen.text).toContain("The agent asks: remove files");
  expect(noes()).toBe(1);
});

test("a question that is over before its turn is not asked", async () => {
  const { ask, keyboard, screen } = person();
  const over = new AbortController();
  const answers = [
    ask(request("list files"), new AbortController().signal, ""),
    ask(request("remove files"), over.signal, ""),
  ];
  over.abort();
  keyboard.write("1\n");
  expect(await Promise.all(answers)).toEqual(["yes", undefined]);
  expect(screen.text).not.toContain("remove files");
});

test("while a question is open nothing is written over what the person types", async () => {
  const { ask, keyboard, screen, terminal } = person();
  terminal.startStatus("demo");
  terminal.follow({ type: "tool", toolCallId: "t", title: "rm -rf x", kind: "execute", status: "pending", paths: [] });
  const answer = ask(request("rm -rf x"), new AbortController().signal, "");
  await vi.waitUntil(() => screen.text.includes("The agent asks"));
  const asked = screen.text;
  vi.advanceTimersByTime(3000);
  terminal.say("▸ another tool");
  terminal.print("The answer so far");
  const { drained } = terminal;
  expect({ screen: screen.text, drained }).toEqual({ screen: asked, drained: expect.any(Promise) });
  keyboard.write("1\n");
  expect(await answer).toBe("yes");
  await drained;
  terminal.endAnswer();
  await terminal.finish();
  expect(screen.text).toBe(`${asked}▸ another tool\nThe answer so far\n`);
  expect(screen.text).not.toContain("runs rm");
});

test("an answer that is none is told in a line of its own", async () => {
  const { ask, keyboard, screen } = person();
  const answer = ask(request("rm -rf x"), new AbortController().signal, "");
  keyboard.write("7\n");
  await vi.waitUntil(() => screen.text.endsWith("\r\u001b[KType a number from 1 to 2, or nothing for no.\n"));
  keyboard.write("2\n");
  expect(await answer).toBe("no");
});

test("at the end of the input nobody answers, neither this question nor the next", async () => {
  const { ask, keyboard, screen, noes } = person();
  const { signal } = new AbortController();
  keyboard.end();
  expect(await Promise.all([ask(request("one"), signal, ""), ask(request("two"), signal, "")])).toEqual([
    undefined,
    undefined,
  ]);
  expect(noes()).toBe(0);
  expect(screen.text).not.toContain("The agent asks: two");
});

test.each([
  { key: "1", answer: "yes", noes: 0 },
  { key: "2", answer: "no", noes: 1 },
  { key: "\r", answer: null, noes: 1 },
  { key: "\u001b", answer: null, noes: 1 },
  { key: "\u0004", answer: undefined, noes: 0 },
])("one key answers, and the terminal is as before: $key", async ({ key, answer, noes }) => {
  const keys = new Keys();
  const { ask, screen, noes: counted } = person(keys);
  const answered = ask(request("rm"), new AbortController().signal, "");
  await vi.waitUntil(() => keys.modes.length > 0);
  keys.write("\u001b[A");
  await vi.waitUntil(() => keys.readableLength === 0);
  keys.write(key);
  expect(await answered).toBe(answer);
  expect({ modes: keys.modes, noes: counted() }).toEqual({ modes: [true, false], noes });
  expect(screen.text).not.toContain("Press a key");
  expect(screen.text).toContain("Press a number; Enter means no.");
});

test("Ctrl-C stops the run also while keys are read, and no other key is an answer", async () => {
  const keys = new Keys();
  const { ask, screen, stops } = person(keys);
  const over = new AbortController();
  const answered = ask(request("rm"), over.signal, "");
  await vi.waitUntil(() => keys.modes.length > 0);
  keys.write("x");
  await vi.waitUntil(() => screen.text.includes("Press a key from 1 to 2, or Enter for no."));
  keys.write("\u0003");
  await vi.waitUntil(() => stops() === 1);
  over.abort();
  expect(await answered).toBeUndefined();
  expect(keys.modes).toEqual([true, false]);
});

test("the question shows what the frame says, not only its title", () => {
  const command = `git status; ${"x".repeat(600)}; rm -rf x`;
  const text = renderQuestion(
    {
      ...request("git status"),
      kind: "execute",
      rawInput: { command, cwd: "/w", timeout: 5 },
      paths: ["/w/a"],
      claimed: { rawInput: { command: ["git", "log"] }, paths: ["/w/b"] },
    },
    { reason: "The permission policy leaves it to a person (ask rule 1)", byKey: true },
  );
  expect(text.split("\n")).toEqual([
    "The agent asks: git status",
    "  What it would do: execute",
    "  /w/a",
    `  command: ${command}`,
    "  cwd: /w",
    "  timeout: 5",
    "  The question says otherwise: /w/b",
    "  The question says otherwise: command: git log",
    "  Why you are asked: The permission policy leaves it to a person (ask rule 1)",
    "  1) Yes",
    "  2) No",
    "Press a number; Enter means no.",
  ]);
});
