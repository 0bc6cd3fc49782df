/** Texts that are too long for the log: their length and hash stand for them (failure observations, section 14). */
import { createHash } from "node:crypto";

/** Longer texts are left out. */
export const MAX_TEXT_BYTES = 256 * 1024;
/** A character has at most so many bytes in UTF-8, by its length in a string. */
const BYTES_PER_CHAR = 3;
/** JSON that is not longer than this holds no text that is too long. */
export const MAX_WHOLE_CHARS = Math.floor(MAX_TEXT_BYTES / BYTES_PER_CHAR);
/** What is below is left out: deeper than any frame, and a stack is finite. */
const MAX_DEPTH = 64;

/** A copy in which every text over 256 KiB is `{"elided":bytes,"sha256":…}`. */
export function elideTexts(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return elided(value) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => elideTexts(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, elideTexts(inner, depth + 1)]));
}

function elided(text: string): { readonly elided: number; readonly sha256: string } | undefined {
  if (text.length <= MAX_WHOLE_CHARS) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return undefined;
  return { elided: bytes, sha256: createHash("sha256").update(text).digest("hex") };
}
