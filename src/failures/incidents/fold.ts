/**
 * From the records of a journal to its incidents, in the order of the file: the same file always gives the same state,
 * whoever folds it and however often. Pure; the time is what the record says.
 */
import type {
  DispositionEvent,
  FailureEvent,
  Incident,
  IncidentState,
  JournalEvent,
  JournalRecord,
  PermissionBlocker,
  RecoveredEvent,
} from "../records.ts";
import { refusalOf } from "./disposition-rules.ts";
import { needsAction } from "./labels.ts";

/** Permission reports that one incident keeps: the newest. */
const MAX_REPORTS = 20;

interface FoldedState extends IncidentState {
  readonly incidents: Map<string, Incident>;
  readonly current: Map<string, string>;
  readonly delivered: Map<string, number>;
  readonly incidentOfEvent: Map<string, string | undefined>;
  revision: number;
}

/** What is known once a record is taken: incidents to put in the place of their older selves, or beside them. */
type Change = readonly Incident[];

/** The incidents of one run. Every step costs the same, however many records came before it. */
export class IncidentFold {
  readonly #state: FoldedState = {
    incidents: new Map(),
    current: new Map(),
    delivered: new Map(),
    incidentOfEvent: new Map(),
    revision: 0,
  };
  #taken = 0;

  /** The state as it is now and will be: it changes with the fold. Its incidents are never changed, only replaced. */
  get state(): IncidentState {
    return this.#state;
  }

  /** False when the record changes nothing: known already, a recovery that fits nothing, a disposition that is invalid. */
  apply({ event, observedAt }: Pick<JournalRecord, "event" | "observedAt">): boolean {
    const change = this.#decide(event, observedAt);
    if (change === undefined) return false;
    const { incidents, current, delivered, incidentOfEvent } = this.#state;
    this.#taken += 1;
    incidentOfEvent.set(event.id, isFailure(event) ? change[0]?.id : undefined);
    for (const incident of change) {
      const isDue = incident.actionableSince === undefined && needsAction(incident);
      // Whoever was told before that was told a number: it is to be told as what needs somebody, once.
      if (isDue) delivered.delete(incident.id);
      incidents.set(incident.id, isDue ? { ...incident, actionableSince: observedAt } : incident);
      if (isFailure(event)) current.set(event.operation, incident.id);
    }
    if (event.kind !== "delivered") this.#state.revision += 1;
    else for (const id of event.incidents) if (!delivered.has(id)) delivered.set(id, observedAt);
    return true;
  }

  /** Whether `apply` would change anything: what it would ignore is not written either. */
  accepts(event: JournalEvent): boolean {
    // The most frequent case is decided without making what it would change.
    if (isFailure(event)) return !this.#state.incidentOfEvent.has(event.id) && !this.#isToldAlready(event);
    return this.#decide(event, 0) !== undefined;
  }

  #decide(event: JournalEvent, observedAt: number): Change | undefined {
    if (this.#state.incidentOfEvent.has(event.id)) return undefined;
    const position = this.#taken + 1;
    switch (event.kind) {
      case "failure":
      case "incomplete":
        return this.#fail(event, observedAt, position);
      case "recovered":
        return this.#recover(event, observedAt, position);
      case "disposition":
        return this.#dispose(event, observedAt, position);
      case "delivered":
        return [];
    }
  }

  #currentOf(operation: string): Incident | undefined {
    const id = this.#state.current.get(operation);
    return id === undefined ? undefined : this.#state.incidents.get(id);
  }

  #fail(event: FailureEvent, observedAt: number, lastSeq: number): Change | undefined {
    const isExpected = event.expected === true;
    const current = this.#currentOf(event.operation);
    const isLive = current?.status === "unresolved" || (current?.status === "expected" && isExpected);
    const seen = { ...occurrenceOf(event), lastObservedAt: observedAt, lastSeq };
    if (current === undefined || !isLive) {
      const { id, operation, category, tool } = event;
      return [
        withReports(event.permissionBlockers, {
          id,
          operation,
          status: isExpected ? "expected" : "unresolved",
          category,
          ...(tool !== undefined && { tool }),
          ...seen,
          firstObservedAt: observedAt,
          occurrences: 1,
          strikes: isExpected ? 0 : 1,
        }),
      ];
    }
    if (this.#isToldAlready(event)) return undefined;
    const isSameRecord = event.sf !== undefined && event.sf.id === current.sf?.id;
    return [
      withReports(event.permissionBlockers, {
        ...keptOf(current),
        ...seen,
        occurrences: current.occurrences + (isSameRecord ? 0 : 1),
        strikes: current.strikes + (isSameRecord || isExpected ? 0 : 1),
      }),
    ];
  }

  /** The incident is that very record of the harness already, in this revision or a later one. */
  #isToldAlready({ operation, sf, expected }: FailureEvent): boolean {
    if (sf === undefined) return false;
    const current = this.#currentOf(operation);
    const isLive = current?.status === "unresolved" || (current?.status === "expected" && expected === true);
    return isLive && sf.id === current.sf?.id && sf.revision <= current.sf.revision;
  }

  #recover(event: RecoveredEvent, resolvedAt: number, lastSeq: number): Change | undefined {
    const current = this.#currentOf(event.operation);
    if (current?.status !== "unresolved" || !event.incidents.includes(current.id)) return undefined;
    if (!isAfter(event, current)) return undefined;
    return [{ ...current, status: "resolved", resolvedAt, lastSeq }];
  }

  #dispose(event: DispositionEvent, observedAt: number, lastSeq: number): Change | undefined {
    if (refusalOf(event, this.#state) !== undefined) return undefined;
    const { disposition: word, reason, by, permissionBlockers = [] } = event;
    return [...new Set(event.incidents)].flatMap((id) => {
      const incident = this.#state.incidents.get(id);
      if (incident === undefined) return [];
      const disposed = { ...incident, lastSeq, disposition: { word, reason, by } };
      switch (word) {
        case "recovered":
          return [{ ...disposed, status: "resolved" as const, resolvedAt: observedAt }];
        case "superseded":
          return [{ ...disposed, status: "superseded" as const, resolvedAt: observedAt }];
        case "expected":
          return [{ ...disposed, status: "expected" as const }];
        case "open": {
          const own = permissionBlockers.filter(({ incidentId }) => incidentId === id);
          return [withReports(own, disposed)];
        }
      }
    });
  }
}

