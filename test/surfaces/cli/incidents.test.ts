/** `ostler incidents list|show|dispose` over runs as their supervisors left them. */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import { readJournal } from "../../../src/failures/journal/read-journal.ts";
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

const SOURCE = fileURLToPath(new URL("../../../src/surfaces/cli/ostler.ts", import.meta.url));
const COMMAND_EXIT = `exit:${COMMAND_RUN}:1`;
const AGENT_EXIT = `exit:${AGENT_RUN}:13`;
/** `043a7187` stands for the session s. */
const TESTS = "tool:043a7187:a";

const EXITED: FailureEvent = {
  id: COMMAND_EXIT,
  operation: "task-exit",
  kind: "failure",
  at: MADE_AT + 11_000,
  category: "exit",
  summary: "npm test exited with code 1",
  exitCode: 1,
  evidence: "output.log#byte=14",
  attempt: { startN: 1, endN: 2 },
};

/** A failed command, and an agent whose tests failed, that checked otherwise, and that died. */
async function twoRuns(): Promise<{ readonly folder: string; readonly offsets: readonly number[] }> {
  const folder = newFolder();
  const offsets = await storeAgentRun(folder, [
    ...turn("t1", said("one"), ...executed("a", "npm test", "failed"), ...executed("b", "npm run check", "completed")),
    ...turn("t2", said("two"), ...executed("c", "npm run lint", "failed")),
    died(137),
  ]);
  await storeCommandRun(folder, "line 1\nline 2\nError: boom\n  at x\n", {
    meta: { status: "failed" },
    events: [EXITED],
  });
  return { folder, offsets };
}

