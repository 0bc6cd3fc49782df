import { beforeAll, describe, expect, test } from "vitest";
import { kiroBackend } from "../../src/backends/kiro.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import { call, chunk, end, permission, promptsIn, turns, waitFor } from "../fixtures/agents/scenario.ts";
import { failureOf, play, playEach, start, textsOf } from "../acp/drive.ts";
import type { Played } from "../acp/drive.ts";

const INTERRUPTED = "Tool uses were interrupted, waiting for the next user prompt";

describe("what it makes of its own notifications", () => {
  test.each<{ from: string; method: string; params: Readonly<Record<string, unknown>>; expected: object | undefined }>([
    {
      from: "usage, in percent",
      method: "_kiro.dev/metadata",
      params: { contextUsagePercentage: 41.5 },
      expected: { events: [{ type: "usage", contextUsed: 41.5, contextSize: 100 }] },
    },
    {
      from: "usage out of range",
      method: "_kiro.dev/metadata",
      params: { contextUsagePercentage: 250 },
      expected: { events: [{ type: "usage", contextUsed: 100, contextSize: 100 }] },
    },
    {
      from: "usage below zero",
      method: "_kiro.dev/metadata",
      params: { contextUsagePercentage: -3 },
      expected: { events: [{ type: "usage", contextUsed: 0, contextSize: 100 }] },
    },
    {
      from: "no usage",
      method: "_kiro.dev/metadata",
      params: { contextUsagePercentage: "NaN" },
      expected: { events: [] },
    },
    {
      from: "commands, without their slash",
      method: "_kiro.dev/commands/available",
      params: {
        commands: [{ name: "/model", description: "Choose" }, { name: "plain" }, { description: "nameless" }, 5],
      },
      expected: {
        events: [
          {
            type: "commands",
            commands: [
              { name: "model", description: "Choose" },
              { name: "plain", description: "" },
            ],
          },
        ],
      },
    },
    {
      from: "commands that are no list",
      method: "_kiro.dev/commands/available",
      params: {},
      expected: { events: [{ type: "commands", commands: [] }] },
    },
    {
      from: "compaction, an object",
      method: "_kiro.dev/compaction/status",
      params: { status: { type: "started" } },
      expected: { compaction: { state: "running" } },
    },
    {
      from: "compaction, a word",
      method: "_kiro.dev/compaction/status",
      params: { status: "completed" },
      expected: { compaction: { state: "completed" } },
    },
    {
      from: "compaction, an object with the summary beside it",
      method: "_kiro.dev/compaction/status",
      params: { status: { type: "completed" }, summary: "We spoke of tests." },
      expected: { compaction: { state: "completed", summary: "We spoke of tests." } },
    },
    {
      from: "compaction in a state of tomorrow",
      method: "_kiro.dev/compaction/status",
      params: { status: "paused" },
      expected: {},
    },
    {
      from: "compaction that failed, an object",
      method: "_kiro.dev/compaction/status",
      params: { status: { type: "failed", error: "too short sk-ant-SECRETSECRET1234" } },
      expected: { compaction: { state: "failed", error: "too short [redacted]" } },
    },
    {
      from: "compaction that failed, a word",
      method: "_kiro.dev/compaction/status",
      params: { status: "failed" },
      expected: { compaction: { state: "failed" } },
    },
    {
      from: "another agent",
      method: "_kiro.dev/agent/switched",
      params: { agentName: "planner", previousAgentName: "kiro_default" },
      expected: { mode: "planner", events: [] },
    },
    {
      from: "another agent with a model and a welcome of its own",
      method: "_kiro.dev/agent/switched",
      params: { agentName: "planner", model: "model-b", welcomeMessage: "Let us plan." },
      expected: {
        mode: "planner",
        model: "model-b",
        events: [{ type: "notice", from: "adapter", text: "Let us plan." }],
      },
    },
    {
      from: "a conversation that was cleared",
      method: "_kiro.dev/clear/status",
      params: {},
      expected: { events: [{ type: "notice", from: "adapter", text: "The conversation was cleared" }] },
    },
    {
      from: "the credits of a turn, one entry per model call; other units and wrong amounts are left out",
      method: "_kiro.dev/metadata",
      params: {
        contextUsagePercentage: 8.5,
        meteringUsage: [
          { value: 0.25, unit: "credit", unitPlural: "credits" },
          { value: 0.5, unit: "credit" },
          { value: 7, unit: "token" },
          { value: -3, unit: "credit" },
          { value: "9", unit: "credit" },
          null,
        ],
      },
      expected: {
        events: [
          { type: "usage", contextUsed: 8.5, contextSize: 100 },
          { type: "usage", cost: { amount: 0.75, currency: "credits" } },
        ],
      },
    },
    {
      from: "credits beyond all measure",
      method: "_kiro.dev/metadata",
      params: { meteringUsage: [{ value: 1e300, unit: "credit" }] },
      expected: { events: [{ type: "usage", cost: { amount: 1e9, currency: "credits" } }] },
    },
    {
      from: "an MCP server that waits for a sign-in",
      method: "_kiro.dev/mcp/oauth_request",
      params: { serverName: "tracker", url: "https://id.example/authorize?client=1" },
      expected: {
        once: [
          {
            key: "sign-in tracker",
            text: "The MCP server tracker needs a sign-in: https://id.example/authorize?client=1",
          },
        ],
      },
    },
    {
      from: "the same under its other key",
      method: "_kiro.dev/mcp/oauth_request",
      params: { serverName: "tracker", oauthUrl: "http://127.0.0.1:9/in" },
      expected: {
        once: [{ key: "sign-in tracker", text: "The MCP server tracker needs a sign-in: http://127.0.0.1:9/in" }],
      },
    },
    ...["javascript:alert(1)", "file:///etc/passwd", "https://user:pass@id.example/", "not an address", 5, null].map(
      (url) => ({
        from: `a sign-in at ${url}, which is no address for a person`,
        method: "_kiro.dev/mcp/oauth_request",
        params: { serverName: "tracker", url },
        expected: { once: [] },
      }),
    ),
    {
      from: "an MCP server that did not start",
      method: "_kiro.dev/mcp/server_init_failure",
      params: { serverName: "tracker", error: "spawn failed" },
      expected: { once: [{ key: "failed tracker", text: "The MCP server tracker did not start: spawn failed" }] },
    },
    {
      from: "V3's list of MCP servers",
      method: "_kiro/mcp/status",
      params: {
        servers: [
          { name: "a", status: "connected" },
          { name: "b", status: "connecting", authorizationUrl: "https://id.example/b" },
          { name: "c", status: "failed", errorMessage: "no such file" },
          { status: "failed" },
          7,
        ],
      },
      expected: {
        once: [
          { key: "sign-in b", text: "The MCP server b needs a sign-in: https://id.example/b" },
          { key: "failed c", text: "The MCP server c did not start: no such file" },
        ],
      },
    },
    {
      from: "output of a tool while it runs (V3)",
      method: "_kiro/tools/content_chunk",
      params: { toolCallId: "run_1", content: { type: "content", content: { type: "text", text: "half\n" } } },
      expected: { events: [{ type: "terminal", toolCallId: "run_1", data: "half\n" }] },
    },
    {
      from: "output of no tool",
      method: "_kiro/tools/content_chunk",
      params: { content: { content: { text: "half" } } },
      expected: {},
    },
    {
      from: "the definition of an agent that cannot be read (V3)",
      method: "_kiro/customAgent/config_error",
      params: { path: "/home/user/.kiro/agents/a.md", error: "Error: No front matter found" },
      expected: {
        once: [
          {
            key: "agent ~/.kiro/agents/a.md",
            text: "The agent in ~/.kiro/agents/a.md cannot be used: Error: No front matter found",
          },
        ],
      },
    },
    {
      from: "the list of subagents",
      method: "_kiro.dev/subagent/list_update",
      params: {
        subagents: [
          {
            sessionId: "child-1",
            sessionName: "Reader",
            agentName: "agent-a",
            initialQuery: "Read all of it",
            status: { type: "working", message: "Running" },
          },
          { sessionId: "child-2", agentName: "agent-b", status: { type: "awaitingInstruction" } },
          { sessionId: "child-3", status: { type: "terminated" } },
          { id: "sub-1", name: "written by hand", status: "running" },
          null,
        ],
        pendingStages: [],
      },
      expected: {
        roster: [
          { subagentId: "child-1", state: "running", name: "Reader", task: "Read all of it" },
          { subagentId: "child-2", state: "completed", name: "agent-b" },
          { subagentId: "child-3", state: "completed" },
        ],
      },
    },
    {
      from: "a list of subagents that is none",
      method: "_kiro.dev/subagent/list_update",
      params: { subagents: "all" },
      expected: { roster: [] },
    },
    {
      from: "a rate limit beside the error",
      method: "_kiro.dev/error/rate_limit",
      params: { message: "Slow down sk-ant-SECRETSECRET1234" },
      expected: { events: [{ type: "notice", from: "adapter", text: "Slow down [redacted]" }] },
    },
    {
      from: "a retry of its own",
      method: "_kiro.dev/session/update",
      params: {
        update: { sessionUpdate: "retry_warning", attempt: 2, maxAttempts: 3, delaySecs: 4, message: "Throttled" },
      },
      expected: { events: [{ type: "retry", by: "harness", attempt: 2, of: 3, delayMs: 4000, reason: "Throttled" }] },
    },
    {
      from: "a retry of which nothing is told",
      method: "_kiro.dev/session/update",
      params: { sessionUpdate: "retry_warning" },
      expected: { events: [{ type: "retry", by: "harness", attempt: 1, reason: "Kiro tries again" }] },
    },
    {
      from: "a stall",
      method: "_kiro.dev/session/update",
      params: { update: { sessionUpdate: "stream_stall_notice", message: "No data for 30 s" } },
      expected: { events: [{ type: "notice", from: "adapter", text: "No data for 30 s" }] },
    },
    {
      from: "another model for this turn",
      method: "_kiro.dev/session/update",
      params: { update: { sessionUpdate: "model_fallback", from: "a", to: "b" } },
      expected: { events: [{ type: "notice", from: "adapter", text: "Model fallback: a to b for this turn" }] },
    },
    {
      from: "no other model is left",
      method: "_kiro.dev/session/update",
      params: { update: { sessionUpdate: "model_fallback", from: "a", to: null } },
      expected: { events: [{ type: "notice", from: "adapter", text: "No model is left to fall back to from a" }] },
    },
    {
      from: "an update of tomorrow",
      method: "_kiro.dev/session/update",
      params: { update: { sessionUpdate: "x" } },
      expected: {},
    },
    { from: "a notification of tomorrow", method: "_kiro.dev/tomorrow", params: {}, expected: undefined },
  ])("$from", ({ method, params, expected }) => {
    expect(kiroBackend.readExtension(method, params)).toEqual(expected);
  });

  test.each<{ from: string; kiro: Readonly<Record<string, unknown>>; expected: object }>([
    {
      from: "how full the context is",
      kiro: { kind: "context_usage", usagePercentage: 1.25, breakdown: { tools: { tokens: 4715 } } },
      expected: { events: [{ type: "usage", contextUsed: 1.25, contextSize: 100 }] },
    },
    {
      from: "what the turn cost",
      kiro: { kind: "turn_completion", status: "success", promptTurnSummaries: [{ unit: "credit", usage: 0.5 }] },
      expected: { events: [{ type: "usage", cost: { amount: 0.5, currency: "credits" } }] },
    },
    {
      from: "a turn that cost nothing",
      kiro: { kind: "turn_completion", status: "aborted", promptTurnSummaries: [] },
      expected: { events: [] },
    },
    {
      from: "a summary that begins",
      kiro: { kind: "summarization_started" },
      expected: { compaction: { state: "running" } },
    },
    {
      from: "a summary",
      kiro: { kind: "summarization_completed", conversationSummary: "We spoke of tests.", truncated: false },
      expected: { compaction: { state: "completed", summary: "We spoke of tests." } },
    },
    {
      from: "a summary that failed: the sentence for people, however deep",
      kiro: {
        kind: "summarization_failed",
        cause: { reason: "MODEL_OVERLOADED", inner: { userFacingSessionErrorMessage: "The service is busy" } },
      },
      expected: { compaction: { state: "failed", error: "The service is busy" } },
    },
    {
      from: "a summary that failed: a code as words, a placeholder is none",
      kiro: { kind: "summarization_failed", message: "unknown", cause: { reason: "MODEL_OVERLOADED" } },
      expected: { compaction: { state: "failed", error: "MODEL OVERLOADED" } },
    },
    {
      from: "a summary that failed: words of the summary itself are no reason",
      kiro: { kind: "summarization_failed", conversationSummary: "the error was that" },
      expected: { compaction: { state: "failed" } },
    },
    {
      from: "an error that is shown and ends nothing",
      kiro: { kind: "display_error", message: "Sign in to mcp-a", errorType: "mcp_connection_error" },
      expected: { events: [{ type: "notice", from: "adapter", text: "Sign in to mcp-a" }] },
    },
    { from: "the start of a turn", kiro: { kind: "turn_start", turnStart: true }, expected: {} },
    { from: "a kind of tomorrow", kiro: { kind: "constructor" }, expected: {} },
    { from: "no kind", kiro: { kind: 5 }, expected: {} },
  ])("V3 folds: $from", ({ kiro, expected }) => {
    expect(kiroBackend.readInfo({ sessionUpdate: "session_info_update", _meta: { kiro } })).toEqual(expected);
  });

  const METHODS = [
    "_kiro.dev/metadata",
    "_kiro.dev/session/update",
    "_kiro.dev/commands/available",
    "_kiro.dev/compaction/status",
    "_kiro.dev/clear/status",
    "_kiro.dev/agent/switched",
    "_kiro.dev/error/rate_limit",
    "_kiro.dev/mcp/oauth_request",
    "_kiro.dev/mcp/server_init_failure",
    "_kiro.dev/subagent/list_update",
    "_kiro/system/notify",
    "_kiro/mcp/status",
    "_kiro/customAgent/config_error",
    "_kiro/tools/content_chunk",
  ];
  const KEYS = ["contextUsagePercentage", "meteringUsage", "refusal", "update", "commands", "status", "summary"];
  const MORE_KEYS = ["agentName", "model", "message", "serverName", "url", "error", "subagents", "servers", "path"];
  const JUNK = [
    null,
    5,
    Number.NaN,
    "\u0000\u001b[31m",
    "x".repeat(1_000_000),
    [[]],
    { type: {} },
    [null, 7, { name: [] }],
  ];

  test.each(METHODS)("%s with anything in it: read, bounded and never thrown", (method) => {
    for (const junk of JUNK) {
      const params = Object.fromEntries([...KEYS, ...MORE_KEYS].map((key) => [key, junk]));
      const reading = kiroBackend.readExtension(method, params);
      const { compaction, model, mode, ...rest } = reading ?? {};
      expect(JSON.stringify(rest).length).toBeLessThan(4000);
      expect([compaction, model, mode].every((value) => value === undefined || typeof value !== "number")).toBe(true);
    }
  });

  test("long and dirty fields of a refusal are scrubbed before they are cut", () => {
    const refusal = {
      category: `CYBER\u0007${"c".repeat(100)}`,
      explanation: `sk-ant-SECRETSECRET1234 ${"e".repeat(1000)}`,
      recommendedModel: "m".repeat(500),
    };
    const read = kiroBackend.readExtension("_kiro.dev/metadata", { refusal })?.refusal;
    expect(read?.category).toHaveLength(64);
    expect(read?.category).not.toContain("\u0007");
    expect(read?.explanation).toHaveLength(600);
    expect(read?.explanation.startsWith("[redacted] e")).toBe(true);
    expect(read?.recommendedModel).toHaveLength(128);
  });
});

