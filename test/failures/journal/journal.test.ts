import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import { readJournal } from "../../../src/failures/journal/read-journal.ts";
import { encodeRecord } from "../../../src/failures/journal/record.ts";
import { STORAGE_ACCESS } from "../../../src/failures/journal/storage-gaps.ts";
import type { FailureEvent, JournalEvent, RecoveredEvent } from "../../../src/failures/records.ts";
import { shownState } from "./shown-state.ts";

const LOST_RECORD = "unresolved: A record of the failure journal cannot be read";

let root: string;
let run: string;
let file: string;
let marker: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ostler-journal-"));
  run = join(root, "run");
  file = join(run, "failures.jsonl");
  marker = `${file}.observed`;
});
afterEach(() => rmSync(root, { recursive: true }));

const failure = (id: string, more: Partial<FailureEvent> = {}): FailureEvent => ({
  id,
  operation: `operation of ${id}`,
  kind: "failure",
  category: "tool",
  tool: "run",
  summary: `${id} failed`,
  ...more,
});
const recovery = (operation: string, ...incidents: readonly string[]): RecoveredEvent => ({
  id: `recovered:${incidents.join()}`,
  operation,
  kind: "recovered",
  incidents,
});
const incidentsOf = (journal: Pick<Journal, "state">): readonly string[] => shownState(journal.state).incidents;
const readAgain = (): readonly string[] => shownState(readJournal(run)).incidents;
const linesOf = (text = readFileSync(file, "utf8")): readonly string[] =>
  text.split("\n").filter((line) => line !== "");

/** Two processes with one journal. */
const openTwo = (): readonly [Journal, Journal] => [
  Journal.open(run, { writer: "aaaaaaaa", isLive: true }),
  Journal.open(run, { writer: "bbbbbbbb", isLive: true }),
];

/** A journal in which these events were written, and which was closed in order. */
async function written(...events: readonly JournalEvent[]): Promise<void> {
  const journal = Journal.open(run, { writer: "aaaaaaaa" });
  await journal.append(events, { durable: true });
  await journal.close();
}

test("nothing is made of a run in which nothing was observed", async () => {
  const journal = Journal.open(run);
  journal.refresh();
  await journal.close();
  expect(incidentsOf(journal)).toEqual([]);
  expect(readAgain()).toEqual([]);
  expect(readdirSync(root)).toEqual([]);
});

