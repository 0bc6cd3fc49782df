/**
 * What of the answer text is new to the person. A harness that starts over repeats what was already streamed: the
 * repetition is held back, and only when it turns out different is it said that the text above was cut.
 */

/** A longer message is not compared: should it be sent again, it stands there twice and that is said. */
const COMPARED_CHARS = 1024 * 1024;

export interface AnswerSink {
  /** New text of the answer, for stdout. */
  readonly print: (text: string) => void;
  /** A sentence about it, for stderr. */
  readonly say: (sentence: string) => void;
}

interface Shown {
  readonly id: string | undefined;
  /** What is on the screen of it; undefined when it is too long to compare or has no id. */
  parts: string[] | undefined;
  chars: number;
}

/** A new message that so far says the same as the one before it. */
interface Repetition {
  readonly of: string;
  readonly id: string;
  matched: number;
}

export class AnswerView {
  readonly #sink: AnswerSink;
  #shown: Shown | undefined;
  #repetition: Repetition | undefined;
  #superseded = new Set<string>();
  #boundary = false;
  /** Another message is on the screen: what comes next begins a paragraph. */
  #separate = false;
  #endsLine = true;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  text(text: string, id: string | undefined): void {
    if (this.#shown?.id !== id || this.#shown === undefined) this.#open(id);
    this.#boundary = false;
    if (this.#repetition === undefined) this.#print(text);
    else this.#compare(this.#repetition, text);
  }

  /** The message was sent again, or is about to be. */
  supersede(id: string): void {
    this.#superseded.add(id);
  }

  /** A tool call lies between: what follows is no repetition. */
  boundary(): void {
    this.finish();
    this.#boundary = true;
  }

  /** The turn is over. */
  finish(): void {
    const left = this.#settle();
    if (left > 0) this.#sink.say(`The agent sent its answer again and stopped ${left} characters earlier.`);
  }

  #open(id: string | undefined): void {
    this.#settle();
    const previous = this.#shown;
    this.#shown = { id, parts: id === undefined ? undefined : [], chars: 0 };
    if (previous?.id === undefined || id === undefined) return;
    this.#separate = previous.chars > 0;
    if (this.#boundary) return;
    if (previous.parts !== undefined) this.#repetition = { of: previous.parts.join(""), id: previous.id, matched: 0 };
    else if (this.#superseded.has(previous.id)) this.#startOver();
  }

  #compare(repetition: Repetition, text: string): void {
    const { of, id, matched } = repetition;
    const left = of.length - matched;
    if (text.length < left && of.startsWith(text, matched)) {
      repetition.matched += text.length;
      return;
    }
    this.#repetition = undefined;
    if (text.startsWith(of.slice(matched))) {
      this.#separate = false;
      this.#remember(of);
      this.#print(text.slice(left));
    } else {
      if (this.#superseded.has(id)) this.#startOver();
      this.#print(of.slice(0, matched) + text);
    }
  }

  /**
   * No more text of this message: what was held back either repeats a superseded message or is text of its own.
   * Returns how many characters on the screen the repetition did not come to.
   */
  #settle(): number {
    const repetition = this.#repetition;
    this.#repetition = undefined;
    if (repetition === undefined || repetition.matched === 0) return 0;
    const { of, id, matched } = repetition;
    if (this.#superseded.has(id)) {
      this.#separate = false;
      this.#remember(of);
      return of.length - matched;
    }
    this.#print(of.slice(0, matched));
    return 0;
  }

  #startOver(): void {
    this.#separate = false;
    this.#sink.print("\n");
    this.#sink.say("The answer above was cut; it starts over.");
  }

  #print(text: string): void {
    if (text === "") return;
    this.#remember(text);
    const gap = this.#separate ? (this.#endsLine ? "\n" : "\n\n") : "";
    this.#separate = false;
    this.#endsLine = text.endsWith("\n");
    this.#sink.print(gap === "" ? text : gap + text);
  }

  #remember(text: string): void {
    const shown = this.#shown;
    if (shown === undefined) return;
    shown.chars += text.length;
    if (shown.parts === undefined) return;
    if (shown.chars > COMPARED_CHARS) shown.parts = undefined;
    else shown.parts.push(text);
  }
}