/** What is known of a run without any record. */
export const EMPTY_STATE: IncidentState = new IncidentFold().state;

function isFailure(event: JournalEvent): event is FailureEvent {
  return event.kind === "failure" || event.kind === "incomplete";
}

/** What the next occurrence leaves as it is. Named one by one: taking fields away from an object is far slower. */
function keptOf(incident: Incident): Omit<Incident, "evidence" | "at" | "exitCode" | "signal" | "attempt"> {
  const { id, operation, status, category, tool, actionableSince, disposition, resolvedAt, permissionBlockers, sf } =
    incident;
  return {
    id,
    operation,
    status,
    category,
    ...(tool !== undefined && { tool }),
    summary: incident.summary,
    firstObservedAt: incident.firstObservedAt,
    lastObservedAt: incident.lastObservedAt,
    lastSeq: incident.lastSeq,
    ...(actionableSince !== undefined && { actionableSince }),
    occurrences: incident.occurrences,
    strikes: incident.strikes,
    ...(disposition !== undefined && { disposition }),
    ...(resolvedAt !== undefined && { resolvedAt }),
    ...(permissionBlockers !== undefined && { permissionBlockers }),
    ...(sf !== undefined && { sf }),
  };
}

/** What an incident says of its newest occurrence. */
function occurrenceOf({ summary, evidence, at, exitCode, signal, attempt, sf }: FailureEvent) {
  return {
    summary,
    ...(evidence !== undefined && { evidence }),
    ...(at !== undefined && { at }),
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(attempt !== undefined && { attempt }),
    ...(sf !== undefined && { sf }),
  };
}

/**
 * Whether the success started after the last failure ended, by ordinals. An attempt that ended a second time, this time
 * well, takes its own failure back. Without ordinals on both sides, whoever named the incident has compared.
 */
function isAfter({ attempt: success }: RecoveredEvent, { attempt: failure }: Incident): boolean {
  if (success === undefined || failure === undefined) return true;
  if (success.startN === failure.startN) return success.endN > failure.endN;
  return success.startN > failure.endN;
}

/** Adds reports; each names the incident that has it. */
function withReports(added: readonly PermissionBlocker[] | undefined, incident: Incident): Incident {
  if (added === undefined || added.length === 0) return incident;
  const own = added.map((report) => ({ ...report, incidentId: incident.id }));
  return { ...incident, permissionBlockers: [...(incident.permissionBlockers ?? []), ...own].slice(-MAX_REPORTS) };
}
