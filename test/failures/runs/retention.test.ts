/** Which runs may go: the rules as tables; what goes is gone whole, in `prune.test.ts`. */
import { expect, test } from "vitest";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { decidePruned, hasUntoldIncidents } from "../../../src/failures/runs/retention.ts";
import type { PruneRules, RunFacts } from "../../../src/failures/runs/retention.ts";
import { aRun } from "./run-fixture.ts";

const NOW = 1_800_000_000_000;
const DAY = 24 * 3600 * 1000;
const MIB = 1024 * 1024;

/** A run that ended so many days ago, and told its end; `name` stands in its id. */
function run(name: string, days: number, over: Partial<RunMeta> = {}, mib = 1): RunFacts {
  const endedAt = NOW - days * DAY;
  const meta = aRun({ id: `ag_${name}0000_1`, status: "completed", createdAt: endedAt - 1000, endedAt, ...over });
  return { id: meta.id, meta, bytes: mib * MIB };
}

const UNREADABLE: RunFacts = { id: "ag_broken0000_1", meta: "unreadable", bytes: MIB };
/** The newest first, as the registry lists them. */
const RUNS: readonly RunFacts[] = [
  run("today", 0),
  run("active", 0, { status: "running" }),
  run("week", 7, { status: "failed" }),
  run("orphan", 20, { status: "orphaned" }),
  run("month", 31, { status: "cancelled" }),
  run("untold", 40),
  run("missed", 50, { status: "lost" }),
  UNREADABLE,
  run("ancient", 90),
];

const nameOf = (id: string): string => id.slice(3).replace(/0000_1$/, "");

function decide(rules: PruneRules, runs = RUNS) {
  const asked: string[] = [];
  const hasUntold = (id: string): boolean => {
    asked.push(nameOf(id));
    return nameOf(id) === "untold";
  };
  const { removed, kept } = decidePruned(runs, rules, { now: NOW, hasUntold });
  return {
    removed: removed.map(({ id }) => nameOf(id)),
    kept: kept.map(({ id, because }) => `${nameOf(id)} ${because}`),
    asked,
  };
}

const STAYS = ["orphan orphaned", "untold untold", "broken unreadable"];

test.each<{ readonly from: string; readonly rules: PruneRules; readonly removed: string[]; readonly kept: string[] }>([
  {
    from: "older than 30 days",
    rules: { olderThanMs: 30 * DAY },
    removed: ["month", "missed", "ancient"],
    kept: ["untold untold", "broken unreadable"],
  },
  {
    from: "exactly as old",
    rules: { olderThanMs: 90 * DAY },
    removed: ["ancient"],
    kept: ["broken unreadable"],
  },
  {
    from: "all but the newest two",
    rules: { keep: 2 },
    removed: ["week", "month", "missed", "ancient"],
    kept: STAYS,
  },
  {
    from: "keep none: what goes on stays",
    rules: { keep: 0 },
    removed: ["today", "week", "month", "missed", "ancient"],
    kept: ["active running", ...STAYS],
  },
  {
    from: "older, and not among the newest",
    rules: { olderThanMs: 30 * DAY, keep: 7 },
    removed: ["ancient"],
    kept: ["broken unreadable"],
  },
  { from: "keep more than there are", rules: { keep: 100 }, removed: [], kept: [] },
  {
    from: "named ones, whatever their age",
    rules: { ids: ["ag_today0000_1", "ag_active0000_1", "ag_untold0000_1", "ag_orphan0000_1"] },
    removed: ["today"],
    kept: ["active running", "orphan orphaned", "untold untold"],
  },
  {
    from: "the configuration: 30 days, and everything fits",
    rules: { days: 30, mib: 100 },
    removed: ["month", "missed", "ancient"],
    kept: ["untold untold", "broken unreadable"],
  },
  {
    from: "the configuration: what is left does not fit, the oldest goes first",
    rules: { days: 365, mib: 7 },
    removed: ["ancient", "missed"],
    kept: ["broken unreadable"],
  },
  {
    from: "the configuration: it never fits, and only what may go goes",
    rules: { days: 365, mib: 1 },
    removed: ["ancient", "missed", "month", "week", "today"],
    kept: ["broken unreadable"],
  },
])("$from", ({ rules, removed, kept }) => {
  const decision = decide(rules);
  expect(decision.removed).toEqual(removed);
  expect(decision.kept).toEqual(kept);
});

test("the journals of runs that stay anyway are not read", () => {
  expect(decide({ olderThanMs: 45 * DAY }).asked).toEqual(["missed", "ancient"]);
});

const FAILED: JournalEvent = {
  id: "tool:0badcafe:a",
  operation: "op",
  kind: "failure",
  category: "tool",
  tool: "run",
  summary: "Exit code 1",
  attempt: { toolCallId: "a", startN: 1, endN: 2 },
};
const GAP: JournalEvent = {
  id: "gap:scan:9",
  operation: "scan",
  kind: "incomplete",
  category: "observation-incomplete",
  summary: "A line was torn",
};
const told = (...incidents: readonly string[]): JournalEvent => ({
  id: `delivered:${incidents.join()}`,
  operation: "op",
  kind: "delivered",
  incidents,
});

test.each<{
  readonly from: string;
  readonly events: JournalEvent[];
  readonly callback?: false;
  readonly untold: boolean;
}>([
  { from: "nothing failed", events: [], untold: false },
  { from: "an unclassified failure that was not told", events: [FAILED], untold: true },
  { from: "one that was counted in a notification", events: [FAILED, told(FAILED.id)], untold: false },
  { from: "one of two was told", events: [FAILED, GAP, told(GAP.id)], untold: true },
  { from: "a gap that was not told", events: [GAP], untold: true },
  { from: "nobody is to be told", events: [FAILED, GAP], callback: false, untold: false },
  { from: "an expected failure", events: [{ ...FAILED, expected: true }], untold: false },
  {
    from: "recovered before anybody was told",
    events: [FAILED, { id: "recovered:b", operation: "op", kind: "recovered", incidents: [FAILED.id] }],
    untold: false,
  },
])("$from: untold is $untold", ({ events, callback = true, untold }) => {
  const fold = new IncidentFold();
  for (const event of events) fold.apply({ event, observedAt: NOW });
  expect(hasUntoldIncidents(fold.state, aRun({ callback }))).toBe(untold);
});
