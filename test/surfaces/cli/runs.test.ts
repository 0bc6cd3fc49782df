/** `ostler runs list|show|output|result` over runs as their supervisors left them. */
import { appendFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import type { FailureEvent } from "../../../src/failures/records.ts";
import { newFolder, run } from "./run-main.ts";
import {
  AGENT_RUN,
  COMMAND_RUN,
  MADE_AT,
  died,
  executed,
  registryIn,
  said,
  storeAgentRun,
  storeCommandRun,
  turn,
} from "./stored-runs.ts";

const EXITED: FailureEvent = {
  id: `exit:${COMMAND_RUN}:1`,
  operation: "task-exit",
  kind: "failure",
  at: MADE_AT + 11_000,
  category: "exit",
  summary: "npm test exited with code 1",
  exitCode: 1,
  evidence: "output.log#byte=14",
  attempt: { startN: 1, endN: 2 },
};
const FAILED_COMMAND = { meta: { status: "failed", exit: { code: 1, signal: null } }, events: [EXITED] } as const;
const OUTPUT = "line 1\nline 2\nError: boom\n";

/** A failed command, and an agent whose tests failed twice and that died at the end of its second turn. */
async function twoRuns(): Promise<string> {
  const folder = newFolder();
  await storeAgentRun(folder, [
    ...turn("t1", said("old answer"), ...executed("a", "npm test", "failed")),
    ...turn("t2", said("new "), said("noise", "child"), said("answer"), ...executed("b", "npm test", "failed")),
    died(137),
  ]);
  await storeCommandRun(folder, OUTPUT, FAILED_COMMAND);
  return folder;
}

const AGENT_SECTION = [
  `run=${AGENT_RUN} · claude · 12 s`,
  "status=completed",
  expect.stringMatching(
    /^Action required · 2023-11-14T22:13:20\.\d{3}Z · It exited with 137 · evidence: output\.log#byte=\d+$/,
  ),
  "1 earlier tool failure remains unclassified.",
  "Work correctness was not inferred from lifecycle alone.",
];
const COMMAND_SECTION = [
  `run=${COMMAND_RUN} · npm test · exit 1 · 12 s`,
  "status=failed",
  "Action required · 2023-11-14T22:13:31.000Z · npm test exited with code 1 · evidence: output.log#byte=14",
  "Work correctness was not inferred from lifecycle alone.",
];
const NEXT = expect.stringMatching(/^next=s2\.[\w-]+$/);

describe("list", () => {
  test("names every run, the newest first, and under it what needs action", async () => {
    const { exitCode, stdout, stderr } = await run(["runs"], { folder: await twoRuns() });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^${COMMAND_RUN}  failed     2023-11-1\\d \\d\\d:13  npm test  /p$`)),
      "  Action required · npm test exited with code 1",
      "  1 need action",
      expect.stringMatching(new RegExp(`^${AGENT_RUN}  completed  2023-11-1\\d \\d\\d:13  claude    /p$`)),
      "  Action required · It exited with 137",
      "  1 need action · 1 unclassified tool error (history)",
      "",
    ]);
  });

  test("tells a program how many incidents bear which label", async () => {
    const { stdout } = await run(["runs", "list", "--json"], { folder: await twoRuns() });
    const none = { gaps: 0, actionRequired: 0, unclassified: 0, expected: 0, recovered: 0, superseded: 0 };
    expect(JSON.parse(stdout)).toEqual({
      runs: [
        {
          id: COMMAND_RUN,
          kind: "command",
          status: "failed",
          createdAt: MADE_AT,
          endedAt: MADE_AT + 12_000,
          title: "npm test",
          cwd: "/p",
          exit: { code: 1, signal: null },
          counts: { ...none, actionRequired: 1 },
        },
        {
          id: AGENT_RUN,
          kind: "agent",
          status: "completed",
          createdAt: MADE_AT,
          endedAt: MADE_AT + 12_000,
          title: "claude",
          cwd: "/p",
          backend: "claude",
          counts: { ...none, actionRequired: 1, unclassified: 1 },
        },
      ],
    });
  });

  test.each([
    { argv: ["runs"], stdout: "No runs yet\n" },
    { argv: ["runs", "--json"], stdout: '{"runs":[]}\n' },
  ])("$argv without runs", async ({ argv, stdout }) => {
    expect(await run(argv)).toMatchObject({ exitCode: 0, stdout, stderr: "" });
  });

  test("keeps the failure text of a run within --bytes", async () => {
    const { stdout } = await run(["runs", "--bytes", "20"], { folder: await twoRuns() });
    expect(stdout.split("\n").filter((line) => line.startsWith("  "))).toEqual(["  1 need action"]);
  });

  test("shows a run without failures in one line, and one whose metadata is damaged", async () => {
    const folder = newFolder();
    await storeAgentRun(folder, turn("t1", said("fine")));
    await storeCommandRun(folder, OUTPUT, FAILED_COMMAND);
    writeFileSync(registryIn(folder).metaFile(COMMAND_RUN), "{");
    const { stdout } = await run(["runs"], { folder });
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^${COMMAND_RUN}  unknown +Its metadata cannot be read$`)),
      "  Action required · npm test exited with code 1",
      "  1 need action",
      expect.stringMatching(new RegExp(`^${AGENT_RUN}  completed  `)),
      "",
    ]);
  });
});

