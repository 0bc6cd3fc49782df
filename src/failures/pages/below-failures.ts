/** The part of a run's page below its failures: what changed, diagnostics, what the run said, where to go on. Pure. */
import { bytesOf } from "./bytes.ts";
import { pieceOfContent } from "./content.ts";
import type { Content } from "./content.ts";
import type { StatusCursor } from "./cursor.ts";

export interface BelowFailures {
  /** Every line begins with its newline. */
  readonly text: string;
  /** The content on this page. */
  readonly content: string;
  /** The cursor behind it, also when the text has no room for it. */
  readonly next: string;
}

/** Fills the room that the failures left; lines that do not fit as a whole are left out. */
export function belowFailures(page: {
  readonly room: number;
  readonly lines: readonly string[];
  readonly content: Content | undefined;
  readonly from: number | "end";
  readonly raw: boolean;
  readonly cursorAt: (content: number) => string;
}): BelowFailures {
  const { lines, content, from, raw, cursorAt } = page;
  const longest = bytesOf(nextLine(cursorAt(content?.bytes ?? 0)));
  const hasCursor = longest <= page.room;
  let room = page.room - (hasCursor ? longest : 0);
  const kept: string[] = [];
  for (const line of lines.map((each) => `\n${each}`)) {
    if (bytesOf(line) > room) continue;
    kept.push(line);
    room -= bytesOf(line);
  }
  const shown = content === undefined ? undefined : contentWithin(content, { from, maxBytes: room, raw });
  const next = cursorAt(shown?.toByte ?? (from === "end" ? (content?.bytes ?? 0) : from));
  return {
    text: [...kept, shown?.block ?? "", hasCursor ? nextLine(next) : ""].join(""),
    content: shown?.text ?? "",
    next,
  };
}

/** What changed since the cursor. */
export function decisionOf(
  seen: StatusCursor | undefined,
  { failures, status }: Pick<StatusCursor, "failures" | "status">,
  content: Content | undefined,
): readonly string[] {
  if (seen === undefined) return [];
  const more = (content?.bytes ?? 0) - seen.content;
  const changes = [
    more > 0 ? `${more} more ${more === 1 ? "byte" : "bytes"} of ${content?.name ?? "content"}` : "",
    failures === seen.failures ? "" : "failures changed",
    status === seen.status ? "" : `status was ${seen.status}`,
  ];
  return [`Since the cursor: ${changes.filter((change) => change !== "").join(", ")}`];
}

function contentWithin(
  content: Content,
  where: { readonly from: number | "end"; readonly maxBytes: number; readonly raw: boolean },
) {
  const { name, bytes } = content;
  const longest = bytesOf(heading(name, bytes, bytes, bytes));
  if (bytes === 0 || where.maxBytes <= longest) return undefined;
  const piece = pieceOfContent(content, { ...where, maxBytes: where.maxBytes - longest });
  const head = heading(name, piece.fromByte, piece.toByte, bytes);
  return { ...piece, block: piece.text === "" ? "" : `${head}${piece.text}` };
}

/** Says where the words of Ostler end: what follows may look like them. */
function heading(name: Content["name"], from: number, to: number, total: number): string {
  return from === 0 && to === total ? `\n${name}:\n` : `\n${name} (bytes ${from}-${to} of ${total}):\n`;
}

function nextLine(cursor: string): string {
  return `\nnext=${cursor}`;
}
