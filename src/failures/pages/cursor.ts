/**
 * Where a reader goes on: in the list of a run's incidents, or in what the run said. Pure. A cursor carries its own
 * view; it holds nothing that is secret, and what somebody made up leads to a first page, never to an error.
 */
import { keyOf } from "../keys.ts";

const INCIDENTS_PREFIX = "i2.";
const STATUS_PREFIX = "s2.";
/** Longer than any that is made here; a text of megabytes is not decoded. */
const MAX_CURSOR_CHARS = 1024;
const DIGEST_CHARS = 12;

/** A place in the list of incidents. */
export interface IncidentCursor {
  readonly row: number;
  /** Offset in that row, in bytes; not 0 when it is bigger than a page. */
  readonly byte: number;
  /** Of the listed rows: any change of them begins anew. */
  readonly digest: string;
  readonly total: number;
  /** Of the run and the page. */
  readonly place: string;
  readonly history: boolean;
  readonly raw: boolean;
}

/** What a reader knows of a run. */
export interface StatusCursor {
  /** Bytes of its content that were shown. */
  readonly content: number;
  /** `IncidentState.revision` */
  readonly failures: number;
  readonly status: string;
  readonly place: string;
}

/** Whether the text names a place in a list of incidents; anything else is taken for a {@link StatusCursor}. */
export function isIncidentCursor(text: string): boolean {
  return text.startsWith(INCIDENTS_PREFIX);
}

/** A short name for what a cursor must fit to: a run and the kind of page, or the rows of a list. */
export function digestOf(...parts: readonly unknown[]): string {
  return keyOf(...parts).slice(0, DIGEST_CHARS);
}

/** `i2.` and base64url JSON. */
export function encodeIncidentCursor({ row, byte, digest, total, place, history, raw }: IncidentCursor): string {
  return encode(INCIDENTS_PREFIX, {
    o: row,
    b: byte,
    v: digest,
    n: total,
    r: place,
    ...(history && { h: 1 }),
    ...(raw && { f: 1 }),
  });
}

/** Undefined for anything that {@link encodeIncidentCursor} does not make. */
export function readIncidentCursor(text: string): IncidentCursor | undefined {
  const fields = decode(INCIDENTS_PREFIX, text);
  const [row, byte, total] = ["o", "b", "n"].map((name) => readCount(fields?.get(name)));
  const [digest, place] = ["v", "r"].map((name) => readText(fields?.get(name)));
  if (row === undefined || byte === undefined || total === undefined) return undefined;
  if (digest === undefined || place === undefined) return undefined;
  return { row, byte, digest, total, place, history: fields?.get("h") === 1, raw: fields?.get("f") === 1 };
}

/** `s2.` and base64url JSON. */
export function encodeStatusCursor({ content, failures, status, place }: StatusCursor): string {
  return encode(STATUS_PREFIX, { c: content, f: failures, s: status, r: place });
}

/** Undefined for anything that {@link encodeStatusCursor} does not make. */
export function readStatusCursor(text: string): StatusCursor | undefined {
  const fields = decode(STATUS_PREFIX, text);
  const [content, failures] = ["c", "f"].map((name) => readCount(fields?.get(name)));
  const [status, place] = ["s", "r"].map((name) => readText(fields?.get(name)));
  if (content === undefined || failures === undefined || status === undefined || place === undefined) return undefined;
  return { content, failures, status, place };
}

function encode(prefix: string, fields: Readonly<Record<string, unknown>>): string {
  return `${prefix}${Buffer.from(JSON.stringify(fields)).toString("base64url")}`;
}

function decode(prefix: string, text: string): ReadonlyMap<string, unknown> | undefined {
  if (!text.startsWith(prefix) || text.length > MAX_CURSOR_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text.slice(prefix.length), "base64url").toString());
    return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
