/** Puts entries into a transcript and keeps it bounded. Pure: a transcript that was given out never changes. */
import type { SessionEvent } from "../events.ts";
import { EntryIndex } from "./entry-index.ts";
import { EntryList } from "./entry-list.ts";
import type {
  EntryPlace,
  SessionState,
  Transcript,
  TranscriptBook,
  TranscriptEntry,
  TranscriptLimits,
} from "./transcript.ts";

/** What is kept of a session: more than a screen shows. */
export const SESSION_LIMITS: TranscriptLimits = { entries: 2000, chars: 16 * 1024 * 1024 };
/** What is kept of a subagent. */
export const SUBAGENT_LIMITS: TranscriptLimits = { entries: 500, chars: 2 * 1024 * 1024 };
/** What is not over is kept beyond the number of entries, so that its end finds it: so many of them. */
const MAX_OPEN = 200;
/** Entries with a transcript inside that are searched for what belongs there. */
const MAX_HOLDERS = 200;
/** What an entry costs besides its characters. */
const ENTRY_CHARS = 64;

type WithoutPlace<Entry> = Entry extends unknown ? Omit<Entry, keyof EntryPlace> : never;

/** What an entry says, without its place. */
export type EntryContent = WithoutPlace<TranscriptEntry>;

/** Whose event it is, as an entry says it. */
export type EventSource = Pick<SessionEvent, "turnId" | "late" | "replayed">;

const NO_STATE: SessionState = Object.freeze({
  sessionId: null,
  backend: null,
  agent: null,
  model: null,
  mode: null,
  isWorking: false,
  turnId: null,
  commands: [],
  goal: null,
  tasks: new Map(),
  context: null,
  tokens: null,
});

/** A session of which nothing is known yet. */
export function emptyTranscript(limits: TranscriptLimits = SESSION_LIMITS): Transcript {
  const book = { nextSeq: 0, size: 0, section: 0, isLive: false, index: new EntryIndex(), holders: [], limits };
  return { entries: EntryList.empty, earlier: 0, state: NO_STATE, book };
}

export function withState(transcript: Transcript, state: Partial<SessionState>): Transcript {
  return { ...transcript, state: { ...transcript.state, ...state } };
}

/** The entry of that key, wherever it stands at this level. */
export function findEntry({ entries, book }: Transcript, key: string): TranscriptEntry | undefined {
  return book.index.find(entries, key);
}

/** Adds an entry at the end. `chars`: about how many characters it holds. */
export function addEntry(
  transcript: Transcript,
  { turnId, late, replayed }: EventSource,
  content: EntryContent,
  chars: number,
  key?: string,
): Transcript {
  const { book } = transcript;
  const size = ENTRY_CHARS + chars;
  const entry: TranscriptEntry = {
    ...content,
    seq: book.nextSeq,
    turnId,
    size,
    ...(late && { late }),
    ...(replayed && { replayed }),
    ...(key !== undefined && { key }),
  };
  const entries = transcript.entries.append(entry);
  return trimmed(transcript, entries, {
    ...book,
    nextSeq: book.nextSeq + 1,
    size: book.size + size,
    isLive: book.isLive || replayed !== true,
    index: book.index.with(entry, entries),
  });
}

/** Puts a newer entry in the place of an older one of the same `seq`. */
export function replaceEntry(transcript: Transcript, before: TranscriptEntry, after: TranscriptEntry): Transcript {
  const { book } = transcript;
  const size = book.size + after.size - before.size;
  return trimmed(transcript, transcript.entries.replace(after), size === book.size ? book : { ...book, size });
}

/** What an entry says is replaced by something newer; it stays where it is. */
export function updateEntry(
  transcript: Transcript,
  entry: TranscriptEntry,
  source: EventSource,
  content: EntryContent,
  chars: number,
): Transcript {
  const { seq, turnId, replayed, key } = entry;
  const late = source.late ?? entry.late;
  return replaceEntry(transcript, entry, {
    ...content,
    seq,
    turnId,
    size: ENTRY_CHARS + chars,
    ...(late && { late }),
    ...(replayed && { replayed }),
    ...(key !== undefined && { key }),
  });
}

/** Nothing that is told from now on is about this entry. */
export function closeEntry(transcript: Transcript, entry: TranscriptEntry): Transcript {
  return replaceEntry(transcript, entry, { ...entry, key: undefined });
}

/** Updates the entry of that key, or adds it. */
export function putEntry(
  transcript: Transcript,
  source: EventSource,
  content: EntryContent,
  chars: number,
  key: string,
): Transcript {
  const known = findEntry(transcript, key);
  return known === undefined
    ? addEntry(transcript, source, content, chars, key)
    : updateEntry(transcript, known, source, content, chars);
}

/** Takes an entry out as if it had never been told. */
export function removeEntry(transcript: Transcript, { seq, size }: TranscriptEntry): Transcript {
  const { book } = transcript;
  return { ...transcript, entries: transcript.entries.without(seq), book: { ...book, size: book.size - size } };
}

/** Remembers that an entry holds a transcript. */
export function noteHolder(transcript: Transcript, seq: number): Transcript {
  const { book } = transcript;
  if (book.holders.includes(seq)) return transcript;
  return { ...transcript, book: { ...book, holders: [...book.holders, seq].slice(-MAX_HOLDERS) } };
}

/**
 * Drops the oldest of what is over until it fits, counting. It does so at once and by single entries, so that what is left
 * depends on what was told and not on the pieces it came in.
 */
function trimmed({ state, earlier }: Transcript, entries: EntryList, book: TranscriptBook): Transcript {
  const { limits } = book;
  let kept = entries;
  let { size } = book;
  while (kept.length > limits.entries || (size > limits.chars && kept.length > 1)) {
    const oldest = firstToDrop(kept);
    kept = kept.without(oldest.seq);
    size -= oldest.size;
  }
  if (kept === entries) return { entries, earlier, state, book };
  return { entries: kept, earlier: earlier + entries.length - kept.length, state, book: { ...book, size } };
}

function firstToDrop(entries: EntryList): TranscriptEntry {
  const first = entries.first!;
  if (!isOpen(first)) return first;
  let open = 0;
  for (const entry of entries) {
    if (!isOpen(entry)) return entry;
    open += 1;
    if (open > MAX_OPEN) break;
  }
  return first;
}

/** Something is still to be told of it. */
function isOpen(entry: TranscriptEntry): boolean {
  switch (entry.type) {
    case "tool":
      return entry.status === "pending" || entry.status === "in_progress";
    case "subagent":
      return entry.state === "running";
    case "permission":
    case "question":
      return entry.answer === null;
    case "compaction":
      return entry.compaction.state === "running";
    case "task":
      return entry.task.state === "running" || entry.task.state === "paused";
    default:
      return false;
  }
}
