/**
 * The permission questions of one session: read leniently, answered exactly once, closed when the agent withdraws them,
 * the time is up or the turn is cancelled. A harness waits for an answer without limit (kiro wire notes, section 8), so
 * whatever happens an answer goes back.
 */
import { isDeepStrictEqual } from "node:util";
import type { Connection } from "./connection.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import type { LogSink, PermissionPolicy } from "./ports.ts";
import { readPaths } from "./tool-calls.ts";
import type { ToolCall, ToolCalls } from "./tool-calls.ts";
import type { PermissionAnswer, PermissionOption, PermissionRequest } from "./types.ts";

export interface DeskOptions {
  readonly connection: Pick<Connection, "respond">;
  readonly tools: ToolCalls;
  readonly policy: PermissionPolicy;
  readonly permissionMs: number;
  /** Called once per question with the answer that went back. */
  readonly onAnswer: (request: PermissionRequest, answer: PermissionAnswer) => void;
}

const CANCELLED: PermissionAnswer = { action: "cancel", denied: false };

interface OpenQuestion {
  readonly request: PermissionRequest;
  readonly controller: AbortController;
  readonly expiry: NodeJS.Timeout;
}

export class PermissionDesk {
  readonly #options: DeskOptions;
  readonly #open = new Map<string | number, OpenQuestion>();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Puts a question to the policy and answers it. A policy that throws has not said yes. */
  async ask(id: string | number, request: PermissionRequest): Promise<void> {
    const { policy, permissionMs } = this.#options;
    const controller = new AbortController();
    const expiry = setTimeout(() => this.#expire(id, request), permissionMs);
    const question = { request, controller, expiry };
    // An answer under an id that is in use could be taken for either, so the first question is answered with a no.
    const twin = this.#open.get(id);
    if (twin !== undefined) this.#settle(id, rejectAnswer(twin.request, "Another question came under the same id"));
    this.#open.set(id, question);
    let answer: PermissionAnswer;
    try {
      answer = await policy(request, controller.signal);
    } catch {
      answer = rejectAnswer(request, "The permission policy failed");
    }
    if (this.#open.get(id) === question) this.#settle(id, answer);
  }

  /** The agent took its question back (`$/cancel_request`). */
  withdraw(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#settle(id, CANCELLED);
  }

  /** Answers everything that is open with `cancelled`, at once: a cancel must find no open question. */
  closeAll(): void {
    for (const id of this.#open.keys()) this.#settle(id, CANCELLED);
  }

  /** Answers everything that is open with a no: nobody will look at it any more. */
  rejectAll(reason: string): void {
    for (const [id, { request }] of this.#open) this.#settle(id, rejectAnswer(request, reason));
  }

  #expire(id: string | number, request: PermissionRequest): void {
    this.#settle(id, rejectAnswer(request, `Nobody answered within ${this.#options.permissionMs / 1000} s`));
  }

  /** The first answer counts. */
  #settle(id: string | number, answer: PermissionAnswer): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    this.#open.delete(id);
    clearTimeout(question.expiry);
    this.#options.connection.respond(id, toWire(answer));
    this.#options.onAnswer(question.request, answer);
    question.controller.abort();
  }
}

/** Reads a `session/request_permission`; the evidence comes from the tool-call frames before it, the words from here. */
export function readPermissionRequest(sessionId: string, params: Frame, tools: ToolCalls): PermissionRequest {
  const inline = isObject(params["toolCall"]) ? params["toolCall"] : {};
  const toolCallId = str(inline["toolCallId"]) ?? "";
  const call = tools.get(toolCallId);
  const options = Array.isArray(params["options"]) ? params["options"].filter(isObject).flatMap(readOption) : [];
  const air = readAirPermission(params["_meta"]);
  return {
    sessionId,
    toolCallId,
    title: air.title ?? str(inline["title"]) ?? call?.title ?? "",
    ...(air.description === undefined ? {} : { description: air.description }),
    ...(call === undefined ? {} : { kind: call.kind, rawInput: call.rawInput }),
    ...(call?.mcpServer === undefined ? {} : { mcpServer: call.mcpServer }),
    paths: call?.paths ?? [],
    ...readClaim(inline, call),
    options,
    isQuestion: isQuestion(options, params["_meta"], toolCallId),
  };
}

/** The protocol calls the inline copy an update of the call, so it may be newer than what the frames said. */
function readClaim(inline: Frame, call: ToolCall | undefined): Pick<PermissionRequest, "claimed"> {
  if (call === undefined) return {};
  const kind = str(inline["kind"]);
  const { rawInput } = inline;
  const known = new Set(call.paths);
  const paths = (readPaths(inline["locations"]) ?? []).filter((path) => !known.has(path));
  const claimed = {
    ...(kind === undefined || kind === call.kind ? {} : { kind }),
    ...(rawInput === undefined || isSame(rawInput, call.rawInput) ? {} : { rawInput }),
    ...(paths.length === 0 ? {} : { paths }),
  };
  return Object.keys(claimed).length === 0 ? {} : { claimed };
}

function isSame(one: unknown, other: unknown): boolean {
  try {
    return isDeepStrictEqual(one, other);
  } catch {
    // Nested deeper than the stack.
    return false;
  }
}

/** A "no" in the words of the request: the first reject option, else `cancelled` (the protocol has nothing else). */
export function rejectAnswer(request: PermissionRequest, reason: string): PermissionAnswer {
  const option =
    request.options.find(({ kind }) => kind === "reject_once") ??
    request.options.find(({ kind }) => kind.startsWith("reject"));
  if (option === undefined) return { action: "cancel", denied: true, reason };
  return { action: "select", optionId: option.optionId, denied: true, reason };
}

/** Some kiro builds spell the fields `id` and `label`; the id goes back exactly as it came. */
function readOption(option: Frame): PermissionOption[] {
  const optionId = str(option["optionId"]) ?? str(option["id"]);
  if (optionId === undefined) return [];
  return [{ optionId, name: str(option["name"]) ?? str(option["label"]) ?? optionId, kind: str(option["kind"]) ?? "" }];
}

/** kiro V3 asks questions through the same request: every option `allow_once`, ids `<toolCallId>-option-N`, no `_meta.kiro`. */
function isQuestion(options: readonly PermissionOption[], meta: unknown, toolCallId: string): boolean {
  if (options.length === 0 || (isObject(meta) && meta["kiro"] !== undefined)) return false;
  return options.every(({ kind, optionId }) => kind === "allow_once" && optionId.startsWith(`${toolCallId}-option-`));
}

function readAirPermission(meta: unknown): {
  readonly title: string | undefined;
  readonly description: string | undefined;
} {
  const jetbrains = isObject(meta) ? meta["jetbrains"] : undefined;
  const air = isObject(jetbrains) ? jetbrains["air"] : undefined;
  const permission = isObject(air) ? air["permission"] : undefined;
  if (!isObject(permission)) return { title: undefined, description: undefined };
  return { title: str(permission["title"]), description: str(permission["description"]) };
}

/** The audit record of one question: what was asked and what went back (case C17). */
export function logPermission(log: LogSink | undefined, request: PermissionRequest, answer: PermissionAnswer): void {
  const { sessionId, toolCallId, title, kind } = request;
  const said = answer.action === "select" ? { optionId: answer.optionId } : {};
  const action = answer.denied ? "denied" : answer.action === "select" ? "allowed" : "cancelled";
  log?.(answer.denied ? "warn" : "info", "permission.answered", {
    sessionId,
    toolCallId,
    title,
    kind: kind ?? request.claimed?.kind,
    answer: action,
    ...said,
    ...(answer.denied && { reason: answer.reason }),
  });
}

/** The answer as the protocol spells it. */
export function toWire(answer: PermissionAnswer): unknown {
  return answer.action === "cancel"
    ? { outcome: { outcome: "cancelled" } }
    : { outcome: { outcome: "selected", optionId: answer.optionId } };
}
