/** Whether an operation that somebody waits for has succeeded since. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Journal } from "../../src/failures/journal/journal.ts";
import { RunLog } from "../../src/failures/log/run-log.ts";
import { Observer } from "../../src/failures/observation/observer.ts";
import { RunRecorder } from "../../src/failures/run-recorder.ts";
import type { RunEntry } from "../../src/failures/run-lines.ts";

const RUN = "ag_loyw3v28abcd_1";
const newObserver = (): Observer => new Observer({ runId: RUN, conversationId: RUN, trusted: false });

function newRecorder(observer: Observer | undefined): RunRecorder {
  const folder = mkdtempSync(join(tmpdir(), "recorder-"));
  const openJournal = (): Journal => Journal.open(folder);
  return new RunRecorder({ runId: RUN, log: RunLog.inMemory(), observer, openJournal });
}

const begins = (toolCallId: string, command: string): RunEntry =>
  update({ sessionUpdate: "tool_call", toolCallId, kind: "execute", title: command, rawInput: { command } });
const ends = (toolCallId: string, status: "completed" | "failed"): RunEntry =>
  update({ sessionUpdate: "tool_call_update", toolCallId, status });

function update(fields: object): RunEntry {
  return { d: "in", frame: { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: fields } } };
}

/** The key of a command, as its failure has it. */
function operationOf(recorder: RunRecorder, command: string): string {
  for (const entry of [begins("f", command), ends("f", "failed")]) recorder.record(entry, 1, 0);
  return recorder.state.incidents.values().next().value?.operation ?? "";
}

test.each([
  { from: "it succeeds", entries: [begins("b", "npm publish"), ends("b", "completed")], succeeds: true },
  { from: "it fails", entries: [begins("b", "npm publish"), ends("b", "failed")], succeeds: false },
  { from: "another one succeeds", entries: [begins("b", "npm pack"), ends("b", "completed")], succeeds: false },
  { from: "it began before", entries: [ends("a", "completed")], succeeds: false },
])("an operation is watched: $from", async ({ entries, succeeds }) => {
  const recorder = newRecorder(newObserver());
  const operation = operationOf(recorder, "npm publish");
  recorder.record(begins("a", "npm publish"), 2, 0);
  const hasSucceeded = recorder.watchOperation(operation);
  expect(hasSucceeded()).toBe(false);
  for (const entry of entries) recorder.record(entry, 3, 0);
  expect(hasSucceeded()).toBe(succeeds);
  await recorder.close();
});

test("an operation is watched by the observer that comes later: nothing was observed while trust was not known", async () => {
  const before = newRecorder(newObserver());
  const operation = operationOf(before, "npm publish");
  const recorder = newRecorder(undefined);
  const hasSucceeded = recorder.watchOperation(operation);
  recorder.observeWith(newObserver());
  for (const entry of [begins("b", "npm publish"), ends("b", "completed")]) recorder.record(entry, 3, 0);
  expect(hasSucceeded()).toBe(true);
  await Promise.all([before.close(), recorder.close()]);
});

test("a line that cannot be observed is missing evidence, and what follows is observed", async () => {
  const recorder = newRecorder(newObserver());
  const frame = {
    get method(): never {
      throw new TypeError("no such luck");
    },
  };
  recorder.record({ d: "in", frame }, 1, 0);
  for (const entry of [begins("f", "npm test"), ends("f", "failed")]) recorder.record(entry, 2, 0);
  expect([...recorder.state.incidents.values()].map(({ category, summary }) => [category, summary])).toEqual([
    ["observation-incomplete", "A line of the run's log could not be observed (TypeError)"],
    ["tool", "execute failed: npm test"],
  ]);
  await recorder.close();
});
