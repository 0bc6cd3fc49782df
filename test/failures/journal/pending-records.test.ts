import { beforeEach, describe, expect, test } from "vitest";
import { PendingRecords } from "../../../src/failures/journal/pending-records.ts";
import { prepareEvent } from "../../../src/failures/journal/prepare-event.ts";
import type { FailureEvent } from "../../../src/failures/records.ts";

const EVENT: FailureEvent = { id: "a", operation: "o", kind: "failure", category: "tool", summary: "it failed" };

let pending: PendingRecords;

beforeEach(() => (pending = new PendingRecords("9f3a01bc")));

function take(...ids: readonly string[]): void {
  for (const id of ids) {
    const prepared = prepareEvent({ ...EVENT, id });
    if (prepared !== undefined) pending.take(prepared, 1);
  }
}

/** Ids of the batch that would be written now, each with its number, and how often it was torn. */
function batch(): readonly string[] {
  return pending
    .batch()
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .map(({ seq, torn, event }) => `${seq} ${event.id}${torn === undefined ? "" : ` torn ${torn}`}`);
}

/** Whether a promise has settled once everything that can has. */
async function toldOf(stored: Promise<string>): Promise<string> {
  return Promise.race([stored, new Promise<string>((resolve) => setImmediate(() => resolve("waits")))]);
}

test("numbers go on from batch to batch", () => {
  take("a", "b");
  expect(batch()).toEqual(["1 a", "2 b"]);
  expect(pending.wrote(pending.batch().length)).toEqual({ records: 2, seq: 2 });
  take("c");
  expect(batch()).toEqual(["3 c"]);
});

/** Of the batch: two records of one length, each with a newline before and one behind. */
test.each([
  { from: "nothing", taken: () => 0, left: ["1 a", "2 b"] },
  { from: "a newline", taken: () => 1, left: ["1 a", "2 b"] },
  { from: "a newline and one byte", taken: () => 2, left: ["1 a torn 1", "2 b"] },
  { from: "all but the last byte of a record", taken: (all: number) => all / 2 - 2, left: ["1 a torn 1", "2 b"] },
  { from: "a record without its newline", taken: (all: number) => all / 2 - 1, left: ["1 a", "2 b"] },
  { from: "a record", taken: (all: number) => all / 2, left: ["2 b"] },
  { from: "a record and a half", taken: (all: number) => Math.floor((all * 3) / 4), left: ["2 b torn 1"] },
  { from: "everything", taken: (all: number) => all, left: [] },
])("when the disk took $from, the rest is written again", ({ taken, left }) => {
  take("a", "b");
  pending.wrote(taken(pending.batch().length));
  expect(batch()).toEqual(left);
  expect(pending.unwritten).toBe(left.length);
});

test("a record that is torn again says how often", () => {
  take("a");
  for (const _ of [1, 2, 3]) {
    batch();
    pending.wrote(9);
  }
  expect(batch()).toEqual(["1 a torn 3"]);
});

describe("who waits", () => {
  test("is told of what is written, or of what is synced, whichever was asked for", async () => {
    take("a");
    const written = pending.whenStored(false);
    const synced = pending.whenStored(true);
    expect(pending.isSyncUrgent).toBe(false);
    pending.wrote(pending.batch().length);
    expect([await toldOf(written), await toldOf(synced)]).toEqual(["stored", "waits"]);
    expect(pending.isSyncUrgent).toBe(true);
    const { writtenTo } = pending;
    take("b");
    const later = pending.whenStored(true);
    pending.wrote(pending.batch().length);
    pending.synced(writtenTo);
    expect([await toldOf(synced), await toldOf(later)]).toEqual(["stored", "waits"]);
  });

  test("is told at once when there is nothing to wait for", async () => {
    expect(await toldOf(pending.whenStored(true))).toBe("stored");
  });

  test("is told that it is in memory when the disk takes nothing, but not of what it took before", async () => {
    take("a");
    const first = pending.whenStored(true);
    pending.wrote(pending.batch().length);
    take("b");
    const second = pending.whenStored(true);
    pending.cannotWrite();
    expect([await toldOf(first), await toldOf(second)]).toEqual(["waits", "pending"]);
  });

  test("is told that it is in memory when the sync fails, and all of it is written once more with its numbers", async () => {
    take("a", "b");
    const stored = pending.whenStored(true);
    pending.wrote(pending.batch().length);
    take("c");
    pending.syncFailed();
    expect(await toldOf(stored)).toBe("pending");
    expect(batch()).toEqual(["1 a", "2 b", "3 c"]);
    expect(pending.isUnsynced).toBe(false);
  });

  test("is told of what another process wrote instead", async () => {
    take("a");
    const stored = pending.whenStored(false);
    pending.review(() => false);
    expect(await toldOf(stored)).toBe("stored");
    expect(batch()).toEqual([]);
  });
});

test("what may stand in the file in part is written to its end, though others wrote the same", () => {
  take("a", "b");
  batch();
  pending.wrote(9);
  take("c");
  pending.review(() => false);
  expect(batch()).toEqual(["1 a torn 1", "2 b"]);
});

test.each([
  { from: "a thousand records", text: "{}", most: 1000 },
  { from: "a MiB", text: "x".repeat(8192), most: 128 },
])("memory is full with $from", ({ text, most }) => {
  for (let taken = 1; taken < most; taken += 1) pending.take({ event: EVENT, text }, 1);
  expect(pending.isFull).toBe(false);
  pending.take({ event: EVENT, text }, 1);
  expect(pending.isFull).toBe(true);
});
