/** Runs one turn: attempts with retries, the clocks, the cancel with its grace, and at the end one outcome. */

import type { Failure } from "../errors/failure.ts";
import { cleanLine } from "../errors/redact.ts";
import { readSessionFailure } from "./air.ts";
import { Attempt } from "./attempt.ts";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks } from "./clocks.ts";
import type { ClockName } from "./clocks.ts";
import { answerTooLong, ABORTED, bugEnding, deadlineEnding, nothingSent, outcomeOf } from "./turn-outcome.ts";
import { RpcError } from "./connection.ts";
import type { RpcAnswer } from "./connection.ts";
import { endingOf } from "./death.ts";
import { isObject } from "./frames.ts";
import { readUsage, str } from "./normalize.ts";
import { decideOutcome, ownWarning } from "./outcome.ts";
import type { AttemptFacts, Decision, Ending } from "./outcome.ts";
import { ALLOWED_WAIT_MS, BACKOFF_MS, withRetries } from "./retry.ts";
import type { RetryHow } from "./retry.ts";
import { createRetryBudget } from "./retry-budget.ts";
import type { AcpSession } from "./session.ts";
import { TurnChannel } from "./turn.ts";
import { newTurnId } from "./turn-id.ts";
import { TurnStop } from "./turn-stop.ts";
import { logRetry, logTurnEnd } from "./turn-log.ts";
import type { PromptBlock, PromptOptions, Turn, TurnTimeouts, Usage } from "./types.ts";

/** Tries after the first, unless the caller says otherwise. */
const DEFAULT_RETRIES = 3;
/** The longest word of the protocol is `max_turn_requests`. */
const MAX_STOP_REASON_CHARS = 100;

export function runTurn(
  session: AcpSession,
  blocks: readonly PromptBlock[],
  options: PromptOptions,
  onDone: () => void,
): Turn {
  const run = new TurnRun(session, blocks, options, onDone);
  void run.run();
  return run.channel.turn;
}

class TurnRun {
  readonly channel: TurnChannel;
  readonly #session: AcpSession;
  readonly #blocks: readonly PromptBlock[];
  readonly #options: PromptOptions;
  readonly #onDone: () => void;
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

