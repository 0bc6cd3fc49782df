/**
 * One ACP session: one prompt at a time, its frames to the running turn, its permission questions to the policy, its
 * failure records to the latch.
 */
import { AcpPromptBusy } from "../errors/acp-error.ts";
import type { FailureKind } from "../errors/failure.ts";
import type { ClassifyContext } from "../errors/verdict.ts";
import type { GoalRequest } from "./air/goal.ts";
import type { Attempt } from "./attempt.ts";
import { readSessionFailure } from "./air/session-failure.ts";
import { isToolFrame } from "./child-sessions.ts";
import type { AsyncTask, Goal } from "./events.ts";
import type { Frame } from "./frames.ts";
import { RecordLatch } from "./latch.ts";
import type { Ending } from "./outcome.ts";
import { OutsideWork } from "./outside-work.ts";
import { failureFromRecord, plainVerdict } from "./make-failure.ts";
import { isObject } from "./frames.ts";
import type { AdvertisedModes, ExtensionReading } from "./ports.ts";
import { SessionDesk } from "./session-desk.ts";
import { readPlanFile } from "./read-plan-file.ts";
import { SessionFeed } from "./session-feed.ts";
import type { SessionListener } from "./session-feed.ts";
import { setGoal } from "./session-goal.ts";
import type { GoalAnswer, GoalOptions } from "./session-goal.ts";
import { steer } from "./session-steering.ts";
import type { SteerOptions, SteerResult } from "./session-steering.ts";
import type { SessionOffers } from "./session-info.ts";
import type { Session, SessionLink, SessionSetup } from "./session-link.ts";
import { openedSession } from "./session-now.ts";
import { stopTask } from "./session-tasks.ts";
import type { StopTaskAnswer, StopTaskOptions } from "./session-tasks.ts";
import type { ToolCalls } from "./tool-calls.ts";
import { SESSION_ENDED_RULE } from "./retry.ts";
import { runTurn } from "./turn-run.ts";
import type { TurnOptions } from "./turn-options.ts";
import type { PromptBlock, Turn } from "./types.ts";

/** The implementation behind {@link Session}; the runtime routes frames into it. */
export class AcpSession implements Session {
  readonly id: string;
  readonly notes: readonly string[];
  readonly models: readonly string[];
  readonly link: SessionLink;
  readonly setup: SessionSetup;
  readonly latch = new RecordLatch();
  readonly feed: SessionFeed;
  /** What the agent asks here. */
  readonly desk: SessionDesk;
  readonly context: ClassifyContext;
  /** What the agent does here without a prompt of ours. */
  readonly work: OutsideWork;
  /** The attempt that frames belong to now. */
  attempt: Attempt | undefined;
  /** Frames that came after their turn had ended. */
  lateFrames = 0;
  /** Set by the runtime when it lets go of the session. */
  retired = false;
  replayedFrames: number;
  turns = 0;
  #turn: Turn | undefined;
  #running = false;
  #closing: Promise<void> | undefined;

  constructor(link: SessionLink, setup: SessionSetup) {
    this.link = link;
    this.setup = setup;
    this.id = setup.id;
    this.notes = setup.notes;
    this.models = setup.models;
    this.replayedFrames = setup.replayedFrames ?? 0;
    this.context = { profile: link.backend.profile, advertisedModels: setup.models };
    this.feed = new SessionFeed({ backend: link.backend, context: this.context, log: link.log, onEvent: link.onEvent });
    this.feed.reader.now.begin(openedSession(link, setup));
    this.feed.reader.goal.current = setup.goal;
    if (link.capabilities.air.capabilities.has("planFile")) this.feed.reader.plans.readFile = readPlanFile;
    this.desk = new SessionDesk(this);
    this.work = new OutsideWork(this);
  }

  prompt(prompt: string | readonly PromptBlock[], options: TurnOptions = {}): Turn {
    this.#turn = runTurn(this, toBlocks(prompt), options);
    return this.#turn;
  }

