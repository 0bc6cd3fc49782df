/** What a one-shot does with the background work that its turn leaves. */
import { describe, expect, test } from "vitest";
import { inOneWrite } from "../../acp/drive.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import {
  chunk,
  end,
  logOf,
  permission,
  record,
  recordUpdate,
  reply,
  tool,
  update,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { ACTIVE, advertised, goal, status } from "../../acp/goals.ts";
import { linesOf, run } from "./run-main.ts";
import type { Ran } from "./run-main.ts";

const STOP = "_session/async_task/stop";

const spawned = (asyncTaskId: string, fields: Readonly<Record<string, Json>> = {}): Action =>
  update({
    sessionUpdate: "async_task_spawned",
    asyncTaskId,
    name: "sleep 60",
    taskType: "shell",
    showInTranscript: false,
    canStop: true,
    ...fields,
  });
const state = (asyncTaskId: string, word: string, fields: Readonly<Record<string, Json>> = {}): Action =>
  update({ sessionUpdate: "async_task_state_update", asyncTaskId, state: word, ...fields });
/** As both adapters do: the state first, then the answer (recordings bash-background-stop, async-task-stop). */
const stops = (asyncTaskId = "t1"): readonly Action[] => [state(asyncTaskId, "stopped"), reply({ stopped: true })];

/** An agent whose turn leaves `left`, and which answers each request to stop as told. */
function leaving(left: readonly Action[], ...stopping: (readonly Action[])[]): Scenario {
  return {
    on: { "session/prompt": [[chunk("Started."), ...left, end()]], ...(stopping.length > 0 && { [STOP]: stopping }) },
  };
}

/** The requests to stop that reached the agent. */
function stopped({ log }: Ran): unknown[] {
  return logOf(log).flatMap(({ frame }) => (frame?.method === STOP ? [frame.params?.["asyncTaskId"]] : []));
}

describe("without --wait-tasks", () => {
  test.each<{
    readonly from: string;
    readonly scenario: Scenario;
    readonly asked: readonly string[];
    readonly warnings: readonly string[];
  }>([
    {
      from: "one task: stopped and named",
      scenario: leaving([spawned("t1")], stops()),
      asked: ["t1"],
      warnings: ["Background work was ended with this command: sleep 60 (--wait-tasks waits for it)"],
    },
    {
      from: "a task that ended in its turn",
      scenario: leaving([spawned("t1"), state("t1", "completed")], stops()),
      asked: [],
      warnings: [],
    },
    {
      from: "two, of which one ends by itself just then",
      scenario: leaving(
        [spawned("t1"), spawned("t2", { name: "npm run dev" })],
        [state("t1", "completed"), reply({ stopped: false })],
        stops("t2"),
      ),
      asked: ["t1", "t2"],
      warnings: ["Background work was ended with this command: npm run dev (--wait-tasks waits for it)"],
    },
    {
      from: "an agent that does not stop it",
      scenario: leaving([spawned("t1")], [reply({ stopped: false })]),
      asked: ["t1"],
      warnings: ["Background work did not stop, and ends with its agent: sleep 60 (--wait-tasks waits for it)"],
    },
    {
      from: "an agent that has no such method",
      scenario: leaving([spawned("t1")]),
      asked: ["t1"],
      warnings: ["Background work did not stop, and ends with its agent: sleep 60 (--wait-tasks waits for it)"],
    },
    {
      from: "a monitor is not asked to stop",
      scenario: leaving([spawned("t1", { canStop: false, taskType: "monitor", name: "Watch the log" })], stops()),
      asked: [],
      warnings: ["Background work did not stop, and ends with its agent: Watch the log (--wait-tasks waits for it)"],
    },
    {
      from: "more than anybody reads, with a secret in a name",
      scenario: leaving(
        [1, 2, 3, 4, 5, 6, 7].map((n) =>
          spawned(`t${n}`, { name: n === 1 ? "curl -H 'Authorization: Bearer sk-ant-abcdefghijklmnop'" : `job ${n}` }),
        ),
        ...[1, 2, 3, 4, 5, 6, 7].map((n) => stops(`t${n}`)),
      ),
      asked: ["t1", "t2", "t3", "t4", "t5", "t6", "t7"],
      warnings: [
        "Background work was ended with this command: curl -H 'Authorization: Bearer [redacted]', job 2, job 3, job 4, job 5 and 2 more (--wait-tasks waits for it)",
      ],
    },
  ])("$from", async ({ scenario, asked, warnings }) => {
    const ran = await run(["ask", "--format", "json", "hello"], { scenario });
    const result = JSON.parse(ran.stdout);
    expect({ asked: stopped(ran), warnings: titlesOf(result.warnings), code: ran.exitCode, text: result.text }).toEqual(
      {
        asked,
        warnings,
        code: 0,
        text: "Started.",
      },
    );
  });

  test("text: the beginning, the end and the reason stand beside the answer", async () => {
    const ran = await run(["ask", "hello"], { scenario: leaving([spawned("t1")], stops()) });
    expect([ran.exitCode, ran.stdout, ran.stderr.trimEnd().split("\n")]).toEqual([
      0,
      "Started.\n",
      [
        "▸ In the background: sleep 60",
        "■ Stopped in the background: sleep 60",
        "Warning: Background work was ended with this command: sleep 60 (--wait-tasks waits for it)",
      ],
    ]);
  });

  test("ndjson: the end is a late event before the result, which closes the stream", async () => {
    const ran = await run(["ask", "--json", "hello"], { scenario: leaving([spawned("t1")], stops()) });
    const lines = linesOf(ran.stdout);
    expect(lines.map(({ type, state, late }) => [type, state, late]).filter(([type]) => type !== "session")).toEqual([
      ["text", undefined, undefined],
      ["task", "running", undefined],
      ["task", "stopped", true],
      ["warning", undefined, true],
      ["result", undefined, undefined],
    ]);
  });

  test("a turn that failed leaves nothing either", async () => {
    const failing: Scenario = {
      on: {
        "session/prompt": [
          [spawned("t1"), tool("x"), { send: { jsonrpc: "2.0", id: "$P", error: { code: -32603, message: "boom" } } }],
        ],
        [STOP]: [stops()],
      },
    };
    const ran = await run(["ask", "--format", "json", "hello"], { scenario: failing });
    expect([JSON.parse(ran.stdout).outcome, stopped(ran), titlesOf(JSON.parse(ran.stdout).warnings)]).toEqual([
      "failed",
      ["t1"],
      ["Background work was ended with this command: sleep 60 (--wait-tasks waits for it)"],
    ]);
  });

  test("a turn that started a task is not sent again", async () => {
    const scenario: Scenario = {
      on: {
        "session/prompt": [
          [
            spawned("t1"),
            {
              send: { jsonrpc: "2.0", id: "$P", error: { code: -32603, message: "overloaded", data: { status: 529 } } },
            },
          ],
          [chunk("again"), end()],
        ],
        [STOP]: [stops()],
      },
    };
    const ran = await run(["ask", "--format", "json", "hello"], { scenario });
    const result = JSON.parse(ran.stdout);
    expect([result.outcome, result.attempts, result.failure.replaySafety]).toEqual(["failed", 1, "tool_started"]);
  });
});

