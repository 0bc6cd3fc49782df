/** What Ostler declares to an agent: only what it reads, and what that takes from one place is shown from another. */
import { expect, test } from "vitest";
import { initializeParams } from "../../src/acp/negotiate.ts";
import { readPermissionRequest } from "../../src/acp/permissions.ts";
import { UpdateReader } from "../../src/acp/update-reader.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { claudeBackend } from "../../src/backends/claude.ts";
import { kiroBackend } from "../../src/backends/kiro.ts";
import { renderQuestion } from "../../src/surfaces/cli/ask-person.ts";

test.each([
  { from: "claude", backend: claudeBackend, session: { compaction: {} } },
  {
    from: "claude, with notices wanted",
    backend: { ...claudeBackend, notices: true },
    session: { compaction: {}, notices: {} },
  },
  { from: "any other agent", backend: backendFor("mine", {}), session: { compaction: {} } },
  { from: "kiro, which tells of compactions in its own way", backend: kiroBackend, session: undefined },
  { from: "kiro, with notices wanted", backend: { ...kiroBackend, notices: true }, session: { notices: {} } },
])("the updates of a session that are read: $from", ({ backend, session }) => {
  expect(initializeParams(backend, "1")).toMatchObject({
    clientCapabilities: session === undefined ? {} : { session },
  });
  expect(JSON.stringify(initializeParams(backend, "1")).includes('"session":')).toBe(session !== undefined);
});

/** As claude-agent-acp 0.101.0 sends them when `rawInputRendering` is declared, and no further capability of AIR. */
const ONLY_IN_THE_INPUT: readonly {
  readonly from: string;
  readonly title: string;
  readonly kind: string;
  readonly rawInput: object;
  readonly shown: readonly string[];
}[] = [
  {
    from: "what a command is for",
    title: "make test",
    kind: "execute",
    rawInput: { command: "make test", description: "Run the tests" },
    shown: ["command: make test", "description: Run the tests"],
  },
  {
    from: "a plan",
    title: "Approve Plan",
    kind: "switch_mode",
    rawInput: { plan: "# Plan", planFilePath: "/home/user/.claude/plans/one.md" },
    shown: ["plan: # Plan", "planFilePath: ~/.claude/plans/one.md"],
  },
  {
    from: "the task of a subagent",
    title: "Small check",
    kind: "think",
    rawInput: { description: "Small check", prompt: "Look around", subagent_type: "general-purpose" },
    shown: ["prompt: Look around"],
  },
  {
    from: "what is asked of a page",
    title: "Fetch https://example.com",
    kind: "fetch",
    rawInput: { url: "https://example.com", prompt: "Which version is it?" },
    shown: ["prompt: Which version is it?"],
  },
];

test.each(ONLY_IN_THE_INPUT)(
  "what stands in the input alone is in the event and in the question: $from",
  ({ title, kind, rawInput, shown }) => {
    const reader = new UpdateReader(claudeBackend, {});
    const call = { toolCallId: "t1", sessionUpdate: "tool_call", title, kind, status: "pending", content: [] };
    reader.read(call);
    const [event] = reader.read({ toolCallId: "t1", sessionUpdate: "tool_call_update", rawInput });
    expect(event).toMatchObject({ type: "tool", title, rawInput });
    const request = readPermissionRequest(
      "s1",
      { toolCall: { toolCallId: "t1", title, rawInput }, options: [] },
      reader.tools,
    );
    const lines = renderQuestion(request, { reason: "", byKey: true }).split("\n");
    expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining([...shown]));
  },
);
