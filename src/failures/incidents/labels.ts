/**
 * The words a person reads for an incident, and who has to act on it. Pure. How the run ended is no input: a completed
 * run can hold incidents that need action, and a failed one none.
 */
import { STRIKES } from "../records.ts";
import type { Incident, IncidentState } from "../records.ts";

export type Label =
  | "Observation incomplete"
  | "Action required"
  | "Unclassified failure observation"
  | "Expected failure"
  | "Recovered"
  | "Superseded";

/** How many incidents bear each label. `gaps`: observation incomplete. */
export interface IncidentCounts {
  readonly gaps: number;
  readonly actionRequired: number;
  readonly unclassified: number;
  readonly expected: number;
  readonly recovered: number;
  readonly superseded: number;
}

/** The order of the groups in every list; closed incidents are one group. */
const RANK: Readonly<Record<Label, number>> = {
  "Observation incomplete": 0,
  "Action required": 1,
  "Unclassified failure observation": 2,
  "Expected failure": 3,
  Recovered: 4,
  Superseded: 4,
};

const COUNTED_AS: Readonly<Record<Label, keyof IncidentCounts>> = {
  "Observation incomplete": "gaps",
  "Action required": "actionRequired",
  "Unclassified failure observation": "unclassified",
  "Expected failure": "expected",
  Recovered: "recovered",
  Superseded: "superseded",
};

/** The one label of an incident (failure observations, section 6). */
export function labelOf(incident: Incident): Label {
  switch (incident.status) {
    case "resolved":
      return "Recovered";
    case "superseded":
      return "Superseded";
    case "expected":
      return "Expected failure";
    case "unresolved":
      if (isGap(incident)) return "Observation incomplete";
      return isActionRequired(incident) ? "Action required" : "Unclassified failure observation";
  }
}

/**
 * Unresolved, and for somebody else than the agent: no failure of a tool, an operation that failed three times without a
 * success between them, or marked `open`. A gap is none.
 */
export function isActionRequired(incident: Incident): boolean {
  const { status, category, strikes, disposition } = incident;
  if (status !== "unresolved" || isGap(incident)) return false;
  if (disposition?.word === "open") return true;
  if (category === "tool") return strikes >= STRIKES;
  return category !== "rejected-intent";
}

/** What is listed without being asked for: `Action required` and `Observation incomplete`. */
export function needsAction(incident: Incident): boolean {
  return isActionRequired(incident) || (incident.status === "unresolved" && isGap(incident));
}

/** Evidence is missing: an incident of category `observation-incomplete`, whatever its status. */
export function isGap({ category }: Incident): boolean {
  return category === "observation-incomplete";
}

/** Recovered or superseded: counted in history, never shown as active. */
export function isClosed({ status }: Incident): boolean {
  return status === "resolved" || status === "superseded";
}

/** Sorts for every list: what needs action first, then what was last heard of first. */
export function compareForList(a: Incident, b: Incident): number {
  return RANK[labelOf(a)] - RANK[labelOf(b)] || b.lastSeq - a.lastSeq || b.lastObservedAt - a.lastObservedAt;
}

/** Counts every incident of a run, closed ones included. */
export function countsOf({ incidents }: IncidentState): IncidentCounts {
  const counts = { gaps: 0, actionRequired: 0, unclassified: 0, expected: 0, recovered: 0, superseded: 0 };
  for (const incident of incidents.values()) counts[COUNTED_AS[labelOf(incident)]] += 1;
  return counts;
}
