/** Stop, asked for from outside: the first signal cancels softly, the second kills at once, and so does a bug. */
import type { StopSignal } from "../shared/exit-code.ts";
import type { Io } from "./io.ts";

export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #unsubscribe: readonly (() => void)[];
  #received: StopSignal | undefined;
  #bug: Error | undefined;
  #ending = false;
  /** Resolves when {@link signal} aborts. */
  readonly stopped: Promise<void> = new Promise((resolve) => {
    this.#controller.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  /** What the second signal does, and a bug that nothing caught; nothing while there is nothing to kill. */
  kill: (bug?: Error) => void = () => {};
  /** Told of the first signal, while there is something to stop. */
  onStop: (signal: StopSignal) => void = () => {};

  constructor({ onSignal, onCrash }: Pick<Io, "onSignal" | "onCrash">) {
    const signals = onSignal((signal) => {
      if (this.#received !== undefined || this.#ending) this.kill();
      else this.onStop(signal);
      this.#received ??= signal;
      this.#controller.abort();
    });
    const crashes = onCrash?.((bug) => this.#crash(bug));
    this.#unsubscribe = crashes === undefined ? [signals] : [signals, crashes];
  }

  /** Aborts with the first signal or {@link stop}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first signal, which decides the exit code. */
  get received(): StopSignal | undefined {
    return this.#received;
  }

  /** The bug that ends the process: whatever runs has failed for it. */
  get bug(): Error | undefined {
    return this.#bug;
  }

  /** Stops without a signal: nobody reads the answer any more. */
  stop(): void {
    this.#controller.abort();
  }

  /** All is said: from here on the first signal kills what is slow to leave. */
  expectEnd(): void {
    this.#ending = true;
  }

  [Symbol.dispose](): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #crash(bug: Error): void {
    this.#bug = bug;
    // The turn ends for the bug first; the abort is for what is not a turn.
    setImmediate(() => this.#controller.abort());
    this.kill(bug);
  }
}
