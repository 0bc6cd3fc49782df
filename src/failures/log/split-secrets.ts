/**
 * Secrets that are cut over several pieces of one text, each of which is written down as it comes. A piece is judged
 * behind the end of the text before it, and what may be the beginning of a secret at its own end is hidden, whatever
 * follows: what was written cannot be taken back. The name that a secret goes by, or the mark that it begins with, may
 * be told; none of its value is.
 */
import { redact, stripControls } from "../../errors/redact.ts";
import { mayHoldSecret } from "../../errors/secret-signs.ts";

const HIDDEN = "[redacted]";
/** So much of the text before is looked at: longer than a name with what stands between it and its value. */
const BEFORE_CHARS = 64;
/** A secret that goes on for longer is known by its beginning and judged by its end. */
const MAX_OPEN_CHARS = 1024;
/** A scrubbed text with the same end has lost nothing that the next piece may belong to. */
const UNCHANGED_CHARS = 4;
/** Texts that are followed; the one that was heard of least lately goes. */
const MAX_STREAMS = 4096;

/** What may follow: a tail is the beginning of a secret when one of them makes a secret of it. */
const CONTINUATIONS: readonly string[] = [
  "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0",
  "a1B2c3D4e5F6g7H8i9J0.k1L2m3N4o5P6q7R8s9T0u1V2w3X4",
  "A1B2C3D4E5F6G7H8J9K0L1M2",
  "a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0",
];
const PASSWORD_CONTINUATION = "1@h";
/** `scheme://user:pass`, unless it is a host and the beginning of its port. */
const PASSWORD_IN_URL =
  /:\/\/(?!(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\]):\d{0,5}[.,;)]?$)[^\s/@:"']*:[^\s/@"']*$/i;
/** What a token may begin with, at the end of a text. The other signs need no value behind them. */
const TOKEN_BEGINS =
  /(?<=(?:[sr]k|whsec|gh[pousr]|github|gl(?:pat|rt|dt|soat|ptt)|xox[abeoprs]|xapp|GOCSPX|npm|pypi|hf|gsk|xai|r8|pplx|dop|lin|figd|shp(?:at|ca|pa|ss)|AGE|ya29|SG|ostler)[-_.][\w.+/=-]{0,64}|(?:eyJ|A[KSB]IA|ACCA|AIza|dapi|\d{6}:)[\w.-]{0,64}|[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{0,64}|:\/\/[^\s/@]{1,512})/y;

interface Stream {
  /** The end of the text so far, as it came. */
  readonly before: string;
  /** The end of it was hidden. */
  readonly isOpen: boolean;
}
const NEW: Stream = { before: "", isOpen: false };

export class SplitSecrets {
  readonly #streams = new Map<string, Stream>();

  /** Undefined when there is no sign of a secret in the piece, and none is cut by its beginning or its end. */
  scrub(name: string, piece: string): string | undefined {
    const { before, isOpen } = this.#streams.get(name) ?? NEW;
    const text = before + piece;
    if (!isOpen && !isSuspicious(text)) {
      this.#keep(name, { before: text.slice(-BEFORE_CHARS), isOpen: false });
      return undefined;
    }
    const plain = stripControls(text);
    const from = sharedStart(plain, stripControls(before));
    const open = openFrom(plain);
    const shown = open === undefined ? closedText(plain, from, isOpen) : openText(plain, from, open, isOpen);
    this.#keep(name, { before: keptBefore(text, plain, open), isOpen: open !== undefined });
    return shown === plain.slice(from) ? piece : shown;
  }

  #keep(name: string, stream: Stream): void {
    this.#streams.delete(name);
    this.#streams.set(name, stream);
    if (this.#streams.size > MAX_STREAMS) this.#streams.delete(this.#streams.keys().next().value!);
  }
}

function isSuspicious(text: string): boolean {
  TOKEN_BEGINS.lastIndex = text.length;
  return mayHoldSecret(text) || TOKEN_BEGINS.test(text) || stripControls(text) !== text;
}

/** Where the secret begins that the text may end in. */
function openFrom(text: string): number | undefined {
  const continuations = PASSWORD_IN_URL.test(text) ? [...CONTINUATIONS, PASSWORD_CONTINUATION] : CONTINUATIONS;
  const starts = continuations.flatMap((continuation) => {
    const continued = text + continuation;
    const scrubbed = redact(continued);
    return scrubbed.endsWith(continuation) ? [] : [sharedStart(continued, scrubbed)];
  });
  const start = Math.min(...starts);
  return start < text.length ? start : undefined;
}

function openText(text: string, from: number, open: number, wasOpen: boolean): string {
  if (open >= from) return text.slice(from, open) + HIDDEN;
  return wasOpen ? "" : HIDDEN;
}

/** What follows `from`, where no secret is cut by the end. One that began before goes up to the last change. */
function closedText(text: string, from: number, wasOpen: boolean): string {
  const scrubbed = redact(text);
  const start = sharedStart(text, scrubbed);
  // A quote that was opened: its value comes with the next piece.
  if (start === text.length) return text.slice(from);
  if (start >= from) return scrubbed.slice(from);
  const end = sharedEnd(text, scrubbed, Math.min(text.length, scrubbed.length) - start);
  if (end >= text.length - from) return text.slice(from);
  return (wasOpen ? "" : HIDDEN) + text.slice(text.length - end);
}

function keptBefore(text: string, plain: string, open: number | undefined): string {
  if (plain !== text) return shortened(text);
  if (open === undefined) {
    const scrubbed = redact(text);
    return (scrubbed.endsWith(text.slice(-UNCHANGED_CHARS)) ? scrubbed : text).slice(-BEFORE_CHARS);
  }
  return shortened(text.slice(Math.max(0, open - BEFORE_CHARS)));
}

function shortened(text: string): string {
  return text.length <= MAX_OPEN_CHARS ? text : text.slice(0, MAX_OPEN_CHARS / 2) + text.slice(-MAX_OPEN_CHARS / 2);
}

function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function sharedEnd(one: string, other: string, max: number): number {
  let length = 0;
  while (length < max && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}
