/**
 * All processes of one agent: itself, its group, its descendants, what carries its mark and what speaks on its pipes. Whoever was seen once stays
 * known, so that a process adopted by init is still found. Every signal checks pid and start time first.
 */
import { delay } from "./abort.ts";
import { markedProcesses } from "./process-mark.ts";
import {
  descendantsOf,
  groupIsAlive,
  groupMembers,
  isAlive,
  processesOn,
  signalGroup,
  signalProcess,
} from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

/** The last two rungs of every stop. */
const TERM_GRACE_MS = 2000;
const KILL_GRACE_MS = 1000;
/** How often a tree that was told to end is looked at. */
const POLL_MS = 20;
/** After this long a number seen before the agent's start may have come round to one of its processes. */
const BEFORE_HOLDS_MS = 10 * 60_000;

export interface ProcessTreeOptions {
  /** The mark in the environment of the agent. */
  readonly mark: string;
  readonly leaderIsAlive: () => boolean;
  /** Whether the group with the leader's number is still the agent's. */
  readonly ownsGroup: boolean;
  /** TERM goes to the others alone, and the leader ends with them; see `CommandLine.isHolder`. */
  readonly leaderIsHolder?: boolean | undefined;
  /** Numbers of processes older than the agent: they are not read, which makes the end of a short run cheap. */
  readonly before?: readonly number[];
  /** The agent's stdin and stdout, as `pipesOf` names them. */
  readonly pipes?: readonly string[];
}

export class ProcessTree {
  readonly #leaderPid: number;
  readonly #options: ProcessTreeOptions;
  readonly #madeAt = performance.now();
  readonly #known = new Map<number, ProcessIdentity>();
  readonly #pipes: ReadonlySet<string>;
  #before: ReadonlySet<number>;
  #ownsGroup: boolean;

  constructor(leaderPid: number, options: ProcessTreeOptions) {
    this.#leaderPid = leaderPid;
    this.#options = options;
    this.#pipes = new Set(options.pipes);
    this.#before = new Set(options.before);
    this.#ownsGroup = options.ownsGroup;
  }

  /** Looks for processes that are not known yet. */
  look(): void {
    if (performance.now() - this.#madeAt > BEFORE_HOLDS_MS) this.#before = new Set();
    if (this.#options.leaderIsAlive()) this.#remember(descendantsOf(this.#leaderPid));
    const found = [
      // The family of a launcher that left.
      ...(this.#groupIsAlive() ? groupMembers(this.#leaderPid) : []),
      // An Ostler among them marks its own agents differently.
      ...markedProcesses(this.#options.mark, this.#before),
      // A launcher may have cleared the environment and left the session; its server still has to speak.
      ...processesOn(this.#pipes, this.#before),
    ];
    for (const process of found) {
      if (process.pid === this.#leaderPid) continue;
      this.#remember([process, ...descendantsOf(process.pid)]);
    }
  }

  /** The living processes of the tree besides the agent itself. */
  living(): ProcessIdentity[] {
    this.look();
    return [...this.#known.values()].filter(isAlive);
  }

  /** Sends a signal to every process of the tree. */
  signal(signal: NodeJS.Signals): void {
    this.look();
    const sparesLeader = signal === "SIGTERM" && this.#options.leaderIsHolder === true;
    if (!sparesLeader && this.#groupIsAlive()) signalGroup(this.#leaderPid, signal);
    for (const process of this.#known.values()) signalProcess(process, signal);
  }

  /** Waits until nothing of the tree is left; false when `graceMs` have passed. */
  async isGoneWithin(graceMs: number): Promise<boolean> {
    const deadline = performance.now() + graceMs;
    while (!this.#isGone()) {
      if (performance.now() >= deadline) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  /** TERM, then KILL, each with a bounded wait. False when something is still there. */
  async end(): Promise<boolean> {
    if (this.#isGone()) return true;
    this.signal("SIGTERM");
    if (await this.isGoneWithin(TERM_GRACE_MS)) return true;
    this.signal("SIGKILL");
    return this.isGoneWithin(KILL_GRACE_MS);
  }

  #isGone(): boolean {
    if (this.#options.leaderIsAlive() || this.#groupIsAlive() || this.#someKnownIsAlive()) return false;
    this.look();
    return !this.#someKnownIsAlive();
  }

  #someKnownIsAlive(): boolean {
    return [...this.#known.values()].some(isAlive);
  }

  /** Once empty the group is never asked for again: its number may be given to a stranger. */
  #groupIsAlive(): boolean {
    this.#ownsGroup &&= this.#options.leaderIsAlive() || groupIsAlive(this.#leaderPid);
    return this.#ownsGroup;
  }

  #remember(processes: readonly ProcessIdentity[]): void {
    for (const process of processes) this.#known.set(process.pid, process);
  }
}
