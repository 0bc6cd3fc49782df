/** How an attempt ended, from the structure of its frames alone (failure observations, section 5.3). Pure. */
import type { AttemptOutcome } from "../attempt-book.ts";
import type { Attempt } from "./attempt.ts";

/** The statuses that end a call; all others leave it open (ACP v2 `paused`, words of other versions). */
export const ENDS: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled", "canceled", "refused"]);

const CANCELLED_KINDS: ReadonlySet<string | undefined> = new Set(["user-rejected", "interrupted", "cancelled"]);

/** The first rule that fits. `status` is one of {@link ENDS}; `isCancelled`: a cancel was sent before the end. */
export function decideOutcome(attempt: Attempt, status: unknown, isCancelled: boolean): AttemptOutcome {
  const { code, notRun, signal, intent, isTimedOut } = attempt;
  const wasStopped = (isCancelled || attempt.isStopped) && code === undefined;
  if (status === "cancelled" || status === "canceled" || CANCELLED_KINDS.has(notRun) || wasStopped) return "cancelled";
  if (attempt.refusal !== undefined || notRun === "permission-rule" || status === "refused") return "denied";
  const hasSignal = signal !== undefined;
  if (code === 0 && status !== "failed" && !hasSignal && !isTimedOut) return "succeeded";
  if (code !== undefined && code !== 0) {
    const isDeclared = intent?.expectedExitCodes?.includes(code) === true;
    return isDeclared && !hasSignal && !isTimedOut ? "expected" : "failed";
  }
  return hasSignal || isTimedOut || status === "failed" ? "failed" : "succeeded";
}

/**
 * claude-agent-acp 0.101.0 tells a client that declares AIR 1 for every command that failed or was interrupted (recordings
 * bash-exit3, bash-timeout): it is no exit code then.
 */
export function isCoarse({ isClaude, code }: Attempt, status: unknown, air: boolean): boolean {
  return air && isClaude && code === 1 && status === "failed";
}
