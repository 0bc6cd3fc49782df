/** Records for folds, written as short as a row of a table takes. Runs are told by ordinals: `[started, ended]`. */
import type { AttemptBook, AttemptFact } from "../../../src/failures/attempt-book.ts";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import { labelOf } from "../../../src/failures/incidents/labels.ts";
import type {
  DispositionEvent,
  FailureEvent,
  Incident,
  IncidentState,
  JournalEvent,
  RecoveredEvent,
} from "../../../src/failures/records.ts";

/** When the first record of a row is observed, ms since 1970; every further one comes a second later. */
export const STARTED_AT = 1_700_000_000_000;
export const SECOND_MS = 1000;

type Span = readonly [startN: number, endN: number];

/** A tool call that failed. */
export function failed(id: string, operation: string, [startN, endN]: Span, more: Partial<FailureEvent> = {}) {
  return {
    id,
    operation,
    kind: "failure",
    category: "tool",
    tool: "run",
    summary: `${operation} failed`,
    attempt: { toolCallId: id, startN, endN },
    ...more,
  } as const satisfies FailureEvent;
}

/** Something other than a tool call failed. */
export function broke(category: FailureEvent["category"], id: string, operation: string = category): FailureEvent {
  return { id, operation, kind: "failure", category, summary: `${operation} broke` };
}

/** Evidence is missing. */
export function gap(id: string, operation: string): FailureEvent {
  const summary = `${operation} is incomplete`;
  return { id, operation, kind: "incomplete", category: "observation-incomplete", summary };
}

/** The record r of a harness, told anew. */
export function revised(revision: number): FailureEvent {
  return { ...broke("session", `r:${revision}`), summary: `revision ${revision}`, sf: { id: "r", revision } };
}

/** An attempt succeeded; a writer would name the incident that it thinks of. */
export function succeeded(operation: string, [startN, endN]: Span, ...incidents: readonly string[]): RecoveredEvent {
  return { id: `recovered:${operation}:${startN}`, operation, kind: "recovered", incidents, attempt: { startN, endN } };
}

export function delivered(...incidents: readonly string[]): JournalEvent {
  return { id: `delivered:${incidents.join()}`, operation: "delivery", kind: "delivered", incidents };
}

export function disposed(disposition: DispositionEvent["disposition"], ...incidents: readonly string[]) {
  const id = `disposition:${disposition}:${incidents.join()}`;
  return {
    id,
    operation: "x",
    kind: "disposition",
    incidents,
    disposition,
    reason: "because",
    by: "child",
  } as const satisfies DispositionEvent;
}

/** Folds them, one a second. */
export function fold(events: readonly JournalEvent[]): IncidentState {
  const incidents = new IncidentFold();
  for (const [index, event] of events.entries()) incidents.apply({ event, observedAt: STARTED_AT + index * SECOND_MS });
  return incidents.state;
}

/** Every incident in the order of opening: its label, id, occurrences and strikes. */
export function shown({ incidents }: Pick<IncidentState, "incidents">): string[] {
  return [...incidents.values()].map(line);
}

function line(incident: Incident): string {
  const { id, occurrences, strikes } = incident;
  return `${labelOf(incident)}: ${id}, occurrences ${occurrences}, strikes ${strikes}`;
}

/** A literal book: what is named is found. */
export function bookOf(...attempts: readonly AttemptFact[]): AttemptBook {
  return {
    byAttemptId: (id) => attempts.find(({ attemptId, outcome }) => attemptId === id && outcome !== "rejected"),
    byToolCallId: (id) => attempts.findLast(({ toolCallId }) => toolCallId === id),
    operationOf: (id) => attempts.find(({ operationId }) => operationId === id)?.operation,
    isSpent: (id) => attempts.some(({ attemptId }) => attemptId === id),
  };
}

/** One attempt of session s. */
export function attempt(
  toolCallId: string,
  operation: string,
  [startN, endN]: Span,
  more: Partial<AttemptFact> = {},
): AttemptFact {
  return { sessionId: "s", toolCallId, operation, startN, endN, outcome: "succeeded", ...more };
}
