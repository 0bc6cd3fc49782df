/** Calls of Ostler's own tools: seen first-hand, and told by the harness once more (section 5.6). */
import { describe, expect, test } from "vitest";
import { RUN_ID, WatchedRun } from "./watched-run.ts";

const INPUT = { command: "npm test", cwd: "/workspace" };
const ended = { signal: null, timedOut: false, cancelled: false };

/** The frames that a harness sends for the same call. */
const HARNESSES = [
  {
    harness: "claude-agent-acp",
    call: {
      kind: "other",
      _meta: { claudeCode: { toolName: "mcp__ostler__run" } },
      rawInput: { command: "npm test", attemptId: "one" },
    },
  },
  {
    harness: "codex-acp",
    call: {
      kind: "execute",
      _meta: { is_mcp_tool_call: true },
      rawInput: { server: "ostler", tool: "run", arguments: { command: "npm test", attemptId: "one" } },
    },
  },
  {
    harness: "kiro-cli",
    call: {
      kind: "execute",
      _meta: { kiro: { toolName: "@ostler/run" } },
      rawInput: { command: "npm test", attemptId: "one" },
    },
  },
] as const;

describe.each(HARNESSES)("$harness", ({ call }) => {
  function begins(run: WatchedRun, toolCallId: string): void {
    run.update({ sessionUpdate: "tool_call", toolCallId, status: "in_progress", ...call });
  }

  test("tells of a call that was served: it counts once", () => {
    const run = new WatchedRun({ trusted: true });
    begins(run, "h1");
    // The frame came first: the id must not count as spent by it.
    expect(run.observer.attempts.isSpent("one")).toBe(false);
    run.event({ type: "call", state: "started", callId: "c1", tool: "run", input: { ...INPUT, attemptId: "one" } });
    run.event({ type: "call", state: "ended", callId: "c1", tool: "run", exitCode: 1, ...ended });
    run.ended("h1", { status: "failed", rawOutput: "exit code 1" });
    expect(run.failures).toMatchObject([
      {
        tool: "run",
        exitCode: 1,
        attempt: { toolCallId: "c1", attemptId: "one" },
        summary: "run failed with exit code 1: npm test",
      },
    ]);
  });

  test("under the exact rule it counts once as well, and what it declared does not count", () => {
    const run = new WatchedRun({ trusted: false });
    run.out({ id: 90, method: "session/new", params: { cwd: "/workspace", mcpServers: [{ name: "ostler" }] } });
    begins(run, "h1");
    const input = { ...INPUT, attemptId: "one", operationId: "tests", expectedExitCodes: [1] };
    run.event({ type: "call", state: "started", callId: "c1", tool: "run", input });
    run.event({ type: "call", state: "ended", callId: "c1", tool: "run", exitCode: 1, ...ended });
    run.ended("h1", { status: "failed", rawOutput: "exit code 1" });
    run.event({ type: "call", state: "started", callId: "c2", tool: "run", input: { ...INPUT, operationId: "tests" } });
    run.event({ type: "call", state: "ended", callId: "c2", tool: "run", exitCode: 0, ...ended });
    expect(run.failures).toMatchObject([{ tool: "run", exitCode: 1, attempt: { toolCallId: "c1" } }]);
    expect(run.failures[0]).not.toHaveProperty("expected", true);
    expect(run.labels).toEqual(["Unclassified failure observation"]);
  });

  test("did not let a call through: an ordinary failure", () => {
    const run = new WatchedRun({ trusted: true });
    begins(run, "h1");
    run.ended("h1", { status: "failed", rawOutput: "The user said no" });
    expect(run.failures).toMatchObject([{ category: "tool", attempt: { toolCallId: "h1" } }]);
  });

  test("tells of a call that was refused: its own observation counts", () => {
    const run = new WatchedRun({ trusted: true });
    begins(run, "h1");
    const refused = { input: INPUT, by: "intent", reason: "attemptId was used before", attemptId: "one" } as const;
    run.event({ type: "call", state: "refused", callId: "c1", tool: "run", ...refused });
    run.ended("h1", { status: "failed", rawOutput: "refused" });
    expect(run.failures.map(({ category }) => category)).toEqual(["rejected-intent"]);
  });

  test("an open call at the end of a turn is no missing result", () => {
    const run = new WatchedRun({ trusted: true });
    const prompt = run.prompt();
    begins(run, "h1");
    run.answer(prompt);
    expect(run.observer.settle(run.now + 60_000)).toEqual([]);
  });
});

