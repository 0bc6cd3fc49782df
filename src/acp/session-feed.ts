/**
 * What a session tells: its own updates and those of its children as events, in turns and between them, to whoever
 * listens. A listener that throws is dropped: it must not keep a turn from ending.
 */
import type { ClassifyContext } from "../errors/verdict.ts";
import { toSubagent } from "./air/subagents.ts";
import { EndedTurns } from "./ended-turns.ts";
import type { SessionEvent, SessionEventBody, TurnEvent, TurnEventBody } from "./events.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { Backend, ExtensionReading, LogSink } from "./ports.ts";
import type { PromptBlock, TurnOutcome } from "./types.ts";
import { UpdateReader } from "./update-reader.ts";

/** Hears everything a session tells, in order and at once. Must not throw. */
export type SessionListener = (event: SessionEvent) => void;

export interface SessionFeedOptions {
  readonly backend: Backend;
  readonly context: ClassifyContext;
  readonly log: LogSink | undefined;
  readonly onEvent: SessionListener | undefined;
}

/** Notices that wait for the first turn. */
const MAX_EARLY = 50;
/** Events between a result and the end of its turn, which may wait for what the agent left to be ended. */
const MAX_BEHIND = 10_000;
/** Children whose tool calls are kept as evidence. */
const MAX_CHILDREN = 100;

/** Updates that begin something: of a session whose turn is over, they are work that no prompt of ours started. */
const STARTS_WORK: ReadonlySet<unknown> = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
  "plan_update",
]);

/** The task that stands for work the agent does by itself (recording claude-agent-acp 0.101.0 bash-background). */
const OWN_TURN = "turn";

/** A goal is the session's, whichever turn it came after. */
function isOfSession(event: SessionEventBody): boolean {
  return event.type === "goal" || (event.type === "task" && event.taskType === OWN_TURN);
}

function textOf(blocks: readonly PromptBlock[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export class SessionFeed {
  readonly reader: UpdateReader;
  readonly endedTurns = new EndedTurns();
  readonly #options: SessionFeedOptions;
  readonly #listeners = new Set<SessionListener>();
  /** Of each child session, which may use the same ids as this one: what it tells, and evidence for its questions. */
  readonly #children = new Map<string, UpdateReader>();
  readonly #early: TurnEventBody[] = [];
  /** The calls and messages of work that no prompt of ours started. */
  readonly #ownWork = new EndedTurns();
  #lastTurnId: string | null = null;
  /** What came behind the result of a turn whose end is not told yet: it may have been in the same piece of output. */
  #behind: SessionEvent[] | undefined;

  constructor(options: SessionFeedOptions) {
    this.#options = options;
    this.reader = new UpdateReader(options.backend, options.context);
    if (options.onEvent !== undefined) this.#listeners.add(options.onEvent);
  }

  /** Returns the function that ends it. */
  subscribe(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  turnStarted(turnId: string, blocks: readonly PromptBlock[]): void {
    this.#lastTurnId = turnId;
    this.#behind = [];
    this.#tell({ turnId, event: { type: "turn", state: "started" } });
    this.#tell({ turnId, event: { type: "user", text: textOf(blocks) } });
  }

  turnTold(turnId: string, event: TurnEvent): void {
    this.#tell({ turnId, event });
  }

  /** What is no part of a turn. */
  told(event: SessionEventBody): void {
    this.#tell({ turnId: null, event });
  }

  /** What was answered, or became known, after the last turn. */
  toldLate(event: TurnEventBody): void {
    const turnId = this.#lastTurnId;
    const told: SessionEvent = turnId === null ? { turnId, event } : { turnId, late: true, event };
    this.#tellOutside(told);
  }

  /** A person's further words, for the turn that runs or for work that no prompt of ours started. */
  steered(blocks: readonly PromptBlock[], isInTurn: boolean): void {
    this.#tell({ turnId: isInTurn ? this.#lastTurnId : null, event: { type: "user", text: textOf(blocks) } });
  }

  turnEnded(turnId: string, outcome: TurnOutcome): void {
    const behind = this.#behind ?? [];
    this.#behind = undefined;
    this.#tell({ turnId, event: { type: "turn", state: "ended", outcome } });
    for (const event of behind) this.#tell(event);
  }

  /** A notification outside ACP that no running turn takes. Notices that come before the first turn wait for it. */
  extension(reading: ExtensionReading): void {
    for (const event of this.reader.readExtension(reading)) {
      if (this.#lastTurnId !== null) this.#tellOutside({ turnId: this.#lastTurnId, late: true, event });
      else if (event.type !== "notice") this.#tellOutside({ turnId: null, event });
      else if (this.#early.length < MAX_EARLY) this.#early.push(event);
    }
  }

  /** What came before the first turn, for that turn to tell. */
  takeEarly(): readonly TurnEventBody[] {
    return this.#early.splice(0);
  }

  /** An update that no running turn takes: late news of the last one, or work that no prompt of ours started. */
  outsideTurn(update: Frame): void {
    const mayStart = this.#behind === undefined && STARTS_WORK.has(update["sessionUpdate"]);
    const startsWork = mayStart || this.#worksByItself;
    const isLate = !this.#ownWork.claims(update) && (this.endedTurns.claims(update) || !startsWork);
    if (!isLate) this.#ownWork.add(update);
    this.endedTurns.add(update);
    for (const event of this.reader.readAll(update)) {
      const isOfLast = isLate && !isOfSession(event);
      const told: SessionEvent = isOfLast ? { turnId: this.#lastTurnId, late: true, event } : { turnId: null, event };
      this.#tellOutside(told);
    }
  }

  /** What a child tells, as its parent's news of it; told to the listeners where no turn passes it on. */
  ofChild(childId: string, { update }: Frame, isInTurn: boolean): readonly TurnEventBody[] {
    if (!isObject(update)) return [];
    const events = this.readerOfChild(childId).readAll(update).flatMap(toSubagent(childId));
    if (isInTurn) return events;
    const whose = this.#worksByItself ? { turnId: null } : ({ turnId: this.#lastTurnId, late: true } as const);
    for (const event of events) this.#tellOutside({ ...whose, event });
    return events;
  }

  /** The agent has said that it works, and not for a prompt. */
  get #worksByItself(): boolean {
    return this.reader.tasks.running.some(({ taskType }) => taskType === OWN_TURN);
  }

  readerOfChild(childId: string): UpdateReader {
    const known = this.#children.get(childId);
    if (known !== undefined) return known;
    const reader = new UpdateReader(this.#options.backend, this.#options.context, this.reader);
    this.#children.set(childId, reader);
    if (this.#children.size > MAX_CHILDREN) this.#children.delete(this.#children.keys().next().value!);
    return reader;
  }

  /** After the end of the last turn, also when it came before that was told. Of a flood the first are kept. */
  #tellOutside(event: SessionEvent): void {
    if (this.#behind === undefined) this.#tell(event);
    else if (this.#behind.length < MAX_BEHIND && this.#listeners.size > 0) this.#behind.push(event);
  }

  #tell(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#listeners.delete(listener);
        this.#options.log?.("error", "session_listener.failed", { error });
      }
    }
  }
}
