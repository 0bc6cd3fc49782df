import { describe, expect, test } from "vitest";
import type { AttemptFact } from "../../../src/failures/attempt-book.ts";
import { decideDisposition } from "../../../src/failures/incidents/disposition.ts";
import type { DispositionContext } from "../../../src/failures/incidents/disposition.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import { attempt, bookOf, broke, disposed, failed, fold, gap, succeeded } from "./records.ts";

const EXPECTED = { disposition: "expected", targets: ["a"], reason: "it is a probe" } as const;
const FAILED = failed("a", "npm test", [3, 4]);
const FAILED_ATTEMPT = attempt("a", "npm test", [3, 4], {
  attemptId: "full-1",
  operationId: "full",
  outcome: "failed",
  eventId: "a",
});

interface Known {
  readonly records?: readonly JournalEvent[];
  readonly attempts?: readonly AttemptFact[];
}

function decide(
  request: unknown,
  { records = [FAILED], attempts = [FAILED_ATTEMPT] }: Known,
  more: Partial<DispositionContext> = {},
) {
  return decideDisposition(request, {
    state: fold(records),
    attempts: bookOf(...attempts),
    by: "child",
    runId: "ag_abcdef_1",
    callId: "d",
    sessionId: "s",
    atN: 100,
    ...more,
  });
}

function refusalOf(...asked: Parameters<typeof decide>): string | undefined {
  const decision = decide(...asked);
  return decision.accepted ? undefined : decision.message.split("\n")[0]?.replace("Nothing was recorded: ", "");
}

const NAMES = "targets is a list of 1 to 20 ids, each a text of 1 to 200 characters";
const REASON = "reason is a text of 1 to 400 characters, not blank";
const EVIDENCE = "evidence is the id of an attempt or of a tool call: a text of 1 to 200 characters";

test.each<{ from: string; request: unknown; refused: string | undefined }>([
  {
    from: "no object",
    request: ["a"],
    refused: "The arguments are not an object with disposition, targets and reason",
  },
  {
    from: "nothing",
    request: undefined,
    refused: "The arguments are not an object with disposition, targets and reason",
  },
  {
    from: "another word",
    request: { ...EXPECTED, disposition: "fixed" },
    refused: "disposition is one of recovered, superseded, expected, open",
  },
  { from: "no target", request: { ...EXPECTED, targets: [] }, refused: NAMES },
  { from: "a target that is no list", request: { ...EXPECTED, targets: "a" }, refused: NAMES },
  { from: "21 targets", request: { ...EXPECTED, targets: Array(21).fill("a") }, refused: NAMES },
  { from: "20 times the same target", request: { ...EXPECTED, targets: Array(20).fill("a") }, refused: undefined },
  { from: "an empty target", request: { ...EXPECTED, targets: [""] }, refused: NAMES },
  { from: "a number as target", request: { ...EXPECTED, targets: [1] }, refused: NAMES },
  { from: "a target of 201 characters", request: { ...EXPECTED, targets: ["a".repeat(201)] }, refused: NAMES },
  { from: "no reason", request: { disposition: "expected", targets: ["a"] }, refused: REASON },
  { from: "a blank reason", request: { ...EXPECTED, reason: " \n\t" }, refused: REASON },
  { from: "a reason that nobody sees", request: { ...EXPECTED, reason: "\u001b[31m\u200b" }, refused: REASON },
  { from: "a reason of 401 characters", request: { ...EXPECTED, reason: "x".repeat(401) }, refused: REASON },
  { from: "a reason of 400 characters", request: { ...EXPECTED, reason: "x".repeat(400) }, refused: undefined },
  {
    from: "null as optional field",
    request: { ...EXPECTED, evidence: null, permissionResource: null },
    refused: undefined,
  },
  { from: "empty evidence", request: { ...EXPECTED, evidence: "" }, refused: EVIDENCE },
  { from: "evidence that is no text", request: { ...EXPECTED, evidence: ["a"] }, refused: EVIDENCE },
  {
    from: "a misspelt field",
    request: { ...EXPECTED, target: "a" },
    refused: 'There is no field "target"; did you mean targets?',
  },
  { from: "a field of nobody", request: { ...EXPECTED, by: "human" }, refused: 'There is no field "by"' },
  {
    from: "an unknown resource",
    request: { ...EXPECTED, permissionResource: "sudo" },
    refused:
      "permissionResource is one of credential-files, process-inspection, project-files, outside-project-files, runtime-control-files, command-execution, network-access, unknown",
  },
])("failure observations, section 9.3: $from", ({ request, refused }) => {
  expect(refusalOf(request, {})).toBe(refused);
});

