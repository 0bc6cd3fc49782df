/** Tool frames from the first word of a call to its end, and what turns and processes leave open. */
import { describe, expect, test } from "vitest";
import { SESSION, WatchedRun, type RunKind } from "./watched-run.ts";

interface Row {
  readonly from: string;
  readonly kind?: RunKind;
  readonly play: (run: WatchedRun) => void;
  /** Summaries of the failures that were told, in their order. */
  readonly told: readonly string[];
}

const content = [{ type: "content", content: { type: "text", text: "```\nNo such file\n```" } }];

function check({ kind, play, told }: Row): void {
  const run = new WatchedRun(kind);
  play(run);
  expect(run.failures.map(({ summary }) => summary)).toEqual(told);
}

describe("attempts (section 5.1)", () => {
  test.each<Row>([
    {
      from: "a call that is created as failed",
      play: (run) =>
        run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "read", status: "failed", content }),
      told: ["read failed: No such file"],
    },
    {
      from: "an update of an unknown call",
      play: (run) => run.ended("a", { kind: "read", status: "failed", content }),
      told: ["read failed: No such file"],
    },
    {
      from: "an end counts once",
      play: (run) => {
        run.start("a", "npm test");
        run.end("a", 1);
        run.end("a", 1);
        run.ended("a", { title: "later" });
      },
      told: ["execute failed with exit code 1: npm test"],
    },
    {
      from: "a known id that ended is used anew",
      play: (run) => {
        for (const code of [1, 1]) {
          run.start("a", "npm test");
          run.end("a", code);
        }
      },
      told: ["execute failed with exit code 1: npm test", "execute failed with exit code 1: npm test"],
    },
    {
      from: "statuses that are no end",
      play: (run) => {
        run.start("a", "npm test");
        for (const status of ["paused", "in_progress", "pending", "running", null]) run.ended("a", { status, content });
      },
      told: [],
    },
    {
      from: "kiro wire notes, section 7: refused",
      play: (run) => {
        run.start("a", "npm test");
        run.ended("a", { status: "refused" });
      },
      told: ["execute was refused by the agent: npm test"],
    },
    {
      from: "a beat of a subagent is no call",
      play: (run) => {
        run.prompt();
        run.start("a", "npm test");
        run.ended("beat", { status: "in_progress", _meta: { claudeCode: { parentToolUseId: "a" } } });
        run.end("a", 0);
        run.take(run.observer.runOver());
      },
      told: [],
    },
    {
      from: "section 12: a frame without the id of its call",
      play: (run) => run.update({ sessionUpdate: "tool_call_update", status: "failed" }),
      told: ["A message about a tool call cannot be read: it names no session or no call"],
    },
    {
      from: "section 12: a status that is no word",
      play: (run) => run.ended("a", { status: 3 }),
      told: ["A message about a tool call cannot be read: its status is no word"],
    },
    {
      from: "kiro V3 marks a replay",
      play: (run) => run.ended("a", { kind: "read", status: "failed", content, _meta: { kiro: { replay: true } } }),
      told: [],
    },
    {
      from: "a compaction is no tool (recording claude-agent-acp 0.101.0 compact-fail)",
      play: (run) => {
        const _meta = { jetbrains: { air: { version: 1, contextCompaction: { version: 1 } } } };
        run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "think", status: "in_progress", _meta });
        run.ended("a", { status: "failed", content });
      },
      told: [],
    },
  ])("$from", check);

  test("the k-th use of an id has an event of its own", () => {
    const run = new WatchedRun();
    for (const code of [1, 2, 3]) {
      run.start("a", "npm test");
      run.end("a", code);
    }
    const [first] = run.failures;
    expect(run.failures.map(({ id, exitCode }) => [id, exitCode])).toEqual([
      [first?.id, 1],
      [`${first?.id}#1`, 2],
      [`${first?.id}#2`, 3],
    ]);
    expect(run.labels).toEqual(["Action required x3"]);
  });

  test("failed, then completed in the same turn: the failure is taken back", () => {
    const run = new WatchedRun();
    run.prompt();
    run.start("a", "npm test");
    run.end("a", 1);
    const events = run.ended("a", { status: "completed", _meta: { terminal_exit: { exit_code: 0 } } });
    expect(events).toMatchObject([{ kind: "recovered", incidents: [run.failures[0]?.id] }]);
    expect(run.labels).toEqual(["Recovered"]);
  });

  test("completed, then failed in the same turn: a failure of its own", () => {
    const run = new WatchedRun();
    run.prompt();
    run.start("a", "npm test");
    run.end("a", 0);
    run.end("a", 1);
    expect(run.failures.map(({ id }) => id)).toEqual([expect.stringMatching(/^tool:[0-9a-f]{8}:a~2$/)]);
  });

  test("after the turn nothing ends differently any more", () => {
    const run = new WatchedRun();
    const prompt = run.prompt();
    run.start("a", "npm test");
    run.end("a", 1);
    run.answer(prompt);
    run.end("a", 0);
    expect(run.labels).toEqual(["Unclassified failure observation"]);
  });

  test("a call that is told within another session is another call", () => {
    const run = new WatchedRun();
    for (const session of [SESSION, "child"]) {
      run.start("a", "npm test", {}, session);
      run.end("a", 1, session);
    }
    const ids = run.failures.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(run.labels).toEqual(["Unclassified failure observation x2"]);
  });
});

