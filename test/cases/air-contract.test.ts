/**
 * The AIR contract (seed document 002), section by section: every key of it has a row in docs/air.md that names where it is
 * handled and what proves it, and those are there. What is not read is named here, so that a key is left out on purpose.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLIENT_AIR_CAPABILITIES } from "../../src/acp/air/capabilities.ts";
import { initializeParams } from "../../src/acp/negotiate.ts";
import { claudeBackend } from "../../src/backends/claude.ts";
import { withTerminalLogin } from "../../src/host/terminal-login.ts";

const ROOT = join(import.meta.dirname, "../..");
const NOTHING = "—";

/** The sections of the contract that bind a client, with their keys; behind the last dot stands the name on the wire. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "Compatibility rule": [
    "claudeCode.toolName",
    "claudeCode.parentToolUseId",
    "claudeCode.toolResponse",
    "claudeCode.promptQueueing",
    "_claude/*",
    "gateway",
    "nextCursor",
  ],
  Negotiation: [
    "client.version",
    "client.capabilities",
    "diffPatch",
    "sessionFailure",
    "recommendedValue",
    "asyncTasks",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "planFile",
    "rawInputRendering",
    "planContentDelta",
    "agent.version",
    "agent.capabilities",
    "agent.goal.version",
    "agent.goal.controlMethod",
    "agent.goal.actions",
    "agent.steering.supported",
  ],
  "AIR metadata keys": [
    "capabilities",
    "goal",
    "diffPatch",
    "permission",
    "recommendedValue",
    "asyncTasks.backgrounded",
    "agentFileChangeReportRequest",
    "agentFileChangeReport",
    "sessionFailure",
    "commandTitle",
    "subagent",
    "skill.name",
    "skill.path",
    "contextCompaction",
    "customAnswer",
    "kind",
    "fork",
  ],
  "JetBrains shared keys": ["terminal_output_delta", "is_mcp_tool_call", "steering", "quota", "authStatus"],
  "Zed conventions": [
    "terminal_output",
    "terminal_info",
    "terminal_exit.exit_code",
    "terminal-auth",
    "claudeCode.nonExecutionKind",
    "claudeCode.options",
    "rawOutput.formatted_output",
    "rawOutput.exit_code",
  ],
  "Tool call contract": [
    "rawInput",
    "content",
    "rawOutput",
    "status",
    "title",
    "kind",
    "locations",
    "mcp_output_delta",
  ],
  "Claude tools and ACP fields": [],
  "Diff patch": [
    "diffPatch.version",
    "diffPatch.format",
    "diffPatch.text",
    "diff.path",
    "diff.oldText",
    "diff.newText",
  ],
  "Plan file": ["rawInput.planFilePath", "rawInput.plan", "contentDelta"],
  "Permission presentation": [
    "permission.version",
    "permission.title",
    "permission.description",
    "permission.defaultToNo",
    "toolCall",
    "options",
    "outcome.optionId",
    "claudeCode.mcpServer",
  ],
  Goal: [
    "_session/goal",
    "request.action",
    "request.objective",
    "goal.objective",
    "goal.status",
    "goal.iterations",
    "goal.lastReason",
    "goal.createdAt",
    "goal.controlMethod",
  ],
  "Recommended config values": ["recommendedValue", "currentValue"],
  "Async tasks": [
    "async_task_spawned",
    "async_task_progress",
    "async_task_state_update",
    "task.asyncTaskId",
    "task.name",
    "task.taskType",
    "task.description",
    "task.showInTranscript",
    "task.canStop",
    "task.outputFilePath",
    "task.toolCallId",
    "task.summary",
    "task.lastToolName",
    "task.usage",
    "task.state",
    "asyncTasks.backgrounded",
    "_session/async_task/stop",
    "stopResult.stopped",
  ],
  "Agent file-change report": [
    "request.version",
    "request.requestId",
    "report.version",
    "report.requestId",
    "report.status",
    "report.paths",
    "report.declaredComplete",
    "report.truncated",
    "report.reason",
  ],
  "Session failure": [
    "sessionFailure.id",
    "sessionFailure.revision",
    "sessionFailure.category",
    "sessionFailure.severity",
    "sessionFailure.title",
    "sessionFailure.details",
    "sessionFailure.reason",
    "sessionFailure.actions",
    "session.notices",
  ],
  "Native subagent sessions": [
    "clientCapabilities.subagents",
    "nativeSubagentSessions",
    "sessionCapabilities.subagents",
    "subagent_spawned",
    "subagent_state_update",
    "subagent_spawned.prompt",
    "subagent",
    "subagent-transcript",
    "forwardSubagentText",
  ],
  "Context compaction": [
    "session.compaction",
    "compaction_update",
    "compaction_summary_chunk",
    "compactionId",
    "contextCompaction.version",
    "contextCompaction.trigger",
    "contextCompaction.preTokens",
    "contextCompaction.postTokens",
    "contextCompaction.durationMs",
    "contextCompaction.error",
    "claudeCode.toolName",
  ],
  "Question custom answers": ["elicitation.form", "customAnswer.questionId", "customAnswer.isCustomAnswer"],
  "Session fork point": ["fork.version", "fork.messageId", "fork.messageFingerprint", "fork.messageOccurrence"],
  "Presentation hints": ["kind"],
  "Removed keys": ["_meta.goal", "_meta.kind", "_askUserQuestionCustomAnswer", "_meta.contextCompaction"],
};

/** Keys that a client may leave alone, and that Ostler does. */
const NOT_READ: ReadonlySet<string> = new Set([
  "claudeCode.toolResponse",
  "claudeCode.promptQueueing",
  "_claude/*",
  "gateway",
  "agent.goal.controlMethod",
  "goal.controlMethod",
  "terminal_info",
  "rawOutput.formatted_output",
  "subagent-transcript",
  "forwardSubagentText",
  "_meta.goal",
  "_meta.kind",
  "_askUserQuestionCustomAnswer",
  "_meta.contextCompaction",
]);

