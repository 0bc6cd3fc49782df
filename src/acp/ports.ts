/** What the ACP layer needs from the layers above it: a backend, a permission policy, a place for failures. */
import type { Failure, Profile, RefusalInfo } from "../errors/failure.ts";
import type { CompactionStatus } from "./compactions.ts";
import type { RosterRow } from "./extension-news.ts";
import type { AgentCapabilities } from "./negotiate.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { TurnEventBody } from "./events.ts";
import type { PermissionAnswer, PermissionRequest } from "./types.ts";

/** A command line, ready to spawn: no shell, the file resolved. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** The process only holds those that matter, and told to end it ends them without a word: it is not told. */
  readonly isHolder?: true;
}

/** What a session should look like before its first prompt. */
export type Approval = "all" | "reads" | "none";

/** A mode of a session as the harness advertised it; `modes` absent on the wire = unknown, empty = none. */
export interface AdvertisedModes {
  readonly current: string | null;
  readonly available: readonly string[];
}

/** A login that needs nobody. */
export interface EnvLogin {
  readonly methodId: string;
  /** Told to the person: the agent may store what it was given. */
  readonly note: string;
}

/** What a backend makes of one notification that ACP does not define (kiro's `_kiro.dev/*`). */
export interface ExtensionReading {
  readonly events?: readonly TurnEventBody[];
  /** What the agent switched to. */
  readonly mode?: string;
  readonly model?: string;
  /** kiro's content filter. */
  readonly refusal?: RefusalInfo;
  /** Words that are told once in a session; the key says what they are about. */
  readonly once?: readonly { readonly key: string; readonly text: string }[];
  /** The compaction that it is at: the agent names none. */
  readonly compaction?: CompactionStatus;
  /** All subagents that it has at the moment, whole. */
  readonly roster?: readonly RosterRow[];
}

/**
 * What differs per harness: data and pure functions, no I/O, no state. `src/backends/*` are the implementations.
 */
