/**
 * What a run saw before anything of it had to be kept: bounded, because most runs end without a failure and leave
 * nothing behind. Pieces of text and thought go first, for nothing is observed from them.
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
const MAX_ENTRIES = 4096;

export class HeldEntries {
  #entries: HeldEntry[] = [];
  #pieces = 0;
  /** Left out so far. */
  dropped = 0;

  add(entry: RunEntry, chars: number): void {
    if (isPiece(entry)) {
      if (chars > MAX_PIECE_CHARS) {
        this.dropped += 1;
        return;
      }
      this.#pieces += 1;
    }
    this.#entries.push({ entry, t: Date.now(), chars });
    if (this.#pieces > 2 * MAX_PIECES) this.#dropPieces(this.#pieces - MAX_PIECES);
    if (this.#entries.length > 2 * MAX_ENTRIES) this.#dropOldest(this.#entries.length - MAX_ENTRIES);
  }

  /** All of it in its order; nothing is held any more. */
  take(): readonly HeldEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    this.#pieces = 0;
    return entries;
  }

  #dropPieces(count: number): void {
    let left = count;
    this.#entries = this.#entries.filter(({ entry }) => left === 0 || !isPiece(entry) || (left -= 1) < 0);
    this.#pieces -= count;
    this.dropped += count;
  }

  #dropOldest(count: number): void {
    const gone = this.#entries.splice(0, count);
    this.#pieces -= gone.filter(({ entry }) => isPiece(entry)).length;
    this.dropped += count;
  }
}

interface UpdateFrame {
  readonly params?: { readonly update?: { readonly sessionUpdate?: unknown } | null } | null;
}

/** Whether a frame is a piece of text or thought. */
function isPiece(entry: RunEntry): boolean {
  const kind = updateKind(entry);
  return kind === "agent_message_chunk" || kind === "agent_thought_chunk";
}

/** The kind of the session update that an entry is; undefined for everything else. */
export function updateKind(entry: RunEntry): unknown {
  if (entry.d !== "in") return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read with `?.` alone: what is not there is undefined
  return (entry.frame as UpdateFrame).params?.update?.sessionUpdate;
}
