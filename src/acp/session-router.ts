/**
 * Frames to sessions, by session id. A session nobody opened is a child of the harness: its frames are a sign of life of
 * the turn they belong to, and its permission questions are answered, never left waiting (case C17). Where nobody can say
 * to which turn it belongs, it is a sign of life of none, its tools may be those of each, and its questions are refused.
 */
import { AgentRequests } from "./agent-requests.ts";
import type { Attempt } from "./attempt.ts";
import { ChildSessions, isToolFrame, readChildId, readParentClue } from "./child-sessions.ts";
import type { Connection } from "./connection.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import type { Backend, LogSink } from "./ports.ts";
import type { ReplayListener, WatchReplay } from "./resume-session.ts";
import { RetiredSessions } from "./retired-sessions.ts";
import type { Retired } from "./retired-sessions.ts";
import type { AcpSession } from "./session.ts";

/** Updates that arrive before the `session/new` answer names their session (kiro wire notes, section 4). */
const MAX_STAGED = 1000;

/** The ids that one opening has to itself until it is over. */
export interface OpeningIds {
  /** Takes an id that the agent named; false = the session is another one's. */
  readonly claim: (sessionId: string) => boolean;
  readonly watch: WatchReplay;
}

export interface SessionRouterOptions {
  readonly backend: Backend;
  /** Questions to a person were declared. Default false. */
  readonly takesQuestions?: boolean;
  readonly log?: LogSink | undefined;
}

interface Staged {
  readonly method: string;
  readonly params: Frame;
  /** The only one that ran when the frame came. */
  readonly attempt: Attempt | undefined;
}

export class SessionRouter {
  readonly #backend: Backend;
  readonly #requests: AgentRequests;
  readonly #sessions = new Map<string, AcpSession>();
  readonly #retired = new RetiredSessions();
  /** Sessions that are being opened, with who hears of each frame of the replay while that lasts. */
  readonly #openingIds = new Map<string, ReplayListener | undefined>();
  readonly #children = new ChildSessions();
  #staged: Staged[] = [];
  #opening = 0;
  /** Frames that no session could be found for. */
  unroutedFrames = 0;
  /** Frames of sessions that were closed or given up, or could not be reopened. */
  retiredFrames = 0;