describe("one run", () => {
  test.each([
    { action: "show", id: AGENT_RUN, lines: [...AGENT_SECTION, NEXT, ""] },
    { action: "result", id: AGENT_RUN, lines: [...AGENT_SECTION, "answer:", "new answer", NEXT, ""] },
    { action: "result", id: COMMAND_RUN, lines: [...COMMAND_SECTION, NEXT, ""] },
    {
      action: "output",
      id: COMMAND_RUN,
      lines: [...COMMAND_SECTION, "output:", "line 1", "line 2", "Error: boom", NEXT, ""],
    },
  ])("$action $id: failures before all that it said", async ({ action, id, lines }) => {
    const { exitCode, stdout, stderr } = await run(["runs", action, id], { folder: await twoRuns() });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line, index, all) => line !== "" || index === all.length - 1)).toEqual(lines);
  });

  test("output of an agent is its frames, one a line", async () => {
    const { stdout } = await run(["runs", "output", AGENT_RUN, "--bytes", "65536"], { folder: await twoRuns() });
    const frames = stdout.split("\n").filter((line) => line.startsWith("{"));
    const ordinals = frames.map((line): unknown => JSON.parse(line)).map((line) => line);
    expect(ordinals).toMatchObject(Array.from({ length: 13 }, (_, index) => ({ n: index + 1 })));
    expect(stdout.indexOf("Action required")).toBeLessThan(stdout.indexOf("output:"));
  });

  test("--history lists what does not need action as well", async () => {
    const { stdout } = await run(["runs", "show", AGENT_RUN, "--history"], { folder: await twoRuns() });
    expect(stdout).toMatch(/^Unclassified failure observation · .* · execute failed: npm test \(2 occurrences\)/m);
  });

  test("--raw tells the whole path of the log", async () => {
    const folder = await twoRuns();
    const { stdout } = await run(["runs", "show", COMMAND_RUN, "--raw"], { folder });
    expect(stdout).toContain(`evidence: ${registryIn(folder).logFile(COMMAND_RUN)}#byte=14`);
  });

  test("--json is one object with the page in parts", async () => {
    const { stdout } = await run(["runs", "result", AGENT_RUN, "--json"], { folder: await twoRuns() });
    expect(JSON.parse(stdout)).toEqual({
      run: expect.objectContaining({ id: AGENT_RUN, status: "completed" }),
      incidents: [
        expect.objectContaining({ runId: AGENT_RUN, label: "Action required", category: "exit", exitCode: 137 }),
      ],
      content: "new answer",
      next: expect.stringMatching(/^s2\./),
    });
  });

  test("the beginning of an id is enough", async () => {
    const { stdout } = await run(["runs", "show", "cm"], { folder: await twoRuns() });
    expect(stdout).toMatch(new RegExp(`^run=${COMMAND_RUN} `));
  });

  test("whose metadata is damaged shows its incidents all the same", async () => {
    const folder = await twoRuns();
    writeFileSync(registryIn(folder).metaFile(COMMAND_RUN), "{");
    const { exitCode, stdout } = await run(["runs", "result", COMMAND_RUN], { folder });
    expect([exitCode, stdout]).toEqual([0, `run=${COMMAND_RUN}\nIts metadata cannot be read\n${COMMAND_SECTION[2]}\n`]);
  });

  test("that is not trusted says why", async () => {
    const folder = newFolder();
    await storeAgentRun(folder, [], { meta: { untrustedBecause: ["bwrap is not installed"] } });
    const { stdout } = await run(["runs", "show", AGENT_RUN], { folder });
    expect(stdout).toContain("\nbwrap is not installed\n");
  });

  test("whose output hides a terminal's commands and bytes that are no text is shown without them", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, Buffer.from("\u001b[2J\u001b]0;x\u0007ok\xff\n", "latin1"));
    const { stdout } = await run(["runs", "output", COMMAND_RUN], { folder });
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("output:\nok\ufffd\n");
  });
});

