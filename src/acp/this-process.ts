/**
 * Which process this is, in words that another Ostler can check. A home folder is often shared with containers or other
 * machines, whose living processes would look dead, or like somebody else's, from here: the system is part of the name.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { startTimeOf } from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

/** A process of Ostler, wherever it runs. `startedAt` is empty where the system does not tell it. */
export interface OwnerIdentity extends ProcessIdentity {
  readonly system: string;
}

/** This very process. */
export function thisProcess(): OwnerIdentity {
  return { pid: process.pid, startedAt: startTimeOf(process.pid) ?? "", system: thisSystem() };
}

/** Where numbers of processes mean something: one boot, one pid namespace; `local` where the system tells neither. */
export function thisSystem(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    const namespace = readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
    return `${boot}-${namespace}`;
  } catch {
    return "local";
  }
}

/** `<pid>-<start time>`, fit for a file name: one that the process which got the number later does not have. */
export function ownerName({ pid, startedAt }: ProcessIdentity): string {
  return `${pid}-${startedAt.replaceAll(/[^0-9A-Za-z]+/g, "_") || "gone"}`;
}

/** The name that the process with this number has now. */
export function currentOwnerName(pid: number): string {
  return ownerName({ pid, startedAt: startTimeOf(pid) ?? "" });
}