test("an event counts at once, and is on disk when its promise resolves", async () => {
  const journal = Journal.open(run, { writer: "aaaaaaaa", now: () => 1_700_000_000_000 });
  const stored = journal.append([failure("a"), failure("b")], { durable: true });
  expect(incidentsOf(journal)).toEqual(["unresolved: a failed", "unresolved: b failed"]);
  expect(readdirSync(root)).toEqual([]);
  expect(await stored).toBe("stored");
  const [first, second] = linesOf().map((line) => JSON.parse(line));
  expect(first).toEqual({
    v: 1,
    w: "aaaaaaaa",
    seq: 1,
    observedAt: 1_700_000_000_000,
    event: failure("a"),
    crc: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
  expect(second).toMatchObject({ w: "aaaaaaaa", seq: 2, event: { id: "b" } });
  // Each stands between newlines of its own, so that it ends whatever was torn before it.
  expect(readFileSync(file, "utf8")).toMatch(/^\n\{.*\}\n\n\{.*\}\n$/);
  await journal.close();
});

test("files and folders are the user's alone", async () => {
  await written(failure("a"));
  expect(statSync(run).mode & 0o777).toBe(0o700);
  expect([file, marker].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
});

test.each([
  { from: "the same event again", event: failure("a") },
  { from: "a recovery that names nothing", event: recovery("operation of a") },
  { from: "a recovery of another operation", event: recovery("operation of b", "a") },
  { from: "case 75: an id that every object has", event: failure("constructor"), first: failure("constructor") },
  { from: "case 75: the name of a prototype", event: failure("__proto__"), first: failure("__proto__") },
])("$from is not written", async ({ event, first = failure("a") }) => {
  await written(first);
  const before = readFileSync(file, "utf8");
  const journal = Journal.open(run);
  expect(journal.accepts(event)).toBe(false);
  expect(await journal.append([event], { durable: true })).toBe("stored");
  await journal.close();
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(readAgain()).toEqual([`unresolved: ${first.id} failed`]);
});

test("an event that no record can hold leaves a gap, and the next one is written", async () => {
  const journal = Journal.open(run);
  await journal.append([failure("x".repeat(257)), failure("b")], { durable: false });
  await journal.close();
  const gap = "unresolved: An observation could not be written down: it does not fit into a record";
  expect(incidentsOf(journal)).toEqual([gap, "unresolved: b failed"]);
  expect(readAgain()).toEqual(incidentsOf(journal));
});

test("seed document 004: what a text says of a secret never reaches the disk or the state", async () => {
  const secret = "sk-ant-api03-abcdefghijklmnop";
  const journal = Journal.open(run);
  const summary = `key ${secret}`;
  await journal.append(
    [
      failure("a", { summary, evidence: summary, tool: secret }),
      {
        id: "d",
        operation: "x",
        kind: "disposition",
        incidents: ["a"],
        disposition: "open",
        reason: summary,
        evidence: summary,
        by: "human",
      },
    ],
    { durable: true },
  );
  await journal.close();
  expect(linesOf()).toHaveLength(2);
  expect(readFileSync(file, "utf8")).not.toContain("abcdefghijklmnop");
  expect(JSON.stringify([...journal.state.incidents.values()])).not.toContain("abcdefghijklmnop");
});

test("what is durable is synced together, and the rest within a quarter of a second", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const journal = Journal.open(run);
    expect(await journal.append([failure("a")], { durable: false })).toBe("stored");
    expect(linesOf()).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(250);
    expect(vi.getTimerCount()).toBe(0);
    const many = Array.from({ length: 64 }, (_, index) => journal.append([failure(`m${index}`)], { durable: true }));
    expect(await Promise.all(many)).toEqual(Array.from({ length: 64 }, () => "stored"));
    await journal.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("closing loses nothing that nobody waited for", async () => {
  const journal = Journal.open(run);
  for (let index = 0; index < 3000; index += 1) void journal.append([failure(`f${index}`)], { durable: false });
  await journal.close();
  expect(linesOf()).toHaveLength(3000);
  expect(readAgain()).toEqual(incidentsOf(journal));
  expect(JSON.parse(readFileSync(marker, "utf8"))).toEqual({ v: 1, records: 3000, bytes: statSync(file).size });
});

test("a journal of more than a reader takes at once is read whole, and the incidents are the same", async () => {
  const journal = Journal.open(run);
  const events = Array.from({ length: 4000 }, (_, index) =>
    failure(`f${index}`, { operation: `o${index % 50}`, summary: "é".repeat(1 + (index % 300)) }),
  );
  await journal.append(events, { durable: false });
  await journal.close();
  expect(statSync(file).size).toBeGreaterThan(1024 * 1024);
  expect(readJournal(run)).toEqual(journal.state);
  expect(Journal.open(run).state).toEqual(journal.state);
});

describe("what is missing of a journal", () => {
  test.each([
    {
      from: "case 58: half a record at the end",
      harm: () => appendFileSync(file, '\n{"v":1,"w":"bbbbbbbb","seq":1,"obser'),
      gap: LOST_RECORD,
      left: ["unresolved: a failed", "unresolved: b failed"],
    },
    {
      from: "case C25: half a character at the end",
      harm: () => appendFileSync(file, Buffer.from('\n{"v":1,"w":"bbbbbbbb","seq":1,"x":"é').subarray(0, -1)),
      gap: LOST_RECORD,
      left: ["unresolved: a failed", "unresolved: b failed"],
    },
    {
      from: "case 59: the journal was deleted",
      harm: () => rmSync(file),
      gap: "unresolved: The failure journal of this run is missing: what was observed before is lost",
      left: [],
    },
    {
      from: "case 60: the journal was cut to half",
      harm: () => truncateSync(file, Math.round(statSync(file).size / 2)),
      gap: /^unresolved: The failure journal of this run was cut or replaced: it had \d+ bytes and has \d+( \(2\))?$/,
      left: ["unresolved: a failed"],
    },
    {
      from: "the journal was emptied",
      harm: () => truncateSync(file),
      gap: /^unresolved: The failure journal of this run was cut or replaced: it had \d+ bytes and has 0$/,
      left: [],
    },
    {
      from: "one byte of a record has changed",
      harm: () => writeFileSync(file, readFileSync(file, "utf8").replace("a failed", "a fooled")),
      gap: LOST_RECORD,
      left: ["unresolved: b failed"],
    },
    {
      from: "a record is of a later version",
      harm: () => appendFileSync(file, '\n{"v":2,"w":"bbbbbbbb","seq":1}\n'),
      gap: LOST_RECORD,
      left: ["unresolved: a failed", "unresolved: b failed"],
    },
    {
      from: "a line of 3 MiB",
      harm: () => appendFileSync(file, `\n${"x".repeat(3 * 1024 * 1024)}\n`),
      gap: LOST_RECORD,
      left: ["unresolved: a failed", "unresolved: b failed"],
    },
    {
      from: "two records of a writer are not there",
      harm: () =>
        appendFileSync(
          file,
          `\n${encodeRecord({ w: "bbbbbbbb", seq: 3, observedAt: 1, text: JSON.stringify(failure("c")) })}\n`,
        ),
      gap: "unresolved: 2 records of the failure journal cannot be read",
      left: ["unresolved: a failed", "unresolved: b failed", "unresolved: c failed"],
    },
    {
      from: "three lines that are no records",
      harm: () => appendFileSync(file, "\nx\n\ny\n\nz\n"),
      gap: "unresolved: 3 records of the failure journal cannot be read",
      left: ["unresolved: a failed", "unresolved: b failed"],
    },
  ])("is one incident, shown to all and written once: $from", async ({ harm, gap, left }) => {
    await written(failure("a"), failure("b"));
    harm();
    const expected = [...left, expect.stringMatching(gap)];
    expect(readAgain()).toEqual(expected);

    const next = Journal.open(run, { writer: "cccccccc" });
    expect(incidentsOf(next)).toEqual(expected);
    await next.append([failure("next")], { durable: true });
    await next.close();
    expect(readAgain()).toEqual([...expected, "unresolved: next failed"]);

    const size = statSync(file).size;
    const third = Journal.open(run);
    await third.close();
    expect(incidentsOf(third)).toEqual(readAgain());
    expect(statSync(file).size).toBe(size);
  });

  test("half a record is no gap while its writer lives", async () => {
    await written(failure("a"));
    appendFileSync(file, '\n{"v":1,"w":"bbbbbbbb","seq":1,"obser');
    const before = readFileSync(file, "utf8");
    expect(shownState(readJournal(run, { isLive: true })).incidents).toEqual(["unresolved: a failed"]);
    const journal = Journal.open(run, { isLive: true });
    await journal.close();
    expect(incidentsOf(journal)).toEqual(["unresolved: a failed"]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test.each([
    { from: "an empty marker", text: "" },
    { from: "a marker of nonsense", text: "{{" },
    { from: "a marker of another version", text: '{"v":2,"records":1,"bytes":9}' },
  ])("$from still says that there was a journal", ({ text }) => {
    mkdirSync(run);
    writeFileSync(marker, text);
    expect(readAgain()).toEqual([
      "unresolved: The failure journal of this run is missing: what was observed before is lost",
    ]);
  });

  test("a journal without a marker is complete", async () => {
    await written(failure("a"));
    rmSync(marker);
    expect(readAgain()).toEqual(["unresolved: a failed"]);
    const journal = Journal.open(run);
    await journal.append([failure("b")], { durable: false });
    await journal.close();
    expect(readAgain()).toEqual(["unresolved: a failed", "unresolved: b failed"]);
    expect(JSON.parse(readFileSync(marker, "utf8"))).toEqual({ v: 1, records: 2, bytes: statSync(file).size });
  });

  test("a process that dies right after its first record has said in the marker how much there is", async () => {
    const journal = Journal.open(run);
    await journal.append([failure("a"), failure("b")], { durable: true });
    // Not closed. Half of it goes, at the end of a record.
    truncateSync(file, readFileSync(file, "utf8").indexOf("}\n") + 2);
    expect(readAgain()).toEqual(["unresolved: a failed", expect.stringContaining("was cut or replaced")]);
    await journal.close();
  });

  test.each([
    { from: "deleted", harm: () => rmSync(file) },
    { from: "emptied", harm: () => truncateSync(file) },
  ])("a journal that is $from under a process costs a gap, and memory keeps what was known", async ({ harm }) => {
    const journal = Journal.open(run);
    await journal.append([failure("a")], { durable: true });
    harm();
    journal.refresh();
    expect(incidentsOf(journal)).toEqual(["unresolved: a failed", expect.stringContaining("was cut or replaced")]);
    await journal.append([failure("b")], { durable: true });
    await journal.close();
    expect(incidentsOf(journal)).toHaveLength(3);
    expect(readAgain()).toContain("unresolved: b failed");
    expect(readAgain()).toContainEqual(expect.stringMatching(/cut or replaced|cannot be read/));
  });
});

describe("a journal that cannot be read or written", () => {
  test.each([
    { from: "a folder stands in its place", block: () => mkdirSync(file, { recursive: true }), code: "EISDIR|EINVAL" },
    { from: "a file stands in the place of the run", block: () => writeFileSync(run, ""), code: "ENOTDIR|EEXIST" },
  ])("keeps all in memory, and closes the gap when it can: $from", async ({ block, code }) => {
    block();
    const journal = Journal.open(run);
    expect(await journal.append([failure("a")], { durable: true })).toBe("pending");
    const gap = new RegExp(
      `^unresolved: (The failure journal cannot be read|Failures cannot be written down) \\((${code})\\)`,
    );
    expect(incidentsOf(journal)).toHaveLength(2);
    expect(incidentsOf(journal)).toContain("unresolved: a failed");
    expect(incidentsOf(journal)).toContainEqual(expect.stringMatching(gap));
    expect(journal.pending).toBe(2);
    rmSync(file.startsWith(run) && statSync(run).isFile() ? run : file, { recursive: true });
    journal.refresh();
    expect(journal.pending).toBe(0);
    await journal.close();
    expect(incidentsOf(journal).filter((text) => text.startsWith("unresolved"))).toEqual(["unresolved: a failed"]);
    expect(readAgain()).toEqual(incidentsOf(journal));
  });

  test("says so to who only looks, and writes nothing", () => {
    mkdirSync(file, { recursive: true });
    expect(readAgain()).toEqual([expect.stringMatching(/^unresolved: The failure journal cannot be read \(E\w+\)$/)]);
    expect(readdirSync(run)).toEqual(["failures.jsonl"]);
  });

  test("is tried again by itself", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      mkdirSync(file, { recursive: true });
      const journal = Journal.open(run);
      await journal.append([failure("a")], { durable: true });
      rmSync(file, { recursive: true });
      vi.advanceTimersByTime(5000);
      expect(journal.pending).toBe(0);
      await journal.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("an outage that its writer did not live to end is ended by the next one", async () => {
    const outage: FailureEvent = {
      ...failure("gap:storage-outage:aaaaaaaa-1"),
      kind: "incomplete",
      category: "observation-incomplete",
      operation: STORAGE_ACCESS,
    };
    await written(outage);
    const journal = Journal.open(run);
    await journal.close();
    expect(readAgain()).toEqual([`resolved: ${outage.summary}`]);
  });
});

describe("two writers", () => {
  test("case 74: who observe the same make one state and no doubled incident", async () => {
    const [one, other] = openTwo();
    const events = Array.from({ length: 20 }, (_, index) => failure(`f${index}`, { operation: `o${index % 3}` }));
    for (const event of events) {
      const [first, second] = Number(event.id.slice(1)) % 2 === 0 ? [one, other] : [other, one];
      await first.append([event], { durable: false });
      await second.append([event], { durable: false });
    }
    for (const journal of [one, other]) await journal.close();
    one.refresh();
    expect(one.state).toEqual(other.state);
    expect(one.state).toEqual(readJournal(run));
    expect(incidentsOf(one)).toEqual([
      "unresolved: f18 failed (7)",
      "unresolved: f19 failed (7)",
      "unresolved: f17 failed (6)",
    ]);
    expect(one.state.incidents.size).toBe(3);
  });

  test("what another one wrote first counts first, though this one knew its own before", async () => {
    const [one, other] = openTwo();
    await one.append([failure("a", { operation: "o" })], { durable: true });
    other.refresh();
    await other.append([recovery("o", "a")], { durable: true });
    // It has not looked: to it, this is the same incident again.
    const stored = one.append([failure("b", { operation: "o" })], { durable: true });
    expect(incidentsOf(one)).toEqual(["unresolved: b failed (2)"]);
    await stored;
    expect(incidentsOf(one)).toEqual(["resolved: a failed", "unresolved: b failed"]);
    await one.close();
    await other.close();
    expect(readJournal(run)).toEqual(one.state);
    expect(other.state).toEqual(one.state);
  });

  test("an event that another one has written meanwhile is not written again", async () => {
    const [one, other] = openTwo();
    await one.append([failure("a")], { durable: true });
    await other.append([failure("a"), failure("b")], { durable: true });
    await one.close();
    await other.close();
    expect(linesOf()).toHaveLength(2);
    expect(readAgain()).toEqual(["unresolved: a failed", "unresolved: b failed"]);
  });
});

test("a pipe in the place of the journal is not waited for", async () => {
  mkdirSync(run);
  execFileSync("mkfifo", [file]);
  expect(readAgain()).toEqual(["unresolved: The failure journal cannot be read (EINVAL)"]);
  const journal = Journal.open(run);
  expect(await journal.append([failure("a")], { durable: true })).toBe("pending");
  rmSync(file);
  await journal.close();
});
