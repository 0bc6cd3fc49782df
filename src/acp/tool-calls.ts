/**
 * Tool calls of one session, merged from deltas: an absent field means unchanged (AIR contract, tool calls). The frame
 * cache is also the evidence for permission questions: kiro v2 names only the id and the title there (kiro wire notes,
 * section 8), and an inline copy may have been written by the model.
 */
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { num, str } from "./normalize.ts";
import type { ToolStatus, TurnEventBody } from "./types.ts";

/** Finished calls kept as evidence and for late updates. */
const MAX_CALLS = 1000;
/** Calls in flight that are kept; no model runs so many, and a permission question about a forgotten one is denied. */
const MAX_RUNNING = 1000;

/** A tool call as far as it is known. */
export interface ToolCall {
  readonly toolCallId: string;
  title: string;
  kind: string;
  status: ToolStatus;
  paths: readonly string[];
  rawInput?: unknown;
  rawOutput?: unknown;
  exitCode?: number;
  /** The server of an MCP tool; empty when the frame says that it is one, and not for certain of which. */
  mcpServer?: string;
}

const STATUS: ReadonlyMap<string, ToolStatus> = new Map([
  ["pending", "pending"],
  ["in_progress", "in_progress"],
  ["completed", "completed"],
  ["failed", "failed"],
  // kiro's words for a call that will not run or was stopped.
  ["cancelled", "failed"],
  ["canceled", "failed"],
  ["refused", "failed"],
]);

export class ToolCalls {
  readonly #calls = new Map<string, ToolCall>();
  readonly #running = new Set<string>();
  /** In the order in which they ended: the first is the first to be forgotten. */
  readonly #ended = new Set<string>();

  get(toolCallId: string): ToolCall | undefined {
    return this.#calls.get(toolCallId);
  }

  /** The calls that are kept, of all turns so far. */
  get ids(): Iterable<string> {
    return this.#calls.keys();
  }

  /** How many calls are in flight. */
  get running(): number {
    return this.#running.size;
  }

  /** A turn ended: what it left open is no longer waited for. */
  forgetRunning(): void {
    for (const id of this.#running) this.#ended.add(id);
    this.#running.clear();
  }

  /** Takes in a `tool_call` or `tool_call_update`; the events that a person should see. */
  apply(update: Frame): TurnEventBody[] {
    const id = update["toolCallId"];
    if (typeof id !== "string") return [];
    const call = this.#calls.get(id) ?? this.#create(id);
    merge(call, update);
    const isRunning = call.status === "pending" || call.status === "in_progress";
    (isRunning ? this.#ended : this.#running).delete(id);
    (isRunning ? this.#running : this.#ended).add(id);
    const events: TurnEventBody[] = [{ type: "tool", ...call }];
    if (Array.isArray(update["content"])) for (const block of update["content"]) addContent(events, id, block);
    addTerminalOutput(events, id, update["_meta"]);
    return events;
  }

  #create(id: string): ToolCall {
    const call: ToolCall = { toolCallId: id, title: "", kind: "other", status: "pending", paths: [] };
    this.#calls.set(id, call);
    if (this.#ended.size > MAX_CALLS) this.#forget(this.#ended);
    if (this.#running.size >= MAX_RUNNING) this.#forget(this.#running);
    return call;
  }

  #forget(calls: Set<string>): void {
    const oldest = calls.values().next().value;
    if (oldest === undefined) return;
    calls.delete(oldest);
    this.#calls.delete(oldest);
  }
}

function merge(call: ToolCall, update: Frame): void {
  if (typeof update["title"] === "string") call.title = update["title"];
  if (typeof update["kind"] === "string") call.kind = update["kind"];
  const status = typeof update["status"] === "string" ? STATUS.get(update["status"]) : undefined;
  if (status !== undefined) call.status = status;
  call.paths = readPaths(update["locations"]) ?? call.paths;
  if (update["rawInput"] !== undefined) call.rawInput = update["rawInput"];
  if (update["rawOutput"] !== undefined) call.rawOutput = update["rawOutput"];
  const mcpServer = readMcpServer(update["_meta"]) ?? readCodexMcpServer(update);
  if (mcpServer !== undefined) call.mcpServer = mcpServer;
  const exitCode = readExitCode(update);
  if (exitCode !== undefined) call.exitCode = exitCode;
}

/** Only structured fields: `_meta.terminal_exit.exit_code`, `rawOutput.exit_code` (codex), `rawOutput.exitCode` (kiro V3). */
function readExitCode(update: Frame): number | undefined {
  const exit = field(update["_meta"], "terminal_exit");
  const output = update["rawOutput"];
  return num(field(exit, "exit_code")) ?? num(field(output, "exit_code")) ?? num(field(output, "exitCode"));
}

/** `_meta.claudeCode.mcpServer`, else the tool name `mcp__SERVER__TOOL`, which names no server when either holds `__`. */
function readMcpServer(meta: unknown): string | undefined {
  const claude = field(meta, "claudeCode");
  if (claude === undefined) return undefined;
  const server = field(claude, "mcpServer");
  const named = str(server) ?? str(field(server, "name"));
  if (named !== undefined) return named;
  const [prefix, name = "", ...tool] = (str(field(claude, "toolName")) ?? "").split("__");
  if (prefix !== "mcp") return undefined;
  return tool.length === 1 ? name : "";
}

/** codex-acp 2.6.0 marks the call and names the server in its input; its kind is `execute`, as that of a command. */
function readCodexMcpServer(update: Frame): string | undefined {
  if (field(update["_meta"], "is_mcp_tool_call") !== true) return undefined;
  return str(field(update["rawInput"], "server")) ?? "";
}

/** The paths of `locations`; undefined when there is no such list. */
export function readPaths(locations: unknown): string[] | undefined {
  return Array.isArray(locations) ? locations.map(pathOf).filter((path) => path !== undefined) : undefined;
}

function pathOf(location: unknown): string | undefined {
  return str(field(location, "path"));
}

function field(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

function addContent(events: TurnEventBody[], toolCallId: string, block: unknown): void {
  const path = str(field(block, "path"));
  if (field(block, "type") !== "diff" || path === undefined) return;
  const oldText = str(field(block, "oldText")) ?? null;
  events.push({ type: "diff", toolCallId, path, oldText, newText: str(field(block, "newText")) ?? "" });
}

function addTerminalOutput(events: TurnEventBody[], toolCallId: string, meta: unknown): void {
  const data = str(field(field(meta, "terminal_output_delta") ?? field(meta, "terminal_output"), "data")) ?? "";
  if (data !== "") events.push({ type: "terminal", toolCallId, data });
}
