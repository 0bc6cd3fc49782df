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

/** The clocks are looked at this often: a frame or a tool call then costs no timer of its own. */
const LOOK_MS = 1000;
const MIN_LOOK_MS = 10;

/** Runs {@link nextDeadline} against real time. */
export class TurnClocks {
  readonly #timeouts: TurnTimeouts;
  readonly #onExpire: (clock: ClockName) => void;
  readonly #lookMs: number;
  readonly #tools = new Map<string, number>();
  readonly #startedAt = performance.now();
  #attemptStartedAt = this.#startedAt;
  #firstFrameAt: number | undefined;
  #lastFrameAt = this.#startedAt;
  #holds = 0;
  #heldSince = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeouts: TurnTimeouts, onExpire: (clock: ClockName) => void) {
    this.#timeouts = timeouts;
    this.#onExpire = onExpire;
    const shortest = Math.min(timeouts.idleMs, timeouts.toolMs, timeouts.firstByteMs);
    this.#lookMs = Math.max(MIN_LOOK_MS, Math.min(LOOK_MS, shortest / 4));
    this.#look();
  }

  /** Milliseconds until the wall deadline. */
  get wallLeftMs(): number {
    return this.#startedAt + this.#timeouts.wallMs - performance.now();
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** How long the harness may be silent, and when it was heard last. */
  get idleMs(): number {
    return this.#timeouts.idleMs;
  }

  get lastFrameAt(): number {
    return this.#lastFrameAt;
  }

  /** A new attempt waits for its own first byte. */
  beginAttempt(): void {
    this.#attemptStartedAt = performance.now();
    this.#lastFrameAt = this.#attemptStartedAt;
    this.#firstFrameAt = undefined;
    this.#tools.clear();
  }

  frame(): void {
    this.#lastFrameAt = performance.now();
    this.#firstFrameAt ??= this.#lastFrameAt;
  }

  toolStarted(toolCallId: string): void {
    if (!this.#tools.has(toolCallId)) this.#tools.set(toolCallId, performance.now());
  }

  toolEnded(toolCallId: string): void {
    this.#tools.delete(toolCallId);
  }

  /** Stops every clock but the wall until the returned function is called: that time is nobody's silence. */
  hold(): () => void {
    if (this.#holds === 0) this.#heldSince = performance.now();
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#lastFrameAt = performance.now();
      if (this.#holds === 0) this.#moveTools(this.#lastFrameAt);
    };
  }

  /** A tool that waited for a person has not run meanwhile. */
  #moveTools(now: number): void {
    for (const [toolCallId, startedAt] of this.#tools)
      this.#tools.set(toolCallId, now - Math.max(0, this.#heldSince - startedAt));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const [oldestToolAt] = this.#tools.values();
    const { clock, at } = nextDeadline(
      {
        startedAt: this.#startedAt,
        attemptStartedAt: this.#attemptStartedAt,
        firstFrameAt: this.#firstFrameAt,
        lastFrameAt: this.#lastFrameAt,
        oldestToolAt,
        held: this.#holds > 0,
      },
      this.#timeouts,
    );
    const left = at - performance.now();
    if (left <= 0) this.#onExpire(clock);
    else this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(left), this.#lookMs));
  }
}
