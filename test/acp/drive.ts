/** Starts a scripted agent as a real child through `createRuntime`, prompts it, and keeps what came of it. */
import { existsSync, mkdtempSync, readFileSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenSessionOptions } from "../../src/acp/open-session.ts";
import type { Backend } from "../../src/acp/ports.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import type { RuntimeOptions } from "../../src/acp/runtime-options.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PromptOptions, TurnOutcome } from "../../src/acp/types.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { AcpError } from "../../src/errors/acp-error.ts";
import type { Failure, Profile } from "../../src/errors/failure.ts";
import { KINDS } from "../../src/errors/kinds.ts";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { agentCommand, processesIn, promptsIn, turns } from "../fixtures/agents/scenario.ts";

/** A backend of that profile, for an agent that is none of the known ones. */
export function habits(profile: Profile): Backend {
  return backendFor("scripted", { profile });
}

export interface StartOptions extends Partial<RuntimeOptions> {
  /** Shorthand for `backend`. */
  readonly profile?: Profile;
}

/** A running agent, and where it keeps its log. */
export interface Started extends AsyncDisposable {
  /** The folder of the process, and of its sessions. */
  readonly cwd: string;
  readonly runtime: Runtime;
  readonly log: string;
  /** What the failure sink was told, in order. */
  readonly sunk: readonly Failure[];
  open(options?: Partial<OpenSessionOptions>): Promise<Session>;
  /** Creates a file in the agent's folder, for `untilFile`. */
  touch(name: string): void;
  /** Waits until the agent's log fulfils a condition. */
  until(condition: () => boolean): Promise<void>;
}

/** Starts the agent; it is stopped when the scope that holds it ends. */
export async function start(scenario: Scenario, options: StartOptions = {}): Promise<Started> {
  const { profile = "generic", ...given } = options;
  const cwd = mkdtempSync(join(tmpdir(), "ostler-acp-"));
  const log = join(cwd, "agent.log");
  const sunk: Failure[] = [];
  const runtime = await createRuntime({
    backend: habits(profile),
    command: agentCommand(scenario),
    cwd,
    env: { PATH: process.env["PATH"] ?? "", AGENT_LOG: log },
    sink: (failure) => sunk.push(failure),
    ...given,
  });
  return {
    runtime,
    cwd,
    log,
    sunk,
    open: (open = {}) => runtime.openSession({ cwd, ...open }),
    touch: (name) => writeFileSync(join(cwd, name), ""),
    until: (condition) => untilLogged(log, condition),
    [Symbol.asyncDispose]: () => runtime.stop(),
  };
}

/** Waits for a condition on the log of agents, a file that exists: they write it as they go. */
export function untilLogged(log: string, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(log, look);
    function look(): void {
      if (!condition()) return;
      watcher.close();
      resolve();
    }
    look();
  });
}

/** One prompt from its first event to its outcome. */
export interface Played {
  readonly outcome: TurnOutcome;
  readonly events: readonly TurnEvent[];
}

/** Sends one prompt and reads everything. A backoff takes a millisecond unless `options` say otherwise. */
export async function play(session: Session, options: PromptOptions = {}, prompt = "hello"): Promise<Played> {
  const turn = session.prompt(prompt, { backoffMs: 1, ...options });
  const events: TurnEvent[] = [];
  for await (const event of turn.events) events.push(event);
  return { outcome: await turn.outcome, events };
}

/** What one prompt to a fresh agent came to. */
export interface Driven extends Played {
  /** `session/prompt` frames that reached the agent. */
  readonly prompts: number;
  readonly log: string;
  readonly sunk: readonly Failure[];
}

/** Starts an agent, sends one prompt in a new session, and stops the agent. */
export async function drive(
  scenario: Scenario,
  options: StartOptions & { readonly open?: Partial<OpenSessionOptions>; readonly prompt?: PromptOptions } = {},
): Promise<Driven> {
  const { open, prompt, ...given } = options;
  await using agent = await start(scenario, given);
  const played = await play(await agent.open(open), prompt);
  return { ...played, prompts: promptsIn(agent.log).length, log: agent.log, sunk: agent.sunk };
}

/** The failure of an outcome that has one. */
export function failureOf(outcome: TurnOutcome): Failure | undefined {
  return "failure" in outcome ? (outcome.failure ?? undefined) : undefined;
}

/** How many agents were started and how many prompts reached them. */
export function processAndPrompts(log: string): { readonly processes: number; readonly prompts: number } {
  return { processes: processesIn(log).length, prompts: promptsIn(log).length };
}

/** The exit code that the failure's kind stands for. */
export function exitOf(outcome: TurnOutcome): number | undefined {
  const failure = failureOf(outcome);
  return failure === undefined ? undefined : KINDS[failure.kind].exit;
}

/** What was rejected, as an `Error`; throws when nothing was. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("Nothing was rejected");
}

/** The failure record that an error of either family carries. */
export function recordOf(error: Error): Failure | undefined {
  return error instanceof AcpError || error instanceof AcpRuntimeError ? error.failure : undefined;
}

/** Whether a process runs. A zombie does not: a container may lack a reaper for it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/status`;
  return !existsSync(status) || !readFileSync(status, "utf8").includes("State:\tZ");
}

/** The texts of the events of one type that carry a `text`. */
export function textsOf(events: readonly TurnEvent[], type: "text" | "thought" | "notice"): readonly string[] {
  return events.flatMap((event) => (event.type === type ? [event.text] : []));
}

/** Frames in one write, so that the last has arrived before anybody can answer the first. */
export function inOneWrite(...actions: readonly Action[]): Action {
  const lines = actions.map((action) => ("send" in action ? JSON.stringify(action.send) : ""));
  return { raw: `${lines.join("\n")}\n` };
}

/** Plays each row's turn in a session of its own, all in one agent: quick, and a test can still look at its row alone. */
export async function playEach<Row extends { readonly from: string; readonly turn: readonly Action[] }>(
  rows: readonly Row[],
  options: StartOptions & { readonly prompt?: PromptOptions } = {},
): Promise<(row: Pick<Row, "from">) => Played> {
  const { prompt, ...given } = options;
  await using agent = await start(turns(...rows.map(({ turn }) => turn)), given);
  const played = new Map<string, Played>();
  for (const { from } of rows) played.set(from, await play(await agent.open(), { retries: 0, ...prompt }));
  return ({ from }) => {
    const found = played.get(from);
    if (found === undefined) throw new Error(`No row was played as "${from}"`);
    return found;
  };
}
