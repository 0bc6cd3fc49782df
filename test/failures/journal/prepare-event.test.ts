import { describe, expect, test } from "vitest";
import { prepareEvent, splitReceipt } from "../../../src/failures/journal/prepare-event.ts";
import type { DispositionEvent, FailureEvent, JournalEvent, PermissionBlocker } from "../../../src/failures/records.ts";

const OPERATION = "0123456789abcdef0123456789abcdef";
const FAILURE: FailureEvent = {
  id: "tool:a:1",
  operation: OPERATION,
  kind: "failure",
  category: "tool",
  summary: "it failed",
};
const DISPOSITION: DispositionEvent = {
  id: "disposition:a:2",
  operation: OPERATION,
  kind: "disposition",
  incidents: ["tool:a:1"],
  disposition: "open",
  reason: "why",
  by: "child",
};
const PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----";

describe("a text that goes into the journal", () => {
  test.each([
    {
      from: "failure observations, section 2: control characters",
      text: "a\u0000b\u007Fc\u0085d\te\nf",
      clean: "abcd e f",
    },
    { from: "colours", text: "\u001B[31mred\u001B[0m", clean: "red" },
    { from: "half a character", text: "a\uD83Db", clean: "a b" },
    { from: "a whole character", text: "a😀b", clean: "a😀b" },
    {
      from: "case C25: a database URL",
      text: "DATABASE_URL=postgres://u:p4ssw0rd@h/db",
      clean: "DATABASE_URL=postgres://[redacted]@h/db",
    },
    {
      from: "case C25: a header",
      text: "Authorization: Bearer abc.def-ghi123",
      clean: "Authorization: Bearer [redacted]",
    },
    { from: "case C25: a key in a block", text: `key: ${PEM} done`, clean: "key: [redacted] done" },
    { from: "a home folder", text: "cannot read /home/ann/x", clean: "cannot read ~/x" },
    { from: "more than 400 characters", text: "x".repeat(500), clean: `${"x".repeat(399)}…` },
    { from: "a cut inside a character", text: `${"x".repeat(398)}😀yyy`, clean: `${"x".repeat(398)}…` },
  ])("$from", ({ text, clean }) => {
    expect(prepareEvent({ ...FAILURE, summary: text, evidence: text })?.event).toMatchObject({
      summary: clean,
      evidence: clean,
    });
    expect(prepareEvent({ ...DISPOSITION, reason: text, evidence: text })?.event).toMatchObject({
      reason: clean,
      evidence: clean,
    });
  });
});

test("what is written is what counts, and nothing that the schema does not know is written", () => {
  const stranger = { ...FAILURE, stdout: "secret words", attempt: { startN: 1, endN: 2, prompt: "more of them" } };
  const prepared = prepareEvent(stranger);
  expect(prepared?.text).toBe(
    `{"id":"tool:a:1","operation":"${OPERATION}","kind":"failure","category":"tool","summary":"it failed","attempt":{"startN":1,"endN":2}}`,
  );
  expect(prepared?.event).toMatchObject(FAILURE);
});

test.each([
  { from: "a tool with a control character", tool: "ba\u0000sh", shown: "bash" },
  { from: "a tool of 200 bytes", tool: "é".repeat(100), shown: "é".repeat(64) },
  { from: "a tool of nothing", tool: "\u0000", shown: undefined },
])("$from is named as far as it goes", ({ tool, shown }) => {
  expect(prepareEvent({ ...FAILURE, tool })?.event).toEqual(
    shown === undefined ? FAILURE : { ...FAILURE, tool: shown },
  );
});

const REPORT: PermissionBlocker = {
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "project-files",
  basis: "agent-reported",
  operation: "o".repeat(64),
  remoteOutcome: "unknown",
  incidentId: "i".repeat(200),
};
const bytesOf = (event: JournalEvent): number => Buffer.byteLength(prepareEvent(event)?.text ?? "");

test.each([
  {
    from: "a summary beside 17 reports",
    event: { ...FAILURE, summary: "ä".repeat(400), permissionBlockers: Array.from({ length: 17 }, () => REPORT) },
  },
  {
    from: "a reason beside 17 reports",
    event: { ...DISPOSITION, reason: "ä".repeat(400), permissionBlockers: Array.from({ length: 17 }, () => REPORT) },
  },
])("$from is shortened until the record fits", ({ event }) => {
  expect(bytesOf(event)).toBeGreaterThan(7600);
  expect(bytesOf(event)).toBeLessThanOrEqual(8000);
  expect(prepareEvent(event)?.text).toContain("ä…");
});

test.each([
  { from: "an id that is too long", event: { ...FAILURE, id: "x".repeat(257) } },
  { from: "an id with a newline", event: { ...FAILURE, id: "a\nb" } },
  { from: "a reason of nothing", event: { ...DISPOSITION, reason: "\u0000" } },
  { from: "a time that is none", event: { ...FAILURE, at: Number.NaN } },
  {
    from: "more reports than a record holds",
    event: {
      ...FAILURE,
      permissionBlockers: Array.from({ length: 20 }, () => ({ ...REPORT, runId: "r".repeat(200) })),
    },
  },
])("$from is refused", ({ event }) => {
  expect(prepareEvent(event)).toBeUndefined();
});

const receiptOf = (count: number, chars: number): JournalEvent => ({
  id: "delivered:all",
  operation: OPERATION,
  kind: "delivered",
  incidents: Array.from({ length: count }, (_, index) => `${index}`.padStart(chars, "x")),
});

describe("a receipt", () => {
  test("of the same incidents under another id has other parts", () => {
    const again = { ...receiptOf(450, 8), id: "delivered:again" };
    const ids = [receiptOf(450, 8), again].flatMap((event) => splitReceipt(event).map(({ id }) => id));
    expect(new Set(ids).size).toBe(6);
  });

  test("is one record as long as it fits", () => {
    expect(splitReceipt(receiptOf(200, 20))).toEqual([receiptOf(200, 20)]);
  });

  test.each([
    { from: "more incidents than a record may name", count: 450, chars: 8, parts: [200, 200, 50] },
    { from: "ids that fill a record before", count: 60, chars: 250, parts: [29, 29, 2] },
  ])("is cut: $from", ({ count, chars, parts }) => {
    const split = splitReceipt(receiptOf(count, chars));
    const incidents = split.map((event) => ("incidents" in event ? event.incidents : []));
    expect(incidents.map(({ length }) => length)).toEqual(parts);
    expect(incidents.flat()).toHaveLength(count);
    expect(new Set(split.map(({ id }) => id)).size).toBe(parts.length);
    for (const part of split) expect(prepareEvent(part)).toBeDefined();
  });
});
