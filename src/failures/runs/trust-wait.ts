/**
 * Waits until it can be read whether a run is trusted: nothing is folded meanwhile. The wait is bounded, so that real
 * failures stay visible; a decision that was read stands for as long as this process has the run, whatever becomes of
 * the metadata (failure observations, section 10).
 */
import type { Trust } from "./trust.ts";

/** How long metadata may be unreadable before what was observed is shown under the exact rule. */
export const TRUST_WAIT_MS = 30_000;
const READ_EVERY_MS = 1000;

/** `unreadable`: the exact rule, and a gap that says so; one that was read may follow it. */
export type TrustDecision =
  | { readonly metadata: "read"; readonly trusted: boolean }
  | { readonly metadata: "unreadable"; readonly trusted: false };

export interface TrustWaitOptions {
  readonly read: () => Trust;
  /** Called once, or twice when metadata becomes readable after the wait was over. */
  readonly onDecision: (decision: TrustDecision) => void;
  /** Milliseconds on a clock that nobody sets. */
  readonly now?: () => number;
  /** Calls back once, after so many milliseconds, unless the function it gives is called before. */
  readonly setTimer?: (afterMs: number, act: () => void) => () => void;
}

export class TrustWait {
  readonly #options: Required<TrustWaitOptions>;
  readonly #since: number;
  #decision: TrustDecision | undefined;
  #cancelTimer: (() => void) | undefined;

  /** Nothing is read before `begin`. */
  constructor(options: TrustWaitOptions) {
    this.#options = { now: () => performance.now(), setTimer, ...options };
    this.#since = this.#options.now();
  }

  get decision(): TrustDecision | undefined {
    return this.#decision;
  }

  /** Reads at once, and every second for as long as it is unknown. */
  begin(): void {
    this.#cancelTimer = undefined;
    if (this.#readOnce()) return;
    const { now, setTimer: arm } = this.#options;
    const leftMs = this.#since + TRUST_WAIT_MS - now();
    if (leftMs <= 0) this.#giveUp();
    const nextMs = this.#decision === undefined ? Math.min(READ_EVERY_MS, leftMs) : READ_EVERY_MS;
    this.#cancelTimer = arm(nextMs, () => this.begin());
  }

  /** The run is over: decides now, and waits for nothing any more. */
  end(): void {
    this.close();
    if (!this.#readOnce()) this.#giveUp();
  }

  /** Stops waiting without a decision. */
  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Whether it is, or was, read. */
  #readOnce(): boolean {
    if (this.#decision?.metadata === "read") return true;
    const trust = this.#options.read();
    if (trust === "unknown") return false;
    this.#decide({ metadata: "read", trusted: trust === "trusted" });
    return true;
  }

  #giveUp(): void {
    if (this.#decision === undefined) this.#decide({ metadata: "unreadable", trusted: false });
  }

  #decide(decision: TrustDecision): void {
    this.#decision = decision;
    this.#options.onDecision(decision);
  }
}

function setTimer(afterMs: number, act: () => void): () => void {
  const timer = setTimeout(act, afterMs).unref();
  return () => clearTimeout(timer);
}
