/**
 * One run while it goes on: every entry becomes a line of the log, is observed, and what was observed goes into the
 * journal. One direction, and the same for a run that was read again: see `rescan.ts`.
 */
import { decideDisposition } from "./incidents/disposition.ts";
import { EMPTY_STATE } from "./incidents/fold.ts";
import type { Journal } from "./journal/journal.ts";
import type { RunLog } from "./log/run-log.ts";
import type { Observer } from "./observation/observer.ts";
import type { FailureEvent, IncidentState, JournalEvent } from "./records.ts";
import type { RunEntry } from "./run-lines.ts";

export interface RunRecorderOptions {
  readonly runId: string;
  readonly log: RunLog;
  /** Undefined while it is not known whether the run is trusted: lines are only written then. */
  readonly observer: Observer | undefined;
  /** Makes the folder of the run, with the log in it, when the first event is observed. Must not throw. */
  readonly openJournal: () => Journal;
  /** Told after each change of what is known. */
  readonly onChange?: (journal: Journal) => void;
}

/** An agent's `failure_disposition`, as it called it. */
export interface DispositionCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly request: unknown;
}

/** What the agent is answered. */
export interface DispositionAnswer {
  readonly accepted: boolean;
  /** For the agent, which has to know why not. */
  readonly message: string;
}

export class RunRecorder {
  readonly #options: RunRecorderOptions;
  #observer: Observer | undefined;
  #journal: Journal | undefined;
  #settling: NodeJS.Timeout | undefined;
  /** Has an observer watch an operation: the one that comes later as well. */
  #watch: ((observer: Observer) => void) | undefined;
  #n = 0;

  constructor(options: RunRecorderOptions) {
    this.#options = options;
    this.#observer = options.observer;
  }

  /** Observes from here on with an observer that has been through all lines so far, see `rescan.ts`. */
  observeWith(observer: Observer): void {
    this.#observer = observer;
    this.#watch?.(observer);
  }

  /** Ordinal of the newest line of the log. */
  get n(): number {
    return this.#n;
  }

  /** Undefined as long as nothing was observed. */
  get journal(): Journal | undefined {
    return this.#journal;
  }

  get state(): IncidentState {
    return this.#journal?.state ?? EMPTY_STATE;
  }

  /** Opens the journal now, for a run that is kept from its start. */
  keep(): Journal {
    this.#journal ??= this.#options.openJournal();
    return this.#journal;
  }

  /** `t`: when it came, ms since 1970; `chars`: how long its line was, 0 where nobody knows. */
  record(entry: RunEntry, t: number, chars: number): void {
    const { line, byte } = this.#options.log.append(entry, { t, chars });
    this.#n = line.n;
    const observer = this.#observer;
    if (observer === undefined) return;
    this.#take(observer.observe(line, byte, this.state));
    const { dueAt } = observer;
    if (dueAt !== undefined && this.#settling === undefined) this.#settleAt(dueAt);
  }

  /**
   * Decides what an agent says of its incidents. It is written down before this resolves, so that the agent is answered
   * with what will still be true after a crash. The caller knows that the run is trusted.
   */
  async dispose({ callId, sessionId, request }: DispositionCall): Promise<DispositionAnswer> {
    const { runId } = this.#options;
    if (this.#observer === undefined) return { accepted: false, message: "Nothing is observed yet; try again" };
    const { attempts } = this.#observer;
    const at = Date.now();
    const asked = { by: "child" as const, runId, callId, sessionId, atN: this.#n + 1, at };
    const decision = decideDisposition(request, { ...asked, attempts, state: this.state });
    const { accepted } = decision;
    this.record({ d: "ev", ev: { type: "disposition", callId, sessionId, request, accepted } }, at, 0);
    if (!decision.accepted) return { accepted, message: decision.message };
    const stored = await this.#append([decision.event], true);
    const where = stored === "stored" ? "" : ", in memory only: the disk cannot be written at the moment";
    return { accepted, message: `Recorded as ${decision.event.disposition}${where}` };
  }

  /** See `AttemptBook.isSpent`. True also while nobody can tell: an id that was used must not be used again. */
  isSpent(attemptId: string): boolean {
    return this.#observer?.attempts.isSpent(attemptId) ?? true;
  }

  /** From now on; the result says whether an attempt of the operation that began since has succeeded. One at a time. */
  watchOperation(operation: string): () => boolean {
    let hasSucceeded = false;
    const fromN = this.#n;
    this.#watch = (observer) => {
      observer.watch(operation, fromN, () => {
        hasSucceeded = true;
      });
    };
    if (this.#observer !== undefined) this.#watch(this.#observer);
    return () => hasSucceeded;
  }

  /** Hands the lines so far to the system. */
  flush(): void {
    this.#options.log.flush();
  }

  /** Nothing more comes: what is open ends with it. */
  end(): void {
    clearTimeout(this.#settling);
    this.#take(this.#observer?.runOver() ?? []);
    this.#options.log.flush();
  }

  /** After {@link end}: everything is on disk when this resolves. Never rejects. */
  async close(): Promise<void> {
    this.#options.log.close();
    await this.#journal?.close();
  }

  /** Events that were observed another way: of a rescan, or a gap that somebody else found. */
  add(events: readonly JournalEvent[]): void {
    this.#take(events);
  }

  #settleAt(dueAt: number): void {
    this.#settling = setTimeout(
      () => {
        this.#settling = undefined;
        this.#take(this.#observer?.settle(Date.now()) ?? []);
      },
      Math.max(0, dueAt - Date.now()),
    ).unref();
  }

  #take(events: readonly JournalEvent[]): void {
    if (events.length === 0) return;
    const journal = this.keep();
    const placed = events.map((event) => this.#placed(event));
    void this.#append(placed, placed.some(isUrgent));
    this.#options.onChange?.(journal);
  }

  /** The lines that records name are in the file first: after a kill the log must not end before its journal. */
  #append(events: readonly JournalEvent[], durable: boolean): Promise<"stored" | "pending"> {
    const journal = this.keep();
    this.#options.log.flush();
    return journal.append(events, { durable });
  }

  /** Where its line begins is known once the log is in its file. */
  #placed(event: JournalEvent): JournalEvent {
    if ((event.kind !== "failure" && event.kind !== "incomplete") || event.evidence !== undefined) return event;
    const byte = event.attempt === undefined ? undefined : this.#options.log.byteOf(event.attempt.endN);
    return byte === undefined ? event : { ...event, evidence: `output.log#byte=${byte}` };
  }
}

/** A tool failure may be lost with the power; what nobody else would tell must not (failure observations, section 13). */
function isUrgent(event: JournalEvent): boolean {
  return event.kind === "failure" ? isFirstHand(event) : event.kind === "disposition";
}

function isFirstHand({ category }: FailureEvent): boolean {
  return category !== "tool" && category !== "rejected-intent";
}
