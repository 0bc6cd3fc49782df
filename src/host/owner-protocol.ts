/**
 * What is spoken on the socket of an owner: JSON-RPC 2.0, one object a line, requests only. Methods: `ping`, `wait`,
 * `cancel` {conversation}, `backends/resume` {backend}, and those of `owner-work.ts`; later commands add theirs with
 * `OwnerServer.handle`.
 */
import { StringDecoder } from "node:string_decoder";
import type { Socket } from "node:net";

/** Longest line either side reads: names, ids, answers, and a person's words for work that runs. */
export const MAX_LINE_CHARS = 1024 * 1024;

/** What may wait for the other side to read it. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Error codes of JSON-RPC 2.0, and ours for a handler that failed. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  failed: -32000,
  tooMany: -32001,
} as const;

/** A JSON object from the other side. */
export type Json = Readonly<Record<string, unknown>>;

/** The params of a request are not what the method takes; its message goes to the caller. */
export class InvalidParams extends Error {
  override readonly name = "InvalidParams";
}

/** A text that a method cannot do without. Throws `InvalidParams`. */
export function requiredText(params: Json, key: string): string {
  const value = params[key];
  if (typeof value !== "string" || value === "") throw new InvalidParams(`"${key}" must be a text that is not empty`);
  return value;
}

export function isJsonObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Calls `onLine` for every line, and `onTooLong` once, after which nothing more is read. */
export function readLines(socket: Socket, onLine: (line: string) => void, onTooLong: () => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const read = (bytes: Buffer): void => {
    const lines = (rest + decoder.write(bytes)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "" && !socket.destroyed) onLine(line);
    if (rest.length <= MAX_LINE_CHARS) return;
    socket.off("data", read);
    rest = "";
    onTooLong();
  };
  socket.on("data", read);
}

/** Hangs up on a side that does not read what it is sent. */
export function writeLine(socket: Socket, message: Json): void {
  if (socket.writable) socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
}
