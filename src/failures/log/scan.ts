/**
 * Reads a run's log again: after a restart, or to look into a run of another process. Streamed, so that a log of
 * gigabytes costs a few megabytes of memory; only lines that something may be observed in are parsed.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { systemCode } from "../../errors/system-code.ts";
import type { RunLine } from "../run-lines.ts";
import { readLogEnd } from "./log-end.ts";
import { lineTooLong, logMissing, logUnreadable, lostLines, tornEnd, unreadableLine } from "./log-gap.ts";
import type { LogGap } from "./log-gap.ts";
import { findChange, readIdentity } from "./log-identity.ts";
import type { LogIdentity } from "./log-identity.ts";
import { readRunLine } from "./read-line.ts";
import { UnobservedLines } from "./unobserved.ts";

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
const READ_BYTES = 1024 * 1024;
/** A longer line is not read, and not kept while it passes (failure observations, section 12). */
export const MAX_LINE_BYTES = 2 * 1024 * 1024;
const NEWLINE = 10;

export interface ScanOptions {
  /** Where a line begins; 0 by default. A log that is another one now is read from its beginning. */
  readonly fromByte?: number;
  /** What the log was when it was read up to `fromByte`. */
  readonly known?: LogIdentity;
  /** Nobody writes any more: half a line at the end stays one. */
  readonly isOver?: boolean;
  /** In the order of the file; lines that nothing can be observed in are left out. `byte`: where it begins. */
  readonly onLine: (line: RunLine, byte: number) => void;
  readonly onGap: (gap: LogGap) => void;
}

export interface LogScan {
  /** Where the next scan goes on: behind the last whole line. */
  readonly bytes: number;
  /** Ordinal of the last line, 0 for none. */
  readonly n: number;
  /** Half a line stands behind `bytes`. */
  readonly endsTorn: boolean;
  /** Undefined when the log could not be read. */
  readonly identity: LogIdentity | undefined;
}

/** Never throws for what is on the disk: that is a gap. What `onLine` and `onGap` throw ends the scan. */
export function scanRunLog(file: string, options: ScanOptions): LogScan {
  const { fromByte = 0, onGap } = options;
  const nothing: LogScan = { bytes: fromByte, n: 0, endsTorn: false, identity: undefined };
  let fd: number;
  try {
    fd = openSync(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    const code = systemCode(error);
    onGap(code === "ENOENT" ? logMissing() : logUnreadable(code));
    return nothing;
  }
  try {
    return new Scan(fd, options).run();
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    onGap(logUnreadable(error.code));
    return nothing;
  } finally {
    closeSync(fd);
  }
}

/** Told apart from what the callbacks throw. */
class ReadError extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super("Cannot read the log of a run", { cause });
    this.code = systemCode(cause);
  }
}

class Scan {
  readonly #fd: number;
  readonly #options: ScanOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_LINE_BYTES + READ_BYTES);
  readonly #unobserved = new UnobservedLines(this.#buffer);
  /** Where in the file the buffer begins: at a line, or inside of one that is passed over. */
  #base = 0;
  /** Bytes of an unfinished line at the beginning of the buffer. */
  #unfinished = 0;
  /** Where the line began that is passed over. */
  #passedOver: number | undefined;

  constructor(fd: number, options: ScanOptions) {
    this.#fd = fd;
    this.#options = options;
  }

  run(): LogScan {
    const { known, fromByte = 0, isOver, onGap } = this.#options;
    const identity = reading(() => readIdentity(this.#fd));
    const change = known && reading(() => findChange(this.#fd, known, identity));
    if (change !== undefined) onGap(change);
    this.#base = change === undefined ? fromByte : 0;
    while (this.#readOn());
    const bytes = this.#passedOver ?? this.#base;
    const endsTorn = this.#passedOver !== undefined || this.#unfinished > 0;
    if (endsTorn && isOver === true) onGap(tornEnd(bytes));
    return { bytes, n: reading(() => readLogEnd(this.#fd, bytes)).n, endsTorn, identity };
  }

  /** False at the end of the file. */
  #readOn(): boolean {
    const buffer = this.#buffer;
    const position = this.#base + this.#unfinished;
    const read = reading(() => readSync(this.#fd, buffer, this.#unfinished, READ_BYTES, position));
    if (read === 0) return false;
    const bytes = buffer.subarray(0, this.#unfinished + read);
    let start = this.#passedOver === undefined ? 0 : this.#endPassingOver(bytes);
    start = this.#lines(bytes, start);
    buffer.copyWithin(0, start, bytes.length);
    this.#base += start;
    this.#unfinished = bytes.length - start;
    if (this.#unfinished > MAX_LINE_BYTES) this.#passOver();
    return true;
  }

  /** Handles the whole lines from `start` on and returns where the unfinished one begins. */
  #lines(bytes: Buffer, start: number): number {
    let searched = Math.max(start, this.#unfinished);
    for (;;) {
      const proven = this.#unobserved.endOfProof(start, bytes.length);
      const end = bytes.indexOf(NEWLINE, Math.max(proven, searched));
      if (end < 0) return start;
      if (proven < 0 && end > start) this.#line(bytes, start, end);
      start = searched = end + 1;
    }
  }

  #line(bytes: Buffer, start: number, end: number): void {
    const { onLine, onGap } = this.#options;
    const byte = this.#base + start;
    if (end - start > MAX_LINE_BYTES) {
      onGap(lineTooLong(byte, MAX_LINE_BYTES));
      return;
    }
    const line = readRunLine(bytes.toString("utf8", start, end));
    if (line === undefined) onGap(unreadableLine(byte));
    else {
      if (line.d === "ev" && line.ev.type === "lost") onGap(lostLines(byte, line.ev.lines));
      onLine(line, byte);
    }
  }

  #passOver(): void {
    this.#passedOver = this.#base;
    this.#base += this.#unfinished;
    this.#unfinished = 0;
  }

  /** Where the line behind the long one begins; all of `bytes` when it goes on. */
  #endPassingOver(bytes: Buffer): number {
    const end = bytes.indexOf(NEWLINE);
    if (end < 0) return bytes.length;
    this.#options.onGap(lineTooLong(this.#passedOver!, MAX_LINE_BYTES));
    this.#passedOver = undefined;
    return end + 1;
  }
}

function reading<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new ReadError(error);
  }
}
