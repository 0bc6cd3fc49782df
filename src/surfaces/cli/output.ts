/**
 * Text to a stream: pieces that come in the same turn of the event loop are written at once, a slow reader is waited
 * for, and a reader that left is a fact, not an exception.
 */
import type { Writable } from "node:stream";

/** Written at once when so much has come together. */
const BATCH_CHARS = 64 * 1024;

export class BatchedOutput {
  readonly #stream: Writable;
  readonly #onBroken: (error: NodeJS.ErrnoException) => void;
  #pending = "";
  #scheduled: NodeJS.Immediate | undefined;
  #behind = false;
  #broken = false;
  #waiting: (() => void)[] = [];

  /** @param onBroken called once, when nothing more can be written (`EPIPE`, `ENOSPC`). */
  constructor(stream: Writable, onBroken: (error: NodeJS.ErrnoException) => void = () => {}) {
    this.#stream = stream;
    this.#onBroken = onBroken;
    stream.on("error", (error) => this.#break(error));
    stream.on("drain", () => {
      this.#behind = false;
      if (this.#pending !== "") this.flush();
      if (!this.#behind) this.#release();
    });
  }

  write(text: string): void {
    if (this.#broken) return;
    // A long text goes out by itself: joined to another it would be copied once more.
    if (text.length >= BATCH_CHARS) this.flush();
    this.#pending += text;
    if (this.#pending.length >= BATCH_CHARS) this.flush();
    else this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Hands over what has come together, unless the reader is behind. */
  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#pending === "" || this.#behind || this.#broken) return;
    const text = this.#pending;
    this.#pending = "";
    try {
      this.#behind = !this.#stream.write(text);
    } catch (error) {
      // A file is written synchronously: a full disk throws here.
      this.#break(error instanceof Error ? error : new Error("Writing failed", { cause: error }));
    }
  }

  /** Undefined while the reader keeps up; else resolves once it has caught up. */
  get drained(): Promise<void> | undefined {
    return this.#behind && !this.#broken ? new Promise((resolve) => this.#waiting.push(resolve)) : undefined;
  }

  /** Resolves when everything has left the process, or nothing more can. */
  async finish(): Promise<void> {
    this.flush();
    while (this.#behind && !this.#broken) {
      await this.drained;
      this.flush();
    }
    if (this.#broken) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#stream.write("", () => resolve());
    });
  }

  #break(error: NodeJS.ErrnoException): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#pending = "";
    this.#release();
    this.#onBroken(error);
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
