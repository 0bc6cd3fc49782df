/**
 * What a disposition may say of the incidents it names, decided from the record alone and the state at its place in the
 * journal. Pure: whoever folds the journal decides the same. Who may ask, and what its words mean, is `disposition.ts`.
 */
import type { DispositionEvent, Incident, IncidentState } from "../records.ts";
import { isGap, labelOf } from "./labels.ts";

/** Why the record changes nothing, as one sentence; undefined when it holds. One incident that does not fit refuses all. */
export function refusalOf(
  event: DispositionEvent,
  { incidents }: Pick<IncidentState, "incidents">,
): string | undefined {
  if (event.incidents.length === 0) return "It names no incident";
  if (needsProof(event) && event.proof === undefined)
    return `"${event.disposition}" needs evidence: an attempt that succeeded and started after the failure`;
  for (const id of event.incidents) {
    const incident = incidents.get(id);
    if (incident === undefined) return `This run has no incident ${id}`;
    const refusal = refusalOfIncident(event, incident);
    if (refusal !== undefined) return refusal;
  }
  return refusalOfReports(event);
}

function refusalOfIncident(event: DispositionEvent, incident: Incident): string | undefined {
  const { disposition, by, proof } = event;
  const { id, status, operation, attempt } = incident;
  if (status !== "unresolved") return `Incident ${id} is closed already: ${labelOf(incident)}`;
  if (isGap(incident) && (by === "child" || disposition !== "expected"))
    return by === "child"
      ? `Incident ${id} is missing evidence, not a failure of yours`
      : `Incident ${id} is missing evidence: it can only be acknowledged, with "expected"`;
  if (disposition === "open" && incident.disposition?.word === "open") return `Incident ${id} is open already`;
  if ((event.permissionBlockers ?? []).length > 0 && incident.category !== "tool")
    return `Incident ${id} is no failed tool call: a permission cannot be what it needs`;
  if (!needsProof(event) || proof === undefined) return undefined;
  if (attempt !== undefined && proof.startN <= attempt.endN)
    return `The evidence started before incident ${id} last failed`;
  if (disposition === "recovered" && proof.operation !== operation)
    return `The evidence is another operation than incident ${id}; that is "superseded", not "recovered"`;
  return undefined;
}

function refusalOfReports({ disposition, incidents, permissionBlockers = [] }: DispositionEvent): string | undefined {
  if (permissionBlockers.length === 0) return undefined;
  if (disposition !== "open") return 'A permission is reported with "open" only';
  const stray = permissionBlockers.find(({ incidentId }) => !incidents.includes(incidentId));
  return stray && `The permission report names incident ${stray.incidentId}, which the disposition does not`;
}

function needsProof({ disposition }: DispositionEvent): boolean {
  return disposition === "recovered" || disposition === "superseded";
}
