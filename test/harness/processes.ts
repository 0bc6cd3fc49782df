/**
 * Which processes a scenario has running, as Linux tells it. A process belongs to a scenario when its environment or its
 * working directory names the scenario's folder: no adapter or tool can leave it by changing its parent or its group.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 20;

export interface LiveProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** SIGKILL was sent to it: it is over, however long a busy kernel takes to bury it. */
  readonly isKilled: boolean;
}

/** The live processes (no zombies) of the scenario in `folder`, the calling process aside. */
export function processesOf(folder: string): LiveProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => readProcess(Number(name), folder) ?? []);
}

/** A process that went while it was being read, a zombie, or somebody else's: undefined. */
function readProcess(pid: number, folder: string): LiveProcess | undefined {
  try {
    // The name in brackets may hold spaces and brackets of its own; the fields count from the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return undefined;
    const belongs =
      readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder) ||
      readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    if (!belongs) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, parent: Number(parent), command, isKilled: isPending(pid, "SIGKILL") };
  } catch {
    return undefined;
  }
}

/** Kills what is still there: one process may end with another that was killed before it. */
export function killAll(processes: readonly LiveProcess[], signal: NodeJS.Signals = "SIGKILL"): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // It went by itself in between.
    }
  }
}

/** Settles when a process has taken a signal that was sent to it, or is gone: the kernel makes one of two that wait. */
export async function untilTaken(pid: number, signal: NodeJS.Signals): Promise<void> {
  while (isPending(pid, signal)) await delay(LOOK_MS);
}

/** Whether a process that is there still has to take a signal that was sent to it. */
function isPending(pid: number, signal: NodeJS.Signals): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const sets = [...status.matchAll(/^(?:SigPnd|ShdPnd):\t(.+)$/gm)];
    return sets.some(([, bits]) => (BigInt(`0x${bits}`) >> BigInt(constants.signals[signal] - 1)) % 2n === 1n);
  } catch {
    return false;
  }
}
