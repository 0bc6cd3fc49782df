/** Lines of `failures.jsonl` and the records in them (failure observations, section 2). Pure. */
import { isUtf8 } from "node:buffer";
import { crc32 } from "node:zlib";
import { isObject } from "../../acp/frames.ts";
import type { JournalRecord } from "../records.ts";
import { isInteger, isJournalEvent, isTime } from "./event-schema.ts";

const HEX_8 = /^[0-9a-f]{8}$/;

export interface RecordToWrite extends Pick<JournalRecord, "w" | "seq" | "observedAt" | "torn"> {
  /** The JSON of the event. */
  readonly text: string;
}

/** The JSON of a record, without the newlines around it. */
export function encodeRecord({ w, seq, observedAt, torn, text }: RecordToWrite): string {
  const head = `{"v":1,"w":"${w}","seq":${seq},"observedAt":${observedAt}`;
  return `${head}${torn === undefined ? "" : `,"torn":${torn}`},"event":${text},"crc":"${checksum(text)}"}`;
}

/** The record of a line; undefined when anything in it is not as it must be. */
export function readRecord(line: Buffer): JournalRecord | undefined {
  const value = isUtf8(line) ? parse(line.toString()) : undefined;
  if (!isObject(value)) return undefined;
  const { v, w, seq, observedAt, torn, event, crc } = value;
  if (v !== 1 || !isWriter(w) || !isInteger(seq, 1, Number.MAX_SAFE_INTEGER) || !isTime(observedAt)) return undefined;
  if (torn !== undefined && !isInteger(torn, 1, Number.MAX_SAFE_INTEGER)) return undefined;
  if (!isJournalEvent(event)) return undefined;
  if (crc !== undefined && crc !== checksum(eventBytes(line)) && crc !== checksum(JSON.stringify(event)))
    return undefined;
  return { v, w, seq, observedAt, ...(torn !== undefined && { torn }), event };
}

function isWriter(value: unknown): value is string {
  return typeof value === "string" && HEX_8.test(value);
}

/** The event as it stands in a line that we wrote. In any other it is printed again, as whoever prints no blanks did. */
function eventBytes(line: Buffer): Buffer {
  return line.subarray(line.indexOf('"event":') + '"event":'.length, -',"crc":"00000000"}'.length);
}

function checksum(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(8, "0");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
