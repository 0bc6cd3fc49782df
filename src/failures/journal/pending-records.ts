/**
 * Records on their way to the disk: taken, written, synced, in one order. Holds no file; whoever writes says what became
 * of it. Written ones are kept until they are synced, to be written again if that fails.
 */
import type { JournalEvent } from "../records.ts";
import type { PreparedEvent } from "./prepare-event.ts";
import { encodeRecord } from "./record.ts";

/** Failure observations, section 12: what a disk that cannot be written may cost in memory. */
const MAX_RECORDS = 1000;
const MAX_BYTES = 1024 * 1024;

/** `pending`: not on disk, but in memory, and written as soon as the disk takes it. */
export type Stored = "stored" | "pending";

interface Pending extends PreparedEvent {
  readonly observedAt: number;
  /** Given when it is first written, so that one that is never written leaves no hole. */
  seq?: number;
  /** How often a write broke off in the middle of it. */
  torn: number;
  /** In its newest write, newlines included. */
  bytes: number;
}

interface Waiter {
  /** The place of the last record that it waits for. */
  readonly place: number;
  readonly durable: boolean;
  readonly tell: (stored: Stored) => void;
}

export class PendingRecords {
  readonly #writer: string;
  #seq = 0;
  /** What is not known to be synced, oldest first. */
  #records: Pending[] = [];
  /** So many of them are written. */
  #written = 0;
  #unwrittenChars = 0;
  /** Places count every record that was ever taken, from 1. This is the place of the first of them. */
  #firstPlace = 1;
  #syncedTo = 0;
  #waiters: Waiter[] = [];

  constructor(writer: string) {
    this.#writer = writer;
  }

  /** Those that are in memory alone. */
  get unwritten(): number {
    return this.#records.length - this.#written;
  }

  /** The place of the newest that is written; give it to {@link synced} after a sync that began now. */
  get writtenTo(): number {
    return this.#firstPlace + this.#written - 1;
  }

  /** Something is written and not synced. */
  get isUnsynced(): boolean {
    return this.writtenTo > this.#syncedTo;
  }

  /** As many are in memory as may be. */
  get isFull(): boolean {
    return this.unwritten >= MAX_RECORDS || this.#unwrittenChars >= MAX_BYTES;
  }

  /** Somebody waits for written records to be synced, or there are too many of them to keep. */
  get isSyncUrgent(): boolean {
    const { writtenTo } = this;
    return this.#written > MAX_RECORDS || this.#waiters.some(({ place, durable }) => durable && place <= writtenTo);
  }

  take(event: PreparedEvent, observedAt: number): void {
    this.#records.push({ ...event, observedAt, torn: 0, bytes: 0 });
    this.#unwrittenChars += event.text.length;
  }

  /** Resolves when everything taken so far is written, and synced for a durable one, or cannot be at the moment. */
  whenStored(durable: boolean): Promise<Stored> {
    const place = this.#lastPlace;
    if (this.#isStored({ place, durable })) return Promise.resolve("stored");
    return new Promise((tell) => {
      this.#waiters.push({ place, durable, tell });
    });
  }

  /** One write with all that is unwritten. A newline stands also before each, lest the torn line of another take it in. */
  batch(): Buffer {
    const lines = this.#records.slice(this.#written).map((pending) => {
      pending.seq ??= this.#seq += 1;
      const { seq, observedAt, torn, text } = pending;
      const line = `\n${encodeRecord({ w: this.#writer, seq, observedAt, text, ...(torn > 0 && { torn }) })}\n`;
      pending.bytes = Buffer.byteLength(line);
      return line;
    });
    return Buffer.from(lines.join(""));
  }

  /** So many bytes of the batch were written: how many records whole, and the number of the last of them. */
  wrote(bytes: number): { readonly records: number; readonly seq: number } {
    let left = bytes;
    let records = 0;
    let seq = 0;
    for (let next = this.#records[this.#written]; next !== undefined; next = this.#records[this.#written]) {
      if (left < next.bytes) {
        // A newline alone tears nothing, and a line that lacks only its newline is whole.
        if (left > 1 && left < next.bytes - 1) next.torn += 1;
        break;
      }
      left -= next.bytes;
      records += 1;
      seq = next.seq ?? seq;
      this.#written += 1;
      this.#unwrittenChars -= next.text.length;
    }
    // Of a disk that takes its time to sync, the oldest are let go: they are the first that it syncs.
    this.#forget(Math.max(0, this.#written - 2 * MAX_RECORDS));
    this.#tellStored();
    return { records, seq };
  }

  /** All up to this place are synced. */
  synced(place: number): void {
    this.#syncedTo = Math.max(this.#syncedTo, place);
    this.#forget(Math.max(0, place - this.#firstPlace + 1));
    this.#tellStored();
  }

  /** What is written may be lost: it is written once more. */
  syncFailed(): void {
    this.#written = 0;
    this.#unwrittenChars = charsOf(this.#records);
    this.cannotWrite();
  }

  /** Whoever waits is told that it is in memory. */
  cannotWrite(): void {
    const { writtenTo } = this;
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ place }) => place <= writtenTo);
    for (const { place, tell } of waiters) if (place > writtenTo) tell("pending");
  }

  /** Keeps of the unwritten what is still news, and what may stand in the file in part. Of the rest, others wrote the same. */
  review(isNews: (record: { readonly event: JournalEvent; readonly observedAt: number }) => boolean): void {
    const written = this.#records.slice(0, this.#written);
    const unwritten = this.#records.slice(this.#written);
    // In this order: whoever judges one of them takes it.
    const kept = unwritten.filter((record) => isNews(record) || record.seq !== undefined);
    this.#records = [...written, ...kept];
    this.#firstPlace += unwritten.length - kept.length;
    this.#unwrittenChars = charsOf(kept);
    this.#tellStored();
  }

  get #lastPlace(): number {
    return this.#firstPlace + this.#records.length - 1;
  }

  #forget(records: number): void {
    this.#records = this.#records.slice(records);
    this.#written -= records;
    this.#firstPlace += records;
  }

  #tellStored(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => !this.#isStored(waiter));
    for (const waiter of waiters) if (this.#isStored(waiter)) waiter.tell("stored");
  }

  #isStored({ place, durable }: Pick<Waiter, "place" | "durable">): boolean {
    return place <= (durable ? this.#syncedTo : this.writtenTo);
  }
}

function charsOf(records: readonly Pending[]): number {
  return records.reduce((chars, { text }) => chars + text.length, 0);
}
