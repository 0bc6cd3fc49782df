/** A notification command of the user's: it gets the words, and what it does not accept goes elsewhere. */
import { expect, test } from "vitest";
import type { Notification } from "../../src/failures/notification.ts";
import { commandSink } from "../../src/host/command-run-notify.ts";

const NOTICE: Notification = { runId: "cm_mx3jkhdqwzf3_1", moment: "completion", incidents: [], text: "run=x\nfailed" };
const env = { PATH: process.env["PATH"] ?? "" };

/** What went elsewhere. */
async function refusedBy(script: string, timeoutMs?: number): Promise<string[]> {
  const texts: string[] = [];
  const otherwise = { deliver: async ({ text }: Notification) => void texts.push(text) };
  const sink = commandSink(["sh", "-c", script], { env, otherwise, ...(timeoutMs !== undefined && { timeoutMs }) });
  await sink.deliver(NOTICE);
  return texts;
}

test.each([
  { from: "the words on its stdin, with an end", script: 'test "$(cat)" = "run=x\nfailed"', refused: [] },
  { from: "nothing, and does not read", script: "exit 0", refused: [] },
  {
    from: "another exit code",
    script: "exit 3",
    refused: ["run=x\nfailed\nThe notification command ended with 3"],
  },
  {
    from: "a secret in its complaint",
    script: "echo 'bad token=sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6' >&2; exit 1",
    refused: ["run=x\nfailed\nThe notification command ended with 1: bad token=[redacted]"],
  },
  {
    from: "a signal",
    script: "kill -KILL $$",
    refused: ["run=x\nfailed\nThe notification command did not run to its end"],
  },
])("$from", async ({ script, refused }) => {
  expect(await refusedBy(script)).toEqual(refused);
});

test("one that hangs is ended, and what it was told goes elsewhere", async () => {
  expect(await refusedBy("sleep 300", 200)).toEqual(["run=x\nfailed\nThe notification command did not run to its end"]);
});

test("what nobody takes rejects, so that it is offered again", async () => {
  const otherwise = { deliver: () => Promise.reject(new Error("full")) };
  await expect(commandSink(["no-such-program"], { env, otherwise }).deliver(NOTICE)).rejects.toThrow("full");
});
