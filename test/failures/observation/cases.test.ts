/** The cases of failure observations, section 15, that are decided by what is observed: as frames of a run. */
import { expect, test } from "vitest";
import { RUN_ID, SESSION, WatchedRun, type RunKind } from "./watched-run.ts";

const UNCLASSIFIED = "Unclassified failure observation";
const ACTION = "Action required";

interface Case {
  readonly from: string;
  readonly kind?: RunKind;
  readonly play: (run: WatchedRun) => void;
  /** In the order in which the incidents were opened. */
  readonly labels: readonly string[];
}

const T: RunKind = { trusted: true };

/** A failed call and its end, at once. */
function fails(run: WatchedRun, id: string, command = "npm test", code = 1): void {
  run.start(id, command);
  run.end(id, code);
}

function passes(run: WatchedRun, id: string, command = "npm test"): void {
  fails(run, id, command, 0);
}

/** A call of Ostler's own `run` tool. */
function runs(run: WatchedRun, callId: string, exitCode: number, input: object = {}, more: object = {}): void {
  const command = { command: "npm test", cwd: "/workspace", ...input };
  run.event({ type: "call", state: "started", callId, tool: "run", input: command });
  const end = { exitCode, signal: null, timedOut: false, cancelled: false, ...more };
  run.event({ type: "call", state: "ended", callId, tool: "run", ...end });
}