interface Row {
  readonly section: string;
  /** The key that is the whole first cell; undefined: the row is about a rule. */
  readonly key: string | undefined;
  readonly what: string;
  readonly files: readonly string[];
  readonly proofs: readonly { readonly file: string; readonly name: string }[];
}

const ROWS = readRows(readFileSync(join(ROOT, "docs/air.md"), "utf8"));

describe("every key has its row, where it is handled", () => {
  test("the sections are those of the contract, in its order", () => {
    expect([...new Set(ROWS.map(({ section }) => section))]).toEqual(Object.keys(KEYS));
  });

  test.each(Object.entries(KEYS).flatMap(([section, keys]) => keys.map((key) => ({ section, key }))))(
    "$section: $key",
    ({ section, key }) => {
      const rows = ROWS.filter((row) => row.section === section && row.key === key);
      const found = rows.map(({ files, proofs }) => ({
        isHandled: files.some((file) => source("src", file).includes(nameOf(key))),
        isProven: proofs.length > 0,
      }));
      expect(found).toEqual([{ isHandled: !NOT_READ.has(key), isProven: true }]);
    },
  );

  test("no row has a key that the contract does not have", () => {
    const known = new Set(Object.entries(KEYS).flatMap(([section, keys]) => keys.map((key) => `${section}: ${key}`)));
    const keyed = ROWS.flatMap(({ section, key }) => (key === undefined ? [] : [`${section}: ${key}`]));
    expect(keyed.filter((row) => !known.has(row))).toEqual([]);
  });
});

test.each(ROWS.map((row) => ({ ...row, at: `${row.section}: ${row.what}` })))(
  "what is named is there: $at",
  ({ what, key, files, proofs }) => {
    expect(files.filter((file) => !existsSync(join(ROOT, "src", file)))).toEqual([]);
    expect(proofs.filter(({ file, name }) => !source("test", file).includes(name))).toEqual([]);
    const isOfAgent = what === "Of the agent";
    expect(proofs.length > 0).toBe(!isOfAgent);
    expect(files.length > 0).toBe(!isOfAgent && !(key !== undefined && NOT_READ.has(key)));
  },
);

test("a capability is declared only with a row", () => {
  const asDeclared = withTerminalLogin({ ...claudeBackend, notices: true });
  const declared = initializeParams(asDeclared, "1", { questions: true });
  const { clientCapabilities } = JSON.parse(JSON.stringify(declared));
  const names = [...leaves(clientCapabilities), ...CLIENT_AIR_CAPABILITIES];
  const rows = new Set(ROWS.map(({ key }) => nameOf(key ?? "")));
  expect(names.filter((name) => !rows.has(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["form", "subagents", "compaction", "notices", "terminal-auth"]));
});

/** The names of what is declared: switches that are on, and empty objects. */
function leaves(value: object): string[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (inner === true) return [name];
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return [];
    return Object.keys(inner).length === 0 ? [name] : leaves(inner);
  });
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

function source(folder: string, file: string): string {
  const path = join(ROOT, folder, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function readRows(markdown: string): Row[] {
  // What stands before the first section is the introduction.
  const [, ...parts] = markdown.split(/^## /m);
  return parts.flatMap((part) => {
    const [section = "", ...lines] = part.split("\n");
    const table = lines.filter((line) => line.startsWith("|")).slice(2);
    return table.map((line): Row => {
      const [what = "", , files = "", proofs = ""] = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      return {
        section,
        key: /^`([^`]+)`$/.exec(what)?.[1],
        what,
        files: files === NOTHING ? [] : quoted(files),
        proofs: proofs === NOTHING ? [] : proofs.split("<br>").map(readProof),
      };
    });
  });
}

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file);
}

/** A proof without a name is of no row. */
function readProof(proof: string): Row["proofs"][number] {
  const [, file = "", name = "no row is named"] = /^`([^`]+)` › (.+)$/.exec(proof) ?? [];
  return { file, name };
}
