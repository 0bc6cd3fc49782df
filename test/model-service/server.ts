/**
 * The HTTP side of both scripted model services: one loopback server, whole JSON bodies in, one step of the script out,
 * and a log that tells the requests of the turn from the harness's own side calls. It never answers from outside
 * 127.0.0.1 and knows nothing of either API; those stand in `openai.ts` and `anthropic.ts`.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";

/**
 * Why a harness made a request: `turn` is the prompt of the user and what follows from it; `title`, `suggestion`,
 * `guardian` (a second model judging a command) and `compaction` are calls of the harness's own; `other` is everything
 * that is no model request.
 */
export type RequestRole = "turn" | "title" | "suggestion" | "guardian" | "compaction" | "other";

/** A JSON object of a request or an event. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One request as the service saw it. */
export interface LoggedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly role: RequestRole;
  /** The JSON body; undefined when there was none or it did not parse. */
  readonly body: JsonObject | undefined;
  readonly credential: "bearer" | "x-api-key" | "none";
}

/** One request and the way to answer it. */
export interface Exchange {
  readonly request: LoggedRequest;
  readonly response: ServerResponse;
  /** Settles with the next {@link ModelService.release}. */
  readonly untilReleased: () => Promise<void>;
}

/** What differs between two APIs. */
export interface Dialect<Step> {
  roleOf(request: Omit<LoggedRequest, "role">): RequestRole;
  /** Plays one step of the script. */
  answerTurn(step: Step, exchange: Exchange): Promise<void> | void;
  /** Answers a side call, or anything else, in a way that keeps the harness going. */
  answerSideCall(exchange: Exchange): Promise<void> | void;
}

/** A running scripted service. */
export interface ModelService extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  /** How many requests of one role arrived. */
  count(role: RequestRole): number;
  /** Settles once `count` turn requests have arrived. */
  untilTurn(count: number): Promise<void>;
  /** Lets every answer go on that is held at the moment (`heldText`, `cut`). */
  release(): void;
  /** Ends every connection, open streams included. */
  close(): Promise<void>;
}

/** The answers of a service: one per turn request, the last one for all later requests; or decided by the request. */
export type ServiceScript<Step> = readonly [Step, ...Step[]] | ((request: LoggedRequest) => Step);

/** Starts a service on a free port of 127.0.0.1. */
export async function startModelService<Step>(
  dialect: Dialect<Step>,
  script: ServiceScript<Step>,
): Promise<ModelService> {
  const requests: LoggedRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let held = Promise.withResolvers<void>();
  const untilReleased = (): Promise<void> => held.promise;
  const count = (role: RequestRole): number => requests.filter((request) => request.role === role).length;

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = await readRequest(incoming);
    const request: LoggedRequest = { ...seen, role: dialect.roleOf(seen) };
    requests.push(request);
    if (request.role !== "turn") return dialect.answerSideCall({ request, response, untilReleased });
    const turns = count("turn");
    for (const waiter of waiting) if (turns >= waiter.count) waiter.resolve();
    const step = typeof script === "function" ? script(request) : (script[turns - 1] ?? script.at(-1) ?? script[0]);
    return dialect.answerTurn(step, { request, response, untilReleased });
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: urlOf(server),
    requests,
    count,
    untilTurn: (wanted) =>
      new Promise((resolve) => {
        if (count("turn") >= wanted) resolve();
        else waiting.push({ count: wanted, resolve });
      }),
    release: () => {
      held.resolve();
      held = Promise.withResolvers();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An address of 127.0.0.1 on which nothing listens: every connection to it is refused. */
export async function refusedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = urlOf(server);
  server.close();
  await once(server, "close");
  return url;
}

/** A whole JSON answer. A string body is sent as it is. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Opens a stream of server-sent events. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
}

/** Writes one event, named after its own `type`. Nothing is written once the client has gone. */
export function sendEvent(response: ServerResponse, event: JsonObject & { readonly type: string }): void {
  if (response.destroyed) return;
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/**
 * Destroys the connection once the test has seen what was written last: Claude Code that reads the text and the end in
 * one go drops the text (claude-agent-acp wire notes, point 9).
 */
export async function cutWhenReleased({ response, untilReleased }: Exchange): Promise<void> {
  await untilReleased();
  response.destroy();
}

async function readRequest(incoming: IncomingMessage): Promise<Omit<LoggedRequest, "role">> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const chunk of incoming) text += chunk;
  const { authorization, "x-api-key": apiKey } = incoming.headers;
  return {
    method: incoming.method ?? "",
    path: (incoming.url ?? "").replace(/\?.*$/s, ""),
    body: readObject(text),
    credential: apiKey !== undefined ? "x-api-key" : authorization !== undefined ? "bearer" : "none",
  };
}

function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The service does not listen on a port");
  return `http://127.0.0.1:${address.port}`;
}
