/**
 * The tools over HTTP, on the loopback interface alone. Programs of other users and pages in a browser reach it too, so
 * every request has to carry the token of the run, name this very address, and come from no web page.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { isSameToken } from "./bearer-token.ts";
import { newToolServer } from "./mcp-server.ts";
import type { ToolAnswers } from "./mcp-server.ts";

const HOST = "127.0.0.1";
const PATH = "/mcp";
/** A call of `run` holds a command of at most 100,000 characters. */
const MAX_BODY_BYTES = 1024 * 1024;
/** One agent has one, and one more for each subagent that connects by itself. */
const MAX_SESSIONS = 32;
const SESSION_HEADER = "mcp-session-id";

export class HttpListener {
  readonly #token: string;
  readonly #answers: ToolAnswers;
  readonly #server: Server;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  #authority = "";

  private constructor(token: string, answers: ToolAnswers) {
    this.#token = token;
    this.#answers = answers;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.unref();
  }

  /** Listens on a port that the system chooses. Throws the system's error. */
  static async open(token: string, answers: ToolAnswers): Promise<HttpListener> {
    const listener = new HttpListener(token, answers);
    listener.#server.listen(0, HOST);
    await once(listener.#server, "listening");
    const address = listener.#server.address();
    listener.#authority = `${HOST}:${typeof address === "object" ? address?.port : ""}`;
    return listener;
  }

  get url(): string {
    return `http://${this.#authority}${PATH}`;
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    await Promise.allSettled([...this.#sessions.values()].map((transport) => transport.close()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refusal = this.#refusalOf(request);
      if (refusal !== undefined) return void response.writeHead(refusal).end();
      const body = request.method === "POST" ? await readJson(request) : undefined;
      const transport = await this.#transportOf(request);
      if (transport === undefined) return void response.writeHead(404).end();
      const answer = await transport.handleRequest(toWebRequest(request, this.url), { parsedBody: body });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      // A stream that begins later must show now that it is one: clients wait for headers only so long.
      response.flushHeaders();
      if (answer.body === null) return void response.end();
      await pipeline(Readable.fromWeb(answer.body), response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(error instanceof BadBody ? error.status : 500);
      response.end();
    }
  }

  #refusalOf({ url, headers }: IncomingMessage): number | undefined {
    if (headers.host !== this.#authority || headers.origin !== undefined) return 403;
    const [scheme, token = ""] = (headers.authorization ?? "").split(" ");
    if (scheme?.toLowerCase() !== "bearer" || !isSameToken(token, this.#token)) return 401;
    return url === PATH ? undefined : 404;
  }

  /** A session goes on with its id; without one a new one begins. */
  async #transportOf({ headers }: IncomingMessage): Promise<WebStandardStreamableHTTPServerTransport | undefined> {
    const id = headers[SESSION_HEADER];
    if (id !== undefined) return this.#sessions.get(String(id));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => this.#remember(sessionId, transport),
      onsessionclosed: (sessionId) => void this.#sessions.delete(sessionId),
    });
    await newToolServer(this.#answers).connect(transport);
    return transport;
  }

  #remember(id: string, transport: WebStandardStreamableHTTPServerTransport): void {
    this.#sessions.set(id, transport);
    const [oldest] = this.#sessions;
    if (this.#sessions.size <= MAX_SESSIONS || oldest === undefined) return;
    this.#sessions.delete(oldest[0]);
    void oldest[1].close();
  }
}

class BadBody extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The body of a request cannot be read (${status})`);
    this.status = status;
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new BadBody(413);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new BadBody(400);
  }
}

function toWebRequest({ method = "GET", headers }: IncomingMessage, url: string): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return new Request(url, { method, headers: pairs });
}
