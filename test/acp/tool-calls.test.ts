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
  {
    from: "seed document 002: to an AIR client claude marks the call as codex does",
    frame: call({ kind: "other", _meta: { is_mcp_tool_call: true, claudeCode: { toolName: "mcp__made__make" } } }),
    server: "made",
  },
  {
    from: "the same, whatever its input says",
    frame: call({
      rawInput: { server: "other" },
      _meta: { is_mcp_tool_call: true, claudeCode: { toolName: "mcp__made__make" } },
    }),
    server: "made",
  },
  {
    from: "the same, in a name that is not certain",
    frame: call({ _meta: { is_mcp_tool_call: true, claudeCode: { toolName: "mcp__ma__de__make" } } }),
    server: "",
  },
  {
    from: "the same, without such a name",
    frame: call({ rawInput: { server: "made" }, _meta: { is_mcp_tool_call: true, claudeCode: { toolName: "make" } } }),
    server: "",
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

type Told = Record<string, unknown>;
const update = (more: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "t1", ...more });
const air = (fields: object) => ({ _meta: { jetbrains: { air: { version: 1, ...fields } } } });
const claude = (fields: object) => ({ _meta: { claudeCode: fields } });
const text = (words: string) => ({ type: "content", content: { type: "text", text: words } });
const diff = (path: string) => ({ type: "diff", path, oldText: "a", newText: "b" });

/** What the last of these frames told of the call. */
function lastOf(frames: readonly object[]): Told {
  const calls = new ToolCalls();
  const told = frames.flatMap((frame) => calls.apply({ ...frame })).filter(({ type }) => type === "tool");
  return { ...told.at(-1) };
}

