/** Lines of a file, read in pieces: neither the file nor a line that is too long is ever held as a whole. */
import { readSync } from "node:fs";

const PIECE_BYTES = 256 * 1024;
const NEWLINE = 10;

export interface LinesRead {
  /** Where the line begins that has no newline yet; the end of the file when there is none. */
  readonly end: number;
  /** How long that line is so far. */
  readonly unfinishedBytes: number;
}

/**
 * Reads from a line's beginning to the end of the file. `onLine` gets every whole line that is not empty, without its
 * newline, valid until it returns, and undefined for one of more than `maxBytes`. Throws the system's error.
 */
export function readLines(
  fd: number,
  { from, maxBytes }: { readonly from: number; readonly maxBytes: number },
  onLine: (line: Buffer | undefined, at: number) => void,
): LinesRead {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let lineAt = from;
  let position = from;
  // Bytes of the unfinished line at the start of the buffer; of one that is too long, none are kept.
  let kept = 0;
  for (;;) {
    const got = readSync(fd, buffer, kept, PIECE_BYTES - kept, position);
    if (got === 0) return { end: lineAt, unfinishedBytes: position - lineAt };
    const piece = buffer.subarray(0, kept + got);
    position += got;
    let start = 0;
    for (let newline = piece.indexOf(NEWLINE, kept); newline >= 0; newline = piece.indexOf(NEWLINE, start)) {
      const next = position - piece.length + newline + 1;
      const bytes = next - 1 - lineAt;
      if (bytes > maxBytes) onLine(undefined, lineAt);
      else if (bytes > 0) onLine(piece.subarray(start, newline), lineAt);
      start = newline + 1;
      lineAt = next;
    }
    kept = position - lineAt > maxBytes ? 0 : piece.length - start;
    piece.copyWithin(0, piece.length - kept);
  }
}
