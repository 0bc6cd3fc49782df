/**
 * Tries around one turn. Reads `retry`, `replaySafety` and the provider's own wait, nothing else. p-retry counts and
 * aborts; the wait is ours, because it has full jitter or is the provider's.
 */
import pRetry from "p-retry";
import type { Failure, ReplaySafety } from "../errors/failure.ts";
import { delay } from "./abort.ts";
import type { Decision } from "./outcome.ts";
import type { RetryBudget } from "./retry-budget.ts";

/** First step of the backoff: 2, 4, 8 s. */
export const BACKOFF_MS = 2000;
/** A provider that asks for a longer wait has set a limit: a person decides. */
export const ALLOWED_WAIT_MS = 120_000;
/** A longer timer would go off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The rule of a prompt that came to a session which was ended. */
export const SESSION_ENDED_RULE = "session-ended";

/** The same prompt once more, a prompt that asks the agent to go on from what it said, or the same in a new process. */
export type RetryHow = "again" | "continue" | "reopen";

/** What stops an attempt from being the last word. */
export interface RetryStep {
  readonly how: RetryHow;
  readonly attempt: number;
  readonly of: number;
  readonly delayMs: number;
  readonly reason: string;
}

export interface RetryOptions {
  /** Tries after the first in this turn. */
  readonly retries: number;
  /** What is left of them in this conversation. */
  readonly budget: RetryBudget;
  readonly backoffMs: number;
  /** The longest wait that a provider may ask for. */
  readonly allowedWaitMs: number;
  readonly signal: AbortSignal;
  /** The backend allows a second try of an empty turn. */
  readonly retriesEmptyTurn: boolean;
  /** The backend can be asked to go on after output. */
  readonly continues: boolean;
  /** The session can be reopened in a new process. */
  readonly reopens: boolean;
  /** Milliseconds that are left for the turn: a wait that does not fit is not begun. */
  readonly leftMs: () => number;
  readonly onRetry: (step: RetryStep) => void;
}

/** What was tried in this turn so far. */
export interface Tried {
  /** Attempts made. */
  readonly attempts: number;
  readonly empty: number;
  readonly continued: boolean;
}

/** Carries an attempt through p-retry, which knows errors only. */
class AttemptEnded extends Error {
  readonly decision: Decision;
  readonly step: RetryStep;
  constructor(decision: Decision, step: RetryStep) {
    super("The attempt did not complete");
    this.name = "AttemptEnded";
    this.decision = decision;
    this.step = step;
  }
}

/**
 * Runs attempts until one is the last word; `how` is undefined for the first. Never rejects unless `attempt` itself does.
 * A try is taken from the budget before its wait, and handed back when nothing of it was sent.
 */
export async function withRetries(
  attempt: (n: number, how: RetryHow | undefined) => Promise<Decision>,
  options: RetryOptions,
): Promise<Decision> {
  const { budget, signal } = options;
  let empty = 0;
  let next: AttemptEnded | undefined;
  /** What was said before the agent was asked to go on. */
  let cut: Decision | undefined;
  let lastWord: Decision | undefined;
  try {
    return await pRetry(
      async (n) => {
        const how = next?.step.how;
        if (how === "continue") cut = next?.decision;
        const ended = await attempt(n, how);
        if (how !== undefined && isUnsent(ended)) budget.giveBack();
        const decision = cut === undefined ? ended : decideContinued(cut, ended);
        const tried = { attempts: n, empty, continued: cut !== undefined };
        const wait = decideRetry(decision, tried, options);
        if (wait === undefined) return (lastWord = tellReset(decision, options));
        const step = {
          ...wait,
          attempt: n + 1,
          of: n + triesLeft(tried, options),
          reason: reasonOf(decision, wait.how),
        };
        if (decision.kind === "empty") empty += 1;
        next = new AttemptEnded(decision, step);
        throw next;
      },
      {
        retries: options.retries,
        minTimeout: 0,
        signal,
        // A bug of ours says nothing about what the harness did with the prompt.
        shouldRetry: ({ error }) => error instanceof AttemptEnded,
        onFailedAttempt: async ({ error }) => {
          if (!(error instanceof AttemptEnded)) return;
          budget.take();
          options.onRetry(error.step);
          await delay(error.step.delayMs, signal);
          if (signal.aborted) budget.giveBack();
        },
      },
    );
  } catch (error) {
    // p-retry throws away what an attempt returns after an abort: that it was aborted is in it already.
    if (lastWord !== undefined) return lastWord;
    if (signal.aborted && next !== undefined) return { kind: "cancelled", by: "caller", warnings: [] };
    throw error;
  } finally {
    if (lastWord !== undefined && hasLanded(lastWord)) budget.landed();
  }
}

