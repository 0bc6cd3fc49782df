/**
 * The entries of a transcript: a list that shares with its predecessor what did not change, so that one event costs the
 * copy of one chunk, however long the list is. Entries stand in the order of their `seq`.
 */
import type { TranscriptEntry } from "./transcript.ts";

type Chunk = readonly TranscriptEntry[];

/** Small enough to be copied for every piece of text, large enough that the list of chunks stays short. */
const CHUNK = 32;

/** An immutable list of entries, oldest first. */
export class EntryList implements Iterable<TranscriptEntry> {
  static readonly empty = new EntryList([], 0);
  readonly length: number;
  readonly #chunks: readonly Chunk[];

  private constructor(chunks: readonly Chunk[], length: number) {
    this.#chunks = chunks;
    this.length = length;
  }

  get last(): TranscriptEntry | undefined {
    return this.#chunks.at(-1)?.at(-1);
  }

  *[Symbol.iterator](): IterableIterator<TranscriptEntry> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  /** As an array, for whoever wants to walk it backwards or send it. */
  toArray(): TranscriptEntry[] {
    return this.#chunks.flat();
  }

  toJSON(): readonly TranscriptEntry[] {
    return this.toArray();
  }

  /** The entry with that `seq`, or undefined when it was dropped. */
  find(seq: number): TranscriptEntry | undefined {
    const chunk = this.#chunks[this.#chunkOf(seq)];
    return chunk?.[positionIn(chunk, seq)];
  }

  append(entry: TranscriptEntry): EntryList {
    const last = this.#chunks.at(-1);
    const isFull = last === undefined || last.length >= CHUNK;
    const chunks = isFull ? [...this.#chunks, [entry]] : this.#chunks.with(this.#chunks.length - 1, [...last, entry]);
    return new EntryList(chunks, this.length + 1);
  }

  /** Puts `entry` where the one of the same `seq` stands, which has to be in the list. */
  replace(entry: TranscriptEntry): EntryList {
    const at = this.#chunkOf(entry.seq);
    const chunk = this.#chunks[at]!;
    return new EntryList(this.#chunks.with(at, chunk.with(positionIn(chunk, entry.seq), entry)), this.length);
  }

  /** Without the entry of that `seq`, which has to be in the list. */
  without(seq: number): EntryList {
    const at = this.#chunkOf(seq);
    const left = this.#chunks[at]!.filter((entry) => entry.seq !== seq);
    const chunks = left.length === 0 ? this.#chunks.toSpliced(at, 1) : this.#chunks.with(at, left);
    return new EntryList(chunks, this.length - 1);
  }

  /** The last chunk that begins at or before `seq`; -1 when none does. */
  #chunkOf(seq: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle]![0]!.seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

function positionIn(chunk: Chunk, seq: number): number {
  // Chunks are seldom thinned out, so the distance to the first is nearly always the place.
  const guess = seq - chunk[0]!.seq;
  return chunk[guess]?.seq === seq ? guess : chunk.findIndex((entry) => entry.seq === seq);
}
