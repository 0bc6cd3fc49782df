/**
 * The gap of a run that had to be observed under the exact rule because its metadata could not be read, and when it
 * closes (failure observations, section 10): once nothing is left of what that rule may have judged wrongly. Pure.
 */
import type { AttemptBook } from "../attempt-book.ts";
import { keyOf } from "../keys.ts";
import type { FailureEvent, Incident, IncidentState, RecoveredEvent } from "../records.ts";

const OPERATION = keyOf("run-metadata");

/** `n`: ordinal of the line up to which nothing had been folded. */
export function metadataGapEvent({ n, at }: { readonly n: number; readonly at: number }): FailureEvent {
  return {
    id: `gap:run-metadata:${n}`,
    operation: OPERATION,
    kind: "incomplete",
    category: "observation-incomplete",
    summary: "The metadata of the run could not be read: what its agent declared was not taken into account",
    at,
  };
}

/**
 * The incidents that hold the gap open, for a fold under trust that begins now: unresolved, of an attempt that declared
 * something, and judged without that. `attempts` is the book of the new fold, which has been through the log. What was
 * judged under trust is never among them, so that every later fold finds the same.
 */
export function leftoversOf(state: IncidentState, attempts: AttemptBook): ReadonlySet<string> {
  const left = [...state.incidents.values()].filter(
    (incident) => incident.status === "unresolved" && isMisjudged(incident, attempts),
  );
  return new Set(left.map(({ id }) => id));
}

/** The end of the gap, when there is one that nothing holds open. */
export function decideMetadataRecovered(
  state: IncidentState,
  { leftovers, at }: { readonly leftovers: ReadonlySet<string>; readonly at: number },
): RecoveredEvent | undefined {
  const gap = state.incidents.get(state.current.get(OPERATION) ?? "");
  if (gap?.status !== "unresolved") return undefined;
  const isHeld = [...leftovers].some((id) => state.incidents.get(id)?.status === "unresolved");
  if (isHeld) return undefined;
  return { id: `recovered:${gap.id}`, operation: OPERATION, kind: "recovered", incidents: [gap.id], at };
}

/** Under trust an incident names what its attempt declared, and one whose code was declared is not unresolved. */
function isMisjudged({ attempt }: Incident, attempts: AttemptBook): boolean {
  const fact = attempt?.toolCallId === undefined ? undefined : attempts.byToolCallId(attempt.toolCallId);
  return (
    fact !== undefined &&
    (fact.operationId !== attempt?.operationId || fact.attemptId !== attempt?.attemptId || fact.outcome === "expected")
  );
}
