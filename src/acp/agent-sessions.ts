/** `session/list`: the sessions that an agent keeps, followed to the last page (seed document 002, Compatibility rule). */
import { RpcError } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { startError } from "./death.ts";
import { isObject } from "./frames.ts";
import { plainVerdict } from "./make-failure.ts";
import { str } from "./normalize.ts";
import type { OpenContext } from "./open-session.ts";
import { toStartError } from "./start-error.ts";

/** One session that the agent keeps; texts are as they came, scrub before showing. */
export interface AgentSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  /** ISO 8601. */
  readonly updatedAt?: string;
}

export interface AgentSessionList {
  /** In the order of the agent, each once. */
  readonly sessions: readonly AgentSession[];
  /** False when the agent has more pages than are followed, or leads in a circle. */
  readonly isComplete: boolean;
}

export interface ListSessionsOptions {
  /** Only those of this folder; absolute. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

const INVALID_PARAMS = -32602;
/** Pages of at most 1000 sessions each. */
const MAX_PAGES = 100;
const PAGE_MS = 30_000;

/**
 * Throws the typed error: kind `request_rejected` for an agent that cannot list. A cursor that the agent does not take any
 * more restarts the list once.
 */
export async function listAgentSessions(
  { cwd, signal }: ListSessionsOptions,
  context: Pick<OpenContext, "backend" | "capabilities" | "connection">,
): Promise<AgentSessionList> {
  const { backend, capabilities, connection } = context;
  if (!capabilities.list) {
    const title = `${backend.label} cannot list its sessions`;
    throw startError({ verdict: plainVerdict("request_rejected", "no-list"), source: "rpc_error", title }, undefined);
  }
  const filter = cwd === undefined ? {} : { cwd };
  try {
    try {
      return await follow(connection, filter, signal);
    } catch (error) {
      if (!(error instanceof CursorRejected)) throw error;
      return await follow(connection, filter, signal);
    }
  } catch (error) {
    throw toStartError(error instanceof CursorRejected ? error.cause : error, context, "session/list");
  }
}

/** A page that is not there any more. */
class CursorRejected extends Error {}

async function follow(
  connection: Connection,
  filter: { readonly cwd?: string },
  signal: AbortSignal | undefined,
): Promise<AgentSessionList> {
  const sessions = new Map<string, AgentSession>();
  const followed = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    signal?.throwIfAborted();
    const answer = await requestPage(connection, { ...filter, ...(cursor !== undefined && { cursor }) });
    for (const session of readSessions(answer)) sessions.set(session.sessionId, session);
    cursor = isObject(answer) ? str(answer["nextCursor"]) : undefined;
    if (cursor === undefined) return { sessions: [...sessions.values()], isComplete: true };
    if (followed.has(cursor)) break;
    followed.add(cursor);
  }
  return { sessions: [...sessions.values()], isComplete: false };
}

async function requestPage(
  connection: Connection,
  params: { readonly cwd?: string; readonly cursor?: string },
): Promise<unknown> {
  try {
    return await connection.request("session/list", params, { deadlineMs: PAGE_MS });
  } catch (cause) {
    const isRejected = params.cursor !== undefined && cause instanceof RpcError && cause.code === INVALID_PARAMS;
    throw isRejected ? new CursorRejected("The agent does not know its own cursor", { cause }) : cause;
  }
}

function readSessions(answer: unknown): AgentSession[] {
  const list = isObject(answer) && Array.isArray(answer["sessions"]) ? answer["sessions"].filter(isObject) : [];
  return list.flatMap((entry) => {
    const sessionId = str(entry["sessionId"]);
    if (sessionId === undefined || sessionId === "") return [];
    const title = str(entry["title"]);
    const updatedAt = str(entry["updatedAt"]);
    return [
      {
        sessionId,
        cwd: str(entry["cwd"]) ?? "",
        ...(title !== undefined && { title }),
        ...(updatedAt !== undefined && { updatedAt }),
      },
    ];
  });
}
