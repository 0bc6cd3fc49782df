/**
 * The two faces of a running turn: a queue of events with one reader, and a promise of the outcome. A slow reader never
 * stalls the harness unless it asked for that (`whenUnread: "pause"`): adjacent text is joined and only the newest state
 * of a tool call and of the plan is kept, failures are never dropped.
 */
import type { TurnEvent } from "./events.ts";
import type { Turn, TurnOutcome } from "./types.ts";

/** Events that may wait before the queue is squeezed, and characters that may wait before the child is paused. */
const MAX_QUEUED_EVENTS = 1000;
const PAUSE_ABOVE_CHARS = 256 * 1024;
/** Text is joined into one event up to this length, so that a reader gets it in portions. */
const MAX_JOINED_CHARS = 64 * 1024;

export interface ChannelOptions {
  readonly id: string;
  readonly whenUnread: "join" | "pause";
  /** Called with true when unread output is too much, with false when it was read. */
  readonly onPause: (paused: boolean) => void;
  /** Hears every event, whether or not somebody reads the turn. */
  readonly onEvent?: (event: TurnEvent) => void;
  /** The holder of the turn wants it ended. */
  readonly onCancel: () => void;
}

type TextEvent = TurnEvent & { readonly type: "text" | "thought" };

/** The writing side of a {@link Turn}. */
export class TurnChannel {
  readonly turn: Turn;
  readonly #options: ChannelOptions;
  #queue: TurnEvent[] = [];
  /** Text that may still grow, its pieces not joined yet. */
  #open: { readonly event: TextEvent; readonly parts: string[]; chars: number } | undefined;
  #squeezeAbove = MAX_QUEUED_EVENTS;
  #queuedChars = 0;
  #paused = false;
  #done = false;
  #detached = false;
  #wake: (() => void) | undefined;
  #settle!: (outcome: TurnOutcome) => void;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const outcome = new Promise<TurnOutcome>((resolve) => (this.#settle = resolve));
    this.turn = {
      id: options.id,
      events: { [Symbol.asyncIterator]: () => this.#iterate() },
      outcome,
      cancel: () => {
        if (!this.#done) options.onCancel();
      },
    };
  }

  /** Adds an event; ignored once the reader left. */
  emit(event: TurnEvent): void {
    if (!this.#done) this.#options.onEvent?.(event);
    if (this.#detached || this.#done) return;
    if ((event.type === "text" || event.type === "thought") && !("superseded" in event)) this.#addText(event);
    else this.#add(event);
    this.#wake?.();
  }

  /** Ends the events and settles the outcome, once. */
  finish(outcome: TurnOutcome): void {
    if (this.#done) return;
    this.#closeText();
    this.#done = true;
    this.#resume();
    this.#settle(outcome);
    this.#wake?.();
  }

  #addText(event: TextEvent): void {
    const open = this.#open;
    if (open !== undefined && sameStream(open.event, event) && open.chars < MAX_JOINED_CHARS) {
      open.parts.push(event.text);
      open.chars += event.text.length;
    } else {
      this.#closeText();
      this.#open = { event, parts: [event.text], chars: event.text.length };
    }
    this.#queuedChars += event.text.length;
    if (this.#queuedChars > PAUSE_ABOVE_CHARS) this.#pause();
  }

  #add(event: TurnEvent): void {
    this.#closeText();
    this.#queue.push(event);
    if (this.#queue.length <= this.#squeezeAbove) return;
    if (this.#options.whenUnread === "pause") {
      this.#pause();
      return;
    }
    this.#queue = squeeze(this.#queue);
    this.#squeezeAbove = Math.max(MAX_QUEUED_EVENTS, this.#queue.length * 2);
  }

  #closeText(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#queue.push({ ...open.event, text: open.parts.join("") });
  }

  #pause(): void {
    if (this.#paused || this.#options.whenUnread !== "pause") return;
    this.#paused = true;
    this.#options.onPause(true);
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#options.onPause(false);
  }

  /** Written by hand: of an async generator, each event would cost three rounds of the microtask queue. */
  #iterate(): AsyncIterator<TurnEvent, undefined> {
    let batch: readonly TurnEvent[] = [];
    let next = 0;
    return {
      next: async () => {
        if (next >= batch.length) {
          batch = await this.#takeBatch();
          next = 0;
        }
        const value = batch[next];
        next += 1;
        return value === undefined ? this.#detach() : { done: false, value };
      },
      return: async () => {
        batch = [];
        return this.#detach();
      },
    };
  }

  /** What waits, as soon as something does; empty at the end. */
  async #takeBatch(): Promise<readonly TurnEvent[]> {
    this.#closeText();
    while (this.#queue.length === 0 && !this.#done && !this.#detached) {
      this.#resume();
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
      this.#closeText();
    }
    const batch = this.#queue;
    this.#queue = [];
    this.#queuedChars = 0;
    return batch;
  }

  /** The reader has everything, or left. */
  #detach(): IteratorReturnResult<undefined> {
    this.#detached = true;
    this.#queue = [];
    this.#open = undefined;
    this.#resume();
    return { done: true, value: undefined };
  }
}

function sameStream(one: TextEvent, other: TextEvent): boolean {
  return one.type === other.type && one.late === other.late && one.messageId === other.messageId;
}

/** Keeps the newest state of every tool call and of the plan, usage, commands and mode; everything else stays. */
function squeeze(queue: readonly TurnEvent[]): TurnEvent[] {
  const newest = new Map<string, number>();
  queue.forEach((event, index) => {
    const key = keyOf(event);
    if (key !== undefined) newest.set(key, index);
  });
  return queue.filter((event, index) => {
    const key = keyOf(event);
    return key === undefined || newest.get(key) === index;
  });
}

function keyOf(event: TurnEvent): string | undefined {
  switch (event.type) {
    case "tool":
      return `tool:${event.toolCallId}`;
    case "plan":
      return "toolCallId" in event ? `plan:${event.toolCallId}` : event.type;
    case "usage":
    case "commands":
    case "mode":
    case "goal":
      return event.type;
    case "task":
      return `task:${event.taskId}`;
    default:
      return undefined;
  }
}
