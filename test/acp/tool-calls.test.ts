/** Which MCP server a call belongs to, from the frames of the call alone. */
import { expect, test } from "vitest";
import { ToolCalls } from "../../src/acp/tool-calls.ts";

const call = (more: object) => ({ sessionUpdate: "tool_call", toolCallId: "t1", title: "mcp.title.only", ...more });

test.each<{ from: string; frame: object; server: string | undefined }>([
  {
    from: "codex-acp 2.6.0, an MCP tool",
    frame: call({ kind: "execute", rawInput: { server: "made", tool: "make" }, _meta: { is_mcp_tool_call: true } }),
    server: "made",
  },
  {
    from: "codex-acp 2.6.0, an MCP tool whose server is not told",
    frame: call({ kind: "execute", rawInput: {}, _meta: { is_mcp_tool_call: true } }),
    server: "",
  },
  {
    from: "codex-acp 2.6.0, a command, whatever its input says",
    frame: call({ kind: "execute", rawInput: { server: "made", command: "ls" }, _meta: { is_mcp_tool_call: false } }),
    server: undefined,
  },
  {
    from: "claude-agent-acp 0.101.0, an MCP tool",
    frame: call({ kind: "other", _meta: { claudeCode: { toolName: "mcp__made__make" } } }),
    server: "made",
  },
  ...[
    { kiro: { toolName: "make", mcpServerName: "made" }, server: "made" },
    { kiro: { toolName: "make", mcpServer: "made" }, server: "made" },
    { kiro: { toolName: "make", mcpServer: { name: "made" } }, server: "made" },
    { kiro: { toolName: "make", server: "made" }, server: "made" },
    { kiro: { toolName: "make", serverName: "made" }, server: "made" },
    { kiro: { toolName: "@made/make" }, server: "made" },
    { kiro: { toolId: "mcp__made__make" }, server: "made" },
    { kiro: { toolName: "@made/make", server: "other" }, server: "" },
    { kiro: { toolName: "@made" }, server: "" },
    { kiro: { toolName: "make", server: 7 }, server: "" },
    { kiro: { toolOrigin: "mcp" }, server: "" },
    { kiro: { toolName: "make", isMcp: true }, server: "" },
    { kiro: { toolName: "shell", toolOrigin: "default" }, server: undefined },
  ].map(({ kiro, server }) => ({ from: `kiro: ${JSON.stringify(kiro)}`, frame: call({ _meta: { kiro } }), server })),
  { from: "an agent that nobody knows", frame: call({ _meta: { vendor: { mcp_tool: "x" } } }), server: "" },
  { from: "a title that looks like one", frame: call({ kind: "execute" }), server: undefined },
])("$from", ({ frame, server }) => {
  const calls = new ToolCalls();
  calls.apply({ ...frame });
  expect(calls.get("t1")?.mcpServer).toBe(server);
});
