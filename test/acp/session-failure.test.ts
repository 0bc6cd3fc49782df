/** The test cases of the typed-failure contract (its section 9) that need a turn, through real children. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { RpcError } from "../../src/acp/connection.ts";
import { AcpAuthRequired } from "../../src/errors/acp-error.ts";
import { backendFor } from "../../src/backends/registry.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  air,
  chunk,
  end,
  err,
  record,
  recordUpdate,
  reply,
  tool,
  toolUpdate,
  turns,
  update,
} from "../fixtures/agents/scenario.ts";
import { drive, failureOf, inOneWrite, play, playEach, start } from "./drive.ts";
import type { Played } from "./drive.ts";

const UNREADABLE = "The backend reported a failure in a form this version cannot read";
const R = record({ id: "t1:error", title: "x", actions: ["retry"] });
const asWarning = record({ id: "t1:error", title: "x", severity: "warning", actions: ["retry"] });
const titleless = record({ id: "t1:error", title: null, actions: ["retry"] });
const edited: readonly Action[] = [tool("e1", { kind: "edit" }), toolUpdate("e1", { status: "completed" })];

interface TurnRow {
  readonly from: string;
  readonly turn: readonly Action[];
  readonly outcome: string;
  readonly kind?: string;
  readonly text?: string;
  readonly partial?: boolean;
  readonly warnings?: readonly string[];
}

const TURNS: readonly TurnRow[] = [
  { from: "21: no text, terminal R", turn: [end("end_turn", air(R))], outcome: "failed", kind: "service_error" },
  {
    from: "22: text, terminal R",
    turn: [chunk("half"), end("end_turn", air(R))],
    outcome: "failed",
    kind: "service_error",
    text: "half",
    partial: true,
  },
  {
    from: "23: text, async R",
    turn: [recordUpdate(R), chunk("whole"), end()],
    outcome: "completed",
    text: "whole",
    warnings: ["x"],
  },
  {
    from: "23 the other way round",
    turn: [chunk("whole"), recordUpdate(R), end()],
    outcome: "completed",
    text: "whole",
    warnings: ["x"],
  },
  { from: "24: no output, async R", turn: [recordUpdate(R), end()], outcome: "failed", kind: "service_error" },
  {
    from: "25: no output, async warning",
    turn: [recordUpdate(asWarning), end()],
    outcome: "empty",
    warnings: ["x"],
  },
  {
    from: "26: no text but one completed edit, async R",
    turn: [...edited, recordUpdate(R), end()],
    outcome: "completed",
    warnings: ["x"],
  },
  {
    from: "26, a plan",
    turn: [
      update({ sessionUpdate: "plan", entries: [{ content: "a", priority: "low", status: "completed" }] }),
      recordUpdate(R),
      end(),
    ],
    outcome: "completed",
    warnings: ["x"],
  },
  {
    from: "27: terminal warning, no output",
    turn: [end("end_turn", air(asWarning))],
    outcome: "empty",
    warnings: ["x"],
  },
  {
    from: "28: terminal record with title null, no output",
    turn: [end("end_turn", air(titleless))],
    outcome: "empty",
    warnings: [UNREADABLE],
  },
  {
    from: "29: the same with output",
    turn: [chunk("whole"), end("end_turn", air(titleless))],
    outcome: "completed",
    text: "whole",
    warnings: [UNREADABLE],
  },
  {
    from: "30: terminal version 2, no output",
    turn: [end("end_turn", air(R, 2))],
    outcome: "empty",
    warnings: [UNREADABLE],
  },
  {
    from: "30, async version 2, no output: as little to be passed over",
    turn: [update({ sessionUpdate: "session_info_update", _meta: air(R, 2) }), end()],
    outcome: "empty",
    warnings: [UNREADABLE],
  },
  {
    from: "30, async version 2 twice, with output: said once",
    turn: [
      update({ sessionUpdate: "session_info_update", _meta: air(R, 2) }),
      update({ sessionUpdate: "session_info_update", _meta: air(R, 2) }),
      chunk("text"),
      end(),
    ],
    outcome: "completed",
    text: "text",
    warnings: [UNREADABLE],
  },
  {
    from: "31: stop reason cancelled and R",
    turn: [chunk("half"), end("cancelled", air(R))],
    outcome: "cancelled",
    text: "half",
    partial: true,
    warnings: ["x"],
  },
  {
    from: "32: stop reason refusal and async R",
    turn: [recordUpdate(R), end("refusal")],
    outcome: "refused",
    warnings: ["x"],
  },
  {
    from: "33: stop reason refusal and terminal R",
    turn: [end("refusal", air(R))],
    outcome: "refused",
    warnings: ["x"],
  },
  {
    from: "async R, taken back by a higher warning",
    turn: [
      recordUpdate(R),
      recordUpdate(record({ id: "t1:error", revision: 2, severity: "warning", title: "y" })),
      end(),
    ],
    outcome: "empty",
    warnings: ["y"],
  },
  {
    from: "async R, taken back by a lower warning: stale",
    turn: [
      recordUpdate(record({ id: "t1:error", revision: 2, title: "x" })),
      recordUpdate(record({ id: "t1:error", revision: 1, severity: "warning", title: "y" })),
      end(),
    ],
    outcome: "failed",
    kind: "service_error",
  },
  {
    from: "a terminal record that is stale by revision is still this turn's own word",
    turn: [
      recordUpdate(record({ id: "t1:error", revision: 5, severity: "warning", title: "Retrying" })),
      end("end_turn", air(R)),
    ],
    outcome: "failed",
    kind: "service_error",
  },
  {
    from: "a terminal record replaces its own warnings",
    turn: [recordUpdate(asWarning), end("end_turn", air(record({ id: "t1:error", revision: 2, title: "z" })))],
    outcome: "failed",
    kind: "service_error",
  },
  {
    from: "max_tokens alone",
    turn: [chunk("half"), end("max_tokens")],
    outcome: "truncated",
    text: "half",
    partial: true,
  },
  { from: "max_turn_requests alone", turn: [...edited, end("max_turn_requests")], outcome: "truncated" },
  {
    from: "max_tokens and a record that is another failure",
    turn: [chunk("half"), end("max_tokens", air(R))],
    outcome: "failed",
    kind: "service_error",
    text: "half",
    partial: true,
  },
  {
    from: "a record that means the same as max_tokens (recording claude-agent-acp 0.101.0 max-tokens)",
    turn: [
      chunk("half"),
      end(
        "end_turn",
        air(
          record({
            category: "limit",
            title: "Claude's response exceeded the 32000 output token maximum.",
            actions: [],
          }),
        ),
      ),
    ],
    outcome: "truncated",
    kind: "output_limit",
    text: "half",
    partial: true,
  },
  {
    from: "54: a record of a child session, and text",
    turn: [update({ sessionUpdate: "session_info_update", _meta: air(R) }, "child-1"), chunk("whole"), end()],
    outcome: "completed",
    text: "whole",
    warnings: [],
  },
  {
    from: "54: a record of a child session, and nothing",
    turn: [update({ sessionUpdate: "session_info_update", _meta: air(R) }, "child-1"), end()],
    outcome: "empty",
    warnings: [],
  },
  {
    from: "48: a rejection that names its kind, no record",
    turn: [err(-32603, "Internal error", { codexErrorInfo: "usageLimitExceeded" })],
    outcome: "failed",
    kind: "usage_limit",
  },
  {
    from: "a record in error.data",
    turn: [err(-32603, "Internal error", { _meta: air(record({ category: "limit" })) })],
    outcome: "failed",
    kind: "usage_limit",
  },
];

describe("how one turn ends", () => {
  let played: (row: TurnRow) => Played;
  beforeAll(async () => {
    played = await playEach(TURNS);
  });

  test.each(TURNS)("$from", (row) => {
    const { outcome } = played(row);
    const { kind, text = "", partial = false, warnings = [] } = row;
    expect({
      outcome: outcome.kind,
      kind: failureOf(outcome)?.kind,
      text: outcome.text,
      partial: outcome.partial,
      warnings: outcome.warnings.map(({ title }) => title),
      attempts: outcome.attempts,
    }).toEqual({ outcome: row.outcome, kind, text, partial, warnings, attempts: 1 });
  });
});

interface VerdictRow {
  readonly from: string;
  readonly category: string;
  readonly actions: readonly string[];
  readonly title?: string;
  readonly kind: string;
  readonly retry: string;
  readonly needs?: string;
}

const VERDICTS: readonly VerdictRow[] = [
  { from: "row 1, test 39", category: "access", actions: ["login"], kind: "auth", retry: "never", needs: "login" },
  { from: "row 1, test 40", category: "service", actions: ["login"], kind: "auth", retry: "never", needs: "login" },
  {
    from: "row 1, with retry",
    category: "limit",
    actions: ["retry", "login"],
    kind: "auth",
    retry: "never",
    needs: "login",
  },
  { from: "row 2", category: "access", actions: ["retry"], kind: "service_error", retry: "backoff", needs: "human" },
  { from: "row 3", category: "access", actions: [], kind: "auth", retry: "never", needs: "login" },
  {
    from: "row 3, new_session",
    category: "access",
    actions: ["new_session"],
    kind: "auth",
    retry: "never",
    needs: "login",
  },
  {
    from: "row 4, test 41",
    category: "limit",
    actions: ["new_session"],
    kind: "context_overflow",
    retry: "never",
    needs: "new_session",
  },
  {
    from: "row 4, with retry",
    category: "limit",
    actions: ["retry", "new_session"],
    kind: "context_overflow",
    retry: "never",
    needs: "new_session",
  },
  { from: "row 5, test 41", category: "limit", actions: ["retry"], kind: "rate_limit", retry: "backoff" },
  { from: "row 6, test 41", category: "limit", actions: [], kind: "usage_limit", retry: "never", needs: "quota" },
  {
    from: "row 7",
    category: "request",
    actions: ["new_session"],
    kind: "request_rejected",
    retry: "never",
    needs: "new_session",
  },
  { from: "row 8, test 42", category: "request", actions: ["retry"], kind: "request_rejected", retry: "never" },
  { from: "row 8, none", category: "request", actions: [], kind: "request_rejected", retry: "never" },
  {
    from: "row 8a, 413 sent as connection",
    category: "connection",
    actions: ["retry", "new_session"],
    title: "unexpected status 413 Payload Too Large: too big",
    kind: "request_rejected",
    retry: "never",
  },
  {
    from: "row 8a, 402 sent as connection",
    category: "connection",
    actions: ["retry"],
    title: "API Error: 402 insufficient balance",
    kind: "usage_limit",
    retry: "never",
    needs: "quota",
  },
  {
    from: "row 8a, 403 sent as connection",
    category: "connection",
    actions: ["retry"],
    title: "unexpected status 403 Forbidden: no",
    kind: "auth",
    retry: "never",
    needs: "login",
  },
  {
    from: "row 8a, a place that is blocked",
    category: "connection",
    actions: ["retry"],
    title: "unexpected status 403 Forbidden: Access blocked by Cloudflare",
    kind: "request_rejected",
    retry: "never",
  },
  {
    from: "row 8a, 401",
    category: "service",
    actions: ["retry"],
    title: "unexpected status 401 Unauthorized: no",
    kind: "auth",
    retry: "never",
    needs: "login",
  },
  {
    from: "row 8a, 429",
    category: "connection",
    actions: ["retry"],
    title: "unexpected status 429 Too Many Requests: slow",
    kind: "rate_limit",
    retry: "backoff",
  },
  {
    from: "row 8a, 404 of a model",
    category: "service",
    actions: ["retry"],
    title: "API Error: 404 model m9 is gone",
    kind: "model_unavailable",
    retry: "never",
    needs: "human",
  },
  {
    from: "row 8a, 404 of something else",
    category: "service",
    actions: ["retry"],
    title: "API Error: 404 no such path",
    kind: "request_rejected",
    retry: "never",
  },
  {
    from: "row 8a, 400 sent as service",
    category: "service",
    actions: ["retry"],
    title: "API Error: 400 temperature: range is 0..1",
    kind: "request_rejected",
    retry: "never",
  },
  {
    from: "row 8a, 408",
    category: "connection",
    actions: ["retry"],
    title: "unexpected status 408 Request Timeout: slow",
    kind: "network",
    retry: "backoff",
  },
  {
    from: "row 8a, 503 sent as connection: no respawn",
    category: "connection",
    actions: ["retry"],
    title: "unexpected status 503 Service Unavailable: later",
    kind: "service_error",
    retry: "backoff",
  },
  {
    from: "row 8a, a status does not allow what the harness recommends against",
    category: "service",
    actions: [],
    title: "unexpected status 500 Internal Server Error: later",
    kind: "service_error",
    retry: "never",
  },
  { from: "row 9", category: "connection", actions: ["retry"], kind: "agent_died", retry: "after_respawn" },
  {
    from: "rows 9 and 10, test 43, codex",
    category: "connection",
    actions: ["retry", "new_session"],
    kind: "agent_died",
    retry: "after_respawn",
  },
  {
    from: "row 10, test 43, claude",
    category: "connection",
    actions: ["new_session"],
    kind: "agent_died",
    retry: "after_respawn",
  },
  { from: "row 11", category: "connection", actions: [], kind: "agent_died", retry: "never", needs: "human" },
  { from: "row 12", category: "service", actions: ["retry"], kind: "service_error", retry: "backoff" },
  {
    from: "row 13",
    category: "service",
    actions: ["new_session"],
    kind: "service_error",
    retry: "never",
    needs: "new_session",
  },
  { from: "row 14, test 44", category: "service", actions: [], kind: "service_error", retry: "never" },
  { from: "row 15, test 45", category: "unknown", actions: ["retry"], kind: "unknown", retry: "backoff" },
  { from: "row 15, a new word", category: "sandbox_revoked", actions: ["retry"], kind: "unknown", retry: "backoff" },
  {
    from: "row 16",
    category: "unknown",
    actions: ["new_session"],
    kind: "unknown",
    retry: "never",
    needs: "new_session",
  },
  { from: "row 17, test 45", category: "unknown", actions: [], kind: "unknown", retry: "never" },
  { from: "row 17, a new word", category: "toString", actions: [], kind: "unknown", retry: "never" },
  {
    from: "test 49: words of a malformed request",
    category: "service",
    actions: ["retry"],
    title: "Improperly formed request.",
    kind: "malformed_request",
    retry: "never",
    needs: "new_session",
  },
  {
    from: "test 50: transient words of a spent limit",
    category: "limit",
    actions: [],
    title: "The service is overloaded, try again",
    kind: "usage_limit",
    retry: "never",
    needs: "quota",
  },
];

const VERDICT_TURNS = VERDICTS.map((row) => ({
  ...row,
  turn: [
    end("end_turn", air(record({ category: row.category, actions: row.actions, title: row.title ?? "It failed" }))),
  ],
}));

describe("the verdict of a record (section 7.2)", () => {
  let played: (row: VerdictRow) => Played;
  beforeAll(async () => {
    played = await playEach(VERDICT_TURNS);
  });

  test.each(VERDICTS)("$from: $category $actions $title is $kind, $retry", (row) => {
    const failure = failureOf(played(row).outcome);
    expect(failure).toMatchObject({
      kind: row.kind,
      retry: row.retry,
      transient: row.retry !== "never",
      category: row.category,
      actions: row.actions,
      title: row.title ?? "It failed",
    });
    expect(failure?.needs).toBe(row.needs);
  });
});

describe("several turns of one session", () => {
  test.each<{ from: string; first: readonly Action[]; second: readonly Action[]; outcome: string }>([
    {
      from: "34: async R in an answered turn, then an empty one",
      first: [recordUpdate(R), chunk("a"), end()],
      second: [end()],
      outcome: "empty",
    },
    {
      from: "35: async R between the turns",
      first: [chunk("a"), inOneWrite(end(), recordUpdate(R))],
      second: [end()],
      outcome: "empty",
    },
    {
      from: "35, the same record again in the empty turn: nothing new",
      first: [chunk("a"), inOneWrite(end(), recordUpdate(R))],
      second: [recordUpdate(R), end()],
      outcome: "empty",
    },
    {
      from: "36: a higher revision in the second",
      first: [recordUpdate(R), chunk("a"), end()],
      second: [recordUpdate(record({ id: "t1:error", revision: 2, title: "x2", actions: ["retry"] })), end()],
      outcome: "failed",
    },
    {
      from: "a failed turn, then one that works",
      first: [end("end_turn", air(R))],
      second: [chunk("b"), end()],
      outcome: "completed",
    },
  ])("$from: $outcome", async ({ first, second, outcome }) => {
    await using agent = await start(turns(first, second));
    const session = await agent.open();
    await play(session, { retries: 0 });
    const next = await play(session, { retries: 0 });
    expect(next.outcome.kind).toBe(outcome);
    expect(next.outcome.warnings).toEqual([]);
  });

  test("35: what came between the turns reached the failure sink once", async () => {
    await using agent = await start(turns([chunk("a"), inOneWrite(end(), recordUpdate(R))], [chunk("b"), end()]));
    const session = await agent.open();
    await play(session);
    await play(session);
    expect(agent.sunk.map(({ title, severity }) => ({ title, severity }))).toEqual([{ title: "x", severity: "error" }]);
  });
});

describe("a rejected prompt beside a record", () => {
  test("46: -32000 after an async service record is a missing login", async () => {
    const { outcome } = await drive(turns([recordUpdate(R), err(-32000, "Authentication required")]), {
      prompt: { retries: 3 },
    });
    expect(outcome).toMatchObject({ kind: "failed", attempts: 1, failure: { kind: "auth", retry: "never" } });
    expect(outcome.cause).toBeInstanceOf(AcpAuthRequired);
  });

  test("47: -32603 after an async limit is the limit, with the JSON-RPC error as cause", async () => {
    const limit = record({ id: "t1:error", category: "limit", title: "Spent" });
    const { outcome } = await drive(turns([recordUpdate(limit), err(-32603, "Internal error")]), {
      prompt: { retries: 3 },
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      attempts: 1,
      failure: { kind: "usage_limit", source: "rpc_error", category: "limit", retry: "never", needs: "quota" },
    });
    expect(outcome.cause?.cause).toBeInstanceOf(RpcError);
    expect(outcome.cause?.cause).toMatchObject({ code: -32603 });
  });
});

test("39: the ways to sign in that the agent advertised are listed", async () => {
  const scenario = {
    ...turns([end("end_turn", air(record({ category: "access", actions: ["login"] })))]),
    initializeResult: { authMethods: [{ id: "chat-gpt", name: "Sign in with ChatGPT" }, { id: "api-key" }] },
  };
  await using agent = await start(scenario);
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ failure: { kind: "auth" } });
  expect(agent.runtime.authMethods).toEqual([
    { id: "chat-gpt", name: "Sign in with ChatGPT" },
    { id: "api-key", name: "" },
  ]);
});

describe("51: a transient record is not sent again once something happened", () => {
  test.each<{ from: string; before: readonly Action[]; safety: string; prompts: number }>([
    { from: "nothing", before: [], safety: "no_output", prompts: 3 },
    {
      from: "a thought alone",
      before: [update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "h" } })],
      safety: "no_output",
      prompts: 3,
    },
    { from: "text", before: [chunk("half")], safety: "output_seen", prompts: 1 },
    {
      from: "an execute call that completed",
      before: [tool("t1"), toolUpdate("t1", { status: "completed" })],
      safety: "tool_started",
      prompts: 1,
    },
    { from: "a call that was only announced", before: [tool("t1")], safety: "tool_started", prompts: 1 },
    { from: "a read call", before: [tool("t1", { kind: "read" })], safety: "tool_started", prompts: 1 },
  ])("$from: $safety, prompts $prompts", async ({ before, safety, prompts }) => {
    const driven = await drive(turns([...before, end("end_turn", air(R))]), { prompt: { retries: 2 } });
    expect(driven.outcome).toMatchObject({
      kind: "failed",
      attempts: prompts,
      failure: { kind: "service_error", transient: true, replaySafety: safety },
    });
    expect(driven.prompts).toBe(prompts);
  });

  test("a record that says a child died leaves everything open", async () => {
    const lost = record({ category: "connection", actions: ["retry"], title: "Connection to Codex was lost." });
    const driven = await drive(turns([end("end_turn", air(lost))]), { prompt: { retries: 2 } });
    expect(failureOf(driven.outcome)).toMatchObject({ kind: "agent_died", replaySafety: "unknown" });
    expect(driven.prompts).toBe(1);
  });
});

test("52: a title with escapes, a newline, a secret and 10 KB is cleaned, redacted and cut", async () => {
  const title = `\u001B[31mred\u001B[0m\nkey sk-ant-SECRETSECRET1234 ${"x".repeat(10_000)}`;
  const details = `token=sk-ant-SECRETSECRET1234\n${"d".repeat(10_000)}`;
  const { outcome, events } = await drive(turns([end("end_turn", air(record({ title, details })))]));
  const failure = failureOf(outcome);
  expect(failure?.title).toBe(`red key [redacted] ${"x".repeat(380)}…`);
  expect(failure?.title).toHaveLength(400);
  expect(failure?.details).toHaveLength(4000);
  expect(JSON.stringify([outcome, events])).not.toMatch(/SECRETSECRET|\\u001b/);
});

test("53: the usage of a walled turn is recorded", async () => {
  const usage = { inputTokens: 12, outputTokens: 3, cachedReadTokens: 5, totalTokens: 20 };
  const walled = reply({ stopReason: "end_turn", usage, _meta: air(R) });
  const { outcome, events } = await drive(
    turns([update({ sessionUpdate: "usage_update", used: 10, size: 100 }), walled]),
    { prompt: { retries: 0 } },
  );
  expect(outcome).toMatchObject({
    kind: "failed",
    usage: { inputTokens: 12, outputTokens: 3, cachedTokens: 5, byModel: [] },
  });
  expect(events).toContainEqual({ type: "usage", contextUsed: 10, contextSize: 100 });
});

test.each<{ from: string; turn: readonly Action[] }>([
  { from: "terminal", turn: [end("end_turn", air(R))] },
  { from: "async", turn: [recordUpdate(R), end()] },
])("56: $from record of an agent that was not asked for records", async ({ turn }) => {
  const { outcome, log } = await drive(turns(turn), {
    backend: backendFor("agent", { air: false }),
    prompt: { retries: 0 },
  });
  expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "service_error", title: "x" } });
  expect(readFileSync(log, "utf8")).not.toContain("sessionFailure");
});