  /** Takes the session for one turn; call the result when the turn is over. Throws `AcpPromptBusy`. */
  begin(): () => void {
    if (this.#running) throw new AcpPromptBusy("A prompt is already running in this session");
    this.work.yield();
    this.#running = true;
    this.turns += 1;
    this.desk.beginTurn();
    return () => {
      this.#running = false;
      this.work.turnOver();
      this.desk.endTurn();
    };
  }

  get goal(): Goal | null | undefined {
    return this.feed.reader.goal.current;
  }

  setGoal(request: GoalRequest, options?: GoalOptions): Promise<GoalAnswer> {
    return setGoal(this, request, options);
  }

  steer(prompt: string | readonly PromptBlock[], options?: SteerOptions): Promise<SteerResult> {
    return steer(this, toBlocks(prompt), options);
  }

  stopWork(): Promise<void> {
    return this.work.stop();
  }

  /** A prompt runs, or waits for its next try. */
  get isTaken(): boolean {
    return this.#running;
  }

  /** Resolves when no prompt runs any more. */
  async turnOver(): Promise<void> {
    if (this.#running) await this.#turn?.outcome;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A turn runs whose frames are still taken. */
  get isRunning(): boolean {
    return this.attempt !== undefined && !this.attempt.ended;
  }

  /** No prompt can be sent here any more: the process is gone, or the session was ended in it. */
  get isOver(): boolean {
    return this.retired || this.#closing !== undefined || this.link.connection.isClosed;
  }

  /** Why these blocks are not sent at all; undefined = they may be. */
  refusal(blocks: readonly PromptBlock[]): Ending | undefined {
    if (this.retired || this.#closing !== undefined)
      return refused("session_not_found", SESSION_ENDED_RULE, "This session was ended");
    const { backend, capabilities } = this.link;
    const { image, embeddedContext } = capabilities;
    if (!image && blocks.some(({ type }) => type === "image")) {
      return refused(
        "request_rejected",
        "no-images",
        `${backend.label} takes no images: describe it, or name the file for the agent to read`,
      );
    }
    if (embeddedContext === false && blocks.some(({ type }) => type === "resource")) {
      return refused(
        "request_rejected",
        "no-embedded-files",
        `${backend.label} takes no file contents in a prompt: send a link to the file`,
      );
    }
    return undefined;
  }

  get modes(): AdvertisedModes | undefined {
    const { modes } = this.setup;
    return modes === undefined ? undefined : { ...modes, current: this.feed.reader.now.mode ?? modes.current };
  }

  get offers(): SessionOffers {
    return this.feed.reader.now.offers;
  }

  get tools(): ToolCalls {
    return this.feed.reader.tools;
  }

  get tasks(): readonly AsyncTask[] {
    return this.link.connection.isClosed ? [] : this.feed.reader.tasks.running;
  }

  stopTask(taskId: string, options?: StopTaskOptions): Promise<StopTaskAnswer> {
    return stopTask(this, taskId, options);
  }

  subscribe(listener: SessionListener): () => void {
    return this.feed.subscribe(listener);
  }

  /** A `session/update` of this session. */
  update(params: Frame): void {
    const { update } = params;
    if (!isObject(update)) return;
    if (this.link.backend.isReplay(update)) this.replayedFrames += 1;
    else this.work.around(update, () => this.#take(update));
  }

  #take(update: Frame): void {
    if (!this.isRunning || this.feed.endedTurns.claims(update)) this.#late(update);
    else if (!this.#nested(update)) this.attempt?.update(update);
  }

  /** A notification outside ACP; without `isSign` it names no session, and is no sign of life of the turn. */
  extension(reading: ExtensionReading, isSign = true): void {
    if (this.attempt !== undefined && !this.attempt.ended) {
      this.attempt.extension(reading, isSign);
      return;
    }
    this.lateFrames += 1;
    this.feed.extension(reading);
  }

  /** A frame of a child session of this one. */
  foreignFrame(childId: string, params: Frame): void {
    const events = this.feed.ofChild(childId, params, this.isRunning);
    this.attempt?.foreignFrame(isToolFrame(params), events);
  }

  async #close(): Promise<void> {
    if (this.retired) return;
    if (this.#running) {
      this.#turn?.cancel();
      await this.#turn?.outcome;
    }
    await this.work.stop();
    await this.link.close(this);
  }

  /** What a subagent without a session of its own tells in this one is no part of the answer. */
  #nested(update: Frame): boolean {
    const events = this.feed.reader.readNested(update);
    if (events === undefined) return false;
    this.attempt?.messageIds.saw(update["messageId"]);
    this.attempt?.foreignFrame(true, events);
    return true;
  }

  /** Belongs to the turn that has ended: not its text, not activity of the next. Records are still news. */
  #late(update: Frame): void {
    this.lateFrames += 1;
    this.feed.outsideTurn(update);
    const reading = readSessionFailure(update["_meta"]);
    if (reading.kind !== "ok" || this.latch.accept(reading.record) === "stale") return;
    this.link.sink?.(failureFromRecord(reading.record, this.context, "no_output"), {
      sessionId: this.id,
      turnId: null,
    });
  }
}

function toBlocks(prompt: string | readonly PromptBlock[]): readonly PromptBlock[] {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
}

function refused(kind: FailureKind, rule: string, title: string): Ending {
  return { type: "fact", verdict: plainVerdict(kind, rule), source: "rpc_error", title };
}
