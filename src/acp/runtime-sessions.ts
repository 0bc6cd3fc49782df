/** The sessions of one runtime: opened, reopened, closed, and given up when the agent ignores a cancel. */
import type { AgentChild } from "./child.ts";
import type { AgentSessionList, ListSessionsOptions } from "./agent-sessions.ts";
import { AUTH_STATUS_UPDATE, readAuthStatus } from "./auth-status.ts";
import type { AuthStatus } from "./auth-status.ts";
import type { Connection } from "./connection.ts";
import { startError } from "./death.ts";
import type { ForkSessionOptions } from "./fork-session.ts";
import type { Frame } from "./frames.ts";
import { plainVerdict } from "./make-failure.ts";
import type { Handshake } from "./negotiate.ts";
import { closeSession, setUpSession } from "./open-session.ts";
import type { OpenContext, OpenSessionOptions } from "./open-session.ts";
import type { FailureSink } from "./ports.ts";
import { setUpResumedSession } from "./resume-session.ts";
import type { ResumeSessionOptions } from "./resume-session.ts";
import type { Retired } from "./retired-sessions.ts";
import type { RuntimeOptions } from "./runtime-options.ts";
import { checkFolder } from "./runtime-binding.ts";
import { SessionRouter } from "./session-router.ts";
import type { OpeningIds } from "./session-router.ts";
import { AcpSession } from "./session.ts";
import type { Abandoned, Session, SessionLink, SessionSetup } from "./session-link.ts";

const DEFAULTS = { sessionMs: 90_000, permissionMs: 300_000 };

/** The rule of the failure when a session is opened twice in one process: its owner lives, and is this one. */
export const OPEN_HERE_RULE = "open-here";

/** The process that the sessions live in. */
export interface SessionsProcess {
  readonly child: AgentChild;
  readonly connection: Connection;
  readonly handshake: () => Handshake;
  readonly isGone: () => boolean;
  readonly kill: () => void;
  readonly stderrTail: () => string;
}

export class RuntimeSessions {
  readonly router: SessionRouter;
  /** As the agent last said. */
  authStatus: AuthStatus | undefined;
  readonly #options: RuntimeOptions;
  readonly #process: SessionsProcess;

  constructor(options: RuntimeOptions, process: SessionsProcess) {
    this.#options = options;
    this.#process = process;
    const { backend, log, questions } = options;
    this.router = new SessionRouter({ backend, log, takesQuestions: questions !== undefined });
  }

  /** A notification of the agent, of a session or of none. */
  notified(method: string, params: Frame): void {
    if (method === AUTH_STATUS_UPDATE) this.authStatus = readAuthStatus(params) ?? this.authStatus;
    else this.router.notified(method, params);
  }

  open(options: OpenSessionOptions): Promise<Session> {
    return this.#open(options, (context) => setUpSession(options, context));
  }

  async resume(options: ResumeSessionOptions): Promise<Session> {
    const { sessionId } = options;
    const taken = this.router.takenBy(sessionId);
    if (taken !== undefined) {
      const title = `Session ${sessionId} is in use in this process of ${this.#options.backend.label}`;
      const rule = taken === "open" ? OPEN_HERE_RULE : "given-up-here";
      throw startError({ verdict: plainVerdict("busy", rule), source: "rpc_error", title }, undefined);
    }
    return this.#open(options, (context, { watch }) => setUpResumedSession(options, context, watch));
  }

  async fork(options: ForkSessionOptions): Promise<Session> {
    // Hardly ever needed, and it hashes.
    const { setUpForkedSession } = await import("./fork-session.ts");
    return this.#open(options, (context) => setUpForkedSession(options, context));
  }

  async list(options: ListSessionsOptions): Promise<AgentSessionList> {
    const { listAgentSessions } = await import("./agent-sessions.ts");
    return listAgentSessions(options, this.#context());
  }

  async #open(
    options: OpenSessionOptions,
    setUp: (context: OpenContext, ids: OpeningIds) => Promise<SessionSetup>,
  ): Promise<Session> {
    const { backend, cwd } = this.#options;
    checkFolder(backend.label, cwd, options.cwd);
    return this.router.opening(
      async (ids) => new AcpSession(this.#link(options), await setUp({ ...this.#context(), claim: ids.claim }, ids)),
    );
  }

  #context(): Omit<OpenContext, "claim"> {
    const { backend, approval = "reads", timeouts, gate, env } = this.#options;
    const { connection } = this.#process;
    const { authMethods, capabilities } = this.#process.handshake();
    const methods = authMethods.map(({ id }) => id);
    const login = backend.loginFromEnv(env, methods);
    const sessionMs = timeouts?.sessionMs ?? DEFAULTS.sessionMs;
    return { backend, connection, capabilities, env, approval, gate, sessionMs, login };
  }

  #link(options: OpenSessionOptions): SessionLink {
    const { backend, timeouts, permissions, questions, log } = this.#options;
    const { child, connection, stderrTail } = this.#process;
    const { agent, capabilities } = this.#process.handshake();
    return {
      backend,
      agent: agent === null ? undefined : `${agent.name} ${agent.version}`.trim(),
      connection,
      capabilities,
      permissions: options.permissions ?? permissions,
      questions: options.questions ?? questions,
      permissionMs: timeouts?.permissionMs ?? DEFAULTS.permissionMs,
      turnTimeouts: timeouts?.turn ?? {},
      sink: this.#safe(options.sink ?? this.#options.sink),
      log,
      onEvent: options.onEvent,
      setPaused: (paused) => (paused ? child.stdout.pause() : child.stdout.resume()),
      abandon: (session) => this.#abandon(session),
      isAlone: () => this.router.size <= 1,
      processes: () => child.processes(),
      close: (session) => this.#close(session),
      stderrTail,
    };
  }

  /** A sink that breaks its promise not to throw must not keep a turn from ending. */
  #safe(sink: FailureSink | undefined): FailureSink | undefined {
    if (sink === undefined) return undefined;
    return (failure, context) => {
      try {
        sink(failure, context);
      } catch (error) {
        this.#options.log?.("error", "failure_sink.failed", { ...context, error });
      }
    };
  }

  /** The harness does not answer a cancel: end its tree, unless another session lives there. */
  async #abandon(session: AcpSession): Promise<Abandoned> {
    this.#retire(session, "given_up");
    if (!this.router.isEmpty && !this.#process.isGone()) {
      // Some agents end a turn with its session although they ignored the cancel.
      void closeSession(session.id, this.#context());
      return "retired";
    }
    // What its next prompt lacks is a process: that is mended by another one, not by a new conversation.
    session.retired = false;
    this.#process.kill();
    return (await this.#process.child.stop()) ? "ended" : "left";
  }

  #close(session: AcpSession): Promise<void> {
    this.#retire(session, "closed");
    return closeSession(session.id, this.#context());
  }

  #retire(session: AcpSession, how: Retired): void {
    session.retired = true;
    session.desk.close();
    this.router.retire(session, how);
  }
}
