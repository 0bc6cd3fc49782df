/**
 * Removes a run whole, with its provenance: it gets a name that is no run's in one step, so that a crash never leaves half
 * a run that looks whole; the next sweep removes what such a crash left.
 */
import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "./file-lock.ts";
import type { RunMeta } from "./meta.ts";
import type { RunRegistry } from "./registry.ts";

const MAKING = ".new-";
const GONE = ".gone-";
/** A run is made, and removed, within moments. */
const LEFT_OVER_MS = 3600 * 1000;

/**
 * False when `mayRemove` says no to what the run is now, or when it is not there. Throws the system's error; once the run
 * has lost its name it is gone all the same.
 */
export function removeRun(registry: RunRegistry, id: string, mayRemove: (meta: RunMeta) => boolean): boolean {
  const gone = join(registry.folder, `${GONE}${id}`);
  if (!registry.has(id)) return false;
  const isRemoved = withFileLock(registry.lockFile(id), () => {
    const meta = registry.readMeta(id);
    if (typeof meta === "string" || !mayRemove(meta)) return false;
    renameSync(registry.runFolder(id), gone);
    return true;
  });
  if (!isRemoved) return false;
  registry.provenance.remove(id);
  registry.dropOpen(id);
  rmSync(gone, { recursive: true, force: true });
  return true;
}

/** Removes what belongs to no run: of a crash while one was made or removed. Does not throw. */
export function sweepLeftOvers(registry: RunRegistry, now: number): void {
  for (const name of namesIn(registry.folder)) {
    const path = join(registry.folder, name);
    if (name.startsWith(GONE) || (name.startsWith(MAKING) && isOld(path, now))) quietly(() => removeAll(path));
  }
  for (const id of registry.openIds()) {
    if (now - registry.openedAt(id) > LEFT_OVER_MS && !registry.has(id)) quietly(() => registry.dropOpen(id));
  }
  registry.provenance.sweep((id) => registry.has(id), now);
}

function removeAll(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

function isOld(path: string, now: number): boolean {
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && now - made > LEFT_OVER_MS;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What cannot be removed now is met again by the next sweep. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {}
}
