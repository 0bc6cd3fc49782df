/** Runs that are removed, on a real disk: whole, with their provenance, and whatever a crash left. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { pruneIfDue, pruneRuns } from "../../../src/failures/runs/prune.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { removeRun } from "../../../src/failures/runs/removal.ts";
import { NoticeBox } from "../../../src/host/notice-box.ts";
import { aRun } from "./run-fixture.ts";

const DAY_MS = 24 * 3600 * 1000;
const NOW = 1_800_000_000_000;

let state: string;
let registry: RunRegistry;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-prune-"));
  registry = new RunRegistry(state);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

/** A run that ended 60 days ago and was told, with a log. */
function given(over: Partial<RunMeta> = {}): string {
  const meta = aRun({ status: "completed", endedAt: NOW - 60 * DAY_MS, told: ["completion"], ...over });
  registry.createRun(meta);
  writeFileSync(registry.logFile(meta.id), "x".repeat(1000));
  return meta.id;
}

const FAILED: JournalEvent = {
  id: "tool:0badcafe:a",
  operation: "op",
  kind: "failure",
  category: "tool",
  tool: "run",
  summary: "Exit code 1",
  attempt: { toolCallId: "a", startN: 1, endN: 2 },
};

async function journaled(id: string, ...events: JournalEvent[]): Promise<void> {
  const journal = Journal.open(registry.runFolder(id), {});
  await journal.append(events, { durable: true });
  await journal.close();
}

const filesOf = (): string[] => readdirSync(state, { recursive: true }).map(String).toSorted();

test("a run goes whole, with its provenance and its mark, and the others stay", () => {
  const gone = given({ taskRuntime: true, told: [] });
  const stays = given({ taskRuntime: true, endedAt: NOW });
  const { removed, kept, problems } = pruneRuns(registry, { olderThanMs: 30 * DAY_MS }, { now: NOW });
  expect(removed.map(({ id }) => id)).toEqual([gone]);
  expect(removed[0]?.bytes).toBeGreaterThan(1000);
  expect({ kept, problems }).toEqual({ kept: [], problems: [] });
  expect(filesOf()).toEqual(
    [
      "open-runs",
      "provenance",
      `provenance/${stays}.json`,
      "runs",
      `runs/${stays}`,
      `runs/${stays}/meta.json`,
      `runs/${stays}/output.log`,
    ].toSorted(),
  );
});

test("its provenance and its mark go with it, not with a later sweep", () => {
  const id = given({ taskRuntime: true, told: [] });
  expect(removeRun(registry, id, () => true)).toBe(true);
  expect(filesOf()).toEqual(["open-runs", "provenance", "runs"]);
});

test("a dry run decides the same, and removes nothing", () => {
  const id = given({ taskRuntime: true });
  const before = filesOf();
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW, dryRun: true }).removed.map((run) => run.id)).toEqual([id]);
  expect(filesOf()).toEqual(before);
});

test("a run with a failure that nobody was told of stays, until somebody was", async () => {
  const id = given();
  await journaled(id, FAILED);
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW })).toMatchObject({
    removed: [],
    kept: [{ id, because: "untold" }],
  });
  expect(pruneRuns(registry, { ids: [id] }, { now: NOW })).toMatchObject({
    removed: [],
    kept: [{ id, because: "untold" }],
  });
  expect(existsSync(registry.logFile(id))).toBe(true);
  await journaled(id, { id: "delivered:x", operation: "op", kind: "delivered", incidents: [FAILED.id] });
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW }).removed).toMatchObject([{ id }]);
  expect(registry.ids()).toEqual([]);
});

test("a run whose journal is gone has lost evidence, and stays until that was said", async () => {
  const id = given();
  await journaled(id, FAILED, { id: "delivered:x", operation: "op", kind: "delivered", incidents: [FAILED.id] });
  rmSync(join(registry.runFolder(id), "failures.jsonl"));
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW }).kept).toEqual([{ id, because: "untold" }]);
});

test("callback: false: nobody is to be told", async () => {
  const id = given({ callback: false });
  await journaled(id, FAILED);
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW }).removed).toMatchObject([{ id }]);
});

