/** Background tasks and subagents on the screen of a person, on the live line, and for a program. */
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../../src/acp/events.ts";
import { makeFailure, plainVerdict } from "../../../src/acp/make-failure.ts";
import { Remarks } from "../../../src/surfaces/cli/remarks.ts";
import { ScrubbedEvents } from "../../../src/surfaces/cli/scrubbed-events.ts";
import { renderStatus, statusAfter, statusOutlasted } from "../../../src/surfaces/cli/status-line.ts";
import type { StatusState } from "../../../src/surfaces/cli/status-line.ts";

type Task = TurnEvent & { readonly type: "task" };
type State = Task["state"];

const KEY = "sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9";
const task = (state: State, more: Partial<Task> = {}): Task => ({
  type: "task",
  taskId: "t1",
  name: "npm test",
  taskType: "shell",
  state,
  canStop: true,
  showInTranscript: false,
  ...more,
});
const subagent = (state: "running" | "completed" | "failed" | "cancelled", name = "Small check"): TurnEvent => ({
  type: "subagent",
  subagentId: "child-1",
  state,
  name,
});
const failure = makeFailure({
  verdict: plainVerdict("overloaded", "test"),
  source: "session_failure",
  id: "c:error",
  revision: 1,
  replaySafety: "no_output",
  title: "Overloaded",
});

describe("remarks", () => {
  test.each<{ from: string; events: readonly TurnEvent[]; lines: readonly string[] }>([
    {
      from: "a task that completes; progress is no line",
      events: [task("running"), task("running", { lastToolName: "Bash" }), task("completed")],
      lines: ["▸ In the background: npm test", "✓ Done in the background: npm test"],
    },
    {
      from: "one that was stopped, and turns out to have failed",
      events: [task("running"), task("stopped"), task("failed", { summary: "exit 1" })],
      lines: [
        "▸ In the background: npm test",
        "■ Stopped in the background: npm test",
        "✗ Failed in the background: npm test: exit 1",
      ],
    },
    {
      from: "one that pauses",
      events: [task("running"), task("paused"), task("running")],
      lines: ["▸ In the background: npm test", "▸ Paused in the background: npm test", "▸ In the background: npm test"],
    },
    {
      from: "hostile names",
      events: [task("running", { name: `a\nforged \u001B[31m${KEY}` })],
      lines: ["▸ In the background: a forged [redacted]"],
    },
    {
      from: "a subagent",
      events: [subagent("running"), subagent("running"), subagent("completed")],
      lines: ["▸ Subagent: Small check", "✓ Subagent done: Small check"],
    },
    {
      from: "one that fails, and one that is cancelled",
      events: [subagent("failed"), subagent("running"), subagent("cancelled")],
      lines: ["✗ Subagent failed: Small check", "▸ Subagent: Small check", "■ Subagent cancelled: Small check"],
    },
    {
      from: "of what it does: its tasks and what went wrong",
      events: [
        { type: "subagent", subagentId: "child-1", event: { type: "text", text: "words" } },
        { type: "subagent", subagentId: "child-1", event: task("running") },
        { type: "subagent", subagentId: "child-1", event: { type: "failure", failure } },
      ],
      lines: ["▸ In the background: npm test", "✗ Subagent: Overloaded"],
    },
    {
      from: "without a name: its task, else its id",
      events: [
        { type: "subagent", subagentId: "child-1", state: "running", task: "look around" },
        { type: "subagent", subagentId: "child-2", state: "running" },
      ],
      lines: ["▸ Subagent: look around", "▸ Subagent: child-2"],
    },
  ])("$from", ({ events, lines }) => {
    const remarks = new Remarks();
    expect(events.flatMap((event) => remarks.of(event)).map(({ text }) => text)).toEqual(lines);
  });
});

describe("for a program: words are scrubbed, ids and paths are as they came", () => {
  test.each<{ from: string; event: TurnEvent; scrubbed: object }>([
    {
      from: "a task",
      event: task("running", {
        name: KEY,
        description: KEY,
        summary: KEY,
        lastToolName: KEY,
        taskId: "t-1",
        outputFile: "/tmp/t.output",
      }),
      scrubbed: {
        name: "[redacted]",
        description: "[redacted]",
        summary: "[redacted]",
        lastToolName: "[redacted]",
        taskId: "t-1",
        outputFile: "/tmp/t.output",
      },
    },
    {
      from: "a subagent",
      event: { type: "subagent", subagentId: "child-1", state: "running", name: KEY, task: KEY, prompt: KEY },
      scrubbed: { subagentId: "child-1", name: "[redacted]", task: "[redacted]", prompt: "[redacted]" },
    },
    {
      from: "what happens in one",
      event: { type: "subagent", subagentId: "child-1", event: task("running", { name: KEY }) },
      scrubbed: { subagentId: "child-1", event: { name: "[redacted]" } },
    },
    {
      from: "the words of one are not scrubbed, as the answer is not",
      event: { type: "subagent", subagentId: "child-1", event: { type: "text", text: KEY } },
      scrubbed: { event: { text: KEY } },
    },
  ])("$from", ({ event, scrubbed }) => {
    expect(new ScrubbedEvents().of(event)).toMatchObject(scrubbed);
  });
});

describe("the live line", () => {
  const start: StatusState = { backend: "claude", startedAtMs: 0, activity: "waiting" };

  test.each<{ from: string; events: readonly TurnEvent[]; line: string }>([
    { from: "a subagent runs", events: [subagent("running")], line: "claude · 1 s · runs Small check" },
    { from: "it has ended", events: [subagent("running"), subagent("completed")], line: "claude · 1 s · waiting" },
    {
      from: "what it does is its own",
      events: [subagent("running"), { type: "subagent", subagentId: "child-1", event: { type: "text", text: "a" } }],
      line: "claude · 1 s · runs Small check",
    },
  ])("$from", ({ events, line }) => {
    const state = events.reduce((so, event) => statusAfter(so, event, 0), start);
    expect(renderStatus(state, 1000, 80)).toBe(line);
  });

  test("background work is waited for, unless the run is being stopped", () => {
    const stopping: StatusState = { ...start, activity: { stopping: "Ctrl-C again ends it at once" } };
    expect([start, stopping].map((state) => renderStatus(statusOutlasted(state), 1000, 80))).toEqual([
      "claude · 1 s · waits for background work",
      "claude · 1 s · stopping; Ctrl-C again ends it at once",
    ]);
  });
});
