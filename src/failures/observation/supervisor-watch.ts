/** What the supervisor says of its processes, its turns and the failures that it judged, in the order of the log. */
import type { FailureKind } from "../../errors/failure.ts";
import type { IncidentState, JournalEvent } from "../records.ts";
import type { RunEvent } from "../run-lines.ts";
import type { Ending } from "./attempt.ts";
import type { RunFacts } from "./run-facts.ts";
import { emptyTurn, judgedFailure, recordEventId, recoveriesBy, unexpectedExit } from "./supervisor-events.ts";
import type { TurnEndings } from "./turn-endings.ts";
import type { WireRequests } from "./wire-requests.ts";

const NONE: readonly JournalEvent[] = [];
/** A turn that is truncated or refused for one of these says so itself: a note on the run, no incident (section 5.5). */
const NOTED: ReadonlySet<FailureKind> = new Set(["output_limit", "policy_denied"]);
/** Records of a replay that are remembered as told. */
const MAX_REPLAYED = 1000;

type OwnEvent = Exclude<RunEvent, { readonly type: "call" | "disposition" }>;
type FailedEvent = Extract<RunEvent, { readonly type: "failure" }>;
type ExitedEvent = Extract<RunEvent, { readonly type: "exited" }>;
type TurnEnded = Extract<RunEvent, { readonly type: "turn"; readonly state: "ended" }>;

export class SupervisorWatch {
  readonly #facts: RunFacts;
  readonly #requests: WireRequests;
  readonly #endings: TurnEndings;
  /** The number of the process that runs. */
  #process = 0;
  /** Processes that something failed with: their exit stands for it. */
  readonly #failedWith = new Set<number>();
  /** The newest exit that nothing was lost by so far. */
  #quietExit: ExitedEvent | undefined;
  /** The turn that a record of the harness failed, and the one that anything failed. */
  #recordedTurn: string | undefined;
  #failedTurn: string | undefined;
  readonly #replayed = new Set<string>();

  constructor(facts: RunFacts, requests: WireRequests, endings: TurnEndings) {
    this.#facts = facts;
    this.#requests = requests;
    this.#endings = endings;
  }

  event(event: OwnEvent, place: Ending, state: IncidentState): readonly JournalEvent[] {
    switch (event.type) {
      case "started":
        this.#process = event.n;
        this.#quietExit = undefined;
        // Every process of Ostler counts those of the agent from 1.
        this.#failedWith.delete(event.n);
        this.#facts.sessions.cwd = event.cwd;
        return this.#reset(false, place);
      case "exited":
        return this.#exited(event, place);
      case "failure":
        return this.#failed(event, place);
      case "lost":
        return NONE;
      case "turn":
        return event.state === "started" ? this.#turnBegan(event, place) : this.#turnEnded(event, place, state);
    }
  }

  #exited(event: ExitedEvent, place: Ending): readonly JournalEvent[] {
    const isNewest = event.n === this.#process;
    const isFailure = !event.expected && this.#isLoss(event, isNewest);
    const left = isNewest ? this.#reset(!event.expected, place) : NONE;
    if (isNewest && !event.expected && !isFailure) this.#quietExit = event;
    return isFailure ? [...left, unexpectedExit(event, this.#facts, place)] : left;
  }

  /** An agent that leaves with code 0 while nothing is pending takes nothing with it (failure observations, section 5.5). */
  #isLoss({ n, code, signal }: ExitedEvent, isNewest: boolean): boolean {
    if (code !== 0 || signal !== null || this.#failedWith.has(n)) return true;
    return isNewest && (this.#requests.isPending || this.#endings.hasOpen);
  }

  /** Something failed because the process is gone: what stands for it is the exit, even one that had seemed harmless. */
  #failedByExit(place: Ending): readonly JournalEvent[] {
    const exit = this.#quietExit;
    this.#quietExit = undefined;
    this.#failedWith.add(this.#process);
    return exit === undefined ? NONE : [unexpectedExit(exit, this.#facts, place)];
  }

  #reset(wasLost: boolean, place: Ending): readonly JournalEvent[] {
    this.#requests.reset();
    const events = this.#endings.processOver(wasLost, place);
    for (const session of this.#facts.sessions.all) {
      session.prompts = 0;
      session.isLoading = false;
      session.isCancelled = false;
    }
    return events;
  }

  #failed(event: FailedEvent, place: Ending): readonly JournalEvent[] {
    const { failure, sessionId, turnId } = event;
    const session = sessionId === null ? undefined : this.#facts.sessions.get(sessionId);
    const isRecord = failure.source === "session_failure";
    if (failure.severity !== "error" || (turnId !== null && NOTED.has(failure.kind))) return NONE;
    if (isRecord && this.#isReplayed(recordEventId(failure, sessionId ?? this.#facts.runId), session?.isLoading))
      return NONE;
    const isKnown = turnId !== null && turnId === this.#recordedTurn && !isRecord;
    if (turnId !== null) this.#failedTurn = turnId;
    if (turnId !== null && isRecord) this.#recordedTurn = turnId;
    const left =
      failure.kind === "agent_died" && session !== undefined ? this.#endings.turnOver(session, "lost", place) : NONE;
    if (failure.source === "exit") return [...left, ...this.#failedByExit(place)];
    return isKnown ? left : [...left, judgedFailure(event, this.#facts, place)];
  }

  /** What a replay tells was told when it happened. */
  #isReplayed(id: string, isLoading: boolean | undefined): boolean {
    if (isLoading === true && this.#replayed.size < MAX_REPLAYED) this.#replayed.add(id);
    return isLoading === true || this.#replayed.has(id);
  }

  #turnBegan({ turnId, sessionId }: { turnId: string; sessionId: string }, { n }: Ending): readonly JournalEvent[] {
    const session = this.#facts.sessions.get(sessionId);
    session.isPrompted = true;
    session.turnId = turnId;
    session.turnN = n;
    return NONE;
  }

  #turnEnded({ turnId, sessionId, outcome, hasOutput }: TurnEnded, place: Ending, state: IncidentState) {
    const session = sessionId === null ? undefined : this.#facts.sessions.get(sessionId);
    const events: JournalEvent[] = [];
    if (session !== undefined) {
      session.turnId = undefined;
      // Without an answer: a turn that was given up, or work that no prompt started.
      const isOpen = session.prompts > 0 || session.open.size > 0;
      if (isOpen)
        events.push(...this.#endings.turnOver(session, outcome === "cancelled" ? "cancelled" : "ended", place));
      this.#requests.forgetPrompts(session);
      session.isCancelled = false;
      for (const one of this.#facts.sessions.withChildren(session)) events.push(...this.#endings.releaseHeld(one));
    }
    if (outcome === "empty" && this.#failedTurn !== turnId) events.push(emptyTurn(sessionId, this.#facts, place));
    if (outcome !== "completed" || !hasOutput || session === undefined) return events;
    const startN = Math.max(session.turnN, session.promptN);
    return [...events, ...recoveriesBy(startN, state, this.#facts, place)];
  }
}
