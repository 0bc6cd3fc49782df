/**
 * One ACP session: one prompt at a time, its frames to the running turn, its permission questions to the policy, its
 * failure records to the latch.
 */
import { AcpPromptBusy } from "../errors/acp-error.ts";
import type { ClassifyContext } from "../errors/verdict.ts";
import type { Attempt } from "./attempt.ts";
import { readSessionFailure } from "./air.ts";
import type { Connection } from "./connection.ts";
import { EndedTurns } from "./ended-turns.ts";
import type { Frame } from "./frames.ts";
import { RecordLatch } from "./latch.ts";
import { failureFromRecord } from "./make-failure.ts";
import { isObject } from "./frames.ts";
import { PermissionDesk, logPermission, readPermissionRequest, rejectAnswer } from "./permissions.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { AdvertisedModes, Backend, ExtensionReading, FailureSink, LogSink, PermissionPolicy } from "./ports.ts";
import { ToolCalls } from "./tool-calls.ts";
import { runTurn } from "./turn-run.ts";
import type { PermissionAnswer, PermissionRequest, PromptBlock, PromptOptions, Turn } from "./types.ts";

/** A conversation with the agent, bound to one runtime. */
export interface Session {
  readonly id: string;
  /** Sentences for the person, told once: what could not be set as asked. */
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  /** Model ids that this account may use; empty = not known. */
  readonly models: readonly string[];
  /**
   * Sends a prompt. The outcome always settles; a second prompt while one runs throws `AcpPromptBusy`.
   */
  prompt(prompt: string | readonly PromptBlock[], options?: PromptOptions): Turn;
}

/**
 * What became of a session whose agent was given up: nothing of its tree is left, something of it could not be ended, or
 * the process lives on for other sessions and this one is retired.
 */
export type Abandoned = "ended" | "left" | "retired";

/** What a session needs of its runtime. */
export interface SessionLink {
  readonly backend: Backend;
  readonly agent: string | undefined;
  readonly connection: Connection;
  readonly permissions: PermissionPolicy | undefined;
  readonly permissionMs: number;
  readonly sink: FailureSink | undefined;
  readonly log: LogSink | undefined;
  /** Stops and starts reading the child's stdout. */
  readonly setPaused: (paused: boolean) => void;
  /** The harness ignored a cancel, or died of it: end its tree if nobody else lives there. Resolves when that is done; never rejects. */
  readonly abandon: (session: AcpSession) => Promise<Abandoned>;
  /** No other session lives in the process. */
  readonly isAlone: () => boolean;
  /** What the agent has started and is still alive. */
  readonly processes: () => readonly ProcessIdentity[];
  /** Redacted end of stderr. */
  readonly stderrTail: () => string;
}

export interface SessionSetup {
  readonly id: string;
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly model: string | undefined;
}

/** The implementation behind {@link Session}; the runtime routes frames into it. */
export class AcpSession implements Session {
  readonly id: string;
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly link: SessionLink;
  readonly setup: SessionSetup;
  readonly latch = new RecordLatch();
  readonly tools = new ToolCalls();
  readonly endedTurns = new EndedTurns();
  readonly context: ClassifyContext;
  /** The attempt that frames belong to now. */
  attempt: Attempt | undefined;
  /** Frames that came after their turn had ended. */
  lateFrames = 0;
  turns = 0;
  readonly #desk: PermissionDesk;
  #running = false;

  constructor(link: SessionLink, setup: SessionSetup) {
    this.link = link;
    this.setup = setup;
    this.id = setup.id;
    this.notes = setup.notes;
    this.modes = setup.modes;
    this.models = setup.models;
    this.context = { profile: link.backend.profile, advertisedModels: setup.models };
    this.#desk = new PermissionDesk({
      connection: link.connection,
      tools: this.tools,
      policy: (request, signal) => this.#decide(request, signal),
      permissionMs: link.permissionMs,
      onAnswer: (request, answer) => this.#answered(request, answer),
    });
  }

  prompt(prompt: string | readonly PromptBlock[], options: PromptOptions = {}): Turn {
    if (this.#running) throw new AcpPromptBusy("A prompt is already running in this session");
    this.#running = true;
    this.turns += 1;
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt } as const] : prompt;
    return runTurn(this, blocks, options, () => {
      this.#running = false;
    });
  }

  /** A `session/update` of this session. */
  update(params: Frame): void {
    const { update } = params;
    if (!isObject(update)) return;
    const { attempt } = this;
    if (attempt === undefined || attempt.ended || this.endedTurns.claims(update)) this.#late(update);
    else attempt.update(update);
  }

  extension(reading: ExtensionReading): void {
    if (this.attempt !== undefined && !this.attempt.ended) this.attempt.extension(reading);
    else this.lateFrames += 1;
  }

  /** A frame of a session nobody opened, while this one has the only running turn. */
  foreignFrame(): void {
    this.attempt?.foreignFrame();
  }

  askPermission(id: string | number, sessionId: string, params: Frame): void {
    void this.#desk.ask(id, readPermissionRequest(sessionId, params, this.tools));
  }

  withdrawPermission(id: unknown): void {
    this.#desk.withdraw(id);
  }

  closePermissions(): void {
    this.#desk.closeAll();
  }

  /** Belongs to the turn that has ended: not its text, not activity of the next. Records are still news. */
  #late(update: Frame): void {
    this.lateFrames += 1;
    this.endedTurns.add(update);
    if (update["sessionUpdate"] === "tool_call" || update["sessionUpdate"] === "tool_call_update")
      this.tools.apply(update);
    const reading = readSessionFailure(update["_meta"]);
    if (reading.kind !== "ok" || this.latch.accept(reading.record) === "stale") return;
    this.link.sink?.(failureFromRecord(reading.record, this.context, "no_output"), {
      sessionId: this.id,
      turnId: null,
    });
  }

  async #decide(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { attempt } = this;
    if (attempt === undefined || attempt.ended) return rejectAnswer(request, "No turn is running");
    // Asked after our own cancel: nobody will look at it any more.
    if (attempt.override !== undefined) return { action: "cancel", denied: false };
    const release = attempt.hold();
    // Withdrawn, expired or closed: a policy that does not notice must not stop the clocks for the rest of the turn.
    signal.addEventListener("abort", release, { once: true });
    try {
      const { permissions } = this.link;
      if (permissions !== undefined) return await permissions(request, signal);
      attempt.needsPermission(request);
      return rejectAnswer(request, "Nobody can answer permission requests here");
    } finally {
      release();
    }
  }

  #answered(request: PermissionRequest, answer: PermissionAnswer): void {
    logPermission(this.link.log, request, answer);
    this.attempt?.permissionAnswered(request, answer);
  }
}
