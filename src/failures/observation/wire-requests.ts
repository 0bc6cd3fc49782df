/**
 * Requests and answers of both sides, as far as they say when a turn runs, what is a replay, and what was refused. Ids of
 * the two sides are two number spaces; those of a new process begin anew.
 */
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import { readTypedSessionFailure } from "../../acp/air/session-failure.ts";
import { isQuestion, readPermissionOptions } from "../../acp/permissions.ts";
import type { PermissionOption } from "../../acp/types.ts";
import type { JournalEvent } from "../records.ts";
import type { Ending } from "./attempt.ts";
import type { RunFacts } from "./run-facts.ts";
import type { RunSession } from "./run-session.ts";
import type { TurnEnd, TurnEndings } from "./turn-endings.ts";

const NONE: readonly JournalEvent[] = [];
/** The answer to a request that was taken back. */
const CANCELLED_CODE = -32800;
/** codex-acp 2.6.0: its own backend died. */
const BACKEND_DIED_CODE = 1001;
const MAX_OPEN = 1000;

/** Requests whose answer may name a session that is open from then on. */
const OPENS: ReadonlySet<string> = new Set(["session/new", "session/resume", "session/fork"]);

interface Asked {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly options: readonly PermissionOption[];
}

interface Sent {
  readonly method: string;
  readonly session: RunSession | undefined;
  readonly cwd: string | undefined;
}

export class WireRequests {
  readonly #facts: RunFacts;
  readonly #endings: TurnEndings;
  readonly #sent = new Map<unknown, Sent>();
  readonly #asked = new Map<unknown, Asked>();

  constructor(facts: RunFacts, endings: TurnEndings) {
    this.#facts = facts;
    this.#endings = endings;
  }

  /** Whether the agent owes an answer to any request. */
  get isPending(): boolean {
    return this.#sent.size > 0;
  }

  /** A new process: nothing of the old one is answered any more. */
  reset(): void {
    this.#sent.clear();
    this.#asked.clear();
  }

