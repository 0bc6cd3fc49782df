import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import { STARTED_AT, broke, delivered, disposed, failed, fold, gap, revised, shown, succeeded } from "./records.ts";

/** Few ids and few operations, so that events meet each other. */
const EVENT: fc.Arbitrary<JournalEvent> = fc.tuple(fc.nat(11), fc.nat(2), fc.nat(30), fc.nat(9)).map((drawn) => {
  const [number, operation, startN, kind] = drawn;
  const [id, key] = [`f${number}`, `operation ${operation}`];
  if (kind === 0) return { ...delivered(id), id: `delivered:${number}` };
  if (kind === 1) return { ...gap(id, "scan"), id: `gap:${number}` };
  if (kind === 2) return { ...failed(id, key, [startN, startN + 1], { expected: true }), id: `x${number}` };
  if (kind === 3) return { ...disposed("expected", id), id: `d:${startN}` };
  if (kind === 4) {
    const proof = { startN, endN: startN + 1, operation: key };
    return { ...disposed("recovered", id), id: `d:${startN}`, proof };
  }
  if (kind === 5) return { ...disposed("open", id), id: `d:${startN}` };
  if (kind < 8) return { ...succeeded(key, [startN, startN + 2], "f0", "f1", "f2", id), id: `r${number}` };
  return failed(id, key, [startN, startN + 1]);
});
const EVENTS = fc.array(EVENT, { maxLength: 40 });

const REPORT = {
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "unknown",
  basis: "agent-reported",
  operation: "run",
  remoteOutcome: "unknown",
} as const;

describe("any journal", () => {
  test("gives the same state when its records are met twice, as on a rescan", () => {
    fc.assert(
      fc.property(EVENTS, fc.nat(40), (events, from) => {
        const incidents = new IncidentFold();
        for (const event of events) incidents.apply({ event, observedAt: STARTED_AT });
        const before = structuredClone(incidents.state);
        const taken = events.filter(({ id }) => incidents.state.incidentOfEvent.has(id)).slice(from);
        for (const event of taken) expect(incidents.apply({ event, observedAt: STARTED_AT + 1 })).toBe(false);
        expect(incidents.state).toEqual(before);
      }),
    );
  });

  test("holds nothing that a fold would ignore, when only accepted events are written", () => {
    fc.assert(
      fc.property(EVENTS, (events) => {
        const live = new IncidentFold();
        const written: JournalEvent[] = [];
        for (const event of events) {
          const accepted = live.accepts(event);
          expect(live.apply({ event, observedAt: STARTED_AT })).toBe(accepted);
          if (accepted) written.push(event);
        }
        const again = new IncidentFold();
        for (const event of written) expect(again.apply({ event, observedAt: STARTED_AT })).toBe(true);
        expect(again.state).toEqual(live.state);
      }),
    );
  });

  test("never loses an incident, and counts every failure once", () => {
    fc.assert(
      fc.property(EVENTS, (events) => {
        const { incidents, incidentOfEvent } = fold(events);
        const failures = [...incidentOfEvent.values()].filter((id) => id !== undefined);
        const counted = [...incidents.values()].reduce((sum, { occurrences }) => sum + occurrences, 0);
        expect(counted).toBe(failures.length);
        expect(failures.every((id) => incidents.has(id))).toBe(true);
      }),
    );
  });
});

test("an incident tells of its newest failure, and keeps its first facts", () => {
  const { incidents } = fold([
    failed("a", "npm test", [1, 2], { at: 10, exitCode: 1, evidence: "output.log#byte=5" }),
    failed("b", "npm test", [3, 4], { summary: "killed", signal: "SIGKILL", category: "exit" }),
  ]);
  expect(incidents.get("a")).toEqual({
    id: "a",
    operation: "npm test",
    status: "unresolved",
    category: "tool",
    tool: "run",
    summary: "killed",
    signal: "SIGKILL",
    attempt: { toolCallId: "b", startN: 3, endN: 4 },
    firstObservedAt: STARTED_AT,
    lastObservedAt: STARTED_AT + 1000,
    lastSeq: 2,
    occurrences: 2,
    strikes: 2,
  });
});

test.each([
  {
    from: "the same attempt ended again, this time well",
    success: succeeded("npm test", [1, 9], "a"),
    shows: "Recovered: a, occurrences 1, strikes 1",
  },
  {
    from: "a success that ended with the line of the failure",
    success: succeeded("npm test", [1, 2], "a"),
    shows: "Unclassified failure observation: a, occurrences 1, strikes 1",
  },
  {
    from: "a success that started with the line of the failure's end",
    success: succeeded("npm test", [2, 9], "a"),
    shows: "Unclassified failure observation: a, occurrences 1, strikes 1",
  },
  {
    from: "a success that names nothing",
    success: succeeded("npm test", [5, 9]),
    shows: "Unclassified failure observation: a, occurrences 1, strikes 1",
  },
  {
    from: "a success that names an older incident",
    success: succeeded("npm test", [5, 9], "b"),
    shows: "Unclassified failure observation: a, occurrences 1, strikes 1",
  },
])("$from", ({ success, shows }) => {
  expect(shown(fold([failed("a", "npm test", [1, 2]), success]))).toEqual([shows]);
});

