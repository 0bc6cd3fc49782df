/**
 * Which lines of a run's log nobody needs to parse: the pieces of what was said, which are nearly all of a long log. A
 * line counts as such only when its first bytes prove it. Whatever begins in another way, from whichever agent or
 * writer, is parsed, so that nothing is missed.
 */

/** Updates that an observer does nothing with. */
export const UNOBSERVED_UPDATES: readonly string[] = [
  "agent_message_chunk",
  "agent_thought_chunk",
  "user_message_chunk",
  "usage_update",
  "available_commands_update",
  "plan",
];

const TIME = Buffer.from('{"t":');
const ORDINAL = Buffer.from(',"n":');
/** Strings in a line hold no quote that is not escaped: what stands here as a key is one. */
const UNOBSERVED = new RegExp(
  `^,"d":"in","frame":\\{"jsonrpc":"2\\.0","method":"session/update","params":\\{"sessionId":"[^"\\\\\\n]*","update":\\{"sessionUpdate":"(?:${UNOBSERVED_UPDATES.join("|")})"`,
);
/** Longer than such a beginning with any id that an agent gives a session. */
const MAX_HEAD_BYTES = 512;
const COMMA = 44;
const WORD_BYTES = 4;

/** Looks at lines in one buffer. The line before is mostly of the same kind and session: its beginning is the first guess. */
export class UnobservedLines {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** What stood behind the ordinal of the last line that was proven unobserved, four bytes at a time; the last word overlaps. */
  #guess = new Uint32Array();
  #guessBytes = Infinity;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Where the proof ends that the line at `start` is unobserved; -1 without one, also when it does not end before `end`. */
  endOfProof(start: number, end: number): number {
    const head = this.#afterNumber(this.#afterNumber(start, end, TIME), end, ORDINAL);
    if (head < 0) return -1;
    if (head + this.#guessBytes <= end && this.#isAsGuessed(head)) return head + this.#guessBytes;
    const proof = UNOBSERVED.exec(this.#bytes.toString("latin1", head, Math.min(end, head + MAX_HEAD_BYTES)))?.[0]
      .length;
    if (proof === undefined) return -1;
    this.#guessBytes = proof;
    this.#guess = Uint32Array.from(wordStarts(proof), (at) => this.#view.getUint32(head + at));
    return head + proof;
  }

  #isAsGuessed(head: number): boolean {
    const view = this.#view;
    const guess = this.#guess;
    const last = guess.length - 1;
    for (let index = 0; index < last; index += 1)
      if (view.getUint32(head + index * WORD_BYTES) !== guess[index]) return false;
    return view.getUint32(head + this.#guessBytes - WORD_BYTES) === guess[last];
  }

  /** Behind `name` and the digits that follow, which end with a comma. */
  #afterNumber(start: number, end: number, name: Buffer): number {
    if (start < 0) return -1;
    const bytes = this.#bytes;
    for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name[index]) return -1;
    let at = start + name.length;
    while (at < end && isDigit(bytes[at]!)) at += 1;
    return at < end && bytes[at] === COMMA ? at : -1;
  }
}

function wordStarts(bytes: number): number[] {
  return Array.from({ length: Math.ceil(bytes / WORD_BYTES) }, (_, index) =>
    Math.min(index * WORD_BYTES, bytes - WORD_BYTES),
  );
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}
