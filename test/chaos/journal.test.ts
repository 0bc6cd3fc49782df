/**
 * A journal whose writers are killed while they write, one or two at a time, each going on where the one before was cut
 * (failure observations, section 13; case C25). A seed repeats what is written and when the kills come:
 *
 *   CHAOS_SEED=n CHAOS_KILLS=n npm run test:chaos -- journal
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Journal } from "../../src/failures/journal/journal.ts";
import { readJournal } from "../../src/failures/journal/read-journal.ts";
import { eventOf } from "./journal-event.ts";
import { Random } from "./random.ts";
import { readNumber } from "./read-number.ts";

const PROGRAM = fileURLToPath(new URL("./journal-flood.ts", import.meta.url));
const DEFAULT_KILLS = 200;
/** Writers that one journal outlives. */
const KILLS_PER_JOURNAL = 20;
/** How often a writer is told that something is durable, and how long it lives after that. */
const MAX_ANSWERS = 5;
const MAX_AFTER_MS = 15;
/** All journals are read three times. */
const FOLD_MS = 300_000;
const MAX_SEED = 2 ** 31 - 1;

const seed = readNumber("CHAOS_SEED") ?? Math.floor(Math.random() * MAX_SEED);
const kills = readNumber("CHAOS_KILLS") ?? DEFAULT_KILLS;

interface Flooded extends Written {
  readonly folder: string;
  /** The highest number that each stream was told is durable. */
  readonly durable: ReadonlyMap<string, number>;
  readonly kills: number;
}

let root: string;
let journals: readonly Flooded[];

beforeAll(async () => {
  console.log(`CHAOS_SEED=${seed} CHAOS_KILLS=${kills}`);
  root = mkdtempSync(join(tmpdir(), "ostler-journal-chaos-"));
  const count = Math.ceil(kills / KILLS_PER_JOURNAL);
  const flooded: Flooded[] = [];
  for (let number = 0; number < count; number += 1) flooded.push(await flood(number));
  journals = flooded;
}, 1_200_000);
afterAll(() => rmSync(root, { recursive: true }));

test("as many writers were killed as were asked for, and they had written", () => {
  expect(journals.reduce((sum, journal) => sum + journal.kills, 0)).toBeGreaterThanOrEqual(kills);
  for (const { durable } of journals) expect(Math.max(...durable.values())).toBeGreaterThan(0);
});

test("every record that was answered as durable is there, once, as it was given", { timeout: FOLD_MS }, () => {
  for (const { events, durable } of journals) {
    const ids = events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const changed = events.filter((event) => !isDeepStrictEqual(event, eventOf(...nameOf(event.id))));
    expect(changed).toEqual([]);
    const known = new Set(ids);
    const missing = [...durable].flatMap(([stream, last]) =>
      Array.from({ length: last }, (_, index) => `${stream}-${index + 1}`).filter((id) => !known.has(id)),
    );
    expect(missing).toEqual([]);
  }
});

test("no line holds two records or the middle of one: what is torn is a beginning, one a kill at most", () => {
  for (const { torn, kills: killed } of journals) {
    expect(torn.length).toBeLessThanOrEqual(killed);
    for (const line of torn) {
      expect('{"v":1,"w":"'.startsWith(line.slice(0, 12))).toBe(true);
      expect(line.lastIndexOf('{"v":1')).toBeLessThanOrEqual(0);
    }
  }
});

test("the state is that of the records, with one gap when something was torn", { timeout: FOLD_MS }, async () => {
  for (const { folder, events, torn } of journals) {
    // Ends a last line that was torn, and writes down that it was.
    const journal = Journal.open(folder);
    await journal.close();
    expect(readJournal(folder)).toEqual(journal.state);
    const incidents = [...journal.state.incidents.values()];
    const gaps = incidents.filter(({ category }) => category === "observation-incomplete");
    expect(gaps).toHaveLength(torn.length > 0 ? 1 : 0);
    const failures = incidents.filter((incident) => !gaps.includes(incident));
    expect(failures).toHaveLength(new Set(events.map(({ operation }) => operation)).size);
    expect(failures.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(events.length);
  }
});

/** Kills one writer or two after each other, at points that the seed draws. */
async function flood(number: number): Promise<Flooded> {
  const folder = join(root, String(number));
  const random = new Random(seed, number);
  const durable = new Map<string, number>();
  let killed = 0;
  while (killed < KILLS_PER_JOURNAL) {
    const writers = random.chance(0.4) ? 2 : 1;
    const lives = Array.from({ length: writers }, () => ({
      answers: random.int(0, MAX_ANSWERS),
      afterMs: random.int(0, MAX_AFTER_MS),
    }));
    const streams = lives.map((_, index) => String(number * 1000 + killed + index));
    const told = await Promise.all(lives.map((life, index) => floodOnce(folder, streams[index] ?? "", life)));
    for (const [index, last] of told.entries()) durable.set(streams[index] ?? "", last);
    killed += writers;
  }
  return { folder, durable, kills: killed, ...parse(folder) };
}

interface Life {
  readonly answers: number;
  readonly afterMs: number;
}

/** Kills a writer after so many answers and a moment. The last number that it said. */
async function floodOnce(folder: string, stream: string, { answers, afterMs }: Life): Promise<number> {
  const args = ["--no-warnings", PROGRAM, folder, String(seed), stream];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let last = 0;
  let heard = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (heard === answers) setTimeout(() => child.kill("SIGKILL"), afterMs);
    heard += 1;
  }
  const [, signal] = await exited;
  expect(signal).toBe("SIGKILL");
  return last;
}

interface Written {
  readonly events: readonly { readonly id: string; readonly operation: string }[];
  readonly torn: readonly string[];
}

/** Reads a journal without the product: a line is a record when its checksum says so. Gaps are left out. */
function parse(folder: string): Written {
  const lines = readFileSync(join(folder, "failures.jsonl")).toString("latin1").split("\n");
  const torn: string[] = [];
  const events = lines.flatMap((line) => {
    if (line === "") return [];
    const match = /^\{"v":1,"w":"[0-9a-f]{8}","seq":\d+,"observedAt":\d+,"event":(.*),"crc":"([0-9a-f]{8})"\}$/.exec(
      line,
    );
    const bytes = Buffer.from(match?.[1] ?? "", "latin1");
    if (match === null || crc32(bytes) !== Number.parseInt(match[2] ?? "", 16)) {
      torn.push(line);
      return [];
    }
    const event: { readonly id: string; readonly operation: string; readonly kind: string } = JSON.parse(
      bytes.toString(),
    );
    return event.kind === "failure" ? [event] : [];
  });
  return { events, torn };
}

function nameOf(id: string): readonly [stream: string, number: number] {
  const [stream = "", number = ""] = id.split("-");
  return [stream, Number(number)];
}
