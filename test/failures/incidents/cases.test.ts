import { expect, test } from "vitest";
import type { AttemptFact } from "../../../src/failures/attempt-book.ts";
import { decideDisposition } from "../../../src/failures/incidents/disposition.ts";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import { countsOf } from "../../../src/failures/incidents/labels.ts";
import type { JournalEvent, PermissionBlocker } from "../../../src/failures/records.ts";
import { cpuMs } from "../../cpu-time.ts";
import {
  SECOND_MS,
  STARTED_AT,
  attempt,
  bookOf,
  broke,
  delivered,
  disposed,
  failed,
  fold,
  gap,
  revised,
  shown,
  succeeded,
} from "./records.ts";

const REFUSAL: PermissionBlocker = {
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "command-execution",
  basis: "policy-refusal",
  operation: "run",
  remoteOutcome: "not-started",
  incidentId: "a",
};

const THREE = [failed("a", "npm test", [1, 2]), failed("b", "npm test", [3, 4]), failed("c", "npm test", [5, 6])];

interface FoldCase {
  readonly from: string;
  readonly records: readonly JournalEvent[];
  readonly shows: readonly string[];
}

test.each<FoldCase>([
  {
    from: "case 1: one tool failure",
    records: [failed("a", "npm test", [1, 2])],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 2: another command succeeds, and a record claims that it recovered the first",
    records: [failed("a", "npm test", [1, 2]), succeeded("pwd", [3, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 3: the exact retry succeeds",
    records: [failed("a", "npm test", [1, 2]), succeeded("npm test", [3, 4], "a")],
    shows: ["Recovered: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 4: the success started before the failure ended",
    records: [failed("a", "npm test", [2, 3]), succeeded("npm test", [1, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 5: then a retry that started later succeeds",
    records: [failed("a", "npm test", [2, 3]), succeeded("npm test", [1, 4], "a"), succeeded("npm test", [5, 6], "a")],
    shows: ["Recovered: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 6: the same command succeeds in another folder",
    records: [failed("a", "npm test in /p", [1, 2]), succeeded("npm test in /q", [3, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 7: the same command succeeds with another timeout",
    records: [failed("a", "npm test for 10 s", [1, 2]), succeeded("npm test for 20 s", [3, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 9: the same operation fails three times",
    records: THREE,
    shows: ["Action required: a, occurrences 3, strikes 3"],
  },
  {
    from: "case 10: fails, fails, recovers, fails",
    records: [
      failed("a", "npm test", [1, 2]),
      failed("b", "npm test", [3, 4]),
      succeeded("npm test", [5, 6], "a"),
      failed("d", "npm test", [7, 8]),
    ],
    shows: ["Recovered: a, occurrences 2, strikes 2", "Unclassified failure observation: d, occurrences 1, strikes 1"],
  },
  {
    from: "case 13: another command with the same declared operation succeeds",
    records: [failed("a", "operation u", [1, 2]), succeeded("operation u", [3, 4], "a")],
    shows: ["Recovered: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 14: an untrusted run declares nothing: full and scoped are two operations",
    records: [failed("a", "full, u", [1, 2]), succeeded("scoped, u", [3, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 15: the same command succeeds without the declared operation",
    records: [failed("a", "operation u", [1, 2]), succeeded("npm test", [3, 4], "a")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 16: rg finds nothing, which was declared",
    records: [failed("a", "rg x", [1, 2], { exitCode: 1, expected: true })],
    shows: ["Expected failure: a, occurrences 1, strikes 0"],
  },
  {
    from: "case 17: another code than the declared one",
    records: [failed("a", "rg x", [1, 2], { exitCode: 2, expected: false })],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 18: killed, whatever code was declared",
    records: [failed("a", "rg x", [1, 2], { exitCode: 1, signal: "SIGKILL" })],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 24: a call that was refused before it ran",
    records: [failed("a", "refused call a", [1, 1], { category: "rejected-intent" })],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 28: three refused calls that name the same command",
    records: ["a", "b", "c"].map((id) => failed(id, `refused call ${id}`, [1, 1], { category: "rejected-intent" })),
    shows: ["a", "b", "c"].map((id) => `Unclassified failure observation: ${id}, occurrences 1, strikes 1`),
  },
  {
    from: "case 30: a record says recovered, with the success of another operation",
    records: [
      failed("a", "npm test", [1, 2]),
      { ...disposed("recovered", "a"), proof: { startN: 3, endN: 4, operation: "npm run check" } },
    ],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 31: a record says superseded, with a success that started before the failure",
    records: [
      failed("a", "npm test", [2, 3]),
      { ...disposed("superseded", "a"), proof: { startN: 1, endN: 4, operation: "npm run check" } },
    ],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 33: a record names one incident and one that nobody knows",
    records: [failed("a", "npm test", [1, 2]), disposed("expected", "a", "nobody")],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 34: a second record for an incident that is closed",
    records: [
      failed("a", "npm test", [1, 2]),
      { ...disposed("superseded", "a"), proof: { startN: 3, endN: 4, operation: "npm run check" } },
      disposed("expected", "a"),
    ],
    shows: ["Superseded: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 36: open",
    records: [failed("a", "npm test", [1, 2]), disposed("open", "a")],
    shows: ["Action required: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 37: open, then the exact retry succeeds",
    records: [failed("a", "npm test", [1, 2]), disposed("open", "a"), succeeded("npm test", [3, 4], "a")],
    shows: ["Recovered: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 38: expected by disposition, then the retry succeeds",
    records: [failed("a", "npm test", [1, 2]), disposed("expected", "a"), succeeded("npm test", [3, 4], "a")],
    shows: ["Expected failure: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 39: expected by disposition, then it fails unexpectedly",
    records: [failed("a", "npm test", [1, 2]), disposed("expected", "a"), failed("b", "npm test", [3, 4])],
    shows: [
      "Expected failure: a, occurrences 1, strikes 1",
      "Unclassified failure observation: b, occurrences 1, strikes 1",
    ],
  },
  {
    from: "case 40: fails twice, then exits as declared",
    records: [
      failed("a", "rg x", [1, 2]),
      failed("b", "rg x", [3, 4]),
      failed("c", "rg x", [5, 6], { expected: true, exitCode: 1 }),
    ],
    shows: ["Unclassified failure observation: a, occurrences 3, strikes 2"],
  },
  {
    from: "case 44: refused by the policy",
    records: [failed("a", "npm test", [1, 2], { permissionBlockers: [REFUSAL] })],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 46: a record reports a permission with expected",
    records: [failed("a", "npm test", [1, 2]), { ...disposed("expected", "a"), permissionBlockers: [REFUSAL] }],
    shows: ["Unclassified failure observation: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 48: an error record in the answer of a prompt",
    records: [broke("session", "sf:1:r:1")],
    shows: ["Action required: sf:1:r:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 49: three revisions of one record",
    records: [1, 2, 3].map(revised),
    shows: ["Action required: r:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 51: the harness exits during a turn",
    records: [{ ...broke("exit", "exit:1"), exitCode: 137 }],
    shows: ["Action required: exit:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 53: no login, then a login and a good prompt",
    records: [broke("auth", "auth:1", "prompt"), succeeded("prompt", [9, 12], "auth:1")],
    shows: ["Recovered: auth:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 59: the journal is gone and its marker is there",
    records: [gap("gap:1", "storage")],
    shows: ["Observation incomplete: gap:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 65: two oversized lines of a log are one gap",
    records: [gap("gap:scan:1", "scan"), gap("gap:scan:2", "scan")],
    shows: ["Observation incomplete: gap:scan:1, occurrences 2, strikes 2"],
  },
  {
    from: "case 67: the metadata can be read again",
    records: [gap("gap:1", "run-metadata"), succeeded("run-metadata", [9, 9], "gap:1")],
    shows: ["Recovered: gap:1, occurrences 1, strikes 1"],
  },
  {
    from: "case 72: the success of a command started before the failure",
    records: [failed("a", "task t", [20, 21], { category: "exit" }), succeeded("task t", [10, 30], "a")],
    shows: ["Action required: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 73: a watch polls, with a declared code",
    records: [
      { ...broke("watch", "poll:1"), expected: true, exitCode: 1 },
      { ...broke("watch", "poll:2"), expected: true, exitCode: 1 },
    ],
    shows: ["Expected failure: poll:1, occurrences 2, strikes 0"],
  },
  {
    from: "case 74: two supervisors write the same observations",
    records: [...THREE, ...THREE],
    shows: ["Action required: a, occurrences 3, strikes 3"],
  },
  {
    from: "case 75: ids that every object has",
    records: [
      failed("constructor", "__proto__", [1, 2]),
      failed("__proto__", "toString", [3, 4]),
      failed("x", "__proto__", [5, 6]),
    ],
    shows: [
      "Unclassified failure observation: constructor, occurrences 2, strikes 2",
      "Unclassified failure observation: __proto__, occurrences 1, strikes 1",
    ],
  },
])("failure observations, $from", ({ records, shows }) => {
  expect(shown(fold(records))).toEqual(shows);
});

test("failure observations, case 1: nothing to act on, at no time", () => {
  expect(fold([failed("a", "npm test", [1, 2])]).incidents.get("a")?.actionableSince).toBeUndefined();
});

test("failure observations, case 9: somebody has to act from the third failure on", () => {
  expect(fold(THREE).incidents.get("a")?.actionableSince).toBe(STARTED_AT + 2 * SECOND_MS);
});

test("failure observations, case 11: strikes four and five leave the delivery and its time as they are", () => {
  const state = fold([
    ...THREE,
    delivered("a"),
    failed("d", "npm test", [7, 8]),
    failed("e", "npm test", [9, 10]),
    delivered("a"),
  ]);
  expect(shown(state)).toEqual(["Action required: a, occurrences 5, strikes 5"]);
  expect([...state.delivered]).toEqual([["a", STARTED_AT + 3 * SECOND_MS]]);
  expect(state.incidents.get("a")?.actionableSince).toBe(STARTED_AT + 2 * SECOND_MS);
});

test("failure observations, case 12: what fails again after its recovery is a new incident, and not delivered", () => {
  const state = fold([
    ...THREE,
    delivered("a"),
    succeeded("npm test", [7, 8], "a"),
    failed("d", "npm test", [9, 10]),
    failed("e", "npm test", [11, 12]),
    failed("f", "npm test", [13, 14]),
  ]);
  expect(shown(state)).toEqual([
    "Recovered: a, occurrences 3, strikes 3",
    "Action required: d, occurrences 3, strikes 3",
  ]);
  expect([...state.delivered.keys()]).toEqual(["a"]);
  expect(state.incidents.get("d")?.actionableSince).toBe(STARTED_AT + 7 * SECOND_MS);
});

test("failure observations, case 20: the exit code is kept", () => {
  const { incidents } = fold([failed("a", "npm test", [1, 2], { exitCode: 127 })]);
  expect(incidents.get("a")?.exitCode).toBe(127);
});

test("failure observations, case 44: the refusal stays with the incident", () => {
  const { incidents } = fold([
    failed("a", "npm test", [1, 2]),
    failed("b", "npm test", [3, 4], { permissionBlockers: [{ ...REFUSAL, incidentId: "b" }] }),
  ]);
  expect(incidents.get("a")?.permissionBlockers).toEqual([REFUSAL]);
});

test("failure observations, case 49: the newest revision is told, an older one changes nothing", () => {
  const { incidents } = fold([1, 3, 2].map(revised));
  expect([...incidents.values()]).toMatchObject([{ id: "r:1", summary: "revision 3", sf: { id: "r", revision: 3 } }]);
});

test("failure observations, case 54: eight unclassified, two expected", () => {
  const state = fold([
    ...Array.from({ length: 8 }, (_, index) => failed(`f${index}`, `operation ${index}`, [index, index])),
    failed("x", "rg x", [20, 21], { expected: true }),
    failed("y", "rg y", [22, 23], { expected: true }),
  ]);
  expect(countsOf(state)).toEqual({
    gaps: 0,
    actionRequired: 0,
    unclassified: 8,
    expected: 2,
    recovered: 0,
    superseded: 0,
  });
});

test("failure observations, case 77: 100,000 failures of 1,000 operations within two seconds", () => {
  const startedMs = cpuMs();
  const state = fold(
    Array.from({ length: 100_000 }, (_, index) => failed(`f${index}`, `operation ${index % 1000}`, [index, index])),
  );
  expect(cpuMs() - startedMs).toBeLessThan(2000);
  expect(state.incidents.size).toBe(1000);
  expect(countsOf(state).actionRequired).toBe(1000);
});

interface AskedCase {
  readonly from: string;
  readonly attempts: readonly AttemptFact[];
  readonly request: object;
  readonly records: readonly JournalEvent[];
  readonly shows: readonly string[];
  /** Undefined when it is taken. */
  readonly refused?: string;
}

const FAILED = failed("a", "npm test", [3, 4]);
const UNCLASSIFIED = "Unclassified failure observation: a, occurrences 1, strikes 1";
const FAILED_ATTEMPT = attempt("a", "npm test", [3, 4], { attemptId: "full-1", outcome: "failed", eventId: "a" });

test.each<AskedCase>([
  {
    from: "case 29: superseded, with a later success of another command",
    attempts: [FAILED_ATTEMPT, attempt("b", "npm run check", [5, 6], { attemptId: "check-1" })],
    request: { disposition: "superseded", targets: ["full-1"], reason: "checked otherwise", evidence: "check-1" },
    records: [FAILED],
    shows: ["Superseded: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 30: recovered, with that evidence",
    attempts: [FAILED_ATTEMPT, attempt("b", "npm run check", [5, 6], { attemptId: "check-1" })],
    request: { disposition: "recovered", targets: ["full-1"], reason: "checked otherwise", evidence: "check-1" },
    records: [FAILED],
    shows: [UNCLASSIFIED],
    refused: 'The evidence is another operation than incident a; that is "superseded", not "recovered"',
  },
  {
    from: "case 31: superseded, with evidence that started before the failure",
    attempts: [FAILED_ATTEMPT, attempt("b", "npm run check", [2, 6])],
    request: { disposition: "superseded", targets: ["a"], reason: "checked otherwise", evidence: "b" },
    records: [FAILED],
    shows: [UNCLASSIFIED],
    refused: "The evidence started before incident a last failed",
  },
  {
    from: "case 32: the evidence is an expected exit",
    attempts: [FAILED_ATTEMPT, attempt("b", "rg x", [5, 6], { outcome: "expected" })],
    request: { disposition: "superseded", targets: ["a"], reason: "checked otherwise", evidence: "b" },
    records: [FAILED],
    shows: [UNCLASSIFIED],
    refused: 'The evidence "b" is no success: it ended with an exit code that was declared beforehand',
  },
  {
    from: "case 33: one good target and one unknown one",
    attempts: [FAILED_ATTEMPT],
    request: { disposition: "expected", targets: ["a", "nobody"], reason: "it is a probe" },
    records: [FAILED],
    shows: [UNCLASSIFIED],
    refused: 'This run knows no incident, attempt, tool call or operation "nobody"',
  },
  {
    from: "case 34: a second disposition of a closed incident",
    attempts: [FAILED_ATTEMPT],
    request: { disposition: "open", targets: ["a"], reason: "once more" },
    records: [FAILED, succeeded("npm test", [5, 6], "a")],
    shows: ["Recovered: a, occurrences 1, strikes 1"],
    refused: "Incident a is closed already: Recovered",
  },
  {
    from: "case 36: open",
    attempts: [FAILED_ATTEMPT],
    request: { disposition: "open", targets: ["a"], reason: "the service is down" },
    records: [FAILED],
    shows: ["Action required: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 45: open, with the permission that it needs",
    attempts: [FAILED_ATTEMPT],
    request: {
      disposition: "open",
      targets: ["full-1"],
      reason: "it needs the login",
      permissionResource: "credential-files",
    },
    records: [FAILED],
    shows: ["Action required: a, occurrences 1, strikes 1"],
  },
  {
    from: "case 46: a permission with expected",
    attempts: [FAILED_ATTEMPT],
    request: {
      disposition: "expected",
      targets: ["a"],
      reason: "it is a probe",
      permissionResource: "credential-files",
    },
    records: [FAILED],
    shows: [UNCLASSIFIED],
    refused: 'A permission is reported with "open" only',
  },
])("failure observations, $from, as it is asked", ({ attempts, request, records, shows, refused }) => {
  const incidents = new IncidentFold();
  for (const event of records) incidents.apply({ event, observedAt: STARTED_AT });
  const context = { by: "child", runId: "ag_abcdef_1", callId: "d", sessionId: "s", atN: 9 } as const;
  const decision = decideDisposition(request, { ...context, state: incidents.state, attempts: bookOf(...attempts) });
  if (decision.accepted) incidents.apply({ event: decision.event, observedAt: STARTED_AT });
  expect(decision.accepted ? undefined : decision.message.split("\n")[0]).toEqual(
    refused && `Nothing was recorded: ${refused}`,
  );
  expect(shown(incidents.state)).toEqual(shows);
});

test("failure observations, case 33: the refusal lists what can be named", () => {
  const state = fold([
    FAILED,
    failed("b", "npm run check", [5, 6], { attempt: { attemptId: "check-1", startN: 5, endN: 6 } }),
  ]);
  const decision = decideDisposition(
    { disposition: "expected", targets: ["a", "nobody"], reason: "it is a probe" },
    { by: "child", runId: "ag_abcdef_1", callId: "d", atN: 9, state, attempts: bookOf(FAILED_ATTEMPT) },
  );
  expect(decision).toEqual({
    accepted: false,
    message: [
      'Nothing was recorded: This run knows no incident, attempt, tool call or operation "nobody"',
      "Incidents that can be named:",
      "- b · attempt check-1 · npm run check failed",
      "- a · npm test failed",
    ].join("\n"),
  });
});

test("failure observations, case 42: a request that the log holds and the journal lacks is recorded once", () => {
  const incidents = new IncidentFold();
  incidents.apply({ event: FAILED, observedAt: STARTED_AT });
  const request = { disposition: "open", targets: ["a"], reason: "the service is down" };
  const decide = () =>
    decideDisposition(request, {
      by: "child",
      runId: "ag_abcdef_1",
      callId: "d",
      sessionId: "s",
      atN: 9,
      state: incidents.state,
      attempts: bookOf(FAILED_ATTEMPT),
    });
  const first = decide();
  if (!first.accepted) throw new Error(first.message);
  expect(incidents.apply({ event: first.event, observedAt: STARTED_AT })).toBe(true);
  // Case 41: the journal has it, and the log is folded again.
  expect(incidents.accepts(first.event)).toBe(false);
  expect(incidents.apply({ event: first.event, observedAt: STARTED_AT + SECOND_MS })).toBe(false);
  expect(decide().accepted).toBe(false);
  expect(shown(incidents.state)).toEqual(["Action required: a, occurrences 1, strikes 1"]);
});

test("failure observations, case 45: the report says that the agent says so, and knows nothing of the other end", () => {
  const decision = decideDisposition(
    { disposition: "open", targets: ["a"], reason: "it needs the login", permissionResource: "credential-files" },
    { by: "child", runId: "ag_abcdef_1", callId: "d", atN: 9, state: fold([FAILED]), attempts: bookOf(FAILED_ATTEMPT) },
  );
  expect(decision).toMatchObject({
    accepted: true,
    event: {
      permissionBlockers: [
        {
          version: 1,
          kind: "permission-blocker",
          context: "worker",
          resource: "credential-files",
          basis: "agent-reported",
          operation: "run",
          remoteOutcome: "unknown",
          incidentId: "a",
          runId: "ag_abcdef_1",
        },
      ],
    },
  });
});
