/**
 * Names by which things are grouped and recognised: operations, events, sessions. Pure. A name is the same in every
 * process and on every rescan, whatever the order of the keys was in which a harness sent its arguments.
 */
import { createHash } from "node:crypto";

const KEY_CHARS = 32;
const SESSION_TAG_CHARS = 8;

/** The first 32 hex characters of SHA-256 over the canonical JSON of the parts: an operation, or a part of an event id. */
export function keyOf(...parts: readonly unknown[]): string {
  return sha256(canonicalJson(parts)).slice(0, KEY_CHARS);
}

/** Call ids are unique in one session only, and a run has several: this stands for the session in event ids. */
export function sessionTag(sessionId: string): string {
  return sha256(sessionId).slice(0, SESSION_TAG_CHARS);
}

/**
 * JSON with the keys of every object in the order of their UTF-16 code units and without `undefined` members, so that
 * equal values give equal texts. For what `JSON.parse` gives; deeper than the stack takes, it throws a RangeError.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
