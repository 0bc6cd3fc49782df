/** A page of a run's incidents, and the pages behind it. Pure. */
import { countsOf } from "../incidents/labels.ts";
import type { Incident, IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import { budgetOf } from "./budgets.ts";
import type { PageSurface } from "./budgets.ts";
import { bytesOf, restFrom, startOf } from "./bytes.ts";
import { countLine, resetLine, viewOf } from "./list-view.ts";
import type { ListView, Reset, ViewOptions } from "./list-view.ts";
import { historyCounts, quietLine } from "./notes.ts";

export interface IncidentPageOptions extends ViewOptions {
  readonly maxBytes?: number | undefined;
  /** Whose limits hold. Default: those of a list of incidents. */
  readonly surface?: PageSurface | undefined;
}

export interface IncidentPage {
  /** The whole page, within its budget. */
  readonly text: string;
  /**
   * The rows alone. The pages of one list, joined, are the text of all rows byte for byte: a row that is bigger than a
   * page goes on in the next one.
   */
  readonly rows: string;
  /** Of the next page; there also when the text has no room for it. */
  readonly cursor?: string;
  readonly reset?: Reset;
  /** Those with a row, or a part of one, on this page. */
  readonly incidents: readonly Incident[];
  /** Of all incidents of the run. */
  readonly needAction: number;
  /** How many come on later pages. */
  readonly more: number;
}

/**
 * The first page, or the one that the cursor names. When there is nothing to list, it says so in one line without a
 * cursor; a page that is too small for a row has none, and its cursor stays where it was.
 */
export function incidentPage(
  { id }: Pick<RunMeta, "id">,
  state: IncidentState,
  options: IncidentPageOptions = {},
): IncidentPage {
  const maxBytes = budgetOf(options.surface ?? "incidents", options.maxBytes);
  const view = viewOf(id, state, options);
  const reset = resetLine(view.reset);
  const tail = tailOf(view, state);
  const rest = pieceOf(view, maxBytes);
  if (rest.next.row === view.incidents.length) {
    const forms = [joined(reset, rest.rows, tail), joined(reset, rest.rows), rest.rows === "" ? tail : rest.rows];
    const text = forms.find((form) => bytesOf(form) <= maxBytes);
    if (text !== undefined || rest.rows === "") return pageOf(view, rest, text ?? "");
  }
  const piece = pieceOf(view, maxBytes - bytesOf(joined(reset, longestCountLine(view), " ")) + 1);
  const cursor = view.cursorAt(piece.next.row, piece.next.byte);
  const lead = countLine(countsOn(view, piece), cursor);
  const forms =
    piece.rows === ""
      ? [joined(reset, lead), lead, countLine(countsOn(view, piece), undefined)]
      : [joined(reset, lead, piece.rows.replace(/\n$/, ""))];
  return pageOf(view, piece, forms.find((form) => bytesOf(form) <= maxBytes) ?? "", cursor);
}

/** What stands on one page. */
interface Piece {
  readonly rows: string;
  /** Rows that begin or go on here. */
  readonly listed: number;
  /** Where the next page begins; behind the last row when there is none. */
  readonly next: { readonly row: number; readonly byte: number };
}

/** Whole rows as far as they fit; only a row that would have a page for itself is cut, between code points. */
function pieceOf({ incidents, start, row }: ListView, maxBytes: number): Piece {
  let rows = "";
  let bytes = 0;
  let next = { row: start.row, byte: start.byte };
  while (next.row < incidents.length) {
    const rest = restFrom(row(next.row), next.byte) ?? "";
    if (bytes + bytesOf(rest) > maxBytes) {
      const cut = rows === "" ? startOf(rest, Math.max(0, maxBytes)) : "";
      if (cut === "") break;
      return { rows: cut, listed: 1, next: { row: next.row, byte: next.byte + bytesOf(cut) } };
    }
    next = { row: next.row + 1, byte: 0 };
    const line = next.row < incidents.length ? `${rest}\n` : rest;
    rows += line;
    bytes += bytesOf(line);
  }
  return { rows, listed: next.row - start.row, next };
}

function countsOn({ needAction, incidents, start }: ListView, { listed }: Pick<Piece, "listed">) {
  return { needAction, listed, more: incidents.length - start.row - listed };
}

/** No row has more bytes: 400 characters of summary and of reason, and a path. */
const MAX_ROW_BYTES = 99_999;

/** At least as long as the one that the page will have, which is known only when its rows are. */
function longestCountLine({ needAction, incidents: { length }, cursorAt }: ListView): string {
  return countLine({ needAction, listed: length, more: length }, cursorAt(length, MAX_ROW_BYTES));
}

/** What is not listed, as counts. A history lists everything. */
function tailOf({ history, needAction }: ListView, state: IncidentState): string {
  if (history) return "";
  const counts = countsOf(state);
  return needAction === 0 ? quietLine(counts) : historyCounts(counts);
}

function pageOf(view: ListView, { rows, listed, next }: Piece, text: string, cursor?: string): IncidentPage {
  const { incidents, needAction, start, reset } = view;
  return {
    text,
    rows,
    ...(cursor !== undefined && { cursor }),
    ...(reset !== undefined && { reset }),
    incidents: incidents.slice(start.row, start.row + listed),
    needAction,
    more: incidents.length - next.row,
  };
}

function joined(...lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join("\n");
}
