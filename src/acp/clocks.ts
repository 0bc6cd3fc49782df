/**
 * The four deadlines of a turn. Silence means silence of the harness: it does not count while a tool runs or a person
 * decides, and a harness that only says "retrying" is silent (codex without a network warns for ever, recording
 * conn-refused). Time is read from an injected clock.
 */
import type { TurnTimeouts } from "./types.ts";

export type ClockName = "wall" | "first_byte" | "idle" | "tool";

export const DEFAULT_TURN_TIMEOUTS: TurnTimeouts = {
  wallMs: 7_200_000,
  idleMs: 300_000,
  toolMs: 3_600_000,
  firstByteMs: 120_000,
  cancelGraceMs: 5000,
  permissionMs: 300_000,
};

/** What the clocks look at. Times in milliseconds of one monotonic clock; undefined = has not happened. */
export interface ClockState {
  readonly startedAt: number;
  readonly attemptStartedAt: number;
  readonly firstFrameAt: number | undefined;
  readonly lastFrameAt: number;
  readonly oldestToolAt: number | undefined;
  /** A person decides, or nobody reads what the harness said: its silence is not its own. */
  readonly held: boolean;
}

/** The deadline that strikes first, and when. */
export function nextDeadline(
  state: ClockState,
  timeouts: TurnTimeouts,
): { readonly clock: ClockName; readonly at: number } {
  let next: { clock: ClockName; at: number } = { clock: "wall", at: state.startedAt + timeouts.wallMs };
  const consider = (clock: ClockName, at: number): void => {
    if (at < next.at) next = { clock, at };
  };
  if (state.held) return next;
  if (state.oldestToolAt !== undefined) consider("tool", state.oldestToolAt + timeouts.toolMs);
  else if (state.firstFrameAt === undefined) consider("first_byte", state.attemptStartedAt + timeouts.firstByteMs);
  else consider("idle", state.lastFrameAt + timeouts.idleMs);
  return next;
}

/** Runs {@link nextDeadline} against real time with one timer. Noting a frame costs one clock read, no timer. */
export class TurnClocks {
  readonly #timeouts: TurnTimeouts;
  readonly #onExpire: (clock: ClockName) => void;
  readonly #tools = new Map<string, number>();
  readonly #startedAt = performance.now();
  #attemptStartedAt = this.#startedAt;
  #firstFrameAt: number | undefined;
  #lastFrameAt = this.#startedAt;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(timeouts: TurnTimeouts, onExpire: (clock: ClockName) => void) {
    this.#timeouts = timeouts;
    this.#onExpire = onExpire;
    this.#schedule();
  }

  /** Milliseconds until the wall deadline. */
  get wallLeftMs(): number {
    return this.#startedAt + this.#timeouts.wallMs - performance.now();
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** A new attempt waits for its own first byte. */
  beginAttempt(): void {
    this.#attemptStartedAt = performance.now();
    this.#lastFrameAt = this.#attemptStartedAt;
    this.#firstFrameAt = undefined;
    this.#tools.clear();
    this.#schedule();
  }

  frame(): void {
    this.#lastFrameAt = performance.now();
    this.#firstFrameAt ??= this.#lastFrameAt;
  }

  toolStarted(toolCallId: string): void {
    if (!this.#tools.has(toolCallId)) this.#tools.set(toolCallId, performance.now());
    this.#schedule();
  }

  toolEnded(toolCallId: string): void {
    this.#tools.delete(toolCallId);
  }

  /** Stops the idle clock until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#lastFrameAt = performance.now();
      this.#schedule();
    };
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #state(): ClockState {
    const [oldestToolAt] = this.#tools.values();
    return {
      startedAt: this.#startedAt,
      attemptStartedAt: this.#attemptStartedAt,
      firstFrameAt: this.#firstFrameAt,
      lastFrameAt: this.#lastFrameAt,
      oldestToolAt,
      held: this.#holds > 0,
    };
  }

  /** The timer may strike early (a frame came since): then it is set again. */
  #schedule(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const { clock, at } = nextDeadline(this.#state(), this.#timeouts);
    const left = at - performance.now();
    if (left <= 0) {
      this.stop();
      this.#onExpire(clock);
      return;
    }
    this.#timer = setTimeout(() => this.#schedule(), Math.min(Math.ceil(left), 2 ** 31 - 1));
  }
}
