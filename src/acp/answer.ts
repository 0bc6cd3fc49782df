/**
 * The answer text of one turn. A harness that retries by itself streams the answer again under a new message id and
 * does not take the cut attempt back (recordings codex-acp stream-cut-*, claude-agent-acp conn-cut-*), so a message is
 * superseded when no tool call or steering lies between it and the next one and either a retry was announced in between
 * or one text is a prefix of the other. Agents that send no ids mean all their text.
 */
import type { TurnEventBody } from "./events.ts";

export interface AnswerOptions {
  /** Keep the whole text; else only what the prefix rule needs. */
  readonly keep: boolean;
  readonly emit: (event: TurnEventBody) => void;
}

/** What the prefix rule remembers of a message when the text is not kept; longer messages are judged by retries alone. */
const COMPARED_CHARS = 1024 * 1024;

/** No string holds more than 512 Mi characters, and JSON may make six of one: a longer answer would be no result at all. */
export const MAX_KEPT_CHARS = 64 * 1024 * 1024;

/** Pieces are joined when so many characters have come: a million small strings would cost ten times their text. */
const PORTION_CHARS = 64 * 1024;

/** The text of one message, in pieces. */
class Message {
  readonly id: string | undefined;
  chars = 0;
  #portions: string[] = [];
  #pieces: string[] = [];
  #pieceChars = 0;

  constructor(id: string | undefined) {
    this.id = id;
  }

  get isKept(): boolean {
    return this.#pieces.length > 0 || this.#portions.length > 0;
  }

  get text(): string {
    return this.#portions.join("") + this.#pieces.join("");
  }

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#pieceChars += piece.length;
    if (this.#pieceChars < PORTION_CHARS) return;
    this.#portions.push(this.#pieces.join(""));
    this.#pieces = [];
    this.#pieceChars = 0;
  }

  /** Too long to be compared, and nobody wants it. */
  drop(): void {
    this.#portions = [];
    this.#pieces = [];
  }
}

/** The message before the current one, while it may still turn out to be a prefix of it, or the other way round. */
interface Rival {
  readonly message: Message;
  readonly text: string;
  matched: number;
}

export class AnswerText {
  readonly #options: AnswerOptions;
  #settled: Message[] = [];
  #current: Message | undefined;
  #rival: Rival | undefined;
  #boundary = false;
  #steered = false;
  #retried = false;
  #visible = false;
  #keptChars = 0;
  #isCut = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** The model said something that is not blank, since it was asked to go on if it was. */
  get visible(): boolean {
    return this.#visible;
  }

  /** There was more text than is kept: what `text` gives is its beginning. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The answer so far, without superseded messages; empty when it is not kept. */
  get text(): string {
    if (!this.#options.keep) return "";
    return [...this.#settled, ...(this.#current ? [this.#current] : [])].map((message) => message.text).join("");
  }

  chunk(text: string, id: string | undefined): void {
    if (text === "") return;
    const message = this.#current !== undefined && this.#current.id === id ? this.#current : this.#open(id);
    message.chars += text.length;
    if (this.#options.keep) this.#keep(message, text);
    else if (id !== undefined && message.chars <= COMPARED_CHARS) message.add(text);
    else if (message.isKept) message.drop();
    this.#visible ||= text.trim() !== "";
    this.#boundary = false;
    this.#options.emit({ type: "text", text, ...(id === undefined ? {} : { messageId: id }) });
    if (this.#rival !== undefined) this.#compare(this.#rival, text);
  }

  #keep(message: Message, text: string): void {
    this.#isCut ||= this.#keptChars + text.length > MAX_KEPT_CHARS;
    if (this.#isCut) return;
    this.#keptChars += text.length;
    message.add(text);
  }

  /** A tool call or steering: what was said before it stays. */
  boundary(): void {
    this.#boundary = true;
    this.#settleRival();
  }

  /** A person's words reached the work: the next message answers them, even when the current one still gets a piece. */
  steered(): void {
    this.boundary();
    this.#steered = true;
  }

  /** The harness announced that it tries again. */
  retried(): void {
    this.#retried = true;
  }

  /** The agent is asked to go on: what it said before stays, and does not count as said now. */
  goOn(): void {
    this.boundary();
    this.#retried = false;
    this.#visible = false;
  }

  finish(): void {
    this.#settleRival();
  }

  #open(id: string | undefined): Message {
    this.#settleRival();
    const previous = this.#current;
    const mayRepeat = previous?.id !== undefined && id !== undefined && !this.#boundary && !this.#steered;
    this.#steered = false;
    const message = new Message(id);
    this.#current = message;
    if (mayRepeat && this.#retried) {
      this.#supersede(previous);
    } else if (previous !== undefined) {
      if (this.#options.keep) this.#settled.push(previous);
      if (mayRepeat && previous.isKept) this.#rival = { message: previous, text: previous.text, matched: 0 };
    }
    this.#retried = false;
    return message;
  }

  #compare(rival: Rival, text: string): void {
    const left = rival.text.length - rival.matched;
    const same =
      left >= text.length
        ? rival.text.startsWith(text, rival.matched)
        : text.startsWith(rival.text.slice(rival.matched));
    if (!same) {
      this.#rival = undefined;
      return;
    }
    rival.matched += text.length;
    if (left <= text.length) this.#settleRival();
  }

  /** Nothing contradicted the comparison: one text is a prefix of the other. */
  #settleRival(): void {
    const rival = this.#rival;
    this.#rival = undefined;
    if (rival === undefined || rival.matched === 0) return;
    this.#settled = this.#settled.filter((message) => message !== rival.message);
    this.#supersede(rival.message);
  }

  #supersede(message: Message): void {
    if (message.id !== undefined)
      this.#options.emit({ type: "text", text: "", messageId: message.id, superseded: true });
  }
}
