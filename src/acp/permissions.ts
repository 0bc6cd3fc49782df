/**
 * The permission questions of one session: read leniently, answered exactly once, closed when the agent withdraws them,
 * the time is up or the turn is cancelled. A harness waits for an answer without limit (kiro wire notes, section 8), so
 * whatever happens an answer goes back.
 */
import { isDeepStrictEqual } from "node:util";
import type { Connection } from "./connection.ts";
import { compareDiffs, readDiffBlocks } from "./diff-blocks.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { readMcpServer } from "./mcp-identity.ts";
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

  /** Whether a question of this id waits for its answer. */
  isOpen(id: string | number): boolean {
    return this.#open.has(id);
  }

  /** Puts a question to the policy and answers it; no question of this id may be open. A policy that throws has not said yes. */
  async ask(id: string | number, request: PermissionRequest): Promise<void> {
    const { policy, permissionMs } = this.#options;
    const controller = new AbortController();
    const expiry = setTimeout(() => this.#expire(id, request), permissionMs);
    const question = { request, controller, expiry };
    this.#open.set(id, question);
    let answer: PermissionAnswer;
    try {
      answer = await policy(request, controller.signal);
    } catch {
      answer = rejectAnswer(request, "The permission policy failed");
    }
    if (this.#open.get(id) === question) this.#settle(id, answer);
  }

  /**
   * The agent asked `other` under the id of a question that is open: one answer goes back, which is a no to whichever of
   * the two it is taken for. Returns it.
   */
  refuseTwin(id: string | number, other: PermissionRequest | undefined): PermissionAnswer | undefined {
    const first = this.#open.get(id)?.request;
    if (first === undefined) return undefined;
    const answer = rejectBoth(first, other);
    this.#settle(id, answer);
    return answer;
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
    ...(call === undefined ? {} : { rawInput: call.rawInput }),
    ...(call?.evidence.isAnnounced === true && { kind: call.kind }),
    ...(call?.mcpServer === undefined ? {} : { mcpServer: call.mcpServer }),
    paths: call === undefined ? [] : pathsOf(call),
    ...readClaim(inline, call, tools),
    options,
    isQuestion: isQuestion(options),
  };
}

/** The protocol calls the inline copy an update of the call, so it may be newer than what the frames said. */
function readClaim(
  inline: Frame,
  call: ToolCall | undefined,
  tools: ToolCalls,
): Pick<PermissionRequest, "claimed" | "diffs"> {
  if (call === undefined) return {};
  const kind = str(inline["kind"]);
  const { rawInput } = inline;
  const mcpServer = readMcpServer(inline);
  const known = new Set(pathsOf(call));
  const blocks = readDiffBlocks(inline["content"]);
  const { diffs, others } = compareDiffs(tools.diffs.of(call.toolCallId), blocks.diffs);
  const said = [...(readPaths(inline["locations"]) ?? []), ...blocks.paths];
  const paths = [...new Set(said)].filter((path) => !known.has(path));
  const claimed = {
    ...(kind === undefined || kind === call.kind ? {} : { kind }),
    ...(rawInput === undefined || isSame(rawInput, call.rawInput) ? {} : { rawInput }),
    ...(paths.length === 0 ? {} : { paths }),
    ...(others.length === 0 ? {} : { diffs: others }),
    ...(mcpServer === undefined || mcpServer === call.mcpServer ? {} : { mcpServer }),
  };
  return { ...(Object.keys(claimed).length > 0 && { claimed }), ...(diffs.length > 0 && { diffs }) };
}

function pathsOf({ paths, evidence }: ToolCall): string[] {
  return [...new Set([...paths, ...evidence.diffPaths])];
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

/** What rejects in the first may allow in the other: where it does not reject in both, the answer is `cancelled`. */
function rejectBoth(first: PermissionRequest, other: PermissionRequest | undefined): PermissionAnswer {
  const reason = "Another request of the agent came under the same id";
  const answer = rejectAnswer(first, reason);
  if (answer.action === "cancel" || other === undefined) return answer;
  const same = other.options.filter(({ optionId }) => optionId === answer.optionId);
  const isNo = same.length > 0 && same.every(({ kind }) => kind.startsWith("reject"));
  return isNo ? answer : { action: "cancel", denied: true, reason };
}

/** Some kiro builds spell the fields `id` and `label`; the id goes back exactly as it came. */
function readOption(option: Frame): PermissionOption[] {
  const optionId = str(option["optionId"]) ?? str(option["id"]);
  if (optionId === undefined) return [];
  return [{ optionId, name: str(option["name"]) ?? str(option["label"]) ?? optionId, kind: str(option["kind"]) ?? "" }];
}

/**
 * kiro V3 asks questions through the same request, with every option `allow_once` and ids `<toolCallId>-option-N`
 * (kiro wire notes, section 8). Either sign is enough, whatever else the request holds: a question that is taken for a
 * permission would be answered with the first thing that it offers.
 */
function isQuestion(options: readonly PermissionOption[]): boolean {
  if (options.length === 0) return false;
  return options.every(({ kind }) => kind === "allow_once") || options.some(({ optionId }) => ANSWER_ID.test(optionId));
}

const ANSWER_ID = /.-option-\d+$/;

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
