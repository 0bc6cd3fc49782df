/**
 * Ends a run from another process. Whoever supervises it is asked, and writes down how it ended; only where nobody does,
 * or nobody answers, its processes are ended from here. Every signal checks pid and start time first.
 */
import { delay } from "../../acp/abort.ts";
import { inheritedMark, newMark } from "../../acp/process-mark.ts";
import { ProcessTree } from "../../acp/process-tree.ts";
import { isAlive, signalProcess } from "../../acp/processes.ts";
import type { ProcessIdentity } from "../../acp/processes.ts";
import { thisProcess } from "../../acp/this-process.ts";
import { lookAt } from "./lifecycle.ts";
import type { RunMeta, RunStatus } from "./meta.ts";
import type { RunRegistry } from "./registry.ts";
import { isEnded } from "./settled.ts";

/** The supervisor ends the tree within 3 s, drains its pipes and writes to a slow disk. */
const SOFT_MS = 8000;
/** What a second request may take. */
const HARD_MS = 4000;
const POLL_MS = 25;

export type StopResult =
  /** It ended by this. */
  | { readonly result: "stopped"; readonly status: RunStatus }
  /** It had ended before. */
  | { readonly result: "over"; readonly status: RunStatus }
  /** An agent's run: its Ostler was asked, and is at it. Asked again, it ends the agent at once. */
  | { readonly result: "asked"; readonly pid: number }
  /** Something of it is still there, or may not be touched. */
  | { readonly result: "resists"; readonly pid: number }
  /** This very process belongs to it. */
  | { readonly result: "inside" }
  /** It runs, or ran, on another system. */
  | { readonly result: "elsewhere" };

export interface StopOptions {
  /** Before the end of a run that nobody supervises is written down: scans its log, as for a lost one. */
  readonly rescan: (meta: RunMeta) => Promise<void>;
  readonly softMs?: number;
  readonly hardMs?: number;
}

/** Resolves when it is over, or after a bounded wait. Throws the system's error when its end cannot be written down. */
export async function stopRun(registry: RunRegistry, meta: RunMeta, options: StopOptions): Promise<StopResult> {
  const { softMs = SOFT_MS, hardMs = HARD_MS } = options;
  if (isEnded(meta.status)) return { result: "over", status: meta.status };
  if (meta.process?.mark !== undefined && meta.process.mark === inheritedMark()) return { result: "inside" };
  const facts = lookAt(registry, meta, Date.now());
  if (!facts.sameSystem) return { result: "elsewhere" };
  if (meta.status === "orphaned" || !facts.supervisorAlive) return endTree(registry, meta, options);

  const { supervisor, kind } = meta;
  const ask = (): boolean => signalProcess(supervisor, kind === "agent" ? "SIGINT" : "SIGTERM");
  if (!ask())
    return isAlive(supervisor) ? { result: "resists", pid: supervisor.pid } : endTree(registry, meta, options);
  const soft = await endOf(registry, meta, softMs);
  if (soft !== undefined) return soft;
  if (kind === "agent" && isAlive(supervisor)) return { result: "asked", pid: supervisor.pid };
  if (ask()) {
    const hard = await endOf(registry, meta, hardMs);
    if (hard !== undefined) return hard;
  }
  // It does not even answer to that: what it has started goes first, so that nothing is left without it.
  return endTree(registry, meta, options);
}

/** How the run ended within the time; undefined when it goes on, or has nobody left to end it. */
async function endOf(
  registry: RunRegistry,
  { id, supervisor }: RunMeta,
  withinMs: number,
): Promise<StopResult | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    // Before the look at the metadata: whoever is gone has written what it was going to write.
    const isThere = isAlive(supervisor);
    const meta = registry.readMeta(id);
    if (typeof meta !== "string" && isEnded(meta.status)) return { result: "stopped", status: meta.status };
    if (!isThere || performance.now() >= deadline) return undefined;
    await delay(POLL_MS);
  }
}

async function endTree(registry: RunRegistry, seen: RunMeta, { rescan }: StopOptions): Promise<StopResult> {
  const { id, supervisor } = seen;
  // Elsewhere, and before a restart, the numbers were those of other processes.
  if (supervisor.system === thisProcess().system) {
    const { process } = currentMeta(registry, seen);
    if (process !== undefined && !(await isEndedTree(process))) return { result: "resists", pid: process.pid };
    signalProcess(supervisor, "SIGKILL");
  }
  let isOurs = false;
  const claimed = registry.updateMeta(id, ({ status }) => {
    isOurs = !isEnded(status);
    return isOurs ? { settling: thisProcess() } : undefined;
  });
  if (!isOurs || claimed === undefined) return { result: "stopped", status: claimed?.status ?? "lost" };
  await rescan(claimed);
  registry.updateMeta(id, { status: "cancelled", endedAt: Date.now() });
  return { result: "stopped", status: "cancelled" };
}

/** What stands there now, while it can be read. */
function currentMeta(registry: RunRegistry, seen: RunMeta): RunMeta {
  const meta = registry.readMeta(seen.id);
  return typeof meta === "string" ? seen : meta;
}

/** TERM, then KILL, bounded. */
function isEndedTree({ mark = newMark(), ...leader }: ProcessIdentity & { readonly mark?: string }): Promise<boolean> {
  const leaderIsAlive = (): boolean => isAlive(leader);
  return new ProcessTree(leader.pid, { mark, leaderIsAlive, ownsGroup: leaderIsAlive() }).end();
}
