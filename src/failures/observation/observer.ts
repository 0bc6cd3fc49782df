/**
 * From the lines of a run's log to the events of its journal: pure, and the same for a run that goes on and for one that is
 * read again. The caller writes the events down, so that the state it passes next has them.
 */
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import type { AttemptBook } from "../attempt-book.ts";
import type { IncidentState, JournalEvent } from "../records.ts";
import type { RunEvent, RunLine } from "../run-lines.ts";
import type { Ending } from "./attempt.ts";
import { Attempts } from "./attempts.ts";
import { unobservedLine } from "./tool-events.ts";
import { RunCalls } from "./run-calls.ts";
import type { RunFacts } from "./run-facts.ts";
import { RunSessions } from "./run-session.ts";
import { SupervisorWatch } from "./supervisor-watch.ts";
import { ToolWatch } from "./tool-watch.ts";
import { TurnEndings } from "./turn-endings.ts";
import { Verdicts } from "./verdicts.ts";
import { WireRequests } from "./wire-requests.ts";

export interface ObserverOptions {
  readonly runId: string;
  readonly conversationId: string;
  /** Whether declared intent and the agent's dispositions count (failure observations, section 10). */
  readonly trusted: boolean;
  /** Arguments that only describe a call for a person count as arguments. Default false. */
  readonly strict?: boolean;
}

const NONE: readonly JournalEvent[] = [];

export class Observer {
  readonly #facts: RunFacts;
  readonly #attempts: Attempts;
  readonly #verdicts: Verdicts;
  readonly #endings: TurnEndings;
  readonly #tools: ToolWatch;
  readonly #requests: WireRequests;
  readonly #calls: RunCalls;
  readonly #supervisor: SupervisorWatch;
  #hasBegun = false;

  constructor({ runId, conversationId, trusted, strict = false }: ObserverOptions) {
    const sessions = new RunSessions();
    const unknown = { beganLate: false, hasOwnCalls: trusted, air: false, servers: new Set<string>() };
    this.#facts = { runId, conversationId, trusted, strict, sessions, ...unknown };
    this.#attempts = new Attempts(sessions, (attempt) => verdicts.operationOf(attempt));
    const verdicts = new Verdicts(this.#facts, this.#attempts);
    this.#verdicts = verdicts;
    this.#endings = new TurnEndings(this.#facts, this.#attempts, verdicts);
    this.#tools = new ToolWatch(this.#facts, this.#attempts, verdicts, this.#endings);
    this.#requests = new WireRequests(this.#facts, this.#endings);
    this.#calls = new RunCalls(this.#facts, this.#attempts, verdicts, this.#tools.ownCalls);
    this.#supervisor = new SupervisorWatch(this.#facts, this.#requests, this.#endings);
  }

  /** The attempts so far, for dispositions and for the reuse of ids. */
  get attempts(): AttemptBook {
    return this.#attempts;
  }

  /** As `Verdicts.watch`. */
  watch(operation: string, fromN: number, onSuccess: () => void): void {
    this.#verdicts.watch(operation, fromN, onSuccess);
  }

  /** When {@link settle} has something to say, ms since 1970. */
  get dueAt(): number | undefined {
    const { dueAt } = this.#endings;
    return dueAt === Infinity ? undefined : dueAt;
  }

  /**
   * Takes the next line in; `byte` is where it begins, undefined as long as the log has no file: then the caller adds the
   * evidence of the line `event.attempt.endN`. `state` is that of the journal with all events so far.
   */
  observe(line: RunLine, byte: number | undefined, state: IncidentState): readonly JournalEvent[] {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#facts.beganLate = line.n > 1;
    }
    if (line.t < this.#endings.dueAt) return this.#take(line, byte, state);
    return [...this.#endings.settle(line.t), ...this.#take(line, byte, state)];
  }

  /** Gives up on calls whose turn has been over for long enough. */
  settle(nowMs: number): readonly JournalEvent[] {
    return this.#endings.settle(nowMs);
  }

  /** Nothing more comes. */
  runOver(): readonly JournalEvent[] {
    return this.#endings.over();
  }

  /** A bug of ours on some line is missing evidence of that line: it ends neither the turn nor the observation. */
  #take(line: RunLine, byte: number | undefined, state: IncidentState): readonly JournalEvent[] {
    try {
      return this.#read(line, byte, state);
    } catch (error) {
      return [unobservedLine({ n: line.n, t: line.t, byte }, error)];
    }
  }

  #read(line: RunLine, byte: number | undefined, state: IncidentState): readonly JournalEvent[] {
    if (line.d === "in") return this.#heard(line.frame, line, byte, state);
    if (line.d === "out") return this.#said(line.frame, line, byte);
    return line.d === "ev" ? this.#event(line.ev, { n: line.n, t: line.t, byte }, state) : NONE;
  }

  /** A frame of the agent. Pieces of text, the most of them, leave at the first comparison. */
  #heard(frame: unknown, { n, t }: RunLine, byte: number | undefined, state: IncidentState): readonly JournalEvent[] {
    if (!isObject(frame)) return NONE;
    const { method, params } = frame;
    if (method === "session/update") {
      const update = isObject(params) ? params["update"] : undefined;
      if (!isObject(params) || !isObject(update)) return NONE;
      const kind = update["sessionUpdate"];
      if (kind === "tool_call_update" || kind === "tool_call") {
        return this.#tools.frame(params, update, { n, t, byte }, state);
      }
      if (kind === "async_task_state_update") return this.#tools.taskEnded(update, { n, t, byte });
      if (kind === "async_task_spawned") this.#tools.backgrounded(params["sessionId"], update);
      return NONE;
    }
    if (method === undefined) return this.#requests.answered(frame, { n, t, byte });
    if (method === "session/request_permission") this.#requests.asked(frame);
    return NONE;
  }

  /** A frame of Ostler's. */
  #said(frame: unknown, { n, t }: RunLine, byte: number | undefined): readonly JournalEvent[] {
    if (!isObject(frame)) return NONE;
    const { method } = frame;
    if (typeof method === "string") {
      if (method === "_session/async_task/stop") this.#tools.taskStopped(taskIn(frame));
      return this.#requests.sent(method, frame, { n, t, byte });
    }
    this.#requests.replied(frame);
    return NONE;
  }

  #event(event: RunEvent, place: Ending, state: IncidentState): readonly JournalEvent[] {
    if (event.type === "call" || event.type === "disposition") this.#facts.hasOwnCalls = true;
    if (event.type === "call") return this.#calls.event(event, place, state);
    if (event.type !== "disposition") return this.#supervisor.event(event, place, state);
    // The caller decides it, and writes it down: it has to answer the agent.
    this.#tools.ownCalls.served("failure_disposition", event.request);
    return NONE;
  }
}

function taskIn({ params }: Frame): unknown {
  return isObject(params) ? params["asyncTaskId"] : undefined;
}
