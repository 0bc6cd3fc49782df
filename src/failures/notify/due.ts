/**
 * What of a run is to be told now, and when to look again. Pure: the time is an argument. What was told is known by the
 * receipts of the journal, never by what became of an incident since; a restart computes the same from the same journal.
 */
import { compareForList, isActionRequired, isGap, needsAction } from "../incidents/labels.ts";
import type { NotificationMoment } from "../notification.ts";
import type { Incident, IncidentState } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";

/** From when an incident requires action until somebody is told while the run goes on. */
export const GRACE_MS = 60_000;

/** The callbacks that a run has once each, as `meta.json` keeps them. */
export type EndMoment = RunMeta["told"][number];

export interface DueFacts {
  readonly state: IncidentState;
  readonly meta: Pick<RunMeta, "callback" | "told">;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Operations that Ostler itself tries again, and until when nobody needs to hear of them; Infinity: not known yet. */
  readonly retryUntil?: ReadonlyMap<string, number> | undefined;
}

/** What a notification delivers. */
export interface Delivery {
  readonly moment: NotificationMoment;
  /** These have a row, as far as there is room. */
  readonly incidents: readonly Incident[];
  /** Of these only the number is told. */
  readonly counted: readonly Incident[];
}

/** `wakeAt`: when something will be due if nothing changes; undefined for never. */
export type DueDecision = Delivery | { readonly wakeAt: number | undefined };

/**
 * Decides by failure observations, section 8, for a run that goes on, or that was told to be orphaned or lost; an end has
 * {@link deliveryAtEnd}. A run whose callback is switched off never tells anything.
 */
export function decideDue({ state, meta, now, retryUntil }: DueFacts): DueDecision {
  if (!meta.callback) return { wakeAt: undefined };
  const gaps = mayHaveLateGaps(meta) ? pending(state).filter((incident) => isGap(incident)) : [];
  const required = pending(state).filter(isActionRequired);
  const ripe = required.filter((incident) => ripeAt(incident, retryUntil) <= now);
  if (gaps.length + ripe.length > 0)
    return {
      moment: gaps.length > 0 ? "late-gap" : "running",
      incidents: [...gaps, ...ripe].toSorted(compareForList),
      counted: [],
    };
  const wakeAt = Math.min(...required.map((incident) => ripeAt(incident, retryUntil)));
  return { wakeAt: Number.isFinite(wakeAt) ? wakeAt : undefined };
}

/** What the last callback of a run delivers: everything unresolved that was not told before. */
export function deliveryAtEnd(state: IncidentState, moment: NotificationMoment): Delivery {
  const unresolved = pending(state).toSorted(compareForList);
  return {
    moment,
    incidents: unresolved.filter(needsAction),
    counted: unresolved.filter((incident) => !needsAction(incident)),
  };
}

/** Whether it is one of the callbacks that a run has once. */
export function isEnd(moment: NotificationMoment): moment is EndMoment {
  return moment === "completion" || moment === "orphaned" || moment === "lost";
}

function pending({ incidents, delivered }: IncidentState): readonly Incident[] {
  return [...incidents.values()].filter(({ id, status }) => status === "unresolved" && !delivered.has(id));
}

/** No further callback follows one of these; any other run tells its gaps with its end. */
function mayHaveLateGaps({ told }: DueFacts["meta"]): boolean {
  return told.includes("orphaned") || told.includes("lost");
}

function ripeAt({ actionableSince = 0, operation }: Incident, retryUntil: DueFacts["retryUntil"]): number {
  return Math.max(actionableSince + GRACE_MS, retryUntil?.get(operation) ?? 0);
}
