/**
 * Which runs may go (failure observations, section 1): whole runs only, never one that goes on, and never one with
 * failures that nobody was told of. Pure.
 */
import type { IncidentState } from "../records.ts";
import type { RunMeta } from "./meta.ts";
import { isEnded } from "./settled.ts";

export interface RunFacts {
  readonly id: string;
  readonly meta: RunMeta | "unreadable";
  /** Of all its files. */
  readonly bytes: number;
}

export type PruneRules =
  /** These, whatever their age. */
  | { readonly ids: readonly string[] }
  /** Those that ended at least so long ago, apart from the newest. A rule that is absent lets all go. */
  | { readonly olderThanMs?: number | undefined; readonly keep?: number | undefined }
  /** Those older than so many days; then the oldest, until all that is left takes no more than so many MiB. */
  | { readonly days: number; readonly mib: number };

export type KeptReason = "running" | "orphaned" | "untold" | "unreadable";

export interface PruneDecision {
  readonly removed: readonly RunFacts[];
  /** Those that the rules let go, and that stay. */
  readonly kept: readonly { readonly id: string; readonly because: KeptReason }[];
}

export interface PruneContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Asked for runs alone that would go otherwise: it reads their journals. */
  readonly hasUntold: (id: string, meta: RunMeta) => boolean;
}

const DAY_MS = 24 * 3600 * 1000;
const MIB = 1024 * 1024;

/** `runs`: all there are, the newest first. */
export function decidePruned(runs: readonly RunFacts[], rules: PruneRules, context: PruneContext): PruneDecision {
  if ("ids" in rules)
    return sorted(
      runs.filter(({ id }) => rules.ids.includes(id)),
      context,
    );
  if (!("days" in rules)) {
    const { olderThanMs = 0, keep = 0 } = rules;
    return sorted(
      runs.slice(keep).filter((run) => ageMs(run, context) >= olderThanMs),
      context,
    );
  }
  const byAge = sorted(
    runs.filter((run) => ageMs(run, context) >= rules.days * DAY_MS),
    context,
  );
  return withinSize(runs, byAge, rules.mib * MIB, context);
}

/** What keeps a run from being removed; undefined when nothing does. */
export function keptBecause(
  { id, meta }: Pick<RunFacts, "id" | "meta">,
  { hasUntold }: Pick<PruneContext, "hasUntold">,
): KeptReason | undefined {
  if (meta === "unreadable") return "unreadable";
  if (!isEnded(meta.status)) return meta.status === "orphaned" ? "orphaned" : "running";
  return hasUntold(id, meta) ? "untold" : undefined;
}

/** Whether a run has failures that nobody disposed of, and that somebody is still to be told of. */
export function hasUntoldIncidents({ incidents, delivered }: IncidentState, { callback }: RunMeta): boolean {
  return callback && [...incidents.values()].some(({ id, status }) => status === "unresolved" && !delivered.has(id));
}

function sorted(candidates: readonly RunFacts[], context: PruneContext): PruneDecision {
  const removed: RunFacts[] = [];
  const kept: PruneDecision["kept"][number][] = [];
  for (const run of candidates) {
    const because = keptBecause(run, context);
    if (because === undefined) removed.push(run);
    else kept.push({ id: run.id, because });
  }
  return { removed, kept };
}

/** More of the oldest, until the rest fits. */
function withinSize(
  runs: readonly RunFacts[],
  { removed, kept }: PruneDecision,
  maxBytes: number,
  context: PruneContext,
): PruneDecision {
  const decided = new Set([...removed, ...kept].map(({ id }) => id));
  let bytes = sum(runs) - sum(removed);
  const more: RunFacts[] = [];
  for (const run of runs.toReversed()) {
    if (bytes <= maxBytes) break;
    if (decided.has(run.id) || keptBecause(run, context) !== undefined) continue;
    more.push(run);
    bytes -= run.bytes;
  }
  return { removed: [...removed, ...more], kept };
}

/** From its end, or from its making for one that did not end. */
function ageMs({ meta }: RunFacts, { now }: PruneContext): number {
  return meta === "unreadable" ? Number.POSITIVE_INFINITY : now - (meta.endedAt ?? meta.createdAt);
}

function sum(runs: readonly RunFacts[]): number {
  return runs.reduce((bytes, run) => bytes + run.bytes, 0);
}
