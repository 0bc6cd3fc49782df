/**
 * One process at a time over a small file that is read and written again. The lock is a symbolic link that names its
 * holder: made in one step with what it says. It is held for milliseconds; a holder that died is known by its start time.
 */
import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { isAlive } from "../../acp/processes.ts";
import { thisProcess } from "../../acp/this-process.ts";
import { systemCode } from "../../errors/system-code.ts";

const POLL_MS = 2;
/** Far longer than a sync of a slow disk takes. */
const WAIT_MS = 5000;
/** A holder on another system cannot be looked at: this old, its lock was left behind. */
const LEFT_BEHIND_MS = 60_000;

/** Runs `act` while no other process does so for this lock. Throws what `act` throws, the system's error, and EBUSY when the lock stays taken. */
export function withFileLock<T>(lock: string, act: () => T): T {
  const self = thisProcess();
  const deadline = performance.now() + WAIT_MS;
  while (!take(lock, [self.pid, self.startedAt, self.system].join("/"))) {
    const holder = holderOf(lock);
    if (holder !== undefined && isGone(holder, lock, self.system)) breakLock(lock, holder);
    else if (performance.now() > deadline) throw Object.assign(new Error(`${lock} stays taken`), { code: "EBUSY" });
    else pause(POLL_MS);
  }
  try {
    return act();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string, holder: string): boolean {
  try {
    symlinkSync(holder, lock);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function holderOf(lock: string): string | undefined {
  try {
    return readlinkSync(lock);
  } catch {
    return undefined;
  }
}

function isGone(holder: string, lock: string, here: string): boolean {
  const [pid, startedAt = "", system] = holder.split("/");
  if (system === here) return !isAlive({ pid: Number(pid), startedAt });
  const since = lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Date.now() - since > LEFT_BEHIND_MS;
}

/** Two may find the same dead holder: what is taken away is looked at, and put back when it is somebody else's by now. */
function breakLock(lock: string, holder: string): void {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    const found = readlinkSync(aside);
    if (found !== holder) symlinkSync(found, lock);
    rmSync(aside, { force: true });
  } catch {
    // Another process was faster.
  }
}

/** The lock is taken in synchronous code, so that nothing of this process comes between reading and writing. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
