/**
 * One agent process: spawn, stdin, stdout, a bounded stderr tail, the fact of its exit, and the stop ladder. It runs in
 * a process group of its own, so that a Ctrl-C in the terminal reaches Ostler alone and a stop reaches the whole tree.
 */
import { execa } from "execa";
import type { Readable, Writable } from "node:stream";
import { basename } from "node:path";
import { delay } from "./abort.ts";
import type { AgentProcess, CommandLine, ProcessLedger } from "./ports.ts";
import { markEnvironment, newMark } from "./process-mark.ts";
import { ProcessTree } from "./process-tree.ts";
import { groupIsAlive, pipesOf, processNumbers, sessionGoesOn, startClock, startTimeOfChild } from "./processes.ts";
import type { ProcessIdentity } from "./processes.ts";

/** How a process ended. */
export interface ExitFact {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ChildOptions {
  readonly command: CommandLine;
  readonly cwd: string;
  /** The whole environment; nothing is inherited besides, and only the mark is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly ledger?: ProcessLedger | undefined;
  /** How long it may take to end by itself once its stdin has, in milliseconds. Default 2000. */
  readonly endGraceMs?: number | undefined;
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
/** The first rung of the stop ladder, the end of stdin: claude-agent-acp ends within 0.6 s of it (recordings). */
const END_GRACE_MS = 2000;
/** Once the agent itself is gone, helpers of a clean exit lived on for 0.3 s (recordings). */
const LEFT_GRACE_MS = 1000;

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
  #stopping: Promise<boolean> | undefined;
  #process: AgentProcess;
  readonly #ledger: ProcessLedger | undefined;
  readonly #endGraceMs: number;
  readonly #tree: ProcessTree;

  private constructor(
    process: AgentProcess,
    facts: {
      readonly before: readonly number[];
      readonly pipes: readonly string[];
      readonly isHolder: boolean | undefined;
      readonly ledger: ProcessLedger | undefined;
      readonly endGraceMs: number | undefined;
    },
    streams: { stdin: Writable; stdout: Readable; stderr: Readable },
    exited: Promise<ExitFact>,
  ) {
    this.pid = process.pid;
    this.#process = process;
    this.#ledger = facts.ledger;
    this.#endGraceMs = facts.endGraceMs ?? END_GRACE_MS;
    this.#tree = new ProcessTree(process.pid, {
      mark: process.mark,
      leaderIsAlive: () => this.exit === null,
      ownsGroup: true,
      leaderIsHolder: facts.isHolder,
      before: facts.before,
      pipes: facts.pipes,
    });
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    this.exited = exited.then((fact) => {
      this.exit = fact;
      // The number was free a moment ago, had nobody stayed in its group.
      if (facts.ledger !== undefined && groupIsAlive(this.pid)) this.#writeDown(startClock());
      return fact;
    });
    streams.stderr.setEncoding("utf8").on("data", (text: string) => this.#keepStderr(text));
    // A closed pipe is told by the exit or by the end of stdout; these events alone must not end Ostler (case C15 b).
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on("error", () => {});
  }

  /** Starts the process. Throws {@link SpawnFailed}. */
  static async spawn(options: ChildOptions): Promise<AgentChild> {
    const { ledger, command, endGraceMs } = options;
    const mark = newMark();
    const before = processNumbers();
    const subprocess = execa(command.file, command.args, {
      cwd: options.cwd,
      env: { ...options.env, ...markEnvironment(mark) },
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
      // NODE_DEBUG=execa would print the command line, and with it what should stay hidden.
      verbose: "none",
    });
    const { pid } = subprocess;
    if (pid === undefined) {
      const result = await subprocess;
      throw new SpawnFailed(command.file, result.code ?? "unknown", { cause: result.cause ?? result });
    }
    const exited = new Promise<ExitFact>((resolve) => {
      subprocess.nodeChildProcess.once("exit", (code, signal) => resolve({ code, signal }));
    });
    // Node closes the stdin of a process that exits, and with it that of the server a launcher left behind.
    Object.defineProperty(subprocess.nodeChildProcess, "stdin", { value: null });
    // Nobody has waited for it yet: its number is its own, even if it has ended.
    const numbers = { pid, startedAt: startTimeOfChild(pid), heldUntil: startClock() };
    const pipes = pipesOf(pid);
    const started = { ...numbers, mark, file: basename(command.file) };
    ledger?.started(started);
    const { isHolder } = command;
    return new AgentChild(started, { before, pipes, isHolder, ledger, endGraceMs }, subprocess, exited);
  }

  /** The last 64 KiB of stderr, raw: scrub before showing. */
  stderrTail(): string {
    return this.#stderr.join("");
  }

  /** To be called when the agent has spoken: whoever did is alive by now, also behind a launcher. */
  noteAnswer(): void {
    const goesOn = this.exit === null || sessionGoesOn(this.#process, this.#process.heldUntil);
    if (goesOn && this.#stopping === undefined) this.#writeDown(startClock());
  }

  /** The agent itself, and what it has started and is still alive. */
  processes(): readonly ProcessIdentity[] {
    return [this.#process, ...this.#tree.living()];
  }

  /**
   * End of stdin, then TERM, then KILL, each with a bounded wait, for the whole tree. Idempotent. False when something of
   * it is still there.
   */
  stop(): Promise<boolean> {
    this.#stopping ??= this.#walkLadder();
    return this.#stopping;
  }

  /** Ends the whole tree at once. */
  kill(): void {
    this.#tree.signal("SIGKILL");
  }

  /** A later moment makes more of what it left recognisable, should this Ostler be killed (docs/adr/0007-leases.md). */
  #writeDown(heldUntil: number): void {
    this.#process = { ...this.#process, heldUntil };
    this.#ledger?.started(this.#process);
  }

  async #walkLadder(): Promise<boolean> {
    const isGone = (await this.#endsByItself()) || (await this.#tree.end());
    if (isGone) this.#ledger?.ended(this.#process);
    for (const stream of [this.stdin, this.stdout]) stream.destroy();
    return isGone;
  }

  /** A launcher that left (exit 0) has a child that reads the end of stdin; what a crashed agent left behind does not. */
  async #endsByItself(): Promise<boolean> {
    this.#tree.look();
    this.stdin.end();
    const crashed = this.exit !== null && this.exit.code !== 0;
    if (crashed) return false;
    const grace = new AbortController();
    await Promise.race([this.exited, delay(this.#endGraceMs, grace.signal)]);
    grace.abort();
    return this.exit !== null && this.#tree.isGoneWithin(LEFT_GRACE_MS);
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
