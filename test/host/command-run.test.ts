/** Background commands: real processes under the supervisor, and what is on disk when they are over. */
import { existsSync, readFileSync, readdirSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startTimeOf } from "../../src/acp/processes.ts";
import type { CommandLaunch } from "../../src/host/command-run-launch.ts";
import { World } from "./supervised.ts";

const ended = (status: string, exitCode: number): object => ({ type: "ended", status, exitCode });

describe("how it ends", () => {
  test.each<{
    from: string;
    line: string;
    launch?: Partial<CommandLaunch>;
    status: string;
    exitCode: number;
    exit: { code: number | null; signal: string | null };
    labels: readonly string[];
  }>([
    {
      from: "exit 0",
      line: "exit 0",
      status: "completed",
      exitCode: 0,
      exit: { code: 0, signal: null },
      labels: [],
    },
    {
      from: "an exit code that nobody declared",
      line: "exit 3",
      status: "failed",
      exitCode: 3,
      exit: { code: 3, signal: null },
      labels: ["Action required · The command exited with 3"],
    },
    {
      from: "failure observations, case 16, for a command run",
      line: "exit 1",
      launch: { expectedExitCodes: [1] },
      status: "completed",
      exitCode: 1,
      exit: { code: 1, signal: null },
      labels: ["Expected failure · The command exited with 1"],
    },
    {
      from: "failure observations, case 17, for a command run",
      line: "exit 2",
      launch: { expectedExitCodes: [1] },
      status: "failed",
      exitCode: 2,
      exit: { code: 2, signal: null },
      labels: ["Action required · The command exited with 2"],
    },
    {
      from: "a signal, though its number was declared as a code",
      line: "kill -TERM $$",
      launch: { expectedExitCodes: [15, 143] },
      status: "failed",
      exitCode: 143,
      exit: { code: null, signal: "SIGTERM" },
      labels: ["Action required · The command was ended by SIGTERM"],
    },
    {
      from: "failure observations, case 18: time is up, and the code that it then ends with was declared",
      line: "trap 'exit 1' TERM; sleep 60 & wait",
      launch: { expectedExitCodes: [1], timeoutMs: 300 },
      status: "failed",
      exitCode: 3,
      exit: { code: 1, signal: null },
      labels: ["Action required · The command timed out"],
    },
  ])("$from", async ({ line, launch, status, exitCode, exit, labels }) => {
    const run = await new World().supervise(line, launch);
    expect(run.news.at(-1)).toEqual(ended(status, exitCode));
    expect(run.meta).toMatchObject({ kind: "command", status, exit, taskRuntime: false, told: ["completion"] });
    expect(run.meta.endedAt).toBeGreaterThanOrEqual(run.meta.createdAt);
    expect(run.labels).toEqual(labels);
  });

  test("it is running, and written down, when it is said to be started", async () => {
    const world = new World();
    const seen: unknown[] = [];
    const run = await world.supervise("exit 0", {}, { onStarted: ({ runId }) => seen.push(world.metaOf(runId)) });
    expect(seen).toEqual([
      expect.objectContaining({
        status: "running",
        id: run.id,
        title: "sh -c 'exit 0'",
        supervisor: expect.objectContaining({ pid: process.pid }),
        process: expect.objectContaining({ pid: expect.any(Number), startedAt: expect.stringMatching(/./) }),
      }),
    ]);
  });

  test("what it left with its output open still belongs to it", async () => {
    const world = new World();
    const go = join(world.folder, "go");
    const line = `(until [ -e '${go}' ]; do sleep 0.05; done; echo later) & echo now`;
    const run = await world.supervise(
      line,
      {},
      { onStarted: ({ logFile }) => onceIn(logFile, "now\n", () => writeFileSync(go, "")) },
    );
    expect(run.log.toString()).toBe("now\nlater\n");
    expect(run.meta.status).toBe("completed");
  });
});

