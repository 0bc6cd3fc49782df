/** The log of a run that is read again: what it lacks, and that it is there again. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { labelOf } from "../../src/failures/incidents/labels.ts";
import { Journal } from "../../src/failures/journal/journal.ts";
import { Observer } from "../../src/failures/observation/observer.ts";
import { rescan } from "../../src/failures/rescan.ts";

const RUN = "ag_loyw3v28abcd_1";

let folder: string;
let logFile: string;
let journal: Journal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ostler-rescan-"));
  logFile = join(folder, "output.log");
  journal = Journal.open(folder);
});
afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true });
});

/** Label and text of every incident once the log has been read. */
function read(): string[] {
  const observer = new Observer({ runId: RUN, conversationId: RUN, trusted: false });
  rescan({ runId: RUN, logFile, observer, journal, trusted: false, terminal: true });
  return [...journal.state.incidents.values()].map((incident) => `${labelOf(incident)}: ${incident.summary}`);
}

test("a log that is missing is a gap until it is there again (failure observations, section 12)", () => {
  expect(read()).toEqual(["Observation incomplete: The run's log is not there"]);
  expect(read()).toEqual(["Observation incomplete: The run's log is not there"]);
  writeFileSync(logFile, "");
  expect(read()).toEqual(["Recovered: The run's log is not there"]);
});

test("a line that is lost stays a gap, however often the log is read", () => {
  writeFileSync(logFile, "this was never a line of a run\n");
  const gap = "Observation incomplete: A line of the run's log cannot be read: it was cut, or written over";
  expect(read()).toEqual([gap]);
  expect(read()).toEqual([gap]);
});
