/** A session as its user sees it, and what it is made of. Types only. */
import type { GoalRequest } from "./air/goal.ts";
import type { Connection } from "./connection.ts";
import type { AsyncTask, Goal } from "./events.ts";
import type { AgentCapabilities } from "./negotiate.ts";
import type { AdvertisedModes, Backend, FailureSink, LogSink, PermissionPolicy } from "./ports.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { AskQuestion } from "./questions.ts";
import type { AcpSession } from "./session.ts";
import type { SessionListener } from "./session-feed.ts";
import type { GoalAnswer, GoalOptions } from "./session-goal.ts";
import type { SteerOptions, SteerResult } from "./session-steering.ts";
import type { StopTaskAnswer, StopTaskOptions } from "./session-tasks.ts";
import type { SessionInfo, SessionOffers } from "./session-info.ts";
import type { PromptBlock, PromptOptions, Turn, TurnTimeouts } from "./types.ts";

/** A conversation with the agent, bound to one runtime. */
export interface Session {
  readonly id: string;
  /** Sentences for the person, told once: what could not be set as asked. */
  readonly notes: readonly string[];
  /** As they are now. */
  readonly modes: AdvertisedModes | undefined;
  /** Model ids that this account may use; empty = not known. */
  readonly models: readonly string[];
  /** What may be chosen here with its names and recommendations, and what is set now. */
  readonly offers: SessionOffers;
  /** Sends a prompt. The outcome always settles; a second prompt while one runs throws `AcpPromptBusy`. */
  prompt(prompt: string | readonly PromptBlock[], options?: PromptOptions): Turn;
  /** The newest snapshot of the goal; null = there is none, undefined = the agent has not said. */
  readonly goal: Goal | null | undefined;
  /**
   * Sets, pauses, resumes or clears the goal, as far as the agent takes that; a running prompt and a cancelled one leave it
   * as it is. What the agent does for it is told with `turnId: null`, and its permission questions are asked. Throws an
   * `AcpError` whose sentence says what the agent can do, and the typed error of its refusal or death.
   */
  setGoal(request: GoalRequest, options?: GoalOptions): Promise<GoalAnswer>;
  /**
   * Gives a person's words to the work that runs. Where nothing runs they are sent as a prompt, unless `whenIdle` is
   * `return`. Throws an `AcpError` of kind `request_rejected` when the agent takes no steering.
   */
  steer(prompt: string | readonly PromptBlock[], options?: SteerOptions): Promise<SteerResult>;
  /** Stops work that no prompt started, as a turn is stopped; the second call does not wait for the agent. The goal stays. */
  stopWork(): Promise<void>;
  /** The session was closed, or given up because its agent ignored a cancel: prompts fail from now on. */
  readonly retired: boolean;
  /** Frames that repeated earlier turns: of a `session/load`, or marked as such by the agent. Never shown. */
  readonly replayedFrames: number;
  /** Background work that goes on, also of subagents; empty when its process is gone. */
  readonly tasks: readonly AsyncTask[];
  /** Asks the agent to stop background work. Bounded, never throws. */
  stopTask(taskId: string, options?: StopTaskOptions): Promise<StopTaskAnswer>;
  /** Hears everything the session tells from now on, in turns and between them. Returns the function that ends it. */
  subscribe(listener: SessionListener): () => void;
  /** Cancels what runs and ends the session in the agent where that has a request for it; its record stays. Bounded, never throws. */
  close(): Promise<void>;
}

/**
 * What became of a session whose agent was given up: nothing of its tree is left, something of it could not be ended, or
 * the process lives on for other sessions and this one is retired.
 */
export type Abandoned = "ended" | "left" | "retired";

/** What a session needs of its runtime. */
export interface SessionLink {
  readonly backend: Backend;
  readonly agent: string | undefined;
  readonly connection: Connection;
  readonly permissions: PermissionPolicy | undefined;
  /** Asks a person; undefined = nobody is here. */
  readonly questions: AskQuestion | undefined;
  /** How long a question waits for its answer, of either kind. */
  readonly permissionMs: number;
  readonly turnTimeouts: Partial<TurnTimeouts>;
  /** What the agent takes in a prompt. */
  readonly capabilities: AgentCapabilities;
  readonly sink: FailureSink | undefined;
  readonly log: LogSink | undefined;
  readonly onEvent: SessionListener | undefined;
  /** Stops and starts reading the child's stdout. */
  readonly setPaused: (paused: boolean) => void;
  /** The harness ignored a cancel, or died of it: end its tree if nobody else lives there. Resolves when that is done; never rejects. */
  readonly abandon: (session: AcpSession) => Promise<Abandoned>;
  /** No other session lives in the process. */
  readonly isAlone: () => boolean;
  /** The agent itself, and what it has started and is still alive. */
  readonly processes: () => readonly ProcessIdentity[];
  /** Ends the session in the agent, and what it still says is dropped from now on. */
  readonly close: (session: AcpSession) => Promise<void>;
  /** Redacted end of stderr. */
  readonly stderrTail: () => string;
}

export interface SessionSetup {
  readonly id: string;
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly model: string | undefined;
  /** What it offers, as the agent last told before the session was handed out. */
  readonly info: SessionInfo;
  readonly replayedFrames?: number;
  /** The goal that it had when it was reopened; undefined = the agent has not said. */
  readonly goal?: Goal | null | undefined;
}
