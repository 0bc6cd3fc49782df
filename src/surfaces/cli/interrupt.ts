/** Stop, asked for from outside: the first signal cancels softly, the second kills at once. */
import type { StopSignal } from "../shared/exit-code.ts";
import type { Io } from "./io.ts";

export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #unsubscribe: () => void;
  #received: StopSignal | undefined;
  #ending = false;
  /** Resolves when {@link signal} aborts. */
  readonly stopped: Promise<void> = new Promise((resolve) => {
    this.#controller.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  /** What the second signal does; nothing while there is nothing to kill. */
  kill: () => void = () => {};

  constructor(onSignal: Io["onSignal"]) {
    this.#unsubscribe = onSignal((signal) => {
      if (this.#received !== undefined || this.#ending) this.kill();
      this.#received ??= signal;
      this.#controller.abort();
    });
  }

  /** Aborts with the first signal or {@link stop}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first signal, which decides the exit code. */
  get received(): StopSignal | undefined {
    return this.#received;
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
    this.#unsubscribe();
  }
}
