/**
 * The mark of an agent: a variable in its environment that everything it starts inherits. It finds what left both the
 * group and the family (setsid, a daemon that forked twice), which no walk from parent to child does. Linux alone shows
 * the environment of a process; elsewhere nothing is found by it.
 */
import { readFileSync } from "node:fs";
import { isOwn, processNumbers, startTimeOf } from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

const VARIABLE = "OSTLER_RUN";
/** What `newMark` makes, so that a damaged record never matches anything else. */
const MARK = /^\d+(-[0-9a-z]{6,}){2}$/;

/** A mark that no other run has. Drawn without node:crypto, which takes longer to load than an agent to record. */
export function newMark(): string {
  return `${process.pid}-${Date.now().toString(36)}-${draw()}${draw()}`;
}

function draw(): string {
  return Math.random().toString(36).slice(2).padEnd(6, "0");
}

/** Whether a text may be a mark. */
export function isMark(text: string): boolean {
  return MARK.test(text);
}

/** The mark of the agent that this very process was started by, if any. */
export function inheritedMark(): string | undefined {
  return process.env[VARIABLE];
}

/** The environment that carries the mark. */
export function markEnvironment(mark: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: mark };
}

/** The living processes of this user that carry the mark, except those numbers that the caller knows to be others. */
export function markedProcesses(mark: string, except: ReadonlySet<number>): ProcessIdentity[] {
  return processNumbers().flatMap((pid) => {
    if (except.has(pid) || !carries(pid, mark)) return [];
    const startedAt = startTimeOf(pid);
    return startedAt === undefined ? [] : [{ pid, startedAt }];
  });
}

function carries(pid: number, mark: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    return `\0${environment}`.includes(`\0${VARIABLE}=${mark}\0`) && isOwn(pid);
  } catch {
    return false;
  }
}
