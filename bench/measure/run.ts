/** Runs a command to its end and says what it cost: itself, what it started, and what those started. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Command } from "../subjects.ts";

/** The kernel tells times in hundredths of a second (USER_HZ), whatever it counts in. */
const TICK_MS = 10;

export interface Cost {
  /** User and system time of the whole process tree. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/**
 * The mean cost of `times` runs in a row: with more runs the ticks matter less. Output is thrown away.
 * @throws Error when the command fails: its cost would mean nothing.
 */
export async function costOf(command: Command, times: number): Promise<Cost> {
  const cpuBefore = cpuOfChildrenMs();
  const startedAt = performance.now();
  for (let run = 0; run < times; run += 1) await finish(command);
  const wallMs = performance.now() - startedAt;
  return { cpuMs: (cpuOfChildrenMs() - cpuBefore) / times, wallMs: wallMs / times };
}

async function finish([program = "", ...programArguments]: Command): Promise<void> {
  const child = spawn(program, programArguments, { stdio: "ignore" });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (exitCode !== 0) throw new Error(`Exit code ${exitCode}: ${program} ${programArguments.join(" ")}`);
}

/** CPU of all children that ended and were waited for, with all of theirs: fields 16 and 17 of /proc/self/stat. */
function cpuOfChildrenMs(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
