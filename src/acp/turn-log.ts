/** The records of a turn in the log: how it ended, and why it was tried again. Never what was said. */
import type { Decision } from "./outcome.ts";
import type { RetryStep } from "./retry.ts";
import type { AcpSession } from "./session.ts";

export interface TurnEnd {
  readonly turnId: string;
  readonly decision: Decision;
  readonly attempts: number;
  /** Milliseconds. */
  readonly durationMs: number;
  /** The error of Ostler's own that ended it. */
  readonly bug: unknown;
}

/** A warning for what is an incident: a turn that failed, or ended without an answer. */
export function logTurnEnd({ link, id, lateFrames }: AcpSession, end: TurnEnd): void {
  const { turnId, decision, attempts, durationMs, bug } = end;
  const { kind: outcome } = decision;
  const failure = "failure" in decision ? decision.failure : null;
  const isIncident = outcome === "failed" || outcome === "empty";
  link.log?.(bug !== undefined ? "error" : isIncident ? "warn" : "info", "turn.ended", {
    turnId,
    sessionId: id,
    backend: link.backend.id,
    outcome,
    ...(failure !== null && { kind: failure.kind, rule: failure.rule, title: failure.title }),
    attempts,
    durationMs,
    lateFrames,
    ...(bug !== undefined && { error: bug }),
  });
}

export function logRetry({ link }: AcpSession, turnId: string, { attempt, of, delayMs, reason }: RetryStep): void {
  link.log?.("warn", "turn.retry", { turnId, attempt, of, delayMs: Math.round(delayMs), reason });
}
