/**
 * A JSON-RPC 2.0 peer over one child: requests with a deadline each, notifications, answers to the agent's own
 * requests, and the end of the stream, which rejects whatever is pending. Handlers run synchronously in arrival order,
 * so that a frame after a result is known to be late (kiro and codex send such frames, recordings).
 */
import type { Readable, Writable } from "node:stream";
import { FrameReader, isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { FrameListener, WireTap } from "./ports.ts";

/** The agent answered a request with an error; a bare text instead of an object is its message. `data` is untouched; classify before showing anything. */
export class RpcError extends Error {
  readonly code: number | undefined;
  readonly data: unknown;
  constructor(error: unknown) {
    const body = isObject(error) ? error : {};
    const message = typeof error === "string" ? error : body["message"];
    super(typeof message === "string" ? message : "");
    this.name = "RpcError";
    this.code = typeof body["code"] === "number" ? body["code"] : undefined;
    this.data = body["data"];
  }
}

/** A request was not answered within its budget. The late answer, if any, goes to `onLate`. */
export class DeadlineExceeded extends Error {
  readonly method: string;
  readonly budgetMs: number;
  constructor(method: string, budgetMs: number) {
    super(`${method} was not answered within ${budgetMs / 1000} s`);
    this.name = "DeadlineExceeded";
    this.method = method;
    this.budgetMs = budgetMs;
  }
}

/** The answer to a request: exactly one of the two. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: Error };

export interface RequestOptions {
  /** Milliseconds; absent = no deadline of its own (a prompt has the clocks of its turn). */
  readonly deadlineMs?: number;
  /** Milliseconds beyond which the deadline cannot be moved. Default: it cannot be moved. */
  readonly capMs?: number;
  /** The line begins to leave: from then on nobody can say how much of it was read. Called at most once. */
  readonly onHandedOver?: () => void;
  /** An answer that came after the deadline, so that what it created can be closed. */
  readonly onLate?: (result: unknown) => void;
}

export interface ConnectionOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly lineBytes: number;
  readonly onNotification: (method: string, params: Frame) => void;
  /** Must answer through `respond` or `refuse`, now or later. */
  readonly onRequest: (id: string | number, method: string, params: Frame) => void;
  /** stdout ended or broke (`oversize`): nothing more will arrive. */
  readonly onEnd: (reason: "end" | "oversize") => void;
  /** A write failed: the agent closed its stdin or is gone. May be called for every write. */
  readonly onWriteFailed: () => void;
  /** Hears every frame before it is handled or sent. */
  readonly tap?: WireTap;
  /** As `tap`, for one who keeps the last few frames: cheaper, and told the length. */
  readonly onFrame?: FrameListener | undefined;
}

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
const INVALID_REQUEST = -32600;
const EMPTY: Frame = {};

