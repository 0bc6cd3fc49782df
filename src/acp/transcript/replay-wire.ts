/**
 * A log of what went over the wire (a `--trace`, the output of a run, a recording), both directions, as one transcript a
 * session: the same as the live one, but for what only Ostler knew and never sent (its own tries, deadlines and notices).
 */
import { readSubagentId } from "../air/subagents.ts";
import { GOAL_METHOD } from "../air/goal.ts";
import { namePlanFile } from "../air/plan-file.ts";
import { STEERING_METHOD, readSteeringAnswer } from "../air/steering.ts";
import type { AgentQuestion } from "../agent-question.ts";
import { readParentClue } from "../child-sessions.ts";
import { RpcError } from "../connection.ts";
import { goneByExit } from "../death.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { str } from "../normalize.ts";
import { readPermissionRequest } from "../permissions.ts";
import type { Backend, WireEntry } from "../ports.ts";
import { readQuestionRequest } from "../question-form.ts";
import { readSessionInfo } from "../session-info.ts";
import { ReplayedSession } from "./replayed-session.ts";
import type { Transcript } from "./transcript.ts";
import type { ReplayedAgent } from "./wire-answers.ts";
import { readAgent, readPrompt, withAnswer } from "./wire-answers.ts";

/** Requests of either side that wait for their answer. */
const MAX_OPEN = 10_000;
/** The end of stderr, for the sentence on an agent that died. */
const TAIL_CHARS = 8000;

/** Replays a log. `backend` says whose habits to expect. Reads leniently and never throws for what an agent wrote. */
export function replayWire(entries: Iterable<WireEntry>, backend: Backend): ReadonlyMap<string, Transcript> {
  const replay = new WireReplay(backend);
  for (const entry of entries) replay.take(entry);
  return replay.transcripts;
}

interface Request {
  readonly method: string;
  readonly params: Frame;
}

