/**
 * One turn out of a log, or work that no prompt of ours started: its frames go through the attempt that judges a live one.
 * No clock runs.
 */
import type { AnsweredQuestion } from "../agent-question.ts";
import { Attempt } from "../attempt.ts";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks } from "../clocks.ts";
import type { ClassifyContext } from "../../errors/verdict.ts";
import type { TurnEventBody } from "../events.ts";
import type { RecordLatch } from "../latch.ts";
import { decideOutcome } from "../outcome.ts";
import type { Decision, Ending } from "../outcome.ts";
import type { Backend } from "../ports.ts";
import type { PromptResult } from "../prompt-result.ts";
import type { SessionFeed } from "../session-feed.ts";
import { outcomeOf, saidIn } from "../turn-outcome.ts";
import type { PromptBlock } from "../types.ts";
import { NO_SIGN } from "../work-run.ts";

const NOTHING_SAID = { stopReason: null, usage: null } as const;

export interface ReplayedRunOptions {
  readonly sessionId: string;
  /** Null = work that no prompt of ours started: told of when there is a sign of it. */
  readonly turnId: string | null;
  readonly blocks?: readonly PromptBlock[];
  readonly backend: Backend;
  readonly context: ClassifyContext;
  readonly latch: RecordLatch;
  readonly feed: SessionFeed;
}

export class ReplayedRun {
  readonly attempt: Attempt;
  readonly #options: ReplayedRunOptions;
  readonly #denied: string[] = [];
  #isTold: boolean;

  constructor(options: ReplayedRunOptions) {
    const { sessionId, turnId, blocks, backend, context, latch, feed } = options;
    this.#options = options;
    this.#isTold = turnId !== null;
    const clocks = new TurnClocks(DEFAULT_TURN_TIMEOUTS, () => {});
    clocks.stop();
    latch.beginTurn();
    this.attempt = new Attempt({
      turnId: turnId ?? sessionId,
      attempt: 1,
      backend,
      context,
      latch,
      reader: feed.reader,
      clocks,
      keepText: true,
      ...(blocks !== undefined && { blocks }),
      from: undefined,
      emit: (event) => this.tell(event),
      onRecord: () => {},
      onPermissionNeeded: () => {},
      onEnd: () => {},
    });
    this.attempt.handedOver = true;
  }

  get isTurn(): boolean {
    return this.#options.turnId !== null;
  }

  tell(event: TurnEventBody): void {
    const { turnId, feed } = this.#options;
    if (!NO_SIGN.has(event.type)) this.began();
    if (turnId === null) feed.told(event);
    else feed.turnTold(turnId, event);
  }

  /** Work is under way. */
  began(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#options.feed.told({ type: "turn", state: "started" });
  }

  asked(answered: AnsweredQuestion): void {
    if (answered.type === "permission" && answered.answer.denied) this.#denied.push(answered.request.title);
    this.attempt.answered(answered);
  }

  /** Work rests. A record beside `systemError` says why it failed. */
  rest(): void {
    const { systemError, raisedError } = this.attempt.facts();
    const record = systemError === undefined ? undefined : raisedError;
    const terminal = record === undefined ? ({ kind: "none" } as const) : ({ kind: "ok", record } as const);
    this.end({ type: "result", stopReason: "end_turn", terminal });
  }

  end(ending: Ending, { stopReason, usage }: Pick<PromptResult, "stopReason" | "usage"> = NOTHING_SAID): void {
    const { attempt } = this;
    const { sessionId, turnId, feed, latch, context } = this.#options;
    attempt.end(ending);
    const decision = decideOutcome(attempt.override ?? ending, attempt.facts());
    const { reader, endedTurns } = feed;
    reader.tools.forgetRunning();
    endedTurns.addIds(reader.tools.ids, attempt.messageIds);
    if (decision.kind === "completed") latch.succeed();
    if (!this.#isTold) return;
    this.#tellFailures(decision);
    const changes = reader.changes.end((event) => this.tell(event));
    const said = { ...saidIn(decision, attempt, false), ...changes, sessionId, denied: this.#denied };
    const base = { ...said, stopReason, usage, attempts: 1, durationMs: 0 };
    const outcome = outcomeOf(decision, base, { stderr: () => "", advertised: context.advertisedModels ?? [] });
    if (turnId === null) feed.told({ type: "turn", state: "ended", outcome });
    else feed.turnEnded(turnId, outcome);
  }

  #tellFailures(decision: Decision): void {
    for (const failure of decision.warnings) this.tell({ type: "warning", failure });
    const failure = "failure" in decision ? decision.failure : null;
    if (failure !== null) this.tell({ type: "failure", failure });
  }
}