function cursorIn(text: string): string {
  return /(?:next|cursor)=(\S+)/.exec(text)?.[1] ?? "";
}

describe("a cursor", () => {
  test("of a page says that nothing changed, then what did", async () => {
    const folder = await twoRuns();
    const page = await run(["runs", "output", COMMAND_RUN], { folder });
    const argv = ["runs", "output", COMMAND_RUN, "--cursor", cursorIn(page.stdout)];
    expect((await run(argv, { folder })).stdout).toContain("Unchanged since the cursor · 1 need action");
    appendFileSync(registryIn(folder).logFile(COMMAND_RUN), "line 4\n");
    const journal = Journal.open(registryIn(folder).runFolder(COMMAND_RUN), { isLive: true });
    await journal.append([{ ...EXITED, id: `exit:${COMMAND_RUN}:2` }], { durable: true });
    await journal.close();
    const { stdout } = await run(argv, { folder });
    expect(stdout).toContain("Since the cursor: 7 more bytes of output, failures changed\n");
    expect(stdout).toContain("output (bytes 26-33 of 33):\nline 4\n");
    expect(stdout).not.toContain("boom");
  });

  test("of a list goes on in it, and stays in the history", async () => {
    const folder = newFolder();
    const events = Array.from({ length: 8 }, (_, index) => ({
      ...EXITED,
      id: `f${index}`,
      operation: `operation ${index}`,
      summary: `failure ${index}`,
    }));
    await storeCommandRun(folder, OUTPUT, { events });
    const rows: string[] = [];
    let argv = ["runs", "show", COMMAND_RUN, "--history", "--bytes", "700"];
    for (let pages = 0; pages < 9; pages += 1) {
      const { stdout } = await run(argv, { folder });
      expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(701);
      rows.push(...(stdout.match(/failure \d/g) ?? []));
      const cursor = /cursor=(i2\S+)/.exec(stdout)?.[1];
      if (cursor === undefined) break;
      argv = ["runs", "show", COMMAND_RUN, "--bytes", "700", "--cursor", cursor];
    }
    expect(rows).toEqual(Array.from({ length: 8 }, (_, index) => `failure ${7 - index}`));
  });

  test("of another run begins anew, and says so", async () => {
    const folder = await twoRuns();
    const page = await run(["runs", "show", COMMAND_RUN], { folder });
    const { exitCode, stdout } = await run(["runs", "show", AGENT_RUN, "--cursor", cursorIn(page.stdout)], { folder });
    expect([exitCode, stdout.split("\n")[2]]).toEqual([0, "reset: other-view"]);
  });
});