test.each([
  { args: ["acp"], gate: "asks" },
  { args: ["acp", "--model", "m1"], gate: "asks" },
  { args: ["acp", "--trust-all-tools"], gate: "acts" },
  { args: ["acp", "--trust-tools=fs_read"], gate: "acts" },
  { args: ["acp", "-va"], gate: "acts" },
  { args: ["acp", "-av"], gate: "acts" },
  { args: ["-c", "kiro-cli acp '-va'"], gate: "acts" },
  { args: ["acp", "-v", "--agent", "a"], gate: "asks" },
  { args: ["acp", "-a"], gate: "acts" },
])("started with $args it $gate", ({ args, gate }) => {
  expect(kiroBackend.toolGate(args)).toBe(gate);
});

interface Row {
  readonly from: string;
  readonly turn: readonly Action[];
  readonly outcome: string;
  readonly by?: string;
  readonly kind?: string;
  readonly text?: string;
}

const failedCompaction = (status: Json): Action => call("_kiro.dev/compaction/status", { sessionId: "$S", status });
const ROWS: readonly Row[] = [
  {
    from: "the interrupted-tools text as a whole chunk ends the turn; no result comes",
    turn: [chunk("half"), chunk(INTERRUPTED)],
    outcome: "cancelled",
    by: "harness",
    text: "half",
  },
  {
    from: "with blanks around it",
    turn: [chunk(`\n${INTERRUPTED} `)],
    outcome: "cancelled",
    by: "harness",
  },
  {
    from: "inside other words it is prose",
    turn: [chunk(`It says: ${INTERRUPTED}`), end()],
    outcome: "completed",
    text: `It says: ${INTERRUPTED}`,
  },
  {
    from: "a compaction that failed, followed by silence",
    turn: [failedCompaction({ type: "failed", error: "The conversation is too short" })],
    outcome: "failed",
    kind: "compaction",
  },
  { from: "the same as a word", turn: [failedCompaction("failed")], outcome: "failed", kind: "compaction" },
  {
    from: "one that failed in a turn that goes on",
    turn: [failedCompaction("failed"), chunk("on"), end()],
    outcome: "completed",
    text: "on",
  },
  {
    from: "one that worked",
    turn: [failedCompaction({ type: "completed" }), chunk("ok"), end()],
    outcome: "completed",
    text: "ok",
  },
  { from: "text without ids is its answer", turn: [chunk("a"), chunk("b"), end()], outcome: "completed", text: "ab" },
  {
    from: "a result without a stop reason",
    turn: [chunk("a"), { raw: '{"jsonrpc":"2.0","id":"$P","result":{}}\n' }],
    outcome: "completed",
    text: "a",
  },
];

