import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { Collector } from "./run-main.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Both streams as one screen, in the order of the writes, with escape sequences readable. */
function screen({
  stdoutIsTerminal = true,
  env = {},
  noColor = true,
}: { stdoutIsTerminal?: boolean; env?: Record<string, string>; noColor?: boolean } = {}) {
  let shown = "";
  let nowMs = 0;
  const collect = (before: { text: string }) => (text: string) => {
    shown += text.slice(before.text.length);
    before.text = text;
  };
  const stdout = new Collector({ isTTY: stdoutIsTerminal, onText: collect({ text: "" }) });
  const stderr = new Collector({ isTTY: true, onText: collect({ text: "" }) });
  const terminal = new Terminal({
    stdout: new BatchedOutput(stdout),
    stdoutIsTerminal,
    stderr,
    env,
    noColor,
    nowMs: () => nowMs,
  });
  return {
    terminal,
    stdout,
    stderr,
    after: (ms: number) => {
      for (const end = nowMs + ms; nowMs < end; vi.advanceTimersByTime(250)) nowMs += 250;
    },
    shown: () => shown.replaceAll("\u001b[K", "<K>").replaceAll("\r", "<CR>").replaceAll("\u001b", "<E>"),
  };
}

test("a remark in the middle of an answer line starts a line of its own", async () => {
  const { terminal, shown, stdout } = screen();
  terminal.print("Let me look");
  terminal.say("▸ ls");
  terminal.print(". Done");
  terminal.endAnswer();
  terminal.say("end");
  await terminal.finish();
  expect(shown()).toBe("Let me look\n▸ ls\n. Done\nend\n");
  expect(stdout.text).toBe("Let me look. Done\n");
});

test("an answer that a remark ended already is followed by no empty line", async () => {
  const { terminal, shown } = screen();
  terminal.print("It is done");
  terminal.say("✓ ls");
  terminal.endAnswer();
  terminal.say("end");
  await terminal.finish();
  expect(shown()).toBe("It is done\n✓ ls\nend\n");
});

test("on two screens nothing is added", async () => {
  const { terminal, stdout, stderr } = screen({ stdoutIsTerminal: false });
  terminal.print("half");
  terminal.say("remark");
  terminal.print(" whole");
  terminal.endAnswer();
  await terminal.finish();
  expect({ stdout: stdout.text, stderr: stderr.text }).toEqual({ stdout: "half whole\n", stderr: "remark\n" });
});

test("the live line counts, and is gone before anything else is written", async () => {
  const { terminal, after, shown } = screen();
  terminal.startStatus("demo");
  after(1000);
  terminal.say("remark");
  after(1000);
  terminal.print("answer");
  after(5000);
  terminal.endAnswer();
  await terminal.finish();
  expect(shown()).toBe(
    "<CR><K>demo · 0 s · starting<CR><K>demo · 1 s · starting<CR><K>remark\n<CR><K>demo · 1 s · starting<CR><K>demo · 2 s · starting<CR><K>answer\n",
  );
});

test("a dumb terminal gets no live line and no colour", async () => {
  const { terminal, after, shown } = screen({ env: { TERM: "dumb" }, noColor: false });
  terminal.startStatus("demo");
  after(1000);
  terminal.say("remark", "failure");
  await terminal.finish();
  expect(shown()).toBe("remark\n");
});

test.each([
  { from: "colours", env: {}, noColor: false, line: "<E>[31mremark<E>[0m\n" },
  { from: "--no-color", env: {}, noColor: true, line: "remark\n" },
  { from: "NO_COLOR", env: { NO_COLOR: "1" }, noColor: false, line: "remark\n" },
  { from: "an empty NO_COLOR", env: { NO_COLOR: "" }, noColor: false, line: "<E>[31mremark<E>[0m\n" },
])("$from", async ({ env, noColor, line }) => {
  const { terminal, shown } = screen({ env, noColor });
  terminal.say("remark", "failure");
  await terminal.finish();
  expect(shown()).toBe(line);
});

test.each([
  { parts: ["a"], out: "a\n" },
  { parts: ["a\n"], out: "a\n" },
  { parts: ["a\n\n", "\n"], out: "a\n" },
  { parts: ["a\n", "\nb"], out: "a\n\nb\n" },
  { parts: ["\n", "a"], out: "\na\n" },
  { parts: [], out: "" },
])("an answer of $parts ends with one newline", async ({ parts, out }) => {
  const { terminal, stdout } = screen();
  for (const part of parts) terminal.print(part);
  terminal.endAnswer();
  await terminal.finish();
  expect(stdout.text).toBe(out);
});
