/** The newest lines of a run whose log has no file yet. Bounded: an answer of a million pieces must cost no memory. */

/** Lines that are kept, */
const MAX_LINES = 2000;
/** and the characters of their sources. */
const MAX_CHARS = 1024 * 1024;
/** What a line counts whose length nobody knows. */
const UNKNOWN_CHARS = 512;

interface Held<Line> {
  readonly line: Line;
  readonly chars: number;
}

export class HeldLines<Line> {
  /** A ring: the oldest stands at `#first`. */
  readonly #slots: (Held<Line> | undefined)[] = Array.from({ length: MAX_LINES }, () => undefined);
  #first = 0;
  #count = 0;
  #chars = 0;
  /** Lines that had to go. */
  dropped = 0;

  /** `chars`: the length of its source, 0 where nobody knows. */
  push(line: Line, chars: number): void {
    const held = { line, chars: chars > 0 ? chars : UNKNOWN_CHARS };
    if (this.#count === MAX_LINES) this.#dropFirst();
    this.#slots[(this.#first + this.#count) % MAX_LINES] = held;
    this.#count += 1;
    this.#chars += held.chars;
    while (this.#chars > MAX_CHARS && this.#count > 1) this.#dropFirst();
  }

  /** The oldest first; none is left. */
  takeAll(): Line[] {
    const lines: Line[] = [];
    for (; this.#count > 0; this.#first = (this.#first + 1) % MAX_LINES, this.#count -= 1) {
      lines.push(this.#slots[this.#first]!.line);
      this.#slots[this.#first] = undefined;
    }
    this.#chars = 0;
    return lines;
  }

  #dropFirst(): void {
    this.#chars -= this.#slots[this.#first]!.chars;
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) % MAX_LINES;
    this.#count -= 1;
    this.dropped += 1;
  }
}
