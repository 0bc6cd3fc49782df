/** Which incidents are listed, in which order, and what their cursor says. Pure. */
import { compareForList, needsAction } from "../incidents/labels.ts";
import type { Incident, IncidentState } from "../records.ts";
import { restFrom } from "./bytes.ts";
import { digestOf, encodeIncidentCursor, isIncidentCursor, readIncidentCursor } from "./cursor.ts";
import type { IncidentCursor } from "./cursor.ts";
import { renderRow } from "./row.ts";
import type { RowDetail } from "./row.ts";

export interface ViewOptions extends RowDetail {
  /** Every incident, closed ones included. Default: those that need action. */
  readonly history?: boolean | undefined;
  /** Where to go on; it carries its own view. */
  readonly cursor?: string | undefined;
}

/** `other-view`: the cursor is of another run, page or row detail. `changed`: an incident changed since. */
export type Reset = "other-view" | "changed";

/** The listed incidents of a run, and where a page of them begins. */
export interface ListView {
  readonly incidents: readonly Incident[];
  /** How many of all incidents need action. */
  readonly needAction: number;
  readonly history: boolean;
  readonly start: { readonly row: number; readonly byte: number };
  /** The page is the first one, and not what the cursor named. */
  readonly reset?: Reset;
  readonly row: (index: number) => string;
  readonly cursorAt: (row: number, byte: number) => string;
}

/** The view that the cursor carries, else the one that was asked for. `runId` keeps cursors apart. */
export function viewOf(runId: string, state: IncidentState, options: ViewOptions): ListView {
  const { cursor, named: isNamed = false } = options;
  const place = digestOf("incidents", runId, isNamed);
  const named = cursor !== undefined && isIncidentCursor(cursor) ? readIncidentCursor(cursor) : undefined;
  const isOther = named?.place !== place || (options.raw === true && !named.raw);
  const followed = isOther ? undefined : named;
  const history = followed?.history ?? options.history === true;
  const raw = followed?.raw ?? options.raw === true;
  const needing = [...state.incidents.values()].filter(needsAction);
  const incidents = (history ? [...state.incidents.values()] : needing).toSorted(compareForList);
  const digest = digestOf(incidents.map(({ id, lastSeq, status, occurrences }) => [id, lastSeq, status, occurrences]));
  const rendered = new Map<number, string>();
  const row = (index: number) => {
    const incident = incidents[index];
    const text =
      rendered.get(index) ?? (incident ? renderRow(incident, { raw, named: isNamed, folder: options.folder }) : "");
    rendered.set(index, text);
    return text;
  };
  const reset = cursor === undefined ? undefined : resetOf(followed, { digest, total: incidents.length, row });
  return {
    incidents,
    needAction: needing.length,
    history,
    start: followed === undefined || reset !== undefined ? { row: 0, byte: 0 } : followed,
    ...(reset !== undefined && { reset }),
    row,
    cursorAt: (at, byte) =>
      encodeIncidentCursor({ row: at, byte, digest, total: incidents.length, place, history, raw }),
  };
}

function resetOf(
  cursor: IncidentCursor | undefined,
  { digest, total, row }: Pick<IncidentCursor, "digest" | "total"> & Pick<ListView, "row">,
): Reset | undefined {
  if (cursor === undefined) return "other-view";
  const isSame = cursor.digest === digest && cursor.total === total && cursor.row < total;
  return isSame && restFrom(row(cursor.row), cursor.byte) !== undefined ? undefined : "changed";
}

/** `6 need action · 2 listed · 4 more · cursor=…`; the numbers stand also where the cursor has no room. */
export function countLine(
  counts: { readonly needAction: number; readonly listed: number; readonly more: number },
  cursor: string | undefined,
): string {
  const numbers = `${counts.needAction} need action · ${counts.listed} listed · ${counts.more} more`;
  return cursor === undefined ? `${numbers} · no room for the cursor` : `${numbers} · cursor=${cursor}`;
}

/** Why a page is not the one that was asked for. */
export function resetLine(reset: Reset | undefined): string {
  switch (reset) {
    case undefined:
      return "";
    case "changed":
      return "reset: changed";
    case "other-view":
      return "reset: other-view";
  }
}
