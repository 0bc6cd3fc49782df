/**
 * The socket of a process that owns conversations. Only this user can open it (0600 in a 0700 folder); whatever is sent
 * there is bounded and never hurts the owner.
 */
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { once } from "node:events";
import { VERSION } from "../acp/version.ts";
import { cleanLine } from "../errors/redact.ts";
import {
  InvalidParams,
  MAX_LINE_CHARS,
  RPC,
  isJsonObject,
  readLines,
  requiredText,
  writeLine,
} from "./owner-protocol.ts";
import type { Json } from "./owner-protocol.ts";
import { listenAddress, removeSocket, removeStaleSockets, socketPathOf } from "./owner-socket.ts";
import type { SocketAddress } from "./owner-socket.ts";
import type { Store } from "./store.ts";
import { thisProcess } from "../acp/this-process.ts";

/** More than all waiters of a few conversations; a process has some 1,000 descriptors. */
const MAX_CONNECTIONS = 256;
const IDLE_MS = 10_000;
const MAX_PENDING = 32;
const MAX_MISTAKES = 10;
const MAX_ERROR_CHARS = 500;

/** What a handler may watch besides its params. */
export interface CallContext {
  /** Aborted when the caller goes away or the server closes. */
  readonly signal: AbortSignal;
}

/** Answers one method. Its result must be JSON; its error's message goes to the caller, scrubbed. */
export type Handler = (params: Json, context: CallContext) => unknown;

export interface OwnerServerOptions {
  /** After this time a connection that asks nothing is closed; default 10,000. */
  readonly idleMs?: number;
}

/** Listens while a process owns conversations. Keeps no event loop alive. */
export class OwnerServer implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #address: SocketAddress;
  readonly #idleMs: number;
  readonly #handlers = new Map<string, Handler>();
  readonly #sockets = new Set<Socket>();

  private constructor(path: string, address: SocketAddress, idleMs: number) {
    this.path = path;
    this.#address = address;
    this.#idleMs = idleMs;
    this.#server = createServer((socket) => this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.unref();
  }

  /** Listens for what this process owns in the store; one server a process. Throws the system's error when it cannot. */
  static async open(store: Store, { idleMs = IDLE_MS }: OwnerServerOptions = {}): Promise<OwnerServer> {
    removeStaleSockets(store.paths);
    const path = socketPathOf(store.paths, thisProcess());
    const server = new OwnerServer(path, listenAddress(store.paths, path), idleMs);
    try {
      await server.#listen();
    } catch (error) {
      // The socket at this path is that of another server of this process, if there is one.
      server.#address[Symbol.dispose]();
      throw error;
    }
    server.handle("ping", () => ({ pid: process.pid, version: VERSION, conversations: store.ownedIds() }));
    server.handle("wait", async (params) => {
      await store.released(requiredText(params, "conversation"));
      return {};
    });
    return server;
  }

  /** Adds a method, in place of one with the same name. */
  handle(method: string, handler: Handler): void {
    this.#handlers.set(method, handler);
  }

  /** Hangs up on everybody and removes the socket. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) {
      this.#server.close();
      await once(this.#server, "close");
    }
    removeSocket(this.path);
    this.#address[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#address.path);
    await once(this.#server, "listening");
    chmodSync(this.#address.path, 0o600);
    this.#server.on("error", () => {});
  }

  #serve(socket: Socket): void {
    const gone = new AbortController();
    let pending = 0;
    let mistakes = 0;
    this.#sockets.add(socket);
    socket.unref();
    socket.setTimeout(this.#idleMs, () => pending === 0 && socket.destroy());
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      gone.abort();
    });
    const mistake = (id: string | number | null, code: number, message: string): void => {
      mistakes += 1;
      fail(socket, id, code, message);
      if (mistakes >= MAX_MISTAKES) socket.destroySoon();
    };
    const onLine = (line: string): void => {
      if (mistakes >= MAX_MISTAKES) return;
      const request = readRequest(line);
      if ("code" in request) return mistake(request.id, request.code, request.message);
      if (pending >= MAX_PENDING) return mistake(request.id, RPC.tooMany, "Too many requests at once");
      const handler = this.#handlers.get(request.method);
      if (handler === undefined) return mistake(request.id, RPC.methodNotFound, "Unknown method");
      pending += 1;
      void answer(socket, request, handler, { signal: gone.signal }).finally(() => {
        pending -= 1;
      });
    };
    readLines(socket, onLine, () => {
      fail(socket, null, RPC.invalidRequest, `A line has at most ${MAX_LINE_CHARS} characters`);
      socket.destroySoon();
    });
  }
}

interface Request {
  readonly id: string | number;
  readonly method: string;
  readonly params: Json;
}

interface Mistake {
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
}

function readRequest(line: string): Request | Mistake {
  const message = parse(line);
  if (message === undefined) return { id: null, code: RPC.parseError, message: "A line must be one JSON object" };
  if (!isJsonObject(message)) return { id: null, code: RPC.invalidRequest, message: "A line must be one JSON object" };
  const { id, method, params = {} } = message;
  if (typeof id !== "string" && typeof id !== "number") {
    return { id: null, code: RPC.invalidRequest, message: "A request needs an id" };
  }
  if (typeof method !== "string") return { id, code: RPC.invalidRequest, message: "A request needs a method" };
  if (!isJsonObject(params)) return { id, code: RPC.invalidParams, message: "Params must be an object" };
  return { id, method, params };
}

async function answer(socket: Socket, { id, params }: Request, handler: Handler, context: CallContext): Promise<void> {
  try {
    const result = await handler(params, context);
    writeLine(socket, { id, result: result ?? null });
  } catch (error) {
    const code = error instanceof InvalidParams ? RPC.invalidParams : RPC.failed;
    fail(socket, id, code, error instanceof Error ? error.message : String(error));
  }
}

function fail(socket: Socket, id: string | number | null, code: number, message: string): void {
  writeLine(socket, { id, error: { code, message: cleanLine(message, MAX_ERROR_CHARS) } });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
