/**
 * Commands that a harness leaves running when their turn is cancelled (recording codex-acp 2.6.0 cancel-mid-command):
 * found among the agent's processes, given a moment, ended, and said. Ends nothing that it cannot tell from the
 * harness's own helpers or from the work of another session; then it says that something may still run.
 */
import { basename } from "node:path";
import { cleanLine } from "../errors/redact.ts";
import type { OpenCommand } from "./open-commands.ts";
import { delay } from "./abort.ts";
import { describeProcess, isAlive, signalProcess, wasBornSince } from "./processes.ts";
import type { ProcessFacts, ProcessIdentity } from "./processes.ts";

export interface LeftoverOptions {
  readonly commands: readonly OpenCommand[];
  /** The agent and what it has started and is still alive. */
  readonly processes: () => readonly ProcessIdentity[];
  /** No other session lives in the agent, so that whatever is young is of these commands. */
  readonly isAlone: boolean;
  /** Fires when nobody wants to wait: TERM and KILL follow at once. */
  readonly hurry: AbortSignal;
}

/** Each step of the end: by itself, TERM, KILL. */
const STEP_MS = 1000;
/** Nobody waits, but codex's sandbox takes its mount points out of the workspace when it is told to end. */
const HURRIED_STEP_MS = 200;
const POLL_MS = 20;
const MAX_NAME_CHARS = 100;
const MAX_NAMES = 5;

/** Ends what these commands left. Returns what a person should know, in sentences: none when nothing was left. */
export async function endLeftovers(options: LeftoverOptions): Promise<readonly string[]> {
  await areGone(() => find(options).all, options.hurry);
  const { own, unclear } = find(options);
  const ended = new Map(own.map((process) => [process.pid, process]));
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const process of find(options).own) ended.set(process.pid, process);
    for (const process of ended.values()) signalProcess(process, signal);
    if (await areGone(() => [...ended.values()], signal === "SIGKILL" ? undefined : options.hurry)) break;
  }
  const left = [...ended.values()].filter(isAlive);
  return [
    ...sentence("A command went on after the cancel and was ended", left.length === 0 ? own : []),
    ...sentence("A command goes on after the cancel and could not be ended", left),
    ...sentence("Something goes on after the cancel that may be a command of this turn", unclear.filter(isAlive)),
  ];
}

function find({ commands, processes, isAlone }: LeftoverOptions): {
  readonly own: readonly ProcessFacts[];
  readonly unclear: readonly ProcessFacts[];
  readonly all: readonly ProcessFacts[];
} {
  const since = Math.min(...commands.map(({ startedAt }) => startedAt));
  const seen = processes().flatMap((identity) => describeProcess(identity) ?? []);
  const all = seen.filter((process) => wasBornSince(process, since));
  const helpers = new Set(seen.filter((process) => !all.includes(process)).map(({ program }) => program));
  const own = new Set(all.filter((process) => commands.some(({ command }) => runs(process, command))));
  // A program that the agent ran before the command is one of its helpers until its arguments say otherwise.
  if (isAlone) for (const process of all) if (!helpers.has(process.program)) own.add(process);
  for (let size = -1; size !== own.size;) {
    size = own.size;
    const pids = new Set([...own].map(({ pid }) => pid));
    for (const process of all) if (pids.has(process.parentPid)) own.add(process);
  }
  return { own: [...own], unclear: all.filter((process) => !own.has(process)), all };
}

function runs({ commandLine }: ProcessFacts, command: string | undefined): boolean {
  return command !== undefined && commandLine.includes(command);
}

/** Waits for a moment; true as soon as none of them is alive. */
async function areGone(look: () => readonly ProcessIdentity[], hurry: AbortSignal | undefined): Promise<boolean> {
  const since = performance.now();
  while (look().some(isAlive)) {
    if (performance.now() - since >= (hurry?.aborted === true ? HURRIED_STEP_MS : STEP_MS)) return false;
    await delay(POLL_MS);
  }
  return true;
}

function sentence(what: string, processes: readonly ProcessFacts[]): readonly string[] {
  if (processes.length === 0) return [];
  const names = [...new Set(processes.map(({ program }) => cleanLine(basename(program), MAX_NAME_CHARS)))];
  return [`${what}: ${names.slice(0, MAX_NAMES).join(", ")}`];
}
