/**
 * One ACP session: one prompt at a time, its frames to the running turn, its permission questions to the policy, its
 * failure records to the latch.
 */
import { AcpPromptBusy } from "../errors/acp-error.ts";
import type { FailureKind } from "../errors/failure.ts";
import type { ClassifyContext } from "../errors/verdict.ts";
import type { Attempt } from "./attempt.ts";
import { readSessionFailure } from "./air.ts";
import { isToolFrame } from "./child-sessions.ts";
import type { Connection } from "./connection.ts";
import { EndedTurns } from "./ended-turns.ts";
import type { Frame } from "./frames.ts";
import { RecordLatch } from "./latch.ts";
import type { AgentCapabilities } from "./negotiate.ts";
import type { Ending } from "./outcome.ts";
import { failureFromRecord, plainVerdict } from "./make-failure.ts";
import { isObject } from "./frames.ts";
import { PermissionDesk, logPermission, readPermissionRequest, rejectAnswer } from "./permissions.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { AdvertisedModes, Backend, ExtensionReading, FailureSink, LogSink, PermissionPolicy } from "./ports.ts";
import { ToolCalls } from "./tool-calls.ts";
import { SESSION_ENDED_RULE } from "./retry.ts";
import { runTurn } from "./turn-run.ts";
import type { TurnOptions } from "./turn-options.ts";
import type { PermissionAnswer, PermissionRequest, PromptBlock, PromptOptions, Turn, TurnTimeouts } from "./types.ts";

/** A conversation with the agent, bound to one runtime. */
export interface Session {
  readonly id: string;
  /** Sentences for the person, told once: what could not be set as asked. */
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  /** Model ids that this account may use; empty = not known. */
  readonly models: readonly string[];
  /** Sends a prompt. The outcome always settles; a second prompt while one runs throws `AcpPromptBusy`. */
  prompt(prompt: string | readonly PromptBlock[], options?: PromptOptions): Turn;
  /** The session was closed, or given up because its agent ignored a cancel: prompts fail from now on. */
  readonly retired: boolean;
  /** Frames that repeated earlier turns: of a `session/load`, or marked as such by the agent. Never shown. */
  readonly replayedFrames: number;
  /** Cancels what runs and ends the session in the agent where that has a request for it; its record stays. Bounded, never throws. */
  close(): Promise<void>;
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
  readonly turnTimeouts: Partial<TurnTimeouts>;
  /** What the agent takes in a prompt. */
  readonly capabilities: AgentCapabilities;
  readonly sink: FailureSink | undefined;
  readonly log: LogSink | undefined;
  /** Stops and starts reading the child's stdout. */
  readonly setPaused: (paused: boolean) => void;
  /** The harness ignored a cancel, or died of it: end its tree if nobody else lives there. Resolves when that is done; never rejects. */
  readonly abandon: (session: AcpSession) => Promise<Abandoned>;
  /** No other session lives in the process. */
  readonly isAlone: () => boolean;
  /** The agent itself, and what it has started and is still alive. */
  readonly processes: () => readonly ProcessIdentity[];
  /** Ends the session in the agent, and what it still says is dropped from now on. */
  readonly close: (session: AcpSession) => Promise<void>;
  /** Redacted end of stderr. */
  readonly stderrTail: () => string;
}

export interface SessionSetup {
  readonly id: string;
  readonly notes: readonly string[];
  readonly modes: AdvertisedModes | undefined;
  readonly models: readonly string[];
  readonly model: string | undefined;
  readonly replayedFrames?: number;
}

