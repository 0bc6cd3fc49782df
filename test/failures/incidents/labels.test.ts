import { describe, expect, test } from "vitest";
import {
  compareForList,
  countsOf,
  isActionRequired,
  labelOf,
  needsAction,
} from "../../../src/failures/incidents/labels.ts";
import type { Label } from "../../../src/failures/incidents/labels.ts";
import type { Incident } from "../../../src/failures/records.ts";
import { broke, disposed, failed, fold, gap, succeeded } from "./records.ts";

const INCIDENT: Incident = {
  id: "i",
  operation: "o",
  status: "unresolved",
  category: "tool",
  summary: "npm test failed",
  firstObservedAt: 1,
  lastObservedAt: 1,
  lastSeq: 1,
  occurrences: 1,
  strikes: 1,
};
const OPEN = { disposition: { word: "open", reason: "because", by: "child" } } as const;

interface LabelCase {
  readonly from: string;
  readonly incident: Partial<Incident>;
  readonly label: Label;
  readonly needs: boolean;
}

test.each<LabelCase>([
  { from: "one tool failure", incident: {}, label: "Unclassified failure observation", needs: false },
  { from: "two strikes", incident: { strikes: 2 }, label: "Unclassified failure observation", needs: false },
  { from: "three strikes", incident: { strikes: 3 }, label: "Action required", needs: true },
  {
    from: "three occurrences, two of them declared",
    incident: { occurrences: 3, strikes: 1 },
    label: "Unclassified failure observation",
    needs: false,
  },
  { from: "open", incident: OPEN, label: "Action required", needs: true },
  {
    from: "a refused call",
    incident: { category: "rejected-intent", strikes: 3 },
    label: "Unclassified failure observation",
    needs: false,
  },
  {
    from: "a refused call that is open",
    incident: { category: "rejected-intent", ...OPEN },
    label: "Action required",
    needs: true,
  },
  { from: "an exit", incident: { category: "exit" }, label: "Action required", needs: true },
  { from: "the model", incident: { category: "model" }, label: "Action required", needs: true },
  { from: "a record of the session", incident: { category: "session" }, label: "Action required", needs: true },
  { from: "no login", incident: { category: "auth" }, label: "Action required", needs: true },
  { from: "supervision", incident: { category: "supervision" }, label: "Action required", needs: true },
  { from: "a watch", incident: { category: "watch" }, label: "Action required", needs: true },
  { from: "storage", incident: { category: "storage" }, label: "Action required", needs: true },
  {
    from: "missing evidence",
    incident: { category: "observation-incomplete" },
    label: "Observation incomplete",
    needs: true,
  },
  {
    from: "missing evidence that somebody acknowledged",
    incident: { category: "observation-incomplete", status: "expected" },
    label: "Expected failure",
    needs: false,
  },
  {
    from: "an expected exit, three times",
    incident: { status: "expected", strikes: 3 },
    label: "Expected failure",
    needs: false,
  },
  {
    from: "recovered after it was open",
    incident: { status: "resolved", strikes: 3, ...OPEN },
    label: "Recovered",
    needs: false,
  },
  {
    from: "superseded, no tool",
    incident: { status: "superseded", category: "exit" },
    label: "Superseded",
    needs: false,
  },
])("failure observations, section 6: $from is $label", ({ incident, label, needs }) => {
  expect(labelOf({ ...INCIDENT, ...incident })).toBe(label);
  expect(needsAction({ ...INCIDENT, ...incident })).toBe(needs);
  expect(isActionRequired({ ...INCIDENT, ...incident })).toBe(label === "Action required");
});

describe("a run with one of each", () => {
  const state = fold([
    failed("recovered", "1", [1, 2]),
    succeeded("1", [3, 4], "recovered"),
    failed("superseded", "2", [5, 6]),
    { ...disposed("superseded", "superseded"), proof: { startN: 7, endN: 8, operation: "other" } },
    failed("expected", "3", [9, 10], { expected: true }),
    failed("unclassified", "4", [11, 12]),
    broke("exit", "required"),
    failed("open", "5", [13, 14]),
    disposed("open", "open"),
    gap("gap", "scan"),
    failed("newer", "6", [15, 16]),
  ]);

  test("is listed by what needs action, then by what was heard of last", () => {
    const listed = [...state.incidents.values()].toSorted(compareForList).map(({ id }) => id);
    expect(listed).toEqual(["gap", "open", "required", "newer", "unclassified", "expected", "superseded", "recovered"]);
  });

  test("is counted by label", () => {
    expect(countsOf(state)).toEqual({
      gaps: 1,
      actionRequired: 2,
      unclassified: 2,
      expected: 1,
      recovered: 1,
      superseded: 1,
    });
  });
});
