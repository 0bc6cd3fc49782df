/** Time that only moves when a test says so. */
import { setImmediate } from "node:timers/promises";
import type { SetTimer } from "../../../src/failures/notify/timer.ts";
import { STARTED_AT } from "../incidents/records.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class TestClock {
  #now = STARTED_AT;
  readonly #timers = new Set<Timer>();

  readonly now = (): number => this.#now;

  readonly setTimer: SetTimer = (run, delayMs) => {
    const timer = { at: this.#now + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How long until each timer that is set strikes, in milliseconds. */
  get delays(): readonly number[] {
    return Array.from(this.#timers, ({ at }) => at - this.#now);
  }

  /** Strikes every timer on the way, in order; what one of them began is waited for with `idle`. */
  async advance(ms: number, idle: () => Promise<void>): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
      await idle();
    }
    this.#now = end;
  }

  #next(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
  }
}

/** Everything that only waits for promises has gone on. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}