test.each<{ from: string; frames: object[]; told: Told; not?: string[] }>([
  {
    from: "an absent field is as it was",
    frames: [
      call({ title: "ls", kind: "execute", rawInput: { command: "ls" }, locations: [{ path: "/w" }] }),
      update({ status: "completed" }),
    ],
    told: { title: "ls", kind: "execute", rawInput: { command: "ls" }, paths: ["/w"], status: "completed" },
  },
  {
    from: "ACP: null in an update is a field that is not there",
    frames: [
      call({ title: "ls", kind: "execute", rawInput: { command: "ls" }, rawOutput: "x", content: [text("x")] }),
      update({
        title: null,
        kind: null,
        rawInput: null,
        rawOutput: null,
        content: null,
        locations: null,
        status: null,
      }),
    ],
    told: { title: "ls", kind: "execute", rawInput: { command: "ls" }, rawOutput: "x", status: "pending" },
  },
  {
    from: "a list replaces the one before it",
    frames: [
      call({ content: [text("one"), text("two")], locations: [{ path: "/a" }, { path: "/b" }] }),
      update({ content: [text("three")], locations: [{ path: "/c" }] }),
    ],
    told: { content: [{ type: "text", text: "three" }], paths: ["/c"] },
  },
  {
    from: "an empty list too",
    frames: [call({ content: [text("one")] }), update({ content: [] })],
    told: { content: [] },
  },
  {
    from: "content of every kind, in order; a terminal is told by its output",
    frames: [
      call({
        content: [
          { type: "terminal", terminalId: "t1" },
          text("words"),
          diff("/w/a.txt"),
          { type: "content", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
          { type: "content", content: { type: "resource_link", uri: "file:///w/b", name: "b" } },
          { type: "content", content: { type: "resource", resource: { uri: "file:///w/c", text: "long" } } },
          diff("/w/a.txt"),
          null,
          { type: "content", content: 7 },
          { type: "content", content: { type: "text", text: 7 } },
          { type: "hologram", content: { type: "text", text: "x" } },
        ],
      }),
    ],
    told: {
      content: [
        { type: "text", text: "words" },
        { type: "diff", path: "/w/a.txt" },
        { type: "media", media: "image" },
        { type: "media", media: "resource_link", uri: "file:///w/b" },
        { type: "media", media: "resource", uri: "file:///w/c" },
      ],
    },
  },
  {
    from: "recording claude-agent-acp 0.101.0 plain bash-allow: the input is {} until it is known",
    frames: [call({ rawInput: {} })],
    told: {},
    not: ["rawInput"],
  },
  {
    from: "recording claude-agent-acp 0.101.0 plain bash-allow: a partial input, then the whole one",
    frames: [
      call({ rawInput: {} }),
      update({ rawInput: { command: "touch x" } }),
      update({ rawInput: { command: "touch x", description: "Run" } }),
    ],
    told: { rawInput: { command: "touch x", description: "Run" } },
  },
  {
    from: "AIR: unchanged _meta keys are left out, and stay",
    frames: [
      call({ ...claude({ toolName: "Bash" }), name: "Bash" }),
      update(air({ commandTitle: "Run the tests" })),
      update({ _meta: { jetbrains: { air: { asyncTasks: { backgrounded: true } } } } }),
      update({ status: "completed" }),
    ],
    told: { name: "Bash", commandTitle: "Run the tests", isBackgrounded: true, status: "completed" },
  },
  {
    from: "a client that is not AIR gets every key every time",
    frames: [call(claude({ toolName: "Read" })), update(claude({ toolName: "Read", toolResponse: {} }))],
    told: { name: "Read" },
    not: ["commandTitle", "isBackgrounded", "isSubagent", "skill", "notRun", "parentToolCallId"],
  },
  {
    from: "AIR: skill",
    frames: [call(air({ skill: { name: "pdf", path: "/s" } }))],
    told: { skill: { name: "pdf", path: "/s" } },
  },
  {
    from: "AIR: a skill without a path",
    frames: [call(air({ skill: { name: "pdf" } }))],
    told: { skill: { name: "pdf" } },
  },
  { from: "AIR: subagent", frames: [call(air({ subagent: true }))], told: { isSubagent: true } },
  {
    from: "AIR: values of other types are not said",
    frames: [call(air({ skill: "pdf", subagent: "true", commandTitle: 7, asyncTasks: { backgrounded: "yes" } }))],
    told: {},
    not: ["skill", "isSubagent", "commandTitle", "isBackgrounded"],
  },
  {
    from: "AIR of a version that nobody knows",
    frames: [call({ _meta: { jetbrains: { air: { version: 2, commandTitle: "x", subagent: true } } } })],
    told: {},
    not: ["commandTitle", "isSubagent"],
  },
  {
    from: "recording claude-agent-acp 0.101.0 bash-reject: never ran",
    frames: [call({}), update({ status: "failed", ...claude({ nonExecutionKind: "permission-rule" }) })],
    told: { notRun: "permission-rule", status: "failed" },
  },
  {
    from: "the call of a subagent",
    frames: [call(claude({ toolName: "Read", parentToolUseId: "agent1" })), update({ status: "completed" })],
    told: { parentToolCallId: "agent1" },
  },
  {
    from: "a call is not its own parent",
    frames: [call(claude({ parentToolUseId: "t1" }))],
    told: {},
    not: ["parentToolCallId"],
  },
  {
    from: "the name field before what _meta says",
    frames: [call({ name: "exec_command", ...claude({ toolName: "Bash" }) })],
    told: { name: "exec_command" },
  },
  {
    from: "kiro names the tool in its own namespace",
    frames: [call({ _meta: { kiro: { toolName: "fs_read" } } })],
    told: { name: "fs_read" },
  },
  {
    from: "plain: the beat of an unknown call comes under its parent's id, with the name of the tool that beats",
    frames: [
      call(claude({ toolName: "Agent" })),
      update({ status: "in_progress", ...claude({ toolName: "Bash", toolResponse: { elapsedTimeSeconds: 3 } }) }),
    ],
    told: { toolCallId: "t1", name: "Agent", status: "in_progress" },
  },
  {
    from: "the beat of an unknown call that names its parent is the parent's",
    frames: [
      call({ title: "Look around", status: "in_progress", ...claude({ toolName: "Agent" }) }),
      {
        ...update({ status: "in_progress", ...claude({ toolName: "Bash", parentToolUseId: "t1" }) }),
        toolCallId: "t1-heartbeat-1",
      },
    ],
    told: { toolCallId: "t1", title: "Look around", name: "Agent", status: "in_progress" },
  },
  {
    from: "it does not begin a parent again that has ended",
    frames: [
      call({ status: "completed" }),
      { ...update({ status: "in_progress", ...claude({ parentToolUseId: "t1" }) }), toolCallId: "beat" },
    ],
    told: { toolCallId: "t1", status: "completed" },
  },
  {
    from: "an unknown call that says more than that is a call",
    frames: [call({}), { ...update({ title: "Read a", ...claude({ parentToolUseId: "t1" }) }), toolCallId: "t2" }],
    told: { toolCallId: "t2", title: "Read a", parentToolCallId: "t1" },
  },
  {
    from: "an unknown call that failed is one too",
    frames: [call({}), { ...update({ status: "failed", ...claude({ parentToolUseId: "t1" }) }), toolCallId: "t2" }],
    told: { toolCallId: "t2", status: "failed" },
  },
  {
    from: "a reason that has no other place (seed document 002, ExitPlanMode that was rejected)",
    frames: [call({ kind: "switch_mode" }), update({ status: "failed", rawOutput: "Make it shorter" })],
    told: { status: "failed", rawOutput: "Make it shorter" },
    not: ["content"],
  },
  {
    from: "a status that no version knows",
    frames: [call({ status: "in_progress" }), update({ status: "pondering" })],
    told: { status: "in_progress" },
  },
  {
    from: "a call that is announced again after it ended is a new one",
    frames: [
      call({ status: "failed", rawOutput: { exit_code: 3 }, ...claude({ nonExecutionKind: "user-rejected" }) }),
      call({ status: "pending" }),
    ],
    told: { status: "pending" },
    not: ["exitCode", "rawOutput", "notRun"],
  },
  {
    from: "codex-acp 2.6.0 plain: the exit code of a command without a terminal",
    frames: [call({}), update({ status: "failed", rawOutput: { exit_code: 1 } })],
    told: { exitCode: 1 },
  },
])("merged: $from", ({ frames, told, not = [] }) => {
  const last = lastOf(frames);
  expect(last).toMatchObject(told);
  for (const field of not) expect(last).not.toHaveProperty(field);
});

test("an input that is known stays evidence while an empty one is told as none", () => {
  const calls = new ToolCalls();
  calls.apply(call({ rawInput: {} }));
  expect(calls.get("t1")?.rawInput).toEqual({});
});

test.each<{ from: string; metas: object[]; output: string[] }>([
  {
    from: "terminal_output_delta: pieces (codex-acp 2.6.0 shell-exit3)",
    metas: [{ terminal_output_delta: { data: "one\n" } }, { terminal_output_delta: { data: "two\n" } }],
    output: ["one\n", "two\n"],
  },
  {
    from: "terminal_output: pieces too (codex-acp 2.6.0 to a client with Zed's convention)",
    metas: [{ terminal_output: { data: "one\n" } }, { terminal_output: { data: "two\n" } }],
    output: ["one\n", "two\n"],
  },
  {
    from: "both at once: the same words, said once",
    metas: [{ terminal_output: { data: "one" }, terminal_output_delta: { data: "one" } }],
    output: ["one"],
  },
  {
    from: "mcp_output_delta: a message each",
    metas: [{ mcp_output_delta: { data: "Step 1" } }, { mcp_output_delta: { data: "Step 2\n" } }],
    output: ["Step 1\n", "Step 2\n"],
  },
  {
    from: "an exit without output, empty output, other types",
    metas: [
      { terminal_exit: { exit_code: 0 } },
      { terminal_output_delta: { data: "" } },
      { terminal_output_delta: { data: 7 } },
      { mcp_output_delta: "text" },
    ],
    output: [],
  },
])("output: $from", ({ metas, output }) => {
  const calls = new ToolCalls();
  const events = metas.flatMap((_meta) => calls.apply(update({ _meta })));
  expect(events.flatMap((event) => (event.type === "terminal" ? [event.data] : []))).toEqual(output);
});

test("after the turn only what a permission question needs is kept", () => {
  const calls = new ToolCalls();
  calls.apply(call({ rawInput: { command: "ls" }, rawOutput: "x", content: [text("x")], status: "completed" }));
  calls.forgetRunning();
  const kept = calls.get("t1");
  expect(kept).toMatchObject({ rawInput: { command: "ls" }, status: "completed" });
  expect(kept).not.toHaveProperty("content");
  expect(kept).not.toHaveProperty("rawOutput");
});
