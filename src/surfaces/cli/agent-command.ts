/** A command that asks an agent something besides a prompt: starts it, and tells a failure as `ostler ask` does. */
import { resolve } from "node:path";
import type { Failure, Profile } from "../../errors/failure.ts";
import { EXIT, KINDS } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import { createHost } from "../../host/host.ts";
import type { Host, OpenRuntimeOptions, OpenedRuntime } from "../../host/host-options.ts";
import { UsageError } from "../../host/usage-error.ts";
import { renderCard } from "../shared/card.ts";
import { signalExitCode } from "../shared/exit-code.ts";
import { failureCard } from "../shared/failure-card.ts";
import type { CardWords } from "../shared/failure-card.ts";
import { failureFor } from "./boundary.ts";
import { readFolder } from "./find-session.ts";
import { harmlessJson } from "./harmless-json.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BatchedOutput } from "./output.ts";

/** Which agent, as its options say it. */
export interface AgentOptions {
  readonly backend?: string | undefined;
  readonly agent?: string | undefined;
  readonly profile?: Profile | undefined;
  readonly cwd?: string | undefined;
  readonly config?: string | undefined;
  readonly json: boolean;
}

/** What a command may use that starts an agent. */
export interface AgentRun {
  readonly host: Host;
  /** Absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Starts an agent; by the end of the command it is gone. */
  readonly start: (which: OpenRuntimeOptions) => Promise<OpenedRuntime>;
  /** A remark on stderr. */
  readonly say: (sentence: string) => void;
}

/** The agent that the options name, running. */
export interface RunningAgent extends OpenedRuntime, Pick<AgentRun, "cwd" | "signal"> {}

const MAX_NOTICE_CHARS = 1000;

/**
 * Prints what `use` returns, and returns the exit code; by then no agent is left. A failure is a card on stderr, or an
 * object with `failure` on stdout.
 * @throws UsageError for options that cannot be carried out.
 */
export async function withHost(
  options: Pick<AgentOptions, "cwd" | "config" | "json">,
  io: Io,
  use: (run: AgentRun) => Promise<readonly string[]>,
): Promise<number> {
  using interrupt = new Interrupt(io);
  const { signal } = interrupt;
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  const say = (sentence: string): void => stderr.write(`${cleanLine(sentence, MAX_NOTICE_CHARS)}\n`);
  const cwd = readFolder(options.cwd, io);
  const configFile = options.config === undefined ? {} : { configFile: resolve(io.cwd, options.config) };
  let opened: OpenedRuntime | undefined;
  try {
    await using host = await createHost({ env: io.env, cwd, signal, log: io.log.write, ...configFile });
    for (const warning of host.warnings) say(warning);
    const start = async (which: OpenRuntimeOptions): Promise<OpenedRuntime> => {
      opened = await host.openRuntime({ ...which, signal });
      const { runtime, notice } = opened;
      interrupt.kill = (bug) => runtime.kill(bug);
      if (notice !== undefined) say(notice);
      return opened;
    };
    for (const line of await use({ host, cwd, signal, start, say })) stdout.write(`${line}\n`);
    return EXIT.completed;
  } catch (error) {
    if (interrupt.received !== undefined) return signalExitCode(interrupt.received);
    if (!(error instanceof Error && "failure" in error)) throw error;
    const failure = failureFor(error);
    if (options.json) stdout.write(`${harmlessJson({ backend: opened?.backend ?? null, failure })}\n`);
    else for (const line of await cardLines(failure, opened, io)) stderr.write(`${line}\n`);
    return KINDS[failure.kind].exit;
  } finally {
    await Promise.all([stdout.finish(), stderr.finish()]);
  }
}

/** {@link withHost}, with the agent that the options name. */
export async function withAgent(
  options: AgentOptions,
  io: Io,
  use: (agent: RunningAgent) => Promise<readonly string[]>,
): Promise<number> {
  const { backend, agent, profile } = options;
  if (backend !== undefined && agent !== undefined)
    throw new UsageError("--backend and --agent both name an agent; give one of them");
  return withHost(options, io, async ({ start, cwd, signal }) =>
    use({ ...(await start({ backend, agent, profile, cwd })), cwd, signal }),
  );
}

async function cardLines(failure: Failure, opened: OpenedRuntime | undefined, io: Io): Promise<string[]> {
  const card = failureCard(failure, await wordsFor(opened, io));
  // The advice about a rejected request is to change the prompt, and there is none here.
  return renderCard(failure.kind === "request_rejected" ? { ...card, advice: [] } : card);
}

/** What the card may say of this agent. */
async function wordsFor(opened: OpenedRuntime | undefined, io: Io): Promise<CardWords> {
  if (opened === undefined) return {};
  const { loginAdvice } = await import("../../host/inspect-login.ts");
  const { backend } = opened.runtime;
  return { profile: backend.profile, loginHint: loginAdvice(opened.runtime, io) };
}
