/**
 * One attempt of a tool call, merged from its frames. Taking a frame in costs next to nothing, because nearly all of them
 * tell of something that goes well: values are kept as they came, and read when the attempt has failed.
 */
import { readAirField } from "../../acp/air/namespace.ts";
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import { readMcpServer } from "../../acp/mcp-identity.ts";
import type { AttemptOutcome } from "../attempt-book.ts";
import type { RunIntent } from "../intent.ts";
import { readExitStatus } from "./exit-status.ts";
import type { RunSession } from "./run-session.ts";

/** The line that ended it. */
export interface Ending {
  readonly n: number;
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly byte: number | undefined;
}

/** Ostler's own answer to the permission question of a call was no. */
export interface Refusal {
  /** There was no output before it. */
  readonly didNothing: boolean;
}

export class Attempt {
  readonly session: RunSession;
  readonly toolCallId: string;
  /** How many calls with the same id have failed before in the session. */
  readonly reuse: number;
  readonly startN: number;
  ending: Ending | undefined;
  outcome: AttemptOutcome = "running";
  /** Seen in the replay of a session. */
  isReplayed = false;
  /** Stands for a compaction of the context, which is no tool. */
  isCompaction = false;
  /** The turn that it ended in is over. */
  isSettled = false;
  /** Its turn is over without it. */
  isWaitedFor = false;

  /** What the harness itself calls the tool. */
  harnessName: string | undefined;
  name: string | undefined;
  kind: string | undefined;
  title: unknown;
  /** A tool of an MCP server, as codex-acp marks it: its kind is that of a command. */
  isMcp = false;
  /** The server of an MCP tool; empty when it is not certain. Read where Ostler gave the run its own. */
  server: string | undefined;
  /** The newest arguments. */
  input: unknown;
  content: unknown;
  /** The first content of an edit that had a diff. */
  diffs: readonly unknown[] | undefined;
  locations: unknown;
  rawOutput: unknown;
  code: number | undefined;
  signal: string | undefined;
  hasOutput = false;
  /** `_meta.claudeCode.nonExecutionKind`: why the tool never ran. */
  notRun: string | undefined;
  isClaude = false;
  isBackground = false;
  /** Ostler asked for its end. */
  isStopped = false;
  refusal: Refusal | undefined;
  intent: RunIntent | undefined;
  isTimedOut = false;

  /** The key of its incidents; undefined as long as nobody needed it. */
  operation: string | undefined;
  eventId: string | undefined;

  constructor(session: RunSession, toolCallId: string, reuse: number, startN: number) {
    this.session = session;
    this.toolCallId = toolCallId;
    this.reuse = reuse;
    this.startN = startN;
  }

  /** Takes a `tool_call` or `tool_call_update` in. */
  merge(update: Frame, readsServer: boolean): void {
    const { rawInput, rawOutput, content, locations, kind, name, title, _meta: meta } = update;
    if (typeof kind === "string") this.kind = kind;
    if (typeof name === "string") this.name = name;
    if (title !== undefined) this.title = title;
    if (rawInput != null) this.input = rawInput;
    if (Array.isArray(locations)) this.locations = locations;
    if (Array.isArray(content)) this.#mergeContent(content);
    if (rawOutput != null) {
      this.rawOutput = rawOutput;
      this.hasOutput = true;
    }
    if (isObject(meta)) this.#mergeMeta(meta);
    if (isObject(rawOutput) || (isObject(meta) && meta["terminal_exit"] !== undefined)) this.#mergeExit(update);
    if (readsServer) this.server ??= readMcpServer(update);
  }

  /** Forgets what only matters as long as it can still end, or end differently. */
  release(): void {
    this.isSettled = true;
    this.input = undefined;
    this.content = undefined;
    this.diffs = undefined;
    this.locations = undefined;
    this.rawOutput = undefined;
    this.title = undefined;
  }

  #mergeContent(content: readonly unknown[]): void {
    this.content = content;
    if (this.kind === "edit" && this.diffs === undefined && content.some(isDiff)) this.diffs = content;
  }

  #mergeMeta(meta: Frame): void {
    const { claudeCode: claude, kiro, terminal_output: output, terminal_output_delta: delta } = meta;
    if (isObject(claude)) {
      this.isClaude = true;
      // A beat of a subagent names the tool that beats, to a client that is not AIR: what came first is its own.
      if (typeof claude["toolName"] === "string") this.harnessName ??= claude["toolName"];
      if (typeof claude["nonExecutionKind"] === "string") this.notRun = claude["nonExecutionKind"];
    }
    if (isObject(kiro) && typeof kiro["toolName"] === "string") this.harnessName ??= kiro["toolName"];
    if (meta["is_mcp_tool_call"] === true) this.isMcp = true;
    if (hasData(delta) || hasData(output)) this.hasOutput = true;
    if (meta["jetbrains"] === undefined) return;
    const tasks = readAirField(meta, "asyncTasks");
    if (isObject(tasks) && tasks["backgrounded"] === true) this.isBackground = true;
  }

  #mergeExit(update: Frame): void {
    const exit = readExitStatus(update);
    if (exit?.code !== undefined) this.code = exit.code;
    if (exit?.signal !== undefined) this.signal = exit.signal;
  }
}

/** Whether the frame that ends a call says nothing of why: no output and nothing to show. */
export function isBare({ rawOutput, content, _meta: meta }: Frame): boolean {
  if (rawOutput != null || (Array.isArray(content) && content.length > 0)) return false;
  return !isObject(meta) || !(hasData(meta["terminal_output"]) || hasData(meta["terminal_output_delta"]));
}

function hasData(output: unknown): boolean {
  return isObject(output) && typeof output["data"] === "string" && output["data"] !== "";
}

function isDiff(block: unknown): boolean {
  return isObject(block) && block["type"] === "diff";
}
