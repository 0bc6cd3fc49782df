/** What the supervisor saw itself: failures that were judged, exits, turns, and the good turn after them (sections 4.5, 5.5). */
import { describe, expect, test } from "vitest";
import type { Failure } from "../../../src/errors/failure.ts";
import { keyOf, sessionTag } from "../../../src/failures/keys.ts";
import { RUN_ID, SESSION, WatchedRun } from "./watched-run.ts";

const TAG = sessionTag(SESSION);
const PROMPT = keyOf("prompt", "conversation-1");

function failure(more: Partial<Failure>): Failure {
  return {
    id: "t1:error",
    revision: 1,
    kind: "service_error",
    source: "session_failure",
    category: "service",
    severity: "error",
    title: "It broke",
    actions: [],
    retry: "never",
    transient: false,
    replaySafety: "unknown",
    rule: "test",
    ...more,
  };
}

function fails(
  run: WatchedRun,
  more: Partial<Failure>,
  turnId: string | null = "t1",
  sessionId: string | null = SESSION,
) {
  return run.event({ type: "failure", failure: failure(more), sessionId, turnId });
}

describe("a failure that acp judged becomes", () => {
  test.each([
    {
      from: "a record of the harness",
      more: {},
      event: {
        id: `sf:${TAG}:t1:error:1`,
        operation: keyOf("session-failure", SESSION, "t1:error"),
        category: "session",
        sf: { id: "t1:error", revision: 1 },
      },
    },
    {
      from: "a record that asks for a login",
      more: { kind: "auth" },
      event: { id: `sf:${TAG}:t1:error:1`, category: "auth" },
    },
    {
      from: "an error answer to a prompt",
      more: { source: "rpc_error" },
      event: { id: `rpc:${TAG}:7`, operation: PROMPT, category: "model" },
    },
    {
      from: "codex's systemError with a sentence",
      more: { source: "thread_status" },
      event: { id: `rpc:${TAG}:7`, operation: PROMPT, category: "model" },
    },
    {
      from: "case 53: -32000 to a prompt",
      more: { source: "rpc_error", kind: "auth" },
      event: { id: `rpc:${TAG}:7`, operation: PROMPT, category: "auth" },
    },
    {
      from: "a stall in a turn",
      more: { source: "timeout", kind: "timeout" },
      event: { id: `timeout:${TAG}:7`, operation: PROMPT, category: "supervision" },
    },
    {
      from: "a stream that is no protocol",
      more: { source: "framing", kind: "protocol" },
      event: { operation: keyOf("supervision", RUN_ID, "transport"), category: "supervision" },
    },
  ] as const)("$from", ({ more, event }) => {
    const run = new WatchedRun();
    run.event({ type: "turn", state: "started", turnId: "t1", sessionId: SESSION });
    expect(fails(run, more)).toMatchObject([
      {
        kind: "failure",
        summary: "It broke",
        attempt: { startN: 7, endN: 7 },
        evidence: "output.log#byte=7000",
        ...event,
      },
    ]);
    expect(run.labels).toEqual(["Action required"]);
  });

  test.each([
    { from: "session/new refused", more: { source: "rpc_error" }, category: "supervision" },
    { from: "a login that is missing at the start", more: { source: "rpc_error", kind: "auth" }, category: "auth" },
    {
      from: "a program that cannot be started",
      more: { source: "spawn", kind: "agent_spawn" },
      category: "supervision",
    },
    { from: "a handshake past its budget", more: { source: "timeout", kind: "timeout" }, category: "supervision" },
  ] as const)("$from: supervision of the start", ({ more, category }) => {
    const run = new WatchedRun();
    const operation = keyOf("supervision", RUN_ID, "start");
    expect(fails(run, more, null, null)).toMatchObject([{ operation, category }]);
  });

  test.each([
    { from: "an exit, which has an event of its own", more: { source: "exit", kind: "agent_died" } },
    { from: "a warning (case 50)", more: { severity: "warning" } },
  ] as const)("nothing: $from", ({ more }) => {
    expect(fails(new WatchedRun(), more)).toEqual([]);
  });

  test("case 49: revisions of one record are one failure", () => {
    const run = new WatchedRun();
    for (const revision of [1, 2, 3]) fails(run, { revision, title: `Try ${revision}` });
    expect(run.incidents).toMatchObject([{ occurrences: 1, strikes: 1, summary: "Try 3" }]);
    expect(run.events.map(({ id }) => id)).toEqual([1, 2, 3].map((revision) => `sf:${TAG}:t1:error:${revision}`));
  });

  test("a record and the error of the same turn are one incident", () => {
    const run = new WatchedRun();
    fails(run, {});
    expect(fails(run, { source: "rpc_error" })).toEqual([]);
    expect(fails(run, { source: "rpc_error" }, "t2")).toHaveLength(1);
  });

  test("what a replay repeats is not told, then or later", () => {
    const run = new WatchedRun();
    run.out({ id: 7, method: "session/load", params: { sessionId: SESSION, cwd: "/workspace" } });
    expect(fails(run, {}, null)).toEqual([]);
    run.in({ id: 7, result: {} });
    expect(fails(run, {}, null)).toEqual([]);
    expect(fails(run, { revision: 2 }, null)).toHaveLength(1);
  });

  test.each([
    { from: "recording claude-agent-acp 0.101.0 max-tokens", more: { kind: "output_limit" } },
    { from: "the same told to a plain client", more: { kind: "output_limit", source: "rpc_error" } },
    { from: "an answer that is too long for Ostler", more: { kind: "output_limit", source: "framing" } },
    { from: "a filter's no outside the result", more: { kind: "policy_denied" } },
  ] as const)("what makes a turn truncated or refused is a note on the run (section 5.5): $from", ({ more }) => {
    const run = new WatchedRun();
    expect(fails(run, more)).toEqual([]);
  });

  test("a filter's no to a session that is opened is a failure", () => {
    expect(fails(new WatchedRun(), { kind: "policy_denied", source: "rpc_error" }, null)).toMatchObject([
      { category: "supervision" },
    ]);
  });

  test("a title is scrubbed and cut", () => {
    const run = new WatchedRun();
    fails(run, { title: `key sk-ant-REDACTED ${"x".repeat(500)}` });
    expect(run.failures[0]?.summary).toHaveLength(400);
    expect(JSON.stringify(run.events)).not.toContain("abcdefgh12345");
  });
});

