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
      expected: { events: [{ type: "notice", from: "adapter", text: "Compaction started" }] },
    },
    {
      from: "compaction, a word",
      method: "_kiro.dev/compaction/status",
      params: { status: "completed" },
      expected: { events: [{ type: "notice", from: "adapter", text: "Compaction completed" }] },
    },
    {
      from: "compaction that failed, an object",
      method: "_kiro.dev/compaction/status",
      params: { status: { type: "failed", error: "too short" } },
      expected: { failure: { kind: "compaction", title: "too short" } },
    },
    {
      from: "compaction that failed, a word",
      method: "_kiro.dev/compaction/status",
      params: { status: "failed" },
      expected: { failure: { kind: "compaction", title: "" } },
    },
    {
      from: "another agent",
      method: "_kiro.dev/agent/switched",
      params: { agentName: "planner", previousAgentName: "kiro_default" },
      expected: { events: [{ type: "mode", modeId: "planner" }] },
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
    played = await playEach(ROWS, { profile: "kiro" });
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
