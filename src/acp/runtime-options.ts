/** What a runtime is started with. */
import type {
  Approval,
  Backend,
  CommandLine,
  FailureSink,
  FrameListener,
  LogSink,
  PermissionPolicy,
  ProcessLedger,
  WireTap,
} from "./ports.ts";
import type { AskQuestion } from "./questions.ts";
import type { TurnTimeouts } from "./types.ts";

export interface RuntimeOptions {
  readonly backend: Backend;
  readonly command: CommandLine;
  /** Working folder of the process. */
  readonly cwd: string;
  /** The whole environment of the child; the backend's own variables are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Default `reads`. */
  readonly approval?: Approval;
  /** Refuse an agent, or a mode of it, in which tools may run without asking. */
  readonly gate?: "required" | undefined;
  /** None: a permission request ends the turn with `AcpPermissionNeeded`. */
  readonly permissions?: PermissionPolicy;
  /**
   * Asks a person what the agent wants to know. None: questions are not declared, which switches some off (claude) and
   * lets others come as permission requests (kiro).
   */
  readonly questions?: AskQuestion;
  /** Told of every failure and warning first. */
  readonly sink?: FailureSink;
  /** Milliseconds for `initialize` (60,000), `session/new` (90,000) and one question, of permission or to a person (300,000). */
  readonly timeouts?: {
    readonly handshakeMs?: number;
    readonly sessionMs?: number;
    readonly permissionMs?: number;
    /** Of every turn that says nothing else. */
    readonly turn?: Partial<TurnTimeouts>;
  };
  /** Longest line accepted from the agent. Default 64 MiB. */
  readonly lineBytes?: number;
  /** Hears the wire. */
  readonly tap?: WireTap;
  /** Hears stderr and the exit alone: frames are heard more cheaply by `onFrame`. */
  readonly processTap?: WireTap;
  /** Keeps the last frames for a crash report. */
  readonly onFrame?: FrameListener;
  /** Told of starts and ends, turns, retries and permission answers. */
  readonly log?: LogSink;
  /** Where the process is written down while it runs. */
  readonly ledger?: ProcessLedger;
  /** Gives up starting. */
  readonly signal?: AbortSignal;
}
