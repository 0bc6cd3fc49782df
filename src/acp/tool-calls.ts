/**
 * Tool calls of one session, merged from deltas: an absent field means unchanged (AIR contract, tool calls). The frame
 * cache is also the evidence for permission questions: kiro v2 names only the id and the title there (kiro wire notes,
 * section 8), and an inline copy may have been written by the model.
 */
import { readDiffBlocks } from "./diff-blocks.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { readMcpServer } from "./mcp-identity.ts";
import { KeptDiffs } from "./kept-diffs.ts";
import { num, str } from "./normalize.ts";
import type { ToolStatus, TurnEventBody } from "./events.ts";

/** Finished calls kept as evidence and for late updates. */
const MAX_CALLS = 1000;
/** Calls in flight that are kept; no model runs so many, and a permission question about a forgotten one is denied. */
const MAX_RUNNING = 1000;
/** One more than the policy looks at on disk: whoever names more is not believed about any. */
const MAX_DIFF_PATHS = 1000;

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
  readonly evidence: CallEvidence;
}

/** What a permission question needs besides, and no event tells. */
interface CallEvidence {
  /** A `tool_call` came, or an update with a kind: "other" is what the agent said, and not only what nobody said. */
  isAnnounced: boolean;
  /** The paths of every diff so far, the codex adapter's only place for them ("Editing files"). */
  readonly diffPaths: Set<string>;
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
  /** Of the calls in flight, for permission questions. */
  readonly diffs = new KeptDiffs();
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
    const { evidence, ...shown } = call;
    const { diffs, paths } = readDiffBlocks(update["content"]);
    for (const path of paths) if (evidence.diffPaths.size <= MAX_DIFF_PATHS) evidence.diffPaths.add(path);
    if (isRunning) this.diffs.add(id, diffs);
    else this.diffs.forget(id);
    const events: TurnEventBody[] = [{ type: "tool", ...shown }];
    for (const diff of diffs) events.push({ type: "diff", toolCallId: id, ...diff });
    addTerminalOutput(events, id, update["_meta"]);
    return events;
  }

  #create(id: string): ToolCall {
    const evidence = { isAnnounced: false, diffPaths: new Set<string>() };
    const call: ToolCall = { toolCallId: id, title: "", kind: "other", status: "pending", paths: [], evidence };
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
  // The protocol says that a `tool_call` without a kind is "other"; an update without one says nothing.
  call.evidence.isAnnounced ||=
    typeof update["kind"] === "string" || (update["sessionUpdate"] === "tool_call" && update["kind"] == null);
  const status = typeof update["status"] === "string" ? STATUS.get(update["status"]) : undefined;
  if (status !== undefined) call.status = status;
  call.paths = readPaths(update["locations"]) ?? call.paths;
  if (update["rawInput"] !== undefined) call.rawInput = update["rawInput"];
  if (update["rawOutput"] !== undefined) call.rawOutput = update["rawOutput"];
  const mcpServer = readMcpServer(update);
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

function addTerminalOutput(events: TurnEventBody[], toolCallId: string, meta: unknown): void {
  const data = str(field(field(meta, "terminal_output_delta") ?? field(meta, "terminal_output"), "data")) ?? "";
  if (data !== "") events.push({ type: "terminal", toolCallId, data });
}
