/**
 * What a run saw before anything of it had to be kept: bounded, because most runs end without a failure and leave
 * nothing behind. Of text and thought the newest pieces are held in slots that are used again and again: a long answer
 * must cost neither memory nor time.
 */
import type { RunEntry } from "../failures/run-lines.ts";

/** An entry, when it came (ms since 1970) and how long its line was. */
export interface HeldEntry {
  readonly entry: RunEntry;
  readonly t: number;
  readonly chars: number;
}

/** Of pieces of text and thought. */
const MAX_PIECES = 256;
/** A longer one is not held at all, so that the sum stays below 4 MiB. */
const MAX_PIECE_CHARS = 16 * 1024;
/** A run has some ten of other kinds before a tool call has it kept. */
const MAX_OTHERS = 4096;

interface Slot {
  frame: unknown;
  t: number;
  chars: number;
  /** Its place among everything. */
  at: number;
}

interface Ordered extends HeldEntry {
  readonly at: number;
}

export class HeldEntries {
  /** A ring: the oldest stands at `#pieceCount % MAX_PIECES` once it is full. */
  #pieces: Slot[] = [];
  #pieceCount = 0;
  #others: Ordered[] = [];
  #at = 0;
  /** Left out so far. */
  dropped = 0;

  /** A piece of text or thought that the agent sent. */
  addPiece(frame: unknown, chars: number): void {
    if (chars > MAX_PIECE_CHARS) {
      this.dropped += 1;
      return;
    }
    const place = this.#pieceCount % MAX_PIECES;
    if (this.#pieceCount >= MAX_PIECES) this.dropped += 1;
    this.#pieceCount += 1;
    const slot = (this.#pieces[place] ??= { frame: undefined, t: 0, chars: 0, at: 0 });
    slot.frame = frame;
    slot.t = Date.now();
    slot.chars = chars;
    slot.at = this.#at += 1;
  }

  /** Anything else. */
  add(entry: RunEntry, chars: number): void {
    this.#others.push({ entry, t: Date.now(), chars, at: (this.#at += 1) });
    if (this.#others.length <= 2 * MAX_OTHERS) return;
    this.dropped += this.#others.length - MAX_OTHERS;
    this.#others = this.#others.slice(-MAX_OTHERS);
  }

  /** All of it in its order; nothing is held any more. */
  take(): readonly HeldEntry[] {
    const pieces = this.#pieces.map(({ frame, ...slot }) => ({ ...slot, entry: { d: "in" as const, frame } }));
    const all = [...this.#others, ...pieces].toSorted((one, other) => one.at - other.at);
    this.#pieces = [];
    this.#pieceCount = 0;
    this.#others = [];
    return all;
  }
}

interface UpdateFrame {
  readonly params?: { readonly update?: { readonly sessionUpdate?: unknown } | null } | null;
}

/** The kind of the session update that a frame is; undefined for everything else. */
export function updateKind(frame: unknown): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read with `?.` alone: what is not there is undefined
  return (frame as UpdateFrame).params?.update?.sessionUpdate;
}