describe("turns", () => {
  test("without output and without a reason", () => {
    const run = new WatchedRun();
    run.turn("t1", "empty");
    expect(run.failures).toMatchObject([
      {
        category: "model",
        operation: PROMPT,
        summary: "The turn ended with no output",
        attempt: { startN: 9, endN: 9 },
      },
    ]);
  });

  test("without output for a reason that was told", () => {
    const run = new WatchedRun();
    run.turn("t1", "empty", () => fails(run, {}));
    expect(run.failures.map(({ category }) => category)).toEqual(["session"]);
  });

  test.each(["refused", "truncated", "cancelled", "failed"])("%s: nothing of their own", (outcome) => {
    const run = new WatchedRun();
    run.turn("t1", outcome);
    expect(run.events).toEqual([]);
  });

  test("case 53: the next good turn ends what kept the conversation from going on", () => {
    const run = new WatchedRun();
    fails(run, { source: "rpc_error", kind: "auth" }, null, null);
    run.event({ type: "exited", n: 1, code: 1, signal: null, expected: false });
    run.turn("t1", "failed", () => fails(run, { source: "rpc_error" }));
    run.turn("t2", "completed");
    expect(run.labels).toEqual(["Recovered", "Recovered", "Recovered"]);
  });

  test("a good turn leaves the failures of tools alone", () => {
    const run = new WatchedRun();
    run.start("a", "npm test");
    run.end("a", 1);
    run.turn("t1", "completed");
    expect(run.labels).toEqual(["Unclassified failure observation"]);
  });

  test.each([
    { from: "it failed", outcome: "failed", hasOutput: false },
    { from: "it was refused", outcome: "refused", hasOutput: true },
    { from: "it had no output", outcome: "completed", hasOutput: false },
  ])("a turn recovers nothing when $from", ({ outcome, hasOutput }) => {
    const run = new WatchedRun();
    run.turn("t1", "failed", () => fails(run, {}));
    run.turn("t2", outcome, () => {}, hasOutput);
    expect(run.labels).toEqual(["Action required"]);
  });

  test("a prompt that was sent before the failure recovers nothing, one that was repeated after it does", () => {
    const run = new WatchedRun();
    run.turn("t1", "completed", () => fails(run, {}));
    expect(run.labels).toEqual(["Action required"]);
    expect(run.ignored).toEqual([]);
    run.turn("t2", "completed", () => {
      fails(run, { id: "t2:error" });
      run.prompt();
    });
    expect(run.labels).toEqual(["Recovered", "Recovered"]);
  });

  test("the backend is lost: bare ends of calls say nothing, whatever the answer looked like", () => {
    const run = new WatchedRun();
    run.turn("t1", "failed", () => {
      run.start("a", "npm test");
      run.ended("a", { status: "failed" });
      fails(run, { kind: "agent_died", source: "rpc_error" });
    });
    expect(run.failures.map(({ category }) => category)).toEqual(["model"]);
    expect(run.observer.attempts.byToolCallId("a")?.outcome).toBe("aborted");
  });

  test("the backend is lost: a call that a signal ended before is a failure (section 5.3, rule 5)", () => {
    const run = new WatchedRun();
    run.turn("t1", "failed", () => {
      run.start("a", "npm test");
      run.ended("a", { status: "failed", _meta: { terminal_exit: { exit_code: null, signal: "SIGKILL" } } });
      fails(run, { source: "rpc_error", kind: "agent_died" });
    });
    expect(run.failures).toMatchObject([{ category: "tool", signal: "SIGKILL" }, { category: "model" }]);
  });

  test("a failed turn whose backend lives: bare ends of calls are failures", () => {
    const run = new WatchedRun();
    run.turn("t1", "failed", () => {
      run.start("a", "npm test");
      run.ended("a", { status: "failed" });
      fails(run, { source: "rpc_error" });
    });
    expect(run.failures.map(({ category }) => category)).toEqual(["model", "tool"]);
  });

  test("a turn that was given up without an answer: what is open is waited for, then missing", () => {
    const run = new WatchedRun();
    run.event({ type: "turn", state: "started", turnId: "t1", sessionId: SESSION });
    run.prompt();
    run.start("a", "npm test");
    run.event({ type: "turn", state: "ended", turnId: "t1", sessionId: SESSION, outcome: "failed", hasOutput: false });
    expect(run.observer.settle(run.now + 5000)).toMatchObject([{ kind: "incomplete" }]);
  });
});

describe("an MCP server that Ostler asked for (recording codex-acp 2.6.0 bad-mcp-server)", () => {
  test.each([
    { from: "asked for", servers: ["broken"], category: "supervision" },
    { from: "configured elsewhere", servers: ["other"], category: "tool" },
  ])("$from: $category", ({ servers, category }) => {
    const run = new WatchedRun();
    run.out({
      id: 8,
      method: "session/new",
      params: { cwd: "/workspace", mcpServers: servers.map((name) => ({ name })) },
    });
    run.in({ id: 8, result: { sessionId: "s2" } });
    const toolCallId = "mcp_startup.broken.06d9fc5e";
    const content = [{ type: "content", content: { type: "text", text: "failed to start" } }];
    run.update({ sessionUpdate: "tool_call", toolCallId, kind: "other", status: "failed", content }, "s2");
    expect(run.failures.map((event) => event.category)).toEqual([category]);
  });
});
