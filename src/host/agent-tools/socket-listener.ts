/**
 * The tools over a socket in the state folder, for agents that take MCP servers on stdio alone: `ostler mcp` passes bytes
 * between the two. The first line is the token; whoever does not know it is hung up on.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { join } from "node:path";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { currentOwnerName, ownerName, thisProcess, thisSystem } from "../../acp/this-process.ts";
import { listenAddress, removeSocket } from "../owner-socket.ts";
import type { SocketAddress } from "../owner-socket.ts";
import type { Paths } from "../paths.ts";
import { isSameToken } from "./bearer-token.ts";
import { newToolServer } from "./mcp-server.ts";
import type { ToolAnswers } from "./mcp-server.ts";

const TOKEN_MS = 10_000;
const MAX_TOKEN_BYTES = 200;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 32;
const NEWLINE = 0x0a;

export class SocketListener {
  readonly path: string;
  readonly #token: string;
  readonly #answers: ToolAnswers;
  readonly #server: Server;
  readonly #address: SocketAddress;
  readonly #sockets = new Set<Socket>();

  private constructor(path: string, address: SocketAddress, token: string, answers: ToolAnswers) {
    this.path = path;
    this.#address = address;
    this.#token = token;
    this.#answers = answers;
    this.#server = createServer((socket) => void this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.unref();
  }

  /** Listens for one run. Throws the system's error. */
  static async open(paths: Paths, token: string, answers: ToolAnswers): Promise<SocketListener> {
    const folder = join(paths.state, "agent-tools", thisSystem());
    removeStale(folder);
    const path = join(folder, `${ownerName(thisProcess())}-${randomBytes(4).toString("hex")}.sock`);
    const listener = new SocketListener(path, listenAddress(paths, path), token, answers);
    listener.#server.listen(listener.#address.path);
    await once(listener.#server, "listening");
    chmodSync(path, 0o600);
    return listener;
  }

  /** Ends every connection and removes the socket. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#address[Symbol.dispose]();
    removeSocket(this.path);
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket)).on("error", () => {});
    const token = await readToken(socket);
    if (token === undefined || !isSameToken(token, this.#token)) return void socket.destroy();
    const transport = new StdioServerTransport(socket, socket, { maxBufferSize: MAX_MESSAGE_BYTES });
    await newToolServer(this.#answers).connect(transport);
    // What was paused for the token does not go on by itself.
    socket.resume();
  }
}

/** The first line, and nothing after it. Undefined when there is none in time. */
async function readToken(socket: Socket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let read = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(NEWLINE);
    if (end < 0 && read.length <= MAX_TOKEN_BYTES) return;
    socket.pause().off("data", onData);
    if (end >= 0) socket.unshift(read.subarray(end + 1));
    resolve(end < 0 ? undefined : read.subarray(0, end).toString());
  };
  const clock = setTimeout(() => resolve(undefined), TOKEN_MS);
  socket.on("data", onData).once("close", () => resolve(undefined));
  const token = await promise;
  clearTimeout(clock);
  return token;
}

/** Sockets that Ostlers left when they were killed. */
function removeStale(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const pid = Number.parseInt(name, 10);
      if (!name.startsWith(`${currentOwnerName(pid)}-`)) removeSocket(join(folder, name));
    }
  } catch {
    // The folder is not there yet.
  }
}
