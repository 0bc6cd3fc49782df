/** A state as short as a row of a table takes. */
import type { Incident, IncidentState } from "../../../src/failures/records.ts";

export interface ShownState {
  /** In the order of their opening: status, what it says, and how often. */
  readonly incidents: readonly string[];
  readonly delivered: readonly string[];
}

export function shownState({ incidents, delivered }: IncidentState): ShownState {
  return { incidents: [...incidents.values()].map(shownIncident), delivered: [...delivered.keys()] };
}

function shownIncident({ status, summary, occurrences }: Incident): string {
  return `${status}: ${summary}${occurrences === 1 ? "" : ` (${occurrences})`}`;
}