interface Pending {
  readonly method: string;
  readonly settle: (answer: RpcAnswer) => void;
  readonly timer: NodeJS.Timeout | undefined;
  readonly onLate: ((result: unknown) => void) | undefined;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #reader: FrameReader;
  readonly #pending = new Map<number, Pending>();
  /** Requests that missed their deadline and whose answer still matters. */
  readonly #late = new Map<number, (result: unknown) => void>();
  /** Lines that stand behind an earlier one which the agent has not taken in. */
  readonly #queued: (() => void)[] = [];
  readonly #closedListeners: ((reason: Error) => void)[] = [];
  #nextId = 1;
  #closed: Error | null = null;
  /** Frames that answered nothing or had an unknown shape. */
  strayFrames = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#reader = new FrameReader({
      lineBytes: options.lineBytes,
      onFrame: (frame, chars) => this.#receive(frame, chars),
      onOversize: () => options.onEnd("oversize"),
    });
    options.stdout.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    options.stdout.once("close", () => {
      this.#reader.end();
      options.onEnd("end");
    });
  }

  get noiseLines(): number {
    return this.#reader.noiseLines;
  }

  /** Nothing can be sent any more. */
  get isClosed(): boolean {
    return this.#closed !== null;
  }

  /** A request is not answered yet. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /**
   * Sends a request; `settle` is called once, synchronously with the frame that answers it. What is returned starts the
   * deadline anew, as far as `capMs` allows.
   */
  send(method: string, params: unknown, options: RequestOptions, settle: (answer: RpcAnswer) => void): () => void {
    if (this.#closed !== null) {
      settle({ error: this.#closed });
      return () => {};
    }
    const id = this.#nextId++;
    const { deadlineMs, onHandedOver, onLate } = options;
    const timer = deadlineMs === undefined ? undefined : setTimeout(() => this.#expire(id, deadlineMs), deadlineMs);
    this.#pending.set(id, { method, settle, timer, onLate });
    this.#write({ jsonrpc: "2.0", id, method, params }, onHandedOver);
    const { capMs = 0 } = options;
    const sentAt = performance.now();
    return () => {
      const endsAt = performance.now() + (deadlineMs ?? 0);
      if (endsAt <= sentAt + capMs && this.#pending.has(id)) timer?.refresh();
    };
  }

  /** As `send`, as a promise. Rejects with {@link RpcError}, {@link DeadlineExceeded} or the reason of `close`. */
  request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.send(method, params, options, (answer) => {
        if ("error" in answer) reject(answer.error);
        else resolve(answer.result);
      });
    });
  }

  notify(method: string, params: unknown): void {
    this.#write({ jsonrpc: "2.0", method, params });
  }

  respond(id: string | number, result: unknown): void {
    this.#write({ jsonrpc: "2.0", id, result });
  }

  refuse(id: string | number | null, code: number, message: string, data?: unknown): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  /** Rejects everything pending and every later request with `reason`. Idempotent: the first reason stays. */
  close(reason: Error): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    for (const { settle, timer } of this.#pending.values()) {
      clearTimeout(timer);
      settle({ error: reason });
    }
    this.#pending.clear();
    this.#late.clear();
    for (const listener of this.#closedListeners) listener(reason);
  }

  /** Called once, when nothing more will be answered, after what was pending has been rejected. */
  onClosed(listener: (reason: Error) => void): void {
    this.#closedListeners.push(listener);
  }

  #write(frame: unknown, onHandedOver?: () => void): void {
    const { stdin } = this.#options;
    if (stdin.writableEnded || stdin.destroyed) return;
    this.#options.tap?.({ dir: "out", frame });
    const line = `${JSON.stringify(frame)}\n`;
    this.#options.onFrame?.("out", frame, line.length);
    const isNext = stdin.writableLength === 0;
    if (!isNext && onHandedOver !== undefined) this.#queued.push(onHandedOver);
    stdin.write(line, (error) => {
      if (error) this.#options.onWriteFailed();
      else this.#handOverQueued();
    });
    // A pipe takes a part of a long line at once; one that is broken says so at once, and takes nothing.
    if (isNext && stdin.errored === null) onHandedOver?.();
  }

  /** A write was finished: whatever stood behind it has begun to leave, in one piece. */
  #handOverQueued(): void {
    if (this.#options.stdin.errored !== null) return;
    for (const onHandedOver of this.#queued.splice(0)) onHandedOver();
  }

  #receive(frame: Frame, chars: number): void {
    this.#options.tap?.({ dir: "in", frame });
    this.#options.onFrame?.("in", frame, chars);
    const { method, id } = frame;
    const params = isObject(frame["params"]) ? frame["params"] : EMPTY;
    if (typeof method === "string") {
      if (typeof id === "string" || typeof id === "number") this.#options.onRequest(id, method, params);
      // Whoever asks under such an id may wait all the same (JSON-RPC 2.0, section 5: an unreadable id is answered as null).
      else if (id != null) this.refuse(null, INVALID_REQUEST, "An id is a string or a number");
      else this.#options.onNotification(method, params);
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (typeof id !== "number" || pending === undefined) {
      this.#receiveLate(frame);
      return;
    }
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    pending.settle(
      "error" in frame && frame["error"] != null
        ? { error: new RpcError(frame["error"]) }
        : { result: frame["result"] },
    );
  }

  #receiveLate(frame: Frame): void {
    const id = typeof frame["id"] === "number" ? frame["id"] : -1;
    const onLate = this.#late.get(id);
    this.#late.delete(id);
    if (onLate === undefined) this.strayFrames += 1;
    else if (frame["error"] == null) onLate(frame["result"]);
  }

  #expire(id: number, deadlineMs: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (pending.onLate !== undefined) this.#late.set(id, pending.onLate);
    pending.settle({ error: new DeadlineExceeded(pending.method, deadlineMs) });
  }
}
