/** A prompt, what is decided while it runs, and how it ends. Types only; the result line of `ostler ask` has the same words. */
import type { Failure, RefusalInfo } from "../errors/failure.ts";
import type { ChangeReport, FileDiff, TurnEvent } from "./events.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { Session } from "./session-link.ts";

/** One block of a prompt, as ACP defines it (protocol section "Content"). */
export type PromptBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mimeType: string; readonly data: string }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string; readonly mimeType?: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly text: string; readonly mimeType?: string };
    };

/** One choice of a permission request: the exact id and words the harness offered, in its order. */
export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or the harness's own word. */
  readonly kind: string;
}

/** A question of the harness that needs a yes or no before a tool may run. */
export interface PermissionRequest {
  readonly sessionId: string;
  readonly toolCallId: string;
  /** Words for a person. Never evidence: the model may have written them. */
  readonly title: string;
  readonly description?: string;
  /** From the tool-call frame (`read`, `search`, `edit`, `execute`, ...); absent when the call was never announced. */
  readonly kind?: string;
  readonly rawInput?: unknown;
  /** Absolute paths that the tool-call frame names. */
  readonly paths: readonly string[];
  /** What the call would change, as far as it is known; to be shown, a policy judges the paths. */
  readonly diffs?: readonly FileDiff[];
  /** Texts that the agent shows with the call: words for a person, as the title is. */
  readonly texts?: readonly string[];
  /**
   * What the request itself says of the call, where it is not what the frames said. The model may have written it, so
   * it is a reason to be stricter and never one to be looser.
   */
  readonly claimed?: {
    readonly kind?: string;
    readonly rawInput?: unknown;
    readonly paths?: readonly string[];
    readonly diffs?: readonly FileDiff[];
    readonly mcpServer?: string;
  };
  /** The MCP server of the tool, from the tool-call frame; empty when it is an MCP tool and its server is not certain. */
  readonly mcpServer?: string;
  /** The options in the order to show them, with their exact ids. */
  readonly options: readonly PermissionOption[];
  /** The agent warns: whatever is not an explicit yes, a stray key above all, must not approve. */
  readonly defaultToNo?: true;
  /** The request asks a question instead of permission (kiro V3): never answered automatically. */
  readonly isQuestion: boolean;
}

/** The answer that goes back on the wire, and whether it was a "no". */
export type PermissionAnswer =
  | { readonly action: "select"; readonly optionId: string; readonly denied: boolean; readonly reason?: string }
  | { readonly action: "cancel"; readonly denied: boolean; readonly reason?: string };

/**
 * Tokens of one turn. A number that the harness did not give is 0 in the sum and absent in `byModel`, which also counts
 * subagents, compactions and the harness's own calls: it may be more than the sum (claude-agent-acp 0.101).
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly byModel: readonly {
    readonly model: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens: number;
  }[];
}

interface OutcomeBase {
  /** The answer, without adapter words and without superseded messages. Empty when the caller asked not to keep it. */
  readonly text: string;
  /** There is text and the turn did not complete. */
  readonly partial: boolean;
  readonly sessionId: string | null;
  /** As the harness said it; null when the prompt was rejected or never answered. */
  readonly stopReason: string | null;
  /** Records of severity warning, and what Ostler could not read. They never fail a turn. */
  readonly warnings: readonly Failure[];
  /** Prompts handed over, retries included. */
  readonly attempts: number;
  readonly usage: Usage | null;
  readonly durationMs: number;
  /** Permission requests of this turn that were answered with a no, by title. */
  readonly denied: readonly string[];
  /** Which files the agent says it changed; there when the prompt asked for it. */
  readonly changes?: ChangeReport;
  /** The redacted end of the agent's stderr, where it may say more than the turn did (died, ended empty). */
  readonly stderr?: string;
  /** The typed error behind `failure`, for callers that branch on classes. */
  readonly cause?: Error;
}

/** How a turn ended. `outcome` of a {@link Turn} always settles with one of these and never rejects. */
export type TurnOutcome =
  | (OutcomeBase & { readonly kind: "completed" })
  | (OutcomeBase & { readonly kind: "refused"; readonly refusal: RefusalInfo })
  | (OutcomeBase & { readonly kind: "truncated" | "empty"; readonly failure: Failure | null })
  | (OutcomeBase & { readonly kind: "cancelled"; readonly by: "caller" | "harness" })
  | (OutcomeBase & { readonly kind: "failed"; readonly failure: Failure });

/** One prompt and its outcome. */
export interface Turn {
  readonly id: string;
  /** One reader. Leaving the loop detaches it and does not cancel the turn. */
  readonly events: AsyncIterable<TurnEvent>;
  readonly outcome: Promise<TurnOutcome>;
  /**
   * Ends the turn as the signal does: open questions are answered, the agent is told and has `cancelGraceMs` to
   * acknowledge. Called again it waits no longer: the process tree is ended, or, where other sessions live in it, this
   * session is given up. Does nothing once the outcome has settled.
   */
  cancel(): void;
}

/** How long each part of a turn may take, in milliseconds. */
export interface TurnTimeouts {
  /** The whole turn, from the prompt. */
  readonly wallMs: number;
  /** Silence of the harness; paused while a tool runs or a person decides. */
  readonly idleMs: number;
  /** One tool call in flight. */
  readonly toolMs: number;
  /** The first frame of the turn that is not a retry warning. */
  readonly firstByteMs: number;
  /** How long the harness may take to acknowledge a cancel before its process tree is ended. */
  readonly cancelGraceMs: number;
}

export interface PromptOptions {
  /** Aborting it cancels the turn. */
  readonly signal?: AbortSignal;
  readonly timeouts?: Partial<TurnTimeouts>;
  /** Tries after the first, for transient failures that are safe to resend; 0 also stops the second try of an empty turn. Default 3. */
  readonly retries?: number;
  /** The budget of the conversation, which may have been spent in part. Default: a fresh one of `retries` tries. */
  readonly budget?: RetryBudget;
  /**
   * A session in a fresh process, for a prompt that never left because its process is gone. Must be one of this library.
   * Aborted when the turn is stopped. Default: such a turn fails.
   */
  readonly reopen?: ((signal: AbortSignal) => Promise<Session>) | undefined;
  /** The longest wait a provider may ask for, in milliseconds: a longer one ends the turn with its reset time. Default 120,000. */
  readonly allowedWaitMs?: number;
  /** First step of the backoff in milliseconds, doubled with each try, with full jitter. Default 2000. */
  readonly backoffMs?: number;
  /** Ask the agent which files it changes: a `changes` event and `outcome.changes`. May cost it a moment at the end. Default false. */
  readonly reportChanges?: boolean;
  /** Keep the whole answer for `outcome.text`. Default true; a surface that streams may say false to keep memory flat. */
  readonly keepText?: boolean;
  /**
   * What happens when `events` is not read: `join` bounds the queue by joining text and dropping superseded tool states
   * (default: one slow reader must not stall the pipe of every session), `pause` stops reading the child.
   */
  readonly whenUnread?: "join" | "pause";
}
