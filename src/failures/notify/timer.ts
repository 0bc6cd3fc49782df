/** Calls once after a delay; gives what stops it. */
export type SetTimer = (run: () => void, delayMs: number) => () => void;

/** Longer delays overflow the timers of Node; whoever is called too early looks again. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The system's timer, which keeps no process alive. */
export const systemTimer: SetTimer = (run, delayMs) => {
  const timer = setTimeout(run, Math.min(Math.max(0, delayMs), MAX_DELAY_MS)).unref();
  return () => clearTimeout(timer);
};
