/** Starts an agent for real and opens a session, without a prompt: the smoke test of `ostler doctor`. */
import type { AuthStatus } from "../acp/auth-status.ts";
import { startError } from "../acp/death.ts";
import { plainVerdict } from "../acp/make-failure.ts";
import type { WireEntry } from "../acp/ports.ts";
import type { Runtime } from "../acp/runtime.ts";
import { AcpError } from "../errors/acp-error.ts";
import type { Failure, FailureKind } from "../errors/failure.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { adviceFor } from "../errors/wording.ts";
import type { LoadedConfig } from "./config.ts";
import { fine, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { createHost } from "./host.ts";

/** What became of one start. */
export interface StartReport {
  readonly opened: boolean;
  /** Why not. */
  readonly problem?: string;
  readonly failure?: Failure;
  /** The end of stderr, scrubbed. */
  readonly said: string;
  /** The last `_auth/status_update` (claude-agent-acp and codex-acp send one before the session is open). */
  readonly authStatus?: AuthStatus;
  /** The logins that the agent offers. */
  readonly authMethods: readonly string[];
}

const DEFAULT_TIMEOUT_S = 20;
const MAX_SENTENCE_CHARS = 400;
const MAX_SAID_CHARS = 2000;
const MAX_STDERR_LINES = 40;

/**
 * Starts the backend, opens a session and ends everything again. The handshake and the session get `timeoutS` together
 * (default: 20, and each no more than is configured). Rejects with the reason of the signal when that aborts.
 */
export async function startOnce(
  backend: string,
  options: {
    readonly loaded: LoadedConfig;
    readonly env: NodeJS.ProcessEnv;
    readonly cwd: string;
    /** Of the agent, for sentences. */
    readonly label: string;
    readonly timeoutS?: number;
    readonly signal?: AbortSignal;
  },
): Promise<StartReport> {
  const { loaded, env, cwd, label, signal } = options;
  const { timeouts } = loaded.config;
  const limitS = options.timeoutS ?? DEFAULT_TIMEOUT_S;
  const seconds = (configured: number): number => options.timeoutS ?? Math.min(configured, limitS);
  const bounded = { ...timeouts, handshakeS: seconds(timeouts.handshakeS), sessionS: seconds(timeouts.sessionS) };
  const config = { ...loaded.config, timeouts: bounded };
  const host = await createHost({ loaded: { ...loaded, config }, env, cwd, countsCrashes: false });
  const heard = new Heard();
  const overall = AbortSignal.timeout(limitS * 1000);
  const either = AbortSignal.any([overall, ...(signal === undefined ? [] : [signal])]);
  let runtime: Runtime | undefined;
  const report = (): Pick<StartReport, "said" | "authStatus" | "authMethods"> => ({
    said: heard.said(),
    authMethods: runtime?.authMethods.map(({ id }) => id) ?? [],
    ...(runtime?.authStatus !== undefined && { authStatus: runtime.authStatus }),
  });
  try {
    const opened = await host.openRuntime({
      backend,
      signal: either,
      tap: (entry) => heard.hear(entry),
    });
    runtime = opened.runtime;
    const { model, mode } = opened.settings;
    const wishes = { ...(model !== undefined && { model }), ...(mode !== undefined && { mode }) };
    await runtime.openSession({ cwd, ...wishes, signal: either });
    return { opened: true, ...report() };
  } catch (thrown) {
    signal?.throwIfAborted();
    const error = overall.aborted ? lateError(label, { isReady: runtime !== undefined, limitS }, thrown) : thrown;
    return { opened: false, problem: sentenceOf(error), ...failureOf(error), ...report() };
  } finally {
    await host.close();
  }
}

/** The start as a finding; nothing where another check tells it (a missing login, the gate). */
export function inspectStart(
  start: StartReport,
  facts: {
    readonly name: string;
    readonly isConfigured: boolean;
    readonly isParked: boolean;
    readonly where: (key: string) => string;
    readonly command: readonly string[];
    /** See `loginCommand`. */
    readonly loginFix: string;
    readonly env: NodeJS.ProcessEnv;
  },
): Finding[] {
  if (start.opened) {
    const then = facts.isParked ? ", so it can be resumed" : "";
    return [fine("start", `starts and opens a session${then}`)];
  }
  const { failure, said, problem = "" } = start;
  if (failure?.kind === "auth") return [];
  const check = failure?.kind === "gate" ? "gate" : "start";
  return [
    {
      ...wrong(check, problem, startFix(failure, facts)),
      ...(said !== "" && { said }),
      ...(failure !== undefined && { failure }),
    },
  ];
}

function startFix(failure: Failure | undefined, facts: Parameters<typeof inspectStart>[1]): string {
  const { name, isConfigured, where, command, loginFix, env } = facts;
  const kind: FailureKind | undefined = failure?.kind;
  if (failure === undefined || failure.source === "timeout") {
    return isConfigured
      ? `Check ${where("command")}: it must start a program that speaks ACP on its stdin and stdout`
      : `ostler doctor -b ${name} --smoke --timeout 120`;
  }
  if (kind === "model_unavailable") return `Correct or remove ${where("model")}`;
  if (kind === "configuration" && failure.rule === "mode-unknown") return `Correct or remove ${where("mode")}`;
  if (kind === "gate") return `Set ${where("mode")} to one that asks, or remove "gate"`;
  // Codex says so of an auth.json that it cannot use (2.6.0).
  if (kind === "agent_spawn" && failure.source === "rpc_error")
    return `Check its settings, or sign in again: ${loginFix}`;
  if (kind === "agent_spawn" || kind === "agent_died") {
    return isConfigured
      ? `Check ${where("command")}: ${shellLine(command, env)}`
      : `Start it by hand to see more: ${shellLine(command, env)}`;
  }
  if (kind === "protocol" && isConfigured) {
    return `Check ${where("command")}: it must start a program that speaks ACP on its stdin and stdout`;
  }
  return adviceFor(failure) ?? `Start it by hand to see more: ${shellLine(command, env)}`;
}

/** What the agent said besides answers. */
class Heard {
  readonly #lines: string[] = [];

  hear(entry: WireEntry): void {
    if (entry.dir !== "stderr") return;
    this.#lines.push(entry.line);
    if (this.#lines.length > MAX_STDERR_LINES) this.#lines.shift();
  }

  said(): string {
    return cleanBlock(this.#lines.join("\n"), MAX_SAID_CHARS, "end");
  }
}

/** The kinds are those of a deadline of the handshake or of the session alone. */
function lateError(
  label: string,
  { isReady, limitS }: { readonly isReady: boolean; readonly limitS: number },
  cause: unknown,
): Error {
  const title = `${label} ${isReady ? "opened no session" : "did not speak ACP"} within ${limitS} s`;
  const verdict = plainVerdict(isReady ? "timeout" : "protocol", "request-deadline");
  return startError({ verdict, source: "timeout", title }, cause);
}

function sentenceOf(error: unknown): string {
  return cleanLine(error instanceof Error ? error.message : String(error), MAX_SENTENCE_CHARS);
}

function failureOf(error: unknown): { failure?: Failure } {
  if (!(error instanceof AcpError || error instanceof AcpRuntimeError)) return {};
  return error.failure === undefined ? {} : { failure: error.failure };
}