export interface Backend {
  /** `kiro`, `codex`, `claude`, `demo` or the name from the config. */
  readonly id: string;
  readonly profile: Profile;
  /** For sentences: `Claude Agent`. */
  readonly label: string;
  /**
   * What to run to sign in, as a sentence with the command in its first backquotes. The login card puts the command there
   * that works on this machine.
   */
  readonly loginHint: string;
  /** It answers everybody: there is nothing to sign in to. */
  readonly needsNoLogin?: true;
  /** Declare the AIR extension (session failures). Default true. */
  readonly air: boolean;
  /** Declare that `notice` updates are shown. Default false: claude-agent-acp then sends a model fallback as a notice only. */
  readonly notices: boolean;
  /** Further `_meta` of the client capabilities (terminal output). */
  readonly capabilityMeta: Readonly<Record<string, unknown>>;
  /** Environment that Ostler adds for the child (codex: the mode that asks). */
  env(approval: Approval): Readonly<Record<string, string>>;
  /**
   * How to sign in with what stands in the environment, when the agent says that a login is missing: the id of one of the
   * methods it offers, and a sentence about it. undefined = a person has to.
   */
  loginFromEnv(env: Readonly<Record<string, string>>, methods: readonly string[]): EnvLogin | undefined;
  /** `_meta` of `session/new` and `session/load`; with `gate` no setting of the user's may let a tool run unasked. */
  sessionMeta(approval: Approval, gate?: "required"): Readonly<Record<string, unknown>> | undefined;
  /** `_meta` of `session/load` besides that of {@link sessionMeta}, from the child's environment. */
  loadMeta(sessionId: string, env: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> | undefined;
  /** How many sessions one process may serve at a time; 1 where nobody knows. */
  readonly sessionsPerRuntime: number;
  /** The request that ends a session and keeps its record; undefined = the agent has none. */
  closeRequest(
    sessionId: string,
    agent: AgentCapabilities,
  ): { readonly method: string; readonly params: object } | undefined;
  /** Declare ACP's session compaction: compactions are told by updates of their own. Default true. */
  readonly compaction: boolean;
  /** Whether a tool call stands for a compaction of the context; those that AIR marks are known without. */
  isCompactionCall(update: Readonly<Record<string, unknown>>): boolean;
  /** Whether an update of a session only repeats an earlier turn (kiro V3 marks them). */
  isReplay(update: Readonly<Record<string, unknown>>): boolean;
  /** The mode to set before the first prompt so that the harness asks; undefined = nothing to set. */
  modeToSet(modes: AdvertisedModes | undefined, approval: Approval): string | undefined;
  /** Whether the mode asks before it acts; undefined = not known. */
  modeAsks(modeId: string): boolean | undefined;
  /** Whether an agent started with these arguments asks before its tools run; `by_mode`: `modeAsks` says it. */
  toolGate(args: readonly string[]): "asks" | "acts" | "by_mode" | "unknown";
  /** One more try for a turn that ended well and empty (not codex: its silent refusal is empty, and repeats). */
  readonly retriesEmptyTurn: boolean;
  /**
   * Whether a message chunk is the adapter speaking, not the model. `afterSystemError`: codex said `systemError` earlier
   * in this turn.
   */
  isAdapterWords(update: Readonly<Record<string, unknown>>, afterSystemError: boolean): boolean;
  /** A whole chunk with this text ends the turn as cancelled (kiro: interrupted tools). */
  readonly interruptedText?: string;
  /** A `refusal` that follows our own `cancelled` permission answer is not the model's (kiro). */
  readonly refusesAfterCancelledPermission: boolean;
  /** The prompt that asks to go on after output was seen and the service failed; absent = never. */
  readonly continuePrompt?: string;
  /** A command that runs when its turn is cancelled runs on (codex). */
  readonly leavesCancelledCommands: boolean;
  /** How long it may take to end by itself once its stdin has, in milliseconds. Default 2000. */
  readonly endGraceMs?: number;
  /** What a `session_info_update` holds besides what ACP and AIR define (kiro V3 folds its notifications into it). */
  readInfo(update: Readonly<Record<string, unknown>>): ExtensionReading;
  /** Reads a notification outside ACP; undefined = not known here, counted and ignored. */
  readExtension(method: string, params: Readonly<Record<string, unknown>>): ExtensionReading | undefined;
}

/** One thing on the wire, in the words of the recordings: a frame sent or received, a line of stderr, or the exit. */
export type WireEntry =
  | { readonly dir: "out" | "in"; readonly frame: unknown }
  | { readonly dir: "stderr"; readonly line: string }
  | { readonly dir: "exit"; readonly code: number | null; readonly signal: string | null };

/** Hears everything on the wire, unredacted and in order. Must not throw, and must not keep what it was given. */
export type WireTap = (entry: WireEntry) => void;

/** A started agent, as much of it as may be written down. It leads a process group of its own. */
export interface AgentProcess extends ProcessIdentity {
  /** What its environment and that of everything it starts carries. */
  readonly mark: string;
  /** The name of its program, without folder and arguments. */
  readonly file: string;
  /** Until when its number was surely its own, on `startClock`; 0 = not known. */
  readonly heldUntil: number;
}

/** How much a record of the log matters; the order is that of `--log-level`. */
export type LogLevel = "error" | "warn" | "info" | "debug" | "trace";

/**
 * Told what happens, by a dotted name (`turn.ended`) with a few fields. No field holds the text of a prompt or an answer;
 * whoever writes it down scrubs. Must not throw, and costs nothing when the level is not wanted.
 */
export type LogSink = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Hears every frame, unredacted, with the length of its line. Must not throw, and keeps nothing that is long. */
export type FrameListener = (dir: "in" | "out", frame: unknown, chars: number) => void;

/** Where running agents are written down, so that those of an Ostler that was killed can be ended later. Must not throw. */
export interface ProcessLedger {
  /** Called before anything is sent to the agent, and again with a later `heldUntil`. */
  started(agent: AgentProcess): void;
  /** Called when nothing of its tree is left. */
  ended(agent: AgentProcess): void;
}

/** Decides permission requests. The signal fires when the request is withdrawn, expires, or the turn is cancelled. */
export type PermissionPolicy = (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;

/** Called first, before any event or outcome is delivered, for every failure and warning. Must not throw. */
export type FailureSink = (
  failure: Failure,
  context: { readonly sessionId: string | null; readonly turnId: string | null },
) => void;
