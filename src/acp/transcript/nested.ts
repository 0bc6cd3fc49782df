/** Transcripts inside entries: what a subagent did, under the entry that started it. Pure. */
import { noteHolder, replaceEntry } from "./placement.ts";
import type { Transcript, TranscriptEntry } from "./transcript.ts";

/** Subagents of subagents that are shown inside one another; what is deeper stands one level up. */
const MAX_NESTING = 6;

/** Changes one level and gives it back; undefined = what it looks for is not there. */
export type ChangeLevel = (level: Transcript, canNest: boolean) => Transcript | undefined;

/** Tries a change on the transcript itself, then on what is inside it, the newest first. */
export function changeAnywhere(transcript: Transcript, change: ChangeLevel, depth = 0): Transcript | undefined {
  const here = change(transcript, depth < MAX_NESTING);
  if (here !== undefined) return here;
  for (const seq of transcript.book.holders.toReversed()) {
    const holder = transcript.entries.find(seq);
    const work = holder === undefined ? undefined : workOf(holder);
    if (holder === undefined || work === undefined) continue;
    const changed = changeAnywhere(work, change, depth + 1);
    if (changed !== undefined) return withWork(transcript, holder, changed);
  }
  return undefined;
}

export function workOf(entry: TranscriptEntry): Transcript | undefined {
  return entry.type === "tool" || entry.type === "subagent" ? entry.work : undefined;
}

/** Gives an entry of `transcript` another transcript inside. */
export function withWork(transcript: Transcript, entry: TranscriptEntry, work: Transcript): Transcript {
  if (entry.type !== "tool" && entry.type !== "subagent") return transcript;
  const size = entry.size - (entry.work?.book.size ?? 0) + work.book.size;
  return noteHolder(replaceEntry(transcript, entry, { ...entry, work, size }), entry.seq);
}
