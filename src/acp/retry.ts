/**
 * Tries around one turn. Reads `transient`, `replaySafety` and the provider's own wait, nothing else. p-retry counts and
 * aborts; the wait is ours, because it has full jitter or is the provider's.
 */
import pRetry from "p-retry";
import type { Failure } from "../errors/failure.ts";
import type { Decision } from "./outcome.ts";

/** First step of the backoff: 2, 4, 8 s. */
export const BACKOFF_MS = 2000;
/** A provider that asks for a longer wait has set a limit: a person decides. */
const MAX_PROVIDER_WAIT_MS = 120_000;

/** What stops an attempt from being the last word. */
export interface RetryStep {
  readonly attempt: number;
  readonly of: number;
  readonly delayMs: number;
  readonly reason: string;
}

export interface RetryOptions {
  readonly retries: number;
  readonly backoffMs: number;
  readonly signal: AbortSignal;
  /** The backend allows a second try of an empty turn. */
  readonly retriesEmptyTurn: boolean;
  /** Milliseconds that are left for the turn: a wait that does not fit is not begun. */
  readonly leftMs: () => number;
  readonly onRetry: (step: RetryStep) => void;
}

/** Carries an attempt through p-retry, which knows errors only. */
class AttemptEnded extends Error {
  readonly decision: Decision;
  readonly delayMs: number;
  constructor(decision: Decision, delayMs: number) {
    super("The attempt did not complete");
    this.name = "AttemptEnded";
    this.decision = decision;
    this.delayMs = delayMs;
  }
}

/** Runs attempts until one is the last word. Never rejects unless `attempt` itself does. */
export async function withRetries(attempt: (n: number) => Promise<Decision>, options: RetryOptions): Promise<Decision> {
  let emptyTries = 0;
  let tried = false;
  let lastWord: Decision | undefined;
  try {
    return await pRetry(
      async (n) => {
        const decision = await attempt(n);
        tried = true;
        const delayMs = decideRetry(decision, n, emptyTries, options);
        if (delayMs === undefined) return (lastWord = decision);
        if (decision.kind === "empty") emptyTries += 1;
        throw new AttemptEnded(decision, delayMs);
      },
      {
        retries: options.retries,
        minTimeout: 0,
        signal: options.signal,
        // A bug of ours says nothing about what the harness did with the prompt.
        shouldRetry: ({ error }) => error instanceof AttemptEnded,
        onFailedAttempt: async ({ error, attemptNumber }) => {
          if (!(error instanceof AttemptEnded)) return;
          const { decision, delayMs } = error;
          options.onRetry({ attempt: attemptNumber + 1, of: options.retries + 1, delayMs, reason: reasonOf(decision) });
          await abortableDelay(delayMs, options.signal);
        },
      },
    );
  } catch (error) {
    if (error instanceof AttemptEnded) return error.decision;
    // p-retry throws away what an attempt returns after an abort: that it was aborted is in it already.
    if (lastWord !== undefined) return lastWord;
    if (options.signal.aborted && tried) return { kind: "cancelled", by: "caller", warnings: [] };
    throw error;
  }
}

/** The wait before the next try in milliseconds, undefined when this is the last word. Pure but for the jitter. */
export function decideRetry(
  decision: Decision,
  attempt: number,
  emptyTries: number,
  options: RetryOptions,
): number | undefined {
  if (attempt > options.retries || options.signal.aborted) return undefined;
  if (decision.kind === "empty") {
    const mayTry = options.retriesEmptyTurn && !decision.unreadable && decision.failure === null && emptyTries === 0;
    return mayTry ? 0 : undefined;
  }
  if (decision.kind !== "failed" || !isSafeToResend(decision.failure)) return undefined;
  const { retryAfterMs } = decision.failure;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_PROVIDER_WAIT_MS) return undefined;
  const delayMs = retryAfterMs ?? Math.random() * options.backoffMs * 2 ** (attempt - 1);
  return delayMs < options.leftMs() ? delayMs : undefined;
}

/** The one condition of an automatic resend: a transient verdict, and the prompt cannot have done anything. */
export function isSafeToResend(failure: Failure): boolean {
  const untouched = failure.replaySafety === "not_sent" || failure.replaySafety === "no_output";
  return failure.retry === "backoff" && untouched;
}

function reasonOf(decision: Decision): string {
  return decision.kind === "failed" ? decision.failure.title : "The agent ended its turn without an answer";
}

function abortableDelay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