  constructor({ backend, log, takesQuestions = false }: SessionRouterOptions) {
    this.#backend = backend;
    this.#requests = new AgentRequests({
      sessions: () => this.#sessions.values(),
      deciderOf: (sessionId, params) => this.#deciderOf(sessionId, params),
      whyNobody: (sessionId) => this.#whyNobody(sessionId),
      mayBeOpening: (sessionId) => this.#mayBeOpening(sessionId),
      takesQuestions,
      log,
    });
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** No session lives here and none is about to. */
  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#opening === 0;
  }

  /** Why the session cannot be opened here: it is open, or its last turn may still run. */
  takenBy(sessionId: string): "open" | "given_up" | undefined {
    if (this.#sessions.has(sessionId) || this.#openingIds.has(sessionId)) return "open";
    return this.#retired.isAtWork(sessionId) ? "given_up" : undefined;
  }

  /** Runs `open` and adds its session; what arrived for it before its id was known is delivered then. */
  async opening(open: (ids: OpeningIds) => Promise<AcpSession>): Promise<AcpSession> {
    const mine = new Set<string>();
    let isOver = false;
    const claim = (sessionId: string): boolean => {
      if (!isOver && mine.has(sessionId)) return true;
      if (this.takenBy(sessionId) !== undefined) return false;
      if (isOver) this.#retired.add(sessionId, "closed");
      else this.#openingIds.set(sessionId, undefined);
      mine.add(sessionId);
      return true;
    };
    const watch: WatchReplay = (sessionId, onFrame) => {
      if (!isOver && claim(sessionId)) this.#openingIds.set(sessionId, onFrame);
      return () => {
        if (!isOver) this.#openingIds.set(sessionId, undefined);
      };
    };
    this.#opening += 1;
    try {
      const session = await open({ claim, watch });
      this.#retired.delete(session.id);
      this.#sessions.set(session.id, session);
      this.#deliverStaged(session);
      this.#requests.handOver(session, this.#opening === 1);
      return session;
    } finally {
      isOver = true;
      this.#opening -= 1;
      for (const id of mine) {
        this.#openingIds.delete(id);
        // Known, and nobody's child: the agent may still talk in it.
        if (!this.#sessions.has(id)) this.#retired.add(id, "closed");
      }
      if (this.#opening === 0) {
        this.#requests.forgetEarly();
        for (const entry of this.#staged.splice(0)) this.#foreign(entry.params, entry);
      }
    }
  }

  /** What the agent still says in this session and its children is dropped from now on. */
  retire(session: AcpSession, how: Retired): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    this.#retired.add(session.id, how, session.tools.ids);
    for (const childId of this.#children.forget(session.id)) this.#retired.add(childId, how);
  }

  notified(method: string, params: Frame): void {
    if (method === "$/cancel_request") {
      for (const session of this.#sessions.values()) session.desk.withdraw(params["requestId"] ?? params["id"]);
      return;
    }
    const sessionId = readSessionId(params);
    if (sessionId === "" && this.#broadcast(method, params)) return;
    const session = this.#sessions.get(sessionId);
    const onReplay = this.#openingIds.get(sessionId);
    if (session !== undefined) this.#deliver(session, method, params);
    else if (onReplay !== undefined) onReplay(params);
    else if (this.#openingIds.has(sessionId)) this.#stage(method, params);
    else if (this.#isUnknown(sessionId, params)) {
      if (isToolFrame(params)) for (const { attempt } of this.#running()) attempt?.toolPossible();
      if (this.#opening === 0 || !this.#stage(method, params)) this.#foreign(params);
    } else this.#foreign(params);
  }

  /**
   * News that names no session (kiro's list of subagents, its words on the connection) is told in the one that can be
   * meant. It is nobody's sign of life.
   */
  #broadcast(method: string, params: Frame): boolean {
    const reading = this.#backend.readExtension(method, params);
    const [child] = reading?.roster ?? [];
    const parentId = child && this.#children.parentOf(child.subagentId);
    const running = this.#running();
    const meant = running.length === 0 ? [...this.#sessions.values()] : running;
    const owner = parentId === undefined && meant.length === 1 ? meant[0] : this.#sessions.get(parentId ?? "");
    if (reading !== undefined) owner?.extension(reading, false);
    return reading !== undefined && owner !== undefined;
  }

  /** A request of the agent. */
  requested(connection: Connection, id: string | number, method: string, params: Frame): void {
    this.#requests.requested(connection, id, method, readSessionId(params), params);
  }

  #deliver(session: AcpSession, method: string, params: Frame): void {
    if (method === "session/update") {
      this.#children.learnFrom(params, session.id);
      session.update(params);
      return;
    }
    const reading = this.#backend.readExtension(method, params);
    if (reading !== undefined) session.extension(reading);
    else this.unroutedFrames += 1;
  }

  /** Keeps a frame until it is known whose it is; returns whether there was room. */
  #stage(method: string, params: Frame): boolean {
    const running = this.#running();
    const attempt = running.length === 1 ? running[0]?.attempt : undefined;
    const hasRoom = this.#staged.length < MAX_STAGED;
    if (hasRoom) this.#staged.push({ method, params, attempt });
    return hasRoom;
  }

  #deliverStaged(session: AcpSession): void {
    const staged = this.#staged;
    this.#staged = staged.filter(({ params }) => params["sessionId"] !== session.id);
    for (const { method, params } of staged) {
      if (params["sessionId"] === session.id) this.#deliver(session, method, params);
    }
  }

  /** A frame of a session that is not open here. One that was staged is a sign of life of nothing that began later. */
  #foreign(params: Frame, staged?: Staged): void {
    const sessionId = readSessionId(params);
    if (this.#retired.has(sessionId)) {
      this.retiredFrames += 1;
      this.#heardOfRetired(sessionId, params);
      return;
    }
    this.unroutedFrames += 1;
    // A broadcast, without a session id, is nobody's sign of life.
    const owner = sessionId === "" ? undefined : this.#ownerOf(sessionId, params);
    if (owner !== undefined) this.#children.learnFrom(params, owner.id);
    if (staged === undefined || staged.attempt === owner?.attempt) owner?.foreignFrame(sessionId, params);
  }

  /** Its turn may still be at work: what it starts is no part of the turns of others. */
  #heardOfRetired(sessionId: string, params: Frame): void {
    const { update } = params;
    const toolCallId = isObject(update) ? str(update["toolCallId"]) : undefined;
    const childId = readChildId(params);
    if (toolCallId !== undefined) this.#retired.learnCall(toolCallId, sessionId);
    if (childId !== undefined && !this.#sessions.has(childId)) this.#retired.adopt(childId, { sessionId });
  }

  /** Nothing that was said so far tells whose it is. */
  #isUnknown(sessionId: string, params: Frame): boolean {
    return this.#parentOf(sessionId, params) === undefined;
  }

  #ownerOf(childId: string, params: Frame): AcpSession | undefined {
    const parent = this.#parentOf(childId, params) ?? this.#onlyRunning(childId);
    return parent === "nobody" ? undefined : parent;
  }

  /** Who decides on a question. A turn that was given up counts as one that runs. */
  #deciderOf(sessionId: string, params: Frame): AcpSession | undefined {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session;
    if (this.#retired.anyAtWork && this.#isUnknown(sessionId, params)) return undefined;
    return this.#ownerOf(sessionId, params);
  }

  /** The session whose child this is, as far as frames name it; one that is over or not open yet is nobody. */
  #parentOf(childId: string, params: Frame): AcpSession | "nobody" | undefined {
    if (childId === "") return undefined;
    if (this.#retired.has(childId) || this.#openingIds.has(childId)) return "nobody";
    const clue = readParentClue(params);
    const { sessionId = "", toolCallId } = clue;
    if (this.#openingIds.has(sessionId)) return "nobody";
    const parentId =
      this.#children.parentOf(childId) ??
      (this.#sessions.has(sessionId) ? sessionId : this.#children.parentOf(sessionId)) ??
      (this.#retired.has(sessionId) ? undefined : this.#callerOf(toolCallId));
    if (parentId === undefined) return this.#retired.adopt(childId, clue) ? "nobody" : undefined;
    this.#children.learn(childId, parentId);
    return this.#sessions.get(parentId) ?? "nobody";
  }

  #callerOf(toolCallId: string | undefined): string | undefined {
    if (toolCallId === undefined) return undefined;
    return [...this.#sessions.values()].find(({ tools }) => tools.get(toolCallId) !== undefined)?.id;
  }

  #onlyRunning(childId: string): AcpSession | undefined {
    const [session, ...others] = this.#running();
    if (session === undefined || others.length > 0) return undefined;
    return this.#children.mayBelongTo(session.id, childId) ? session : undefined;
  }

  #running(): AcpSession[] {
    return [...this.#sessions.values()].filter(({ isRunning }) => isRunning);
  }

  /** Before the answer that names the new session, its id is that of nobody. */
  #mayBeOpening(sessionId: string): boolean {
    if (this.#openingIds.has(sessionId)) return true;
    return this.#opening > 0 && this.#isUnknown(sessionId, {}) && this.#running().length === 0;
  }

  /** Why a question is answered with no. Where several turns run, each is told: one of them is stopped by it. */
  #whyNobody(sessionId: string): string {
    if (this.#retired.has(sessionId)) return "The session was ended";
    if (this.#mayBeOpening(sessionId)) return "The session is not open yet";
    const running = this.#running();
    if (running.length === 0) return "No turn is running";
    for (const { attempt } of running) {
      attempt?.notice(
        running.length > 1
          ? "A subagent asked and was refused: several turns are running, and it did not say to which it belongs"
          : "A subagent asked and was refused: it may belong to an earlier turn, and did not say to which it belongs",
      );
    }
    return "Nobody knows to which turn the question belongs";
  }
}

/** The id that a frame names; without one it is empty, which no session is called. */
function readSessionId(params: Frame): string {
  return str(params["sessionId"]) ?? "";
}