test.each([
  { argv: ["show"], exitCode: 2, stderr: /^ostler: Cannot make sense of "runs show"; write: ostler runs, or / },
  { argv: ["show", "a", "b"], exitCode: 2, stderr: /^ostler: Cannot make sense of "runs show a b"; write: / },
  { argv: ["shwo", "ag"], exitCode: 2, stderr: /; did you mean ostler runs show ag\?$/m },
  { argv: ["list", "ag"], exitCode: 2, stderr: /^ostler: Cannot make sense of "runs list ag"/ },
  { argv: ["stop", " "], exitCode: 2, stderr: /^ostler: An empty word names no run; ostler runs lists all$/m },
  { argv: ["show", "zz"], exitCode: 4, stderr: /^ostler: There is no run "zz"; ostler runs lists all$/m },
  {
    argv: ["show", "../../x"],
    exitCode: 4,
    stderr: /^ostler: There is no run "\.\.\/\.\.\/x"; ostler runs lists all$/m,
  },
  {
    argv: ["show", ""],
    exitCode: 2,
    stderr: /^ostler: An empty word names no run; ostler runs lists all$/m,
  },
  {
    argv: ["show", "ag", "--cursor", "i2.broken"],
    exitCode: 2,
    stderr: /^ostler: --cursor is not one that Ostler gave; copy it whole, or leave it away for the first page$/m,
  },
  {
    argv: ["show", "ag", "--cursor", "hello"],
    exitCode: 2,
    stderr: /^ostler: --cursor is not one that Ostler gave; /,
  },
  {
    argv: ["show", "ag", "--bytes", "65537"],
    exitCode: 2,
    stderr: /^ostler: --bytes cannot be "65537"; it is a whole number from 0 to 65536$/m,
  },
  {
    argv: ["list", "--history"],
    exitCode: 2,
    stderr: /^ostler: --history belongs to ostler runs show, output and result with a RUN$/m,
  },
])("runs $argv exits with $exitCode and one sentence", async ({ argv, exitCode, stderr }) => {
  const ran = await run(["runs", ...argv], { folder: await twoRuns() });
  expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([exitCode, "", expect.stringMatching(stderr)]);
  expect(ran.stderr.split("\n")).toHaveLength(2);
});

test("a page too small for a permission report says so", async () => {
  const folder = newFolder();
  const permission: FailureEvent = {
    id: "tool:043a7187:x",
    operation: "op",
    kind: "failure",
    category: "tool",
    summary: "denied",
  };
  await storeAgentRun(folder, [], {
    events: [
      permission,
      {
        id: "disposition:1",
        operation: "op",
        kind: "disposition",
        incidents: [permission.id],
        disposition: "open",
        reason: "it needs the login",
        by: "child",
        permissionBlockers: [
          {
            version: 1,
            kind: "permission-blocker",
            context: "worker",
            resource: "credential-files",
            basis: "agent-reported",
            operation: "run",
            remoteOutcome: "unknown",
            incidentId: permission.id,
            runId: AGENT_RUN,
          },
        ],
      },
    ],
  });
  const small = await run(["runs", "show", AGENT_RUN, "--bytes", "10"], { folder });
  expect([small.exitCode, small.stderr]).toEqual([2, expect.stringMatching(/^ostler: --bytes 10 is too small: /)]);
  const { stdout } = await run(["runs", "show", AGENT_RUN, "--json"], { folder });
  expect(JSON.parse(stdout)).toMatchObject({
    permissionBlockers: [{ resource: "credential-files", runId: AGENT_RUN }],
    permissionBlockersOmitted: 0,
  });
  const { stdout: text } = await run(["runs", "show", AGENT_RUN], { folder });
  expect(text).toContain("permission credential-files (agent-reported, remote outcome unknown)");
  expect(text).not.toContain("login");
});