  constructor(session: AcpSession, blocks: readonly PromptBlock[], options: PromptOptions, onDone: () => void) {
    this.#onDone = onDone;
    this.#session = session;
    this.#blocks = blocks;
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TURN_TIMEOUTS, ...options.timeouts };
    this.#clocks = new TurnClocks(this.#timeouts, (clock) => this.#expire(clock));
    this.#stop = new TurnStop({
      session,
      graceMs: this.#timeouts.cancelGraceMs,
      attempt: () => this.#attempt,
      onWarning: (rule, title) => this.#warn(rule, title),
      onNotice: (text) => this.channel.emit({ type: "notice", from: "ostler", text }),
    });
    this.channel = new TurnChannel({
      id: this.#id,
      whenUnread: options.whenUnread ?? "join",
      onPause: (paused) => this.#pause(paused),
      onCancel: () => this.#stop.request(),
    });
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const onAbort = (): void => this.#stop.request();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#announce();
    try {
      const refusal = this.#session.refusal(this.#blocks);
      const decision =
        signal?.aborted === true
          ? ABORTED
          : refusal === undefined
            ? await this.#withRetries()
            : decideOutcome(refusal, this.#facts());
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

  #announce(): void {
    const { link, setup, id, modes } = this.#session;
    link.log?.("info", "turn.began", { turnId: this.#id, sessionId: id, backend: link.backend.id });
    this.channel.emit({
      type: "session",
      sessionId: id,
      backend: link.backend.id,
      ...(link.agent === undefined ? {} : { agent: link.agent }),
      ...(setup.model === undefined ? {} : { model: setup.model }),
      ...(modes?.current == null ? {} : { mode: modes.current }),
    });
    for (const note of this.#session.turns === 1 ? this.#session.notes : []) {
      this.channel.emit({ type: "notice", from: "ostler", text: note });
    }
  }

  #withRetries(): Promise<Decision> {
    const { retries = this.#options.budget?.left ?? DEFAULT_RETRIES, budget = createRetryBudget(retries) } =
      this.#options;
    const { backend } = this.#session.link;
    return withRetries((n, how) => this.#once(n, how), {
      retries,
      budget,
      backoffMs: this.#options.backoffMs ?? BACKOFF_MS,
      allowedWaitMs: this.#options.allowedWaitMs ?? ALLOWED_WAIT_MS,
      signal: this.#stop.signal,
      retriesEmptyTurn: backend.retriesEmptyTurn,
      continues: backend.continuePrompt !== undefined,
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

  /** One prompt handed over, until it is answered or cannot be any more. */
  #once(attemptNumber: number, how: RetryHow | undefined): Promise<Decision> {
    // The wait before it is over: nothing is sent that was stopped meanwhile.
    if (this.#stop.signal.aborted) return Promise.resolve(ABORTED);
    const session = this.#session;
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
        tools: session.tools,
        clocks: this.#clocks,
        keepText: this.#options.keepText ?? true,
        from,
        emit: (event) => this.channel.emit(event),
        onRecord: (failure) => this.#sink(failure),
        onPermissionNeeded: (ending) => this.#stop.begin(ending),
        onEnd: (ending) => resolve(decideOutcome(ending, attempt.facts())),
      });
      this.#attempt = attempt;
      session.attempt = attempt;
      this.#attempts += 1;
      link.connection.send(
        "session/prompt",
        { sessionId: session.id, prompt: isContinued ? [{ type: "text", text: continuePrompt }] : this.#blocks },
        { onHandedOver: () => (attempt.handedOver = true) },
        (answer) => {
          try {
            this.#answered(attempt, answer);
          } catch (error) {
            reject(error);
          }
        },
      );
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
    const result = isObject(answer.result) ? answer.result : {};
    const terminal = readSessionFailure(result["_meta"]);
    const stopReason = str(result["stopReason"]);
    this.#stopReason = stopReason === undefined ? null : cleanLine(stopReason, MAX_STOP_REASON_CHARS);
    this.#usage = readUsage(result);
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
    const decision =
      attempt?.answer.isCut === true && decided.kind === "completed"
        ? answerTooLong(decided, this.#id, this.#attempts)
        : decided;
    const { link, latch, tools, endedTurns, id } = this.#session;
    tools.forgetRunning();
    endedTurns.addIds(tools.ids, attempt?.messageIds ?? []);
    if (decision.kind === "completed") latch.succeed();
    const failure = "failure" in decision ? decision.failure : null;
    const warnings = [...(attempt?.warnings.values() ?? []), ...decision.warnings].filter(
      (warning) => warning.id !== failure?.id,
    );
    const onlyWords = decision.kind === "completed" && !this.#shown && attempt?.facts().output === false;
    const base = {
      text: (onlyWords ? attempt.adapterWords.join("") : attempt?.answer.text) ?? "",
      partial: decision.kind !== "completed" && (this.#shown || (attempt?.answer.visible ?? false)),
      sessionId: id,
      stopReason: this.#stopReason,
      warnings,
      attempts: this.#attempts,
      usage: this.#usage,
      durationMs: Math.round(this.#clocks.elapsedMs),
      denied: attempt?.denied ?? [],
    };
    logTurnEnd(this.#session, {
      turnId: this.#id,
      decision,
      bug,
      attempts: base.attempts,
      durationMs: base.durationMs,
    });
    for (const warning of decision.warnings) this.#tell("warning", warning);
    if (failure !== null) this.#tell("failure", failure);
    // Before the outcome settles: whoever awaits it may prompt again at once.
    this.#onDone();
    this.channel.finish(outcomeOf(decision, base, { stderr: link.stderrTail, advertised: this.#session.models, bug }));
  }

  #tell(type: "warning" | "failure", failure: Failure): void {
    this.#sink(failure);
    this.channel.emit({ type, failure });
  }
}
