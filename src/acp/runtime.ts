/**
 * One child, one connection, many sessions: ready or dead, nothing in between.
 */
import type { Failure } from "../errors/failure.ts";
import { cleanBlock } from "../errors/redact.ts";
import { logAgent } from "./agent-log.ts";
import type { AgentSessionList, ListSessionsOptions } from "./agent-sessions.ts";
import type { AuthStatus } from "./auth-status.ts";
import { AgentChild, SpawnFailed } from "./child.ts";
import { Connection } from "./connection.ts";
import { RuntimeGone, startError } from "./death.ts";
import type { ForkSessionOptions } from "./fork-session.ts";
import type { Frame } from "./frames.ts";
import { Lifeline } from "./lifeline.ts";
import { makeFailure, plainVerdict } from "./make-failure.ts";
import { PROTOCOL_VERSION, initializeParams, readHandshake } from "./negotiate.ts";
import type { AgentCapabilities, Handshake } from "./negotiate.ts";
import { isObject } from "./frames.ts";
import type { OpenSessionOptions } from "./open-session.ts";
import type { Backend, CommandLine } from "./ports.ts";
import type { ResumeSessionOptions } from "./resume-session.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import { RuntimeSessions } from "./runtime-sessions.ts";
import type { Session } from "./session-link.ts";
import type { Runtime, RuntimeEnd } from "./runtime-link.ts";
import { toStartError } from "./start-error.ts";
import { requireAskingProcess } from "./tool-gate.ts";
import { VERSION } from "./version.ts";
import { tapProcess } from "./wire-tap.ts";

export type { Runtime, RuntimeEnd };

const DEFAULTS = { handshakeMs: 60_000, lineBytes: 64 * 1024 * 1024 };
/** A person signs in, maybe in a browser. */
const LOGIN_MS = 600_000;
const STDERR_SHOWN_CHARS = 4000;

