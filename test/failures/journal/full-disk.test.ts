/** A disk that runs full under a journal, and has room again (failure observations, section 12, case 61; case C25). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readJournal } from "../../../src/failures/journal/read-journal.ts";
import type { FailureEvent, JournalEvent } from "../../../src/failures/records.ts";
import { JournalProcess } from "./journal-process.ts";
import { shownState } from "./shown-state.ts";
import { SMALL_DISKS } from "./small-disk.ts";
import type { SmallDisk } from "./small-disk.ts";

/** Some 500 bytes in the journal. */
function failure(name: string): FailureEvent {
  return { id: name, operation: name, kind: "failure", category: "model", summary: `${name} ${"-".repeat(350)}` };
}

const RECEIPT: JournalEvent = { id: "delivered:1", operation: "d", kind: "delivered", incidents: ["first"] };

/** The words before the dashes. */
const names = (incidents: readonly string[]): string[] => incidents.map((incident) => incident.replace(/ -+/, ""));

describe.each(SMALL_DISKS)("on $from", ({ make }) => {
  let disk: SmallDisk;
  let run: string;
  let file: string;
  let writer: JournalProcess;

  beforeEach(() => {
    disk = make();
    run = join(disk.folder, "run");
    file = join(run, "failures.jsonl");
    writer = new JournalProcess(run);
  });
  afterEach(async () => {
    await writer.kill();
    disk.remove();
  });

  const restarted = (): string[] => names(shownState(readJournal(run)).incidents);

  test("case 61: a failure and a receipt count in memory, a gap says so, and both are written when there is room", async () => {
    await writer.append([failure("first")], true);
    disk.fill(writer.pid, file);
    // The first write may still find room in its last page.
    const many = Array.from({ length: 10 }, (_, index) => failure(`f${index}`));
    await writer.append(many, true);
    const down = await writer.append([failure("last"), RECEIPT], true);
    const outage = `Failures cannot be written down (${disk.code}): they are kept in memory until they can`;
    expect(down.stored).toBe("pending");
    expect(down.pending).toBeGreaterThanOrEqual(3);
    expect(names(down.incidents)).toEqual([
      "unresolved: first",
      ...many.map(({ id }) => `unresolved: ${id}`),
      `unresolved: ${outage}`,
      "unresolved: last",
    ]);
    expect(down.delivered).toEqual(["first"]);
    // Not on disk yet, and nobody takes half of a record for one.
    expect(restarted()).not.toContain("unresolved: last");

    disk.free(writer.pid);
    const up = await writer.take({ do: "refresh" });
    expect(up).toMatchObject({ pending: 0, delivered: ["first"] });
    await writer.take({ do: "close" });
    expect(names(up.incidents)).toEqual(names(down.incidents).with(11, `resolved: ${outage}`));
    expect(restarted()).toEqual(names(up.incidents));
    expect(readJournal(run).delivered.get("first")).toBeGreaterThan(0);
    // What was cut off stays in the file, and is no damage.
    expect(linesOf(file).filter((line) => !isWhole(line))).toHaveLength(1);
  });

  test("several tries that break off leave one record, and no damage", async () => {
    await writer.append([failure("first")], true);
    const events = Array.from({ length: 30 }, (_, index) => failure(`f${index}`));
    for (const event of events) {
      disk.fill(writer.pid, file);
      await writer.append([event]);
      disk.free(writer.pid);
      await writer.take({ do: "refresh" });
    }
    await writer.take({ do: "close" });
    const known = restarted();
    expect(known.filter((text) => text.startsWith("unresolved"))).toEqual([
      "unresolved: first",
      ...events.map(({ id }) => `unresolved: ${id}`),
    ]);
    expect(linesOf(file).some((line) => !isWhole(line))).toBe(true);
  });

  test("beyond a thousand records memory takes no more, and one gap says how many are lost", async () => {
    await writer.append([failure("first")], true);
    disk.fill(writer.pid, file);
    const many = Array.from({ length: 1200 }, (_, index): FailureEvent => ({
      ...failure(`f${index}`),
      summary: "it failed",
    }));
    const down = await writer.append(many);
    expect(down).toMatchObject({ stored: "pending", pending: 1000 });
    expect(down.incidents.length).toBe(1202);
    disk.free(writer.pid);
    await writer.take({ do: "refresh" });
    await writer.take({ do: "close" });
    const lost = restarted().filter((text) => text.includes("observations are lost"));
    expect(lost).toHaveLength(1);
    const numberLost = Number(/(\d+) observations/.exec(lost[0] ?? "")?.[1]);
    expect(numberLost).toBe(1202 - restarted().filter((text) => !text.includes("observations are lost")).length);
    expect(numberLost).toBeGreaterThan(180);
  });

  test("a process that dies while the disk is full leaves what was written before", async () => {
    await writer.append([failure("first")], true);
    disk.fill(writer.pid, file);
    await writer.append(Array.from({ length: 10 }, (_, index) => failure(`f${index}`)));
    await writer.kill();
    const next = new JournalProcess(run);
    disk.free(next.pid);
    const known = await next.append([failure("next")], true);
    await next.kill();
    expect(known.stored).toBe("stored");
    expect(names(known.incidents)).toContain("unresolved: first");
    expect(names(known.incidents).filter((text) => text.includes("record"))).toEqual([
      "unresolved: A record of the failure journal cannot be read",
    ]);
    expect(restarted()).toEqual(names(known.incidents));
  });
});

function linesOf(file: string): readonly string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function isWhole(line: string): boolean {
  return /^\{"v":1,.*"crc":"[0-9a-f]{8}"\}$/.test(line);
}
