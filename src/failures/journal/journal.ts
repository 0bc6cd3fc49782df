/**
 * The journal of a run: `failures.jsonl`, and the incidents that its records make. What is appended counts at once, in
 * memory; the disk gets it in batches, and while it takes nothing, memory keeps it (failure observations, sections 12 to
 * 14). Several processes may append to one journal: there is no lock, a line is written whole, and ids tell what is
 * known. Nothing is ever deleted from it.
 */
import { randomBytes } from "node:crypto";
import { statSync, writeSync } from "node:fs";
import { systemCode } from "../../errors/system-code.ts";
import { IncidentFold } from "../incidents/fold.ts";
import type { IncidentState, JournalEvent } from "../records.ts";
import { GroupCommit } from "./group-commit.ts";
import { journalFiles, withFile } from "./journal-file.ts";
import type { JournalFiles } from "./journal-file.ts";
import { readMarker } from "./marker.ts";
import { PendingRecords } from "./pending-records.ts";
import type { Stored } from "./pending-records.ts";
import { prepareEvent, splitReceipt } from "./prepare-event.ts";
import { JournalReader, plainStat } from "./reader.ts";
import { damageGap, droppedGap, missingGap, outageEnd, outageGap } from "./storage-gaps.ts";
import { refusedGap, shorterGap, STORAGE_ACCESS } from "./storage-gaps.ts";

/** A disk that took nothing is tried again so often, also when nobody looks. */
const RETRY_MS = 5000;
/** A journal up to this size is folded anew at once when the order asks for it, a larger one when it has grown by a tenth. */
const SMALL_BYTES = 256 * 1024;
const GROWTH = 1.1;

export interface JournalOptions {
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: () => number;
  /** 8 lower-case hex characters that no other process uses; random unless given. */
  readonly writer?: string;
  /** Another process has the run and may be writing: a last line without its end is not lost yet. */
  readonly isLive?: boolean;
}

export class Journal {
  readonly #files: JournalFiles;
  readonly #now: () => number;
  readonly #writer: string;
  readonly #pending: PendingRecords;
  readonly #reader = new JournalReader();
  readonly #disk: GroupCommit;
  #fold = new IncidentFold();
  /** Memory knows what the file does not, or no longer: it is not given up for what the file says. */
  #isAhead = false;
  /** Others wrote before something that counted here already: the order of the file has to decide. */
  #isMixed = false;
  /** How long the file was when it was last folded anew. */
  #foldedBytes = 0;
  /** The system's code, while the journal cannot be read or written. */
  #outage: string | undefined;
  #outages = 0;
  #dropped = 0;
  #retryLater: NodeJS.Timeout | undefined;

  /** Reads what is there; a folder that is missing holds nothing. Never throws: what is wrong becomes an incident. */
  static open(folder: string, options: JournalOptions = {}): Journal {
    return new Journal(folder, options);
  }

