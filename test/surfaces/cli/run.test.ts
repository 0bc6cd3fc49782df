/** `ostler run` as a real process: what it prints, what it holds, what outlives it, and what ends with it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { isAlive, signalProcess } from "../../../src/acp/processes.ts";
import { Journal } from "../../../src/failures/journal/journal.ts";
import { isEnded } from "../../../src/failures/runs/settled.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { NoticeBox } from "../../../src/host/notice-box.ts";
import { bundleCli, shell as realShell } from "./real-cli.ts";
import { newFolder, run } from "./run-main.ts";

const RUN_ID = /^cm_[0-9a-z]{6,16}_\d+$/;

let ostler: string;
beforeAll(async () => {
  ostler = await bundleCli("run");
});

/** Runs a shell line in which `ostler` is the CLI. */
function shell(line: string, env?: Record<string, string>) {
  const { state, ...process } = realShell(ostler, line, {}, env);
  return { ...process, state, registry: new RunRegistry(state) };
}

function metaOf(registry: RunRegistry, id: string): RunMeta {
  const meta = registry.readMeta(id);
  if (typeof meta === "string") throw new Error(`The metadata of ${id} is ${meta}`);
  return meta;
}

/** The metadata of a run once it is over. */
function untilOver(registry: RunRegistry, id: string): Promise<RunMeta> {
  return vi.waitFor(
    () => {
      const meta = metaOf(registry, id);
      if (!isEnded(meta.status)) throw new Error(`${id} is ${meta.status}`);
      return meta;
    },
    { timeout: 30_000 },
  );
}

/** What the journal says, as another process reads it: `<status> <summary>`. */
const failuresOf = (registry: RunRegistry, id: string): string[] =>
  [...Journal.open(registry.runFolder(id)).state.incidents.values()].map(
    ({ status, summary }) => `${status} ${summary}`,
  );
const logOf = (registry: RunRegistry, id: string): string => readFileSync(registry.logFile(id), "utf8");

