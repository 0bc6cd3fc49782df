/** Removes runs as the rules of `retention.ts` say, and what crashes left lying about. */
import { lstatSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "../journal/read-journal.ts";
import type { RunMeta } from "./meta.ts";
import type { RunRegistry } from "./registry.ts";
import { removeRun, sweepLeftOvers } from "./removal.ts";
import { decidePruned, hasUntoldIncidents, keptBecause } from "./retention.ts";
import type { PruneDecision, PruneRules, RunFacts } from "./retention.ts";

/** How often the configured retention is applied by itself. */
const EVERY_MS = 24 * 3600 * 1000;
const STAMP = ".pruned";
/** `<when>-<run>-<process>-<count>.txt`, also while somebody shows it. */
const NOTICE = /^\d+-([a-z]{2}_[0-9a-z]+_\d+)-/;

export interface PruneOptions {
  readonly now?: number;
  /** Decides, and removes nothing. */
  readonly dryRun?: boolean;
}

export interface Pruned extends PruneDecision {
  /** What the system refused to remove; it is tried again by the next prune. */
  readonly problems: readonly unknown[];
}

/** Removes what the rules let go. Does not throw for a single run that cannot be removed. */
export function pruneRuns(registry: RunRegistry, rules: PruneRules, options: PruneOptions = {}): Pruned {
  const { now = Date.now(), dryRun = false } = options;
  const waiting = runsWithNotices(registry.noticesFolder);
  const hasUntold = (id: string, meta: RunMeta): boolean =>
    waiting.has(id) || (meta.callback && hasUntoldIncidents(readJournal(registry.runFolder(id)), meta));
  const ids = "ids" in rules ? rules.ids : registry.ids();
  const decision = decidePruned(factsOf(registry, ids), rules, { now, hasUntold });
  if (dryRun) return { ...decision, problems: [] };
  const problems: unknown[] = [];
  const removed = decision.removed.filter(({ id }) => {
    try {
      return removeRun(registry, id, (meta) => keptBecause({ id, meta }, { hasUntold }) === undefined);
    } catch (problem) {
      problems.push(problem);
      return false;
    }
  });
  sweepLeftOvers(registry, now);
  return { ...decision, removed, problems };
}

/**
 * The configured retention, at most once a day over all Ostlers of a user; undefined when it is not due, which costs one
 * look at the disk. Does not throw.
 */
export function pruneIfDue(
  registry: RunRegistry,
  retention: { readonly days: number; readonly mib: number },
  now = Date.now(),
): Pruned | undefined {
  const stamp = join(registry.folder, STAMP);
  const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  if (last !== undefined && now - last < EVERY_MS) return undefined;
  try {
    // Before the work, so that two do not do it at once.
    writeFileSync(stamp, "", { mode: 0o600 });
  } catch {
    // No runs, or nothing can be changed.
    return undefined;
  }
  return pruneRuns(registry, retention, { now });
}

/** Runs whose notices wait for somebody at a terminal: handed over, and not read by anybody yet. */
function runsWithNotices(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder).flatMap((name) => NOTICE.exec(name)?.[1] ?? []));
  } catch {
    return new Set();
  }
}

/** A run that is removed meanwhile is left out. */
function factsOf(registry: RunRegistry, ids: readonly string[]): RunFacts[] {
  return ids.flatMap((id) => {
    const meta = registry.readMeta(id);
    if (meta !== "missing") return [{ id, meta, bytes: bytesIn(registry.runFolder(id)) }];
    return registry.has(id) ? [{ id, meta: "unreadable" as const, bytes: 0 }] : [];
  });
}

function bytesIn(folder: string): number {
  try {
    const sizes = readdirSync(folder).map(
      (name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
    );
    return sizes.reduce((bytes, size) => bytes + size, 0);
  } catch {
    return 0;
  }
}
