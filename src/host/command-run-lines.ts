/**
 * The bytes of one pipe of a command as whole, scrubbed lines. What holds no secret passes byte by byte as it came, UTF-8
 * or not. Memory is bounded: a line without an end is passed on in pieces.
 */
import { isUtf8 } from "node:buffer";
import { redactKept, stripControls } from "../errors/redact.ts";
import { mayHoldSecret } from "../errors/secret-signs.ts";

/** A line of more is taken apart. */
const MAX_LINE_BYTES = 64 * 1024;
/** Secrets are shorter: between two looks so far apart one is seen whole. */
const MAX_SECRET_BYTES = 4096;
/** A key block that never ends hides no more than this. */
const MAX_KEY_LINES = 500;
const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{1,40}-----(?![\s\S]*-----END )/;
const KEY_ENDS = /-----END [A-Z0-9 ]{1,40}-----/;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export class ScrubbedLines {
  #pending: Buffer = Buffer.alloc(0);
  /** Lines of a key block so far; undefined outside of one. */
  #keyLines: number | undefined;

  /** What may be written now: whole lines, or a piece of a line that is too long to be kept. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const end = lastLineEnd(bytes);
    const cut = end === 0 && bytes.length > MAX_LINE_BYTES ? harmlessCut(bytes) : end;
    this.#pending = Buffer.from(bytes.subarray(cut));
    return this.#scrub(bytes.subarray(0, cut));
  }

  /** The rest: a last line without an end. */
  end(): Buffer {
    const rest = this.#pending;
    this.#pending = Buffer.alloc(0);
    return this.#scrub(rest);
  }

  #scrub(block: Buffer): Buffer {
    if (block.length === 0) return block;
    const text = textOf(block);
    if (this.#keyLines === undefined && isHarmless(text)) return block;
    return Buffer.concat(linesOf(block).map((line) => this.#scrubLine(line)));
  }

  #scrubLine(line: Buffer): Buffer {
    const text = textOf(line);
    if (this.#isKeyLine(text)) return Buffer.alloc(0);
    const scrubbed = scrub(text);
    if (scrubbed === text) return line;
    const end = text.endsWith("\n") && !scrubbed.endsWith("\n") ? "\n" : "";
    return Buffer.from(scrubbed + end, isUtf8(line) ? "utf8" : "latin1");
  }

  /** Behind the line that begins a key, which is scrubbed by itself, up to the one that ends it. */
  #isKeyLine(text: string): boolean {
    if (this.#keyLines === undefined) {
      if (KEY_BEGINS.test(text)) this.#keyLines = 0;
      return false;
    }
    this.#keyLines += 1;
    if (KEY_ENDS.test(text) || this.#keyLines >= MAX_KEY_LINES) this.#keyLines = undefined;
    return true;
  }
}

/** Most text shows at a glance that there is nothing to hide; what nobody sees (colours, titles) may split or hide what is. */
function isHarmless(text: string): boolean {
  return !mayHoldSecret(text) && stripControls(text) === text;
}

function scrub(text: string): string {
  return isHarmless(text) ? text : redactKept(text);
}

/** Bytes that are no UTF-8 become one character each, and the same bytes again. */
function textOf(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}

/** Behind the last line; a progress bar ends its lines with a carriage return alone. 0 when there is none. */
function lastLineEnd(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN, -2)) + 1;
}

function linesOf(block: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < block.length;) {
    const feed = block.indexOf(LINE_FEED, from);
    const to = feed < 0 ? block.length : feed + 1;
    lines.push(block.subarray(from, to));
    from = to;
  }
  return lines;
}

/** Where a long line may be cut: both parts are scrubbed as the whole is, so no secret stands across. */
function harmlessCut(bytes: Buffer): number {
  const from = bytes.length - 3 * MAX_SECRET_BYTES;
  const window = bytes.subarray(characterStart(bytes, from));
  const blank = window.lastIndexOf(" ") + 1;
  const places = [blank, 2 * MAX_SECRET_BYTES, 1.5 * MAX_SECRET_BYTES, MAX_SECRET_BYTES].map((at) =>
    characterStart(window, at),
  );
  const whole = scrub(textOf(window));
  const leavesWhole = (at: number): boolean =>
    scrub(textOf(window.subarray(0, at))) + scrub(textOf(window.subarray(at))) === whole;
  const found = places.find((at) => at > 0 && leavesWhole(at)) ?? MAX_SECRET_BYTES;
  return bytes.length - window.length + found;
}

/** The start of the UTF-8 character that a byte belongs to. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