function journalOf(folder: string, id: string): string[] {
  return readFileSync(join(registryIn(folder).runFolder(id), "failures.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

const COMMAND_ROW = `Action required · 2023-11-14T22:13:31.000Z · npm test exited with code 1 · evidence: output.log#byte=14 · id=${COMMAND_EXIT}`;
const AGENT_ROW = expect.stringMatching(
  new RegExp(`^Action required · 2023-.* · It exited with 137 · evidence: output\\.log#byte=\\d+ · id=${AGENT_EXIT}$`),
);
const COMMAND_HEADING = `run=${COMMAND_RUN} · failed · npm test`;
const AGENT_HEADING = `run=${AGENT_RUN} · completed · claude`;

describe("list", () => {
  test("is what needs action in all runs, with what to name it by", async () => {
    const { folder } = await twoRuns();
    const { exitCode, stdout, stderr } = await run(["incidents"], { folder });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      COMMAND_HEADING,
      COMMAND_ROW,
      AGENT_HEADING,
      AGENT_ROW,
      "2 unclassified tool errors (history)",
      "",
    ]);
  });

  test("--history lists everything", async () => {
    const { folder } = await twoRuns();
    const { stdout } = await run(["incidents", "list", "--history"], { folder });
    expect(stdout.split("\n")).toEqual([
      COMMAND_HEADING,
      COMMAND_ROW,
      AGENT_HEADING,
      AGENT_ROW,
      expect.stringMatching(
        /^Unclassified failure observation · .* · execute failed: npm run lint · .* · id=tool:043a7187:c$/,
      ),
      expect.stringMatching(
        /^Unclassified failure observation · .* · execute failed: npm test · .* · id=tool:043a7187:a$/,
      ),
      "",
    ]);
  });

  test("--run is one run", async () => {
    const { folder } = await twoRuns();
    const { stdout } = await run(["incidents", "--run", "cm"], { folder });
    expect(stdout).toBe(`${COMMAND_HEADING}\n${COMMAND_ROW}\n`);
  });

  test("--json is one object", async () => {
    const { folder } = await twoRuns();
    const { stdout } = await run(["incidents", "--json"], { folder });
    expect(JSON.parse(stdout)).toEqual({
      incidents: [
        expect.objectContaining({ runId: COMMAND_RUN, label: "Action required", id: COMMAND_EXIT, exitCode: 1 }),
        expect.objectContaining({ runId: AGENT_RUN, label: "Action required", id: AGENT_EXIT, exitCode: 137 }),
      ],
      needAction: 2,
      counts: { gaps: 0, actionRequired: 2, unclassified: 2, expected: 0, recovered: 0, superseded: 0 },
    });
  });

  test.each([450, 750])("its pages of %s bytes together are the list, from run to run", async (bytes) => {
    const folder = newFolder();
    const events = Array.from({ length: 5 }, (_, index) => ({
      ...EXITED,
      id: `f${index}`,
      operation: `operation ${index}`,
      // Of these a list without its history shows nothing.
      category: "tool" as const,
    }));
    for (const number of [1, 2, 3]) await storeCommandRun(folder, "", { id: `cm_loyw3v28abcd_${number}`, events });
    const ids: string[] = [];
    const headings: string[] = [];
    let argv = ["incidents", "--history", "--bytes", String(bytes)];
    for (let pages = 0; pages < 16; pages += 1) {
      const { stdout } = await run(argv, { folder });
      expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(bytes + 1);
      ids.push(...(stdout.match(/(?<=id=)f\d/g) ?? []));
      for (const line of stdout.match(/^Unclassified .*/gm) ?? []) expect(line).toMatch(/ · id=f\d$/);
      headings.push(...(stdout.match(/^run=\S+/gm) ?? []));
      const cursor = /cursor=(\S+)/.exec(stdout)?.[1];
      if (cursor === undefined) break;
      argv = ["incidents", "--bytes", String(bytes), "--cursor", cursor];
    }
    expect(ids).toEqual(["f4", "f3", "f2", "f1", "f0", "f4", "f3", "f2", "f1", "f0", "f4", "f3", "f2", "f1", "f0"]);
    expect([...new Set(headings)]).toEqual([3, 2, 1].map((number) => `run=cm_loyw3v28abcd_${number}`));
  });

  test("a cursor of another page begins anew, and one whose list changed says so", async () => {
    const folder = newFolder();
    const events = Array.from({ length: 5 }, (_, index) => ({ ...EXITED, id: `f${index}`, operation: `${index}` }));
    await storeCommandRun(folder, "", { events });
    const first = await run(["incidents", "--bytes", "400"], { folder });
    const cursor = /cursor=(\S+)/.exec(first.stdout)?.[1] ?? "";
    await run(["incidents", "dispose", "f0", "--as", "expected", "--reason", "a probe"], { folder });
    const changed = await run(["incidents", "--bytes", "400", "--cursor", cursor], { folder });
    expect(changed.stdout.split("\n")[1]).toBe("reset: changed");
    const runPage = await run(["runs", "show", COMMAND_RUN, "--bytes", "500"], { folder });
    const other = /cursor=(i2\S+)/.exec(runPage.stdout)?.[1] ?? "";
    const anew = await run(["incidents", "--cursor", other], { folder });
    expect(anew.stdout.split("\n")[1]).toBe("reset: other-view");
  });

  test("a cursor of a list that has become empty says so", async () => {
    const folder = newFolder();
    const first = { ...EXITED, id: "exit:1" };
    await storeCommandRun(folder, "", { id: "cm_loyw3v28abcd_1", events: [first] });
    await storeCommandRun(folder, "", { id: "cm_loyw3v28abcd_2", events: [EXITED] });
    const page = await run(["incidents", "--bytes", "330"], { folder });
    const cursor = /cursor=(\S+)/.exec(page.stdout)?.[1] ?? "";
    await run(["incidents", "dispose", "exit:1", "--as", "expected", "--reason", "x"], { folder });
    const { stdout } = await run(["incidents", "--cursor", cursor], { folder });
    expect(stdout).toBe(
      "run=cm_loyw3v28abcd_1 · completed · npm test\nreset: changed\nNo failures need action · 1 expected (history)\n",
    );
  });

  test.each([
    { from: "no run", events: [], stdout: "No failures need action\n" },
    {
      from: "an expected exit alone",
      events: [{ ...EXITED, expected: true }],
      stdout: "No failures need action · 1 expected (history)\n",
    },
  ])("$from", async ({ events, stdout }) => {
    const folder = newFolder();
    await storeCommandRun(folder, "", { events });
    expect((await run(["incidents"], { folder })).stdout).toBe(stdout);
  });

  test("damaged evidence needs action", async () => {
    const { folder } = await twoRuns();
    rmSync(join(registryIn(folder).runFolder(COMMAND_RUN), "failures.jsonl"));
    const { stdout } = await run(["incidents", "--run", COMMAND_RUN], { folder });
    expect(stdout).toMatch(/^Observation incomplete · /m);
    // Looking writes nothing.
    expect(() => journalOf(folder, COMMAND_RUN)).toThrow("ENOENT");
  });
});

describe("show", () => {
  test("an incident of an agent: what it is, how it came about, the line of the log", async () => {
    const { folder, offsets } = await twoRuns();
    const { exitCode, stdout, stderr } = await run(["incidents", "show", TESTS], { folder });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      `Unclassified failure observation: ${TESTS}`,
      `run       ${AGENT_RUN}`,
      "status    completed",
      "category  tool",
      "tool      execute",
      "first     2023-11-14T22:13:21.000Z",
      "last      2023-11-14T22:13:21.000Z",
      "times     1",
      "",
      `2023-11-14T22:13:20.003Z · failed · execute failed: npm test · output.log#byte=${offsets[3]}`,
      "",
      `output.log#byte=${offsets[3]}:`,
      expect.stringMatching(/^\{"t":1700000000003,"n":4,.*"toolCallId":"a","status":"failed"/),
      "",
    ]);
  });

  test("of a command: its output from the place on", async () => {
    const { folder } = await twoRuns();
    const { stdout } = await run(["incidents", "show", COMMAND_EXIT], { folder });
    expect(stdout).toContain("\nexit      1\n");
    expect(stdout).toMatch(/\n\noutput\.log#byte=14:\nError: boom\n {2}at x\n$/);
  });

  test("its whole history, and a program gets the records", async () => {
    const { folder } = await twoRuns();
    await run(["incidents", "dispose", AGENT_EXIT, "--as", "open", "--reason", "look at it"], { folder });
    await run(["incidents", "dispose", AGENT_EXIT, "--as", "expected", "--reason", "I killed it"], { folder });
    const { stdout } = await run(["incidents", "show", AGENT_EXIT], { folder });
    expect(stdout).toMatch(/^said +expected by human: I killed it$/m);
    expect(stdout.match(/ · (?:failed|open by human|expected by human) · .*/g)).toEqual([
      expect.stringMatching(/^ · failed · It exited with 137 · output\.log#byte=\d+$/),
      " · open by human · look at it",
      " · expected by human · I killed it",
    ]);
    const json = await run(["incidents", "show", AGENT_EXIT, "--json"], { folder });
    expect(JSON.parse(json.stdout)).toMatchObject({
      incident: { runId: AGENT_RUN, label: "Expected failure", id: AGENT_EXIT, strikes: 1 },
      records: [
        { kind: "failure", exitCode: 137 },
        { kind: "disposition", disposition: "open", by: "human" },
        { kind: "disposition", disposition: "expected", by: "human", reason: "I killed it" },
      ],
      evidence: expect.stringContaining('"type":"exited"'),
    });
  });

  test("the newest twenty of its records", async () => {
    const folder = newFolder();
    const events = Array.from({ length: 25 }, (_, index) => ({ ...EXITED, id: `f${index}`, summary: `try ${index}` }));
    await storeCommandRun(folder, "", { events });
    const { stdout } = await run(["incidents", "show", "f0"], { folder });
    expect(stdout).toContain("\n5 earlier records are not shown; --json has all\n");
    expect(stdout.match(/try \d+/g)).toEqual(Array.from({ length: 20 }, (_, index) => `try ${index + 5}`));
  });

  test("at most --bytes of a log, without a terminal's commands and without secrets", async () => {
    const folder = newFolder();
    const token = `ghp_${"aB3".repeat(12)}`;
    await storeCommandRun(folder, `line 1\nline 2\n\u001b[2Jtoken ${token} ${"x".repeat(20_000)}\n`, {
      events: [EXITED],
    });
    const { stdout } = await run(["incidents", "show", COMMAND_EXIT], { folder });
    const evidence = stdout.slice(stdout.indexOf("byte=14:\n") + "byte=14:\n".length).trimEnd();
    expect(evidence).toMatch(/^token \[redacted\] x+$/);
    expect(Buffer.byteLength(evidence)).toBeLessThanOrEqual(16_384);
    const short = await run(["incidents", "show", COMMAND_EXIT, "--bytes", "60"], { folder });
    expect(short.stdout).not.toContain("ghp_");
  });

  test.each([
    { from: "no place in the log", evidence: undefined },
    { from: "a poll", evidence: "output.log#poll=3" },
    { from: "a place behind the end of the log", evidence: "output.log#byte=999999" },
  ])("evidence that is $from shows nothing of it", async ({ evidence }) => {
    const folder = newFolder();
    const { evidence: _evidence, ...without } = EXITED;
    await storeCommandRun(folder, "line 1\n", {
      events: [{ ...without, ...(evidence !== undefined && { evidence }) }],
    });
    const { exitCode, stdout } = await run(["incidents", "show", COMMAND_EXIT], { folder });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain("line 1");
  });
});

describe("dispose", () => {
  test("is on disk before it is said, in the words of a person", async () => {
    const { folder } = await twoRuns();
    const argv = ["incidents", "dispose", COMMAND_EXIT, "--as", "expected", "--reason", "flaky\nhost"];
    expect(await run(argv, { folder })).toMatchObject({
      exitCode: 0,
      stdout: `Expected failure: ${COMMAND_EXIT}\n`,
      stderr: "",
    });
    const records = journalOf(folder, COMMAND_RUN);
    expect(records).toHaveLength(2);
    expect(JSON.parse(records[1] ?? "")).toMatchObject({
      seq: 1,
      event: {
        kind: "disposition",
        operation: "task-exit",
        incidents: [COMMAND_EXIT],
        disposition: "expected",
        reason: "flaky host",
        by: "human",
      },
    });
    expect((await run(["incidents", "--run", COMMAND_RUN], { folder })).stdout).toBe(
      "No failures need action · 1 expected (history)\n",
    );
  });

  test("recovered and superseded go by an attempt of the run's own log", async () => {
    const { folder } = await twoRuns();
    const superseded = ["incidents", "dispose", TESTS, "--as", "superseded", "--reason", "checked otherwise"];
    const { stdout } = await run([...superseded, "--evidence", "b", "--json"], { folder });
    expect(JSON.parse(stdout)).toMatchObject({
      disposed: true,
      incident: { runId: AGENT_RUN, id: TESTS, label: "Superseded" },
    });
    expect(JSON.parse(journalOf(folder, AGENT_RUN).at(-1) ?? "")).toMatchObject({
      event: { evidence: "b", proof: { toolCallId: "b", startN: 5, endN: 6 } },
    });
  });

  test.each([
    {
      from: "recovered by the success of another operation",
      argv: [TESTS, "--as", "recovered", "--reason", "x", "--evidence", "b"],
      stderr: /The evidence is another operation than incident tool:043a7187:a; that is "superseded", not "recovered"/,
    },
    {
      from: "superseded by a success that started before the failure",
      argv: ["tool:043a7187:c", "--as", "superseded", "--reason", "x", "--evidence", "b"],
      stderr: /The evidence started before incident tool:043a7187:c last failed/,
    },
    {
      from: "superseded without evidence",
      argv: [TESTS, "--as", "superseded", "--reason", "x"],
      stderr: /"superseded" needs evidence: an attempt that succeeded and started after the failure/,
    },
    {
      from: "evidence that nobody knows",
      argv: [TESTS, "--as", "superseded", "--reason", "x", "--evidence", "z"],
      stderr: /This run knows no attempt or tool call "z" as evidence/,
    },
    { from: "a blank reason", argv: [TESTS, "--as", "open", "--reason", " "], stderr: /reason is a text of 1 to 400/ },
    { from: "no word", argv: [TESTS, "--reason", "x"], stderr: /^ostler: Say what it is: --as recovered, superseded/ },
    { from: "no reason", argv: [TESTS, "--as", "open"], stderr: /^ostler: Say why, with --reason: it is kept with/ },
    { from: "another word", argv: [TESTS, "--as", "fixed"], stderr: /^ostler: --as cannot be "fixed"; it is one of/ },
  ])("$from is refused, and nothing is written", async ({ argv, stderr }) => {
    const { folder } = await twoRuns();
    const before = journalOf(folder, AGENT_RUN);
    const ran = await run(["incidents", "dispose", ...argv], { folder });
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([2, "", expect.stringMatching(stderr)]);
    expect(ran.stderr.split("\n")).toHaveLength(2);
    expect(journalOf(folder, AGENT_RUN)).toEqual(before);
  });

  test("twice is refused", async () => {
    const { folder } = await twoRuns();
    const argv = ["incidents", "dispose", COMMAND_EXIT, "--as", "expected", "--reason", "x"];
    await run(argv, { folder });
    expect(await run(argv, { folder })).toMatchObject({
      exitCode: 2,
      stderr: `ostler: Nothing was recorded: Incident ${COMMAND_EXIT} is closed already: Expected failure\n`,
    });
  });

  test("while another Ostler supervises the run: it goes on behind the person's record", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "", { meta: { status: "running" } });
    const runFolder = registryIn(folder).runFolder(COMMAND_RUN);
    const supervisor = Journal.open(runFolder, {});
    await supervisor.append([EXITED], { durable: true });
    const argv = ["incidents", "dispose", COMMAND_EXIT, "--as", "expected", "--reason", "x"];
    expect((await run(argv, { folder })).exitCode).toBe(0);
    supervisor.refresh();
    expect(supervisor.state.incidents.get(COMMAND_EXIT)?.disposition).toMatchObject({ by: "human" });
    await supervisor.append([{ ...EXITED, id: "again" }], { durable: true });
    await supervisor.close();
    const { incidents } = readJournal(runFolder);
    expect([...incidents.values()].map(({ id, status }) => [id, status])).toEqual([
      [COMMAND_EXIT, "expected"],
      ["again", "unresolved"],
    ]);
  });

  test("that cannot be written is not said to be done", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "", { events: [EXITED] });
    const { size } = statSync(join(registryIn(folder).runFolder(COMMAND_RUN), "failures.jsonl"));
    const argv = ["incidents", "dispose", COMMAND_EXIT, "--as", "expected", "--reason", "x"];
    // Files of the process cannot grow: its disk is full.
    const limited = ["prlimit", `--fsize=${size}`, process.execPath, "--no-warnings", SOURCE, ...argv];
    const { status, stdout, stderr } = spawnSync("env", limited, {
      env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home") },
      encoding: "utf8",
    });
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      `ostler: Nothing was recorded for run ${COMMAND_RUN}: its journal cannot be written\n`,
    ]);
    expect((await run(["incidents"], { folder })).stdout).toContain(COMMAND_ROW);
  });

  test("acknowledges evidence that is missing", async () => {
    const { folder } = await twoRuns();
    appendFileSync(join(registryIn(folder).runFolder(COMMAND_RUN), "failures.jsonl"), "\nhalf a rec\n");
    const listed = await run(["incidents", "--run", COMMAND_RUN, "--json"], { folder });
    const { incidents }: { incidents: { id: string; label: string }[] } = JSON.parse(listed.stdout);
    const gap = incidents.find(({ label }) => label === "Observation incomplete")?.id ?? "";
    const ran = await run(["incidents", "dispose", gap, "--as", "expected", "--reason", "the disk was full"], {
      folder,
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: `Expected failure: ${gap}\n` });
    expect((await run(["incidents", "--run", COMMAND_RUN], { folder })).stdout).not.toContain("Observation incomplete");
  });
});

