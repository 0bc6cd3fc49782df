/**
 * Tells of one run what somebody has to know, once each. The journal says what was told: a receipt is written after the
 * surface took a notification, so that a crash in between may repeat one and never loses one. Whatever cannot be told
 * now is tried again. Nothing here throws.
 */
import { keyOf } from "../keys.ts";
import type { Notification, NotificationSink } from "../notification.ts";
import type { DeliveredEvent, IncidentState, JournalEvent } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";
import { needsAction } from "../incidents/labels.ts";
import { decideDue, deliveryAtEnd, isEnd } from "./due.ts";
import type { Delivery, DueDecision, EndMoment } from "./due.ts";
import { handOffTo } from "./hand-off.ts";
import type { HandOff } from "./hand-off.ts";
import { renderNotification } from "./text.ts";
import { systemTimer } from "./timer.ts";
import type { SetTimer } from "./timer.ts";

/** What is needed of `Journal`. */
export interface NotifiedJournal {
  readonly state: IncidentState;
  refresh(): void;
  append(events: readonly JournalEvent[], how: { readonly durable: boolean }): Promise<unknown>;
}

export interface NotifierOptions {
  readonly journal: NotifiedJournal;
  /** Undefined while the metadata cannot be read: then nothing is told yet. */
  readonly readMeta: () => RunMeta | undefined;
  /** Adds to `RunMeta.told` that this callback was handed over, or had nothing to say. */
  readonly markTold: (moment: EndMoment) => void;
  /** A surface, or a batch of several runs. */
  readonly sink: NotificationSink | HandOff;
  /** Its end is told also when nothing of it failed. Default false. */
  readonly announcesEnd?: boolean | undefined;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: (() => number) | undefined;
  /** A timer that keeps no process alive, unless given. */
  readonly setTimer?: SetTimer | undefined;
}

