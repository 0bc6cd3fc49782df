/** Turns a table of rows into tests: one per recording and mode. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/acp/ports.ts";
import { driveOf, seenIn, wantedFrom } from "./check.ts";
import type { ExpectedTurn, RecordingRow } from "./expectation.ts";
import { replay } from "./replay.ts";

const RECORDINGS = join(import.meta.dirname, "../fixtures/recordings");
const MODES = ["air", "plain"] as const;

/** Replays every row; `folder` is `<adapter>/<version>` under the recordings. */
export function testReplays(
  folder: string,
  rows: readonly RecordingRow[],
  backendFor: (air: boolean) => Backend,
): void {
  describe.each(MODES)(`${folder} %s`, (mode) => {
    const driven = rows.flatMap((row) => {
      const turns = row[mode];
      return isDriven(turns) ? [{ name: row.case, why: row.why, row, turns }] : [];
    });
    test.concurrent.each(driven)("$name: $why", async ({ row, turns }) => {
      const recording = join(RECORDINGS, folder, mode, `${row.case}.jsonl`);
      const drive = driveOf(row.drive, turns);
      const run = await replay({ recording, backend: backendFor(mode === "air"), turns: turns.length, drive });
      expect(seenIn(run, turns)).toEqual(wantedFrom(turns));
    });
  });
}

/** Holds table and folder together: every recording has exactly one row. */
export function testCompleteness(folder: string, rows: readonly RecordingRow[]): void {
  test.each(MODES)(`every recording of ${folder} %s has exactly one row`, (mode) => {
    const files = readdirSync(join(RECORDINGS, folder, mode)).map((file) => file.replace(/\.jsonl$/, ""));
    expect(rows.map((row) => row.case).sort()).toEqual(files.sort());
  });
}

function isDriven(expectation: RecordingRow["air"]): expectation is readonly ExpectedTurn[] {
  return Array.isArray(expectation);
}
