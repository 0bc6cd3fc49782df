/**
 * What became of runs whose supervisor ended without a word: orphaned or lost, decided at the next start by pid and start
 * time (failure observations, section 1). Only runs that Ostler is not done with are read. Whoever settles a run says so
 * first, so that two Ostlers do not do it twice, and one that dies over it is followed by the next.
 */
import { isAlive } from "../../acp/processes.ts";
import { thisProcess } from "../../acp/this-process.ts";
import type { OwnerIdentity } from "../../acp/this-process.ts";
import { bootOf, thisMachine } from "./machine.ts";
import type { RunMeta } from "./meta.ts";
import type { MetaPatch, RunRegistry } from "./registry.ts";
import { dueCallback, isEnded, isSettled } from "./settled.ts";

/** A run is made right after its mark: a mark without a run is left over when it is older. */
const LEFT_OVER_MS = 3600 * 1000;
/**
 * A run of another system that has written nothing for so long counts as gone: a container that was removed never says
 * so. Should it live after all, its supervisor writes over it how it ended.
 */
const SILENCE_MS = 7 * 24 * 3600 * 1000;

export interface LifecycleFacts {
  readonly supervisorAlive: boolean;
  readonly processAlive: boolean;
  /** Both can be told from here. */
  readonly sameSystem: boolean;
}

/** `undecidable`: it runs, or ran, on another system. */
export type LifecycleDecision = "stands" | "orphaned" | "lost" | "undecidable";

/** What a run is now. */
export function decideLifecycle({ status }: Pick<RunMeta, "status">, facts: LifecycleFacts): LifecycleDecision {
  if (isEnded(status)) return "stands";
  if (!facts.sameSystem) return "undecidable";
  if (facts.supervisorAlive) return "stands";
  if (!facts.processAlive) return "lost";
  return status === "orphaned" ? "stands" : "orphaned";
}

export type Callback = RunMeta["told"][number];

export interface SettleOptions {
  /** Scans the log of a lost run, so that what it shows is in the journal before the run counts as lost. */
  readonly rescan: (meta: RunMeta) => Promise<void>;
  /** Hands a callback over; resolves when it was accepted. Without it nobody is told, and the next start tells. */
  readonly tell?: ((meta: RunMeta, callback: Callback) => Promise<void>) | undefined;
  readonly now?: () => number;
}

/** A run that is not as it was, or that could not be settled. */
export interface SettledRun {
  readonly id: string;
  readonly found: "orphaned" | "lost" | "told" | "undecidable" | "unreadable";
  /** What `rescan` or `tell` failed with; the next start tries again. */
  readonly problem?: unknown;
}

/** Settles every run that needs it. Does not reject: what cannot be done now is met again by the next start. */
export async function settleRuns(registry: RunRegistry, options: SettleOptions): Promise<SettledRun[]> {
  const settled: SettledRun[] = [];
  for (const id of registry.openIds()) {
    const found = await settleRun(registry, id, options).catch((problem: unknown) => ({
      id,
      found: "unreadable" as const,
      problem,
    }));
    if (found !== undefined) settled.push(found);
  }
  return settled;
}

/** Whether `settleRuns` has anything to do: asked before what that needs is loaded, while a run goes on for hours. */
export function needsSettling(registry: RunRegistry, now = Date.now()): boolean {
  return registry.openIds().some((id) => {
    const meta = registry.readMeta(id);
    if (typeof meta === "string") return meta === "missing";
    return isSettled(meta) || decideClaim(meta, lookAt(registry, meta, now), true) !== undefined;
  });
}

