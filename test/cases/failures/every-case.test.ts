/** Each case of failure observations, section 15, is played here or proven where it belongs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DECLARED_ROWS } from "./declared-rows.ts";
import { RETRY_ROWS } from "./retry-rows.ts";
import { TURN_ROWS } from "./turn-rows.ts";

const TESTS = join(import.meta.dirname, "../..");
const CASES = 77;

interface Proof {
  readonly number: number;
  /** Below `test/`. */
  readonly file: string;
  /** Of the test, or of its row. */
  readonly name: string;
}

const PROVEN_ELSEWHERE: readonly Proof[] = [
  {
    number: 41,
    file: "cases/failures/killed.test.ts",
    name: "cases 41 and 42: killed when a disposition was journaled",
  },
  {
    number: 42,
    file: "cases/failures/killed.test.ts",
    name: "cases 41 and 42: killed when a disposition was journaled",
  },
  { number: 54, file: "failures/pages/run-page.test.ts", name: "case 54; seed document 004, a completed run" },
  {
    number: 55,
    file: "failures/pages/run-page.test.ts",
    name: "case 55: rows go first, the correctness note stays whole",
  },
  { number: 56, file: "failures/pages/run-page.test.ts", name: "case 56: at 10 bytes there is nothing" },
  { number: 57, file: "failures/pages/incident-page.test.ts", name: "case 57: it stays in history without the flag" },
  { number: 57, file: "failures/pages/incident-page.test.ts", name: "case 57: an incident changed in between" },
  { number: 58, file: "failures/journal/journal.test.ts", name: "case 58: half a record at the end" },
  { number: 59, file: "failures/journal/journal.test.ts", name: "case 59: the journal was deleted" },
  { number: 60, file: "failures/journal/journal.test.ts", name: "case 60: the journal was cut to half" },
  { number: 61, file: "failures/journal/full-disk.test.ts", name: "case 61: a failure and a receipt count in memory" },
  { number: 62, file: "failures/notify/notifier.test.ts", name: "case 62: no receipt, and again after 1 s" },
  { number: 63, file: "failures/notify/notifier.test.ts", name: "case 63: after a crash between hand-off and receipt" },
  { number: 64, file: "failures/notify/notifier.test.ts", name: "case 64: without callback nothing is ever sent" },
  {
    number: 66,
    file: "failures/runs/trust.test.ts",
    name: "nothing is decided in between (failure observations, case 66)",
  },
  { number: 67, file: "failures/runs/trust.test.ts", name: "the exact rule; readable later: trusted (case 67)" },
  { number: 67, file: "failures/runs/trust.test.ts", name: "resolved, not before (case 67)" },
  { number: 68, file: "failures/runs/trust.test.ts", name: "the exact rule at once (case 68)" },
  { number: 69, file: "failures/runs/trust.test.ts", name: "stays while the metadata breaks (case 69)" },
  { number: 70, file: "failures/notify/notifier.test.ts", name: "case 70: the facts once, then a gap" },
  { number: 71, file: "surfaces/cli/run.test.ts", name: "case 71: not when another one does" },
  { number: 72, file: "host/command-run.test.ts", name: "case 72: not by a success that started before" },
  { number: 73, file: "host/command-run-watch.test.ts", name: "case 73: a declared code is expected, and the watch" },
  { number: 74, file: "cases/failures/killed.test.ts", name: "case 74: two supervisors observe one run" },
  { number: 77, file: "failures/incidents/cases.test.ts", name: "case 77: 100,000 failures of 1,000 operations" },
  {
    number: 77,
    file: "failures/pages/incident-page.test.ts",
    name: "case 77: a page of a history of 1,000 operations",
  },
];

/** When somebody is told while the run goes on, and what a long line costs: beside the rows of these cases. */
const ALSO_PROVEN: readonly Proof[] = [
  {
    number: 9,
    file: "failures/notify/notifier.test.ts",
    name: "case 9: three failures are told once, 60 s after the third",
  },
  {
    number: 11,
    file: "failures/notify/notifier.test.ts",
    name: "case 11: it is not told again when it goes on failing",
  },
  { number: 12, file: "failures/notify/notifier.test.ts", name: "case 12: recovered, then three failures" },
  { number: 36, file: "failures/notify/notifier.test.ts", name: "cases 36 and 37: marked open is told after 60 s" },
  { number: 37, file: "failures/notify/notifier.test.ts", name: "cases 36 and 37: marked open is told after 60 s" },
  { number: 65, file: "failures/log/scan.test.ts", name: "case 65: a line of 3 MiB" },
];

test("every case is in one place", () => {
  const places = [RETRY_ROWS, DECLARED_ROWS, TURN_ROWS, PROVEN_ELSEWHERE].map(
    (rows) => new Set(rows.map(({ number }) => number)),
  );
  const numbers = places.flatMap((place) => [...place]).toSorted((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: CASES }, (_, index) => index + 1));
});

test.each([...PROVEN_ELSEWHERE, ...ALSO_PROVEN])("case $number: $name", ({ file, name }) => {
  expect(readFileSync(join(TESTS, file), "utf8")).toContain(name);
});
