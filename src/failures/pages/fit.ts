/**
 * Which lines of a page stay when it is too small: rows go before notes, and the note on correctness goes last. Pure.
 * Lines are dropped whole; nothing of this part of a page is ever cut.
 */
import { bytesOf } from "./bytes.ts";

/** A line that stands beside the rows, by what it says; `cursor` is the form of `count` that holds it. */
export type LineName =
  | "closed"
  | "expected"
  | "reported"
  | "hint"
  | "run"
  | "unclassified"
  | "cursor"
  | "status"
  | "health"
  | "reset"
  | "count"
  | "correctness";

/** An empty text is no line. */
export type Line = readonly [name: LineName, text: string];

/** Dropped in this order (failure observations, section 7.4; the lines of identity, health and reset are ours). */
const DROPPED_IN_ORDER: readonly LineName[] = [
  "closed",
  "expected",
  "reported",
  "hint",
  "run",
  "unclassified",
  "cursor",
  "status",
  "health",
  "reset",
  "count",
  "correctness",
];

export interface Section {
  readonly before: readonly Line[];
  readonly total: number;
  /** Rendered only as far as they may fit. */
  readonly row: (index: number) => string;
  /** Where the list goes on behind so many rows. */
  readonly cursorAfter: (listed: number) => string;
  /** Leads when rows were dropped; without a cursor it says that there was no room. */
  readonly countLine: (listed: number, cursor: string | undefined) => string;
  readonly after: readonly Line[];
}

export interface FittedSection {
  readonly text: string;
  /** Nothing but rows was dropped: what comes below may use the room that is left. */
  readonly hasAllNotes: boolean;
  readonly listed: number;
  /** There when rows were dropped, also when the text has no room for it. */
  readonly cursor?: string;
}

const HINT = "The cursor continues the list.";

/** The section within `maxBytes`; rows behind the first one only as long as it stays within `rowBytes`. */
export function fitSection(
  section: Section,
  { rowBytes, maxBytes }: { readonly rowBytes: number; readonly maxBytes: number },
): FittedSection {
  const { before, after, total, cursorAfter, countLine } = section;
  const limitOf = (listed: number) => (listed > 1 ? rowBytes : maxBytes);
  const rows = rowsUpTo(section, maxBytes);
  const form = (lead: readonly string[], listed: number) =>
    joined([...textsOf(before), ...lead, ...rows.slice(0, listed), ...textsOf(after)]);
  if (rows.length === total) {
    const text = form([], total);
    if (bytesOf(text) <= limitOf(total)) return { text, hasAllNotes: true, listed: total };
  }
  for (let listed = Math.min(rows.length, total - 1); listed >= 0; listed -= 1) {
    const cursor = cursorAfter(listed);
    const text = form([countLine(listed, cursor), HINT], listed);
    if (bytesOf(text) <= limitOf(listed)) return { text, hasAllNotes: true, listed, cursor };
  }
  const cursor = total === 0 ? undefined : cursorAfter(0);
  const lead: readonly Line[] =
    cursor === undefined
      ? []
      : [
          ["cursor", countLine(0, cursor)],
          ["count", countLine(0, undefined)],
          ["hint", HINT],
        ];
  const text = dropLines([...before, ...lead, ...after], maxBytes);
  return { text, hasAllNotes: false, listed: 0, ...(cursor !== undefined && { cursor }) };
}

/** Drops lines until the rest fits; when not even the last one does, whichever does. */
export function dropLines(lines: readonly Line[], maxBytes: number): string {
  for (let dropped = 0; dropped < DROPPED_IN_ORDER.length; dropped += 1) {
    const kept = new Set(DROPPED_IN_ORDER.slice(dropped));
    const text = joined(textsOf(lines.filter(([name]) => kept.has(name) && (name !== "count" || !kept.has("cursor")))));
    if (bytesOf(text) <= maxBytes) return text;
  }
  const alone = DROPPED_IN_ORDER.toReversed().flatMap((name) => lines.filter((line) => line[0] === name));
  return textsOf(alone).find((text) => bytesOf(text) <= maxBytes) ?? "";
}

/** The first rows whose own bytes stay within the limit; what stands beside them is not counted yet. */
function rowsUpTo({ total, row }: Section, maxBytes: number): readonly string[] {
  const rows: string[] = [];
  for (let bytes = 0; rows.length < total;) {
    const next = row(rows.length);
    bytes += bytesOf(next) + 1;
    if (bytes > maxBytes + 1) break;
    rows.push(next);
  }
  return rows;
}

/** What the lines say, without those that say nothing. */
export function textsOf(lines: readonly Line[]): readonly string[] {
  return lines.map(([, text]) => text).filter((text) => text !== "");
}

/** One text of them. */
export function joined(lines: readonly string[]): string {
  return lines.join("\n");
}
