/**
 * One session out of a log of its frames: prompts, updates and answers go where those of a live one go, so that the
 * transcript is the same. Nothing is sent.
 */
import type { AnsweredQuestion } from "../agent-question.ts";
import { isToolFrame } from "../child-sessions.ts";
import type { RpcError } from "../connection.ts";
import { endingOf } from "../death.ts";
import type { RuntimeGone } from "../death.ts";
import type { Frame } from "../frames.ts";
import { RecordLatch } from "../latch.ts";
import { readThreadStatus } from "../normalize.ts";
import type { Backend, ExtensionReading } from "../ports.ts";
import { readPromptResult } from "../prompt-result.ts";
import { SessionFeed } from "../session-feed.ts";
import type { OpenedSession } from "../session-now.ts";
import type { PromptBlock } from "../types.ts";
import { UpdateReader } from "../update-reader.ts";
import { emptyTranscript } from "./placement.ts";
import { reduceTranscript } from "./reduce.ts";
import { ReplayedRun } from "./replayed-run.ts";
import type { Transcript } from "./transcript.ts";

/** A prompt as it went out. */
export interface ReplayedPrompt {
  readonly blocks: readonly PromptBlock[];
  /** It asked for a report of the files that change. */
  readonly reportId: string | undefined;
}

/** How a prompt was answered. */
export type PromptAnswer = { readonly result: unknown } | { readonly error: RpcError };

export class ReplayedSession {
  readonly id: string;
  readonly feed: SessionFeed;
  #transcript: Transcript = emptyTranscript();
  readonly #backend: Backend;
  readonly #latch = new RecordLatch();
  readonly #queue: ReplayedPrompt[] = [];
  #models: readonly string[] = [];
  #turns = 0;
  #run: ReplayedRun | undefined;
  /** Reads what the agent repeats while it reopens the session. */
  #repeating: UpdateReader | undefined;
  /** Requests that may start work and are not answered yet. */
  #requests = 0;
  /** As the agent says; undefined = it has not said anything. */
  #isActive: boolean | undefined;

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

  /** A prompt runs. */
  get isRunning(): boolean {
    return this.#run?.isTurn === true;
  }

  /** Until {@link opened} its updates repeat what was. */
  reopening(): void {
    const { profile } = this.#backend;
    this.#repeating = new UpdateReader(this.#backend, { profile, advertisedModels: [] });
    this.#repeating.plans.readFile = this.feed.reader.plans.readFile;
  }

  opened(how: OpenedSession): void {
    this.#repeating = undefined;
    this.#models = how.info.models;
    this.feed.reader.now.begin(how);
  }

  /** A prompt that is sent while another one runs waits for its end, as the agents that were recorded let it. */
  prompted(prompt: ReplayedPrompt): void {
    if (this.isRunning) this.#queue.push(prompt);
    else {
      this.finishWork();
      this.#begin(prompt);
    }
  }

