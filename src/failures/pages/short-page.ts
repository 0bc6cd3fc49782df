/** What is said of a run where there is little room, or little to say. Pure. */
import { compareForList, countsOf, needsAction } from "../incidents/labels.ts";
import type { Incident, IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import { budgetOf } from "./budgets.ts";
import { bytesOf, cutTo } from "./bytes.ts";
import { historyCounts, quietLine, runLine, statusLine } from "./notes.ts";
import { renderBriefRow } from "./row.ts";

/** Less of a row says nothing. */
const MIN_ROW_BYTES = 40;

/**
 * The failures of one run in a list of runs: the first row, and counts; empty when nothing failed or all is closed. At
 * most `maxBytes` (200): the row is cut to what the counts leave.
 */
export function listText(state: IncidentState, maxBytes?: number): string {
  const room = budgetOf("list", maxBytes);
  const counts = countsOf(state);
  const needing = needingAction(state);
  const [first] = needing;
  if (first === undefined) return whenFits(quietLine(counts), room);
  const tally = [`${needing.length} need action`, historyCounts(counts)].filter((part) => part !== "").join(" · ");
  const rowBytes = room - bytesOf(tally) - 1;
  if (rowBytes < MIN_ROW_BYTES) return whenFits(tally, room);
  return `${cutTo(renderBriefRow(first), rowBytes)}\n${tally}`;
}

/** One line for a run among many: label and excerpt of what needs action first, otherwise empty. */
export function navigatorText(state: IncidentState): string {
  const [first] = needingAction(state);
  return first === undefined ? "" : renderBriefRow(first);
}

/** Nothing changed since the cursor. Who has to act is said all the same. */
export function unchangedText(
  meta: RunMeta,
  state: IncidentState,
  { now, maxBytes, cursor }: { readonly now: number; readonly maxBytes: number; readonly cursor: string },
): string {
  const needing = needingAction(state).length;
  const unchanged = `Unchanged since the cursor${needing > 0 ? ` · ${needing} need action` : ""}`;
  const identity = [runLine(meta, now), statusLine(meta)];
  const forms = [[...identity, unchanged, `next=${cursor}`], [statusLine(meta), unchanged], [unchanged]];
  return forms.map((lines) => lines.join("\n")).find((text) => bytesOf(text) <= maxBytes) ?? "";
}

function needingAction({ incidents }: IncidentState): readonly Incident[] {
  return [...incidents.values()].filter(needsAction).toSorted(compareForList);
}

function whenFits(text: string, maxBytes: number): string {
  return bytesOf(text) <= maxBytes ? text : "";
}
