/** Runs one turn: attempts with retries, the clocks, the cancel with its grace, and at the end one outcome. */
import type { Failure } from "../errors/failure.ts";
import { Attempt } from "./attempt.ts";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks } from "./clocks.ts";
import type { ClockName } from "./clocks.ts";
import {
  ABORTED,
  bugEnding,
  deadlineEnding,
  failedToReopen,
  nothingSent,
  outcomeOf,
  saidIn,
  unlessTooLong,
} from "./turn-outcome.ts";
import { RpcError } from "./connection.ts";
import type { RpcAnswer } from "./connection.ts";
import { endingOf } from "./death.ts";
import { decideOutcome, ownWarning } from "./outcome.ts";
import type { AttemptFacts, Decision, Ending } from "./outcome.ts";
import { promptParams } from "./prompt-request.ts";
import { readPromptResult } from "./prompt-result.ts";
import { ALLOWED_WAIT_MS, BACKOFF_MS, withRetries } from "./retry.ts";
import type { RetryHow } from "./retry.ts";
import { createRetryBudget } from "./retry-budget.ts";
import type { AcpSession } from "./session.ts";
import { TurnChannel } from "./turn.ts";
import { newTurnId } from "./turn-id.ts";
import { announceTurn } from "./turn-opening.ts";
import type { TurnOptions } from "./turn-options.ts";
import { TurnStop } from "./turn-stop.ts";
import { logRetry, logTurnEnd } from "./turn-log.ts";
import type { PromptBlock, Turn, TurnTimeouts, Usage } from "./types.ts";

/** Tries after the first, unless the caller says otherwise. */
const DEFAULT_RETRIES = 3;

/** Throws `AcpPromptBusy` while another turn runs in the session. */
export function runTurn(session: AcpSession, blocks: readonly PromptBlock[], options: TurnOptions): Turn {
  const run = new TurnRun(session, blocks, options);
  void run.run();
  return run.channel.turn;
}

class TurnRun {
  readonly channel: TurnChannel;
  #session: AcpSession;
  readonly #blocks: readonly PromptBlock[];
  readonly #options: TurnOptions;
  /** Lets the next prompt into the session. */
  #release: () => void;
  readonly #timeouts: TurnTimeouts;
  readonly #clocks: TurnClocks;
  readonly #stop: TurnStop;
  readonly #id = newTurnId();
  #endWait: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #attempts = 0;
  #attempt: Attempt | undefined;
  #stopReason: string | null = null;
  #usage: Usage | null = null;
  #timeout: Ending | undefined;
  /** There was an answer before the agent was asked to go on. */
  #shown = false;

