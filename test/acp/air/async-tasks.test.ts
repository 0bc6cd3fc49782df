import { describe, expect, test } from "vitest";
import { AsyncTasks } from "../../../src/acp/air/async-tasks.ts";
import type { Frame } from "../../../src/acp/frames.ts";

type Fields = Readonly<Record<string, unknown>>;

const spawned = (fields: Fields = {}): Frame => ({
  sessionUpdate: "async_task_spawned",
  asyncTaskId: "t1",
  name: "Long background work",
  taskType: "shell",
  description: "Long background work",
  showInTranscript: false,
  canStop: true,
  ...fields,
});
const progress = (fields: Fields): Frame => ({ sessionUpdate: "async_task_progress", asyncTaskId: "t1", ...fields });
const state = (word: unknown, fields: Fields = {}): Frame => ({
  sessionUpdate: "async_task_state_update",
  asyncTaskId: "t1",
  state: word,
  ...fields,
});

/** The newest event of each update, and what runs in the end. */
function read(...updates: Frame[]): { readonly tasks: AsyncTasks; readonly events: unknown[] } {
  const tasks = new AsyncTasks();
  return { tasks, events: updates.flatMap((update) => tasks.apply(update)) };
}

const TASK = {
  type: "task",
  taskId: "t1",
  name: "Long background work",
  taskType: "shell",
  description: "Long background work",
  state: "running",
  showInTranscript: false,
  canStop: true,
};

describe("what an update says", () => {
  test.each<{ readonly from: string; readonly updates: Frame[]; readonly last: unknown }>([
    { from: "recording claude-agent-acp 0.101.0 bash-background: a spawn", updates: [spawned()], last: TASK },
    {
      from: "recording codex-acp 2.6.0 background-terminal: a spawn without a description",
      updates: [
        {
          sessionUpdate: "async_task_spawned",
          asyncTaskId: "call_fake0129",
          name: "sleep 3; echo late",
          taskType: "shell",
          showInTranscript: false,
          canStop: true,
          toolCallId: "call_fake0129",
        },
      ],
      last: {
        type: "task",
        taskId: "call_fake0129",
        name: "sleep 3; echo late",
        taskType: "shell",
        state: "running",
        toolCallId: "call_fake0129",
        showInTranscript: false,
        canStop: true,
      },
    },
    {
      from: "contract, Updates: progress carries only what changed",
      updates: [
        spawned({ toolCallId: "toolu_1" }),
        progress({ outputFilePath: "/tmp/t1.output" }),
        progress({ summary: "half", lastToolName: "Bash", usage: { totalTokens: 3, toolUses: 1, durationMs: 20 } }),
        progress({ description: "now the tests" }),
      ],
      last: {
        ...TASK,
        toolCallId: "toolu_1",
        outputFile: "/tmp/t1.output",
        summary: "half",
        lastToolName: "Bash",
        usage: { totalTokens: 3, toolUses: 1, durationMs: 20 },
        description: "now the tests",
      },
    },
    {
      from: "contract, Tool call of a task: the id comes later, in a progress",
      updates: [spawned(), progress({ toolCallId: "toolu_late" })],
      last: { ...TASK, toolCallId: "toolu_late" },
    },
    {
      from: "contract, Updates: paused, with a summary",
      updates: [spawned(), state("paused", { summary: "waits" })],
      last: { ...TASK, state: "paused", summary: "waits" },
    },
    {
      from: "contract, Liveness: stopped was a guess, and is corrected to completed",
      updates: [spawned(), state("stopped"), state("completed", { summary: "done" })],
      last: { ...TASK, state: "completed", summary: "done" },
    },
    {
      from: "contract, Liveness: or to failed",
      updates: [spawned(), state("stopped"), state("failed")],
      last: { ...TASK, state: "failed" },
    },
    {
      from: "an end that is no guess stays",
      updates: [spawned(), state("failed"), state("completed"), state("running"), spawned()],
      last: { ...TASK, state: "failed" },
    },
    {
      from: "what was stopped does not run again",
      updates: [spawned(), state("stopped"), state("running"), state("paused")],
      last: { ...TASK, state: "stopped" },
    },
    {
      from: "recording bash-background: a turn that claude starts by itself has no call",
      updates: [spawned({ taskType: "turn", name: "Claude is working", description: "Background command failed" })],
      last: { ...TASK, taskType: "turn", name: "Claude is working", description: "Background command failed" },
    },
    {
      from: "contract, Updates: to be shown in the transcript",
      updates: [spawned({ showInTranscript: true })],
      last: { ...TASK, showInTranscript: true },
    },
    { from: "a monitor cannot be stopped", updates: [spawned({ canStop: false })], last: { ...TASK, canStop: false } },
    {
      from: "nothing but an id",
      updates: [{ sessionUpdate: "async_task_spawned", asyncTaskId: "bare" }],
      last: {
        type: "task",
        taskId: "bare",
        name: "bare",
        taskType: "task",
        state: "running",
        showInTranscript: true,
        canStop: true,
      },
    },
    {
      from: "fields of other types say nothing",
      updates: [
        spawned(),
        progress({
          description: 7,
          summary: null,
          lastToolName: [],
          toolCallId: {},
          outputFilePath: "",
          usage: "much",
        }),
        state({}),
        state("__proto__"),
        progress({ usage: { totalTokens: "3", toolUses: 1, durationMs: 1 } }),
      ],
      last: TASK,
    },
  ])("$from", ({ updates, last }) => {
    expect(read(...updates).events.at(-1)).toEqual(last);
  });

  test.each<{ readonly from: string; readonly updates: Frame[] }>([
    { from: "progress of an unknown task", updates: [progress({ summary: "half" })] },
    { from: "the state of an unknown task", updates: [state("running")] },
    { from: "no id", updates: [spawned({ asyncTaskId: undefined }), spawned({ asyncTaskId: "" })] },
    { from: "an id that is no text", updates: [spawned({ asyncTaskId: 7 }), spawned({ asyncTaskId: {} })] },
    { from: "an id without end", updates: [spawned({ asyncTaskId: "x".repeat(1001) })] },
  ])("nothing: $from", ({ updates }) => {
    const { events, tasks } = read(...updates);
    expect([events, tasks.running]).toEqual([[], []]);
  });

  test("the same again is no news", () => {
    const { events } = read(
      spawned(),
      spawned(),
      progress({ summary: "s" }),
      progress({ summary: "s" }),
      state("running"),
    );
    expect(events).toHaveLength(2);
  });
});