describe("in the background", () => {
  test("it prints the id and holds nothing of the caller, and what it says is kept", async () => {
    // The shell waits for the end of the pipe: whoever held it would hold the shell.
    const { done, registry } = shell(
      "ostler run -- sh -c 'until [ -e go ]; do sleep 0.05; done; echo out; exit 3' | cat; touch go",
    );
    const { code, stdout, stderr } = await done;
    const id = stdout.trim();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(id).toMatch(RUN_ID);
    expect(await untilOver(registry, id)).toMatchObject({ status: "failed", exit: { code: 3, signal: null } });
    expect(failuresOf(registry, id)).toEqual(["unresolved The command exited with 3"]);
    expect(logOf(registry, id)).toBe("out\n");
  });

  test("it outlives the terminal", async () => {
    const { child, done, registry } = shell(
      "ostler run -- sh -c 'until [ -e go ]; do sleep 0.05; done; echo survived'",
    );
    const id = (await done).stdout.trim();
    const { supervisor } = metaOf(registry, id);
    expect(supervisor.pid).not.toBe(child.pid);
    signalProcess(supervisor, "SIGHUP");
    const { pid: leader = 0 } = metaOf(registry, id).process ?? {};
    expect(readFileSync(`/proc/${supervisor.pid}/stat`, "utf8").split(" ").slice(5, 7)).toEqual([
      String(supervisor.pid),
      // No terminal.
      "0",
    ]);
    expect(leader).toBeGreaterThan(1);
    writeFileSync(join(registry.folder, "../../../go"), "");
    expect(await untilOver(registry, id)).toMatchObject({ status: "completed" });
    expect(logOf(registry, id)).toBe("survived\n");
  });

  test("TERM to the supervisor ends the command, and is no failure", async () => {
    const { done, registry } = shell("ostler run -- sleep 300");
    const id = (await done).stdout.trim();
    const { supervisor, process } = metaOf(registry, id);
    signalProcess(supervisor, "SIGTERM");
    expect(await untilOver(registry, id)).toMatchObject({ status: "cancelled" });
    expect(process && isAlive(process)).toBe(false);
    expect(failuresOf(registry, id)).toEqual([]);
  });

  test("a supervisor that is killed leaves an orphan that is known, then a lost run; each is told once", async () => {
    const { done, registry, folder } = shell("ostler run --operation-id o -- sleep 300");
    const id = (await done).stdout.trim();
    const { supervisor, process } = metaOf(registry, id);
    const next = async (): Promise<string> => (await run(["sessions"], { folder, terminal: true })).stderr;
    signalProcess(supervisor, "SIGKILL");
    await vi.waitFor(() => expect(isAlive(supervisor)).toBe(false));
    expect(await next()).toContain(`run=${id} · sleep 300`);
    expect(metaOf(registry, id).status).toBe("orphaned");
    expect(await next()).not.toContain(id);
    if (process !== undefined) signalProcess(process, "SIGKILL");
    await vi.waitFor(() => expect(process && isAlive(process)).toBe(false));
    const sentence = "The supervisor of the command was gone before its end: how it ended is not known";
    expect(await next()).toContain(sentence);
    expect(metaOf(registry, id).status).toBe("lost");
    expect(failuresOf(registry, id)).toEqual([`unresolved ${sentence}`]);
    expect(await next()).not.toContain(id);
  });

  test("one sentence for a command that cannot be started", async () => {
    const { done, registry } = shell("ostler run -- no-such-program");
    expect(await done).toMatchObject({
      code: 9,
      stdout: "",
      stderr: 'ostler: The command "no-such-program" cannot be started: there is no such program\n',
    });
    const [id = ""] = registry.ids();
    expect(await untilOver(registry, id)).toMatchObject({ status: "failed" });
  });

  test("a disk that takes no more costs output, not the command, and what is missing is said", async () => {
    const { done, registry } = shell("ulimit -f 64; ostler run --wait -- seq 100000");
    const { code, stdout, stderr } = await done;
    const id = stdout.trim();
    expect(code).toBe(0);
    const kept = logOf(registry, id);
    expect(kept).toHaveLength(64 * 1024);
    expect(kept).toMatch(/^1\n2\n3\n/);
    const missing = `${588_895 - kept.length} bytes of the output could not be written (EFBIG)`;
    expect(failuresOf(registry, id)).toEqual([`unresolved ${missing}`]);
    expect(stderr).toContain(`Observation incomplete`);
    expect(metaOf(registry, id).status).toBe("completed");
  });

  test("the command sees the caller's environment and folder, and nothing of the channel to the supervisor", async () => {
    const { done, registry } = shell("mkdir sub; ostler run -C sub --wait -- sh -c 'pwd; env'", { GREETING: "hello" });
    const id = (await done).stdout.trim();
    const lines = logOf(registry, id).split("\n");
    expect(lines[0]).toMatch(/\/sub$/);
    expect(lines).toContain("GREETING=hello");
    expect(lines.filter((line) => line.startsWith("NODE_"))).toEqual([]);
  });
});