/** The next try and the wait before it in milliseconds, undefined when this is the last word. Pure but for the jitter. */
export function decideRetry(
  decision: Decision,
  tried: Tried,
  options: Omit<RetryOptions, "onRetry">,
): { readonly how: RetryHow; readonly delayMs: number } | undefined {
  if (triesLeft(tried, options) === 0 || options.signal.aborted) return undefined;
  if (decision.kind === "empty") {
    const isSilent = !decision.unreadable && decision.failure === null && decision.toolStarted !== true;
    const mayTry = options.retriesEmptyTurn && isSilent && tried.empty === 0;
    return mayTry ? { how: "again", delayMs: 0 } : undefined;
  }
  if (decision.kind !== "failed") return undefined;
  const { failure } = decision;
  const how = decideHow(failure, tried, options);
  if (how === undefined || isTooLong(failure, options)) return undefined;
  // The supervisor has its own delays between two starts.
  const backoffMs = how === "reopen" ? 0 : Math.random() * options.backoffMs * 2 ** (tried.attempts - 1);
  const delayMs = failure.retryAfterMs ?? backoffMs;
  return delayMs < options.leftMs() ? { how, delayMs } : undefined;
}

/** The one condition of an automatic resend: a transient verdict, and the prompt cannot have done anything. */
export function isSafeToResend(failure: Failure): boolean {
  return failure.retry === "backoff" && isUntouched(failure.replaySafety);
}

/** After output the agent may be asked once to go on; a death or a stall leaves nothing to go on from. */
function decideHow(
  failure: Failure,
  tried: Tried,
  options: Pick<RetryOptions, "continues" | "reopens">,
): RetryHow | undefined {
  if (isSafeToResend(failure)) return "again";
  if (options.reopens && needsNewProcess(failure)) return "reopen";
  const showedOutput = failure.replaySafety === "output_seen" || failure.replaySafety === "tool_started";
  const mayContinue = options.continues && !tried.continued && failure.retry === "backoff" && showedOutput;
  return mayContinue ? "continue" : undefined;
}

/** Nothing of the prompt left, because the process is gone or the session in it was given up. */
function needsNewProcess({ retry, replaySafety, rule }: Failure): boolean {
  return replaySafety === "not_sent" && (retry === "after_respawn" || rule === SESSION_ENDED_RULE);
}

/**
 * What both prompts came to. The second said nothing: the failure of the first stands. The second failed as well: what
 * the first had shown still forbids a resend.
 */
function decideContinued(cut: Decision, later: Decision): Decision {
  if (later.kind === "empty") return { ...cut, warnings: [...cut.warnings, ...later.warnings] };
  if (later.kind !== "failed" || cut.kind !== "failed" || !isUntouched(later.failure.replaySafety)) return later;
  return { ...later, failure: { ...later.failure, replaySafety: cut.failure.replaySafety } };
}

function isUntouched(replaySafety: ReplaySafety): boolean {
  return replaySafety === "not_sent" || replaySafety === "no_output";
}

function isUnsent(decision: Decision): boolean {
  return decision.kind === "failed" && decision.failure.replaySafety === "not_sent";
}

/** The model answered, whatever it said. */
function hasLanded(decision: Decision): boolean {
  return decision.kind === "completed" || decision.kind === "refused" || decision.kind === "truncated";
}

function triesLeft(
  tried: Pick<Tried, "attempts">,
  { retries, budget }: Pick<RetryOptions, "retries" | "budget">,
): number {
  return Math.max(0, Math.min(retries + 1 - tried.attempts, budget.left));
}

function isTooLong({ retryAfterMs = 0 }: Failure, { allowedWaitMs }: Pick<RetryOptions, "allowedWaitMs">): boolean {
  return retryAfterMs > Math.min(allowedWaitMs, MAX_TIMER_MS);
}

/** Nobody waits for it: whoever reads the failure wants to know until when. */
function tellReset(decision: Decision, options: Pick<RetryOptions, "allowedWaitMs" | "leftMs">): Decision {
  if (decision.kind !== "failed" || decision.failure.retry !== "backoff") return decision;
  const { failure } = decision;
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || failure.resetAt !== undefined) return decision;
  if (!isTooLong(failure, options) && retryAfterMs < options.leftMs()) return decision;
  return { ...decision, failure: { ...failure, resetAt: new Date(Date.now() + retryAfterMs).toISOString() } };
}

function reasonOf(decision: Decision, how: RetryHow): string {
  const why = decision.kind === "failed" ? decision.failure.title : "The agent ended its turn without an answer";
  return how === "continue" ? `The agent is asked to go on: ${why}` : why;
}
