/** `ostler runs prune` and `ostler runs stop`, over runs as their supervisors left them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "../../../src/acp/processes.ts";
import { thisProcess } from "../../../src/acp/this-process.ts";
import type { FailureEvent } from "../../../src/failures/records.ts";
import { chunk } from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";
import { AGENT_RUN, COMMAND_RUN, registryIn, storeCommandRun } from "./stored-runs.ts";

const EXITED: FailureEvent = {
  id: `exit:${COMMAND_RUN}:1`,
  operation: "task-exit",
  kind: "failure",
  category: "exit",
  summary: "npm test exited with code 1",
  exitCode: 1,
};
/** Nobody was told of it. */
const UNTOLD = {
  id: COMMAND_RUN,
  meta: { status: "failed", callback: true, told: ["completion"] },
  events: [EXITED],
} as const;
const DEAD = { pid: 999_999_999, startedAt: "1", system: thisProcess().system };
/** An agent whose process ends in the middle of its turn. */
const dying: Scenario = { on: { "session/prompt": [[chunk("partial"), { exit: 3 }]] } };
const there = (folder: string): string[] => registryIn(folder).ids();

describe("prune", () => {
  test("removes what ended long ago, and says how much", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "x".repeat(3 * 1024 * 1024), { id: AGENT_RUN });
    await storeCommandRun(folder, "new", { meta: { endedAt: Date.now() } });
    expect(await run(["runs", "prune", "--older-than", "30d"], { folder })).toEqual(
      expect.objectContaining({ exitCode: 0, stdout: "Removed 1 run, 3.0 MiB\n", stderr: "" }),
    );
    expect(there(folder)).toEqual([COMMAND_RUN]);
  });

  test("a dry run lists it, and removes nothing", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "old");
    const { exitCode, stdout } = await run(["runs", "prune", "--keep", "0", "--dry-run"], { folder });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^Would remove 1 run, 1 KiB:\n${COMMAND_RUN}  completed  2023-11-1\\d \\d\\d:13  1 KiB\n$`),
    );
    expect(there(folder)).toEqual([COMMAND_RUN]);
  });

  test("without rules, what the configuration says", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "old", { id: AGENT_RUN, meta: { endedAt: Date.now() - 3 * 86_400_000 } });
    await storeCommandRun(folder, "new", { meta: { endedAt: Date.now() } });
    expect((await run(["runs", "prune"], { folder })).stdout).toBe("Nothing was removed\n");
    mkdirSync(join(folder, "home"), { recursive: true });
    writeFileSync(join(folder, "home/config.json"), JSON.stringify({ retention: { days: 2 } }));
    expect((await run(["runs", "prune"], { folder })).stdout).toBe("Removed 1 run, 1 KiB\n");
    expect(there(folder)).toEqual([COMMAND_RUN]);
  });

  test("the configured retention is applied by itself, once a day, when a run was kept", async () => {
    const folder = newFolder();
    const old = { meta: { endedAt: Date.now() - 31 * 86_400_000 } };
    await storeCommandRun(folder, "old", old);
    const ask = { folder, scenario: dying };
    expect((await run(["ask", "hi"], ask)).exitCode).toBe(9);
    const [kept, ...others] = there(folder);
    expect({ kept, others }).toEqual({ kept: expect.stringMatching(/^ag_/), others: [] });
    await storeCommandRun(folder, "old", old);
    await run(["ask", "hi"], ask);
    expect(there(folder).filter((id) => id.startsWith("cm_"))).toEqual([COMMAND_RUN]);
  });

  test("what a rule has to leave is said, with what to do about it", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "", UNTOLD);
    await storeCommandRun(folder, "", { id: AGENT_RUN, meta: { status: "running" } });
    expect(await run(["runs", "prune", "--keep", "0"], { folder })).toMatchObject({
      exitCode: 0,
      stdout: [
        "Nothing was removed",
        `${COMMAND_RUN} stays: nobody was told of all that failed in it; ostler incidents --run ${COMMAND_RUN} --history shows it`,
        `${AGENT_RUN} stays: it goes on; ostler runs stop ${AGENT_RUN} ends it`,
        "",
      ].join("\n"),
      stderr: "",
    });
    expect(there(folder)).toEqual([COMMAND_RUN, AGENT_RUN]);
  });

  test("a run that is named and stays is an error", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "", UNTOLD);
    await storeCommandRun(folder, "", { id: AGENT_RUN });
    const { exitCode, stdout, stderr } = await run(["runs", "prune", COMMAND_RUN, "ag_", "--json"], { folder });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      dryRun: false,
      removed: [{ id: AGENT_RUN, bytes: expect.any(Number) }],
      kept: [{ id: COMMAND_RUN, because: "untold" }],
      bytes: expect.any(Number),
      problem: expect.stringContaining("nobody was told"),
    });
    expect(stderr).toBe(
      `ostler: ${COMMAND_RUN} stays: nobody was told of all that failed in it; ostler incidents --run ${COMMAND_RUN} --history shows it\n`,
    );
  });

  test.each([
    {
      argv: ["prune", "--older-than", "30"],
      exitCode: 2,
      says: "it is a number with s, m, h, d or w behind it, such as 30d",
    },
    { argv: ["prune", "--older-than", "3y"], exitCode: 2, says: '--older-than cannot be "3y"' },
    { argv: ["prune", "--keep", "-1"], exitCode: 2, says: "--keep" },
    { argv: ["prune", COMMAND_RUN, "--keep", "1"], exitCode: 2, says: "Name the runs, or say which with --older-than" },
    { argv: ["prune", "cm_nothing"], exitCode: 4, says: 'There is no run "cm_nothing"' },
    { argv: ["prune", "--history"], exitCode: 2, says: "--history belongs to ostler runs show" },
    { argv: ["list", "--keep", "1"], exitCode: 2, says: "--keep belongs to ostler runs prune" },
    { argv: ["show", COMMAND_RUN, "--dry-run"], exitCode: 2, says: "--dry-run belongs to ostler runs prune" },
    { argv: ["stop"], exitCode: 2, says: "write: ostler runs" },
    { argv: ["stop", COMMAND_RUN, AGENT_RUN], exitCode: 2, says: "write: ostler runs" },
  ])("$argv: exit code $exitCode", async ({ argv, exitCode, says }) => {
    const folder = newFolder();
    await storeCommandRun(folder, "");
    const told = await run(["runs", ...argv], { folder });
    expect(told).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
    expect(there(folder)).toEqual([COMMAND_RUN]);
  });
});

describe("stop", () => {
  test("ends what nobody supervises any more", async () => {
    const folder = newFolder();
    const child = spawn(process.execPath, ["-e", 'console.log("up");setInterval(() => {}, 1e6)'], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const pid = child.pid ?? 0;
    const process_ = { pid, startedAt: startTimeOf(pid) ?? "" };
    await storeCommandRun(folder, "", { meta: { status: "orphaned", supervisor: DEAD, process: process_ } });
    const { exitCode, stdout, stderr } = await run(["runs", "stop", COMMAND_RUN, "--json"], { folder });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ id: COMMAND_RUN, stopped: true, result: "stopped", status: "cancelled" });
    expect(startTimeOf(pid)).toBeUndefined();
    expect(await run(["runs", "stop", COMMAND_RUN], { folder })).toMatchObject({
      exitCode: 0,
      stdout: `Run ${COMMAND_RUN} is over already: cancelled\n`,
    });
  });

  test("a run on another machine is left alone, and said", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "", { meta: { status: "running", supervisor: { ...DEAD, system: "0badb007-1" } } });
    registryIn(folder).updateMeta(COMMAND_RUN, { machine: "0123456789ab" });
    expect(await run(["runs", "stop", COMMAND_RUN], { folder })).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: `ostler: Run ${COMMAND_RUN} is on another machine or in another container, where its processes can be reached; stop it there\n`,
    });
  });

  test("metadata that cannot be read names no process", async () => {
    const folder = newFolder();
    await storeCommandRun(folder, "");
    writeFileSync(registryIn(folder).metaFile(COMMAND_RUN), "{");
    expect(await run(["runs", "stop", COMMAND_RUN], { folder })).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: `ostler: The metadata of run ${COMMAND_RUN} cannot be read: which processes it has is not known\n`,
    });
    expect(existsSync(registryIn(folder).logFile(COMMAND_RUN))).toBe(true);
  });
});
