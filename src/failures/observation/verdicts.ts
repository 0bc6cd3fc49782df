/** What follows from the end of an attempt: a failure, a recovery, or nothing. */
import type { AttemptOutcome } from "../attempt-book.ts";
import type { FailureEvent, IncidentState, JournalEvent } from "../records.ts";
import type { Attempt, Ending } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";
import { anonymousOperation, operationOf } from "./operation.ts";
import type { RunFacts } from "./run-facts.ts";
import { SECOND_ENDING, failureOf, recoveryOf, toolEventId, toolName } from "./tool-events.ts";

const NONE: readonly JournalEvent[] = [];

export class Verdicts {
  readonly #facts: RunFacts;
  readonly #attempts: Attempts;
  /** Tools with an unresolved failure, at this revision of the state. */
  #failing: ReadonlySet<string> = new Set();
  #failingAt = 0;
  #watched: { readonly operation: string; readonly fromN: number; readonly onSuccess: () => void } | undefined;

  constructor(facts: RunFacts, attempts: Attempts) {
    this.#facts = facts;
    this.#attempts = attempts;
  }

  /** `onSuccess` is called for each attempt of the operation that succeeds and began behind line `fromN`, until the next call. */
  watch(operation: string, fromN: number, onSuccess: () => void): void {
    this.#watched = { operation, fromN, onSuccess };
  }

  /** It has ended, and nothing is told of it. */
  close(attempt: Attempt, outcome: AttemptOutcome, ending: Ending): void {
    attempt.ending = ending;
    attempt.outcome = outcome;
    this.#attempts.ended(attempt);
    // What an agent may name as evidence has to be comparable.
    if (this.#facts.trusted) this.#attempts.bind(attempt, this.operationOf(attempt));
  }

  /** It has ended. `before`: what is told at the same moment and not in the state yet. */
  ended(
    attempt: Attempt,
    outcome: AttemptOutcome,
    ending: Ending,
    state: IncidentState,
    before: readonly JournalEvent[] = NONE,
  ): readonly JournalEvent[] {
    this.close(attempt, outcome, ending);
    if (outcome === "succeeded") return this.#recovery(attempt, ending, state, before);
    return outcome === "failed" || outcome === "denied" || outcome === "expected" ? [this.tell(attempt, ending)] : NONE;
  }

  /** An attempt that has ended ends once more, and in another way. */
  endedAgain(attempt: Attempt, outcome: AttemptOutcome, ending: Ending, state: IncidentState): readonly JournalEvent[] {
    const { held } = attempt.session;
    const before = attempt.outcome;
    if (attempt.isSettled || attempt.isReplayed || before === outcome) return NONE;
    if (before === "failed" && outcome === "succeeded") {
      attempt.outcome = outcome;
      const at = held.indexOf(attempt);
      if (at < 0) return this.#takenBack(attempt, ending, state);
      held.splice(at, 1);
      return this.#recovery(attempt, ending, state, NONE);
    }
    if (before !== "succeeded" || outcome !== "failed") return NONE;
    attempt.outcome = outcome;
    return [this.tell(attempt, ending, SECOND_ENDING)];
  }

  /** It went on after its call had ended well, and failed. */
  failedInBackground(attempt: Attempt, ending: Ending): readonly JournalEvent[] {
    if (attempt.outcome !== "succeeded") return NONE;
    attempt.outcome = "failed";
    attempt.code = undefined;
    return [this.tell(attempt, ending, SECOND_ENDING)];
  }

  /** The failure of an attempt that has ended. */
  tell(attempt: Attempt, ending: Ending, suffix = ""): FailureEvent {
    const { runId, sessions } = this.#facts;
    const operation = this.operationOf(attempt);
    const id = `${toolEventId("tool", attempt)}${suffix}`;
    attempt.eventId = id;
    attempt.operation = operation;
    return failureOf({ attempt, id, operation, ending, runId, cwd: sessions.cwdOf(attempt.session) });
  }

  /** The key that the attempt is grouped by. One whose arguments are no longer known is like no other. */
  operationOf(attempt: Attempt): string {
    if (attempt.operation !== undefined) return attempt.operation;
    const { sessions } = this.#facts;
    const operation = attempt.isSettled
      ? anonymousOperation(attempt)
      : operationOf(attempt, sessions.cwdOf(attempt.session), this.#facts);
    if (attempt.ending !== undefined) attempt.operation = operation;
    return operation;
  }

  #recovery(
    attempt: Attempt,
    ending: Ending,
    state: IncidentState,
    before: readonly JournalEvent[],
  ): readonly JournalEvent[] {
    this.#seen(attempt);
    if (before.length === 0 && !this.#isFailing(attempt, state)) return NONE;
    const operation = this.operationOf(attempt);
    const current = state.incidents.get(state.current.get(operation) ?? "");
    const unresolved = current?.status === "unresolved" ? current : undefined;
    const untold = before.find(
      (event): event is FailureEvent => event.kind === "failure" && event.operation === operation,
    );
    const failure = untold?.attempt ?? unresolved?.attempt;
    const incident = unresolved?.id ?? untold?.id;
    if (incident === undefined || failure === undefined || failure.endN >= attempt.startN) return NONE;
    return [recoveryOf(attempt, operation, incident, ending, state)];
  }

  /** The attempt itself takes back what it had said. */
  #takenBack(attempt: Attempt, ending: Ending, state: IncidentState): readonly JournalEvent[] {
    this.#seen(attempt);
    const incident = state.incidents.get(state.incidentOfEvent.get(attempt.eventId ?? "") ?? "");
    if (incident?.status !== "unresolved" || incident.attempt?.startN !== attempt.startN) return NONE;
    return [recoveryOf(attempt, incident.operation, incident.id, ending, state)];
  }

  /** A success: of what is watched, or not. Nearly always nothing is, so that nothing has to be hashed. */
  #seen(attempt: Attempt): void {
    const watched = this.#watched;
    if (watched === undefined || attempt.startN <= watched.fromN) return;
    if (this.operationOf(attempt) === watched.operation) watched.onSuccess();
  }

  /** Nearly always no, so that nothing has to be hashed. */
  #isFailing(attempt: Attempt, state: IncidentState): boolean {
    if (state.current.size === 0) return false;
    if (state.revision !== this.#failingAt) {
      const failing = new Set<string>();
      for (const id of state.current.values()) {
        const incident = state.incidents.get(id);
        if (incident?.status === "unresolved" && incident.tool !== undefined) failing.add(incident.tool);
      }
      this.#failing = failing;
      this.#failingAt = state.revision;
    }
    return this.#failing.size > 0 && this.#failing.has(toolName(attempt));
  }
}