/** `deferred`: it could not be told now, and is tried again as long as the process lives, then by the next one. */
export type NotifyResult = "delivered" | "nothing" | "deferred";

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** So long after a retry its outcome is known; before that nobody needs to hear of the failure that led to it. */
const AFTER_RETRY_MS = 5000;

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #handOff: HandOff;
  readonly #now: () => number;
  readonly #retryUntil = new Map<string, number>();
  /** Told by this process, also when that could not be written down. */
  readonly #told = new Set<EndMoment>();
  /** Handed over, though the journal took no receipt. */
  readonly #handed = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;
  /** A notification that is being handed over. */
  #busy: Promise<unknown> | undefined;
  /** Asked for and not told yet. */
  #end: EndMoment | undefined;
  #isEnding = false;
  #isClosed = false;
  #defers = 0;
  #retryAt = 0;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#handOff = "offer" in options.sink ? options.sink : handOffTo(options.sink);
    this.#now = options.now ?? Date.now;
  }

  /** After every change of the journal: tells what is due, and sets the one timer for what will be. */
  look(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isClosed || this.#isEnding || this.#busy !== undefined || !this.#hasPending()) return;
    if (this.#retryAt > this.#now()) return this.#wakeAt(this.#retryAt);
    const due = this.#decide(this.#end);
    if (due === "unknown") this.#defer();
    else if (!("wakeAt" in due)) void this.#notify(due);
    else if (due.wakeAt !== undefined) this.#wakeAt(due.wakeAt);
  }

  /**
   * The run ended, or nobody supervises it any more: tells it at once. Call it when everything is journaled and
   * `meta.json` says how the run ended. Resolves after one try; what was told before is not told again.
   */
  async ended(moment: EndMoment): Promise<NotifyResult> {
    this.#end = moment;
    this.#isEnding = true;
    while (this.#busy !== undefined) await this.#busy;
    this.#isEnding = false;
    if (this.#isClosed) return "deferred";
    const due = this.#decide(moment);
    if (due === "unknown") return this.#defer();
    if (!("wakeAt" in due)) return this.#notify(due);
    this.#end = undefined;
    this.look();
    return "nothing";
  }

  /** Ostler itself tries this operation again: nobody hears of its failure before the retry ended. */
  retryScheduled(operation: string): void {
    this.#retryUntil.set(operation, Infinity);
    this.look();
  }

  /** The retry ended, well or not. */
  retryEnded(operation: string): void {
    this.#retryUntil.set(operation, this.#now() + AFTER_RETRY_MS);
    this.look();
  }

  /** Stops the timer; resolves when what is being handed over has its receipt. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#busy;
  }

  /** Without it nothing can be due, and the metadata need not be read. */
  #hasPending(): boolean {
    if (this.#end !== undefined) return true;
    const { incidents, delivered } = this.#state;
    for (const incident of incidents.values()) if (needsAction(incident) && !delivered.has(incident.id)) return true;
    return false;
  }

  #decide(end: EndMoment | undefined): DueDecision | "unknown" {
    const meta = this.#readMeta();
    if (meta === undefined) return "unknown";
    const state = this.#state;
    if (end === undefined) return decideDue({ state, meta, now: this.#now(), retryUntil: this.#retryUntil });
    return meta.callback && !meta.told.includes(end) ? deliveryAtEnd(state, end) : { wakeAt: undefined };
  }

  get #state(): IncidentState {
    const { state } = this.#options.journal;
    if (this.#handed.size === 0) return state;
    const handed = [...this.#handed].filter(([id, at]) => (state.incidents.get(id)?.actionableSince ?? 0) <= at);
    return { ...state, delivered: new Map([...state.delivered, ...handed]) };
  }

  #readMeta(): RunMeta | undefined {
    try {
      const meta = this.#options.readMeta();
      return meta && { ...meta, told: [...meta.told, ...this.#told] };
    } catch {
      return undefined;
    }
  }

  #notify(found: Delivery): Promise<NotifyResult> {
    const work = this.#handOver(found).catch(() => this.#defer());
    this.#busy = this.#goOnAfter(work);
    return work;
  }

  async #goOnAfter(work: Promise<unknown>): Promise<void> {
    await work;
    this.#busy = undefined;
    this.look();
  }

  /** Rejects when it was not handed over. */
  async #handOver(found: Delivery): Promise<NotifyResult> {
    const notification = await this.#handOff.offer(() => this.#prepare(found));
    if (notification !== undefined) await this.#writeReceipt(notification);
    if (isEnd(found.moment)) this.#settle(found.moment);
    this.#defers = 0;
    this.#retryAt = 0;
    return notification === undefined ? "nothing" : "delivered";
  }

  /** What is still to be told, from the journal as it is now. Throws when that is not known. */
  #prepare(found: Delivery): Notification | undefined {
    const { journal, announcesEnd = false } = this.#options;
    journal.refresh();
    const state = this.#state;
    const meta = this.#readMeta();
    const due = this.#decide(isEnd(found.moment) ? found.moment : undefined);
    const named = [...found.incidents, ...found.counted];
    if (due === "unknown" || meta === undefined || named.some(({ id }) => !state.incidents.has(id)))
      throw new Error("What was to be told is not known at the moment");
    if ("wakeAt" in due) return undefined;
    const { moment } = due;
    const incidents = [...due.incidents, ...due.counted];
    if (moment === "completion" && incidents.length === 0 && !announcesEnd) return undefined;
    return { runId: meta.id, moment, incidents, text: renderNotification(due, { meta, state, now: this.#now() }) };
  }

  async #writeReceipt({ runId, incidents }: Notification): Promise<void> {
    const { journal } = this.#options;
    const at = this.#now();
    const ids = incidents.map(({ id }) => id);
    // What was only counted may have to be told in full later: that is another receipt, though of the same incidents.
    const inFull = incidents.filter(needsAction).map((incident) => incident.id);
    const id = `delivered:${inFull.length === 0 ? keyOf(ids.toSorted()) : keyOf(ids.toSorted(), inFull.toSorted())}`;
    const event: DeliveredEvent = {
      id,
      kind: "delivered",
      operation: keyOf("notification", runId),
      at,
      incidents: ids,
    };
    // The journal splits what is too long for one record.
    if (ids.length > 0) await journal.append([event], { durable: true });
    for (const each of ids) if (!journal.state.delivered.has(each)) this.#handed.set(each, at);
  }

  #settle(moment: EndMoment): void {
    this.#told.add(moment);
    this.#end = undefined;
    try {
      this.#options.markTold(moment);
    } catch {
      // The next process tells it once more: better twice than never.
    }
  }

  #defer(): "deferred" {
    this.#defers += 1;
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#defers - 1));
    this.#retryAt = this.#now() + delayMs;
    this.#wakeAt(this.#retryAt);
    return "deferred";
  }

  #wakeAt(at: number): void {
    const { setTimer = systemTimer } = this.#options;
    this.#cancelTimer?.();
    this.#cancelTimer = setTimer(() => this.look(), Math.max(0, at - this.#now()));
  }
}
