/**
 * How an update of a tool call is taken into what is known of it (seed document 002, Tool call contract): an absent field
 * is as it was, a list replaces the one before it, `_meta` is merged key by key. A client that is not AIR gets whole
 * `_meta` and repeated fields, which change nothing.
 */
import { readAirField } from "./air/namespace.ts";
import type { ToolContent, ToolStatus, TurnEventBody } from "./events.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { readMcpServer } from "./mcp-identity.ts";
import { num, str } from "./normalize.ts";

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** What every event of a call tells, as far as it is known. */
export type ToolFacts = Writable<Omit<Extract<TurnEventBody, { readonly type: "tool" }>, "type">>;

const STATUS: ReadonlyMap<unknown, ToolStatus> = new Map([
  ["pending", "pending"],
  ["in_progress", "in_progress"],
  ["completed", "completed"],
  ["failed", "failed"],
  // kiro's words for a call that will not run or was stopped.
  ["cancelled", "failed"],
  ["canceled", "failed"],
  ["refused", "failed"],
]);

const SHOWN_FIELDS = ["title", "kind", "content", "locations", "rawInput", "rawOutput", "name"];

export function mergeToolUpdate(facts: ToolFacts, update: Frame): void {
  const { title, kind, rawInput, rawOutput, content, _meta: meta } = update;
  if (typeof title === "string") facts.title = title;
  if (typeof kind === "string") facts.kind = kind;
  facts.status = STATUS.get(update["status"]) ?? facts.status;
  facts.paths = readPaths(update["locations"]) ?? facts.paths;
  if (rawInput != null) facts.rawInput = rawInput;
  if (rawOutput != null) facts.rawOutput = rawOutput;
  if (Array.isArray(content)) facts.content = readToolContent(content);
  const name = readName(facts.name, update);
  if (name !== undefined) facts.name = name;
  const mcpServer = readMcpServer(update);
  if (mcpServer !== undefined) facts.mcpServer = mcpServer;
  const exitCode = readExitCode(update);
  if (exitCode !== undefined) facts.exitCode = exitCode;
  if (isObject(meta)) mergeMeta(facts, meta);
}

function mergeMeta(facts: ToolFacts, meta: Frame): void {
  const { claudeCode: claude } = meta;
  const parent = str(field(claude, "parentToolUseId"));
  if (parent !== undefined && parent !== facts.toolCallId) facts.parentToolCallId = parent;
  const notRun = str(field(claude, "nonExecutionKind"));
  if (notRun !== undefined) facts.notRun = notRun;
  const commandTitle = str(readAirField(meta, "commandTitle"));
  if (commandTitle !== undefined) facts.commandTitle = commandTitle;
  const skill = readSkill(readAirField(meta, "skill"));
  if (skill !== undefined) facts.skill = skill;
  if (readAirField(meta, "subagent") === true) facts.isSubagent = true;
  if (field(readAirField(meta, "asyncTasks"), "backgrounded") === true) facts.isBackgrounded = true;
}

/**
 * The `name` of the call. What `_meta` says is only its own before another is known: a progress beat of an unknown call
 * goes to its parent, and names the tool that beats to a client that is not AIR.
 */
function readName(known: string | undefined, { name, _meta: meta }: Frame): string | undefined {
  const said = str(name);
  if (said !== undefined || known !== undefined) return said;
  return str(field(field(meta, "claudeCode"), "toolName")) ?? str(field(field(meta, "kiro"), "toolName"));
}

/** Only structured fields: `_meta.terminal_exit.exit_code`, `rawOutput.exit_code` (codex), `rawOutput.exitCode` (kiro V3). */
export function readExitCode({ _meta: meta, rawOutput }: Frame): number | undefined {
  const exit = field(meta, "terminal_exit");
  return num(field(exit, "exit_code")) ?? num(field(rawOutput, "exit_code")) ?? num(field(rawOutput, "exitCode"));
}

function readSkill(skill: unknown): { name: string; path?: string } | undefined {
  const name = str(field(skill, "name"));
  const path = str(field(skill, "path"));
  return name === undefined ? undefined : { name, ...(path !== undefined && { path }) };
}

/** What a call shows: text, media by name, and where the changes stand. Its terminal is told by its output. */
export function readToolContent(content: readonly unknown[]): ToolContent[] {
  const paths = new Set<string>();
  return content.flatMap((block): ToolContent[] => {
    if (!isObject(block)) return [];
    const path = str(block["path"]);
    if (block["type"] === "diff" && path !== undefined && !paths.has(path)) {
      paths.add(path);
      return [{ type: "diff", path }];
    }
    return block["type"] === "content" ? readBlock(block["content"]) : [];
  });
}

function readBlock(block: unknown): ToolContent[] {
  const type = str(field(block, "type"));
  const text = str(field(block, "text"));
  if (type === undefined) return [];
  if (type === "text") return text === undefined || text === "" ? [] : [{ type: "text", text }];
  const uri = str(field(block, "uri")) ?? str(field(field(block, "resource"), "uri"));
  return [{ type: "media", media: type, ...(uri !== undefined && { uri }) }];
}

/** The paths of `locations`; undefined when there is no such list. */
export function readPaths(locations: unknown): string[] | undefined {
  if (!Array.isArray(locations)) return undefined;
  return locations.map((location) => str(field(location, "path"))).filter((path) => path !== undefined);
}

/**
 * New output of the command, or progress of an MCP tool. `terminal_output` is a piece too: codex-acp 2.6.0 sends it piece by
 * piece to a client that asks for that key (Zed's convention), claude-agent-acp 0.101.0 all at once when the command ends.
 */
export function readToolOutput(meta: unknown): string {
  const output = str(field(field(meta, "terminal_output_delta") ?? field(meta, "terminal_output"), "data")) ?? "";
  const progress = str(field(field(meta, "mcp_output_delta"), "data")) ?? "";
  // Each is a message of its own, sent without the end of its line.
  return output + (progress === "" || progress.endsWith("\n") ? progress : `${progress}\n`);
}

/**
 * Whose the update is: that of a call which nobody announced, and which says nothing but that it goes on, belongs to the
 * call that it was made for.
 */
export function readBeatOf(update: Frame): string | undefined {
  const { sessionUpdate, status, _meta: meta } = update;
  if (sessionUpdate !== "tool_call_update" || SHOWN_FIELDS.some((key) => update[key] != null)) return undefined;
  if ((status != null && status !== "in_progress") || readToolOutput(meta) !== "") return undefined;
  return str(field(field(meta, "claudeCode"), "parentToolUseId"));
}

function field(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}
