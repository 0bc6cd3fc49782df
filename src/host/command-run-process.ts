/**
 * One command as a process of its own group, without input. Its end is the end of its output: what it left in the
 * background with its pipes still belongs to it (failure observations, section 5.7). A stop reaches the whole tree.
 */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { delay } from "../acp/abort.ts";
import type { CommandLine } from "../acp/ports.ts";
import { markEnvironment, newMark } from "../acp/process-mark.ts";
import { ProcessTree } from "../acp/process-tree.ts";
import { pipesOf, processNumbers, startTimeOfChild } from "../acp/processes.ts";
import type { ProcessIdentity } from "../acp/processes.ts";
import { systemCode } from "../errors/system-code.ts";
import type { OutputPipe } from "./command-run-output.ts";
import { findInPath } from "./resolve.ts";

/** After its tree is gone, so long is waited for what its pipes still hold. */
const DRAIN_MS = 1000;

export interface CommandProcessOptions {
  readonly command: CommandLine;
  readonly cwd: string;
  /** The whole environment; only the mark is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** How a command ended by itself, or was ended. */
export interface CommandExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process, and the mark that everything it starts carries. */
export interface MarkedProcess extends ProcessIdentity {
  readonly mark: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class CommandProcess {
  readonly identity: MarkedProcess;
  /** Resolves once it has exited and both of its pipes have ended. */
  readonly closed: Promise<CommandExit>;
  readonly #child: Child;
  readonly #tree: ProcessTree;

  private constructor(child: Child, identity: MarkedProcess, closed: Promise<CommandExit>, before: readonly number[]) {
    this.#child = child;
    this.identity = identity;
    this.closed = closed;
    this.#tree = new ProcessTree(identity.pid, {
      mark: identity.mark,
      leaderIsAlive: () => child.exitCode === null && child.signalCode === null,
      ownsGroup: true,
      before,
      pipes: pipesOf(identity.pid),
    });
  }

  /** Starts the command. Throws {@link CommandUnstartable}. */
  static async start({ command, cwd, env, stdout, stderr }: CommandProcessOptions): Promise<CommandProcess> {
    const mark = newMark();
    const before = processNumbers();
    const child = launch(command, cwd, { ...env, ...markEnvironment(mark) });
    const { promise: closed, resolve } = Promise.withResolvers<CommandExit>();
    const pipes = [[child.stdout, stdout] as const, [child.stderr, stderr] as const];
    for (const [stream, pipe] of pipes) stream.on("data", (chunk: Buffer) => pipe.write(chunk)).on("error", () => {});
    child.once("close", (code, signal) => {
      for (const [, pipe] of pipes) pipe.end();
      resolve({ code, signal });
    });
    const { pid } = child;
    if (pid === undefined) {
      const error = await new Promise<Error>((settle) => child.once("error", settle));
      throw new CommandUnstartable(sentenceFor(error, command.file, cwd), { cause: error });
    }
    child.on("error", () => {});
    return new CommandProcess(child, { pid, startedAt: startTimeOfChild(pid), mark }, closed, before);
  }

  /** TERM, then KILL, for the whole tree. Resolves when it is gone, or after a bounded wait stays. */
  async end(): Promise<CommandExit> {
    await this.#tree.end();
    const late = new AbortController();
    const exit = await Promise.race([this.closed, delay(DRAIN_MS, late.signal)]);
    late.abort();
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.destroy();
    return exit ?? { code: this.#child.exitCode, signal: this.#child.signalCode };
  }

  /** Ends the whole tree at once. */
  kill(): void {
    this.#tree.signal("SIGKILL");
  }
}

/** The command could not be started at all; the message is one sentence for a person. */
export class CommandUnstartable extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.name = "CommandUnstartable";
  }
}

/** Throws {@link CommandUnstartable} when there is no such program to be started. */
export function requireProgram(
  file: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): void {
  const found = file.includes("/") ? existsSync(resolve(cwd, file)) : findInPath(file, env, cwd) !== undefined;
  const error = Object.assign(new Error(`${file} was not found`), { code: "ENOENT" });
  if (!found) throw new CommandUnstartable(sentenceFor(error, file, cwd), { cause: error });
}

function launch({ file, args }: CommandLine, cwd: string, env: Readonly<Record<string, string>>): Child {
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    // Words that no process can be given, such as one with a NUL, or more of them than the system takes.
    throw new CommandUnstartable(sentenceFor(error, file, cwd), { cause: error });
  }
}

function sentenceFor(error: unknown, file: string, cwd: string): string {
  const what = `The command "${file}" cannot be started`;
  const code = systemCode(error);
  if (code === "ENOENT" && !existsSync(cwd)) return `${what}: the folder ${cwd} does not exist`;
  if (code === "ENOENT" && /\s/.test(file))
    return `${what}: there is no such program; a line for a shell is: sh -c "…"`;
  if (code === "ENOENT") return `${what}: there is no such program`;
  if (code === "EACCES") return `${what}: it is not executable`;
  if (code === "E2BIG") return `${what}: its arguments and its environment are too long`;
  return `${what} (${code || "unknown"})`;
}
