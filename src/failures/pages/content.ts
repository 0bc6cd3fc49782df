/**
 * What a run said, as far as a page has room for it. The bytes come through a callback, so that nobody has to hold a log
 * as a whole. Only bytes between code points begin or end a piece.
 */
import { stripControls } from "../../errors/redact.ts";
import { boundaryBefore, bytesOf } from "./bytes.ts";

/** What a run said: an answer, or a log. */
export interface Content {
  /** Heads it on the page: what follows was written by the agent or the command. */
  readonly name: "answer" | "progress" | "output";
  /** How much there is, in bytes. */
  readonly bytes: number;
  /** At most so many bytes from an offset on; may give fewer only at the end. */
  readonly read: (fromByte: number, maxBytes: number) => Uint8Array;
}

/** A piece of it: `toByte` is where the next one begins. */
export interface ContentPiece {
  readonly text: string;
  readonly fromByte: number;
  readonly toByte: number;
}

/** A text that is there already. */
export function textContent(name: Content["name"], text: string): Content {
  const bytes = Buffer.from(text);
  return { name, bytes: bytes.length, read: (from, max) => bytes.subarray(from, from + max) };
}

/** From an offset on, or the last part (whole lines of it when there are any). `raw` keeps control characters. */
export function pieceOfContent(
  content: Content,
  where: { readonly from: number | "end"; readonly maxBytes: number; readonly raw: boolean },
): ContentPiece {
  const { from, maxBytes, raw } = where;
  const fromByte = from === "end" ? startOfTail(content, maxBytes) : from;
  // One more byte shows whether the last code point is whole.
  const bytes = content.read(fromByte, maxBytes + 1);
  let end = boundaryBefore(bytes, maxBytes);
  let text = shown(bytes.subarray(0, end), raw);
  // Bytes that are no UTF-8 take three each once they are text.
  while (bytesOf(text) > maxBytes) {
    end = boundaryBefore(bytes, Math.floor((end * maxBytes) / (bytesOf(text) + 1)));
    text = shown(bytes.subarray(0, end), raw);
  }
  return { text, fromByte, toByte: fromByte + end };
}

/** Controls of a terminal could hide the failures that stand above. */
function shown(bytes: Uint8Array, raw: boolean): string {
  const text = Buffer.from(bytes).toString("utf8");
  return raw ? text : stripControls(text);
}

function startOfTail(content: Content, maxBytes: number): number {
  const from = Math.max(0, content.bytes - maxBytes);
  if (from === 0) return 0;
  const bytes = content.read(from, maxBytes);
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0 && newline < bytes.length / 2) return from + newline + 1;
  // The first byte may be inside of a code point: at most three bytes of it are left.
  let skipped = 0;
  while (skipped < 3 && ((bytes[skipped] ?? 0) & 0xc0) === 0x80) skipped += 1;
  return from + skipped;
}
