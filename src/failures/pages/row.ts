/** One line per incident, the same on every surface. Pure. */
import { join } from "node:path";
import { labelOf } from "../incidents/labels.ts";
import type { Incident, PermissionBlocker } from "../records.ts";
import { compactExcerpt, oneLine } from "./excerpt.ts";

/** How much of an incident a row shows. */
export interface RowDetail {
  /** The whole stored summary and reason, and the full path of the log. Default: excerpts of 120 bytes, its name alone. */
  readonly raw?: boolean | undefined;
  /** Ends with the id of the incident, for whoever has to name it. */
  readonly named?: boolean | undefined;
  /** The folder of the run, for the path of a raw row; without it a raw row shows the name too. */
  readonly folder?: string | undefined;
}

/** `<Label> · <time> · <excerpt>[ (N occurrences)][ · <disposition>: <reason>][ · evidence: output.log#byte=N]` */
export function renderRow(incident: Incident, detail: RowDetail = {}): string {
  const { disposition, evidence, occurrences, permissionBlockers = [] } = incident;
  const text = detail.raw === true ? oneLine : compactExcerpt;
  // What was kept from whom is for a person who asks for it, not for a list (failure observations, section 11).
  const isPrivate = permissionBlockers.length > 0 && detail.raw !== true;
  const excerpt = isPrivate ? compactExcerpt(reportsOf(permissionBlockers)) : text(incident.summary);
  const reports = permissionBlockers.length > 0 && detail.raw === true ? [reportsOf(permissionBlockers)] : [];
  return [
    headOf(incident),
    `${excerpt}${occurrences > 1 ? ` (${occurrences} occurrences)` : ""}`,
    ...reports,
    ...(disposition === undefined
      ? []
      : [isPrivate ? disposition.word : `${disposition.word}: ${text(disposition.reason)}`]),
    ...(evidence === undefined ? [] : [`evidence: ${evidenceOf(evidence, detail)}`]),
    ...(detail.named === true ? [`id=${oneLine(incident.id)}`] : []),
  ].join(" · ");
}

/** Label and excerpt, for a place that has one line for a run. */
export function renderBriefRow(incident: Incident): string {
  const { summary, permissionBlockers = [] } = incident;
  return `${labelOf(incident)} · ${compactExcerpt(permissionBlockers.length > 0 ? reportsOf(permissionBlockers) : summary)}`;
}

function headOf(incident: Incident): string {
  const { at, firstObservedAt } = incident;
  const time = at === undefined ? `observed ${isoTime(firstObservedAt)}` : isoTime(at);
  return `${labelOf(incident)} · ${time}`;
}

function isoTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "at an unknown time" : time.toISOString();
}

/** The words of the schema alone: no path, reason or output. */
function reportsOf(reports: readonly PermissionBlocker[]): string {
  const said = reports.map(
    ({ resource, basis, remoteOutcome }) => `permission ${resource} (${basis}, remote outcome ${remoteOutcome})`,
  );
  return [...new Set(said)].join(", ");
}

function evidenceOf(evidence: string, { raw, folder }: RowDetail): string {
  const [file = "", ...fragment] = evidence.split("#");
  const name = file.slice(file.search(/[^/\\]*$/));
  const path = raw === true && folder !== undefined ? join(folder, name) : name;
  const pointer = [path, ...fragment].join("#");
  return raw === true ? oneLine(pointer) : compactExcerpt(pointer);
}
