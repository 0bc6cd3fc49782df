/**
 * Reads the log of a run again, after a restart, by the same observer that hears a live run. What was journaled then is
 * known by its id, so that a second reading adds only what was lost between the log and the journal.
 */
import { decideDisposition } from "./incidents/disposition.ts";
import type { Journal } from "./journal/journal.ts";
import { keyOf } from "./keys.ts";
import { scanRunLog } from "./log/scan.ts";
import type { LogGap } from "./log/log-gap.ts";
import type { Observer } from "./observation/observer.ts";
import type { FailureEvent, IncidentState, JournalEvent } from "./records.ts";
import type { RunLine } from "./run-lines.ts";

export interface RescanOptions {
  readonly runId: string;
  readonly logFile: string;
  /** A fresh one. Knows the attempts of the run afterwards. */
  readonly observer: Observer;
  readonly journal: Journal;
  /** What the agent said of its incidents counts only then. */
  readonly trusted: boolean;
  /** The run is over, and its log ought to be there. */
  readonly terminal: boolean;
}

/** Brings the journal up to date with the log. What cannot be read is an incident of its own. */
export function rescan(options: RescanOptions): void {
  const { logFile, observer, journal, terminal } = options;
  const append = (events: readonly JournalEvent[]): void => {
    if (events.length > 0) void journal.append(events, { durable: false });
  };
  let isReadable = true;
  scanRunLog(logFile, {
    isOver: terminal,
    onLine: (line, byte) => {
      append(observer.observe(line, byte, journal.state));
      append(dispositionOf(line, options));
    },
    onGap: (gap) => {
      isReadable &&= gap.operation !== "log-access";
      append([gapEvent(gap)]);
    },
  });
  if (isReadable) append(endOfAccessGap(journal.state));
  if (terminal) append(observer.runOver());
}

/**
 * What the agent was told is recorded stands in the journal, unless Ostler died in between: then it is judged once more,
 * by what was known at that line.
 */
function dispositionOf(line: RunLine, { trusted, journal, observer, runId }: RescanOptions): readonly JournalEvent[] {
  if (!trusted || line.d !== "ev" || line.ev.type !== "disposition" || !line.ev.accepted) return [];
  const { callId, sessionId, request } = line.ev;
  const asked = { by: "child" as const, runId, callId, sessionId, atN: line.n, at: line.t };
  const decision = decideDisposition(request, { ...asked, attempts: observer.attempts, state: journal.state });
  return decision.accepted ? [decision.event] : [];
}

/** The log was missing or could not be read, and now it was (failure observations, section 12). */
function endOfAccessGap({ incidents, current }: IncidentState): readonly JournalEvent[] {
  const operation = keyOf("log-access" satisfies LogGap["operation"]);
  const gap = incidents.get(current.get(operation) ?? "");
  if (gap?.status !== "unresolved") return [];
  return [{ id: `recovered:${gap.id}`, operation, kind: "recovered", incidents: [gap.id] }];
}

/** Evidence that is missing. */
function gapEvent({ name, byte, text, operation }: LogGap): FailureEvent {
  return {
    id: `gap:${name}:${byte}`,
    operation: keyOf(operation),
    kind: "incomplete",
    category: "observation-incomplete",
    summary: text,
    evidence: `output.log#byte=${byte}`,
  };
}
