import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { createAskPerson, renderQuestion } from "../../../src/surfaces/cli/ask-person.ts";
import { PersonQueue } from "../../../src/surfaces/cli/person-input.ts";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { Collector, newFolder } from "./run-main.ts";

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
function person(keyboard = new PassThrough(), input: Readable = keyboard) {
  const screen = new Collector({ isTTY: true });
  const stdout = new BatchedOutput(screen);
  const terminal = new Terminal({ stdout, stdoutIsTerminal: true, stderr: screen, env: {}, noColor: true });
  let noes = 0;
  let stops = 0;
  const ask = createAskPerson({ stdin: { kind: "terminal", shared: false, open: () => input } }, terminal, {
    queue: new PersonQueue(),
    onNo: () => (noes += 1),
    interrupt: () => (stops += 1),
  });
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

test("what was typed before the question was on the screen approves nothing", async () => {
  const keys = new Keys();
  const { ask, screen } = person(keys);
  keys.write("1");
  const answered = ask(request("rm"), new AbortController().signal, "");
  await vi.waitUntil(() => screen.text.includes("Press a number"));
  await vi.waitUntil(() => keys.listenerCount("data") > 0 && keys.readableLength === 0);
  await new Promise(setImmediate);
  keys.write("2");
  expect(await answered).toBe("no");
});

/** A keyboard whose keys lie in the system until the event loop looks for them, as those of a terminal do. */
async function systemKeys() {
  const arrived = Promise.withResolvers<Socket>();
  const path = join(newFolder(), "keys");
  const server = createServer({ pauseOnConnect: true }, arrived.resolve).listen(path);
  await once(server, "listening");
  const hand = connect(path);
  const keyboard = Object.assign(await arrived.promise, { isTTY: true, setRawMode: () => {} });
  return {
    keyboard,
    type: (keys: string) => new Promise((typed) => hand.write(keys, typed)),
    [Symbol.dispose]: () => {
      hand.destroy();
      keyboard.destroy();
      server.close();
    },
  };
}

test.each([
  { from: "a question answered by a key", asked: request("rm"), ahead: "1", typed: "2" },
  { from: "by a line", asked: { ...request("rm"), defaultToNo: true as const }, ahead: "1\n1\n", typed: "2\n" },
])("what the system holds of keys typed before the question approves nothing: $from", async (row) => {
  using keys = await systemKeys();
  const { ask, screen } = person(undefined, keys.keyboard);
  await keys.type(row.ahead);
  // An agent is heard while the loop reads, and the question begins there.
  await new Promise((heard) => connect(1, "127.0.0.1").once("error", heard));
  const answered = ask(row.asked, new AbortController().signal, "");
  await vi.waitUntil(() => screen.text.includes("no.") && keys.keyboard.bytesRead === row.ahead.length);
  for (let rounds = 0; rounds < 4; rounds += 1) await new Promise(setImmediate);
  await keys.type(row.typed);
  expect(await answered).toBe("no");
});

describe("where the agent warns of stray keys", () => {
  const warned: PermissionRequest = {
    ...request("rm -rf /"),
    defaultToNo: true,
    options: [
      { optionId: "no", name: "No", kind: "reject_once" },
      { optionId: "yes", name: "Yes", kind: "allow_once" },
    ],
  };

  test.each([
    { from: "Enter", typed: "\n", answer: null, noes: 1 },
    { from: "a number and Enter", typed: "2\n", answer: "yes", noes: 0 },
    { from: "the first answer, which is a no", typed: "1\n", answer: "no", noes: 1 },
    { from: "words, then Enter", typed: "yes\ny\n\n", answer: null, noes: 1 },
  ])("$from", async ({ typed, answer, noes }) => {
    const { ask, keyboard, screen, noes: counted } = person();
    const answered = ask(warned, new AbortController().signal, "");
    keyboard.write(typed);
    expect(await answered).toBe(answer);
    expect(counted()).toBe(noes);
    expect(screen.text).toContain("  1) No\n  2) Yes\nType a number and Enter; Enter alone means no.\n");
  });

  test("one key is no answer, whichever it is", async () => {
    const keys = new Keys();
    const { ask, screen } = person(keys);
    const over = new AbortController();
    const answered = ask(warned, over.signal, "");
    await vi.waitUntil(() => screen.text.includes("Type a number and Enter"));
    for (const key of ["2", "y", " ", "\u001b", "\t"]) keys.write(key);
    await vi.waitUntil(() => keys.readableLength === 0);
    over.abort("The agent took the question back");
    expect(await answered).toBeUndefined();
    expect(keys.modes).toEqual([true, false]);
    expect(screen.text).toContain("The question is closed.");
  });
});

test("an answer shows all that it does, and one that is too long to be shown is not offered", async () => {
  const effect = `Yes, and don't ask again for ${"npm run test:all -- ".repeat(60)}commands`;
  const { ask, keyboard, screen } = person();
  const answered = ask(
    {
      ...request("npm test"),
      options: [
        { optionId: "flood", name: "x".repeat(4001), kind: "allow_always" },
        { optionId: "always", name: effect, kind: "allow_always" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ],
    },
    new AbortController().signal,
    "",
  );
  keyboard.write("1\n");
  expect(await answered).toBe("always");
  expect(screen.text).toContain(`  1) ${effect}\n  2) No\n`);
  expect(screen.text).toContain("An answer that is too long to be shown is not offered.");
});

test("of a command that is too long both ends are shown", () => {
  const command = `git status; ${"echo x; ".repeat(5000)}rm -rf /`;
  const text = renderQuestion({ ...request("git status"), rawInput: { command } }, { reason: "", byKey: true });
  const shown = text.split("\n").find((line) => line.includes("command: "));
  expect(shown).toMatch(
    /^ {2}command: git status; echo x; .*… \(40020 characters in all, which end with:\) ….*echo x; rm -rf \/$/,
  );
  expect(shown?.length).toBeLessThan(4000);
});