describe("a command that cannot be started", () => {
  test.each<{ from: string; launch: Partial<CommandLaunch>; sentence: string }>([
    {
      from: "a program that is not there",
      launch: { command: ["no-such-program"] },
      sentence: 'The command "no-such-program" cannot be started: there is no such program',
    },
    {
      from: "a line for a shell",
      launch: { command: ["make all"] },
      sentence: 'The command "make all" cannot be started: there is no such program; a line for a shell is: sh -c "…"',
    },
    {
      from: "a file that is not executable",
      launch: { command: ["/etc/passwd"] },
      sentence: 'The command "/etc/passwd" cannot be started: it is not executable',
    },
    {
      from: "a folder that is not there",
      launch: { cwd: "/no/such/folder" },
      sentence: 'The command "sh" cannot be started: the folder /no/such/folder does not exist',
    },
    {
      from: "a word that no process can be given",
      launch: { command: ["echo", "a\0b"] },
      sentence: 'The command "echo" cannot be started (ERR_INVALID_ARG_VALUE)',
    },
  ])("$from", async ({ launch, sentence }) => {
    const run = await new World().supervise("exit 0", launch);
    expect(run.news).toEqual([{ type: "unstarted", runId: run.id, sentence }, ended("failed", 9)]);
    expect(run.meta).toMatchObject({ status: "failed", told: ["completion"] });
    expect(run.meta).not.toHaveProperty("exit");
    expect(run.incidents).toMatchObject([{ category: "supervision", summary: sentence, status: "unresolved" }]);
  });

  test("nothing is written down where nothing can be", async () => {
    const world = new World();
    writeFileSync(world.paths.state, "in the way");
    await expect(world.supervise("exit 0")).rejects.toThrow(
      /Nothing was started: \[\{"type":"refused","sentence":"No run can be written down in .*state \(EEXIST\)"\}\]/,
    );
  });
});

