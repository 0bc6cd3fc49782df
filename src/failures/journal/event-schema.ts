/** Which events may stand in a journal (failure observations, section 2): taken whole or rejected whole. Pure. */
import { isObject } from "../../acp/frames.ts";
import { PERMISSION_BLOCKER_KEYS, readPermissionBlocker } from "../incidents/permission-blocker.ts";
import { MAX_EVIDENCE_CHARS, MAX_REASON_CHARS, MAX_SUMMARY_CHARS } from "../records.ts";
import type { JournalEvent } from "../records.ts";

type Check = (value: unknown) => boolean;

const MAX_ID_BYTES = 256;
const MAX_CALL_ID_CHARS = 200;
export const MAX_SIGNAL_CHARS = 16;
const MAX_EXIT_CODE = 2 ** 32 - 1;
/** What a date can be, in ms from 1970. */
const MAX_TIME_MS = 8.64e15;
const MAX_REPORTS = 20;
/** Of an operation and of a tool. */
export const MAX_NAME_BYTES = 128;
/** A record names no more incidents than this. */
export const MAX_INCIDENTS = 200;

/** Two code units that are one character. */
const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;
const CONTROL = /\p{Cc}/u;

const isId = name(MAX_ID_BYTES);
const isCallId: Check = (value) => isText(value, 1, MAX_CALL_ID_CHARS);
const isOrdinal: Check = (value) => isInteger(value, 0, Number.MAX_SAFE_INTEGER);
const ATTEMPT: readonly (readonly [string, Check])[] = [
  ["toolCallId", isCallId],
  ["attemptId", isCallId],
  ["operationId", isCallId],
  ["startN", isOrdinal],
  ["endN", isOrdinal],
];
const REVISION: readonly (readonly [string, Check])[] = [
  ["id", isId],
  ["revision", isOrdinal],
];

/** Every field that an event may have. */
const FIELDS = new Map<string, Check>([
  ["id", isId],
  ["operation", name(MAX_NAME_BYTES)],
  ["kind", oneOf("failure", "incomplete", "recovered", "delivered", "disposition")],
  ["at", isTime],
  [
    "category",
    oneOf(
      "tool",
      "rejected-intent",
      "exit",
      "model",
      "session",
      "auth",
      "supervision",
      "watch",
      "storage",
      "observation-incomplete",
    ),
  ],
  ["tool", name(MAX_NAME_BYTES)],
  ["summary", (value) => isText(value, 0, MAX_SUMMARY_CHARS)],
  ["evidence", (value) => isText(value, 0, MAX_EVIDENCE_CHARS)],
  ["expected", (value) => typeof value === "boolean"],
  ["exitCode", (value) => value === null || isInteger(value, 0, MAX_EXIT_CODE)],
  ["signal", (value) => isText(value, 1, MAX_SIGNAL_CHARS)],
  ["attempt", shape(ATTEMPT, ["startN", "endN"])],
  ["incidents", list(MAX_INCIDENTS, isId)],
  ["disposition", oneOf("recovered", "superseded", "expected", "open")],
  ["reason", (value) => isText(value, 1, MAX_REASON_CHARS)],
  ["by", oneOf("child", "parent", "human")],
  ["proof", shape([...ATTEMPT, ["operation", name(MAX_NAME_BYTES)]], ["startN", "endN", "operation"])],
  ["permissionBlockers", list(MAX_REPORTS, (value) => readPermissionBlocker(value) !== undefined)],
  ["sf", shape(REVISION, ["id", "revision"])],
]);

/** Every name that stands in an event, at whatever depth. */
export const EVENT_NAMES: readonly string[] = [
  ...FIELDS.keys(),
  ...[...ATTEMPT, ...REVISION].map(([field]) => field),
  ...PERMISSION_BLOCKER_KEYS,
];

const REQUIRED = new Map<unknown, readonly string[]>([
  ["failure", ["category", "summary"]],
  ["incomplete", ["category", "summary"]],
  ["recovered", ["incidents"]],
  ["delivered", ["incidents"]],
  ["disposition", ["incidents", "disposition", "reason", "by"]],
]);

const isEvent = shape([...FIELDS], ["id", "operation", "kind"]);

/** Whether it is an event with every field that its kind needs, and no known field with a value that it may not have. */
export function isJournalEvent(value: unknown): value is JournalEvent {
  if (!isEvent(value) || !isObject(value)) return false;
  return REQUIRED.get(value["kind"])?.every((field) => Object.hasOwn(value, field)) ?? false;
}

/** A point in time, ms since 1970. */
export function isTime(value: unknown): value is number {
  return isInteger(value, -MAX_TIME_MS, MAX_TIME_MS);
}

/** An integer in these bounds. */
export function isInteger(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

/** Characters are counted as people see code points; text that is short by code units needs no counting. */
function isText(value: unknown, min: number, max: number): boolean {
  if (typeof value !== "string" || value.length < min) return false;
  return value.length <= max || (value.length <= 2 * max && value.replaceAll(PAIR, "-").length <= max);
}

/** One word of a line: no control characters, at least one byte. */
function name(maxBytes: number): Check {
  return (value) => typeof value === "string" && value !== "" && !CONTROL.test(value) && isWithin(value, maxBytes);
}

/** A code unit has three bytes at most, so that a short text needs no counting. */
function isWithin(text: string, maxBytes: number): boolean {
  return 3 * text.length <= maxBytes || Buffer.byteLength(text) <= maxBytes;
}

function oneOf(...words: readonly string[]): Check {
  return (value) => words.some((word) => word === value);
}

function list(maxLength: number, check: Check): Check {
  return (value) => Array.isArray(value) && value.length <= maxLength && value.every((item) => check(item));
}

/** Fields that are not in the table are let be: a later version may add some. */
function shape(fields: readonly (readonly [string, Check])[], required: readonly string[]): Check {
  const checks = new Map(fields);
  return (value) =>
    isObject(value) &&
    required.every((field) => Object.hasOwn(value, field)) &&
    Object.keys(value).every((field) => value[field] === undefined || (checks.get(field)?.(value[field]) ?? true));
}
