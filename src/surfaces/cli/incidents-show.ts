/** One incident whole: what it is, how it came about, and the place in the log that shows it. */
import { redact, stripControls } from "../../errors/redact.ts";
import { labelOf } from "../../failures/incidents/labels.ts";
import { readIncidentRecords } from "../../failures/journal/incident-records.ts";
import { readLogBytes } from "../../failures/log/log-content.ts";
import { budgetOf } from "../../failures/pages/budgets.ts";
import { startOf } from "../../failures/pages/bytes.ts";
import { compactExcerpt, oneLine } from "../../failures/pages/excerpt.ts";
import type { Incident, JournalEvent, JournalRecord, PermissionBlocker } from "../../failures/records.ts";
import { findIncident } from "./find-incident.ts";
import type { SeenRun } from "./find-run.ts";
import type { IncidentsRequest, Told } from "./incidents-command.ts";
import { withHold } from "./inspected-hold.ts";
import { alignedRows } from "./rows.ts";
import { shownIncident } from "./shown-run.ts";

/** Records that are shown: the newest. */
const MAX_RECORDS = 20;
const BYTE = /#byte=(\d{1,15})$/;
const NEWLINE = 0x0a;

/** With at most `--bytes` (16 KiB) of the log. */
export function showIncident(word: string, { seen, registry, options, io }: IncidentsRequest): Promise<Told> {
  const { run, incident } = findIncident(word, seen);
  const records = readIncidentRecords(registry.runFolder(run.id), incident.id, run.state);
  const evidence = evidenceOf(registry.logFile(run.id), run, incident, budgetOf("raw", options.bytes));
  const text = [
    `${labelOf(incident)}: ${oneLine(incident.id)}`,
    ...factLines(run, incident),
    "",
    ...recordLines(records),
    ...(evidence === undefined ? [] : ["", `${incident.evidence}:`, evidence]),
  ].join("\n");
  const json = {
    incident: shownIncident(run.id, incident),
    records: records.map(({ observedAt, event }) => ({ observedAt, ...event })),
    ...(evidence !== undefined && { evidence }),
  };
  return withHold({ text, json }, run, [incident], io);
}

function factLines(run: SeenRun, incident: Incident): string[] {
  const { category, tool, occurrences, strikes, exitCode, signal, disposition, permissionBlockers = [] } = incident;
  const { attempt, firstObservedAt, lastObservedAt } = incident;
  const expected = occurrences - strikes;
  const facts: readonly (readonly [what: string, value: string | undefined])[] = [
    ["run", run.id],
    ["status", run.meta === "unreadable" ? "unknown: its metadata cannot be read" : run.meta.status],
    ["category", category],
    ["tool", tool],
    ["attempt", attempt?.attemptId],
    ["declared", attempt?.operationId],
    ["exit", signal ?? (exitCode === undefined || exitCode === null ? undefined : String(exitCode))],
    ["first", isoTime(firstObservedAt)],
    ["last", isoTime(lastObservedAt)],
    ["times", `${occurrences}${expected > 0 ? ` (${expected} of them expected)` : ""}`],
    ["said", disposition && `${disposition.word} by ${disposition.by}: ${disposition.reason}`],
    ...[...new Set(permissionBlockers.map(reportLine))].map((line) => ["permission", line] as const),
  ];
  return alignedRows(facts.flatMap(([what, value]) => (value === undefined ? [] : [[what, oneLine(value)]])));
}

function reportLine({ resource, basis, remoteOutcome }: PermissionBlocker): string {
  return `${resource} (${basis}, remote outcome ${remoteOutcome})`;
}

function recordLines(records: readonly JournalRecord[]): string[] {
  const earlier = records.length - MAX_RECORDS;
  return [
    ...(earlier > 0 ? [`${earlier} earlier records are not shown; --json has all`] : []),
    ...records.slice(-MAX_RECORDS).map(({ observedAt, event }) => recordLine(observedAt, event)),
  ];
}

function recordLine(observedAt: number, event: JournalEvent): string {
  const what = event.kind === "disposition" ? `${event.disposition} by ${event.by}` : WHAT[event.kind];
  return [isoTime(event.at ?? observedAt), what, ...detailsOf(event)].join(" · ");
}

const WHAT = {
  failure: "failed",
  incomplete: "incomplete",
  recovered: "recovered",
  delivered: "told",
} as const satisfies Partial<Record<JournalEvent["kind"], string>>;

function detailsOf(event: JournalEvent): string[] {
  switch (event.kind) {
    case "failure":
    case "incomplete":
      return [
        ...(event.expected === true ? ["expected"] : []),
        compactExcerpt(event.summary),
        ...(event.evidence === undefined ? [] : [compactExcerpt(event.evidence)]),
      ];
    case "disposition":
      return [
        compactExcerpt(event.reason),
        ...(event.evidence === undefined ? [] : [`evidence: ${compactExcerpt(event.evidence)}`]),
      ];
    case "recovered":
    case "delivered":
      return [];
  }
}

/** The line that the evidence points to; of a command's output everything from there on. Undefined when there is none. */
function evidenceOf(logFile: string, { meta }: SeenRun, { evidence }: Incident, maxBytes: number): string | undefined {
  const byte = BYTE.exec(evidence ?? "")?.[1];
  if (byte === undefined) return undefined;
  const bytes = readLogBytes(logFile, Number(byte), maxBytes);
  const end = meta !== "unreadable" && meta.kind === "agent" ? bytes.indexOf(NEWLINE) : -1;
  const text = Buffer.from(end === -1 ? bytes : bytes.subarray(0, end)).toString();
  const shown = startOf(redact(stripControls(text)), maxBytes).trimEnd();
  return shown === "" ? undefined : shown;
}

function isoTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "at an unknown time" : time.toISOString();
}
