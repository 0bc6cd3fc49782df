/** A running agent as its user sees it. Types only. */
import type { Failure } from "../errors/failure.ts";
import type { AgentSessionList, ListSessionsOptions } from "./agent-sessions.ts";
import type { AuthStatus } from "./auth-status.ts";
import type { ForkSessionOptions } from "./fork-session.ts";
import type { AgentCapabilities, AuthMethod } from "./negotiate.ts";
import type { OpenSessionOptions } from "./open-session.ts";
import type { Backend, CommandLine } from "./ports.ts";
import type { ResumeSessionOptions } from "./resume-session.ts";
import type { Session } from "./session-link.ts";

/** Why an agent is gone; `expected` when Ostler ended it. */
export interface RuntimeEnd {
  readonly failure: Failure;
  readonly expected: boolean;
}

/** A running agent. Restarting is not its business. */
export interface Runtime extends AsyncDisposable {
  readonly backend: Backend;
  /** What was started. */
  readonly command: CommandLine;
  readonly state: "ready" | "dead";
  readonly pid: number;
  readonly agent: { readonly name: string; readonly version: string } | null;
  /** The logins that it offers. */
  readonly authMethods: readonly AuthMethod[];
  /** Who is signed in, as the agent last said; claude and codex say it before a session is open. */
  readonly authStatus: AuthStatus | undefined;
  /** What the agent said that it can do. */
  readonly capabilities: AgentCapabilities;
  /** Sessions that are open here. */
  readonly sessionCount: number;
  /** Lines on stdout that were no frames. */
  readonly noiseLines: number;
  /** Resolves once, when the agent is gone, with why. */
  readonly gone: Promise<RuntimeEnd>;
  /**
   * Throws an `AcpError` or `AcpRuntimeError` with `failure`; an `AcpWorkspaceBindingError` for another folder than the one
   * that this agent was started for.
   */
  openSession(options: OpenSessionOptions): Promise<Session>;
  /**
   * Gets back to a session of an earlier process. Throws as `openSession` does; the kind says what to try next:
   * `session_not_found`, `busy`, `timeout`, `agent_died`. What the agent repeats of earlier turns is counted and not shown.
   */
  resumeSession(options: ResumeSessionOptions): Promise<Session>;
  /**
   * Opens a session that begins with the history of another one, whole or up to a message. Throws as `openSession`; kind
   * `request_rejected` where the agent cannot fork or does not find the message.
   */
  forkSession(options: ForkSessionOptions): Promise<Session>;
  /** Has the agent sign in by one of its methods; a browser may open. Throws the typed error of the agent. */
  authenticate(methodId: string): Promise<void>;
  /** The sessions that the agent keeps. Throws kind `request_rejected` where it cannot list them. */
  listSessions(options?: ListSessionsOptions): Promise<AgentSessionList>;
  /** The redacted end of stderr. */
  stderrTail(): string;
  /** End of stdin, TERM, KILL, each with a bounded wait. Idempotent. */
  stop(): Promise<void>;
  /** Ends the tree at once. With a `bug`, an error of Ostler's own, running turns end as failed for that. */
  kill(bug?: Error): void;
}
