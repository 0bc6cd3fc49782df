/**
 * One piece of work that no prompt of ours started: a goal turn, or a turn that a steering began. It is judged as a turn
 * is (what it said, what failed, what it asks for), and told with `turnId: null`.
 */
import { Attempt } from "./attempt.ts";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks } from "./clocks.ts";
import type { ClockName } from "./clocks.ts";
import type { SessionEventBody } from "./events.ts";
import { decideOutcome } from "./outcome.ts";
import type { Decision, Ending } from "./outcome.ts";
import type { AcpSession } from "./session.ts";
import { newTurnId } from "./turn-id.ts";
import { logTurnEnd } from "./turn-log.ts";
import { deadlineEnding, outcomeOf, saidIn } from "./turn-outcome.ts";
import { TurnStop } from "./turn-stop.ts";
import type { TurnOutcome, TurnTimeouts } from "./types.ts";

/** News of the session: an agent sends them whether it works or not. */
export const NO_SIGN: ReadonlySet<string> = new Set(["goal", "commands", "usage", "mode", "session", "task"]);

export interface WorkRunOptions {
  readonly timeouts: Partial<TurnTimeouts> | undefined;
  /** The agent does not say when it rests: silence is how the work ends, and no failure. */
  readonly endsInSilence: () => boolean;
  /** Called once, when no more frames are taken. */
  readonly onEnd: () => void;
}

export class WorkRun {
  readonly stop: TurnStop;
  /** Settles when the work is over, with undefined when there was no sign of any; never rejects. */
  readonly outcome: Promise<TurnOutcome | undefined>;
  readonly #session: AcpSession;
  readonly #options: WorkRunOptions;
  readonly #attempt: Attempt;
  readonly #clocks: TurnClocks;
  readonly #timeouts: TurnTimeouts;
  readonly #id = newTurnId();
  #isTold = false;
  #settle!: (outcome: TurnOutcome | undefined) => void;

  /** Takes the frames of the session from now on; no turn may run there. */
  constructor(session: AcpSession, options: WorkRunOptions) {
    this.#session = session;
    this.#options = options;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.#timeouts = { ...DEFAULT_TURN_TIMEOUTS, ...session.link.turnTimeouts, ...options.timeouts };
    this.#clocks = new TurnClocks(this.#timeouts, (clock) => this.#expire(clock));
    this.stop = new TurnStop({
      session: () => session,
      graceMs: this.#timeouts.cancelGraceMs,
      attempt: () => this.#attempt,
      onWarning: (_, title) => this.#tell({ type: "notice", from: "ostler", text: title }),
      onNotice: (text) => this.#tell({ type: "notice", from: "ostler", text }),
    });
    session.latch.beginTurn();
    session.desk.beginTurn();
    this.#attempt = new Attempt({
      turnId: this.#id,
      attempt: 1,
      backend: session.link.backend,
      context: session.context,
      latch: session.latch,
      reader: session.feed.reader,
      clocks: this.#clocks,
      keepText: true,
      from: undefined,
      emit: (event) => this.#tell(event),
      onRecord: (failure) => session.link.sink?.(failure, { sessionId: session.id, turnId: null }),
      onPermissionNeeded: (ending) => this.stop.begin(ending),
      onEnd: (ending) => this.#end(ending),
    });
    this.#attempt.handedOver = true;
    session.attempt = this.#attempt;
  }

  /** Something was done, or is known to be under way. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** No more frames are taken. */
  get isOver(): boolean {
    return this.#attempt.ended;
  }

  /** The agent began to work. */
  began(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const { link, id, feed } = this.#session;
    link.log?.("info", "work.began", { turnId: this.#id, sessionId: id, backend: link.backend.id });
    feed.told({ type: "turn", state: "started" });
    const now = feed.reader.now.describe();
    if (now !== undefined) feed.told(now);
  }

  /** The agent rests. A record beside `systemError` says why it failed (recording codex-acp 2.6.0 goal-failing). */
  finish(): void {
    const { systemError, raisedError } = this.#attempt.facts();
    const terminal =
      systemError !== undefined && raisedError !== undefined
        ? ({ kind: "ok", record: raisedError } as const)
        : ({ kind: "none" } as const);
    this.#attempt.end({ type: "result", stopReason: "end_turn", terminal });
  }

  /** What started the work was answered with an error, or the agent is gone. */
  fail(ending: Ending): void {
    this.stop.agentGone(this.#attempt);
    this.#attempt.end(ending);
  }

  get lastHeard(): string {
    return this.#attempt.lastHeard;
  }

  #expire(clock: ClockName): void {
    if (clock === "idle" && this.#options.endsInSilence()) {
      this.finish();
      return;
    }
    this.began();
    this.stop.begin(deadlineEnding(clock, this.#timeouts, this.#attempt.lastHeard));
  }

  #tell(event: SessionEventBody): void {
    if (!NO_SIGN.has(event.type)) this.began();
    this.#session.feed.told(event);
  }

  #end(ending: Ending): void {
    const { tools, feed } = this.#session;
    this.#clocks.stop();
    this.#options.onEnd();
    tools.forgetRunning();
    feed.endedTurns.addIds(tools.ids, this.#attempt.messageIds);
    if (this.stop.signal.aborted) void this.stop.standstill().then(() => this.#over(ending));
    else this.#over(ending);
  }

  #over(ending: Ending): void {
    this.stop.dispose();
    if (this.#isTold) this.#finish(decideOutcome(ending, this.#attempt.facts()));
    else this.#settle(undefined);
  }

  #finish(decision: Decision): void {
    const { link, latch, feed, desk, id, models } = this.#session;
    if (decision.kind === "completed") latch.succeed();
    const base = {
      ...saidIn(decision, this.#attempt, false),
      denied: desk.denied,
      sessionId: id,
      stopReason: null,
      attempts: 1,
      usage: null,
      durationMs: Math.round(this.#clocks.elapsedMs),
    };
    logTurnEnd(this.#session, {
      turnId: this.#id,
      decision,
      attempts: 1,
      durationMs: base.durationMs,
      bug: undefined,
    });
    const failure = "failure" in decision ? decision.failure : null;
    const told = [
      ...decision.warnings.map((warning) => ({ type: "warning", failure: warning }) as const),
      ...(failure === null ? [] : [{ type: "failure", failure } as const]),
    ];
    for (const event of told) {
      link.sink?.(event.failure, { sessionId: id, turnId: null });
      this.#tell(event);
    }
    const outcome = outcomeOf(decision, base, { stderr: link.stderrTail, advertised: models });
    feed.told({ type: "turn", state: "ended", outcome });
    this.#settle(outcome);
  }
}