class WireReplay {
  readonly #backend: Backend;
  readonly #sessions = new Map<string, ReplayedSession>();
  /** Which session a child belongs to. */
  readonly #parents = new Map<string, ReplayedSession>();
  /** Of ours to the agent, and of the agent to us: either side counts for itself. */
  #sent = new Map<unknown, Request>();
  #asked = new Map<unknown, Request>();
  #agent: ReplayedAgent = readAgent(undefined);
  #stderr = "";

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** To be read once, when the log is over. */
  get transcripts(): ReadonlyMap<string, Transcript> {
    for (const session of this.#sessions.values()) session.finishWork();
    return new Map([...this.#sessions].map(([id, { transcript }]) => [id, transcript]));
  }

  take(entry: WireEntry): void {
    switch (entry.dir) {
      case "stderr":
        this.#stderr = `${this.#stderr}${entry.line}\n`.slice(-TAIL_CHARS);
        return;
      case "exit":
        this.#exited({ code: entry.code, signal: entry.signal });
        return;
      case "in":
      case "out":
        if (isObject(entry.frame)) this.#frame(entry.dir, entry.frame);
    }
  }

  #frame(dir: "in" | "out", frame: Frame): void {
    const method = str(frame["method"]);
    const { id } = frame;
    const params = isObject(frame["params"]) ? frame["params"] : {};
    if (method === undefined) {
      const requests = dir === "in" ? this.#sent : this.#asked;
      const request = requests.get(id);
      requests.delete(id);
      if (request !== undefined && dir === "in") this.#answered(request, frame);
      else if (request !== undefined) this.#replied(request, frame);
      return;
    }
    if (id !== undefined) remember(dir === "in" ? this.#asked : this.#sent, id, { method, params });
    if (dir === "out") this.#said(method, params);
    else if (method === "session/update") this.#updated(params);
    else if (id === undefined) this.#notified(method, params);
  }

  /** What we sent. */
  #said(method: string, params: Frame): void {
    const sessionId = str(params["sessionId"]) ?? "";
    switch (method) {
      case "session/prompt":
        this.#session(sessionId).prompted(readPrompt(params));
        return;
      case GOAL_METHOD:
        this.#sessions.get(sessionId)?.requested(params["action"] === "set" || params["action"] === "resume");
        return;
      case STEERING_METHOD:
        this.#sessions.get(sessionId)?.requested(false);
        return;
      case "session/cancel":
        this.#sessions.get(sessionId)?.cancelled();
        return;
      case "session/load":
      case "session/resume":
        this.#session(sessionId).reopening();
    }
  }

  /** What the agent answered. */
  #answered({ method, params }: Request, frame: Frame): void {
    const { result } = frame;
    const sessionId = str(params["sessionId"]) ?? "";
    const session = this.#sessions.get(sessionId);
    switch (method) {
      case "initialize":
        this.#agent = readAgent(result);
        return;
      case "session/prompt":
        session?.answered(isObject(frame["error"]) ? { error: new RpcError(frame["error"]) } : { result });
        return;
      case "session/new":
      case "session/fork":
      case "session/load":
      case "session/resume":
        if ("result" in frame) this.#opened((isObject(result) && str(result["sessionId"])) || sessionId, result);
        return;
      case GOAL_METHOD:
        session?.settled();
        return;
      case STEERING_METHOD: {
        const { outcome } = readSteeringAnswer(result);
        if (outcome === "startedNewTurn") session?.beganTurn();
        const isTaken = outcome === "injected" || outcome === "startedNewTurn";
        session?.settled(isTaken ? readPrompt(params).blocks : undefined);
      }
    }
  }

  #opened(sessionId: string, result: unknown): void {
    if (sessionId === "") return;
    const info = readSessionInfo(isObject(result) ? result : {});
    this.#session(sessionId).opened({
      sessionId,
      backend: this.#backend.id,
      agent: this.#agent.name,
      model: info.currentModel,
      mode: info.modes?.current ?? undefined,
      info,
    });
  }

  /** What we answered to a question of the agent. */
  #replied({ method, params }: Request, frame: Frame): void {
    const sessionId = str(params["sessionId"]) ?? "";
    const session = this.#ownerOf(sessionId, params);
    const asked = session && this.#readQuestion(method, sessionId, params, session);
    if (session !== undefined && asked !== undefined) session.asked(withAnswer(asked, frame["result"]));
  }

  #readQuestion(method: string, sessionId: string, params: Frame, owner: ReplayedSession): AgentQuestion | undefined {
    const { tools } = sessionId === owner.id ? owner.feed.reader : owner.feed.readerOfChild(sessionId);
    if (method === "session/request_permission")
      return { type: "permission", request: readPermissionRequest(sessionId, params, tools) };
    const request = method === "elicitation/create" ? readQuestionRequest(sessionId, params) : "";
    return typeof request === "string" ? undefined : { type: "question", request };
  }

  #updated(params: Frame): void {
    const sessionId = str(params["sessionId"]) ?? "";
    const { update } = params;
    if (!isObject(update)) return;
    const session = this.#sessions.get(sessionId);
    if (session === undefined) {
      this.#ownerOf(sessionId, params)?.ofChild(sessionId, params);
      return;
    }
    const childId = readSubagentId(update);
    if (childId !== undefined) remember(this.#parents, childId, session);
    session.update(update);
  }

  #notified(method: string, params: Frame): void {
    const reading = this.#backend.readExtension(method, params);
    if (reading !== undefined) this.#ownerOf(str(params["sessionId"]) ?? "", params)?.extension(reading);
  }

  /** The session that a frame belongs to; that of a child is its parent, and of nobody the only one whose turn runs. */
  #ownerOf(sessionId: string, params: Frame): ReplayedSession | undefined {
    const clue = readParentClue(params).sessionId ?? "";
    const known = this.#sessions.get(sessionId) ?? this.#parents.get(sessionId) ?? this.#sessions.get(clue);
    if (known !== undefined) return known;
    const [only, ...others] = [...this.#sessions.values()].filter(({ isRunning }) => isRunning);
    return others.length === 0 ? only : undefined;
  }

  #session(sessionId: string): ReplayedSession {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const session = new ReplayedSession(sessionId, this.#backend);
    if (this.#agent.namesPlanFiles) session.feed.reader.plans.readFile = namePlanFile;
    this.#sessions.set(sessionId, session);
    return session;
  }

  #exited(exit: { readonly code: number | null; readonly signal: string | null }): void {
    const { label, profile } = this.#backend;
    const gone = goneByExit(label, exit, this.#stderr, profile, "agent_died");
    for (const session of this.#sessions.values()) session.gone(gone);
    this.#sent = new Map();
    this.#asked = new Map();
    this.#stderr = "";
  }
}

function remember<Value>(map: Map<unknown, Value>, key: unknown, value: Value): void {
  map.set(key, value);
  if (map.size > MAX_OPEN) map.delete(map.keys().next().value);
}
