/**
 * One message for what several runs have to tell at about the same time (failure observations, section 8). Each of them
 * is made only when the message goes, and gets its receipt only when the message was taken.
 */
import type { Notification } from "../notification.ts";
import type { HandOff } from "./hand-off.ts";
import { systemTimer } from "./timer.ts";
import type { SetTimer } from "./timer.ts";

const WINDOW_MS = 2000;
const MAX_RUNS = 10;

export interface BatchOptions {
  /** Resolves when all of them were taken for good. `text` is theirs, one after another. */
  readonly deliver: (batch: readonly Notification[], text: string) => Promise<void>;
  /** A timer that keeps no process alive, unless given. */
  readonly setTimer?: SetTimer | undefined;
}

interface Offer {
  readonly prepare: () => Notification | undefined;
  readonly resolve: (notification: Notification | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** Waits two seconds from the first notification on, or until ten runs have one. */
export class NotificationBatch implements HandOff {
  readonly #options: BatchOptions;
  #offers: Offer[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  offer(prepare: () => Notification | undefined): Promise<Notification | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Notification | undefined>();
    this.#offers.push({ prepare, resolve, reject });
    if (this.#offers.length >= MAX_RUNS) void this.flush();
    else this.#cancelTimer ??= (this.#options.setTimer ?? systemTimer)(() => void this.flush(), WINDOW_MS);
    return promise;
  }

  /** Hands over now what waits. Does not reject: whoever offered hears of it. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const ready = this.#offers.splice(0).flatMap((offer) => {
      try {
        const notification = offer.prepare();
        if (notification !== undefined) return [{ ...offer, notification }];
        offer.resolve(undefined);
      } catch (error) {
        offer.reject(error);
      }
      return [];
    });
    const batch = ready.map(({ notification }) => notification);
    try {
      if (batch.length > 0) await this.#options.deliver(batch, batch.map(({ text }) => text).join("\n\n"));
      for (const { resolve, notification } of ready) resolve(notification);
    } catch (error) {
      for (const { reject } of ready) reject(error);
    }
  }
}