describe("a target", () => {
  test.each([
    { from: "the id of an incident", target: "a" },
    { from: "the attempt that was declared", target: "full-1" },
    { from: "the tool call", target: "call-a" },
    { from: "the operation that was declared", target: "full" },
  ])("is $from", ({ target }) => {
    const attempts = [{ ...FAILED_ATTEMPT, toolCallId: "call-a" }];
    expect(decide({ ...EXPECTED, targets: [target] }, { attempts })).toMatchObject({
      accepted: true,
      event: { incidents: ["a"] },
    });
  });

  test("of two names for one incident counts once", () => {
    const decision = decide({ ...EXPECTED, targets: ["a", "full-1", "full"] }, {});
    expect(decision).toMatchObject({ accepted: true, event: { incidents: ["a"] } });
  });

  test("is the incident in which the attempt failed, also when the operation failed anew after its recovery", () => {
    const records = [
      FAILED,
      failed("b", "npm test", [5, 6]),
      succeeded("npm test", [7, 8], "a"),
      failed("c", "npm test", [9, 10]),
    ];
    const attempts = [attempt("b", "npm test", [5, 6], { outcome: "failed", eventId: "b" })];
    expect(refusalOf({ ...EXPECTED, targets: ["b"] }, { records, attempts })).toBe(
      "Incident a is closed already: Recovered",
    );
  });

  test.each<{ from: string; fact: Partial<AttemptFact>; refused: string }>([
    { from: "succeeded", fact: {}, refused: '"b" did not fail: it succeeded' },
    { from: "runs", fact: { outcome: "running" }, refused: '"b" did not fail: it has not ended' },
    { from: "was cancelled", fact: { outcome: "cancelled" }, refused: '"b" did not fail: it was cancelled' },
    {
      from: "died with its process",
      fact: { outcome: "aborted" },
      refused: '"b" did not fail: its process died, which is an incident of its own',
    },
  ])("that $from is refused", ({ fact, refused }) => {
    const attempts = [FAILED_ATTEMPT, attempt("b", "npm run check", [5, 6], fact)];
    expect(refusalOf({ ...EXPECTED, targets: ["a", "b"] }, { attempts })).toBe(refused);
  });

  test("whose name holds control characters and a secret is told without them", () => {
    const refused = refusalOf({ ...EXPECTED, targets: [`\u001b[31mtoken=hunter2${"x".repeat(20)}`] }, {});
    expect(refused).toBe('This run knows no incident, attempt, tool call or operation "token=[redacted]"');
  });
});

describe("evidence", () => {
  const superseded = { disposition: "superseded", targets: ["a"], reason: "checked otherwise" } as const;

  test.each<{ from: string; evidence?: string; fact?: Partial<AttemptFact>; refused: string | undefined }>([
    {
      from: "none",
      refused: '"superseded" needs evidence: an attempt that succeeded and started after the failure',
    },
    { from: "unknown", evidence: "z", refused: 'This run knows no attempt or tool call "z" as evidence' },
    { from: "a later success", evidence: "b", refused: undefined },
    {
      from: "a failure",
      evidence: "b",
      fact: { outcome: "failed" },
      refused: 'The evidence "b" is no success: it failed',
    },
    {
      from: "a success that ended after the request was made",
      evidence: "b",
      fact: { endN: 101 },
      refused: 'The evidence "b" is no success: it has not ended',
    },
    {
      from: "a success that started with the line of the failure's end",
      evidence: "b",
      fact: { startN: 4 },
      refused: "The evidence started before incident a last failed",
    },
  ])("$from", ({ evidence, fact, refused }) => {
    const attempts = [FAILED_ATTEMPT, attempt("b", "npm run check", [5, 6], fact)];
    expect(refusalOf({ ...superseded, evidence }, { attempts })).toBe(refused);
  });

  test("has to be later than the last failure of every target", () => {
    const records = [FAILED, failed("c", "npm run lint", [7, 8])];
    const attempts = [attempt("b", "npm run check", [5, 6])];
    expect(refusalOf({ ...superseded, targets: ["a", "c"], evidence: "b" }, { records, attempts })).toBe(
      "The evidence started before incident c last failed",
    );
  });

  test("for recovered is a success of the same operation", () => {
    const attempts = [FAILED_ATTEMPT, attempt("b", "npm test", [5, 6], { attemptId: "full-2" })];
    const decision = decide({ ...superseded, disposition: "recovered", evidence: "full-2" }, { attempts });
    expect(decision).toEqual({
      accepted: true,
      event: {
        id: "disposition:043a7187:d",
        operation: "npm test",
        kind: "disposition",
        incidents: ["a"],
        disposition: "recovered",
        reason: "checked otherwise",
        by: "child",
        evidence: "full-2",
        proof: { toolCallId: "b", attemptId: "full-2", startN: 5, endN: 6, operation: "npm test" },
      },
    });
  });
});

