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
  // By `this`: of its own name here tsc 7.0 makes an alias that is set too late.
  static readonly empty: EntryList = new this([], [], 0, 0);
  readonly length: number;
  readonly #chunks: readonly Chunk[];
  /** The newest chunk: what most events change. */
  readonly #tail: Chunk;
  /** So many entries of the oldest chunk were dropped, and go with it. */
  readonly #dropped: number;

  private constructor(chunks: readonly Chunk[], tail: Chunk, dropped: number, length: number) {
    this.#chunks = chunks;
    this.#tail = tail;
    this.#dropped = dropped;
    this.length = length;
  }

  get first(): TranscriptEntry | undefined {
    return (this.#chunks[0] ?? this.#tail)[this.#dropped];
  }

  get last(): TranscriptEntry | undefined {
    return this.length === 0 ? undefined : (this.#tail.at(-1) ?? this.#chunks.at(-1)?.at(-1));
  }

  [Symbol.iterator](): ArrayIterator<TranscriptEntry> {
    return this.toArray().values();
  }

  /** As an array, for whoever wants to walk it backwards or send it. */
  toArray(): TranscriptEntry[] {
    return [...this.#chunks, this.#tail].flat().slice(this.#dropped);
  }

  toJSON(): readonly TranscriptEntry[] {
    return this.toArray();
  }

  /** The entry with that `seq`, or undefined when it was dropped. */
  find(seq: number): TranscriptEntry | undefined {
    const { first } = this;
    if (first === undefined || seq < first.seq) return undefined;
    const chunk = this.#chunk(this.#chunkOf(seq));
    return chunk[positionIn(chunk, seq)];
  }

  append(entry: TranscriptEntry): EntryList {
    const isFull = this.#tail.length >= CHUNK;
    const chunks = isFull ? [...this.#chunks, this.#tail] : this.#chunks;
    return new EntryList(chunks, isFull ? [entry] : [...this.#tail, entry], this.#dropped, this.length + 1);
  }

  /** Puts `entry` where the one of the same `seq` stands, which has to be in the list. */
  replace(entry: TranscriptEntry): EntryList {
    const at = this.#chunkOf(entry.seq);
    const chunk = this.#chunk(at);
    return this.#with(at, chunk.with(positionIn(chunk, entry.seq), entry), this.#dropped, this.length);
  }

  /** Without the entry of that `seq`, which has to be in the list. */
  without(seq: number): EntryList {
    const at = this.#chunkOf(seq);
    const chunk = this.#chunk(at);
    const length = this.length - 1;
    if (seq !== this.first?.seq) {
      const left = chunk.filter((entry) => entry.seq !== seq);
      // Not even one that was dropped is left in it.
      if (left.length > 0 || at === this.#chunks.length) return this.#with(at, left, this.#dropped, length);
      return new EntryList(this.#chunks.toSpliced(at, 1), this.#tail, this.#dropped, length);
    }
    // It goes with its chunk: nothing is copied for most of what is dropped.
    if (this.#dropped + 1 < chunk.length) return new EntryList(this.#chunks, this.#tail, this.#dropped + 1, length);
    return at === this.#chunks.length
      ? new EntryList([], [], 0, length)
      : new EntryList(this.#chunks.slice(1), this.#tail, 0, length);
  }

  #with(at: number, chunk: Chunk, dropped: number, length: number): EntryList {
    return at === this.#chunks.length
      ? new EntryList(this.#chunks, chunk, dropped, length)
      : new EntryList(this.#chunks.with(at, chunk), this.#tail, dropped, length);
  }

  #chunk(at: number): Chunk {
    return this.#chunks[at] ?? this.#tail;
  }

  /** The last chunk that begins at or before `seq`, the tail as the last of them. */
  #chunkOf(seq: number): number {
    const [newest] = this.#tail;
    if (newest !== undefined && newest.seq <= seq) return this.#chunks.length;
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle]![0]!.seq <= seq) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

function positionIn(chunk: Chunk, seq: number): number {
  const [first] = chunk;
  if (first === undefined) return -1;
  // Chunks are seldom thinned out, so the distance to the first is nearly always the place.
  const guess = seq - first.seq;
  return chunk[guess]?.seq === seq ? guess : chunk.findIndex((entry) => entry.seq === seq);
}
