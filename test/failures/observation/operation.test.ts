/** Which attempts are attempts of one operation (sections 4.1 to 4.3), beyond what the cases say. */
import { describe, expect, test } from "vitest";
import { keyOf } from "../../../src/failures/keys.ts";
import { argumentsOf, scrubbedKey } from "../../../src/failures/observation/operation.ts";
import { scrubJson } from "../../../src/errors/scrub-json.ts";
import { TOKENS } from "../../errors/secrets.ts";
import { CWD, SESSION, WatchedRun, type RunKind } from "./watched-run.ts";

type Fields = Readonly<Record<string, unknown>>;

const text = [{ type: "content", content: { type: "text", text: "no" } }];

/** The operation of a call that fails in one frame. */
function operationOf(call: Fields, kind?: RunKind, sessionId = SESSION): string | undefined {
  const run = new WatchedRun(kind);
  run.update({ sessionUpdate: "tool_call", toolCallId: "a", status: "failed", content: text, ...call }, sessionId);
  return run.failures[0]?.operation;
}

/** What kiro V3 tells of a call that it never announced: a title, and no other name. */
function titled(toolCallId: string, title: string, status: string): Fields {
  const rawInput = { path: "/workspace/x" };
  const _meta = { kiro: { toolOrigin: "default" } };
  return { sessionUpdate: "tool_call_update", toolCallId, title, status, rawInput, rawOutput: "text", _meta };
}

test("the parts of a key", () => {
  const rawInput = { path: "/workspace/x" };
  expect(operationOf({ kind: "read", rawInput })).toBe(keyOf("tool", "read", rawInput, CWD));
  expect(operationOf({ kind: "read", rawInput: { ...rawInput, cwd: "/other" } })).toBe(
    keyOf("tool", "read", { ...rawInput, cwd: "/other" }, "/other"),
  );
  expect(operationOf({ kind: "read", rawInput: { cwd: "relative" } })).toBe(
    keyOf("tool", "read", { cwd: "relative" }, CWD),
  );
  expect(operationOf({ kind: "execute", rawInput: { command: "x", operationId: "u" } }, { trusted: true })).toBe(
    keyOf("operation", "execute", "u", CWD),
  );
  expect(operationOf({ kind: "read" })).toBe(keyOf("anonymous", SESSION, "a"));
});

test("calls without arguments are never one operation", () => {
  const run = new WatchedRun();
  for (const toolCallId of ["a", "b", "b"]) {
    run.update({ sessionUpdate: "tool_call", toolCallId, kind: "edit", status: "failed", content: text });
  }
  expect(run.labels).toEqual(Array.from({ length: 3 }, () => "Unclassified failure observation"));
});

describe("calls of which only a title is told (kiro V3 capture tui-question-answer-consent: List Directory)", () => {
  test("another tool with the same arguments recovers nothing", () => {
    const run = new WatchedRun();
    run.update(titled("a", "List Directory", "failed"));
    run.update(titled("b", "Read File", "completed"));
    expect(run.incidents).toMatchObject([{ status: "unresolved", tool: "tool" }]);
  });

  test("three tools with the same arguments are no operation that is stuck", () => {
    const run = new WatchedRun();
    for (const title of ["List Directory", "Read File", "Delete File"]) run.update(titled(title, title, "failed"));
    expect(run.labels).toEqual(Array.from({ length: 3 }, () => "Unclassified failure observation"));
  });
});

test("the newest arguments before the end count", () => {
  const rawInput = { command: "npm test" };
  const run = new WatchedRun();
  run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "execute", status: "pending", rawInput: {} });
  run.ended("a", { rawInput });
  run.end("a", 1);
  expect(run.failures[0]?.operation).toBe(keyOf("tool", "execute", rawInput, CWD));
});