describe("a stop", () => {
  test("ends the tree, and is no failure", async () => {
    const world = new World();
    const pids = join(world.folder, "pids");
    const line = `sleep 300 & setsid sleep 300 & echo $$ $! >'${pids}'; echo up; wait`;
    const run = await world.supervise(line, {}, { onStarted: ({ logFile, stop }) => onceIn(logFile, "up\n", stop) });
    expect(run.news.at(-1)).toEqual(ended("cancelled", 143));
    expect(run.meta).toMatchObject({ status: "cancelled", exit: { code: null, signal: "SIGTERM" } });
    expect(run.incidents).toEqual([]);
    // Whoever stops it knows that it ended.
    expect(run.notices).toEqual([]);
    for (const pid of readFileSync(pids, "utf8").trim().split(" ")) expect(startTimeOf(Number(pid))).toBeUndefined();
  });

  test("the second one at once, though the command ignores the first", async () => {
    const line = "trap '' TERM; echo up; while :; do sleep 0.1; done";
    const began = performance.now();
    const run = await new World().supervise(
      line,
      {},
      {
        onStarted: ({ logFile, stop, kill }) =>
          onceIn(logFile, "up\n", () => {
            stop();
            kill();
          }),
      },
    );
    expect(run.meta).toMatchObject({ status: "cancelled", exit: { code: null, signal: "SIGKILL" } });
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

describe("the output", () => {
  test("both pipes, bytes as they came, without secrets, and readable by its owner alone", async () => {
    const world = new World();
    const line = String.raw`printf 'out\n'; printf 'err\n' >&2; printf '\377\n'; echo sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9; printf tail`;
    const run = await world.supervise(line);
    const lines = run.log.toString("latin1").split("\n");
    expect(lines.toSorted()).toEqual(["[redacted]", "err", "out", "tail", "\u00FF"]);
    expect(lines.at(-1)).toBe("tail");
    expect(statSync(world.registry.logFile(run.id)).mode & 0o777).toBe(0o600);
  });

  test("the lines of two pipes and of two runs never mix", async () => {
    const world = new World();
    const runs = await Promise.all(["one", "two"].map((word) => world.supervise(chatter(word))));
    for (const [at, word] of ["one", "two"].entries()) {
      const lines = runs[at]?.log.toString().trimEnd().split("\n") ?? [];
      expect(new Set(lines)).toEqual(new Set([`${word}-out`, `${word}-err`]));
      expect(lines).toHaveLength(600);
    }
  });

  test("the evidence is the last line", async () => {
    const run = await new World().supervise("echo one; echo größe; printf 'last'; exit 5");
    expect(run.incidents).toMatchObject([{ exitCode: 5, evidence: "output.log#byte=12" }]);
    expect(run.log.subarray(12).toString()).toBe("last");
  });

  test("a command that reads its input meets its end", async () => {
    const run = await new World().supervise("cat; echo over");
    expect(run.log.toString()).toBe("over\n");
  });

  test("Ostler's secrets do not reach it", async () => {
    const world = new World();
    world.env["OSTLER_TELEGRAM_TOKEN"] = "hidden-from-it";
    world.env["GREETING"] = "hello";
    const run = await world.supervise('echo "$GREETING $OSTLER_TELEGRAM_TOKEN."');
    expect(run.log.toString()).toBe("hello .\n");
  });
});

describe("who is told", () => {
  test("somebody who waits is shown it, and nobody else", async () => {
    const world = new World();
    const run = await world.supervise("exit 7");
    expect(run.notices).toEqual([expect.stringContaining(firstLine(run.id, "7"))]);
    expect(run.notices[0]).toContain("Action required");
    expect(existsSync(join(world.paths.state, "notices"))).toBe(false);
  });

  test.each([
    { from: "nobody waits", awaited: false, isHeard: true },
    { from: "whoever waited has left", awaited: true, isHeard: false },
  ])("the notice box, when $from", async ({ awaited, isHeard }) => {
    const world = new World();
    const run = await world.supervise("exit 0", { awaited }, { isHeard });
    expect(noticesOf(world)).toEqual([expect.stringContaining(firstLine(run.id, "0"))]);
    expect(run.meta.told).toEqual(["completion"]);
  });

  test("nobody, with --no-notify; the failure is there all the same", async () => {
    const world = new World();
    const run = await world.supervise("exit 7", { callback: false, awaited: false });
    expect(noticesOf(world)).toEqual([]);
    expect(run.meta).toMatchObject({ callback: false, told: [] });
    expect(run.labels).toEqual(["Action required · The command exited with 7"]);
  });

  test("a command of the user's, with the words on its stdin", async () => {
    const world = new World();
    const heard = join(world.folder, "heard");
    const run = await world.supervise("exit 7", { awaited: false, notifyCommand: ["tee", heard] });
    expect(readFileSync(heard, "utf8")).toContain(firstLine(run.id, "7"));
    expect(noticesOf(world)).toEqual([]);
  });

  test("the notice box, when that command does not accept it", async () => {
    const world = new World();
    const run = await world.supervise("exit 7", {
      awaited: false,
      notifyCommand: ["sh", "-c", "echo no route >&2; exit 4"],
    });
    const [notice = ""] = noticesOf(world);
    expect(notice).toContain(firstLine(run.id, "7"));
    expect(notice).toContain("The notification command ended with 4: no route");
  });

  test("nobody again of a start that failed, which was said at once", async () => {
    const world = new World();
    const run = await world.supervise("", { command: ["no-such-program"], awaited: false });
    expect(noticesOf(world)).toEqual([]);
    expect(run.meta.told).toEqual(["completion"]);
  });
});

describe("recovery by a later run", () => {
  const TRY: Partial<CommandLaunch> = { operationId: "deploy", owner: "session:a" };

  test("of the same operation and owner", async () => {
    const world = new World();
    const first = await world.supervise("exit 1", TRY);
    expect(first.labels).toEqual(["Action required · The command exited with 1"]);
    await world.supervise("echo another way", TRY);
    expect(world.incidentsOf(first.id)).toMatchObject([{ status: "resolved" }]);
  });

  test.each<{ from: string; later: Partial<CommandLaunch>; line?: string }>([
    { from: "failure observations, case 71: another owner", later: { ...TRY, owner: "session:b" } },
    { from: "another operation id", later: { ...TRY, operationId: "deploy-2" } },
    { from: "no operation id, the same command", later: { owner: "session:a" } },
    { from: "another folder", later: { ...TRY, cwd: "/" } },
    { from: "an expected exit, which is no success", later: { ...TRY, expectedExitCodes: [1] }, line: "exit 1" },
    { from: "a failure", later: TRY, line: "exit 2" },
    {
      from: "a run whose time was up, though it then ended well",
      later: { ...TRY, timeoutMs: 200 },
      line: "trap 'exit 0' TERM; sleep 60 & wait",
    },
  ])("not by $from", async ({ later, line = "exit 0" }) => {
    const world = new World();
    const first = await world.supervise("exit 1", TRY);
    await world.supervise(line, later);
    expect(world.incidentsOf(first.id)).toMatchObject([{ status: "unresolved" }]);
  });

  test("failure observations, case 72: not by a success that started before the failure ended", async () => {
    const world = new World();
    const go = join(world.folder, "go");
    const slow = world.supervise(`until [ -e '${go}' ]; do sleep 0.05; done`, TRY);
    const quick = await world.supervise("exit 1", TRY);
    writeFileSync(go, "");
    expect((await slow).meta.status).toBe("completed");
    expect(world.incidentsOf(quick.id)).toMatchObject([{ status: "unresolved" }]);
  });
});

/** Says a word in two pieces on each pipe, 300 times. */
function chatter(word: string): string {
  const pieces = `printf '${word}-'; printf 'out\\n'; printf '${word}-' >&2; printf 'err\\n' >&2`;
  return `for i in $(seq 300); do ${pieces}; done`;
}

/** What the notification of a run begins with. */
function firstLine(id: string, exit: string): string {
  return `run=${id} · sh -c 'exit ${exit}' · exit ${exit}`;
}

/** What waits in the notice box. */
function noticesOf(world: World): string[] {
  const folder = join(world.paths.state, "notices");
  return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")) : [];
}

/** Acts once the output of the command has come to these words. */
function onceIn(logFile: string, words: string, act: () => void): void {
  let isDone = false;
  const look = (): void => {
    if (isDone || !readFileSync(logFile, "utf8").includes(words)) return;
    isDone = true;
    watcher.close();
    act();
  };
  const watcher = watch(logFile, look);
  look();
}