  private constructor(
    folder: string,
    { now = Date.now, writer = randomBytes(4).toString("hex"), isLive = false }: JournalOptions,
  ) {
    this.#files = journalFiles(folder);
    this.#now = now;
    this.#writer = writer;
    this.#pending = new PendingRecords(writer);
    const marker = readMarker(this.#files.marker);
    this.#disk = new GroupCommit({
      files: this.#files,
      writer,
      now,
      isMarked: marker !== undefined,
      reader: this.#reader,
      pending: this.#pending,
      catchUp: (fd) => this.#catchUp(fd),
      onWritten: () => this.#endOutage(),
      onError: (error) => this.#goDown("write", error),
    });
    this.#attempt("read", () => {
      const isThere = this.#readTail();
      const { bytes, endsTorn } = this.#reader;
      if (endsTorn && !isLive) this.#attempt("write", () => this.#endTornLine());
      if (marker !== undefined && !isThere) this.#take(missingGap(marker.bytes));
      else if (marker !== undefined && bytes < marker.bytes) this.#take(shorterGap(bytes, marker.bytes));
    });
    if (this.#outage === undefined) this.#endOutage();
    this.#disk.start();
  }

  /** What is known now. It changes with the journal: read it again after every step. */
  get state(): IncidentState {
    return this.#fold.state;
  }

  /** Records that are in memory alone; more than none for longer than a moment means that the disk takes nothing. */
  get pending(): number {
    return this.#pending.unwritten;
  }

  /** Whether the event would change anything: one that is known, or fits nothing, is not written. */
  accepts(event: JournalEvent): boolean {
    return this.#fold.accepts(event);
  }

  /**
   * Takes events, texts scrubbed; the state has them when this returns. Resolves when they are written, with `durable`
   * when they are synced; to `pending` when the disk takes nothing: then they are tried again before every later read or
   * write. Never rejects.
   */
  append(events: readonly JournalEvent[], { durable }: { readonly durable: boolean }): Promise<Stored> {
    for (const event of events.flatMap(splitReceipt)) this.#take(event);
    const stored = this.#pending.whenStored(durable);
    this.#disk.start();
    return stored;
  }

  /** Takes in what other processes wrote, and tries again what the disk did not take. Call it before the state counts. */
  refresh(): void {
    if (this.#outage !== undefined || this.pending > 0) this.#disk.write();
    else this.#attempt("read", () => this.#readTail());
    this.#disk.start();
  }

  /** Writes and syncs what there is. Never rejects; what the disk does not take now is lost with the process. */
  async close(): Promise<void> {
    this.refresh();
    if (this.pending > 0) this.#disk.write();
    await this.#disk.close();
    clearTimeout(this.#retryLater);
  }

  #take(raw: JournalEvent): void {
    if (!this.#fold.accepts(raw)) return;
    const prepared = prepareEvent(raw) ?? prepareEvent(refusedGap(raw.id));
    const observedAt = this.#now();
    if (prepared === undefined || !this.#fold.apply({ event: prepared.event, observedAt })) return;
    if (this.#pending.isFull && this.#outage === undefined) this.#disk.write();
    if (!this.#pending.isFull) this.#pending.take(prepared, observedAt);
    else {
      this.#dropped += 1;
      this.#isAhead = true;
    }
  }

  /** False when there is no journal. */
  #readTail(): boolean {
    const stat = statSync(this.#files.journal, { throwIfNoEntry: false });
    if (stat === undefined) {
      const known = this.#reader.bytes;
      this.#reader.startAgain();
      if (known > 0) this.#lose(known);
    } else if (!this.#reader.isUpToDate(stat)) withFile(this.#files.journal, "read", (fd) => this.#catchUp(fd));
    return stat !== undefined;
  }

  /** Takes what other processes wrote, in the order of the file. */
  #catchUp(fd: number): void {
    if (this.#reader.isUpToDate(plainStat(fd))) return;
    const known = this.#reader.bytes;
    let isOthers = false;
    const result = this.#reader.read(fd, (record) => {
      const isOwn = record.w === this.#writer;
      isOthers ||= !isOwn;
      this.#isMixed ||= isOthers && isOwn;
      // What this process wrote itself is known, and changes nothing.
      this.#fold.apply(record);
    });
    if (result === "ended") this.#lose(known);
    this.#isMixed ||= isOthers && this.pending > 0;
    if (this.#isMixed) this.#foldAnew(fd);
    this.#noticeDamage();
  }

  /** By the order of the file. Two busy writers of a large journal get it later, so that its cost stays linear. */
  #foldAnew(fd: number): void {
    const { bytes } = this.#reader;
    if (this.#isAhead || (bytes > SMALL_BYTES && bytes < this.#foldedBytes * GROWTH)) return;
    const fold = new IncidentFold();
    this.#fold = fold;
    this.#reader.startAgain();
    this.#reader.read(fd, (record) => fold.apply(record));
    this.#pending.review((record) => fold.apply(record));
    this.#isMixed = false;
    this.#foldedBytes = bytes;
  }

  /** Somebody died while writing it. With a newline it stays as it is, whoever appends what. */
  #endTornLine(): void {
    withFile(this.#files.journal, "append", (fd) => {
      writeSync(fd, "\n");
      this.#catchUp(fd);
    });
  }

  /** The file had so many bytes, and has them no more. */
  #lose(knownBytes: number): void {
    this.#isAhead = true;
    this.#take(shorterGap(this.#reader.bytes, knownBytes));
  }

  /** While this process itself cannot finish a line, what is bad may be made good. */
  #noticeDamage(): void {
    const gap = this.#outage === undefined ? damageGap(this.#reader.damage) : undefined;
    if (gap !== undefined) this.#take(gap);
  }

  #attempt(access: "read" | "write", act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#goDown(access, error);
    }
  }

  #goDown(access: "read" | "write", error: unknown): void {
    if (this.#outage === undefined) {
      this.#outage = systemCode(error) || "EIO";
      this.#outages += 1;
      this.#take(outageGap(access, this.#outage, `${this.#writer}-${this.#outages}`, this.#now()));
    }
    this.#pending.cannotWrite();
    this.#retryLater ??= setTimeout(() => {
      this.#retryLater = undefined;
      this.refresh();
    }, RETRY_MS).unref();
  }

  /** The journal can be read and written. True when that gives something to write. */
  #endOutage(): boolean {
    this.#outage = undefined;
    clearTimeout(this.#retryLater);
    this.#retryLater = undefined;
    if (this.#dropped > 0) this.#take(droppedGap(this.#writer, this.#outages, this.#dropped));
    this.#dropped = 0;
    const outage = this.state.incidents.get(this.state.current.get(STORAGE_ACCESS) ?? "");
    if (outage?.status === "unresolved") this.#take(outageEnd(outage, this.#now()));
    this.#noticeDamage();
    return this.pending > 0;
  }
}
