/**
 * Where an entry stands, by its key. Shared by the transcripts that grew out of one another, as a place to look first and
 * not as the truth: what it says is checked, and only what none of them ever held is missing from it.
 */
import type { EntryList } from "./entry-list.ts";
import type { TranscriptEntry } from "./transcript.ts";

/** Keys of dropped entries that are kept before the index is built anew. */
const SPARE_KEYS = 4000;

export class EntryIndex {
  readonly #seqs = new Map<string, number>();

  /** The newest entry of that key. */
  find(entries: EntryList, key: string): TranscriptEntry | undefined {
    const seq = this.#seqs.get(key);
    if (seq === undefined) return undefined;
    const entry = entries.find(seq);
    return entry?.key === key ? entry : entries.toArray().findLast((other) => other.key === key);
  }

  /** Notes an entry that was just put into `entries`; returns the index that these have from now on. */
  with({ key, seq }: TranscriptEntry, entries: EntryList): EntryIndex {
    if (key === undefined) return this;
    if (this.#seqs.size > entries.length + SPARE_KEYS) return EntryIndex.#of(entries);
    this.#seqs.set(key, seq);
    return this;
  }

  static #of(entries: EntryList): EntryIndex {
    const index = new EntryIndex();
    for (const { key, seq } of entries) if (key !== undefined) index.#seqs.set(key, seq);
    return index;
  }
}