const CASES: readonly Case[] = [
  { from: "case 1", play: (run) => fails(run, "a"), labels: [UNCLASSIFIED] },
  {
    from: "case 2",
    play: (run) => {
      fails(run, "a");
      passes(run, "b", "pwd");
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 3",
    play: (run) => {
      fails(run, "a");
      passes(run, "b");
    },
    labels: ["Recovered"],
  },
  {
    from: "case 4",
    play: (run) => {
      run.start("p", "npm test");
      fails(run, "a");
      run.end("p", 0);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 5",
    play: (run) => {
      run.start("p", "npm test");
      fails(run, "a");
      run.end("p", 0);
      passes(run, "r");
    },
    labels: ["Recovered"],
  },
  {
    from: "case 6",
    play: (run) => {
      run.start("a", "npm test", { cwd: "/workspace/a" });
      run.end("a", 1);
      run.start("b", "npm test", { cwd: "/workspace/b" });
      run.end("b", 0);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 6, the folder of another session",
    play: (run) => {
      run.open("session-2", "/elsewhere");
      fails(run, "a");
      run.start("b", "npm test", {}, "session-2");
      run.end("b", 0, "session-2");
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 7",
    play: (run) => {
      run.start("a", "npm test", { timeout: 1000 });
      run.end("a", 1);
      run.start("b", "npm test", { timeout: 2000 });
      run.end("b", 0);
    },
    labels: [UNCLASSIFIED],
  },
  { from: "case 8", play: reworded, labels: ["Recovered"] },
  { from: "case 8, strict", kind: { strict: true }, play: reworded, labels: [UNCLASSIFIED] },
  {
    from: "case 8, kiro's purpose of another tool",
    play: (run) => {
      for (const [id, purpose, status] of [
        ["a", "look", "failed"],
        ["b", "look again", "completed"],
      ] as const) {
        const rawInput = { path: "/workspace/x", __tool_use_purpose: purpose };
        run.update({
          sessionUpdate: "tool_call",
          toolCallId: id,
          kind: "read",
          status,
          rawInput,
          content: [text("x")],
        });
      }
    },
    labels: ["Recovered"],
  },
  {
    from: "case 8: the description of another tool is an argument",
    play: (run) => {
      for (const [id, description, status] of [
        ["a", "one", "failed"],
        ["b", "two", "completed"],
      ] as const) {
        const rawInput = { path: "/workspace/x", description };
        run.update({
          sessionUpdate: "tool_call",
          toolCallId: id,
          kind: "other",
          status,
          rawInput,
          content: [text("x")],
        });
      }
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 9",
    play: (run) => ["a", "b", "c"].forEach((id) => fails(run, id)),
    labels: [`${ACTION} x3`],
  },
  {
    from: "case 10",
    play: (run) => {
      fails(run, "a");
      fails(run, "b");
      passes(run, "c");
      fails(run, "d");
    },
    labels: ["Recovered x2", UNCLASSIFIED],
  },
  {
    from: "case 13",
    kind: T,
    play: (run) => {
      runs(run, "1", 1, { command: "npm test", operationId: "u" });
      runs(run, "2", 0, { command: "npm test -- one", operationId: "u" });
    },
    labels: ["Recovered"],
  },
  {
    from: "case 13, through the harness's own shell",
    kind: T,
    play: (run) => {
      run.start("a", "npm test", { operationId: "u" });
      run.end("a", 1);
      run.start("b", "npm test -- one", { operationId: "u" });
      run.end("b", 0);
    },
    labels: ["Recovered"],
  },
  {
    from: "case 14",
    play: (run) => {
      run.start("a", "npm test", { operationId: "u" });
      run.end("a", 1);
      run.start("b", "npm test -- one", { operationId: "u" });
      run.end("b", 0);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 15",
    kind: T,
    play: (run) => {
      runs(run, "1", 1, { operationId: "u" });
      runs(run, "2", 0);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 15, the reverse",
    kind: T,
    play: (run) => {
      runs(run, "1", 1);
      runs(run, "2", 0, { operationId: "u" });
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "section 4.2: an attemptId is no argument",
    kind: T,
    play: (run) => {
      runs(run, "1", 1, { attemptId: "first" });
      runs(run, "2", 0, { attemptId: "second" });
    },
    labels: ["Recovered"],
  },
  {
    from: "section 4.2: in an untrusted run it is one",
    play: (run) => {
      run.start("a", "npm test", { attemptId: "first" });
      run.end("a", 1);
      run.start("b", "npm test", { attemptId: "second" });
      run.end("b", 0);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "section 4.2: an explicit null is absent",
    play: (run) => {
      run.start("a", "npm test", { operationId: null, attemptId: null, expectedExitCodes: null });
      run.end("a", 1);
      passes(run, "b");
    },
    labels: ["Recovered"],
  },
  {
    from: "case 16",
    kind: T,
    play: (run) => runs(run, "1", 1, { command: "rg x", expectedExitCodes: [1] }),
    labels: ["Expected failure"],
  },
  {
    from: "case 16, untrusted, through the harness's shell",
    play: (run) => {
      run.start("a", "rg x", { expectedExitCodes: [1] });
      run.end("a", 1);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 17",
    kind: T,
    play: (run) => runs(run, "1", 2, { command: "rg x", expectedExitCodes: [1] }),
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 18",
    kind: T,
    play: (run) => runs(run, "1", 1, { expectedExitCodes: [1] }, { signal: "SIGTERM", timedOut: true }),
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 18, timed out without a signal",
    kind: T,
    play: (run) => runs(run, "1", 1, { expectedExitCodes: [1] }, { timedOut: true }),
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 19",
    kind: { trusted: true, air: true },
    play: (run) => claudeBash(run, { expectedExitCodes: [1] }),
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 19, a client that is not AIR is told the real code",
    kind: T,
    play: (run) => claudeBash(run, { expectedExitCodes: [1] }),
    labels: ["Expected failure"],
  },
  { from: "case 20", play: (run) => kiroEnds(run, "exit status: 127"), labels: [UNCLASSIFIED] },
  { from: "case 21", play: (run) => kiroEnds(run, "exit status: 0"), labels: [] },
  {
    from: "case 22",
    play: (run) => {
      run.start("a", "npm test");
      run.ended("a", { status: "completed", content: [text("Command exited with code 2")] });
    },
    labels: [],
  },
  {
    from: "case 23",
    play: (run) => {
      run.start("a", "curl");
      run.ended("a", { status: "completed", rawOutput: { code: 500 } });
    },
    labels: [],
  },
  {
    from: "case 28",
    kind: T,
    play: (run) => {
      for (const callId of ["1", "2", "3"]) {
        const refused = { input: { command: "npm test", expectedExitCodes: [] }, by: "intent", reason: "no" } as const;
        run.event({ type: "call", state: "refused", callId, tool: "run", ...refused });
      }
    },
    labels: [UNCLASSIFIED, UNCLASSIFIED, UNCLASSIFIED],
  },
  {
    from: "case 39, as frames",
    kind: T,
    play: (run) => {
      runs(run, "1", 1, { expectedExitCodes: [1] });
      runs(run, "2", 2, { expectedExitCodes: [1] });
    },
    labels: ["Expected failure", UNCLASSIFIED],
  },
  {
    from: "case 40",
    kind: T,
    play: (run) => {
      runs(run, "1", 2, { expectedExitCodes: [1] });
      runs(run, "2", 2, { expectedExitCodes: [1] });
      runs(run, "3", 1, { expectedExitCodes: [1] });
    },
    labels: [`${UNCLASSIFIED} x3`],
  },
  {
    from: "case 43",
    play: (run) => {
      run.prompt();
      run.start("a", "npm test");
      run.out({ method: "session/cancel", params: { sessionId: SESSION } });
      run.ended("a", { status: "failed", content: [text("stopped")] });
    },
    labels: [],
  },
  {
    from: "case 43, of a child session",
    play: (run) => {
      run.prompt();
      run.start("a", "npm test", {}, "child");
      run.out({ method: "session/cancel", params: { sessionId: SESSION } });
      run.ended("a", { status: "failed", content: [text("stopped")] }, "child");
    },
    labels: [],
  },
  {
    from: "case 43: an exit code that came nevertheless counts",
    play: (run) => {
      run.prompt();
      run.start("a", "npm test");
      run.out({ method: "session/cancel", params: { sessionId: SESSION } });
      run.end("a", 1);
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 44",
    play: (run) => {
      run.prompt();
      run.start("a", "npm test");
      run.permission("a", "reject_once");
      run.ended("a", { status: "failed" });
    },
    labels: [UNCLASSIFIED],
  },
  {
    from: "case 47",
    play: (run) => {
      const permissionBlockers = [{ version: 1, kind: "permission-blocker" }];
      run.start("a", "npm test");
      run.ended("a", { status: "completed", rawOutput: { permissionBlockers } });
    },
    labels: [],
  },
  {
    from: "case 51",
    play: (run) => {
      run.prompt();
      run.start("a", "npm test");
      run.event({ type: "exited", n: 1, code: 137, signal: null, expected: false });
    },
    labels: [ACTION],
  },
  {
    from: "case 52",
    play: (run) => {
      run.turn("t1", "completed");
      run.event({ type: "exited", n: 1, code: 0, signal: null, expected: true });
    },
    labels: [],
  },
  {
    from: "case 75",
    play: (run) => {
      fails(run, "constructor");
      fails(run, "__proto__", "other");
      passes(run, "toString");
    },
    labels: ["Recovered", UNCLASSIFIED],
  },
  {
    from: "case 76",
    play: (run) => {
      run.out({ id: 7, method: "session/load", params: { sessionId: "old", cwd: "/workspace" } });
      run.start("a", "npm test", {}, "old");
      run.end("a", 1, "old");
      run.start("open", "npm run long", {}, "old");
      run.in({ id: 7, result: {} });
      run.prompt("old");
      run.answer(7);
    },
    labels: [],
  },
];

test.each(CASES)("$from", ({ kind, play, labels }) => {
  const run = new WatchedRun(kind);
  play(run);
  run.take(run.observer.runOver());
  expect(run.labels).toEqual(labels);
  expect(run.ignored).toEqual([]);
});

test("a success of a tool that failed later than another is looked at as well", () => {
  const run = new WatchedRun();
  fails(run, "a");
  passes(run, "b", "ls");
  const read = { kind: "read", rawInput: { path: "/workspace/x" }, content: [text("x")] };
  for (const [toolCallId, status] of [
    ["c", "failed"],
    ["d", "completed"],
  ]) {
    run.update({ sessionUpdate: "tool_call", toolCallId, status, ...read });
  }
  expect(run.labels).toEqual([UNCLASSIFIED, "Recovered"]);
});

test("case 44: what Ostler refused is first-hand evidence", () => {
  const run = new WatchedRun();
  run.prompt();
  run.start("a", "npm test");
  run.permission("a", "reject_once");
  run.ended("a", { status: "failed" });
  expect(run.failures).toMatchObject([
    {
      id: expect.stringMatching(/^tool:[0-9a-f]{8}:a$/),
      category: "tool",
      tool: "execute",
      summary: "execute was not allowed by Ostler: npm test",
      evidence: "output.log#byte=10000",
      permissionBlockers: [
        {
          version: 1,
          kind: "permission-blocker",
          context: "worker",
          resource: "command-execution",
          basis: "policy-refusal",
          operation: run.failures[0]?.operation,
          remoteOutcome: "not-started",
          incidentId: run.failures[0]?.id,
          runId: RUN_ID,
        },
      ],
    },
  ]);
});

test("section 11: a text that tells of a missing permission makes no report", () => {
  const run = new WatchedRun(T);
  run.start("a", "cat /etc/shadow");
  const content = [text("EPERM: operation not permitted, open '/etc/shadow'")];
  run.ended("a", { status: "failed", content, rawOutput: { exit_code: 1, error: { code: "EPERM", status: 403 } } });
  expect(run.labels).toEqual([UNCLASSIFIED]);
  expect(run.failures[0]).not.toHaveProperty("permissionBlockers");
});

test.each([
  { from: "case 26, an id of a refused call", spend: refuse },
  { from: "case 27, an id of a child session", spend: (run: WatchedRun) => spendInChild(run) },
  { from: "an id of an accepted call", spend: (run: WatchedRun) => runs(run, "1", 0, { attemptId: "once" }) },
  { from: "an id in a replay", spend: (run: WatchedRun) => spendInReplay(run) },
])("an attemptId is spent by $from", ({ spend }) => {
  const run = new WatchedRun(T);
  expect(run.observer.attempts.isSpent("once")).toBe(false);
  spend(run);
  expect(run.observer.attempts.isSpent("once")).toBe(true);
  expect(run.observer.attempts.isSpent("other")).toBe(false);
});

test("case 26: a refused call is no evidence and binds nothing", () => {
  const run = new WatchedRun(T);
  refuse(run);
  expect(run.observer.attempts.byAttemptId("once")).toBeUndefined();
  expect(run.observer.attempts.operationOf("u")).toBeUndefined();
  expect(run.failures).toMatchObject([
    {
      category: "rejected-intent",
      summary: "A call of run was refused before anything ran: attemptId was used before",
    },
  ]);
});

test("section 9.1: what ran although its id was used before counts under its exact identity", () => {
  const run = new WatchedRun(T);
  runs(run, "1", 0, { attemptId: "once", operationId: "u" });
  run.start("a", "npm test", { attemptId: "once", operationId: "u", expectedExitCodes: [1] });
  run.end("a", 1);
  expect(run.labels).toEqual([UNCLASSIFIED]);
  expect(run.failures[0]?.attempt).toEqual({ toolCallId: "a", startN: 8, endN: 9 });
  expect(run.observer.attempts.byAttemptId("once")?.toolCallId).toBe("1");
});

function reworded(run: WatchedRun): void {
  run.start("a", "npm test", { description: "Run the tests" });
  run.end("a", 1);
  run.start("b", "npm test", { description: "Run the tests again" });
  run.end("b", 0);
}

/** As claude-agent-acp 0.101.0 sends it (recording bash-exit3). */
function claudeBash(run: WatchedRun, intent: object): void {
  const call = { toolCallId: "a", kind: "execute", title: "Terminal", status: "pending" };
  run.update({ sessionUpdate: "tool_call", ...call, name: "Bash", _meta: { claudeCode: { toolName: "Bash" } } });
  run.ended("a", { rawInput: { command: "rg x", ...intent } });
  run.ended("a", { status: "failed", _meta: { terminal_exit: { exit_code: 1, signal: null } } });
}

function kiroEnds(run: WatchedRun, exit_status: string): void {
  run.start("a", "npm test");
  run.ended("a", { status: "completed", rawOutput: { items: [{ Json: { exit_status, stdout: "", stderr: "" } }] } });
}

function text(words: string): unknown {
  return { type: "content", content: { type: "text", text: words } };
}

function refuse(run: WatchedRun): void {
  const refused = { by: "intent", reason: "attemptId was used before", attemptId: "once" } as const;
  const input = { command: "npm test", attemptId: "once", operationId: "u" };
  run.event({ type: "call", state: "refused", callId: "1", tool: "run", input, ...refused });
}

function spendInChild(run: WatchedRun): void {
  run.start("a", "npm test", { attemptId: "once" }, "child");
}

function spendInReplay(run: WatchedRun): void {
  run.out({ id: 7, method: "session/load", params: { sessionId: "old", cwd: "/workspace" } });
  run.start("a", "npm test", { attemptId: "once" }, "old");
  run.in({ id: 7, result: {} });
}