describe("--wait", () => {
  test.each([
    { from: "success", options: "", command: "true", code: 0, last: "status=completed" },
    { from: "its own code", options: "", command: "sh -c 'exit 4'", code: 4, last: "The command exited with 4" },
    {
      from: "an expected code",
      options: "--expect-exit 4",
      command: "sh -c 'exit 4'",
      code: 4,
      last: "status=completed",
    },
    { from: "a signal", options: "", command: "sh -c 'kill -KILL $$'", code: 137, last: "was ended by SIGKILL" },
    { from: "a timeout", options: "--timeout 0.3", command: "sleep 300", code: 3, last: "timed out" },
  ])("exits with $code for $from", async ({ options, command, code, last }) => {
    const { done, state } = shell(`ostler run --wait ${options} -- ${command}`);
    const ran = await done;
    expect(ran.code).toBe(code);
    expect(ran.stdout.trim()).toMatch(RUN_ID);
    expect(ran.stderr).toContain(`run=${ran.stdout.trim()}`);
    expect(ran.stderr).toContain(last);
    expect(new NoticeBox(state).isFilled).toBe(false);
  });

  test.each([
    { signal: "SIGINT", code: 130 },
    { signal: "SIGTERM", code: 143 },
  ] as const)("$signal ends the command too", async ({ signal, code }) => {
    const { child, done, registry } = shell("exec ostler run --wait -- sleep 300");
    child.stdout.once("data", () => child.kill(signal));
    const ran = await done;
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code, stderr: "" });
    const { status, process } = metaOf(registry, ran.stdout.trim());
    expect({ status, isAlive: process && isAlive(process) }).toEqual({ status: "cancelled", isAlive: false });
  });

  test("the end of the terminal leaves the command alone, and its end waits for the next one", async () => {
    const { child, done, registry, state } = shell(
      "exec ostler run --wait -- sh -c 'until [ -e go ]; do sleep 0.05; done'",
    );
    child.stdout.once("data", () => child.kill("SIGHUP"));
    const ran = await done;
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 129, stderr: "" });
    writeFileSync(join(state, "../../go"), "");
    expect(await untilOver(registry, ran.stdout.trim())).toMatchObject({ status: "completed" });
    await vi.waitFor(() => expect(new NoticeBox(state).isFilled).toBe(true));
  });

  test("a supervisor that is killed is one sentence", async () => {
    const { child, done, registry } = shell("exec ostler run --wait -- sleep 300");
    child.stdout.once("data", (id: Buffer) => {
      signalProcess(metaOf(registry, id.toString().trim()).supervisor, "SIGKILL");
    });
    const { code, stdout, stderr } = await done;
    const id = stdout.trim();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `ostler: The supervisor of ${id} ended before the command did; ostler runs show ${id} says what is left of it\n`,
    });
    const { process } = metaOf(registry, id);
    if (process !== undefined) signalProcess(process, "SIGKILL");
  });

  test("--json is one object, at the end", async () => {
    const ran = await shell("ostler run --wait --json -- sh -c 'exit 4'").done;
    expect(JSON.parse(ran.stdout)).toEqual({ run: expect.stringMatching(RUN_ID), status: "failed", exitCode: 4 });
    const started = await shell("ostler run --json -- true").done;
    expect(JSON.parse(started.stdout)).toEqual({ run: expect.stringMatching(RUN_ID) });
  });
});

describe("an operation over several runs", () => {
  const failed = "ostler run --wait --operation-id deploy -- false 2>/dev/null";
  const good = "ostler run --wait --operation-id deploy -- true 2>/dev/null";

  test("recovers when the same shell tries again", async () => {
    const { done, registry } = shell(`${failed}; ${good}`);
    const [first = ""] = (await done).stdout.trim().split("\n");
    expect(failuresOf(registry, first)).toEqual(["resolved The command exited with 1"]);
  });

  test("failure observations, case 71: not when another one does", async () => {
    const { done, registry } = shell(`bash -c '${failed}; :'; bash -c '${good}; :'`);
    const [first = ""] = (await done).stdout.trim().split("\n");
    expect(failuresOf(registry, first)).toEqual(["unresolved The command exited with 1"]);
  });

  test("recovers when both belong to the same session", async () => {
    const { done, registry } = shell(`ostler ask -s work hi >/dev/null; ${inSession(failed)}; ${inSession(good)}`);
    const { stdout, stderr } = await done;
    expect(stderr).toBe("");
    const [first = ""] = stdout.trim().split("\n");
    expect(metaOf(registry, first).owner).toMatch(/^session:/);
    expect(failuresOf(registry, first)).toEqual(["resolved The command exited with 1"]);
  });
});

