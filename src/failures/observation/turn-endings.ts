/**
 * Calls that their turn, their process or the run left without a word of how they ended (failure observations, section
 * 5.4): cancelled with their turn, lost with their process, or waited for and then given up.
 */
import type { JournalEvent } from "../records.ts";
import type { Attempt, Ending } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";
import { ownToolOf } from "./own-calls.ts";
import type { RunFacts } from "./run-facts.ts";
import type { RunSession } from "./run-session.ts";
import { missingResultOf } from "./tool-events.ts";
import type { Verdicts } from "./verdicts.ts";

const NONE: readonly JournalEvent[] = [];
/** How long a call may take to end after its turn: kiro answers a prompt before its last updates (kiro wire notes, section 7). */
const LATE_MS = 5000;
/** The kind of a tool that thinks, reviews or sends a subagent: it may go on, and nobody waits for its result. */
const THINKING = "think";

/** How a turn ended for the calls that it left open: `lost` = with its backend. */
export type TurnEnd = "ended" | "cancelled" | "lost";

interface Waiting {
  readonly attempt: Attempt;
  readonly turnEnd: Ending;
}

export class TurnEndings {
  readonly #facts: RunFacts;
  readonly #attempts: Attempts;
  readonly #verdicts: Verdicts;
  #waiting: Waiting[] = [];
  /** When the first call that is waited for is given up, ms since 1970; Infinity: none is waited for. */
  dueAt = Infinity;

  constructor(facts: RunFacts, attempts: Attempts, verdicts: Verdicts) {
    this.#facts = facts;
    this.#attempts = attempts;
    this.#verdicts = verdicts;
  }

  /** The turn of a session is over. */
  turnOver(session: RunSession, end: TurnEnd, place: Ending): readonly JournalEvent[] {
    const { sessions } = this.#facts;
    const events: JournalEvent[] = [];
    for (const one of sessions.withChildren(session)) {
      if (end !== "ended") this.dropHeld(one, end === "lost" ? "aborted" : "cancelled");
      // A child has no turn of its own that would say that it is over.
      for (const attempt of end === "ended" && one !== session ? [] : one.open) {
        if (end === "ended") this.#wait({ attempt, turnEnd: place });
        else if (end === "lost") this.#verdicts.close(attempt, "aborted", place);
        else if (attempt.refusal === undefined || sessions.isCancelled(one)) {
          this.#verdicts.close(attempt, "cancelled", place);
        } else {
          this.#verdicts.close(attempt, "denied", place);
          events.push(this.#verdicts.tell(attempt, place));
        }
      }
      this.#attempts.settle(one);
    }
    return events;
  }

  /** What failed without a word did so on its own: nothing was lost with it. */
  releaseHeld(session: RunSession): readonly JournalEvent[] {
    const { held } = session;
    if (held.length === 0) return NONE;
    session.held = [];
    return held.flatMap((attempt) =>
      attempt.ending === undefined ? [] : [this.#verdicts.tell(attempt, attempt.ending)],
    );
  }

  /** What failed without a word did so because its turn or its backend was gone. */
  dropHeld(session: RunSession, outcome: "aborted" | "cancelled"): void {
    for (const attempt of session.held) attempt.outcome = outcome;
    session.held = [];
  }

  /** The answer to `session/load`: what the replay left open gets no end any more. */
  loaded(session: RunSession, place: Ending): void {
    for (const attempt of session.open) if (attempt.isReplayed) this.#verdicts.close(attempt, "cancelled", place);
    this.#attempts.settle(session);
  }

  /** Whether a call goes on that is lost with its process. */
  get hasOpen(): boolean {
    for (const { open } of this.#facts.sessions.all) {
      for (const { isCompaction, isReplayed, kind } of open) {
        if (!isCompaction && !isReplayed && kind !== THINKING) return true;
      }
    }
    return false;
  }

  /** The process is gone. `wasLost`: nobody had asked for that, and its exit stands for everything that it left open. */
  processOver(wasLost: boolean, place: Ending): readonly JournalEvent[] {
    const events = wasLost ? NONE : this.over();
    for (const session of this.#facts.sessions.all) {
      this.dropHeld(session, "aborted");
      for (const attempt of session.open) this.#verdicts.close(attempt, "aborted", place);
      this.#attempts.settle(session);
    }
    this.#waiting = [];
    this.dueAt = Infinity;
    return events;
  }

  /** Gives up on the calls that were waited for long enough. */
  settle(nowMs: number): readonly JournalEvent[] {
    if (nowMs < this.dueAt) return NONE;
    const due = this.#waiting.filter(({ turnEnd }) => nowMs >= turnEnd.t + LATE_MS);
    this.#waiting = this.#waiting.filter(({ turnEnd }) => nowMs < turnEnd.t + LATE_MS);
    this.dueAt = Math.min(Infinity, ...this.#waiting.map(({ turnEnd }) => turnEnd.t + LATE_MS));
    return due.flatMap(({ attempt, turnEnd }) =>
      attempt.ending === undefined ? [missingResultOf(attempt, turnEnd)] : [],
    );
  }

  /** Nothing more comes. */
  over(): readonly JournalEvent[] {
    const held = [...this.#facts.sessions.all].flatMap((session) => this.releaseHeld(session));
    return [...held, ...this.settle(Infinity)];
  }

  #wait(waiting: Waiting): void {
    const { attempt, turnEnd } = waiting;
    if (attempt.isBackground || attempt.isCompaction || attempt.isWaitedFor || attempt.kind === THINKING) return;
    if (this.#facts.hasOwnCalls && ownToolOf(attempt) !== undefined) return;
    attempt.isWaitedFor = true;
    this.#waiting.push(waiting);
    this.dueAt = Math.min(this.dueAt, turnEnd.t + LATE_MS);
  }
}
