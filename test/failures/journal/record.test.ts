import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { encodeRecord, readRecord } from "../../../src/failures/journal/record.ts";

const EVENT = {
  id: "tool:0011aabb:call-1",
  operation: "0123456789abcdef0123456789abcdef",
  kind: "failure",
  category: "tool",
  tool: "run",
  summary: "npm test exited with 1",
  evidence: "output.log#byte=120",
  exitCode: 1,
  attempt: { toolCallId: "call-1", startN: 3, endN: 5 },
};
const BLOCKER = {
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "project-files",
  basis: "agent-reported",
  operation: "edit",
  remoteOutcome: "unknown",
  incidentId: "tool:0011aabb:call-1",
};
const DISPOSITION = {
  id: "disposition:0011aabb:call-2",
  operation: EVENT.operation,
  kind: "disposition",
  incidents: [EVENT.id],
  disposition: "open",
  reason: "needs a person",
  by: "child",
  permissionBlockers: [BLOCKER],
};
const RECORD = { v: 1, w: "9f3a01bc", seq: 12, observedAt: 1_700_000_000_123, event: EVENT };

/** A line as any program would print it. */
const lineOf = (record: unknown): Buffer => Buffer.from(JSON.stringify(record));
const withEvent = (changes: object): Buffer => lineOf({ ...RECORD, event: { ...EVENT, ...changes } });
const without = (name: string): Buffer =>
  withEvent(Object.fromEntries(Object.keys(EVENT).flatMap((key) => (key === name ? [[key, undefined]] : []))));

test("a record is one line in the order of the contract, with the checksum of its event", () => {
  const text = JSON.stringify({ id: "a", operation: "b", kind: "recovered", incidents: [] });
  expect(encodeRecord({ w: "9f3a01bc", seq: 1, observedAt: -5, text })).toBe(
    '{"v":1,"w":"9f3a01bc","seq":1,"observedAt":-5,"event":{"id":"a","operation":"b","kind":"recovered","incidents":[]},"crc":"0e1781d3"}',
  );
});

test.each([
  { from: "failure observations, section 2", line: lineOf({ ...RECORD, crc: checksumOf(EVENT) }) },
  { from: "a record without a checksum", line: lineOf(RECORD) },
  {
    from: "a record with its fields in another order",
    line: lineOf(Object.fromEntries(Object.entries({ ...RECORD, crc: checksumOf(EVENT) }).toReversed())),
  },
  { from: "a field of a later minor version", line: withEvent({ colour: "red" }) },
  { from: "the earliest time there is", line: lineOf({ ...RECORD, observedAt: -8.64e15 }) },
  { from: "case 75", line: withEvent({ id: "__proto__", operation: "constructor" }) },
  { from: "an exit code of Windows", line: withEvent({ exitCode: 4_294_967_295 }) },
  { from: "an exit without a code", line: withEvent({ exitCode: null }) },
  { from: "400 characters of two code units each", line: withEvent({ summary: "😀".repeat(400) }) },
  { from: "an id of 256 bytes", line: withEvent({ id: `${"é".repeat(127)}ab` }) },
  { from: "a permission report", line: lineOf({ ...RECORD, event: DISPOSITION }) },
  { from: "a record that was cut off twice before", line: lineOf({ ...RECORD, torn: 2 }) },
])("$from is read", ({ line }) => {
  expect(readRecord(line)).toMatchObject({ v: 1, w: "9f3a01bc", seq: 12 });
});

describe("a record is rejected as a whole", () => {
  test.each([
    { from: "nothing but the beginning", line: lineOf(RECORD).subarray(0, 60) },
    { from: "a cut inside a character", line: withEvent({ summary: "é" }).subarray(0, -4) },
    { from: "bytes that are no UTF-8", line: Buffer.from(JSON.stringify(RECORD).replace("npm", "n\u00FFm"), "latin1") },
    { from: "a list", line: lineOf([RECORD]) },
    { from: "a later version", line: lineOf({ ...RECORD, v: 2 }) },
    { from: "no version", line: lineOf({ ...RECORD, v: undefined }) },
    { from: "a writer in upper case", line: lineOf({ ...RECORD, w: "9F3A01BC" }) },
    { from: "number 0", line: lineOf({ ...RECORD, seq: 0 }) },
    { from: "half a number", line: lineOf({ ...RECORD, seq: 1.5 }) },
    { from: "a time that no date can be", line: lineOf({ ...RECORD, observedAt: 8.64e15 + 2 }) },
    { from: "a time as text", line: lineOf({ ...RECORD, observedAt: "1700000000123" }) },
    {
      from: "one bit that flipped",
      line: lineOf({ ...RECORD, event: { ...EVENT, exitCode: 0 }, crc: checksumOf(EVENT) }),
    },
    { from: "a checksum that is none", line: lineOf({ ...RECORD, crc: 7 }) },
    { from: "no event", line: lineOf({ ...RECORD, event: null }) },
    { from: "an empty id", line: withEvent({ id: "" }) },
    { from: "an id of 257 bytes", line: withEvent({ id: `${"é".repeat(128)}a` }) },
    { from: "a control character in an id", line: withEvent({ id: "a\u0085b" }) },
    { from: "a kind that nobody knows", line: withEvent({ kind: "noted" }) },
    { from: "a kind of Object", line: withEvent({ kind: "constructor" }) },
    { from: "a failure without a summary", line: without("summary") },
    { from: "a failure without a category", line: without("category") },
    { from: "a category that nobody knows", line: withEvent({ category: "weather" }) },
    { from: "401 characters", line: withEvent({ summary: "x".repeat(401) }) },
    { from: "evidence as a number", line: withEvent({ evidence: 120 }) },
    { from: "a negative exit code", line: withEvent({ exitCode: -1 }) },
    { from: "an exit code as text", line: withEvent({ exitCode: "1" }) },
    { from: "an attempt without its end", line: withEvent({ attempt: { startN: 1 } }) },
    {
      from: "an id of a call of 201 characters",
      line: withEvent({ attempt: { startN: 1, endN: 2, toolCallId: "x".repeat(201) } }),
    },
    { from: "a revision as text", line: withEvent({ sf: { id: "r", revision: "2" } }) },
    { from: "a recovery of nothing", line: withEvent({ kind: "recovered" }) },
    {
      from: "201 incidents",
      line: withEvent({ kind: "delivered", incidents: Array.from({ length: 201 }, () => "a") }),
    },
    {
      from: "a disposition that nobody knows",
      line: lineOf({ ...RECORD, event: { ...DISPOSITION, disposition: "later" } }),
    },
    { from: "a disposition without a reason", line: lineOf({ ...RECORD, event: { ...DISPOSITION, reason: "" } }) },
    { from: "a disposition by nobody", line: lineOf({ ...RECORD, event: { ...DISPOSITION, by: "cron" } }) },
    {
      from: "a report with a path in it",
      line: lineOf({ ...RECORD, event: { ...DISPOSITION, permissionBlockers: [{ ...BLOCKER, path: "/etc/shadow" }] } }),
    },
  ])("$from", ({ line }) => {
    expect(readRecord(line)).toBeUndefined();
  });
});

function checksumOf(event: object): string {
  return crc32(JSON.stringify(event)).toString(16).padStart(8, "0");
}