  constructor(session: AcpSession, blocks: readonly PromptBlock[], options: TurnOptions) {
    this.#release = session.begin();
    this.#session = session;
    this.#blocks = blocks;
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TURN_TIMEOUTS, ...session.link.turnTimeouts, ...options.timeouts };
    this.#clocks = new TurnClocks(this.#timeouts, (clock) => this.#expire(clock));
    this.#stop = new TurnStop({
      session: () => this.#session,
      graceMs: this.#timeouts.cancelGraceMs,
      attempt: () => this.#attempt,
      onWarning: (rule, title) => this.#warn(rule, title),
      onNotice: (text) => this.channel.emit({ type: "notice", from: "ostler", text }),
    });
    this.channel = new TurnChannel({
      id: this.#id,
      whenUnread: options.whenUnread ?? "join",
      onPause: (paused) => this.#pause(paused),
      onEvent: (event) => this.#session.feed.turnTold(this.#id, event),
      onCancel: () => this.#stop.request(),
    });
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const onAbort = (): void => this.#stop.request();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#session.feed.turnStarted(this.#id, this.#blocks);
    announceTurn(this.#session, this.#id, this.channel);
    try {
      const decision = signal?.aborted === true ? ABORTED : await this.#withRetries();
      if (this.#stop.signal.aborted) await this.#stop.standstill();
      this.#finish(decision);
    } catch (error) {
      // A bug of ours ends the turn as failed; it never leaves a turn unsettled.
      this.#finish(decideOutcome(bugEnding(error), this.#facts()), error);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#clocks.stop();
      this.#stop.dispose();
    }
  }

  #withRetries(): Promise<Decision> {
    const { retries = this.#options.budget?.left ?? DEFAULT_RETRIES, budget = createRetryBudget(retries) } =
      this.#options;
    const { backend } = this.#session.link;
    return withRetries((n, how) => (this.#isReopened(how) ? this.#inNewProcess(n) : this.#once(n, how)), {
      retries,
      budget,
      backoffMs: this.#options.backoffMs ?? BACKOFF_MS,
      allowedWaitMs: this.#options.allowedWaitMs ?? ALLOWED_WAIT_MS,
      signal: this.#stop.signal,
      retriesEmptyTurn: backend.retriesEmptyTurn,
      continues: backend.continuePrompt !== undefined,
      reopens: this.#options.reopen !== undefined,
      leftMs: () => this.#clocks.wallLeftMs,
      onRetry: (step) => {
        this.#endWait = this.#clocks.hold();
        logRetry(this.#session, this.#id, step);
        this.channel.emit({ type: "retry", by: "ostler", ...step });
      },
    }).then((decision) =>
      this.#timeout === undefined || decision.kind !== "cancelled"
        ? decision
        : decideOutcome(this.#timeout, this.#facts()),
    );
  }

  /** What is known to be gone when the prompt comes is replaced without a try: nothing failed yet. */
  #isReopened(how: RetryHow | undefined): boolean {
    return how === "reopen" || (how === undefined && this.#options.reopen !== undefined && this.#session.isOver);
  }

  /** The prompt never left, and its process is gone: the caller gives a session in another one. */
  async #inNewProcess(attemptNumber: number): Promise<Decision> {
    const { reopen } = this.#options;
    if (reopen === undefined) throw new Error("There is nothing to reopen a session with");
    if (this.#attempt !== undefined && !this.#attempt.handedOver) this.#attempts -= 1;
    try {
      const session = await reopen(this.#stop.signal);
      this.#release();
      this.#session = session;
      this.#release = session.begin();
    } catch (error) {
      if (this.#stop.signal.aborted) return ABORTED;
      const failed = failedToReopen(error, { turnId: this.#id, attempt: attemptNumber });
      if (failed === undefined) throw error;
      return failed;
    }
    this.#attempt = undefined;
    announceTurn(this.#session, this.#id, this.channel);
    return this.#once(attemptNumber, "again");
  }

  /** One prompt handed over, until it is answered or cannot be any more. */
  #once(attemptNumber: number, how: RetryHow | undefined): Promise<Decision> {
    // The wait before it is over: nothing is sent that was stopped meanwhile.
    if (this.#stop.signal.aborted) return Promise.resolve(ABORTED);
    const session = this.#session;
    const refusal = session.refusal(this.#blocks);
    if (refusal !== undefined) return Promise.resolve(decideOutcome(refusal, this.#facts()));
    const { link } = session;
    const { continuePrompt } = link.backend;
    const isContinued = how === "continue" && continuePrompt !== undefined;
    const from = isContinued ? this.#attempt : undefined;
    this.#shown ||= from?.answer.visible ?? false;
    this.#endWait?.();
    this.#clocks.beginAttempt();
    session.latch.beginTurn();
    return new Promise((resolve, reject) => {
      const attempt = new Attempt({
        turnId: this.#id,
        attempt: attemptNumber,
        backend: link.backend,
        context: session.context,
        latch: session.latch,
        reader: session.feed.reader,
        clocks: this.#clocks,
        keepText: this.#options.keepText ?? true,
        blocks: this.#blocks,
        from,
        emit: (event) => this.channel.emit(event),
        onRecord: (failure) => this.#sink(failure),
        onPermissionNeeded: (ending) => this.#stop.begin(ending),
        onEnd: (ending) => resolve(decideOutcome(ending, attempt.facts())),
      });
      this.#attempt = attempt;
      session.attempt = attempt;
      this.#attempts += 1;
      const blocks = isContinued ? ([{ type: "text", text: continuePrompt }] as const) : this.#blocks;
      const reportId = this.#options.reportChanges === true ? `${this.#id}:${attemptNumber}` : undefined;
      const params = promptParams(session, blocks, reportId);
      const onHandedOver = (): boolean => (attempt.handedOver = true);
      link.connection.send("session/prompt", params, { onHandedOver }, (answer) => {
        try {
          this.#answered(attempt, answer);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #answered(attempt: Attempt, answer: RpcAnswer): void {
    const isFrame = !("error" in answer) || answer.error instanceof RpcError;
    if (attempt.ended) {
      if (isFrame) this.#session.lateFrames += 1;
      return;
    }
    attempt.handedOver ||= isFrame;
    if ("error" in answer) {
      this.#rejected(attempt, answer.error);
      return;
    }
    const { stopReason, usage, terminal } = readPromptResult(answer.result);
    this.#stopReason = stopReason;
    this.#usage = usage;
    attempt.record(terminal, "terminal");
    attempt.end({ type: "result", stopReason: this.#stopReason ?? undefined, terminal });
  }

  #rejected(attempt: Attempt, error: Error): void {
    if (error instanceof RpcError) {
      attempt.end({ type: "rpc_error", error });
      return;
    }
    this.#stop.agentGone(attempt);
    attempt.end(endingOf(error, attempt.lastHeard));
  }

  #warn(rule: string, title: string): void {
    const failure = ownWarning(this.#facts(), rule, title);
    this.#attempt?.warnings.set(failure.id, failure);
    this.#tell("warning", failure);
  }

  #expire(clock: ClockName): void {
    // What stopped the turn first is how it ended.
    if (this.#stop.signal.aborted) return;
    this.#timeout = deadlineEnding(clock, this.#timeouts, this.#attempt?.lastHeard ?? "nothing");
    this.#stop.begin(this.#timeout);
  }

  #pause(paused: boolean): void {
    this.#session.link.setPaused(paused);
    if (paused) this.#endPause = this.#clocks.hold();
    else this.#endPause?.();
  }

  #facts(): AttemptFacts {
    return this.#attempt?.facts() ?? nothingSent(this.#id, this.#session.context);
  }

  #sink(failure: Failure): void {
    this.#session.link.sink?.(failure, { sessionId: this.#session.id, turnId: this.#id });
  }

  #finish(decided: Decision, bug?: unknown): void {
    const attempt = this.#attempt;
    const decision = unlessTooLong(decided, attempt, { turnId: this.#id, attempts: this.#attempts });
    const { link, latch, tools, feed, desk, id } = this.#session;
    tools.forgetRunning();
    feed.endedTurns.addIds(tools.ids, attempt?.messageIds ?? []);
    if (decision.kind === "completed") latch.succeed();
    const failure = "failure" in decision ? decision.failure : null;
    const base = {
      ...saidIn(decision, attempt, this.#shown),
      denied: desk.denied,
      sessionId: id,
      stopReason: this.#stopReason,
      attempts: this.#attempts,
      usage: this.#usage,
      durationMs: Math.round(this.#clocks.elapsedMs),
      ...feed.reader.changes.end((event) => this.channel.emit(event)),
    };
    const { attempts, durationMs } = base;
    logTurnEnd(this.#session, { turnId: this.#id, decision, bug, attempts, durationMs });
    for (const warning of decision.warnings) this.#tell("warning", warning);
    if (failure !== null) this.#tell("failure", failure);
    // Before the outcome settles: whoever awaits it may prompt again at once.
    this.#release();
    const outcome = outcomeOf(decision, base, { stderr: link.stderrTail, advertised: this.#session.models, bug });
    this.#session.feed.turnEnded(this.#id, outcome);
    this.channel.finish(outcome);
  }

  #tell(type: "warning" | "failure", failure: Failure): void {
    this.#sink(failure);
    this.channel.emit({ type, failure });
  }
}