test("codex-acp 2.6.0 tells the name of a command with its end alone: allowed the second time, it is the same one", () => {
  const run = new WatchedRun();
  run.start("a", "npm test");
  run.permission("a", "reject_once");
  run.ended("a", { status: "failed" });
  run.start("b", "npm test");
  run.permission("b", "allow_once");
  run.ended("b", { status: "completed", name: "exec_command", _meta: { terminal_exit: { exit_code: 0 } } });
  expect(run.labels).toEqual(["Recovered"]);
});

describe("edits of claude-agent-acp, whose texts an AIR client finds in the diffs alone", () => {
  const _meta = { claudeCode: { toolName: "Edit" } };
  const edit = (oldText: string) => ({
    kind: "edit",
    _meta,
    rawInput: { file_path: "/workspace/x" },
    content: [{ type: "diff", path: "/workspace/x", oldText, newText: "b" }],
  });

  test("another text is another operation", () => {
    const air = { air: true };
    expect(operationOf(edit("a"), air)).toBe(operationOf(edit("a"), air));
    expect(operationOf(edit("a"), air)).not.toBe(operationOf(edit("z"), air));
  });

  test("without a diff it is like no other", () => {
    const bare = { kind: "edit", _meta, rawInput: { file_path: "/workspace/x" } };
    expect(operationOf(bare, { air: true })).toBe(keyOf("anonymous", SESSION, "a"));
    expect(operationOf(bare)).toBe(keyOf("tool", "Edit", bare.rawInput, CWD));
  });
});

test.each([
  { from: "an MCP tool that is marked", call: { kind: "execute", _meta: { is_mcp_tool_call: true } } },
  { from: "an MCP tool by its name", call: { kind: "execute", name: "mcp__files__read" } },
  { from: "an MCP tool by its input", call: { kind: "execute", input: { server: "files", tool: "read" } } },
  { from: "a tool that is no command", call: { kind: "fetch" } },
])("$from declares no intent", ({ call: { input, ...call } }) => {
  const run = new WatchedRun({ trusted: true });
  const rawInput = { ...input, attemptId: "one", operationId: "u", expectedExitCodes: [1] };
  run.update({ sessionUpdate: "tool_call", toolCallId: "a", ...call, rawInput });
  run.end("a", 1);
  expect(run.observer.attempts.isSpent("one")).toBe(false);
  expect(run.failures).toMatchObject([{ attempt: { toolCallId: "a" } }]);
  expect(run.labels).toEqual(["Unclassified failure observation"]);
});

test.each([
  { from: "untrusted", trusted: false, strict: false, kept: ["command", "attemptId", "operationId"] },
  { from: "trusted", trusted: true, strict: false, kept: ["command"] },
  {
    from: "strict",
    trusted: false,
    strict: true,
    kept: ["command", "description", "__tool_use_purpose", "attemptId", "operationId"],
  },
])("arguments of a command that count, $from", ({ trusted, strict, kept }) => {
  const input = {
    command: "x",
    description: "what for",
    __tool_use_purpose: "why",
    attemptId: "one",
    operationId: "",
    expectedExitCodes: null,
  };
  expect(Object.keys(argumentsOf(input, { trusted, strict, isShell: true }))).toEqual(kept);
});

test("the key of what was scrubbed before is the same", () => {
  const values = [
    ...Object.values(TOKENS),
    ...Object.values(TOKENS).map((token) => `curl -H "Authorization: Bearer ${token}" https://user:pw@host/`),
    "/home/jane/project",
    {
      env: [{ name: "A", value: "b" }],
      headers: { any: "thing" },
      password: "hunter2",
      list: [{ name: "x", value: 1 }],
    },
    "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    "plain words, \u001b[31mred\u001b[0m and a \u0000 hole",
  ];
  for (const value of values) {
    const once = scrubJson({ rawInput: value });
    const inLog = typeof once === "object" && once !== null && "rawInput" in once ? once.rawInput : undefined;
    expect(scrubbedKey("tool", inLog)).toBe(scrubbedKey("tool", value));
  }
});