test("a run that went on between the look and the removal stays", () => {
  const id = given();
  expect(removeRun(registry, id, ({ status }) => status === "running")).toBe(false);
  expect(registry.readMeta(id)).toMatchObject({ status: "completed" });
  expect(readdirSync(registry.runFolder(id)).toSorted()).toEqual(["meta.json", "output.log"]);
});

test("one run that cannot be removed keeps no other", () => {
  const first = given();
  const second = given();
  // Another Ostler that is removing the first died over it: the name it takes is not free.
  mkdirSync(join(state, "runs", `.gone-${first}`, "half"), { recursive: true });
  const { removed, problems } = pruneRuns(registry, { keep: 0 }, { now: NOW });
  expect(removed.map(({ id }) => id)).toEqual([second]);
  expect(problems).toEqual([expect.objectContaining({ code: "ENOTEMPTY" })]);
  // What was in the way is swept, so that the next one succeeds.
  expect(pruneRuns(registry, { keep: 0 }, { now: NOW }).removed).toMatchObject([{ id: first }]);
});

test("what a crash left is swept: half a removal at once, the rest after an hour", () => {
  const stays = given({ taskRuntime: true });
  const { id: orphan } = aRun();
  const runs = join(state, "runs");
  mkdirSync(join(runs, ".gone-ag_mgx1k2a3aaaa_1"));
  writeFileSync(join(runs, ".gone-ag_mgx1k2a3aaaa_1", "output.log"), "half");
  mkdirSync(join(runs, ".new-ag_mgx1k2a3aaaa_2"));
  writeFileSync(registry.provenance.fileOf(orphan), "{}");
  writeFileSync(`${registry.provenance.fileOf(orphan)}.4711.new`, "{}");
  mkdirSync(join(state, "open-runs"));
  writeFileSync(join(state, "open-runs", orphan), "");
  const leftOver = [
    join(runs, ".new-ag_mgx1k2a3aaaa_2"),
    registry.provenance.fileOf(orphan),
    `${registry.provenance.fileOf(orphan)}.4711.new`,
    join(state, "open-runs", orphan),
  ];
  const age = (file: string, seconds: number): void => utimesSync(file, NOW / 1000 - seconds, NOW / 1000 - seconds);
  age(registry.provenance.fileOf(stays), 7200);
  for (const file of leftOver) age(file, 3599);
  pruneRuns(registry, { keep: 9 }, { now: NOW });
  expect(existsSync(join(runs, ".gone-ag_mgx1k2a3aaaa_1"))).toBe(false);
  expect(leftOver.filter((file) => existsSync(file))).toEqual(leftOver);
  for (const file of leftOver) age(file, 3601);
  pruneRuns(registry, { keep: 9 }, { now: NOW });
  expect(leftOver.filter((file) => existsSync(file))).toEqual([]);
  expect(existsSync(registry.provenance.fileOf(stays))).toBe(true);
});

test("the configured retention is applied once a day", () => {
  const retention = { days: 30, mib: 2048 };
  expect(pruneIfDue(registry, retention, NOW)).toBeUndefined();
  const now = Date.now();
  const first = given({ endedAt: now - 31 * DAY_MS });
  expect(pruneIfDue(registry, retention, now)?.removed).toMatchObject([{ id: first }]);
  const second = given({ endedAt: now - 31 * DAY_MS });
  expect(pruneIfDue(registry, retention, now + DAY_MS - 60_000)).toBeUndefined();
  expect(pruneIfDue(registry, retention, now + DAY_MS + 60_000)?.removed).toMatchObject([{ id: second }]);
});

test("a run whose notice waits to be shown stays until somebody has seen it", async () => {
  const id = given({ callback: false });
  const notice = { runId: id, moment: "completion", incidents: [], text: "Action required" } as const;
  const box = new NoticeBox(state);
  await box.deliver(notice);
  const prune = () => pruneRuns(registry, { ids: [id] }, { now: NOW });
  expect(prune()).toMatchObject({ removed: [], kept: [{ id, because: "untold" }] });
  await box.empty(async () => {
    // While it is being shown it has not been seen.
    expect(prune().removed).toEqual([]);
  });
  expect(prune().removed.map((run) => run.id)).toEqual([id]);
});
