/** What is said of incidents beside their rows: counts, and what a lifecycle does not prove. Pure; the words are fixed. */
import { needsAction } from "../incidents/labels.ts";
import type { IncidentCounts } from "../incidents/labels.ts";
import type { IncidentState } from "../records.ts";
import type { RunMeta, RunStatus } from "../runs/meta.ts";
import { oneLine } from "./excerpt.ts";
import { cutTo } from "./bytes.ts";

export const CORRECTNESS_NOTE = "Work correctness was not inferred from lifecycle alone.";

const MAX_TITLE_BYTES = 80;
const MS_PER_SECOND = 1000;
const SECONDS_PER_MINUTE = 60;

/** Whether the run ended, or nobody supervises it any more: then a page says also what it does not list. */
export function isOver(status: RunStatus): boolean {
  return status !== "starting" && status !== "running";
}

/** `run=… · title · exit 1 · 12 s`: whose page it is. */
export function runLine({ id, title, exit, createdAt, endedAt }: RunMeta, now: number): string {
  return [
    `run=${id}`,
    cutTo(oneLine(title).trim(), MAX_TITLE_BYTES),
    exit?.signal ?? (exit?.code === undefined || exit.code === null ? "" : `exit ${exit.code}`),
    elapsed((endedAt ?? now) - createdAt),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

export function statusLine({ status }: Pick<RunMeta, "status">): string {
  return `status=${status}`;
}

/** `8 unclassified tool errors · 2 expected (history)`; empty when there is nothing to count. */
export function historyCounts(counts: IncidentCounts): string {
  const { unclassified, expected, recovered, superseded } = counts;
  const parts = [
    unclassified > 0 ? `${unclassified} unclassified tool ${unclassified === 1 ? "error" : "errors"}` : "",
    expected > 0 ? `${expected} expected` : "",
    recovered > 0 ? `${recovered} recovered` : "",
    superseded > 0 ? `${superseded} superseded` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `${parts.join(" · ")} (history)`;
}

/** The one line of a run in which nobody has to act; empty when all that failed is closed. */
export function quietLine(counts: IncidentCounts): string {
  if (counts.unclassified + counts.expected === 0) return "";
  return `No failures need action · ${historyCounts(counts)}`;
}

/** How many of those that need action were told before; empty for none. */
export function reportedNote(count: number): string {
  if (count === 0) return "";
  return count === 1
    ? "1 incident that needs action was already reported."
    : `${count} incidents that need action were already reported.`;
}

export function unclassifiedNote(count: number): string {
  if (count === 0) return "";
  return count === 1
    ? "1 earlier tool failure remains unclassified."
    : `${count} earlier tool failures remain unclassified.`;
}

export function expectedNote(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 failure was expected." : `${count} failures were expected.`;
}

export function closedNote({ recovered, superseded }: Pick<IncidentCounts, "recovered" | "superseded">): string {
  const count = recovered + superseded;
  if (count === 0) return "";
  return count === 1 ? "1 incident was recovered or superseded." : `${count} incidents were recovered or superseded.`;
}

/** Said of a run that is over while something is unclassified or requires action; otherwise empty. */
export function correctnessNote({ actionRequired, unclassified }: IncidentCounts): string {
  return actionRequired + unclassified > 0 ? CORRECTNESS_NOTE : "";
}

/** How many of the incidents that need action were handed over to somebody. */
export function countReported({ incidents, delivered }: IncidentState): number {
  return [...incidents.values()].filter((incident) => needsAction(incident) && delivered.has(incident.id)).length;
}

function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / MS_PER_SECOND));
  const minutes = Math.floor(seconds / SECONDS_PER_MINUTE);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % SECONDS_PER_MINUTE} s`;
}
