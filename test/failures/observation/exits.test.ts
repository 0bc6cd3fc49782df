/** Ends of processes that nobody asked for (failure observations, sections 4.5, 5.4 and 5.5). */
import { describe, expect, test } from "vitest";
import { makeFailure, plainVerdict } from "../../../src/acp/make-failure.ts";
import { keyOf } from "../../../src/failures/keys.ts";
import { RUN_ID, SESSION, WatchedRun } from "./watched-run.ts";

/** Something fails because the process is gone. */
function failsForIt(run: WatchedRun, turnId: string | null = "t1") {
  const verdict = plainVerdict("agent_died", "test");
  const failure = makeFailure({
    verdict,
    source: "exit",
    id: "e",
    revision: 1,
    replaySafety: "unknown",
    title: "Gone",
  });
  return run.event({ type: "failure", failure, sessionId: SESSION, turnId });
}

describe("exits", () => {
  test.each([
    { code: 137, signal: null, event: { exitCode: 137, summary: "The agent ended with exit code 137" } },
    { code: null, signal: "SIGKILL", event: { signal: "SIGKILL", summary: "The agent ended by SIGKILL" } },
  ])("$code $signal that nobody asked for", ({ code, signal, event }) => {
    const run = new WatchedRun();
    expect(run.event({ type: "exited", n: 1, code, signal, expected: false })).toMatchObject([
      { id: `exit:${RUN_ID}:6`, operation: keyOf("exit", RUN_ID), category: "exit", ...event },
    ]);
  });

  describe("with code 0 that nobody asked for", () => {
    const LEFT = { type: "exited", n: 1, code: 0, signal: null, expected: false } as const;
    const EXIT = { category: "exit", exitCode: 0, summary: "The agent ended with exit code 0" };

    test.each<{ from: string; before: (run: WatchedRun) => void }>([
      { from: "section 5.5: a prompt is not answered", before: (run) => run.prompt() },
      {
        from: "section 5.5: a request of any other method is not answered",
        before: (run) => run.out({ id: 90, method: "session/set_mode", params: { sessionId: SESSION, modeId: "ask" } }),
      },
      { from: "section 5.4: it stands for a call that is open", before: (run) => run.start("a", "npm test") },
      {
        from: "recording codex-acp 2.6.0 codex-path-missing: it stands for the failure that it caused",
        before: (run) => failsForIt(run, null),
      },
    ])("is a failure: $from", ({ before }) => {
      const run = new WatchedRun();
      before(run);
      expect(run.event(LEFT)).toMatchObject([EXIT]);
    });

    test("is none when nothing is pending (recording claude-agent-acp 0.101.0 term-adapter-mid-turn)", () => {
      const run = new WatchedRun();
      run.answer(run.prompt(), { stopReason: "cancelled" });
      expect(run.event(LEFT)).toEqual([]);
    });

    test("is told once, by what fails for it afterwards", () => {
      const run = new WatchedRun();
      run.event(LEFT);
      expect(failsForIt(run)).toMatchObject([EXIT]);
      expect(failsForIt(run)).toEqual([]);
    });

    test("is none after a resume, which counts processes from 1 again", () => {
      const run = new WatchedRun();
      failsForIt(run);
      run.event(LEFT);
      run.event({ type: "started", n: 1, pid: 43, cwd: "/workspace", resumed: true });
      expect(run.event(LEFT)).toEqual([]);
    });

    test("of an earlier process stands for nothing of the next one", () => {
      const run = new WatchedRun();
      run.event(LEFT);
      run.event({ type: "started", n: 2, pid: 43, cwd: "/workspace" });
      expect(run.event({ ...LEFT, n: 2 })).toEqual([]);
      expect(run.incidents).toEqual([]);
    });
  });

  test("of an earlier process, told late, leaves the calls of the newer one alone", () => {
    const run = new WatchedRun();
    run.event({ type: "started", n: 2, pid: 43, cwd: "/workspace" });
    run.prompt();
    run.start("a", "npm test");
    run.event({ type: "exited", n: 1, code: 1, signal: null, expected: false });
    run.end("a", 2);
    expect(run.failures.map(({ category }) => category)).toEqual(["exit", "tool"]);
  });

  test("an answer of a new process is none to a prompt of the old one", () => {
    const run = new WatchedRun();
    const old = run.prompt();
    run.event({ type: "exited", n: 1, code: 1, signal: null, expected: true });
    run.event({ type: "started", n: 2, pid: 43, cwd: "/workspace" });
    run.prompt();
    run.start("a", "npm test");
    run.answer(old, {});
    expect(run.observer.dueAt).toBeUndefined();
  });

  test("ids of requests begin anew with a new process", () => {
    const run = new WatchedRun();
    run.out({ id: 7, method: "session/load", params: { sessionId: SESSION, cwd: "/workspace" } });
    run.event({ type: "exited", n: 1, code: 1, signal: null, expected: true });
    run.event({ type: "started", n: 2, pid: 43, cwd: "/workspace" });
    run.start("a", "npm test");
    run.end("a", 1);
    expect(run.labels).toEqual(["Unclassified failure observation"]);
  });
});