test("an exit that was declared opens an expected incident, and an undeclared one opens its own", () => {
  const records = [failed("a", "rg x", [1, 2], { expected: true }), failed("b", "rg x", [3, 4])];
  expect(shown(fold(records))).toEqual([
    "Expected failure: a, occurrences 1, strikes 0",
    "Unclassified failure observation: b, occurrences 1, strikes 1",
  ]);
});

test("a record of the harness that comes back after its recovery is a new incident", () => {
  const records = [revised(1), succeeded("session", [5, 6], "r:1"), revised(2)];
  expect(shown(fold(records))).toEqual([
    "Recovered: r:1, occurrences 1, strikes 1",
    "Action required: r:2, occurrences 1, strikes 1",
  ]);
});

test("a receipt changes nothing that a person sees, every other record does", () => {
  const incidents = new IncidentFold();
  const revisions = [broke("exit", "a"), delivered("a"), disposed("open", "a"), broke("exit", "b")].map((event) => {
    incidents.apply({ event, observedAt: STARTED_AT });
    return incidents.state.revision;
  });
  expect(revisions).toEqual([1, 1, 2, 3]);
});

test.each<{ from: string; records: readonly JournalEvent[]; delivered: readonly string[] }>([
  { from: "counted", records: [], delivered: ["a"] },
  { from: "and failed a second time", records: [failed("b", "x", [3, 4])], delivered: ["a"] },
  { from: "and a third time", records: [failed("b", "x", [3, 4]), failed("c", "x", [5, 6])], delivered: [] },
  { from: "and marked open", records: [disposed("open", "a")], delivered: [] },
  {
    from: "marked open, told, and marked open again",
    records: [disposed("open", "a"), { ...delivered("a"), id: "delivered:2" }, { ...disposed("open", "a"), id: "d:2" }],
    delivered: ["a"],
  },
])("a receipt from before it needed somebody does not count: $from", ({ records, delivered: ids }) => {
  expect([...fold([failed("a", "x", [1, 2]), delivered("a"), ...records]).delivered.keys()]).toEqual(ids);
});

test("a gap needs somebody from the first: its receipt stays when it is met again", () => {
  const records = [gap("g", "scan"), delivered("g"), { ...gap("g", "scan"), id: "gap:2" }];
  expect([...fold(records).delivered]).toEqual([["g", STARTED_AT + 1000]]);
});

test("the first receipt of an incident says when it was delivered", () => {
  const records = [broke("exit", "a"), broke("model", "b"), delivered("a"), delivered("a", "b")];
  expect([...fold(records).delivered]).toEqual([
    ["a", STARTED_AT + 2000],
    ["b", STARTED_AT + 3000],
  ]);
});

test("a permission report on an incident that the record does not name makes it invalid", () => {
  const failures = [failed("a", "npm test", [1, 2]), failed("b", "npm run lint", [3, 4])];
  const opened = (incidentId: string) =>
    shown(fold([...failures, { ...disposed("open", "a"), permissionBlockers: [{ ...REPORT, incidentId }] }]))[0];
  expect(opened("b")).toBe("Unclassified failure observation: a, occurrences 1, strikes 1");
  expect(opened("a")).toBe("Action required: a, occurrences 1, strikes 1");
});

test("seed document 004: after a recovery nobody has to act, and the report stays with the failed attempt", () => {
  const report = { ...REPORT, incidentId: "a" };
  const state = fold([
    failed("a", "npm test", [1, 2]),
    { ...disposed("open", "a"), permissionBlockers: [report] },
    succeeded("npm test", [3, 4], "a"),
  ]);
  expect(shown(state)).toEqual(["Recovered: a, occurrences 1, strikes 1"]);
  expect(state.incidents.get("a")).toMatchObject({ disposition: { word: "open" }, permissionBlockers: [report] });
});

test("a disposition that is invalid now may be valid later: its id is not spent", () => {
  const incidents = new IncidentFold();
  const taken = [disposed("open", "a"), failed("a", "npm test", [1, 2]), disposed("open", "a")].map((event) =>
    incidents.apply({ event, observedAt: STARTED_AT }),
  );
  expect(taken).toEqual([false, true, true]);
});
