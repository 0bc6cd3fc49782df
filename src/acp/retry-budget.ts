/**
 * How many tries after the first one conversation may spend. One budget for every retry path (the same prompt again, the
 * second try of an empty turn, "go on", a new process), so that no two of them add up.
 */

/** A conversation that was quiet for this long begins anew (bridge semantics, section 5). */
const RETURN_AFTER_MS = 60_000;

/** Tries after the first, shared by every retry path of one conversation. */
export interface RetryBudget {
  /** Takes one try; false when none is left. */
  take(): boolean;
  /** The try that was taken last was never made: it may be made later. */
  giveBack(): void;
  /** Nothing may be tried again: something was done that must not be done twice. */
  spend(): void;
  /** A turn ended well: every spent try returns. */
  landed(): void;
  readonly left: number;
}

/** A budget of `retries` tries. Spent tries return when a turn lands, or 60 s after the last try. `now` is in milliseconds. */
export function createRetryBudget(retries: number, now: () => number = () => performance.now()): RetryBudget {
  let spent = 0;
  let lastTryAt = 0;
  const left = (): number => {
    if (now() - lastTryAt >= RETURN_AFTER_MS) spent = 0;
    return Math.max(0, retries - spent);
  };
  return {
    take() {
      if (left() === 0) return false;
      spent += 1;
      lastTryAt = now();
      return true;
    },
    giveBack() {
      spent = Math.max(0, spent - 1);
    },
    spend() {
      spent = retries;
      lastTryAt = now();
    },
    landed() {
      spent = 0;
    },
    get left() {
      return left();
    },
  };
}
