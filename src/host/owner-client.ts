/** Asks another Ostler of this user through its socket. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { basename } from "node:path";
import { cleanLine } from "../errors/redact.ts";
import { isJsonObject, readLines, writeLine } from "./owner-protocol.ts";
import type { Json } from "./owner-protocol.ts";
import { connectAddress } from "./owner-socket.ts";

const DEFAULT_TIMEOUT_MS = 5000;
const MAX_ERROR_CHARS = 500;

/** `gone`: nobody listens. `closed`: it hung up without an answer. `refused`: it answered with an error, see `code`. */
export type OwnerCallProblem = "gone" | "closed" | "timeout" | "refused" | "unreadable";

/** Another Ostler did not do what it was asked; the message is a sentence for the person. */
export class OwnerCallError extends Error {
  override readonly name = "OwnerCallError";
  readonly reason: OwnerCallProblem;
  /** Of the JSON-RPC error, when `refused`. */
  readonly code: number | undefined;

  constructor(reason: OwnerCallProblem, message: string, options: ErrorOptions & { readonly code?: number } = {}) {
    super(message, options);
    this.reason = reason;
    this.code = options.code;
  }
}

export interface OwnerCallOptions {
  /** From connecting to the answer; default 5000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One request to the owner whose socket is `path`, and its result. Throws `OwnerCallError`, or the signal's reason. */
export async function callOwner(
  path: string,
  method: string,
  params: Json = {},
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: OwnerCallOptions = {},
): Promise<unknown> {
  signal?.throwIfAborted();
  const who = `Ostler process ${Number.parseInt(basename(path), 10)}`;
  const answered = Promise.withResolvers<unknown>();
  const problem = (
    reason: OwnerCallProblem,
    sentence: string,
    options?: ErrorOptions & { readonly code?: number },
  ): void => answered.reject(new OwnerCallError(reason, `${who} ${sentence}`, options));
  const abort = (): void => answered.reject(signal?.reason);
  const timer = setTimeout(
    () => problem("timeout", `did not answer within ${timeoutMs / 1000} s; it may be stopped or very busy`),
    timeoutMs,
  );
  signal?.addEventListener("abort", abort, { once: true });
  let socket: Socket | undefined;
  try {
    using address = connectAddress(path);
    socket = connect(address.path);
    let connected = false;
    socket.on("connect", () => {
      connected = true;
    });
    socket.on("error", (cause) => problem(connected ? "closed" : "gone", connected ? HUNG_UP : NOT_THERE, { cause }));
    socket.on("close", () => problem("closed", HUNG_UP));
    const onLine = (line: string): void => {
      const answer = readAnswer(line);
      if (answer === undefined) problem("unreadable", "answered in a form this version cannot read");
      else if ("error" in answer) problem("refused", `says: ${answer.error}`, { code: answer.code });
      else answered.resolve(answer.result);
    };
    readLines(socket, onLine, () => problem("unreadable", "answered with a line that is too long"));
    writeLine(socket, { id: 1, method, params });
  } catch (cause) {
    problem("gone", NOT_THERE, { cause });
  }
  try {
    return await answered.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    socket?.destroy();
  }
}

const HUNG_UP = "hung up without an answer";
const NOT_THERE = "does not listen any more";

function readAnswer(line: string): { result: unknown } | { error: string; code: number } | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(message)) return undefined;
  if ("result" in message) return { result: message["result"] };
  const { error } = message;
  if (!isJsonObject(error) || typeof error["code"] !== "number") return undefined;
  return { error: cleanLine(String(error["message"]), MAX_ERROR_CHARS), code: error["code"] };
}
