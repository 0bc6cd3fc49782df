/** The end of a transcript as lines for a person: who said what, what was done, and how it ended. */
import type { Transcript, TranscriptEntry } from "../../acp/transcript/transcript.ts";
import { cleanBlock, cleanLine } from "../../errors/redact.ts";

/** Entries that are shown. */
const MAX_ENTRIES = 40;
const MAX_TEXT_CHARS = 4000;
const MAX_LINE_CHARS = 300;

const TOOL_SIGN = { pending: "▸", in_progress: "▸", completed: "✓", failed: "✗" } as const;

/** The last entries, older ones counted. A message of the agent carries its id, for `sessions fork --at`. */
export function transcriptLines({ entries, earlier }: Transcript): string[] {
  const shown = entries.toArray().flatMap((entry) => {
    const lines = entryLines(entry);
    return lines.length === 0 ? [] : [lines];
  });
  const before = earlier + Math.max(0, shown.length - MAX_ENTRIES);
  return [
    ...(before === 0 ? [] : [`(${before} earlier ${before === 1 ? "entry" : "entries"})`]),
    ...shown.slice(-MAX_ENTRIES).flat(),
  ];
}

function entryLines(entry: TranscriptEntry): string[] {
  switch (entry.type) {
    case "user":
      return said("you", entry.text);
    case "message": {
      if (entry.superseded) return [];
      const id = entry.messageId === undefined ? "" : ` [${line(entry.messageId)}]`;
      return said(`agent${id}`, entry.text);
    }
    case "tool": {
      const title = line(entry.title) || line(entry.kind);
      // Only the start of the command has ended (seed document 002, Async tasks).
      if (entry.isBackgrounded === true && entry.status === "completed") return [`  ▸ ${title} (in the background)`];
      return [`  ${TOOL_SIGN[entry.status]} ${title}`];
    }
    case "failure":
      return [`  ! ${line(entry.failure.title)}`];
    case "notice":
      return [`  · ${line(entry.text)}`];
    case "compaction":
      return entry.compaction.state === "completed" ? ["  · The history was compacted here"] : [];
    default:
      return [];
  }
}

function said(who: string, text: string): string[] {
  return [
    `${who}:`,
    ...cleanBlock(text, MAX_TEXT_CHARS)
      .split("\n")
      .map((row) => `  ${row}`.trimEnd()),
  ];
}

function line(text: string): string {
  return cleanLine(text, MAX_LINE_CHARS);
}
