/** Words of the adapter are a sentence or two; what is more was told as it came and is not kept. */
const MAX_CHARS = 1024 * 1024;

/** What the adapter itself said, as opposed to the model: the text of last resort, or the reason of a failure. */
export class AdapterWords {
  readonly #texts: string[] = [];
  #chars = 0;

  add(text: string): void {
    if (this.#chars >= MAX_CHARS) return;
    this.#chars += text.length;
    this.#texts.push(text);
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  get text(): string {
    return this.#texts.join("");
  }
}