test("what the work for a goal leaves is ended and named, too", async () => {
  const scenario: Scenario = {
    initializeResult: advertised(),
    on: {
      "_session/goal": [
        [
          goal(ACTIVE),
          status("active"),
          chunk("Shipped.", { messageId: "m1" }),
          spawned("t1"),
          status("idle"),
          reply({}),
        ],
      ],
      [STOP]: [stops()],
    },
  };
  const ran = await run(["goal", "set", "-s", "ship", "Ship it"], { scenario });
  expect([ran.exitCode, stopped(ran)]).toEqual([0, ["t1"]]);
  expect(ran.stderr).toContain("Warning: Background work was ended with this command: sleep 60\n");
});

describe("with --wait-tasks", () => {
  /** claude goes on by itself once the task has ended (recording bash-background-fail). */
  const goesOn: readonly Action[] = [
    chunk("Started.", { messageId: "m1" }),
    spawned("t1"),
    end(),
    { delayMs: 50 },
    update({ sessionUpdate: "async_task_progress", asyncTaskId: "t1", outputFilePath: "/tmp/t1.output" }),
    state("t1", "failed"),
    { delayMs: 150 },
    spawned("turn-1", { name: "Claude is working", taskType: "turn" }),
    chunk("The work ", { messageId: "m2" }),
    update({ sessionUpdate: "usage_update", used: 1, size: 2 }),
    chunk("failed.", { messageId: "m2" }),
    state("turn-1", "completed"),
  ];

  test("text: it waits, and shows what comes after the turn", async () => {
    const ran = await run(["ask", "--wait-tasks", "hello"], {
      scenario: { on: { "session/prompt": [goesOn], [STOP]: [stops()] } },
    });
    expect([ran.exitCode, ran.stdout, ran.stderr.trimEnd().split("\n"), stopped(ran)]).toEqual([
      0,
      "Started.\n",
      [
        "▸ In the background: sleep 60",
        "· Waiting for background work: sleep 60",
        "✗ Failed in the background: sleep 60",
        "▸ In the background: Claude is working",
        "After the end: The work failed.",
        "✓ Done in the background: Claude is working",
      ],
      [],
    ]);
  });

  test("text: the line of the answer is over before anything after the turn is told", async () => {
    let answer = "";
    let before: string | undefined;
    await run(["ask", "--wait-tasks", "hello"], {
      scenario: { on: { "session/prompt": [goesOn], [STOP]: [stops()] } },
      onStdout: (text) => void (answer = text),
      onStderr: (text) => void (text.includes("After the end") && (before ??= answer)),
    });
    expect(before).toBe("Started.\n");
  });

  test("ndjson: late events before the result; the answer is that of the turn", async () => {
    const ran = await run(["ask", "--wait-tasks", "--json", "hello"], {
      scenario: { on: { "session/prompt": [goesOn] } },
    });
    const lines = linesOf(ran.stdout);
    const late = lines.filter((line) => line["late"] === true);
    expect(late.map(({ type, state: word, text }) => [type, word ?? text])).toEqual([
      ["notice", "Waiting for background work: sleep 60"],
      ["task", "running"],
      ["task", "failed"],
      ["task", "running"],
      ["usage", undefined],
      ["text", "The work failed."],
      ["task", "completed"],
    ]);
    expect(lines.at(-1)).toMatchObject({ type: "result", text: "Started.", warnings: [], exitCode: 0 });
  });

  test("what comes in one piece with the end of the turn is not lost", async () => {
    const burst = inOneWrite(chunk("Started."), spawned("t1"), end(), state("t1", "completed"), chunk("All done."));
    const ran = await run(["ask", "--wait-tasks", "hello"], { scenario: { on: { "session/prompt": [[burst]] } } });
    expect(ran.stderr.trimEnd().split("\n")).toEqual([
      "▸ In the background: sleep 60",
      "✓ Done in the background: sleep 60",
      "After the end: All done.",
    ]);
  });

  test("nothing runs: nothing is waited for", async () => {
    const ran = await run(["ask", "--wait-tasks", "hello"], { scenario: leaving([]) });
    expect([ran.exitCode, ran.stderr]).toEqual([0, ""]);
  });

  test("the time is up: it is ended and named, and the code is that of a timeout", async () => {
    const ran = await run(["ask", "--wait-tasks", "--timeout", "1", "--format", "json", "hello"], {
      scenario: leaving([spawned("t1")], stops()),
    });
    const result = JSON.parse(ran.stdout);
    expect([ran.exitCode, result.exitCode, result.outcome, titlesOf(result.warnings)]).toEqual([
      3,
      3,
      "completed",
      ["Background work was ended when the time was up: sleep 60"],
    ]);
  });

  test("a signal ends the wait: it is ended and named, and the code is the signal's", async () => {
    let isSent = false;
    const ran = await run(["ask", "--wait-tasks", "hello"], {
      scenario: leaving([spawned("t1")], stops()),
      onStderr: (text, signal) => {
        if (isSent || !text.includes("Waiting for background work")) return;
        isSent = true;
        signal("SIGINT");
      },
    });
    expect([ran.exitCode, ran.stdout, stopped(ran)]).toEqual([130, "Started.\n", ["t1"]]);
    expect(ran.stderr).toContain("Warning: Background work was ended with this command: sleep 60\n");
  });

  test("what fails or is denied meanwhile is said, and the code is that of the turn", async () => {
    const own = [
      spawned("t1", { taskType: "turn", name: "Claude is working" }),
      tool("x"),
      permission("x"),
      waitForAnswer("p1"),
      recordUpdate(record({ id: "late:error", title: "The usage limit is reached" })),
      state("t1", "completed"),
    ];
    const ran = await run(["ask", "--wait-tasks", "--approve", "all", "hello"], {
      scenario: leaving([spawned("t0"), end(), state("t0", "completed"), ...own]),
    });
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("Denied: rm -rf x (No turn is running)\n");
    expect(ran.stderr).toContain("After the end: The usage limit is reached");
  });

  test("the agent dies meanwhile: what it ran is named, and the code says so", async () => {
    const ran = await run(["ask", "--wait-tasks", "--format", "json", "hello"], {
      scenario: leaving([spawned("t1"), end(), { delayMs: 100 }, { exit: 1 }]),
    });
    expect(titlesOf(JSON.parse(ran.stdout).warnings)).toEqual(["Background work ended with its agent: sleep 60"]);
    expect([ran.exitCode, JSON.parse(ran.stdout).exitCode]).toEqual([9, 9]);
  });
});

function titlesOf(warnings: readonly { readonly title: string }[]): readonly string[] {
  return warnings.map(({ title }) => title);
}