async function settleRun(registry: RunRegistry, id: string, options: SettleOptions): Promise<SettledRun | undefined> {
  const { rescan, tell, now = Date.now } = options;
  const seen = registry.readMeta(id);
  if (seen === "missing") dropLeftOver(registry, id, now());
  if (seen === "missing") return undefined;
  if (seen === "unreadable") return { id, found: "unreadable" };
  if (decideLifecycle(seen, lookAt(registry, seen, now())) === "undecidable") return { id, found: "undecidable" };

  const claimed = claim(registry, seen, (meta) => decideClaim(meta, lookAt(registry, meta, now()), tell !== undefined));
  if (claimed === undefined) return undefined;
  const { found } = claimed;
  let { meta } = claimed;
  try {
    if (found === "lost") {
      await rescan(meta);
      // Somebody may have gone on with the run meanwhile.
      const lost = { status: "lost", endedAt: now() } as const;
      meta = registry.updateMeta(id, (current) => (isHeldBy(current, seen) ? lost : undefined)) ?? meta;
      if (meta.status !== "lost") return undefined;
    }
    const callback = dueCallback(meta);
    if (callback !== undefined && tell !== undefined) {
      await tell(meta, callback);
      registry.updateMeta(id, (current) =>
        isHeldBy(current, seen) ? { told: [...new Set<Callback>([...current.told, callback])] } : undefined,
      );
    }
    return { id, found };
  } catch (problem) {
    return { id, found, problem };
  }
}

interface Claim {
  readonly found: "orphaned" | "lost" | "told";
  readonly patch: MetaPatch;
}

/** Says that this process settles the run, where it has to be; undefined when it has not, or another was faster. */
function claim(registry: RunRegistry, seen: RunMeta, decide: (meta: RunMeta) => Claim | undefined) {
  // A crash between the metadata and its mark: the same metadata again takes the mark away.
  if (isSettled(seen)) registry.updateMeta(seen.id, (meta) => (isSettled(meta) ? {} : undefined));
  if (decide(seen) === undefined) return undefined;
  let decided: Claim | undefined;
  const meta = registry.updateMeta(seen.id, (current) => {
    decided = decide(current);
    return decided?.patch;
  });
  return decided === undefined || meta === undefined ? undefined : { meta, found: decided.found };
}

function decideClaim(meta: RunMeta, facts: LifecycleFacts, canTell: boolean): Claim | undefined {
  if (meta.settling !== undefined && isAnotherAlive(meta.settling)) return undefined;
  const settling = thisProcess();
  switch (decideLifecycle(meta, facts)) {
    case "orphaned":
      return { found: "orphaned", patch: { status: "orphaned", settling } };
    case "lost":
      // Its status follows the scan of its log: an Ostler that dies over the scan leaves it to the next one.
      return { found: "lost", patch: { settling } };
    case "undecidable":
      return undefined;
    case "stands":
      if (!canTell || dueCallback(meta) === undefined || facts.supervisorAlive || !facts.sameSystem) return undefined;
      return { found: "told", patch: { settling } };
  }
}

/** What can be seen from here of who has a run, and of its process. */
export function lookAt(registry: RunRegistry, meta: RunMeta, now: number): LifecycleFacts {
  const { supervisor, process, machine } = meta;
  const { system } = thisProcess();
  if (supervisor.system === system) {
    const processAlive = process !== undefined && isAlive(process);
    return { sameSystem: true, supervisorAlive: isAlive(supervisor), processAlive };
  }
  const isEarlierBoot = machine === thisMachine() && bootOf(supervisor.system) !== bootOf(system);
  const isGone = isEarlierBoot || now - registry.lastSignOf(meta.id) > SILENCE_MS;
  return { sameSystem: isGone, supervisorAlive: false, processAlive: false };
}

function isAnotherAlive(owner: OwnerIdentity): boolean {
  const self = thisProcess();
  return owner.system === self.system && owner.pid !== self.pid && isAlive(owner);
}

function isHeldBy({ supervisor }: RunMeta, { supervisor: { pid, startedAt, system } }: RunMeta): boolean {
  return supervisor.pid === pid && supervisor.startedAt === startedAt && supervisor.system === system;
}

function dropLeftOver(registry: RunRegistry, id: string, now: number): void {
  const age = now - registry.openedAt(id);
  if (!registry.has(id) && age > LEFT_OVER_MS) registry.dropOpen(id);
}
