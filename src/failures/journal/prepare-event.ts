/**
 * An event as it goes into the journal: every free text cleaned and scrubbed, whoever wrote it, nothing in it that the
 * schema does not know, and short enough for one record (failure observations, section 2). Pure.
 */
import { cleanLine } from "../../errors/redact.ts";
import { keyOf } from "../keys.ts";
import { MAX_EVIDENCE_CHARS, MAX_REASON_CHARS, MAX_RECORD_BYTES, MAX_SUMMARY_CHARS } from "../records.ts";
import type { DeliveredEvent, JournalEvent } from "../records.ts";
import { EVENT_NAMES, isJournalEvent, MAX_INCIDENTS, MAX_NAME_BYTES, MAX_SIGNAL_CHARS } from "./event-schema.ts";

/** For what stands around an event in its line, with the longest numbers there are. */
const MAX_ENVELOPE_BYTES = 192;
const MAX_EVENT_BYTES = MAX_RECORD_BYTES - MAX_ENVELOPE_BYTES;
/** For what a receipt holds besides the ids of incidents. */
const MAX_RECEIPT_BYTES = 512;
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** What {@link FailureEvent.evidence} says of a log: nothing of it comes from anybody else. */
const LOG_POINTER = /^output\.log#(?:byte|poll)=\d{1,16}$/;
const KNOWN_NAMES = new Set(EVENT_NAMES);

export interface PreparedEvent {
  readonly event: JournalEvent;
  /** Its JSON. */
  readonly text: string;
}

/** The event as it may be written; undefined for one that no record can hold. */
export function prepareEvent(raw: JournalEvent): PreparedEvent | undefined {
  const cleaned = clean(raw);
  const whole = textOf(cleaned);
  const excess = Buffer.byteLength(whole) - MAX_EVENT_BYTES;
  const event = excess > 0 ? shorten(cleaned, excess) : cleaned;
  if (!isJournalEvent(event)) return undefined;
  const text = event === cleaned ? whole : textOf(event);
  return Buffer.byteLength(text) > MAX_EVENT_BYTES ? undefined : { event, text };
}

/** A receipt in so many parts that each fits in a record; every other event as it is. */
export function splitReceipt(event: JournalEvent): readonly JournalEvent[] {
  if (event.kind !== "delivered" || fits(event.incidents)) return [event];
  const parts: string[][] = [[]];
  for (const id of event.incidents) {
    const part = parts.at(-1) ?? [];
    if (fits([...part, id])) part.push(id);
    else parts.push([id]);
  }
  return parts.map((incidents): DeliveredEvent => {
    const id = `delivered:${keyOf(event.id, incidents.toSorted())}`;
    return { ...event, id, incidents };
  });
}

function fits(ids: readonly string[]): boolean {
  return ids.length <= MAX_INCIDENTS && Buffer.byteLength(JSON.stringify(ids)) <= MAX_EVENT_BYTES - MAX_RECEIPT_BYTES;
}

function clean(event: JournalEvent): JournalEvent {
  switch (event.kind) {
    case "failure":
    case "incomplete": {
      const { tool, evidence, signal, ...rest } = event;
      const name = tool === undefined ? "" : cutBytes(cleanText(tool, MAX_NAME_BYTES), MAX_NAME_BYTES);
      return {
        ...rest,
        ...(name !== "" && { tool: name }),
        summary: cleanText(event.summary, MAX_SUMMARY_CHARS),
        ...(evidence !== undefined && { evidence: cleanEvidence(evidence) }),
        ...(signal !== undefined && { signal: cleanText(signal, MAX_SIGNAL_CHARS) }),
      };
    }
    case "disposition": {
      const { evidence } = event;
      const reason = cleanText(event.reason, MAX_REASON_CHARS);
      return {
        ...event,
        reason,
        ...(evidence !== undefined && { evidence: cleanEvidence(evidence) }),
      };
    }
    case "recovered":
    case "delivered":
      return event;
  }
}

function cleanEvidence(evidence: string): string {
  return LOG_POINTER.test(evidence) ? evidence : cleanText(evidence, MAX_EVIDENCE_CHARS);
}

function cleanText(text: string, maxChars: number): string {
  return cleanLine(text.isWellFormed() ? text : text.replace(LONE_SURROGATE, " "), maxChars);
}

/** In the summary or the reason. A character has at least one byte, so that so many characters are enough. */
function shorten(event: JournalEvent, excess: number): JournalEvent {
  switch (event.kind) {
    case "failure":
    case "incomplete":
      return { ...event, summary: cutText(event.summary, excess) };
    case "disposition":
      return { ...event, reason: cutText(event.reason, excess) };
    case "recovered":
    case "delivered":
      return event;
  }
}

/** The text without so many characters of its end, and something of it at least. */
function cutText(text: string, excess: number): string {
  const ellipsisBytes = 3;
  return cleanLine(text, Math.max(1, text.length - excess - ellipsisBytes));
}

function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString()
        .replace(/\uFFFD+$/, "");
}

/** Without what the schema does not know; looking for that first is faster than having the printer look. */
function textOf(event: JournalEvent): string {
  return isKnown(event) ? JSON.stringify(event) : JSON.stringify(event, [...KNOWN_NAMES]);
}

function isKnown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isKnown);
  return Object.entries(value).every(([name, member]) => KNOWN_NAMES.has(name) && isKnown(member));
}