describe("watch", () => {
  const count = "echo x >>count; exit $(wc -l <count)";

  test.each([
    { from: "done", options: "--until-exit 3 --expect-exit 1 --expect-exit 2", code: 0, status: "completed", polls: 3 },
    { from: "failed", options: "--fail-exit 2", code: 2, status: "failed", polls: 2 },
    { from: "given up", options: "--max-polls 2", code: 1, status: "failed", polls: 2 },
    { from: "its time is up", options: "--every 60 --timeout 0.5", code: 3, status: "failed", polls: 1 },
  ])("--wait exits with $code: $from", async ({ options, code, status, polls }) => {
    const every = options.includes("--every") ? "" : "--every 0.1";
    const { done, registry } = shell(`ostler watch ${every} ${options} --wait -- sh -c '${count}'`);
    const ran = await done;
    const id = ran.stdout.trim();
    expect({ code: ran.code, id }).toEqual({ code, id: expect.stringMatching(/^wa_/) });
    expect(metaOf(registry, id)).toMatchObject({ kind: "watch", status });
    expect(logOf(registry, id).match(/^--- poll \d+ · /gm)).toHaveLength(polls);
  });
});

describe("confined", () => {
  test("it cannot change what Ostler writes down", async () => {
    const { done, registry } = shell(
      `ostler run --confined --wait -- sh -c 'exec 2>&1; echo forged >"$OSTLER_HOME/state/provenance/x" || echo refused; exit 5'`,
    );
    const { code, stdout } = await done;
    const id = stdout.trim();
    expect(code).toBe(5);
    expect(logOf(registry, id)).toMatch(/Read-only file system\nrefused\n$/);
    expect(metaOf(registry, id)).toMatchObject({ taskRuntime: true, untrustedBecause: [] });
    expect(registry.provenance.read(id)).toBe("proved");
  });

  test.each([
    { from: "a command", line: "ostler run --confined --wait -- sh look.sh" },
    // The word is in a variable, so that the agent stays this one.
    { from: "an agent", line: "ask=ask; ostler $ask hi --confined --agent 'sh look.sh'" },
  ])("the provenance of $from stands before it starts", async ({ line }) => {
    const look = 'ls "$OSTLER_HOME/state/provenance" >seen';
    const { done, registry, folder } = shell(`printf '%s' '${look}' >look.sh; ${line}`);
    await done;
    expect(readFileSync(join(folder, "seen"), "utf8")).toBe(
      registry
        .list()
        .map(({ id }) => `${id}.json\n`)
        .join(""),
    );
  });

  test("a program that is not there is no exit of bubblewrap", async () => {
    const ran = await shell("ostler run --confined -- no-such-program").done;
    expect(ran).toMatchObject({
      code: 9,
      stderr: 'ostler: The command "no-such-program" cannot be started: there is no such program\n',
    });
  });

  test("a workspace that cannot be is said, and the command runs all the same", async () => {
    const { done, registry } = shell(`mkdir -p home/state; ostler run -C home/state --confined --wait -- true`);
    const { code, stdout, stderr } = await done;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^ostler: The command is not confined: The workspace is in .*, Ostler's own folder\n/);
    expect(metaOf(registry, stdout.trim())).toMatchObject({
      taskRuntime: false,
      untrustedBecause: [expect.stringContaining("Ostler's own folder")],
    });
  });
});

