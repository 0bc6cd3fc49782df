/**
 * Evidence that is missing because of the journal itself, as events (failure observations, section 12). Pure. The id of
 * each says what is missing and where, so that whoever finds the same again finds it known.
 */
import { keyOf } from "../keys.ts";
import type { FailureEvent, Incident, RecoveredEvent } from "../records.ts";
import type { Damage } from "./reader.ts";

/** What is lost for good. */
export const STORAGE = keyOf("storage");
/** What cannot be read or written for the moment: another operation, so that it can end while damage stays. */
export const STORAGE_ACCESS = keyOf("storage", "access");

/** A journal that its marker remembers is gone. */
export function missingGap(knownBytes: number): FailureEvent {
  const what = "The failure journal of this run is missing: what was observed before is lost";
  return gap("missing", knownBytes, STORAGE, what);
}

/** A journal is shorter than it was, or was replaced by another one. */
export function shorterGap(bytes: number, knownBytes: number): FailureEvent {
  const what = `The failure journal of this run was cut or replaced: it had ${knownBytes} bytes and has ${bytes}`;
  return gap("shorter", knownBytes, STORAGE, what);
}

/** Records that are there no more, or cannot be read; undefined when there are none. */
export function damageGap({ records, at }: Damage): FailureEvent | undefined {
  if (records === 0) return undefined;
  const what = `${records === 1 ? "A record" : `${records} records`} of the failure journal cannot be read`;
  return gap("records", `${at}-${records}`, STORAGE, what);
}

/** Failures that neither the disk nor the memory took. */
export function droppedGap(writer: string, seq: number, records: number): FailureEvent {
  const what = `${records === 1 ? "One observation is" : `${records} observations are`} lost: the disk could not be written, and memory for them is bounded`;
  return gap("dropped", `${writer}-${seq}`, STORAGE, what);
}

/** An event that no record can hold. */
export function refusedGap(eventId: unknown): FailureEvent {
  const what = "An observation could not be written down: it does not fit into a record";
  return gap("refused", keyOf(eventId), STORAGE, what);
}

/** The journal cannot be read or written at the moment. `name` tells this outage from every other one. */
export function outageGap(access: "read" | "write", code: string, name: string, at: number): FailureEvent {
  const what =
    access === "read"
      ? `The failure journal cannot be read (${code})`
      : `Failures cannot be written down (${code}): they are kept in memory until they can`;
  return { ...gap("outage", name, STORAGE_ACCESS, what), at };
}

/** The end of an outage. */
export function outageEnd({ id, operation }: Incident, at: number): RecoveredEvent {
  return { id: `recovered:${id}`, operation, kind: "recovered", at, incidents: [id] };
}

function gap(name: string, position: string | number, operation: string, summary: string): FailureEvent {
  return {
    id: `gap:storage-${name}:${position}`,
    operation,
    kind: "incomplete",
    category: "observation-incomplete",
    summary,
  };
}