describe("turns", () => {
  let played: (row: Row) => Played;
  beforeAll(async () => {
    played = await playEach(ROWS, { profile: "kiro", prompt: { timeouts: { idleMs: 2000 } } });
  });

  test.each(ROWS)("$from", (row) => {
    const { outcome, events } = played(row);
    expect({
      outcome: outcome.kind,
      by: outcome.kind === "cancelled" ? outcome.by : undefined,
      kind: failureOf(outcome)?.kind,
      text: outcome.text,
    }).toEqual({ outcome: row.outcome, by: row.by, kind: row.kind, text: row.text ?? "" });
    expect(textsOf(events, "text").join("")).toBe(row.text ?? "");
  });
});

test("the interrupted-tools text of another agent is its answer", async () => {
  const rows = [{ from: "generic", turn: [chunk(INTERRUPTED), end()] }];
  const played = await playEach(rows);
  expect(played({ from: "generic" }).outcome).toMatchObject({ kind: "completed", text: INTERRUPTED });
});

test("a refusal that follows our own cancelled permission is no refusal of the model", async () => {
  const scenario = turns([permission("t1"), { wait: { responseTo: "p1" } }, end("refusal")], [chunk("next"), end()]);
  await using agent = await start(scenario, {
    profile: "kiro",
    permissions: () => Promise.resolve({ action: "cancel", denied: true }),
  });
  const session = await agent.open();
  const { outcome } = await play(session, { retries: 3 });
  expect(outcome).toMatchObject({ kind: "cancelled", by: "harness", denied: ["rm -rf x"] });
  expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
  expect(promptsIn(agent.log)).toHaveLength(2);
});

test("the same of an agent that is not kiro is one", async () => {
  await using agent = await start(turns([permission("t1"), { wait: { responseTo: "p1" } }, end("refusal")]), {
    permissions: () => Promise.resolve({ action: "cancel", denied: true }),
  });
  expect((await play(await agent.open())).outcome).toMatchObject({ kind: "refused", denied: ["rm -rf x"] });
});

test("the session is free after a turn that its own text ended", async () => {
  await using agent = await start(
    turns([chunk(INTERRUPTED), waitFor("session/prompt"), end()], [chunk("next"), end()]),
    {
      profile: "kiro",
    },
  );
  const session = await agent.open();
  await play(session);
  expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
});
