/** The attempts of a run: those that go on, and of those that ended what retries and dispositions are judged by. */
import type { AttemptBook, AttemptFact } from "../attempt-book.ts";
import type { RunIntent } from "../intent.ts";
import { Attempt } from "./attempt.ts";
import type { RunSession, RunSessions } from "./run-session.ts";

/** Ended attempts that are kept; beyond them the oldest successes go first. */
const MAX_ENDED = 50_000;
/** Attempts of a turn that may still end differently. */
const MAX_RECENT = 256;

/** The operation of an attempt, made when it is asked for. */
export type OperationOf = (attempt: Attempt) => string;

export class Attempts implements AttemptBook {
  readonly #sessions: RunSessions;
  readonly #operationOf: OperationOf;
  readonly #maxEnded: number;
  readonly #succeeded = new Queue<Attempt>();
  readonly #others = new Queue<Attempt>();
  readonly #byAttemptId = new Map<string, Attempt>();
  readonly #bindings = new Map<string, string>();
  readonly #spent = new Set<string>();

  constructor(sessions: RunSessions, operationOf: OperationOf, maxEnded = MAX_ENDED) {
    this.#sessions = sessions;
    this.#operationOf = operationOf;
    this.#maxEnded = maxEnded;
  }

  /**
   * A call of the session begins at line `n`; one that had the id before it has ended. `failedBefore`: how often a call with
   * the id failed before anything was observed. Others do not count, for who begins late does not know of them.
   */
  start(session: RunSession, toolCallId: string, n: number, failedBefore = 0): Attempt {
    const before = session.calls.get(toolCallId);
    const reuse = before === undefined ? failedBefore : before.reuse + (before.eventId === undefined ? 0 : 1);
    const attempt = new Attempt(session, toolCallId, reuse, n);
    session.calls.set(toolCallId, attempt);
    session.open.add(attempt);
    return attempt;
  }

  /** It has ended for the first time. */
  ended(attempt: Attempt): void {
    const { session } = attempt;
    session.open.delete(attempt);
    session.recent.push(attempt);
    if (session.recent.length > 2 * MAX_RECENT) this.settle(session, MAX_RECENT);
    (attempt.outcome === "succeeded" ? this.#succeeded : this.#others).push(attempt);
    if (this.#succeeded.length + this.#others.length > this.#maxEnded) this.#forgetOne();
  }

  /** What ended in the session can end in no other way any more: all of it, or the first `count`. */
  settle(session: RunSession, count = session.recent.length): void {
    if (count === 0) return;
    const { held } = session;
    for (const attempt of session.recent.splice(0, count)) {
      if (held.includes(attempt)) session.recent.push(attempt);
      else attempt.release();
    }
  }

  /** A call names an attemptId: from now on no other one may. False when one did before. */
  spend(attemptId: string): boolean {
    if (this.#spent.has(attemptId)) return false;
    this.#spent.add(attemptId);
    return true;
  }

  /** The call was accepted with this intent. */
  declare(attempt: Attempt, intent: RunIntent): void {
    attempt.intent = intent;
    if (intent.attemptId !== undefined) this.#byAttemptId.set(intent.attemptId, attempt);
  }

  /** The first attempt that uses an operationId binds it. */
  bind({ intent }: Attempt, operation: string): void {
    const operationId = intent?.operationId;
    if (operationId !== undefined && !this.#bindings.has(operationId)) this.#bindings.set(operationId, operation);
  }

  byAttemptId(attemptId: string): AttemptFact | undefined {
    const attempt = this.#byAttemptId.get(attemptId);
    return attempt && this.#factOf(attempt);
  }

  byToolCallId(toolCallId: string): AttemptFact | undefined {
    let newest: Attempt | undefined;
    for (const { calls } of this.#sessions.all) {
      const attempt = calls.get(toolCallId);
      if (attempt !== undefined && (newest === undefined || attempt.startN > newest.startN)) newest = attempt;
    }
    return newest && this.#factOf(newest);
  }

  operationOf(operationId: string): string | undefined {
    return this.#bindings.get(operationId);
  }

  isSpent(attemptId: string): boolean {
    return this.#spent.has(attemptId);
  }

  #factOf(attempt: Attempt): AttemptFact {
    const { session, toolCallId, intent, startN, ending, outcome, eventId } = attempt;
    return {
      sessionId: session.id,
      toolCallId,
      ...(intent?.attemptId !== undefined && { attemptId: intent.attemptId }),
      ...(intent?.operationId !== undefined && { operationId: intent.operationId }),
      operation: this.#operationOf(attempt),
      startN,
      ...(ending !== undefined && { endN: ending.n }),
      outcome,
      ...(eventId !== undefined && { eventId }),
    };
  }

  #forgetOne(): void {
    const oldest = this.#succeeded.shift() ?? this.#others.shift();
    if (oldest === undefined) return;
    const { session, toolCallId, intent } = oldest;
    if (session.calls.get(toolCallId) === oldest) session.calls.delete(toolCallId);
    const attemptId = intent?.attemptId;
    if (attemptId !== undefined && this.#byAttemptId.get(attemptId) === oldest) this.#byAttemptId.delete(attemptId);
  }
}

/** First in, first out, at the price of an array. */
class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
