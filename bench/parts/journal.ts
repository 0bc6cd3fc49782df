/** What it costs to be sure of a failure, and to know all of them again. */
import { appendFileSync, closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Journal } from "../../src/failures/journal/journal.ts";
import { readJournal } from "../../src/failures/journal/read-journal.ts";
import { encodeRecord } from "../../src/failures/journal/record.ts";
import { keyOf } from "../../src/failures/keys.ts";
import type { FailureEvent } from "../../src/failures/records.ts";
import type { Bench, Part, Row } from "../bench.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";

const CALLERS = 64;
const APPEND_MS = 500;
const FAILURES = 100_000;
const OPERATIONS = 1000;
const KEYS = Array.from({ length: OPERATIONS }, (_, number) => keyOf("tool", number));

export const journalPart: Part = {
  name: "journal",
  title: `Journal: durable appends in a second, ${CALLERS} callers that each wait for theirs`,
  async run({ folder, rounds }: Bench): Promise<Row[]> {
    const figures = await inTurns(rounds, {
      each: () => Promise.resolve(syncEach(join(folder, "each.jsonl"))),
      journal: () => appendAll(join(folder, "journal")),
    });
    return [
      { policy: "write and fsync each", "records/s": median(figures.each).toFixed(0), ratio: "1", target: "" },
      {
        policy: "journal",
        "records/s": median(figures.journal).toFixed(0),
        ratio: medianRatio(figures.journal, figures.each).toFixed(1),
        target: "10",
      },
    ];
  },
};

export const foldPart: Part = {
  name: "fold",
  title: `Fold: a journal of ${FAILURES} failures of ${OPERATIONS} operations, read and folded`,
  async run({ folder, rounds }: Bench): Promise<Row[]> {
    const run = join(folder, "fold");
    mkdirSync(run, { recursive: true });
    const lines = Array.from({ length: FAILURES }, (_, number) => lineOf(number));
    appendFileSync(join(run, "failures.jsonl"), lines.join(""));
    const figures = await inTurns(rounds, {
      fold: () => {
        const before = process.cpuUsage();
        const { incidents } = readJournal(run);
        const { user, system } = process.cpuUsage(before);
        if (incidents.size !== OPERATIONS) throw new Error(`${incidents.size} incidents instead of ${OPERATIONS}`);
        return Promise.resolve((user + system) / 1e6);
      },
    });
    return [{ records: String(FAILURES), "CPU s": median(figures.fold).toFixed(2), target: "2" }];
  },
};

/** Records a second, as a writer without batches would do it. */
function syncEach(file: string): number {
  const fd = openSync(file, "a");
  const start = performance.now();
  let records = 0;
  while (performance.now() - start < APPEND_MS) {
    writeSync(fd, lineOf(records));
    fsyncSync(fd);
    records += 1;
  }
  const seconds = (performance.now() - start) / 1000;
  closeSync(fd);
  rmSync(file);
  return records / seconds;
}

/** Records a second of callers that each append the next one when the one before is durable. */
async function appendAll(folder: string): Promise<number> {
  const journal = Journal.open(folder);
  const start = performance.now();
  let records = 0;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (performance.now() - start < APPEND_MS) {
      const number = (records += 1);
      const stored = await journal.append([failureOf(number)], { durable: true });
      if (stored !== "stored") throw new Error("The disk took nothing");
    }
  });
  await Promise.all(callers);
  const seconds = (performance.now() - start) / 1000;
  await journal.close();
  rmSync(folder, { recursive: true });
  return records / seconds;
}

function failureOf(number: number): FailureEvent {
  return {
    id: `tool:0a1b2c3d:call-${number}`,
    operation: KEYS[number % OPERATIONS] ?? "",
    kind: "failure",
    category: "tool",
    tool: "run",
    summary: "error: test failed, expected 3 to equal 4",
    evidence: `output.log#byte=${number * 311}`,
    exitCode: 1,
    attempt: { toolCallId: `call-${number}`, startN: 2 * number, endN: 2 * number + 1 },
  };
}

function lineOf(number: number): string {
  const text = JSON.stringify(failureOf(number));
  return `\n${encodeRecord({ w: "0a1b2c3d", seq: number + 1, observedAt: 1_700_000_000_000 + number, text })}\n`;
}
