/** The attempts of a run, as far as dispositions and the reuse of ids are judged by them. Types only. */

export type AttemptOutcome =
  | "running"
  | "succeeded"
  | "failed"
  /** A declared exit code: no failure, and no success either. */
  | "expected"
  | "cancelled"
  | "denied"
  /** Its process died; the exit stands for it. */
  | "aborted"
  /** The call was refused before anything ran. */
  | "rejected";

/** One execution of an operation. */
export interface AttemptFact {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly attemptId?: string;
  readonly operationId?: string;
  /** The key that its incidents are grouped by. */
  readonly operation: string;
  /** Ordinals in output.log; `endN` absent while it runs. */
  readonly startN: number;
  readonly endN?: number;
  readonly outcome: AttemptOutcome;
  /** The id of the failure event that it gave. */
  readonly eventId?: string;
}

export interface AttemptBook {
  /** The attempt that declared this id. A refused call has none. */
  byAttemptId(attemptId: string): AttemptFact | undefined;
  /** The newest attempt with this id of a call, in whichever session of the run. */
  byToolCallId(toolCallId: string): AttemptFact | undefined;
  /** The operation that this declared id is bound to. */
  operationOf(operationId: string): string | undefined;
  /** Whether any call named it, accepted or refused, in any session. */
  isSpent(attemptId: string): boolean;
}
