/**
 * One session out of a log of its frames: the prompts, updates and answers go through the code that judges a live one, so
 * that the transcript is the same. Nothing is sent, and no clock runs.
 */
import type { RpcError } from "../connection.ts";
import { DEFAULT_TURN_TIMEOUTS, TurnClocks } from "../clocks.ts";
import { Attempt } from "../attempt.ts";
import type { AnsweredQuestion } from "../agent-question.ts";
import { endingOf } from "../death.ts";
import type { RuntimeGone } from "../death.ts";
import type { Frame } from "../frames.ts";
import { RecordLatch } from "../latch.ts";
import { decideOutcome } from "../outcome.ts";
import type { Decision, Ending } from "../outcome.ts";
import type { Backend, ExtensionReading } from "../ports.ts";
import { readPromptResult } from "../prompt-result.ts";
import type { PromptResult } from "../prompt-result.ts";
import { SessionFeed } from "../session-feed.ts";
import type { OpenedSession } from "../session-now.ts";
import { outcomeOf, saidIn } from "../turn-outcome.ts";
import type { PromptBlock } from "../types.ts";
import { UpdateReader } from "../update-reader.ts";
import { emptyTranscript } from "./placement.ts";
import { reduceTranscript } from "./reduce.ts";
import type { Transcript } from "./transcript.ts";

const NOTHING_SAID = { stopReason: null, usage: null } as const;

interface ReplayedTurn {
  readonly turnId: string;
  readonly attempt: Attempt;
  readonly denied: string[];
}

/** How a prompt was answered. */
export type PromptAnswer = { readonly result: unknown } | { readonly error: RpcError };

export class ReplayedSession {
  readonly id: string;
  readonly feed: SessionFeed;
  #transcript: Transcript = emptyTranscript();
  readonly #backend: Backend;
  readonly #latch = new RecordLatch();
  readonly #queue: (readonly PromptBlock[])[] = [];
  #models: readonly string[] = [];
  #turns = 0;
  #turn: ReplayedTurn | undefined;
  /** Reads what the agent repeats while it reopens the session. */
  #repeating: UpdateReader | undefined;