/** Children whose tool calls are kept as evidence. */
const MAX_CHILDREN = 100;

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
  /** Set by the runtime when it lets go of the session. */
  retired = false;
  replayedFrames: number;
  turns = 0;
  readonly #desk: PermissionDesk;
  /** Evidence for the questions of each child session, which may use the same ids as this one. */
  readonly #childTools = new Map<string, ToolCalls>();
  #turn: Turn | undefined;
  #running = false;
  #closing: Promise<void> | undefined;

  constructor(link: SessionLink, setup: SessionSetup) {
    this.link = link;
    this.setup = setup;
    this.id = setup.id;
    this.notes = setup.notes;
    this.modes = setup.modes;
    this.models = setup.models;
    this.replayedFrames = setup.replayedFrames ?? 0;
    this.context = { profile: link.backend.profile, advertisedModels: setup.models };
    this.#desk = new PermissionDesk({
      connection: link.connection,
      tools: this.tools,
      policy: (request, signal) => this.#decide(request, signal),
      permissionMs: link.permissionMs,
      onAnswer: (request, answer) => this.answered(request, answer),
    });
  }

  prompt(prompt: string | readonly PromptBlock[], options: TurnOptions = {}): Turn {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt } as const] : prompt;
    this.#turn = runTurn(this, blocks, options);
    return this.#turn;
  }

  /** Takes the session for one turn; call the result when the turn is over. Throws `AcpPromptBusy`. */
  begin(): () => void {
    if (this.#running) throw new AcpPromptBusy("A prompt is already running in this session");
    this.#running = true;
    this.turns += 1;
    return () => {
      this.#running = false;
      this.#desk.rejectAll("The turn ended before anybody answered");
    };
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

  /** A `session/update` of this session. */
  update(params: Frame): void {
    const { update } = params;
    if (!isObject(update)) return;
    if (this.link.backend.isReplay(update)) this.replayedFrames += 1;
    else if (!this.isRunning || this.endedTurns.claims(update)) this.#late(update);
    else this.attempt?.update(update);
  }

  extension(reading: ExtensionReading): void {
    if (this.attempt !== undefined && !this.attempt.ended) this.attempt.extension(reading);
    else this.lateFrames += 1;
  }

  /** A frame of a child session of this one. */
  foreignFrame(childId: string, params: Frame): void {
    const isTool = isToolFrame(params);
    if (isTool && isObject(params["update"])) this.#toolsOf(childId).apply(params["update"]);
    this.attempt?.foreignFrame(isTool);
  }

  /** A question of this session, or of a child of it. */
  askPermission(id: string | number, sessionId: string, params: Frame): void {
    const tools = sessionId === this.id ? this.tools : this.#toolsOf(sessionId);
    void this.#desk.ask(id, readPermissionRequest(sessionId, params, tools));
  }

  /** Whether a question under this id waits for its answer. */
  isAsking(id: string | number): boolean {
    return this.#desk.isOpen(id);
  }

  /** Answers the open question of this id with a no that is one to `other` as well, which came under the same id. */
  refuseTwin(id: string | number, other: PermissionRequest | undefined): PermissionAnswer | undefined {
    return this.#desk.refuseTwin(id, other);
  }

  withdrawPermission(id: unknown): void {
    this.#desk.withdraw(id);
  }

  closePermissions(): void {
    this.#desk.closeAll();
  }

  async #close(): Promise<void> {
    if (this.retired) return;
    if (this.#running) {
      this.#turn?.cancel();
      await this.#turn?.outcome;
    }
    await this.link.close(this);
  }

  #toolsOf(childId: string): ToolCalls {
    const known = this.#childTools.get(childId);
    if (known !== undefined) return known;
    const tools = new ToolCalls();
    this.#childTools.set(childId, tools);
    if (this.#childTools.size > MAX_CHILDREN) this.#childTools.delete(this.#childTools.keys().next().value!);
    return tools;
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
      if (permissions !== undefined) {
        const answer = await permissions(request, signal);
        // The prompt was answered meanwhile, and may have been sent again: what it asked for is not to run beside that.
        return attempt.ended ? rejectAnswer(request, "The attempt that asked has ended") : answer;
      }
      attempt.needsPermission(request);
      return rejectAnswer(request, "Nobody can answer permission requests here");
    } finally {
      release();
    }
  }

  /** What went back to a question of this session, for the log and the turn. */
  answered(request: PermissionRequest, answer: PermissionAnswer): void {
    logPermission(this.link.log, request, answer);
    this.attempt?.permissionAnswered(request, answer);
  }
}

function refused(kind: FailureKind, rule: string, title: string): Ending {
  return { type: "fact", verdict: plainVerdict(kind, rule), source: "rpc_error", title };
}
