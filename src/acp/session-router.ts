/**
 * Frames to sessions, by session id. A session nobody opened is a child of the harness: its frames are a sign of life of
 * the only turn they can belong to, and its permission questions are answered, never left waiting (case C17).
 */
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

export class SessionRouter {
  readonly #backend: Backend;
  readonly #log: LogSink | undefined;
  readonly #sessions = new Map<string, AcpSession>();
  readonly #staged: { readonly method: string; readonly params: Frame }[] = [];
  #opening = 0;
  /** Frames that no session could be found for. */
  unroutedFrames = 0;

  constructor(backend: Backend, log?: LogSink) {
    this.#backend = backend;
    this.#log = log;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Runs `open` and adds its session; what arrived for it before its id was known is delivered then. */
  async opening(open: () => Promise<AcpSession>): Promise<AcpSession> {
    this.#opening += 1;
    try {
      const session = await open();
      this.#sessions.set(session.id, session);
      this.#deliverStaged(session);
      return session;
    } finally {
      this.#opening -= 1;
    }
  }

  remove(session: AcpSession): void {
    this.#sessions.delete(session.id);
  }

  notified(method: string, params: Frame): void {
    if (method === "$/cancel_request") {
      for (const session of this.#sessions.values()) session.withdrawPermission(params["requestId"] ?? params["id"]);
      return;
    }
    const sessionId = str(params["sessionId"]);
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    if (session !== undefined) this.#deliver(session, method, params);
    else if (this.#opening > 0 && this.#staged.length < MAX_STAGED) this.#staged.push({ method, params });
    else this.#unrouted(sessionId);
  }

  /** A request of the agent: permission questions to their session, everything else is not served. */
  requested(connection: Connection, id: string | number, method: string, params: Frame): void {
    if (method !== "session/request_permission") {
      connection.refuse(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
      return;
    }
    const sessionId = str(params["sessionId"]) ?? "";
    const session = this.#sessions.get(sessionId) ?? this.#onlyRunning();
    if (session !== undefined) {
      session.askPermission(id, sessionId, params);
      return;
    }
    const request = readPermissionRequest(sessionId, params, new ToolCalls());
    const answer = rejectAnswer(request, "No turn is running");
    connection.respond(id, toWire(answer));
    logPermission(this.#log, request, answer);
  }

  #deliver(session: AcpSession, method: string, params: Frame): void {
    if (method === "session/update") {
      session.update(params);
      return;
    }
    const reading = this.#backend.readExtension(method, params);
    if (reading !== undefined) session.extension(reading);
    else this.unroutedFrames += 1;
  }

  #deliverStaged(session: AcpSession): void {
    for (const { method, params } of this.#staged.splice(0)) {
      if (params["sessionId"] === session.id) this.#deliver(session, method, params);
      else this.unroutedFrames += 1;
    }
  }

  /** A broadcast, without a session id, is nobody's sign of life. */
  #unrouted(sessionId: string | undefined): void {
    this.unroutedFrames += 1;
    if (sessionId !== undefined) this.#onlyRunning()?.foreignFrame();
  }

  #onlyRunning(): AcpSession | undefined {
    const running = [...this.#sessions.values()].filter(
      (session) => session.attempt !== undefined && !session.attempt.ended,
    );
    return running.length === 1 ? running[0] : undefined;
  }
}
