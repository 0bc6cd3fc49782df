/** Permission questions: read leniently, and answered with the exact option that was offered. Pure. */
import { isDeepStrictEqual } from "node:util";
import { compareDiffs, readDiffBlocks } from "./diff-blocks.ts";
import { orderOptions, readPermissionHints } from "./air/permission-hints.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { readMcpServer } from "./mcp-identity.ts";
import { str } from "./normalize.ts";
import type { LogSink } from "./ports.ts";
import { readPaths, readToolContent } from "./tool-merge.ts";
import type { ToolCall, ToolCalls } from "./tool-calls.ts";
import type { PermissionAnswer, PermissionOption, PermissionRequest } from "./types.ts";

/** Nobody reads more of them before an answer. */
const MAX_TEXTS = 100;

/** Reads a `session/request_permission`; the evidence comes from the tool-call frames before it, the words from here. */
export function readPermissionRequest(sessionId: string, params: Frame, tools: ToolCalls): PermissionRequest {
  const inline = isObject(params["toolCall"]) ? params["toolCall"] : {};
  const toolCallId = str(inline["toolCallId"]) ?? "";
  const call = tools.get(toolCallId);
  const options = readPermissionOptions(params["options"]);
  const hints = readPermissionHints(params["_meta"]);
  return {
    sessionId,
    toolCallId,
    title: str(inline["title"]) ?? call?.title ?? "",
    ...hints,
    ...(call === undefined ? {} : { rawInput: call.rawInput }),
    ...(call?.evidence.isAnnounced === true && { kind: call.kind }),
    ...(call?.mcpServer === undefined ? {} : { mcpServer: call.mcpServer }),
    paths: call === undefined ? [] : pathsOf(call),
    ...readClaim(inline, call, tools),
    ...readTexts(inline, call),
    options: orderOptions(options, hints),
    isQuestion: isQuestion(options),
  };
}

/** A Write that replaces a file which claude cannot show says so here alone (seed document 002, "Claude behavior"). */
function readTexts({ content: asked }: Frame, call: ToolCall | undefined): Pick<PermissionRequest, "texts"> {
  const content = [...(call?.content ?? []), ...(Array.isArray(asked) ? readToolContent(asked) : [])];
  const texts = new Set(content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
  return texts.size === 0 ? {} : { texts: [...texts].slice(0, MAX_TEXTS) };
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

/** The options of a `session/request_permission`; what is none is left out. */
export function readPermissionOptions(options: unknown): readonly PermissionOption[] {
  return Array.isArray(options) ? options.filter(isObject).flatMap(readOption) : [];
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
export function isQuestion(options: readonly PermissionOption[]): boolean {
  if (options.length === 0) return false;
  return options.every(({ kind }) => kind === "allow_once") || options.some(({ optionId }) => ANSWER_ID.test(optionId));
}

const ANSWER_ID = /.-option-\d+$/;

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
