/**
 * Process trees. A harness is often a wrapper around the real server (kiro-cli, npm shims), and helpers may leave the
 * process group with setsid (kiro wire notes, section 14): a group signal alone leaves orphans.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { uptime } from "node:os";

/** A process, named so that a reused pid is not mistaken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Kernel start time; an opaque string. */
  readonly startedAt: string;
}

/** Time limit of one `ps` call on systems without /proc. */
const PS_TIMEOUT_MS = 2000;

/** All living descendants of `pid`, children before grandchildren. Empty when it has none or is gone. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  return process.platform === "linux" ? descendantsFromProc(pid) : descendantsFromPs(pid);
}

/** Whether that very process is still alive (a zombie is not). */
export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startedAt;
}

/** What a process is, as far as it shows. */
export interface ProcessFacts extends ProcessIdentity {
  readonly parentPid: number;
  /** The file it runs, or its first argument where the system does not tell. */
  readonly program: string;
  /** Its arguments, joined by blanks. */
  readonly commandLine: string;
}

/** Looks at a living process; undefined when it is gone. */
export function describeProcess(identity: ProcessIdentity): ProcessFacts | undefined {
  const { pid } = identity;
  if (!isAlive(identity)) return undefined;
  if (process.platform !== "linux") return describeFromPs(identity);
  try {
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return {
      ...identity,
      parentPid: Number(procStat(pid)?.[1]),
      program: readlinkSync(`/proc/${pid}/exe`),
      commandLine,
    };
  } catch {
    return undefined;
  }
}

/** The kernel counts start times in hundredths of a second, `ps` shows whole seconds. */
const TICK_MS = 10;
const TICKS_PER_SECOND = 1000 / TICK_MS;
const PS_STEP_MS = 1000;

/** Milliseconds since Ostler itself started: a clock that nobody sets, and that start times can be compared with. */
export function uptimeMs(): number {
  return process.uptime() * 1000;
}

/** Whether a process is younger than a moment on the clock of {@link uptimeMs}. */
export function wasBornSince({ startedAt }: ProcessIdentity, moment: number): boolean {
  if (process.platform !== "linux") return Date.parse(startedAt) >= Date.now() - uptimeMs() + moment - PS_STEP_MS;
  return Number(startedAt) >= Math.floor(Number(startTimeOf(process.pid)) + moment / TICK_MS);
}

/** Sends a signal to that very process; false when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/** Sends a signal to a whole process group; false when no process of the group is left. */
export function signalGroup(leaderPid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leaderPid, signal);
  } catch {
    return false;
  }
}

/** Whether a process group still has a living member. Zombies do not count: a container may lack a reaper for them. */
export function groupIsAlive(leaderPid: number): boolean {
  try {
    process.kill(-leaderPid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  return groupMembers(leaderPid).length > 0;
}

/** The living members of a process group; none where /proc does not show them. */
export function groupMembers(leaderPid: number): ProcessIdentity[] {
  return processNumbers().flatMap((pid) => {
    const [state, , group, , ...rest] = procStat(pid) ?? [];
    const startedAt = rest[15];
    return startedAt === undefined || Number(group) !== leaderPid || state === "Z" ? [] : [{ pid, startedAt }];
  });
}

/** Now, on the clock of the start times and in its steps; 0 where the system has no such clock (all but Linux). */
export function startClock(): number {
  return process.platform === "linux" ? Math.floor(uptime() * TICKS_PER_SECOND) : 0;
}

/**
 * Whether the session that a process had begun with `setsid` goes on: one of its members was born at a moment (of
 * {@link startClock}) when the number was known to be that process's. A session is only ever entered by being born into
 * it, and its number is given to nobody while it has members: such a member proves it for all, and another process with
 * that number disproves it. False without /proc.
 */
export function sessionGoesOn({ pid: leaderPid, startedAt }: ProcessIdentity, moment: number): boolean {
  const bornAs = procStat(leaderPid)?.[19] ?? startedAt;
  if (bornAs !== startedAt) return false;
  return processNumbers().some((pid) => {
    const fields = procStat(pid);
    return fields !== undefined && Number(fields[3]) === leaderPid && Number(fields[19]) <= moment;
  });
}

/** What the stdin and stdout of a process are, where that is a pipe or a socket: `socket:[4711]`. Empty without /proc. */
export function pipesOf(pid: number): string[] {
  return ["0", "1"].flatMap((fd) => {
    try {
      const end = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return /^(pipe|socket):/.test(end) ? [end] : [];
    } catch {
      return [];
    }
  });
}

/** The living processes of this user that have one of these as stdin or stdout, without the numbers in `except`. */
export function processesOn(pipes: ReadonlySet<string>, except: ReadonlySet<number>): ProcessIdentity[] {
  if (pipes.size === 0) return [];
  return processNumbers().flatMap((pid) => {
    if (except.has(pid) || pid === process.pid || !pipesOf(pid).some((end) => pipes.has(end))) return [];
    const startedAt = startTimeOf(pid);
    return startedAt === undefined || !isOwn(pid) ? [] : [{ pid, startedAt }];
  });
}

/** Every process there is now; empty without /proc. */
export function processNumbers(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Whether a process is this user's. */
export function isOwn(pid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === process.getuid?.();
  } catch {
    return false;
  }
}

/** The start time of a living process, undefined when it is gone or a zombie. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") {
    const [row = ""] = ps(["-o", "state=,lstart=", "-p", String(pid)]);
    const [state = "Z", ...startedAt] = row.trim().split(/\s+/);
    return state.startsWith("Z") || startedAt.length === 0 ? undefined : startedAt.join(" ");
  }
  const fields = procStat(pid);
  return fields === undefined || fields[0] === "Z" ? undefined : fields[19];
}

/** The start time of a child that was just started, also when it has ended already; empty when the system tells none. */
export function startTimeOfChild(pid: number): string {
  return (process.platform === "linux" ? procStat(pid)?.[19] : startTimeOf(pid)) ?? "";
}

/** `/proc/<pid>/stat` after the command name: index 0 is the state, 19 the start time. */
function procStat(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function descendantsFromProc(pid: number): ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const child of childrenFromProc(parent)) {
      const startedAt = startTimeOf(child);
      if (startedAt === undefined) continue;
      found.push({ pid: child, startedAt });
      queue.push(child);
    }
  }
  return found;
}

/** Children of every thread: one that a worker thread forked (the codex binary does) is listed under that thread. */
function childrenFromProc(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function descendantsFromPs(pid: number): ProcessIdentity[] {
  const rows = ps(["-axo", "pid=,ppid=,lstart="]).map((line) => {
    const [child, parent, ...rest] = line.trim().split(/\s+/);
    return { pid: Number(child), parent: Number(parent), startedAt: rest.join(" ") };
  });
  const found: ProcessIdentity[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const row of rows) {
      if (row.parent !== parent) continue;
      found.push({ pid: row.pid, startedAt: row.startedAt });
      queue.push(row.pid);
    }
  }
  return found;
}

function describeFromPs(identity: ProcessIdentity): ProcessFacts | undefined {
  const [row = ""] = ps(["-o", "ppid=,command=", "-p", String(identity.pid)]);
  const [parentPid, ...words] = row.trim().split(/\s+/);
  if (words.length === 0) return undefined;
  return { ...identity, parentPid: Number(parentPid), program: words[0] ?? "", commandLine: words.join(" ") };
}

function ps(args: readonly string[]): string[] {
  try {
    return execFileSync("ps", args, { encoding: "utf8", timeout: PS_TIMEOUT_MS }).split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
