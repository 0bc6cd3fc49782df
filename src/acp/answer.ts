/**
 * The answer text of one turn. A harness that retries by itself streams the answer again under a new message id and
 * does not take the cut attempt back (recordings codex-acp stream-cut-*, claude-agent-acp conn-cut-*), so a message is
 * superseded when no tool call or steering lies between it and the next one and either a retry was announced in between
 * or one text is a prefix of the other. Agents that send no ids mean all their text.
 */
import type { TurnEventBody } from "./types.ts";

export interface AnswerOptions {
  /** Keep the whole text; else only what the prefix rule needs. */
  readonly keep: boolean;
  readonly emit: (event: TurnEventBody) => void;
}

/** What the prefix rule remembers of a message when the text is not kept; longer messages are judged by retries alone. */
const COMPARED_CHARS = 1024 * 1024;

interface Message {
  readonly id: string | undefined;
  parts: string[];
  chars: number;
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
  #retried = false;
  #visible = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** The model said something that is not blank. */
  get visible(): boolean {
    return this.#visible;
  }

  /** The answer so far, without superseded messages; empty when it is not kept. */
  get text(): string {
    if (!this.#options.keep) return "";
    return [...this.#settled, ...(this.#current ? [this.#current] : [])].flatMap((message) => message.parts).join("");
  }

  chunk(text: string, id: string | undefined): void {
    if (text === "") return;
    const message = this.#current !== undefined && this.#current.id === id ? this.#current : this.#open(id);
    message.chars += text.length;
    if (this.#options.keep || (id !== undefined && message.chars <= COMPARED_CHARS)) message.parts.push(text);
    else if (message.parts.length > 0) message.parts = [];
    this.#visible ||= text.trim() !== "";
    this.#boundary = false;
    this.#options.emit({ type: "text", text, ...(id === undefined ? {} : { messageId: id }) });
    if (this.#rival !== undefined) this.#compare(this.#rival, text);
  }

  /** A tool call or steering: what was said before it stays. */
  boundary(): void {
    this.#boundary = true;
    this.#settleRival();
  }

  /** The harness announced that it tries again. */
  retried(): void {
    this.#retried = true;
  }

  finish(): void {
    this.#settleRival();
  }

  #open(id: string | undefined): Message {
    this.#settleRival();
    const previous = this.#current;
    const mayRepeat = previous?.id !== undefined && id !== undefined && !this.#boundary;
    const message: Message = { id, parts: [], chars: 0 };
    this.#current = message;
    if (mayRepeat && this.#retried) {
      this.#supersede(previous);
    } else if (previous !== undefined) {
      if (this.#options.keep) this.#settled.push(previous);
      if (mayRepeat && previous.parts.length > 0)
        this.#rival = { message: previous, text: previous.parts.join(""), matched: 0 };
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