describe("what cannot be asked for", () => {
  test.each([
    { argv: ["run"], sentence: 'Write the command behind "--": ostler run -- make test' },
    { argv: ["run", "--"], sentence: 'Write the command behind "--": ostler run -- make test' },
    { argv: ["run", "npm", "test"], sentence: 'Write the command behind "--": ostler run -- npm test' },
    { argv: ["watch", "a", "--", "b"], sentence: 'Write the command behind "--": ostler watch -- a b' },
    { argv: ["run", "--wiat", "--", "a"], sentence: "Unknown option --wiat; did you mean --wait?" },
    {
      argv: ["run", "--expect-exit", "256", "--", "a"],
      sentence: '--expect-exit cannot be "256"; it is an exit code, a whole number from 0 to 255',
    },
    {
      argv: ["run", "--notify", "x", "--no-notify", "--", "a"],
      sentence: "--notify and --no-notify exclude each other",
    },
    {
      argv: ["run", "--notify", "say 'it", "--", "a"],
      sentence: "The command line has a quote (') that is never closed",
    },
    { argv: ["run", "-C", "nowhere", "--", "a"], sentence: "Cannot look in nowhere: there is no such folder" },
    {
      argv: ["watch", "--fail-exit", "0", "--", "a"],
      sentence: "Exit code 0 is given two meanings",
    },
    {
      argv: ["watch", "--fail-exit", "2", "--expect-exit", "2", "--", "a"],
      sentence: "Exit code 2 is given two meanings",
    },
  ])("$argv", async ({ argv, sentence }) => {
    expect(await run(argv)).toMatchObject({ exitCode: 2, stdout: "", stderr: `ostler: ${sentence}\n` });
  });

  test("an operation id that breaks the rule of intents", async () => {
    const { exitCode, stderr } = await run(["run", "--operation-id", "a b", "--", "a"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^ostler: --operation-id must be 1 to 64 of the characters /);
  });

  test("more expected codes than an intent may hold", async () => {
    const codes = Array.from({ length: 17 }, (_, at) => ["--expect-exit", String(at + 1)]).flat();
    const { exitCode, stderr } = await run(["run", ...codes, "--", "a"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^ostler: --expect-exit takes 1 to 16 different whole numbers from 1 to 255/);
  });

  test("a supervisor without a run", async () => {
    expect(await shell("ostler run-supervisor").done).toMatchObject({
      code: 2,
      stderr: "ostler: run-supervisor is started by Ostler itself; to run a command, write: ostler run -- CMD\n",
    });
  });

  test("a session that is not kept", async () => {
    expect(await run(["run", "-s", "nobody", "--", "true"])).toMatchObject({
      exitCode: 4,
      stderr: 'ostler: There is no session called "nobody"; ostler sessions lists all\n',
    });
  });
});

describe("notices", () => {
  const waiting = {
    runId: "cm_mx3jkhdqwzf3_1",
    moment: "completion" as const,
    incidents: [],
    text: "run=x\nis over\u001B[31m",
  };

  test("are shown before the next command at a terminal, once", async () => {
    const folder = newFolder();
    await boxIn(folder).deliver(waiting);
    const first = await run(["sessions"], { folder, terminal: true });
    expect(first.stderr).toMatch(/^run=x\nis over\n\n/);
    expect((await run(["sessions"], { folder, terminal: true })).stderr).not.toContain("run=x");
  });

  test.each([
    { from: "stderr is no terminal", argv: ["sessions"], terminal: false },
    { from: "a shell reads its completions", argv: ["completion", "bash"], terminal: true },
  ])("wait while $from", async ({ argv, terminal }) => {
    const folder = newFolder();
    await boxIn(folder).deliver(waiting);
    expect((await run(argv, { folder, terminal })).stderr).not.toContain("run=x");
    expect(boxIn(folder).isFilled).toBe(true);
  });

  test("go to the command of the configuration instead", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "home"));
    writeFileSync(
      join(folder, "home", "config.json"),
      JSON.stringify({ notify: { command: ["tee", join(folder, "heard")] } }),
    );
    const { exitCode, stdout } = await run(["run", "--", "false"], { folder });
    expect(exitCode).toBe(0);
    await vi.waitFor(() => expect(readFileSync(join(folder, "heard"), "utf8")).toContain(`run=${stdout.trim()}`), {
      timeout: 20_000,
    });
  });
});

/** A line in a shell of its own, for the session "work". */
function inSession(line: string): string {
  return `bash -c '${line.replace("--wait", "--wait -s work")}; :'`;
}

/** The notices of an Ostler that was run in this folder. */
function boxIn(folder: string): NoticeBox {
  return new NoticeBox(join(folder, "home", "state"));
}