  answered(answer: PromptAnswer): void {
    const run = this.#run;
    this.#run = undefined;
    if ("error" in answer) run?.end({ type: "rpc_error", error: answer.error });
    else {
      const said = readPromptResult(answer.result);
      const { stopReason, terminal } = said;
      run?.attempt.record(terminal, "terminal");
      run?.end({ type: "result", stopReason: stopReason ?? undefined, terminal }, said);
    }
    if (this.#isActive !== undefined) this.#isActive = false;
    const next = this.#queue.shift();
    if (next !== undefined) this.#begin(next);
  }

  /** A person stopped what runs. */
  cancelled(): void {
    if (this.#run !== undefined) this.#run.attempt.override ??= { type: "aborted" };
  }

  /** The process is gone, and with it what waited for an answer. */
  gone(reason: RuntimeGone): void {
    const run = this.#run;
    this.#run = undefined;
    this.#queue.length = 0;
    this.#requests = 0;
    this.#repeating = undefined;
    // It had failed before, and nothing was left to be said (recording codex-acp 2.6.0 steer-idle-failing).
    if (run?.isTurn === false && run.attempt.facts().systemError !== undefined) run.rest();
    else run?.end(endingOf(reason, run.attempt.lastHeard));
  }

  /** A request went out that may start work; with `begins` it does. */
  requested(begins: boolean): void {
    this.#requests += 1;
    if (begins) this.#work();
  }

  /** It was answered; `blocks` = the words of a person that were taken. */
  settled(blocks?: readonly PromptBlock[]): void {
    if (blocks !== undefined) this.feed.steered(blocks, this.isRunning);
    if (blocks !== undefined) this.#run?.attempt.answer.steered();
    this.#requests = Math.max(0, this.#requests - 1);
    this.#restIfIdle();
  }

  /** The agent began a turn of its own for a person's words. */
  beganTurn(): void {
    this.#isActive = true;
    this.#work().began();
  }

  /** Work that is not over when a prompt comes, or the log ends. */
  finishWork(): void {
    if (this.isRunning) return;
    const run = this.#run;
    this.#run = undefined;
    run?.rest();
  }

  update(update: Frame): void {
    if (this.#repeating !== undefined) {
      for (const event of this.#repeating.readAll(update)) {
        this.#transcript = reduceTranscript(this.#transcript, { turnId: null, replayed: true, event });
      }
      return;
    }
    if (this.#backend.isReplay(update)) return;
    const isInfo = update["sessionUpdate"] === "session_info_update";
    const status = isInfo ? readThreadStatus(update["_meta"]) : undefined;
    if (status !== undefined) this.#isActive = status === "active";
    if (status === "active") this.#workIfMeant();
    this.#take(update);
    if (status === "idle") this.#restIfIdle();
    else if (isInfo && this.#isActive === true) this.#workIfMeant();
  }

  /** An update of a session that this one's agent started. */
  ofChild(childId: string, params: Frame): void {
    const events = this.feed.ofChild(childId, params, this.#run !== undefined);
    this.#run?.attempt.foreignFrame(isToolFrame(params), events);
  }

  extension(reading: ExtensionReading): void {
    if (this.#run === undefined) this.feed.extension(reading);
    else this.#run.attempt.extension(reading);
  }

  asked(answered: AnsweredQuestion): void {
    this.#run?.asked(answered);
  }

  #take(update: Frame): void {
    const attempt = this.#run?.attempt;
    const nested = attempt && this.feed.reader.readNested(update);
    if (attempt === undefined || this.feed.endedTurns.claims(update)) this.feed.outsideTurn(update);
    else if (nested !== undefined) attempt.foreignFrame(true, nested);
    else attempt.update(update);
  }

  #begin({ blocks, reportId }: ReplayedPrompt): void {
    this.#turns += 1;
    const turnId = `${this.id}:${this.#turns}`;
    this.feed.turnStarted(turnId, blocks);
    if (reportId !== undefined) this.feed.reader.changes.request(reportId);
    const run = this.#start(turnId, blocks);
    const now = this.feed.reader.now.describe();
    if (now !== undefined) run.tell(now);
    for (const event of this.feed.takeEarly()) run.tell(event);
  }

  /** An agent that works without anybody having asked for it is only told of, as a live one is. */
  #workIfMeant(): void {
    if (this.#requests > 0 || this.feed.reader.goal.current?.status === "active") this.#work().began();
  }

  #work(): ReplayedRun {
    return this.#run ?? this.#start(null);
  }

  #restIfIdle(): void {
    if (this.#requests === 0 && this.#isActive !== true) this.finishWork();
  }

  #start(turnId: string | null, blocks?: readonly PromptBlock[]): ReplayedRun {
    const context = { profile: this.#backend.profile, advertisedModels: this.#models };
    const said = blocks === undefined ? {} : { blocks };
    this.#run = new ReplayedRun({
      sessionId: this.id,
      turnId,
      backend: this.#backend,
      context,
      latch: this.#latch,
      feed: this.feed,
      ...said,
    });
    return this.#run;
  }
}
