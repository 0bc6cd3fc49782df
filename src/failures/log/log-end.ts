/** The end of a run's log that is there already: where the next writer goes on. */
import { readSync } from "node:fs";

/** A line begins with its time and its ordinal; see `run-log.ts`. */
const HEAD = /^\{"t":\d{1,16},"n":(\d{1,15}),/;
const HEAD_BYTES = 64;
const STEP_BYTES = 64 * 1024;
const NEWLINE = 10;

export interface LogEnd {
  /** Ordinal of the last line, also of one that was cut behind it; 0 when there is none. */
  readonly n: number;
  /** The last line has no newline. */
  readonly isTorn: boolean;
}

/** Reads backwards from `size`. Throws the system's error. */
export function readLogEnd(fd: number, size: number): LogEnd {
  const isTorn = size > 0 && readAt(fd, size - 1, 1)[0] !== NEWLINE;
  let end = size;
  while (end > 0) {
    const start = lineStart(fd, isTorn && end === size ? end : end - 1);
    const n = HEAD.exec(readAt(fd, start, Math.min(HEAD_BYTES, end - start)).toString("latin1"))?.[1];
    if (n !== undefined) return { n: Number(n), isTorn };
    end = start;
  }
  return { n: 0, isTorn };
}

/** Where the line begins that holds the byte before `end`. */
function lineStart(fd: number, end: number): number {
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - STEP_BYTES);
    const at = readAt(fd, from, to - from).lastIndexOf(NEWLINE);
    if (at >= 0) return from + at + 1;
    to = from;
  }
  return 0;
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
