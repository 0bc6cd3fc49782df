/**
 * Requests of the agent: what it asks goes to the session that it belongs to, everything else is not served. Each gets
 * exactly one answer, and where nobody can say whose a question is, that is a no (case C17).
 */
import { answerToWire, refuse } from "./agent-question.ts";
import type { AgentQuestion, AnsweredQuestion } from "./agent-question.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { Frame } from "./frames.ts";
import { logPermission, readPermissionRequest } from "./permissions.ts";
import type { LogSink } from "./ports.ts";
import { logQuestion } from "./question-answer.ts";
import { readQuestionRequest } from "./question-form.ts";
import type { AcpSession } from "./session.ts";
import { ToolCalls } from "./tool-calls.ts";

const MAX_AMBIGUOUS = 1000;
/** Refusals that are kept for the turn that tells them. */
const MAX_EARLY = 100;

/** What is known of sessions. */
export interface SessionLookup {
  readonly sessions: () => Iterable<AcpSession>;
  /** Who decides on a question of the session, which may be a child; undefined = nobody. */
  readonly deciderOf: (sessionId: string, params: Frame) => AcpSession | undefined;
  /** Why nobody does. */
  readonly whyNobody: (sessionId: string) => string;
  /** A session is being opened whose question this may be. */
  readonly mayBeOpening: (sessionId: string) => boolean;
}

export interface AgentRequestsOptions extends SessionLookup {
  /** Questions to a person were declared. */
  readonly takesQuestions: boolean;
  readonly log: LogSink | undefined;
}

export class AgentRequests {
  readonly #options: AgentRequestsOptions;
  /** Request ids that two open requests had at once: which of them an answer is taken for, nobody knows any more. */
  readonly #ambiguousIds = new Set<string | number>();
  /** What was refused because its session was not open yet. */
  #early: AnsweredQuestion[] = [];

  constructor(options: AgentRequestsOptions) {
    this.#options = options;
  }

  /** Answers a request, now or later. `sessionId` is empty where it names none. */
  requested(connection: Connection, id: string | number, method: string, sessionId: string, params: Frame): void {
    const read = this.#read(method, sessionId, params);
    const { asked } = read;
    const owner = asked === undefined && !read.isRefused ? undefined : this.#options.deciderOf(sessionId, params);
    if (this.#refuseTwin(id, asked, owner)) return;
    if (asked === undefined) {
      connection.refuse(id, read.isRefused ? INVALID_PARAMS : METHOD_NOT_FOUND, read.why);
      if (read.isRefused) owner?.attempt?.notice(`A question of the agent was not asked: ${read.why}`);
      return;
    }
    if (owner !== undefined && !this.#ambiguousIds.has(id)) {
      owner.desk.ask(id, withEvidence(asked, owner, params));
      return;
    }
    const isOpening = owner === undefined && this.#options.mayBeOpening(sessionId);
    const why =
      owner === undefined ? this.#options.whyNobody(sessionId) : "The agent has used the id of the question twice";
    const answered = refuse(asked, why);
    connection.respond(id, answerToWire(answered));
    this.#tell(answered, owner);
    if (isOpening && this.#early.length < MAX_EARLY) this.#early.push(answered);
  }

  /** A session is open: its first turn tells what it asked before. Of no other's, only where `isAlone`. */
  handOver(session: AcpSession, isAlone: boolean): void {
    const isMine = ({ request }: AnsweredQuestion): boolean => isAlone || request.sessionId === session.id;
    session.desk.keepEarly(this.#early.filter(isMine));
    this.#early = this.#early.filter((answered) => !isMine(answered));
  }

  /** Nothing is being opened any more: what is left belongs to nobody. */
  forgetEarly(): void {
    this.#early = [];
  }

  #read(
    method: string,
    sessionId: string,
    params: Frame,
  ):
    | { readonly asked: AgentQuestion }
    | { readonly asked?: undefined; readonly why: string; readonly isRefused: boolean } {
    if (method === "session/request_permission")
      return { asked: { type: "permission", request: readPermissionRequest(sessionId, params, new ToolCalls()) } };
    if (method !== "elicitation/create" || !this.#options.takesQuestions)
      return { why: `Method not found: ${method}`, isRefused: false };
    const request = readQuestionRequest(sessionId, params);
    return typeof request === "string" ? { why: request, isRefused: true } : { asked: { type: "question", request } };
  }

  /**
   * JSON-RPC matches an answer to its request by the id alone. Two answers under one id would end whichever requests the
   * agent takes them for, so both get one, and it is a no; a later question under that id is never allowed either.
   */
  #refuseTwin(id: string | number, asked: AgentQuestion | undefined, owner: AcpSession | undefined): boolean {
    const holder = [...this.#options.sessions()].find(({ desk }) => desk.isAsking(id));
    const twin = holder?.desk.refuseTwin(id, asked);
    if (twin === undefined || twin === false) return false;
    this.#ambiguousIds.add(id);
    const [oldest] = this.#ambiguousIds;
    if (this.#ambiguousIds.size > MAX_AMBIGUOUS && oldest !== undefined) this.#ambiguousIds.delete(oldest);
    if (twin.other !== undefined) this.#tell(twin.other, owner);
    return true;
  }

  #tell(answered: AnsweredQuestion, owner: AcpSession | undefined): void {
    const { log } = this.#options;
    if (owner !== undefined) owner.desk.answered(answered);
    else if (answered.type === "permission") logPermission(log, answered.request, answered.answer);
    else logQuestion(log, answered.request, answered.answer);
  }
}

/** What the frames before it said of the call is known to its session alone. */
function withEvidence(asked: AgentQuestion, owner: AcpSession, params: Frame): AgentQuestion {
  if (asked.type === "question") return asked;
  const { sessionId } = asked.request;
  const { tools } = sessionId === owner.id ? owner.feed.reader : owner.feed.readerOfChild(sessionId);
  return { type: "permission", request: readPermissionRequest(sessionId, params, tools) };
}