  /** A request or a notification of Ostler's. */
  sent(method: string, { id, params }: Frame, place: Ending): readonly JournalEvent[] {
    if (!isObject(params)) return NONE;
    const { sessionId, cwd } = params;
    const session = typeof sessionId === "string" ? this.#facts.sessions.get(sessionId) : undefined;
    switch (method) {
      case "initialize":
        this.#facts.air = declaresAir(params["clientCapabilities"]);
        remember(this.#sent, id, { method, session: undefined, cwd: undefined });
        return NONE;
      case "session/new":
      case "session/load":
      case "session/resume":
      case "session/fork": {
        const isOwn = method === "session/load" || method === "session/resume";
        if (isOwn && session !== undefined) open(session, cwd, method === "session/load");
        this.#facts.servers = serverNames(params["mcpServers"]);
        remember(this.#sent, id, { method, session, cwd: typeof cwd === "string" ? cwd : undefined });
        return NONE;
      }
      case "session/prompt": {
        if (session === undefined) return NONE;
        remember(this.#sent, id, { method, session, cwd: undefined });
        session.isPrompted = true;
        if (session.prompts === 0) session.isCancelled = false;
        session.prompts += 1;
        session.promptN = place.n;
        return this.#endings.releaseHeld(session);
      }
      case "session/cancel":
      case "session/close":
        if (session !== undefined) session.isCancelled = true;
        return NONE;
      case "$/cancel_request": {
        const cancelled = this.#sent.get(params["requestId"]);
        if (cancelled?.method === "session/prompt" && cancelled.session) cancelled.session.isCancelled = true;
        return NONE;
      }
      default:
        remember(this.#sent, id, { method, session: undefined, cwd: undefined });
        return NONE;
    }
  }

  /** An answer of the agent. */
  answered(frame: Frame, place: Ending): readonly JournalEvent[] {
    const sent = this.#sent.get(frame["id"]);
    if (sent === undefined) return NONE;
    this.#sent.delete(frame["id"]);
    const { method, session, cwd } = sent;
    const { result, error } = frame;
    if (method !== "session/prompt") {
      if (method === "session/load" && session !== undefined) {
        session.isLoading = false;
        this.#endings.loaded(session, place);
      } else if (OPENS.has(method) && isObject(result) && typeof result["sessionId"] === "string") {
        open(this.#facts.sessions.get(result["sessionId"]), cwd, false);
      }
      return NONE;
    }
    if (session === undefined || session.prompts === 0) return NONE;
    return this.promptOver(session, endOf(session, result, error), place);
  }

  /** A prompt is answered, or nobody waits for its answer any more. */
  promptOver(session: RunSession, end: TurnEnd, place: Ending): readonly JournalEvent[] {
    session.prompts = Math.max(0, session.prompts - 1);
    const events = this.#endings.turnOver(session, end, place);
    session.isCancelled = false;
    // Where the supervisor tells of turns, it also tells whether the backend was lost.
    if (end !== "ended" || session.turnId !== undefined) return events;
    const released = this.#facts.sessions.withChildren(session).flatMap((one) => this.#endings.releaseHeld(one));
    return [...released, ...events];
  }

  /** The turn is over although the prompt was not answered. */
  forgetPrompts(session: RunSession): void {
    for (const [id, sent] of this.#sent) {
      if (sent.session === session && sent.method === "session/prompt") this.#sent.delete(id);
    }
    session.prompts = 0;
  }

  /** A `session/request_permission` of the agent. */
  asked({ id, params }: Frame): void {
    const call = isObject(params) ? params["toolCall"] : undefined;
    if (!isObject(params) || !isObject(call)) return;
    const { sessionId } = params;
    const { toolCallId } = call;
    if (typeof sessionId !== "string" || typeof toolCallId !== "string") return;
    remember(this.#asked, id, { sessionId, toolCallId, options: readPermissionOptions(params["options"]) });
  }

  /** Ostler's answer to a request of the agent. */
  replied({ id, result }: Frame): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    const attempt = this.#facts.sessions.get(asked.sessionId).calls.get(asked.toolCallId);
    if (attempt === undefined || attempt.ending !== undefined || isQuestion(asked.options)) return;
    attempt.refusal = isRefusal(result, asked.options) ? { didNothing: !attempt.hasOutput } : undefined;
  }
}

function open(session: RunSession, cwd: unknown, isLoading: boolean): void {
  if (typeof cwd === "string") session.cwd = cwd;
  session.isPrompted = true;
  session.isLoading = isLoading;
}

function endOf(session: RunSession, result: unknown, error: unknown): TurnEnd {
  if (isObject(error)) {
    if (error["code"] === BACKEND_DIED_CODE) return "lost";
    return error["code"] === CANCELLED_CODE || session.isCancelled ? "cancelled" : "ended";
  }
  const fields = isObject(result) ? result : {};
  if (fields["stopReason"] === "cancelled" || session.isCancelled) return "cancelled";
  const record = readTypedSessionFailure(fields["_meta"]);
  const isLost = record?.category === "connection" && record.severity !== "warning" && session.turnId === undefined;
  return isLost ? "lost" : "ended";
}

/** An error is no answer of the policy. */
function isRefusal(result: unknown, options: readonly PermissionOption[]): boolean {
  const outcome = isObject(result) ? result["outcome"] : undefined;
  if (!isObject(outcome)) return false;
  if (outcome["outcome"] !== "selected") return true;
  return options.find(({ optionId }) => optionId === outcome["optionId"])?.kind.startsWith("reject") === true;
}

function declaresAir(capabilities: unknown): boolean {
  const meta = isObject(capabilities) ? capabilities["_meta"] : undefined;
  const jetbrains = isObject(meta) ? meta["jetbrains"] : undefined;
  return isObject(jetbrains) && isObject(jetbrains["air"]);
}

function serverNames(servers: unknown): ReadonlySet<string> {
  const list: readonly unknown[] = Array.isArray(servers) ? servers : [];
  return new Set(
    list.map((server) => (isObject(server) ? server["name"] : undefined)).filter((name) => typeof name === "string"),
  );
}

function remember<Value>(map: Map<unknown, Value>, id: unknown, value: Value): void {
  if (id === undefined || id === null) return;
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > MAX_OPEN) map.delete(oldest);
}
