/**
 * What the compactions of a turn mean for it: `/compact` that failed has failed, though claude says `end_turn`; one that
 * the agent began by itself, in a turn about something else, is a warning.
 */
import type { Failure } from "../errors/failure.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import type { Compaction, TurnEventBody } from "./events.ts";
import { makeFailure, plainVerdict } from "./make-failure.ts";
import type { Ending } from "./outcome.ts";
import type { PromptBlock } from "./types.ts";

/** The word for it is the same in claude-agent-acp, codex-acp and kiro-cli. */
const COMPACT = /^\s*\/compact(?:\s|$)/;
/** Another command of the agent may compact too; then the agent says so. */
const COMMAND = /^\s*\/\S/;
/** As long as a retry of the summary may take to be announced. */
const SILENCE_MS = 30_000;
const RULE = "compaction-failed";

function startsWith(command: RegExp, blocks: readonly PromptBlock[] = []): boolean {
  const [first] = blocks;
  return first?.type === "text" && command.test(first.text);
}

/** The agent's words, and of what they speak (Claude Code says `too_few_groups`). Empty = it gave none. */
export function failedTitle(error: string | undefined): string {
  const words = error ?? "";
  return words === "" || /compact/i.test(words) ? words : `Compaction failed: ${words}`;
}

export type CompactionWatchOptions = Pick<AttemptOptions, "turnId" | "attempt" | "blocks" | "clocks">;

export class CompactionWatch {
  readonly #options: CompactionWatchOptions;
  readonly #running = new Map<string, Compaction>();
  #last: Compaction | undefined;
  #warned: string | undefined;

  constructor(options: CompactionWatchOptions) {
    this.#options = options;
  }

  /** Takes in an event of the turn; a warning when it tells that a compaction failed which nobody asked for. */
  take(event: TurnEventBody): Failure | undefined {
    if (event.type !== "compaction") return undefined;
    this.#last = event;
    // It may be silent as long as a tool.
    const work = `compaction ${event.compactionId}`;
    if (event.state === "running") {
      this.#running.set(event.compactionId, event);
      this.#options.clocks.toolStarted(work);
    } else {
      this.#running.delete(event.compactionId);
      this.#options.clocks.toolEnded(work);
    }
    if (event.state !== "failed" || this.#isAsked(event) || this.#warned === event.compactionId) return undefined;
    this.#warned = event.compactionId;
    return this.#warning(event);
  }

  /** The turn has ended: what it left open ends with it (codex-acp 2.6.0 compact-fails closes no tool call). */
  close(ending: Ending, isSystemError: boolean): TurnEventBody[] {
    const state = isSystemError || isFailure(ending) ? "failed" : "cancelled";
    const open = [...this.#running.values()].map((one): TurnEventBody => ({ ...one, type: "compaction", state }));
    this.#running.clear();
    return open;
  }

  /** The compaction that was asked for was done: the turn has something to show. */
  get isDone(): boolean {
    return this.#last?.state === "completed" && this.#isAsked(this.#last);
  }

  /** Why the compaction that was asked for failed, in the agent's words; undefined = it did not. */
  get failure(): { readonly rule: string; readonly title: string } | undefined {
    const last = this.#last;
    return last?.state === "failed" && this.#isAsked(last) ? { rule: RULE, title: failedTitle(last.error) } : undefined;
  }

  /**
   * kiro may fall silent after a compaction that failed, instead of answering (wire notes, section 9): then, and where
   * the compaction is all that was asked for, it is how the turn ends.
   */
  mayBeTheEnd(end: (ending: Ending) => void): void {
    const { clocks } = this.#options;
    const title = failedTitle(this.#last?.error);
    const finish = (): void =>
      end({ type: "fact", verdict: plainVerdict("compaction", RULE), source: "rpc_error", title });
    if (this.failure !== undefined) {
      finish();
      return;
    }
    const { lastFrameAt, idleMs } = clocks;
    const look = (): void => {
      if (clocks.lastFrameAt === lastFrameAt) finish();
    };
    setTimeout(look, Math.min(SILENCE_MS, idleMs / 2)).unref();
  }

  /** Only a command asks: the agent's word alone (`manual`) must not fail a turn about something else. */
  #isAsked({ trigger }: Compaction): boolean {
    const { blocks } = this.#options;
    return trigger === "manual" ? startsWith(COMMAND, blocks) : trigger === undefined && startsWith(COMPACT, blocks);
  }

  #warning({ compactionId, error }: Compaction): Failure {
    const { turnId, attempt } = this.#options;
    return makeFailure({
      verdict: plainVerdict("compaction", RULE),
      source: "rpc_error",
      id: `${turnId}:compaction:${compactionId}`,
      revision: attempt,
      replaySafety: "unknown",
      title: failedTitle(error),
      severity: "warning",
    });
  }
}

function isFailure(ending: Ending): boolean {
  if (ending.type === "result") return ending.terminal.kind === "ok" && ending.terminal.record.severity === "error";
  return ending.type === "rpc_error" || ending.type === "fact";
}
