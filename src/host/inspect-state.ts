/** Whether Ostler can keep its state. */
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { Paths } from "./paths.ts";
import { shortPath } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

const CLOSED_MODE = 0o700;
const OTHERS = 0o077;
/** Below that a store of a few pages cannot be counted on. */
const MIN_FREE_BYTES = 1024 * 1024;
const ELSEWHERE = "Set OSTLER_HOME to a folder that can be written";
const NO_SPACE: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** Looks, and makes nothing; with `tries` the folder is made and a file is written and removed. */
export function inspectStateFolder(
  { state }: Pick<Paths, "state">,
  { env, tries }: { readonly env: NodeJS.ProcessEnv; readonly tries: boolean },
): Finding {
  const name = shortPath(state, env);
  const nearest = nearestExisting(state);
  const stats = statSync(nearest, { throwIfNoEntry: false });
  if (stats === undefined)
    return wrong("state", `${shortPath(nearest, env)} is a link to nothing`, shellLine(["rm", nearest], env));
  if (!stats.isDirectory()) {
    return wrong(
      "state",
      `${shortPath(nearest, env)} is a file, and must be a folder`,
      shellLine(["mv", nearest, `${nearest}.old`], env),
    );
  }
  const denied = accessProblem(nearest, stats, { isState: nearest === state, env });
  if (denied !== undefined) return denied;
  if (nearest === state && (stats.mode & OTHERS) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    return wrong("state", `${name} is open to others (mode ${mode})`, shellLine(["chmod", "700", state], env));
  }
  if (isFull(nearest)) return noSpace(name);
  return tries ? tryFolder(state, env, () => closed(nearest, stats, env)) : fine("state", name);
}

/** What the system says to a first write, as a finding. */
export function writeProblem(code: string, state: string, env: NodeJS.ProcessEnv): Finding {
  const name = shortPath(state, env);
  if (NO_SPACE.has(code)) return noSpace(name);
  if (code === "EROFS") return wrong("state", `${name} is on a disk that can only be read`, ELSEWHERE);
  return wrong("state", `${name} cannot be written (${code})`, ELSEWHERE);
}

function noSpace(name: string): Finding {
  return wrong("state", `No space is left for ${name}`, `Free some space on the disk of ${name}`);
}

function accessProblem(
  folder: string,
  { uid }: { readonly uid: number },
  { isState, env }: { readonly isState: boolean; readonly env: NodeJS.ProcessEnv },
): Finding | undefined {
  const me = process.geteuid?.() ?? uid;
  const name = shortPath(folder, env);
  // root may write anywhere, and should not take a folder away from its user.
  if (isState && uid !== me && me !== 0) {
    return wrong("state", `${name} belongs to somebody else`, `sudo chown -R "$(id -un)" ${shellLine([folder], env)}`);
  }
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return systemCode(error) === "EACCES" ? closed(folder, { uid }, env) : writeProblem(systemCode(error), folder, env);
  }
}

function closed(folder: string, { uid }: { readonly uid: number }, env: NodeJS.ProcessEnv): Finding {
  const name = shortPath(folder, env);
  if (uid !== process.geteuid?.()) return wrong("state", `${name} is not writable for you`, ELSEWHERE);
  return wrong("state", `${name} is not writable`, shellLine(["chmod", "u+rwx", folder], env));
}

function tryFolder(state: string, env: NodeJS.ProcessEnv, onClosed: () => Finding): Finding {
  const probe = join(state, `.doctor-${process.pid}`);
  try {
    if (mkdirSync(state, { recursive: true, mode: CLOSED_MODE }) !== undefined) chmodSync(state, CLOSED_MODE);
    writeFileSync(probe, "doctor\n", { mode: 0o600, flush: true });
    rmSync(probe);
    return fine("state", `${shortPath(state, env)}, written to`);
  } catch (error) {
    tidyUp(probe);
    return systemCode(error) === "EACCES" ? onClosed() : writeProblem(systemCode(error), state, env);
  }
}

/** A full disk keeps an empty file of a write that failed. */
function tidyUp(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // What could not be written is not there.
  }
}

function nearestExisting(path: string): string {
  let nearest = path;
  while (!isThere(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** A link to nothing is there; what lies below a file or a closed folder is not. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < MIN_FREE_BYTES;
}
