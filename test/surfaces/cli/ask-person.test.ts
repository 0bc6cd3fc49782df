import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { createAskPerson } from "../../../src/surfaces/cli/ask-person.ts";
import { BatchedOutput } from "../../../src/surfaces/cli/output.ts";
import { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { Collector } from "./run-main.ts";

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

/** A terminal with somebody at it; `noes` counts what the person declined. */
function person() {
  const keyboard = new PassThrough();
  const screen = new Collector({ isTTY: true });
  const stdout = new BatchedOutput(screen);
  const terminal = new Terminal({ stdout, stdoutIsTerminal: true, stderr: screen, env: {}, noColor: true });
  let noes = 0;
  const ask = createAskPerson({ stdin: { kind: "terminal", shared: false, open: () => keyboard } }, terminal, () => {
    noes += 1;
  });
  return { ask, keyboard, screen, noes: () => noes };
}

test("of two questions at once a line answers the one on the screen", async () => {
  const { ask, keyboard, screen, noes } = person();
  const { signal } = new AbortController();
  const answers = [ask(request("list files"), signal), ask(request("remove files"), signal)];
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
  const answers = [ask(request("list files"), new AbortController().signal), ask(request("remove files"), over.signal)];
  over.abort();
  keyboard.write("1\n");
  expect(await Promise.all(answers)).toEqual(["yes", null]);
  expect(screen.text).not.toContain("remove files");
});
