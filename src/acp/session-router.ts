/**
 * Frames to sessions, by session id. A session nobody opened is a child of the harness: its frames are a sign of life of
 * the turn they belong to, and its permission questions are answered, never left waiting (case C17). A session that was
 * closed or given up may go on talking for hours: that is counted and dropped (bridge semantics, section 11).
 */
import { ChildSessions, readChildId, readParentClue } from "./child-sessions.ts";
import { METHOD_NOT_FOUND } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { Frame } from "./frames.ts";
import { str } from "./normalize.ts";
import { logPermission, readPermissionRequest, rejectAnswer, toWire } from "./permissions.ts";
import type { Backend, LogSink } from "./ports.ts";
import type { AcpSession } from "./session.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Updates that arrive before the `session/new` answer names their session (kiro wire notes, section 4). */
const MAX_STAGED = 1000;
const MAX_RETIRED = 1000;

/** How a session left: `given_up` = its last turn may still be at work in the agent. */
export type Retired = "closed" | "given_up";

export class SessionRouter {
  readonly #backend: Backend;
  readonly #log: LogSink | undefined;
  readonly #sessions = new Map<string, AcpSession>();
  readonly #retired = new Map<string, Retired>();
  /** Sessions that are being loaded, with who hears of each frame of the replay. */
  readonly #replays = new Map<string, () => void>();
  readonly #children = new ChildSessions();
  readonly #staged: { readonly method: string; readonly params: Frame }[] = [];
  #opening = 0;
  /** Frames that no session could be found for. */
  unroutedFrames = 0;
  /** Frames of sessions that were closed or given up. */
  retiredFrames = 0;

  constructor(backend: Backend, log?: LogSink) {
    this.#backend = backend;
    this.#log = log;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** No session lives here and none is about to. */
  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#opening === 0;
  }

  /** Whether the session cannot be opened here, because it is open, or because its last turn may still run. */
  isTaken(sessionId: string): boolean {
    return this.#sessions.has(sessionId) || this.#replays.has(sessionId) || this.#retired.get(sessionId) === "given_up";
  }

  /** Runs `open` and adds its session; what arrived for it before its id was known is delivered then. */
  async opening(open: () => Promise<AcpSession>): Promise<AcpSession> {
    this.#opening += 1;
    try {
      const session = await open();
      this.#retired.delete(session.id);
      this.#sessions.set(session.id, session);
      this.#deliverStaged(session);
      return session;
    } finally {
      this.#opening -= 1;
      if (this.#opening === 0) for (const { params } of this.#staged.splice(0)) this.#unrouted(params);
    }
  }

  /** Until the function that comes back is called, frames of this session go to `onFrame` and nowhere else. */
  replaying(sessionId: string, onFrame: () => void): () => void {
    this.#replays.set(sessionId, onFrame);
    return () => this.#replays.delete(sessionId);
  }

  /** What the agent still says in this session is dropped from now on. */
  retire(session: AcpSession, how: Retired): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    this.#children.forget(session.id);
    this.#retired.set(session.id, how);
    if (this.#retired.size > MAX_RETIRED) this.#retired.delete(this.#retired.keys().next().value!);
  }

  notified(method: string, params: Frame): void {
    if (method === "$/cancel_request") {
      for (const session of this.#sessions.values()) session.withdrawPermission(params["requestId"] ?? params["id"]);
      return;
    }
    const sessionId = str(params["sessionId"]) ?? "";
    const session = this.#sessions.get(sessionId);
    const onReplay = this.#replays.get(sessionId);
    if (session !== undefined) this.#deliver(session, method, params);
    else if (onReplay !== undefined) onReplay();
    else if (this.#retired.has(sessionId)) this.retiredFrames += 1;
    else if (this.#mayBeOpening(sessionId)) this.#staged.push({ method, params });
    else this.#unrouted(params);
  }

  /** A request of the agent: permission questions to their session, everything else is not served. */
  requested(connection: Connection, id: string | number, method: string, params: Frame): void {
    if (method !== "session/request_permission") {
      connection.refuse(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
      return;
    }
    const sessionId = str(params["sessionId"]) ?? "";
    const session = this.#sessions.get(sessionId) ?? this.#ownerOf(sessionId, params);
    if (session !== undefined) {
      session.askPermission(id, sessionId, params);
      return;
    }
    const request = readPermissionRequest(sessionId, params, new ToolCalls());
    const answer = rejectAnswer(request, this.#whyNobody(sessionId));
    connection.respond(id, toWire(answer));
    logPermission(this.#log, request, answer);
  }

  #mayBeOpening(sessionId: string): boolean {
    const isChild = this.#children.parentOf(sessionId) !== undefined;
    return this.#opening > 0 && !isChild && this.#staged.length < MAX_STAGED;
  }

  #deliver(session: AcpSession, method: string, params: Frame): void {
    if (method === "session/update") {
      const childId = readChildId(params);
      if (childId !== undefined) this.#children.learn(childId, session.id);
      session.update(params);
      return;
    }
    const reading = this.#backend.readExtension(method, params);
    if (reading !== undefined) session.extension(reading);
    else this.unroutedFrames += 1;
  }

  #deliverStaged(session: AcpSession): void {
    for (const entry of this.#staged.splice(0)) {
      if (entry.params["sessionId"] === session.id) this.#deliver(session, entry.method, entry.params);
      else this.#staged.push(entry);
    }
  }

  /** A broadcast, without a session id, is nobody's sign of life. */
  #unrouted(params: Frame): void {
    this.unroutedFrames += 1;
    const sessionId = str(params["sessionId"]);
    if (sessionId !== undefined) this.#ownerOf(sessionId, params)?.foreignFrame(sessionId, params);
  }

  /** The session whose child this is: the one that frames name, else the only one with a running turn. */
  #ownerOf(childId: string, params: Frame): AcpSession | undefined {
    if (this.#retired.has(childId) || this.#replays.has(childId)) return undefined;
    const parentId = this.#children.parentOf(childId) ?? this.#readParent(params);
    if (parentId === undefined) {
      const running = this.#running();
      return running.length === 1 ? running[0] : undefined;
    }
    this.#children.learn(childId, parentId);
    return this.#sessions.get(parentId);
  }

  #readParent(params: Frame): string | undefined {
    const { sessionId, toolCallId } = readParentClue(params);
    if (sessionId !== undefined && this.#sessions.has(sessionId)) return sessionId;
    if (toolCallId === undefined) return undefined;
    return [...this.#sessions.values()].find(({ tools }) => tools.get(toolCallId) !== undefined)?.id;
  }

  #running(): AcpSession[] {
    return [...this.#sessions.values()].filter(({ isRunning }) => isRunning);
  }

  /** Why a question is answered with no. Where several turns run, each is told: one of them is stopped by it. */
  #whyNobody(sessionId: string): string {
    if (this.#retired.has(sessionId)) return "The session was ended";
    const running = this.#running();
    if (running.length < 2) return "No turn is running";
    for (const session of running) {
      session.attempt?.notice(
        "A subagent asked for permission and was refused: several turns are running, and it did not say to which it belongs",
      );
    }
    return "Several turns are running, and the question does not say to which it belongs";
  }
}