describe("what runs", () => {
  test.each<{ readonly from: string; readonly updates: Frame[]; readonly running: string[] }>([
    { from: "begun", updates: [spawned()], running: ["t1"] },
    { from: "paused runs on", updates: [spawned(), state("paused")], running: ["t1"] },
    { from: "completed", updates: [spawned(), state("completed")], running: [] },
    { from: "failed", updates: [spawned(), state("failed")], running: [] },
    { from: "stopped", updates: [spawned(), state("stopped")], running: [] },
    {
      from: "one of two, in their order",
      updates: [spawned(), spawned({ asyncTaskId: "t2" }), spawned({ asyncTaskId: "t3" }), state("completed")],
      running: ["t2", "t3"],
    },
    { from: "ids that objects have", updates: [spawned({ asyncTaskId: "__proto__" })], running: ["__proto__"] },
  ])("$from", ({ updates, running }) => {
    expect(read(...updates).tasks.running.map(({ taskId }) => taskId)).toEqual(running);
  });

  test("a hundred thousand tasks leave the newest thousand, and texts are cut", () => {
    const tasks = new AsyncTasks();
    for (let n = 0; n < 100_000; n += 1) tasks.apply(spawned({ asyncTaskId: `r${n}` }));
    for (let n = 0; n < 3000; n += 1) {
      tasks.apply(spawned({ asyncTaskId: `e${n}` }));
      tasks.apply(state("stopped", { asyncTaskId: `e${n}` }));
    }
    tasks.apply(spawned({ asyncTaskId: "big", name: "n".repeat(1_000_000) }));
    expect(tasks.running).toHaveLength(1000);
    expect(tasks.running.at(-1)?.name).toHaveLength(4000);
    // A forgotten one is unknown, a remembered one is corrected.
    expect(tasks.apply(state("failed", { asyncTaskId: "e0" }))).toEqual([]);
    expect(tasks.apply(state("failed", { asyncTaskId: "e2999" }))).toHaveLength(1);
  });
});
