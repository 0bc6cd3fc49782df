/** What a host is asked for and what it gives. Types only. */
import type { Approval, FailureSink, LogSink, WireTap } from "../acp/ports.ts";
import type { AskQuestion } from "../acp/questions.ts";
import type { Runtime } from "../acp/runtime.ts";
import type { Session } from "../acp/session-link.ts";
import type { Supervisor } from "../acp/supervisor.ts";
import type { NotificationSink } from "../failures/notification.ts";
import type { AgentWish, SelectedAgent } from "./agent-selection.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import type { LoadedConfig } from "./config.ts";
import type { Conversation } from "./conversation.ts";
import type { FlightRecorder } from "./flight-recorder.ts";
import type { Paths } from "./paths.ts";
import type { AskPerson } from "./permissions.ts";
import type { PolicyRules } from "./policy-rules.ts";
import type { StoredConversation } from "./stored-conversation.ts";

/** Where the configuration and the environment come from. */
export interface HostOptions {
  /** Default: this process's. One snapshot serves the look-up of programs and the agents alike. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: this process's. Project files are looked for from here upward. */
  readonly cwd?: string;
  /** `--config`. */
  readonly configFile?: string;
  /** Gives up reading `configFile`, which may be a pipe. */
  readonly signal?: AbortSignal;
  /** Instead of reading files. */
  readonly loaded?: LoadedConfig;
  /** `serve` passes an allow-list of variables, `ask` (default) the user's own environment. */
  readonly surface?: "ask" | "serve";
  /** Told what happens in this host and in its agents. */
  readonly log?: LogSink;
  /** Keeps the last frames of every agent, for a crash report. */
  readonly recorder?: FlightRecorder;
  /** Crashes are written down, and agents that crash too often are not started. Default true; a trial start says false. */
  readonly countsCrashes?: boolean;
}

