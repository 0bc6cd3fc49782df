/**
 * The file of a run's log: lines in, batches out. One process writes it at a time, for a run belongs to one (its
 * conversation has one owner). What goes wrong with the disk never throws: lines wait in memory, then they are counted.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { systemCode } from "../../errors/system-code.ts";
import { readLogEnd } from "./log-end.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const FLAGS = O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_RDWR;

/** A batch is written when it is so large, */
const BATCH_CHARS = 64 * 1024;
/** or so old. */
const BATCH_MS = 50;
/** How soon a disk that took nothing is tried again. */
const RETRY_MS = 1000;
/** What waits for a full disk; lines beyond are lost. */
const MAX_WAITING_CHARS = 1024 * 1024;

export class LogFile {
  readonly #path: string;
  #fd: number | undefined;
  /** Whole lines that no write took yet. */
  #batch = "";
  /** The rest of a batch that a write took only in part. */
  #rest: Buffer | undefined;
  #end = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Ordinal of the last line that was there when it was opened; 0 for an empty file, and while it is not open. */
  lastN = 0;
  /** Lines that found neither a disk nor room in memory, since the last call of {@link takeLost}. */
  #lost = 0;
  /** Why nothing can be written, in a sentence; undefined while all is well. */
  problem: string | undefined;

  /** Opens or makes the file (0600) in a folder that is there. */
  constructor(path: string) {
    this.#path = path;
    this.#open();
  }

  /** Where the line begins in the file, or undefined when it is lost. The line ends with a newline and holds no other. */
  append(line: string): number | undefined {
    if (!this.#hasRoom()) {
      this.#lost += 1;
      this.#timer ??= setTimeout(() => this.flush(), RETRY_MS).unref();
      return undefined;
    }
    const byte = this.#end;
    this.#batch += line;
    this.#end += Buffer.byteLength(line);
    if (this.#batch.length >= BATCH_CHARS && this.problem === undefined) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
    return byte;
  }

  /** How many lines were lost since the last call, once there is room again; 0 before. */
  takeLost(): number {
    if (this.#lost === 0 || !this.#hasRoom()) return 0;
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Hands everything to the system, as far as the disk takes it. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) return;
    if (this.#fd === undefined) this.#open();
    if (this.#fd === undefined) return;
    try {
      this.#writeAll(this.#fd);
      this.problem = undefined;
    } catch (error) {
      this.#fail("written", error);
    }
  }

  /** What the disk does not take now is lost. */
  close(): void {
    this.flush();
    clearTimeout(this.#timer);
    this.#isClosed = true;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Before the file is open nothing waits: nobody knows yet where a line would begin, and what its ordinal is. */
  #hasRoom(): boolean {
    return this.#fd !== undefined && this.#batch.length <= MAX_WAITING_CHARS;
  }

  #open(): void {
    let fd: number | undefined;
    try {
      fd = openSync(this.#path, FLAGS, 0o600);
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw Object.assign(new Error("No plain file"), { code: "EINVAL" });
      const end = readLogEnd(fd, stat.size);
      this.lastN = end.n;
      // Half a line of a killed writer becomes a line of its own.
      this.#batch = end.isTorn ? "\n" : "";
      this.#end = stat.size + this.#batch.length;
      this.#fd = fd;
      this.problem = undefined;
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      this.#fail("opened", error);
    }
  }

  #writeAll(fd: number): void {
    while (this.#rest !== undefined || this.#batch !== "") {
      const bytes = this.#rest ?? Buffer.from(this.#batch);
      if (this.#rest === undefined) this.#batch = "";
      this.#rest = bytes;
      for (let at = 0; at < bytes.length;) {
        at += writeSync(fd, bytes, at);
        this.#rest = at < bytes.length ? bytes.subarray(at) : undefined;
      }
    }
  }

  #fail(what: string, error: unknown): void {
    this.problem = `The log of the run cannot be ${what} (${systemCode(error) || "unknown reason"}): ${this.#path}`;
    this.#timer ??= setTimeout(() => this.flush(), RETRY_MS).unref();
  }
}
