/** What an entry may hold: text is kept from its end, values are cut where they are too long. Pure. */
import { isObject } from "../frames.ts";

/** The text of one message. */
export const MAX_TEXT_CHARS = 1024 * 1024;
/** The output of one command. */
export const MAX_TERMINAL_CHARS = 256 * 1024;
/** The input, the output or the content of one call, each. */
export const MAX_VALUE_CHARS = 64 * 1024;

/** Text of which the end is kept. */
export interface CutText {
  readonly text: string;
  readonly cutChars: number;
}

export const NO_TEXT: CutText = { text: "", cutChars: 0 };

/** The least that text grows by until it is joined for good: until then a piece of three characters costs as much as sixty. */
const JOIN_CHARS = 16 * 1024;
/** What a value costs besides its characters. */
const VALUE_CHARS = 8;
/** Deeper than this nothing is kept of a value. */
const MAX_DEPTH = 20;

/**
 * Adds a piece. Where the front is cut depends on how much there was in all, and not on the pieces it came in: so many
 * quarters of `maxChars` as are too much.
 */
export function addText(before: CutText, piece: string, maxChars: number): CutText {
  const text = before.text + piece;
  const step = maxChars / 4;
  const excess = before.cutChars + text.length - maxChars;
  const cutChars = excess <= 0 ? 0 : Math.ceil(excess / step) * step;
  if (cutChars > before.cutChars) return { text: joined(text.slice(cutChars - before.cutChars)), cutChars };
  const isDue = joinsAt(before.text.length) !== joinsAt(text.length);
  return { text: isDue ? joined(text) : text, cutChars: before.cutChars };
}

/** Grows by one where the text is to be joined: by a quarter of its length each time, so that joining does not cost more than adding. */
function joinsAt(length: number): number {
  return length < 4 * JOIN_CHARS ? Math.floor(length / JOIN_CHARS) : Math.floor(4 * Math.log2(length));
}

/** The beginning of a text, with a word on what is missing. */
export function cutBack(text: string, maxChars = MAX_VALUE_CHARS): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length - maxChars} more characters)`;
}

/** V8 keeps a sum of strings as a tree of its parts until somebody looks into it. */
function joined(text: string): string {
  text.charCodeAt(0);
  return text;
}

/** About how many characters a value of JSON holds; stops counting above `maxChars`. */
export function sizeOf(value: unknown, maxChars = Infinity, depth = 0): number {
  if (typeof value === "string") return VALUE_CHARS + value.length;
  if (depth >= MAX_DEPTH) return VALUE_CHARS;
  let size = VALUE_CHARS;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += sizeOf(item, maxChars - size, depth + 1);
      if (size > maxChars) return size;
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      size += key.length + sizeOf(value[key], maxChars - size, depth + 1);
      if (size > maxChars) return size;
    }
  }
  return size;
}

/** The value itself when it is small enough; else a copy in which long texts are cut and what is too much is left out. */
export function boundValue(value: unknown, maxChars = MAX_VALUE_CHARS): unknown {
  return sizeOf(value, maxChars) <= maxChars ? value : cutValue(value, { left: maxChars }, 0);
}

function cutValue(value: unknown, budget: { left: number }, depth: number): unknown {
  budget.left -= VALUE_CHARS;
  if (typeof value === "string") {
    const kept = cutBack(value, Math.max(0, budget.left));
    budget.left -= Math.min(value.length, budget.left);
    return kept;
  }
  if (depth >= MAX_DEPTH || budget.left <= 0) return typeof value === "object" ? null : value;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const item of value) if (budget.left > 0) kept.push(cutValue(item, budget, depth + 1));
    return kept;
  }
  if (!isObject(value)) return value;
  const kept: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    if (budget.left <= 0) break;
    budget.left -= key.length;
    kept.push([key, cutValue(value[key], budget, depth + 1)]);
  }
  return Object.fromEntries(kept);
}