/** Which agent to start, and what it may do. */
export interface OpenRuntimeOptions extends AgentWish {
  /** Default: the host's. */
  readonly cwd?: string | undefined;
  /** Default: the configuration's. */
  readonly approve?: Approval | undefined;
  /** Rules of a policy file, in place of `approve`. */
  readonly rules?: PolicyRules | undefined;
  /** Folders besides `cwd` in which reading is approved. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Asks a person about what is not approved by itself. */
  readonly ask?: AskPerson | undefined;
  /** Asks a person what the agent wants to know. None: questions are not declared. */
  readonly askQuestion?: AskQuestion | undefined;
  readonly sink?: FailureSink | undefined;
  /** Hears the wire, see `openTrace`. */
  readonly tap?: WireTap | undefined;
  /** Logins may be run in a terminal: the agent is told, and offers them. */
  readonly takesLogins?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How the run of a conversation is kept, and who is told of it. */
export interface RunWishes {
  /** Keep it from the start, as a stored conversation does. Default: once something of it fails. */
  readonly kept?:
    | {
        readonly conversationId: string;
        /** The run so far; one that is gone is begun anew. */
        readonly runId: string | undefined;
        readonly onRun: (runId: string) => void;
      }
    | undefined;
  /** Takes its notifications. None: nobody is told, and what failed stays undelivered. */
  readonly sink?: NotificationSink | undefined;
  /** False: no notifications, see `meta.json`. Default true. */
  readonly callback?: boolean | undefined;
}

/** Which conversation to open, and with what. */
export interface OpenConversationOptions extends OpenRuntimeOptions {
  /** The session to get back to; absent = a new one. */
  readonly sessionId?: string | undefined;
  /** Default: the backend's settings. */
  readonly model?: string | undefined;
  /** Default: the backend's settings, else one that asks. */
  readonly mode?: string | undefined;
  readonly configOptions?: Readonly<Record<string, string>> | undefined;
  readonly mcpServers?: readonly unknown[] | undefined;
  /** Tries after the first, for all prompts together until one lands. Default: the configuration's. */
  readonly retries?: number | undefined;
  /** Told when the conversation is bound to another session than before; `contextLost` says why, where it was. */
  readonly onBound?: ((sessionId: string, contextLost: string | undefined) => void) | undefined;
  /** Told of each session that it is bound to, and of the agent that the session lives in. */
  readonly onSession?: ((session: Session, runtime: Runtime) => void) | undefined;
  /**
   * Observe what fails in it, and keep it. The agent is then its own; without it conversations may share one, and their
   * failures are in their outcomes alone.
   */
  readonly run?: RunWishes | undefined;
  /** Start the agent under bubblewrap. Default: the configuration's. */
  readonly confined?: boolean | undefined;
  /** Sentences that the first turn tells the person. */
  readonly notes?: readonly string[] | undefined;
  /** Told which backend it is, before anything is started. */
  readonly onSelected?: ((backend: string) => void) | undefined;
  /** Told of the agent, and of each that takes its place. */
  readonly onRuntime?: ((runtime: Runtime) => void) | undefined;
  /** A sentence for the person while the agent is started. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
}

/** Which stored conversation is meant: of a name in this folder, or the last one of the folder. */
export type StoredName = { readonly name: string } | { readonly last: true };

export interface OpenStoredOptions extends OpenConversationOptions {
  readonly which: StoredName;
  /** Fail with kind `busy` instead of waiting until another Ostler lets go. Default false. */
  readonly noWait?: boolean | undefined;
  /** Told with the place in the queue (1 = next) whenever it changes, and with 0 when the wait is over. */
  readonly onQueued?: ((position: number) => void) | undefined;
}

/** A running agent, what was decided for it, and what the person should know about it, where there is something. */
export interface OpenedRuntime {
  readonly runtime: Runtime;
  readonly backend: string;
  readonly settings: BackendSettings;
  readonly notice?: string;
}

/** A conversation that is bound to its session. Whoever opened it closes it. */
export interface OpenedConversation {
  readonly conversation: Conversation;
  readonly backend: string;
  readonly settings: BackendSettings;
}

/** Owns every agent it started, and ends those that an Ostler which was killed left behind. */
export interface Host extends AsyncDisposable {
  readonly config: Config;
  /** What was ignored or changed while the configuration was read. */
  readonly warnings: readonly string[];
  readonly paths: Paths;
  /** Restarts within a budget, shares agents, leaves a crashing backend down. */
  readonly supervisor: Supervisor;
  /** The agent that is meant. Throws UsageError, or an error of kind `agent_spawn` when nothing is installed. */
  select(wish: AgentWish): SelectedAgent;
  /**
   * Starts an agent of its own. Throws UsageError for an unknown backend or an unreadable command line, else an error with
   * `failure`: kind `agent_spawn` for a program that is not installed, and whatever `createRuntime` throws.
   */
  openRuntime(options?: OpenRuntimeOptions): Promise<OpenedRuntime>;
  /**
   * Opens a session, or gets back to one: `session/load`, `session/resume`, else a new one whose first turn says that
   * context was lost. It takes no lock: two of them on one session are two clients of the agent. Throws as `openRuntime`,
   * and what kept the session.
   */
  openConversation(options?: OpenConversationOptions): Promise<OpenedConversation>;
  /**
   * Opens a conversation that is kept in the store, as `ostler ask -s` does: one owner at a time over all processes, the
   * others wait. Throws as `openConversation`; UsageError when it belongs to another agent, kind `session_not_found` when
   * there is no last one, kind `busy` when it is in use.
   */
  openStored(options: OpenStoredOptions): Promise<StoredConversation>;
  /** Ends what Ostlers that were killed left running, as every host does when it is made. Resolves after a bounded wait; never throws. */
  endOrphans(): Promise<void>;
  /** Stops every agent, the last one first. Idempotent. */
  close(): Promise<void>;
}
