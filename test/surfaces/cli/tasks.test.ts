/** `ostler tasks`, asked while `ostler ask -s` runs in another call. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { agentOption, chunk, end, logOf, reply, update } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";
import type { Ran } from "./run-main.ts";

const STOP = "_session/async_task/stop";
/** A name from the agent: it makes no further line and shows no secret. */
const FORGED = "dev\nserver \u001B[31m--key sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9";

const spawned = (asyncTaskId: string, name: string, fields: Readonly<Record<string, Json>> = {}): Action =>
  update({ sessionUpdate: "async_task_spawned", asyncTaskId, name, taskType: "shell", canStop: true, ...fields });
const stops = (asyncTaskId: string): readonly Action[] => [
  update({ sessionUpdate: "async_task_state_update", asyncTaskId, state: "stopped" }),
  reply({ stopped: true }),
];

/** Runs `commands` one after the other while a turn of the session "work" has these tasks, then lets it end. */
async function beside(
  tasks: readonly Action[],
  commands: readonly (readonly string[])[],
  ...stopping: (readonly Action[])[]
): Promise<{ readonly rans: readonly Ran[]; readonly asked: readonly unknown[] }> {
  const folder = newFolder();
  const log = join(folder, "agent.log");
  const go = join(folder, "go");
  const scenario: Scenario = {
    on: {
      "session/prompt": [[...tasks, chunk("Half"), { untilFile: go }, end()]],
      ...(stopping.length > 0 && { [STOP]: stopping }),
    },
  };
  const started = Promise.withResolvers<void>();
  const turn = run(["ask", "-s", "work", "--json", "--agent", agentOption(scenario, folder), "hello"], {
    folder,
    onStdout: (text) => {
      if (text.includes('"Half"')) started.resolve();
    },
  });
  await started.promise;
  const rans: Ran[] = [];
  for (const command of commands) rans.push(await run(command, { folder }));
  writeFileSync(go, "");
  await turn;
  return {
    rans,
    asked: logOf(log).flatMap(({ frame }) => (frame?.method === STOP ? [frame.params?.["asyncTaskId"]] : [])),
  };
}

describe("list", () => {
  test("what runs, with what stops it and where its output is", async () => {
    const { rans } = await beside(
      [
        spawned("bptxbbmut", "Long work", { outputFilePath: "/tmp/t.output" }),
        spawned("m1", FORGED, { canStop: false }),
      ],
      [
        ["tasks", "-s", "work"],
        ["tasks", "list", "-s", "work", "--json"],
      ],
    );
    expect(rans.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(rans[0]?.stdout).toBe(
      "bptxbbmut  running  shell  Long work  /tmp/t.output\nm1  running  shell  dev server --key [redacted]\n",
    );
    expect(JSON.parse(rans[1]?.stdout ?? "")).toMatchObject([
      { taskId: "bptxbbmut", name: "Long work", state: "running", canStop: true, outputFile: "/tmp/t.output" },
      { taskId: "m1", name: "dev server --key [redacted]", canStop: false },
    ]);
  });

  test("nothing runs", async () => {
    const { rans } = await beside([], [["tasks", "-s", "work"]]);
    expect([rans[0]?.exitCode, rans[0]?.stdout]).toEqual([0, 'Nothing runs in the background of "work"\n']);
  });
});

describe("stop", () => {
  test.each<{
    readonly from: string;
    readonly words: readonly string[];
    readonly stopping: readonly (readonly Action[])[];
    readonly exitCode: number;
    readonly says: string;
    readonly asked: readonly string[];
  }>([
    {
      from: "by its id",
      words: ["t1"],
      stopping: [stops("t1")],
      exitCode: 0,
      says: "Stopped: npm test\n",
      asked: ["t1"],
    },
    {
      from: "by the beginning",
      words: ["u"],
      stopping: [stops("u2")],
      exitCode: 0,
      says: "Stopped: npm start\n",
      asked: ["u2"],
    },
    {
      from: "by its name",
      words: ["npm start"],
      stopping: [stops("u2")],
      exitCode: 0,
      says: "Stopped: npm start\n",
      asked: ["u2"],
    },
    {
      from: "contract: stopped false is said",
      words: ["t1"],
      stopping: [[reply({ stopped: false })]],
      exitCode: 1,
      says: 'ostler: "npm test" was not stopped: it has ended, or is being stopped already\n',
      asked: ["t1"],
    },
    {
      from: "an agent that cannot",
      words: ["t1"],
      stopping: [],
      exitCode: 1,
      says: 'ostler: "npm test" was not stopped: Method not found\n',
      asked: ["t1"],
    },
    {
      from: "a name that nothing has",
      words: ["zzz"],
      stopping: [stops("t1")],
      exitCode: 1,
      says: 'ostler: No "zzz" runs in the background of "work"\n',
      asked: [],
    },
    {
      from: "no name, and two run",
      words: [],
      stopping: [stops("t1")],
      exitCode: 2,
      says: "ostler: 2 tasks fit; say which: ostler tasks stop -s work TASK, one of t1 (npm test), u2 (npm start)\n",
      asked: [],
    },
  ])("$from", async ({ words, stopping, exitCode, says, asked: expected }) => {
    const { rans, asked } = await beside(
      [spawned("t1", "npm test"), spawned("u2", "npm start")],
      [["tasks", "stop", "-s", "work", ...words]],
      ...stopping,
    );
    expect(rans.map((ran) => [ran.exitCode, ran.stdout + ran.stderr])).toEqual([[exitCode, says]]);
    // The end of the turn stops the rest.
    expect(asked.slice(0, expected.length)).toEqual(expected);
  });
});

describe("nobody runs the session", () => {
  test.each([
    {
      words: ["tasks", "-s", "work"],
      exitCode: 0,
      stdout: /^No Ostler runs "work" now: background work ends/,
      stderr: /^$/,
    },
    { words: ["tasks", "-s", "work", "--json"], exitCode: 0, stdout: /^\[\]\n$/, stderr: /^$/ },
    { words: ["tasks", "stop", "-s", "work"], exitCode: 1, stdout: /^$/, stderr: /^ostler: No Ostler runs "work" now/ },
    { words: ["tasks", "-s", "other"], exitCode: 4, stdout: /^$/, stderr: /no session called "other"/ },
    { words: ["tasks"], exitCode: 2, stdout: /^$/, stderr: /^ostler: Which session\? write: ostler tasks -s NAME/ },
    { words: ["tasks", "stopp", "-s", "work"], exitCode: 2, stdout: /^$/, stderr: /did you mean ostler tasks stop/ },
  ])("$words", async ({ words, exitCode, stdout, stderr }) => {
    const folder = newFolder();
    const scenario: Scenario = { on: { "session/prompt": [[chunk("Done."), end()]] } };
    await run(["ask", "-s", "work", "--agent", agentOption(scenario, folder), "hello"], { folder });
    const ran = await run(words, { folder });
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([
      exitCode,
      expect.stringMatching(stdout),
      expect.stringMatching(stderr),
    ]);
  });
});