describe("who asks", () => {
  const records = [gap("gap:1", "storage")];
  const targets = ["gap:1"];

  test("an agent cannot speak of missing evidence, and is not shown it", () => {
    const decision = decide({ ...EXPECTED, targets }, { records });
    expect(decision).toEqual({
      accepted: false,
      message:
        "Nothing was recorded: Incident gap:1 is missing evidence, not a failure of yours\nNo incident is unresolved",
    });
  });

  test.each(["human", "parent"] as const)("a %s acknowledges it with expected", (by) => {
    expect(decide({ ...EXPECTED, targets }, { records }, { by })).toMatchObject({ accepted: true, event: { by } });
    expect(refusalOf({ ...EXPECTED, disposition: "open", targets }, { records }, { by })).toBe(
      'Incident gap:1 is missing evidence: it can only be acknowledged, with "expected"',
    );
  });

  test("a person has no session, and what they say is scrubbed", () => {
    const context = {
      state: fold([FAILED]),
      attempts: bookOf(),
      by: "human",
      runId: "ag_abcdef_1",
      callId: "c1",
      atN: Infinity,
      at: 5,
    } as const;
    const request = { ...EXPECTED, reason: "password=hunter2hunter2 is wrong\nthere" };
    expect(decideDisposition(request, context)).toEqual({
      accepted: true,
      event: {
        id: "disposition:c1",
        operation: "npm test",
        kind: "disposition",
        at: 5,
        incidents: ["a"],
        disposition: "expected",
        reason: "password=[redacted] is wrong there",
        by: "human",
      },
    });
  });
});

test.each<{ from: string; records: readonly JournalEvent[]; request: object; refused: string | undefined }>([
  {
    from: "open twice",
    records: [FAILED, disposed("open", "a")],
    request: { ...EXPECTED, disposition: "open" },
    refused: "Incident a is open already",
  },
  { from: "expected after open", records: [FAILED, disposed("open", "a")], request: EXPECTED, refused: undefined },
  {
    from: "expected twice",
    records: [FAILED, disposed("expected", "a")],
    request: EXPECTED,
    refused: "Incident a is closed already: Expected failure",
  },
  {
    from: "a permission for an incident that is no tool call",
    records: [broke("exit", "a")],
    request: { ...EXPECTED, disposition: "open", permissionResource: "unknown" },
    refused: "Incident a is no failed tool call: a permission cannot be what it needs",
  },
])("failure observations, section 9.3: $from", ({ records, request, refused }) => {
  expect(refusalOf(request, { records })).toBe(refused);
});

test("a refusal lists the ten newest of twelve, each with at most 120 bytes of what failed", () => {
  const records = Array.from({ length: 12 }, (_, index) =>
    failed(`f${index}`, `operation ${index}`, [index, index], { summary: "é".repeat(100) }),
  );
  const decision = decide({ ...EXPECTED, targets: ["nobody"] }, { records });
  const lines = decision.accepted ? [] : decision.message.split("\n");
  expect(lines).toHaveLength(13);
  expect(lines[2]).toBe(`- f11 · ${"é".repeat(58)}…`);
  expect(lines[11]).toBe(`- f2 · ${"é".repeat(58)}…`);
  expect(lines[12]).toBe("and 2 more");
});