describe("names of tools (section 5.1)", () => {
  test.each([
    { tool: "Bash", frame: { name: "x", kind: "execute", _meta: { claudeCode: { toolName: "Bash" } } } },
    { tool: "fs_read", frame: { name: "x", kind: "read", _meta: { kiro: { toolName: "fs_read" } } } },
    { tool: "exec_command", frame: { name: "exec_command", kind: "search" } },
    {
      tool: "mcp__files__read",
      frame: { kind: "execute", rawInput: { server: "files", tool: "read", arguments: {} } },
    },
    { tool: "execute", frame: { kind: "execute", name: "exec_command", rawInput: { command: "ls" } } },
    { tool: "fetch", frame: { kind: "fetch" } },
    { tool: "tool", frame: { title: "Delete everything" } },
  ])("$tool", ({ tool, frame }) => {
    const run = new WatchedRun();
    run.update({ sessionUpdate: "tool_call", toolCallId: "a", status: "failed", content, ...frame });
    expect(run.failures.map((failure) => failure.tool)).toEqual([tool]);
  });
});

const exit = (exit_code: number | null) => ({ terminal_exit: { exit_code, signal: null } });

describe("outcomes (section 5.3)", () => {
  test.each<{ from: string; end: Readonly<Record<string, unknown>>; outcome: string }>([
    { from: "1: cancelled", end: { status: "cancelled" }, outcome: "cancelled" },
    { from: "1: canceled", end: { status: "canceled" }, outcome: "cancelled" },
    { from: "1: before a code", end: { status: "cancelled", _meta: exit(1) }, outcome: "cancelled" },
    {
      from: "1: recording claude-agent-acp 0.101.0 cancel-mid-tool",
      end: { status: "failed", _meta: { ...exit(1), claudeCode: { nonExecutionKind: "user-rejected" } } },
      outcome: "cancelled",
    },
    {
      from: "1: interrupted",
      end: { status: "failed", content, _meta: { claudeCode: { nonExecutionKind: "interrupted" } } },
      outcome: "cancelled",
    },
    {
      from: "2: recording claude-agent-acp 0.101.0 bash-reject",
      end: { status: "failed", content, _meta: { claudeCode: { nonExecutionKind: "permission-rule" } } },
      outcome: "denied",
    },
    { from: "2: refused", end: { status: "refused" }, outcome: "denied" },
    { from: "3", end: { status: "completed", _meta: exit(0) }, outcome: "succeeded" },
    { from: "5: whatever the status says", end: { status: "completed", _meta: exit(1) }, outcome: "failed" },
    {
      from: "5: a signal",
      end: { status: "completed", _meta: { terminal_exit: { exit_code: null, signal: "SIGKILL" } } },
      outcome: "failed",
    },
    { from: "6", end: { status: "failed", content }, outcome: "failed" },
    { from: "6: also with code 0", end: { status: "failed", _meta: exit(0) }, outcome: "failed" },
    { from: "7", end: { status: "completed", _meta: exit(null) }, outcome: "succeeded" },
    {
      from: "7: an error in the text",
      end: { status: "completed", rawOutput: { isError: "true" } },
      outcome: "succeeded",
    },
  ])("$from", ({ end, outcome }) => {
    const run = new WatchedRun();
    run.start("a", "npm test");
    run.ended("a", end);
    expect(run.observer.attempts.byToolCallId("a")?.outcome).toBe(outcome);
    expect(run.failures).toHaveLength(outcome === "failed" || outcome === "denied" ? 1 : 0);
  });

  test.each([
    { answer: "reject_once", outcome: "denied" },
    { answer: "cancelled", outcome: "denied" },
    { answer: "allow_once", outcome: "failed" },
  ] as const)("permission answered $answer: $outcome", ({ answer, outcome }) => {
    const run = new WatchedRun();
    run.start("a", "npm test");
    run.permission("a", answer);
    run.ended("a", { status: "failed", content });
    expect(run.observer.attempts.byToolCallId("a")?.outcome).toBe(outcome);
  });

  test("kiro V3 asks questions in the same way: a question that is not answered denies nothing", () => {
    const run = new WatchedRun();
    run.start("a", "ask");
    const options = [{ optionId: "a-option-1", kind: "allow_once", name: "Red" }];
    run.in({
      id: 5,
      method: "session/request_permission",
      params: { sessionId: SESSION, toolCall: { toolCallId: "a" }, options },
    });
    run.out({ id: 5, result: { outcome: { outcome: "cancelled" } } });
    run.ended("a", { status: "completed" });
    expect(run.observer.attempts.byToolCallId("a")?.outcome).toBe("succeeded");
  });

  test.each([
    { from: "nothing was shown before the refusal", before: {}, remoteOutcome: "not-started" },
    {
      from: "there was output before it",
      before: { _meta: { terminal_output_delta: { data: "half" } } },
      remoteOutcome: "unknown",
    },
    { from: "there was a result before it", before: { rawOutput: { items: [] } }, remoteOutcome: "unknown" },
  ])("refused: $from", ({ before, remoteOutcome }) => {
    const run = new WatchedRun();
    run.start("a", "npm test");
    run.ended("a", before);
    run.permission("a", "reject_once");
    run.ended("a", { status: "failed", rawOutput: "The user said no" });
    expect(run.failures[0]?.permissionBlockers).toMatchObject([{ remoteOutcome }]);
  });

  test.each([
    { kind: "edit", path: "/workspace/a.txt", resource: "project-files" },
    { kind: "edit", path: "/etc/passwd", resource: "outside-project-files" },
    { kind: "delete", path: "b.txt", resource: "project-files" },
    { kind: "fetch", path: "/workspace/a.txt", resource: "network-access" },
    { kind: "read", path: "/workspace/a.txt", resource: "unknown" },
  ])("a refused $kind of $path is about $resource", ({ kind, path, resource }) => {
    const run = new WatchedRun();
    run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind, status: "pending", locations: [{ path }] });
    run.permission("a", "reject_once");
    run.ended("a", { status: "failed" });
    expect(run.failures[0]?.permissionBlockers).toMatchObject([{ resource }]);
  });
});

