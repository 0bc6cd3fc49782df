/**
 * Brings pending records to the disk: all that wait in one write, and one sync for all that were written meanwhile
 * (failure observations, section 13). Writing is done at once and waits for nobody; syncing goes on beside the program.
 */
import { mkdirSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../runs/whole-file.ts";
import { syncFile, withFile } from "./journal-file.ts";
import type { JournalFiles } from "./journal-file.ts";
import { createMarker, refreshMarker } from "./marker.ts";
import type { PendingRecords } from "./pending-records.ts";
import { plainStat } from "./reader.ts";
import type { JournalReader } from "./reader.ts";

/** What nobody waits for is synced so late at most (failure observations, section 13). */
const SYNC_MS = 250;
/** The marker is brought up to date so often, and at the end. */
const MARK_MS = 60_000;
/** Written, and not in the marker yet: the first sync brings it there. */
const NEVER = Number.NEGATIVE_INFINITY;

export interface GroupCommitOptions {
  readonly files: JournalFiles;
  readonly writer: string;
  readonly now: () => number;
  readonly isMarked: boolean;
  readonly reader: JournalReader;
  readonly pending: PendingRecords;
  /** Others may have written: takes that in, so that what they wrote first counts first. */
  readonly catchUp: (fd: number) => void;
  /** Everything was written. True when that gives more to write. */
  readonly onWritten: () => boolean;
  readonly onError: (error: unknown) => void;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #isMarked: boolean;
  /** When this process last said how much there is; undefined before it has written anything. */
  #markedAt: number | undefined;
  #isFolderSynced = false;
  #isWriting = false;
  #writeSoon: NodeJS.Immediate | undefined;
  #syncLater: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#isMarked = options.isMarked;
  }

  /** Writes what is pending in a moment, with what comes until then, and syncs what is written. */
  start(): void {
    if (this.#options.pending.unwritten > 0) this.#writeSoon ??= setImmediate(() => this.write());
    this.#syncSoon();
  }

  /** Writes all that is pending, also when it is nothing: that tells whether it can. */
  write(): void {
    clearImmediate(this.#writeSoon);
    this.#writeSoon = undefined;
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { files, pending, catchUp, onWritten } = this.#options;
    this.#attempt(() => {
      mkdirSync(dirname(files.journal), { recursive: true, mode: 0o700 });
      withFile(files.journal, "append", (fd) => {
        catchUp(fd);
        do this.#writeBatch(fd);
        while (pending.unwritten > 0 || onWritten());
      });
    });
    this.#isWriting = false;
    this.#syncSoon();
  }

  /** Resolves when all that is written is synced, or cannot be. Never rejects. */
  async close(): Promise<void> {
    const { pending } = this.#options;
    while (pending.isUnsynced) await (this.#syncing ??= this.#sync());
    clearTimeout(this.#syncLater);
    if (this.#markedAt !== undefined) this.#attempt(() => this.#mark());
  }

  #writeBatch(fd: number): void {
    const { files, writer, reader, pending, catchUp } = this.#options;
    const batch = pending.batch();
    if (batch.length === 0) return;
    const { bytes, records } = reader;
    // Never more than is there: another process may open the journal before this batch is written.
    if (!this.#isMarked) createMarker(files.marker, { records, bytes });
    this.#isMarked = true;
    this.#markedAt ??= NEVER;
    const taken = writeSync(fd, batch);
    if (taken === 0) throw Object.assign(new Error("The disk takes nothing"), { code: "ENOSPC" });
    const wrote = pending.wrote(taken);
    const isAlone = !reader.endsTorn && plainStat(fd).size === bytes + taken;
    if (isAlone && taken === batch.length) reader.skip({ bytes: taken, w: writer, ...wrote });
    else catchUp(fd);
  }

  #syncSoon(): void {
    const { pending } = this.#options;
    if (pending.isSyncUrgent) this.#syncing ??= this.#sync();
    else if (pending.isUnsynced)
      this.#syncLater ??= setTimeout(() => void (this.#syncing ??= this.#sync()), SYNC_MS).unref();
  }

  async #sync(): Promise<void> {
    clearTimeout(this.#syncLater);
    this.#syncLater = undefined;
    const { files, now, pending, onError } = this.#options;
    do {
      const { writtenTo } = pending;
      try {
        await syncFile(files.journal);
        if (!this.#isFolderSynced) syncFolder(dirname(files.journal));
        this.#isFolderSynced = true;
        pending.synced(writtenTo);
      } catch (error) {
        pending.syncFailed();
        onError(error);
      }
    } while (pending.isSyncUrgent);
    if (this.#markedAt !== undefined && now() - this.#markedAt >= MARK_MS) this.#attempt(() => this.#mark());
    this.#syncing = undefined;
    this.#syncSoon();
  }

  /** How much there is, for whoever finds less later. */
  #mark(): void {
    const { files, now, reader } = this.#options;
    refreshMarker(files.marker, { records: reader.records, bytes: reader.bytes });
    this.#markedAt = now();
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
