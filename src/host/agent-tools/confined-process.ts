/** One command of an agent under confinement: started, bounded, and ended with everything that it started. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { delay } from "../../acp/abort.ts";
import type { CommandLine } from "../../acp/ports.ts";
import { descendantsOf, signalGroup, signalProcess } from "../../acp/processes.ts";
import { systemCode } from "../../errors/system-code.ts";
import { KeptOutput } from "./kept-output.ts";

/** Between TERM and KILL. */
const TERM_GRACE_MS = 2000;
/** What was written before the end arrives at once. */
const DRAIN_MS = 1000;
const BASH = "/bin/bash";

export interface ConfinedRun {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly confine: (command: CommandLine) => CommandLine;
  readonly timeoutMs: number;
  /** Ends the command early. */
  readonly signal: AbortSignal;
}

/** How it ended. `problem`: it could not be started, and why. */
export interface ConfinedEnd {
  /** As the shell gave it; a command that a signal ended inside gives 128 and the number of the signal. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly cancelled: boolean;
  readonly problem?: string;
  readonly durationMs: number;
  /** Both streams, in the order in which they were written. */
  readonly output: string;
}

const NOT_STARTED = { exitCode: null, signal: null, timedOut: false, cancelled: false, durationMs: 0, output: "" };

/** Resolves when nothing of it is left. Never rejects. */
export async function runConfined(run: ConfinedRun): Promise<ConfinedEnd> {
  const { timeoutMs, signal } = run;
  const startedAt = performance.now();
  const output = new KeptOutput();
  const child = start(run);
  if (typeof child === "string") return { ...NOT_STARTED, problem: child };
  child.stdout.on("data", (chunk: Buffer) => output.add(chunk));
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(0, 1000)));
  const { promise: exited, resolve } = Promise.withResolvers<Pick<ConfinedEnd, "exitCode" | "signal" | "problem">>();
  child.once("error", (error) => resolve({ exitCode: null, signal: null, problem: reasonOf(error) }));
  child.once("exit", (exitCode, by) => resolve({ exitCode, signal: by }));
  const closed = new Promise((done) => void child.once("close", done));
  const reason = await waitForEnd(exited, timeoutMs, signal);
  if (reason !== undefined) await endTree(child.pid, exited);
  const end = await exited;
  await within(DRAIN_MS, closed);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  const problem =
    end.problem ?? (complaint.startsWith("bwrap: ") ? complaint.slice("bwrap: ".length).trim() : undefined);
  return {
    exitCode: problem === undefined ? end.exitCode : null,
    signal: end.signal,
    timedOut: reason === "timedOut",
    cancelled: reason === "cancelled",
    ...(problem !== undefined && { problem }),
    durationMs: Math.round(performance.now() - startedAt),
    output: output.text(),
  };
}

/** One pipe for both streams keeps their order. A string says why there is no process. */
function start({ command, cwd, env, confine }: ConfinedRun): ChildProcessByStdio<null, Readable, Readable> | string {
  const shell = existsSync(BASH) ? BASH : "/bin/sh";
  const { file, args } = confine({ file: "/bin/sh", args: ["-c", 'exec "$0" -c "$1" 2>&1', shell, command] });
  try {
    return spawn(file, args, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  return systemCode(error) || "it was not started";
}

/** Why it has to be ended; undefined when it ended by itself. */
async function waitForEnd(
  exited: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<"timedOut" | "cancelled" | undefined> {
  const isOver = await within(timeoutMs, exited, signal);
  if (isOver) return undefined;
  return signal.aborted ? "cancelled" : "timedOut";
}

/** The processes inside are asked first: bubblewrap itself, told to end, ends them without a word. */
async function endTree(pid: number | undefined, exited: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  for (const process of descendantsOf(pid)) signalProcess(process, "SIGTERM");
  await within(TERM_GRACE_MS, exited);
  signalGroup(pid, "SIGKILL");
}

/** Whether it settled in this time, and before the signal aborted. */
async function within(ms: number, promise: Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const wait = delay(ms, signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
  const isOver = await Promise.race([promise.then(() => true), wait.then(() => false)]);
  over.abort();
  return isOver;
}