test("an untrusted run has no such server: whoever calls itself ostler is one of many", () => {
  const run = new WatchedRun();
  const [{ call }] = HARNESSES;
  run.event({ type: "call", state: "started", callId: "c1", tool: "run", input: INPUT });
  run.update({ sessionUpdate: "tool_call", toolCallId: "h1", status: "failed", ...call, rawOutput: "no" });
  expect(run.failures).toMatchObject([{ tool: "mcp__ostler__run" }]);
});

test("a refused disposition is no failure", () => {
  const run = new WatchedRun({ trusted: true });
  const _meta = { claudeCode: { toolName: "mcp__ostler__failure_disposition" } };
  run.update({ sessionUpdate: "tool_call", toolCallId: "h1", kind: "other", rawInput: { targets: ["x"] }, _meta });
  run.event({ type: "disposition", callId: "c1", sessionId: "session-1", request: {}, accepted: false });
  run.ended("h1", { status: "failed", rawOutput: "Nothing was recorded" });
  expect(run.events).toEqual([]);
});

test.each([
  { from: "an exit code", end: { exitCode: 3 }, summary: "run failed with exit code 3: npm test" },
  { from: "a signal", end: { exitCode: null, signal: "SIGSEGV" }, summary: "run was ended by SIGSEGV: npm test" },
  { from: "a timeout", end: { exitCode: null, timedOut: true }, summary: "run took too long and was ended: npm test" },
  { from: "no start", end: { exitCode: null, problem: "no such file" }, summary: "run failed: npm test" },
])("a call that ended with $from", ({ end, summary }) => {
  const run = new WatchedRun({ trusted: true });
  run.event({ type: "call", state: "started", callId: "c1", tool: "run", input: INPUT });
  run.event({ type: "call", state: "ended", callId: "c1", tool: "run", ...ended, ...end });
  expect(run.failures.map((failure) => failure.summary)).toEqual([summary]);
});

test("a call that was stopped with its turn is nothing", () => {
  const run = new WatchedRun({ trusted: true });
  run.event({ type: "call", state: "started", callId: "c1", tool: "run", input: INPUT });
  run.event({ type: "call", state: "ended", callId: "c1", tool: "run", exitCode: null, ...ended, cancelled: true });
  expect(run.events).toEqual([]);
  expect(run.observer.attempts.byToolCallId("c1")?.outcome).toBe("cancelled");
});

test("a call that policy or a person refused: denied, and first-hand evidence", () => {
  const run = new WatchedRun({ trusted: true });
  const refused = { input: { ...INPUT, operationId: "u" }, by: "permission", reason: "no" } as const;
  run.event({ type: "call", state: "refused", callId: "c1", tool: "run", ...refused });
  expect(run.failures).toMatchObject([
    {
      category: "tool",
      summary: "run was not allowed by Ostler: npm test",
      permissionBlockers: [{ resource: "command-execution", basis: "policy-refusal", remoteOutcome: "not-started" }],
    },
  ]);
  expect(run.observer.attempts.operationOf("u")).toBe(run.failures[0]?.operation);
  // Allowed the next time, it recovers.
  run.event({ type: "call", state: "started", callId: "c2", tool: "run", input: { ...INPUT, operationId: "u" } });
  run.event({ type: "call", state: "ended", callId: "c2", tool: "run", exitCode: 0, ...ended });
  expect(run.labels).toEqual(["Recovered"]);
});

test("an attempt is found by what it declared, with what a disposition needs", () => {
  const run = new WatchedRun({ trusted: true });
  const input = { ...INPUT, attemptId: "one", operationId: "u" };
  run.event({ type: "call", state: "started", callId: "c1", tool: "run", input });
  expect(run.observer.attempts.byAttemptId("one")).toMatchObject({ outcome: "running", startN: 6 });
  run.event({ type: "call", state: "ended", callId: "c1", tool: "run", exitCode: 0, ...ended });
  const fact = run.observer.attempts.byAttemptId("one");
  expect(fact).toEqual({
    sessionId: RUN_ID,
    toolCallId: "c1",
    attemptId: "one",
    operationId: "u",
    operation: run.observer.attempts.operationOf("u"),
    startN: 6,
    endN: 7,
    outcome: "succeeded",
  });
  expect(run.observer.attempts.byToolCallId("c1")).toEqual(fact);
  expect(run.observer.attempts.byToolCallId("unknown")).toBeUndefined();
});