  constructor(id: string, backend: Backend) {
    this.id = id;
    this.#backend = backend;
    this.feed = new SessionFeed({
      backend,
      context: { profile: backend.profile, advertisedModels: [] },
      log: undefined,
      onEvent: (event) => (this.#transcript = reduceTranscript(this.#transcript, event)),
    });
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  get isRunning(): boolean {
    return this.#turn !== undefined;
  }

  /** Until {@link opened} its updates repeat what was. */
  reopening(): void {
    const { profile } = this.#backend;
    this.#repeating = new UpdateReader(this.#backend, { profile, advertisedModels: [] });
  }

  opened(how: OpenedSession): void {
    this.#repeating = undefined;
    this.#models = how.info.models;
    this.feed.reader.now.begin(how);
  }

  /** A prompt that is sent while another one runs waits for its end, as the agents that were recorded let it. */
  prompted(blocks: readonly PromptBlock[]): void {
    if (this.#turn === undefined) this.#begin(blocks);
    else this.#queue.push(blocks);
  }

  answered(answer: PromptAnswer): void {
    if ("error" in answer) this.#end({ type: "rpc_error", error: answer.error });
    else {
      const said = readPromptResult(answer.result);
      const { stopReason, terminal } = said;
      this.#turn?.attempt.record(terminal, "terminal");
      this.#end({ type: "result", stopReason: stopReason ?? undefined, terminal }, said);
    }
    const next = this.#queue.shift();
    if (next !== undefined) this.#begin(next);
  }

  /** A person stopped the turn. */
  cancelled(): void {
    if (this.#turn !== undefined) this.#turn.attempt.override ??= { type: "aborted" };
  }

  /** The process is gone, and with it what waited for an answer. */
  gone(reason: RuntimeGone): void {
    this.#queue.length = 0;
    this.#repeating = undefined;
    this.#end(endingOf(reason, this.#turn?.attempt.lastHeard ?? "nothing"));
  }

  update(update: Frame): void {
    if (this.#repeating !== undefined) {
      for (const event of this.#repeating.readAll(update)) {
        this.#transcript = reduceTranscript(this.#transcript, { turnId: null, replayed: true, event });
      }
      return;
    }
    if (this.#backend.isReplay(update)) return;
    const attempt = this.#turn?.attempt;
    const nested = attempt && this.feed.reader.readNested(update);
    if (attempt === undefined || this.feed.endedTurns.claims(update)) this.feed.outsideTurn(update);
    else if (nested !== undefined) attempt.foreignFrame(true, nested);
    else attempt.update(update);
  }

  /** An update of a session that this one's agent started. */
  ofChild(childId: string, params: Frame): void {
    const events = this.feed.ofChild(childId, params, this.isRunning);
    this.#turn?.attempt.foreignFrame(false, events);
  }

  extension(reading: ExtensionReading): void {
    if (this.#turn === undefined) this.feed.extension(reading);
    else this.#turn.attempt.extension(reading);
  }

  asked(answered: AnsweredQuestion): void {
    if (answered.type === "permission" && answered.answer.denied) this.#turn?.denied.push(answered.request.title);
    this.#turn?.attempt.answered(answered);
  }

  /** A person's further words went into the work that runs. */
  steered(blocks: readonly PromptBlock[]): void {
    this.feed.steered(blocks, this.isRunning);
    this.#turn?.attempt.answer.steered();
  }

  #begin(blocks: readonly PromptBlock[]): void {
    this.#turns += 1;
    const turnId = `${this.id}:${this.#turns}`;
    const clocks = new TurnClocks(DEFAULT_TURN_TIMEOUTS, () => {});
    clocks.stop();
    this.feed.turnStarted(turnId, blocks);
    this.#latch.beginTurn();
    const attempt = new Attempt({
      turnId,
      attempt: 1,
      backend: this.#backend,
      context: { profile: this.#backend.profile, advertisedModels: this.#models },
      latch: this.#latch,
      reader: this.feed.reader,
      clocks,
      keepText: true,
      blocks,
      from: undefined,
      emit: (event) => this.feed.turnTold(turnId, event),
      onRecord: () => {},
      onPermissionNeeded: () => {},
      onEnd: () => {},
    });
    attempt.handedOver = true;
    this.#turn = { turnId, attempt, denied: [] };
    const now = this.feed.reader.now.describe();
    for (const event of [...(now === undefined ? [] : [now]), ...this.feed.takeEarly()])
      this.feed.turnTold(turnId, event);
  }

  #end(ending: Ending, { stopReason, usage }: Pick<PromptResult, "stopReason" | "usage"> = NOTHING_SAID): void {
    if (this.#turn === undefined) return;
    const { turnId, attempt, denied } = this.#turn;
    this.#turn = undefined;
    attempt.end(ending);
    const decision = decideOutcome(attempt.override ?? ending, attempt.facts());
    const { reader, endedTurns } = this.feed;
    reader.tools.forgetRunning();
    endedTurns.addIds(reader.tools.ids, attempt.messageIds);
    if (decision.kind === "completed") this.#latch.succeed();
    this.#tellFailures(turnId, decision);
    const base = { ...saidIn(decision, attempt, false), sessionId: this.id, denied };
    const outcome = outcomeOf(
      decision,
      { ...base, stopReason, usage, attempts: 1, durationMs: 0 },
      { stderr: () => "", advertised: this.#models },
    );
    this.feed.turnEnded(turnId, outcome);
  }

  #tellFailures(turnId: string, decision: Decision): void {
    for (const failure of decision.warnings) this.feed.turnTold(turnId, { type: "warning", failure });
    const failure = "failure" in decision ? decision.failure : null;
    if (failure !== null) this.feed.turnTold(turnId, { type: "failure", failure });
  }
}
