/**
 * Reads a journal, and only what was added since it last looked (failure observations, sections 13 and 14). A line that
 * is no record stops nothing: it is counted, and what can be read is read.
 */
import { fstatSync } from "node:fs";
import type { Stats } from "node:fs";
import { MAX_RECORD_BYTES } from "../records.ts";
import type { JournalRecord } from "../records.ts";
import { readLines } from "./lines.ts";
import { readRecord } from "./record.ts";

/** What is missing of a journal. */
export interface Damage {
  /** Records that were written once and cannot be read. */
  readonly records: number;
  /** Where the last of them was missed, in bytes. */
  readonly at: number;
}

/** `ended`: the file is shorter than it was, or it is another one; it was read from its start. */
export type ReadResult = "grown" | "ended";

export class JournalReader {
  #file: { readonly dev: number; readonly ino: number } | undefined;
  #end = 0;
  #unfinishedBytes = 0;
  #records = 0;
  #seqs = new Map<string, number>();
  #badLines = 0;
  #missingSeqs = 0;
  #damagedAt = 0;

  /** Up to here every line was read. */
  get end(): number {
    return this.#end;
  }

  /** How long the file was, as far as this reader knows. */
  get bytes(): number {
    return this.#end + this.#unfinishedBytes;
  }

  get records(): number {
    return this.#records;
  }

  /** The last line has no newline: somebody is writing it, or died while writing it. */
  get endsTorn(): boolean {
    return this.#unfinishedBytes > 0;
  }

  /** A line that is unreadable leaves a hole in the numbers of its writer as well, if that one went on: it counts once. */
  get damage(): Damage {
    return { records: Math.max(this.#badLines, this.#missingSeqs), at: this.#damagedAt };
  }

  /** Whether there is nothing to read in a file like this. */
  isUpToDate({ dev, ino, size }: Pick<Stats, "dev" | "ino" | "size">): boolean {
    return dev === this.#file?.dev && ino === this.#file.ino && size === this.bytes;
  }

  /** Reads what was added. Throws the system's error, and EINVAL for what is no plain file. */
  read(fd: number, onRecord: (record: JournalRecord) => void): ReadResult {
    const { dev, ino, size } = plainStat(fd);
    const isAnother = this.#file !== undefined && (dev !== this.#file.dev || ino !== this.#file.ino);
    const result = isAnother || size < this.bytes ? "ended" : "grown";
    if (result === "ended") this.startAgain();
    this.#file = { dev, ino };
    const from = { from: this.#end, maxBytes: MAX_RECORD_BYTES - 1 };
    const read = readLines(fd, from, (line, at) => {
      const record = line === undefined ? undefined : readRecord(line);
      if (record === undefined) this.#miss(at);
      else {
        this.#count(record, at);
        onRecord(record);
      }
    });
    this.#end = read.end;
    this.#unfinishedBytes = read.unfinishedBytes;
    return result;
  }

  /** Skips what this process itself has just appended behind a whole line, when nobody else appended anything. */
  skip({ bytes, records, w, seq }: { bytes: number; records: number; w: string; seq: number }): void {
    this.#end += bytes;
    this.#records += records;
    this.#seqs.set(w, seq);
  }

  /** Nobody is writing any more: a last line without its newline is lost. Called once, and the reader reads on behind it. */
  missUnfinished(): void {
    if (!this.endsTorn) return;
    this.#miss(this.#end);
    this.#end = this.bytes;
    this.#unfinishedBytes = 0;
  }

  /** Knows nothing any more: the next reading is of the whole file. */
  startAgain(): void {
    this.#file = undefined;
    this.#end = 0;
    this.#unfinishedBytes = 0;
    this.#records = 0;
    this.#seqs = new Map();
    this.#badLines = 0;
    this.#missingSeqs = 0;
    this.#damagedAt = 0;
  }

  #miss(at: number): void {
    this.#badLines += 1;
    this.#damagedAt = at;
  }

  #count({ w, seq, torn = 0 }: JournalRecord, at: number): void {
    this.#records += 1;
    this.#badLines = Math.max(0, this.#badLines - torn);
    const last = this.#seqs.get(w) ?? 0;
    if (seq > last + 1) {
      this.#missingSeqs += seq - last - 1;
      this.#damagedAt = at;
    }
    if (seq > last) this.#seqs.set(w, seq);
  }
}

/** What stands behind an open file. A pipe or a folder in its place is not read: throws EINVAL. */
export function plainStat(fd: number): Stats {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw Object.assign(new Error("The journal is no plain file"), { code: "EINVAL" });
  return stat;
}