/** Starts an agent and shakes hands. Throws an `AcpError` or `AcpRuntimeError` with `failure`; nothing is left running then. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  options.signal?.throwIfAborted();
  if (options.gate === "required") requireAskingProcess(options.backend, options.command.args);
  const runtime = new AcpRuntime(options, await spawn(options));
  const onAbort = (): void => runtime.kill();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  try {
    await runtime.initialize();
    return runtime;
  } catch (error) {
    await runtime.stop();
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}

async function spawn({ backend, command, cwd, env, ledger, approval = "reads" }: RuntimeOptions): Promise<AgentChild> {
  try {
    const { endGraceMs } = backend;
    return await AgentChild.spawn({ command, cwd, env: { ...env, ...backend.env(approval) }, ledger, endGraceMs });
  } catch (error) {
    if (!(error instanceof SpawnFailed)) throw error;
    throw startError(
      {
        verdict: plainVerdict("agent_spawn", `spawn-${error.code}`),
        source: "spawn",
        title: `${backend.label}: ${error.message}`,
      },
      error,
    );
  }
}

class AcpRuntime implements Runtime {
  readonly backend: Backend;
  readonly command: CommandLine;
  readonly pid: number;
  readonly #options: RuntimeOptions;
  readonly #child: AgentChild;
  readonly #connection: Connection;
  readonly #sessions: RuntimeSessions;
  /** The tap has heard the exit. */
  readonly #tapped: Promise<void> | undefined;
  readonly #end = Promise.withResolvers<RuntimeEnd>();
  readonly gone = this.#end.promise;
  #handshake = readHandshake(undefined);
  #ready = false;
  #gone: RuntimeGone | null = null;
  #stopRequested = false;

  constructor(options: RuntimeOptions, child: AgentChild) {
    this.#options = options;
    this.#child = child;
    this.backend = options.backend;
    this.command = options.command;
    this.pid = child.pid;
    const lineBytes = options.lineBytes ?? DEFAULTS.lineBytes;
    const life = new Lifeline({
      child,
      label: options.backend.label,
      profile: options.backend.profile,
      lineBytes,
      isReady: () => this.#ready,
      isOver: () => this.#stopRequested && !this.#connection.isWaiting,
      onGone: (gone) => this.#die(gone),
    });
    this.#connection = new Connection({
      stdin: child.stdin,
      stdout: child.stdout,
      lineBytes,
      onNotification: (method, params) => this.#guard(() => this.#sessions.notified(method, params)),
      onRequest: (id, method, params) => this.#guard(() => this.#requested(id, method, params)),
      onEnd: (reason) => void life.outputEnded(reason),
      onWriteFailed: () => void life.inputClosed(),
      ...(options.tap !== undefined && { tap: options.tap }),
      onFrame: options.onFrame,
    });
    this.#sessions = new RuntimeSessions(options, {
      child,
      connection: this.#connection,
      handshake: () => this.#handshake,
      isGone: () => this.#gone !== null,
      kill: () => this.kill(),
      stderrTail: () => this.stderrTail(),
    });
    const { log, backend, command, tap, processTap } = options;
    if (tap !== undefined || processTap !== undefined) {
      this.#tapped = tapProcess(child, (entry) => {
        tap?.(entry);
        processTap?.(entry);
      });
    }
    logAgent(log, { child, backend, command, isExpected: () => this.#stopRequested, counts: () => this.#counts() });
  }

  get state(): "ready" | "dead" {
    return this.#gone === null && !this.#stopRequested ? "ready" : "dead";
  }

  get sessionCount(): number {
    return this.#sessions.router.size;
  }

  get agent(): Handshake["agent"] {
    return this.#handshake.agent;
  }

  get authMethods(): Handshake["authMethods"] {
    return this.#handshake.authMethods;
  }

  get capabilities(): AgentCapabilities {
    return this.#handshake.capabilities;
  }

  get authStatus(): AuthStatus | undefined {
    return this.#sessions.authStatus;
  }

  get noiseLines(): number {
    return this.#connection.noiseLines;
  }

  async initialize(): Promise<void> {
    const deadlineMs = this.#options.timeouts?.handshakeMs ?? DEFAULTS.handshakeMs;
    let result: unknown;
    try {
      result = await this.#connection.request(
        "initialize",
        initializeParams(this.backend, VERSION, { questions: this.#options.questions !== undefined }),
        { deadlineMs },
      );
    } catch (error) {
      throw toStartError(error, this, "initialize");
    }
    this.#child.noteAnswer();
    const answer = isObject(result) ? result : {};
    const version = answer["protocolVersion"];
    if (version !== PROTOCOL_VERSION) {
      const said =
        typeof version === "number" || typeof version === "string" ? `ACP version ${version}` : "no ACP version";
      const title = `${this.backend.label} speaks ${said}, Ostler speaks ${PROTOCOL_VERSION}`;
      throw startError({ verdict: plainVerdict("protocol", "protocol-version"), source: "framing", title }, undefined);
    }
    this.#handshake = readHandshake(answer);
    this.#ready = true;
  }

  openSession(options: OpenSessionOptions): Promise<Session> {
    return this.#sessions.open(options);
  }

  resumeSession(options: ResumeSessionOptions): Promise<Session> {
    return this.#sessions.resume(options);
  }

  forkSession(options: ForkSessionOptions): Promise<Session> {
    return this.#sessions.fork(options);
  }

  async authenticate(methodId: string): Promise<void> {
    const deadlineMs = LOGIN_MS;
    try {
      await this.#connection.request("authenticate", { methodId }, { deadlineMs });
    } catch (error) {
      throw toStartError(error, this, "authenticate");
    }
  }

  listSessions(options: ListSessionsOptions = {}): Promise<AgentSessionList> {
    return this.#sessions.list(options);
  }

  stderrTail(): string {
    return cleanBlock(this.#child.stderrTail(), STDERR_SHOWN_CHARS, "end");
  }

  async stop(): Promise<void> {
    this.#stopRequested = true;
    await this.#child.stop();
    const end = this.#gone ?? this.#ended();
    this.#tellEnd(end);
    // The end of its output may be told a moment later.
    this.#connection.close(end);
    // A process that even KILL did not end has no exit to wait for.
    if (this.#child.exit !== null) await this.#tapped;
  }

  kill(bug?: Error): void {
    this.#stopRequested = true;
    this.#child.kill();
    // Whoever asks from now on is not kept waiting for the exit, and nothing more is sent.
    this.#connection.close(bug ?? this.#ended());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** A bug of ours ends this agent and what waits for it, not Ostler. */
  #guard(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#options.log?.("error", "agent.handler_failed", { pid: this.pid, error });
      this.kill(error instanceof Error ? error : new Error("A handler failed", { cause: error }));
    }
  }

  #requested(id: string | number, method: string, params: Frame): void {
    if (method === "initialize") {
      // Our own line came back: a program that echoes its input (case C12).
      this.#die(this.#notAcp());
      return;
    }
    this.#sessions.router.requested(this.#connection, id, method, params);
  }

  #counts(): Record<string, number> {
    const { unroutedFrames, retiredFrames } = this.#sessions.router;
    return { unroutedFrames, retiredFrames, strayFrames: this.#connection.strayFrames, noiseLines: this.noiseLines };
  }

  #ended(): RuntimeGone {
    const title = `${this.backend.label} was ended by Ostler`;
    return new RuntimeGone({ verdict: plainVerdict("agent_died", "ended"), source: "exit", title });
  }

  #notAcp(): RuntimeGone {
    const title = `${this.backend.label} did not speak ACP`;
    return new RuntimeGone({ verdict: plainVerdict("protocol", "echo"), source: "framing", title });
  }

  #die(gone: RuntimeGone): void {
    this.#gone ??= gone;
    // Before what waits for an answer hears of it: whoever asks for another agent then finds this end recorded.
    this.#tellEnd(gone);
    this.#connection.close(gone);
    // What the agent started may have outlived it.
    void this.#child.stop();
  }

  #tellEnd({ verdict, source, title, details }: RuntimeGone): void {
    const facts = { verdict, source, title, details };
    let failure: Failure | undefined;
    this.#end.resolve({
      // Only when somebody asks: the first scrubbing of a text costs as much as a handshake, and most ends are ours.
      get failure() {
        failure ??= makeFailure({ ...facts, id: "runtime:error", revision: 1, replaySafety: "unknown" });
        return failure;
      },
      expected: this.#stopRequested,
    });
  }
}
