/**
 * One agent process: spawn, stdin, stdout, a bounded stderr tail, the fact of its exit, and the stop ladder. It runs in
 * a process group of its own, so that a Ctrl-C in the terminal reaches Ostler alone and a stop reaches the whole tree.
 */
import { execa } from "execa";
import type { Readable, Writable } from "node:stream";
import type { CommandLine } from "./ports.ts";
import { descendantsOf, groupIsAlive, isAlive, signalGroup, signalProcess } from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

/** How a process ended. */
export interface ExitFact {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ChildOptions {
  readonly command: CommandLine;
  readonly cwd: string;
  /** The whole environment; nothing is inherited besides. */
  readonly env: Readonly<Record<string, string>>;
}

/** The process could not be started at all. `code` is the system's (`ENOENT`, `EACCES`). */
export class SpawnFailed extends Error {
  readonly code: string;
  constructor(file: string, code: string, options: ErrorOptions) {
    super(`Starting ${file} failed (${code})`, options);
    this.name = "SpawnFailed";
    this.code = code;
  }
}

/** A full pipe blocks the agent, so stderr is always drained; only its end is of use (case C15 a). */
const STDERR_TAIL_CHARS = 64 * 1024;
/** The rungs of the stop ladder: end of stdin, TERM, KILL. Adapters here end within 0.6 s of the first (recordings). */
const END_GRACE_MS = 2000;
const TERM_GRACE_MS = 2000;
const KILL_GRACE_MS = 1000;
/** How often an emptied process group is looked for once its leader is gone. */
const GROUP_POLL_MS = 20;

export class AgentChild {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** As text. Always drained here; others may listen too. */
  readonly stderr: Readable;
  /** Resolves once, when the process itself is gone; its pipes may be held open by children of its own. */
  readonly exited: Promise<ExitFact>;
  exit: ExitFact | null = null;
  #stderr: string[] = [];
  #stderrChars = 0;
  #stopping: Promise<void> | undefined;

  private constructor(
    pid: number,
    streams: { stdin: Writable; stdout: Readable; stderr: Readable },
    exited: Promise<ExitFact>,
  ) {
    this.pid = pid;
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    this.exited = exited.then((fact) => (this.exit = fact));
    streams.stderr.setEncoding("utf8").on("data", (text: string) => this.#keepStderr(text));
    // A closed pipe is told by the exit or by the end of stdout; these events alone must not end Ostler (case C15 b).
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on("error", () => {});
  }

  /** Starts the process. Throws {@link SpawnFailed}. */
  static async spawn(options: ChildOptions): Promise<AgentChild> {
    const subprocess = execa(options.command.file, options.command.args, {
      cwd: options.cwd,
      env: options.env,
      extendEnv: false,
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      encoding: "buffer",
      stripFinalNewline: false,
    });
    const { pid } = subprocess;
    if (pid === undefined) {
      const result = await subprocess;
      throw new SpawnFailed(options.command.file, result.code ?? "unknown", { cause: result.cause ?? result });
    }
    const exited = new Promise<ExitFact>((resolve) => {
      subprocess.nodeChildProcess.once("exit", (code, signal) => resolve({ code, signal }));
    });
    return new AgentChild(pid, subprocess, exited);
  }

  /** The last 64 KiB of stderr, raw: scrub before showing. */
  stderrTail(): string {
    return this.#stderr.join("");
  }

  /** End of stdin, then TERM, then KILL, each with a bounded wait, then whatever left the group. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#walkLadder();
    return this.#stopping;
  }

  /** Ends the whole tree at once. */
  kill(): void {
    const tree = descendantsOf(this.pid);
    signalGroup(this.pid, "SIGKILL");
    for (const left of tree) signalProcess(left, "SIGKILL");
  }

  async #walkLadder(): Promise<void> {
    const tree = descendantsOf(this.pid);
    this.stdin.end();
    if (!(await this.#treeGone(tree, END_GRACE_MS))) {
      tree.push(...descendantsOf(this.pid));
      signalGroup(this.pid, "SIGTERM");
      for (const left of tree) signalProcess(left, "SIGTERM");
      if (!(await this.#treeGone(tree, TERM_GRACE_MS))) {
        tree.push(...descendantsOf(this.pid));
        signalGroup(this.pid, "SIGKILL");
        for (const left of tree) signalProcess(left, "SIGKILL");
        await this.#treeGone(tree, KILL_GRACE_MS);
      }
    }
    for (const stream of [this.stdin, this.stdout]) stream.destroy();
  }

  /** True once the process, its group and the descendants known so far are gone; false when `graceMs` have passed. */
  async #treeGone(tree: readonly ProcessIdentity[], graceMs: number): Promise<boolean> {
    const deadline = performance.now() + graceMs;
    await Promise.race([this.exited, delay(graceMs)]);
    while (this.exit === null || groupIsAlive(this.pid) || tree.some(isAlive)) {
      if (performance.now() >= deadline) return false;
      await delay(GROUP_POLL_MS);
    }
    return true;
  }

  #keepStderr(text: string): void {
    this.#stderr.push(text);
    this.#stderrChars += text.length;
    while (this.#stderrChars > STDERR_TAIL_CHARS) {
      const [first = ""] = this.#stderr;
      const over = this.#stderrChars - STDERR_TAIL_CHARS;
      if (first.length > over) this.#stderr[0] = first.slice(over);
      else this.#stderr.shift();
      this.#stderrChars -= Math.min(first.length, over);
    }
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
