/** The words of a notification. Pure. Only what it delivers has rows; everything else is a number. */
import { countsOf } from "../incidents/labels.ts";
import type { NotificationMoment } from "../notification.ts";
import type { IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import { budgetOf } from "../pages/budgets.ts";
import { bytesOf } from "../pages/bytes.ts";
import { dropLines, joined, textsOf } from "../pages/fit.ts";
import type { Line } from "../pages/fit.ts";
import { correctnessNote, countReported, reportedNote, runLine, statusLine, unclassifiedNote } from "../pages/notes.ts";
import { renderRow } from "../pages/row.ts";
import { isEnd } from "./due.ts";
import type { Delivery } from "./due.ts";

const MAX_ROWS = 5;

export interface NotificationFacts {
  readonly meta: RunMeta;
  readonly state: IncidentState;
  readonly now: number;
  /** Default: 2 KiB while the run goes on, 4 KiB at its end. */
  readonly maxBytes?: number | undefined;
}

/** At most five rows, within the budget of the moment. */
export function renderNotification({ moment, incidents, counted }: Delivery, facts: NotificationFacts): string {
  const { meta, state, now } = facts;
  const maxBytes = budgetOf(isEnd(moment) ? "completion" : "running", facts.maxBytes);
  const before: readonly Line[] = [
    ["run", runLine(meta, now)],
    ["status", statusLine(meta)],
    ["health", healthNote(moment)],
  ];
  const after: readonly Line[] = isEnd(moment)
    ? [
        ["reported", reportedNote(countReported(state))],
        ["unclassified", unclassifiedNote(counted.length)],
        ["correctness", correctnessNote(countsOf(state))],
      ]
    : [];
  const rows = incidents.slice(0, MAX_ROWS).map((incident) => renderRow(incident));
  for (let listed = rows.length; listed >= 0; listed -= 1) {
    const more: Line = ["count", moreNote(incidents.length - listed)];
    const text = joined([...textsOf(before), ...rows.slice(0, listed), ...textsOf([more, ...after])]);
    if (bytesOf(text) <= maxBytes) return text;
  }
  return dropLines([...before, ["count", moreNote(incidents.length)], ...after], maxBytes);
}

/** Why somebody hears of a run that did not end by itself. */
function healthNote(moment: NotificationMoment): string {
  if (moment === "orphaned") return "Nobody supervises this run any more; its process may still be there.";
  return moment === "lost" ? "This run is gone, and how it ended was not recorded." : "";
}

function moreNote(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 more needs action." : `${count} more need action.`;
}