describe("ends of turns (section 5.4)", () => {
  const bare = { status: "failed" };

  test.each<Row>([
    {
      from: "a cancelled turn takes its calls with it",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.answer(prompt, { stopReason: "cancelled" });
        run.end("a", 1);
        run.take(run.observer.settle(run.now + 60_000));
      },
      told: [],
    },
    {
      from: "a cancel holds for its turn, also when the next prompt waits already (recording cancel-race-next-prompt)",
      play: (run) => {
        run.prompt();
        run.start("a", "npm test");
        run.out({ method: "session/cancel", params: { sessionId: SESSION } });
        run.prompt();
        run.ended("a", { status: "failed", content });
      },
      told: [],
    },
    {
      from: "a cancel says nothing of the turn after it",
      play: (run) => {
        const prompt = run.prompt();
        run.out({ method: "session/cancel", params: { sessionId: SESSION } });
        run.answer(prompt, { stopReason: "cancelled" });
        run.prompt();
        run.start("a", "npm test");
        run.ended("a", { status: "failed", content });
      },
      told: ["execute failed: npm test"],
    },
    {
      from: "recording codex-acp 2.6.0 apply-patch-approval-reject: a refused edit has no end of its own",
      play: (run) => {
        const prompt = run.prompt();
        run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "edit", title: "Editing files" });
        run.permission("a", "reject_once");
        run.answer(prompt, { stopReason: "cancelled" });
      },
      told: ["edit was not allowed by Ostler: Editing files"],
    },
    {
      from: "a bare failure in a turn that goes on is one",
      play: (run) => {
        run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.start("b", "ls");
      },
      told: ["execute failed: npm test"],
    },
    {
      from: "a bare failure is one when its turn ends well",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.answer(prompt);
      },
      told: ["execute failed: npm test"],
    },
    {
      from: "a bare failure with its turn cancelled is none",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.answer(prompt, { stopReason: "cancelled" });
      },
      told: [],
    },
    {
      from: "codex-acp 2.6.0 lost its backend: 1001",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.in({ id: prompt, error: { code: 1001, message: "The Codex app-server was killed" } });
      },
      told: [],
    },
    {
      from: "a record of category connection",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.answer(prompt, { stopReason: "end_turn", _meta: record("connection") });
      },
      told: [],
    },
    {
      from: "a record of category service says nothing of the calls",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", bare);
        run.answer(prompt, { stopReason: "end_turn", _meta: record("service") });
      },
      told: ["execute failed: npm test"],
    },
    {
      from: "what had output failed on its own, also when the backend is lost",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "npm test");
        run.ended("a", { status: "failed", content });
        run.in({ id: prompt, error: { code: 1001, message: "gone" } });
      },
      told: ["execute failed: npm test"],
    },
    {
      from: "the process dies: its exit stands for what it left open",
      play: (run) => {
        run.prompt();
        run.start("a", "npm test");
        run.start("b", "ls");
        run.ended("b", bare);
        run.event({ type: "exited", n: 1, code: null, signal: "SIGKILL", expected: false });
      },
      told: ["The agent ended by SIGKILL"],
    },
    {
      from: "a background task outlives its turn",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "sleep 9");
        run.ended("a", { _meta: { jetbrains: { air: { asyncTasks: { backgrounded: true } } } } });
        run.answer(prompt);
        run.take(run.observer.settle(run.now + 60_000));
        run.end("a", 1);
      },
      told: ["execute failed with exit code 1: sleep 9"],
    },
    {
      from: "a background task that Ostler ends (recording codex-acp 2.6.0 async-task-stop)",
      play: (run) => {
        const prompt = run.prompt();
        run.start("a", "sleep 9");
        run.update({ sessionUpdate: "async_task_spawned", asyncTaskId: "task", toolCallId: "a" });
        run.answer(prompt);
        run.out({ id: 9, method: "_session/async_task/stop", params: { sessionId: SESSION, asyncTaskId: "task" } });
        run.end("a", -1);
      },
      told: [],
    },
    {
      from: "a subagent may go on (kind think)",
      play: (run) => {
        const prompt = run.prompt();
        run.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "think", status: "in_progress" });
        run.answer(prompt);
        run.take(run.observer.settle(run.now + 60_000));
      },
      told: [],
    },
  ])("$from", check);

  test("a call without a result is waited for, 5 s long", () => {
    const run = new WatchedRun();
    const prompt = run.prompt();
    run.start("a", "npm test");
    run.answer(prompt);
    const endedAt = run.now;
    expect(run.observer.dueAt).toBe(endedAt + 5000);
    expect(run.observer.settle(endedAt + 4999)).toEqual([]);
    expect(run.take(run.observer.settle(endedAt + 5000))).toMatchObject([
      {
        id: "gap:scan:7",
        kind: "incomplete",
        category: "observation-incomplete",
        summary: "execute has no result: its turn ended without one: npm test",
        at: endedAt,
        evidence: "output.log#byte=8000",
        attempt: { toolCallId: "a", startN: 7, endN: 8 },
      },
    ]);
    expect(run.observer.dueAt).toBeUndefined();
    expect(run.observer.settle(endedAt + 90_000)).toEqual([]);
    expect(run.labels).toEqual(["Observation incomplete"]);
  });

  test("an end within the 5 s counts as any other (kiro wire notes, section 7)", () => {
    const run = new WatchedRun();
    const prompt = run.prompt();
    run.start("a", "npm test");
    run.answer(prompt);
    run.end("a", 0);
    expect(run.observer.settle(run.now + 60_000)).toEqual([]);
    expect(run.failures).toEqual([]);
  });

  test("a later line says that the time is over as well as a timer does", () => {
    const run = new WatchedRun();
    const prompt = run.prompt();
    run.start("a", "npm test");
    run.answer(prompt);
    const events = run.line({ d: "err", text: "still here" }, 6000);
    expect(events).toMatchObject([{ kind: "incomplete" }]);
  });

  test("a process that Ostler ends leaves no time to wait", () => {
    const run = new WatchedRun();
    const prompt = run.prompt();
    run.start("a", "npm test");
    run.answer(prompt);
    const events = run.event({ type: "exited", n: 1, code: 0, signal: null, expected: true });
    expect(events).toMatchObject([{ id: "gap:scan:7" }]);
  });
});

function record(category: string): unknown {
  const sessionFailure = { id: "t:error", revision: 1, category, severity: "error", title: "Lost", actions: [] };
  return { jetbrains: { air: { version: 1, sessionFailure } } };
}
