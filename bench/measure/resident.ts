/** Follows the memory of one process while it runs. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Command } from "../subjects.ts";

/** Sizes in MiB. */
export interface Resident {
  /** Resident size at equal distances in time, the first after `everyMs`. */
  readonly samplesMib: readonly number[];
  /** The highest it ever was, by the kernel's own mark. */
  readonly peakMib: number;
  readonly exitCode: number | null;
  readonly wallMs: number;
}

export interface FollowOptions {
  readonly everyMs: number;
  /** What to do with stdout; absent = it is thrown away. */
  readonly onStdout?: (stdout: Readable) => void;
}

/** Runs the command to its end; what it starts itself is not counted. */
export async function followMemory(
  [program = "", ...programArguments]: Command,
  options: FollowOptions,
): Promise<Resident> {
  const { everyMs, onStdout } = options;
  const child = spawn(program, programArguments, { stdio: ["ignore", onStdout ? "pipe" : "ignore", "ignore"] });
  if (child.stdout !== null) onStdout?.(child.stdout);
  const startedAt = performance.now();
  const samplesMib: number[] = [];
  let peakMib = 0;
  const timer = setInterval(() => {
    const status = readStatus(child.pid);
    if (status === undefined) return;
    samplesMib.push(status.residentMib);
    peakMib = status.peakMib;
  }, everyMs);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => clearInterval(timer));
  return { samplesMib, peakMib, exitCode, wallMs: performance.now() - startedAt };
}

/** Undefined when the process is gone: a zombie has no memory to speak of. */
function readStatus(pid: number | undefined): { residentMib: number; peakMib: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const mib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)![1]) / 1024;
    return { residentMib: mib("VmRSS"), peakMib: mib("VmHWM") };
  } catch {
    return undefined;
  }
}