describe("names", () => {
  test("an id that two runs have is asked for with the runs", async () => {
    const folder = newFolder();
    for (const number of [1, 2]) {
      await storeCommandRun(folder, "", { id: `cm_loyw3v28abcd_${number}`, events: [{ ...EXITED, id: "exit:1" }] });
    }
    const argv = ["incidents", "dispose", "exit:1", "--as", "expected", "--reason", "x"];
    expect(await run(argv, { folder })).toMatchObject({
      exitCode: 2,
      stderr:
        'ostler: 2 runs have an incident "exit:1"; say which with --run, one of cm_loyw3v28abcd_2, cm_loyw3v28abcd_1\n',
    });
    expect((await run([...argv, "--run", "cm_loyw3v28abcd_1"], { folder })).exitCode).toBe(0);
  });

  test("a whole id is not the beginning of a longer one", async () => {
    const folder = newFolder();
    const events = ["f1", "f10"].map((id) => ({ ...EXITED, id, operation: id }));
    for (const number of [1, 10]) await storeCommandRun(folder, "", { id: `cm_loyw3v28abcd_${number}`, events });
    const { stdout } = await run(["incidents", "show", "f1", "--run", "cm_loyw3v28abcd_1"], { folder });
    expect(stdout).toMatch(/^Action required: f1\nrun +cm_loyw3v28abcd_1\n/);
  });

  test.each([
    {
      argv: ["show"],
      exitCode: 2,
      stderr: /^ostler: Cannot make sense of "incidents show"; write: ostler incidents, or /,
    },
    { argv: ["list", "x"], exitCode: 2, stderr: /^ostler: Cannot make sense of "incidents list x"; write: / },
    { argv: ["dispos", "x"], exitCode: 2, stderr: /; did you mean ostler incidents dispose x\?$/m },
    {
      argv: ["show", "nobody"],
      exitCode: 4,
      stderr: /^ostler: There is no incident "nobody"; ostler incidents --history lists all$/m,
    },
    { argv: ["show", TESTS, "--run", "cm"], exitCode: 4, stderr: /^ostler: There is no incident "tool:043a7187:a"/ },
    { argv: ["--run", "zz"], exitCode: 4, stderr: /^ostler: There is no run "zz"; ostler runs lists all$/m },
    {
      argv: ["show", "tool:"],
      exitCode: 2,
      stderr: /^ostler: 2 incidents begin with "tool:"; say more of the id: tool:043a7187:a, tool:043a7187:c$/m,
    },
    { argv: ["--cursor", "i2.x"], exitCode: 2, stderr: /^ostler: --cursor is not one that Ostler gave; copy it whole/ },
    { argv: ["--as", "open"], exitCode: 2, stderr: /^ostler: --as belongs to ostler incidents dispose$/m },
    { argv: ["show", "x", "--raw"], exitCode: 2, stderr: /^ostler: --raw belongs to ostler incidents list$/m },
    {
      argv: ["dispose", "x", "--bytes", "5"],
      exitCode: 2,
      stderr: /^ostler: --bytes belongs to ostler incidents list and show$/m,
    },
  ])("incidents $argv exits with $exitCode and one sentence", async ({ argv, exitCode, stderr }) => {
    const { folder } = await twoRuns();
    const ran = await run(["incidents", ...argv], { folder });
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([exitCode, "", expect.stringMatching(stderr)]);
    expect(ran.stderr.split("\n")).toHaveLength(2);
  });

  test("a run whose metadata is damaged has its incidents", async () => {
    const { folder } = await twoRuns();
    writeFileSync(registryIn(folder).metaFile(COMMAND_RUN), "{");
    expect((await run(["incidents", "--run", COMMAND_RUN], { folder })).stdout).toBe(
      `run=${COMMAND_RUN}\n${COMMAND_ROW}\n`,
    );
    expect((await run(["incidents", "show", COMMAND_EXIT], { folder })).stdout).toContain(
      "status    unknown: its metadata cannot be read\n",
    );
  });
});
