import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentChild, SpawnFailed } from "../../src/acp/child.ts";
import type { CommandLine } from "../../src/acp/ports.ts";
import { behindLauncher } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { agentCommand, grandchildrenIn, logOf, processesIn } from "../fixtures/agents/scenario.ts";
import { isRunning, rejectionOf } from "./drive.ts";

interface Spawned {
  readonly child: AgentChild;
  readonly log: string;
  /** Every process of the tree that is known. */
  readonly pids: () => readonly number[];
}

async function spawn(command: CommandLine, env: Readonly<Record<string, string>> = {}): Promise<Spawned> {
  const cwd = mkdtempSync(join(tmpdir(), "ostler-child-"));
  const log = join(cwd, "agent.log");
  const child = await AgentChild.spawn({
    command,
    cwd,
    env: { PATH: process.env["PATH"] ?? "", AGENT_LOG: log, ...env },
  });
  child.stdout.resume();
  return { child, log, pids: () => [child.pid, ...processesIn(log), ...grandchildrenIn(log)] };
}

/** An agent that has done its first actions: it says so on stdout. */
async function started(start: readonly Action[], wrap = agentCommand): Promise<Spawned> {
  const spawned = await spawn(wrap({ start: [...start, { raw: "up\n" }] }));
  await once(spawned.child.stdout, "data");
  return spawned;
}

const deaf: Action = { ignoreStdinEnd: true };
const stubborn: Action = { ignoreSignals: ["SIGTERM"] };

describe.concurrent("the stop ladder: afterwards nothing is alive", () => {
  test("an agent that is known not to heed the end of stdin is not waited for", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "ostler-child-"));
    const env = { PATH: process.env["PATH"] ?? "", AGENT_LOG: join(cwd, "agent.log") };
    const command = agentCommand({ start: [deaf, { raw: "up\n" }] });
    const child = await AgentChild.spawn({ command, cwd, env, endGraceMs: 10 });
    await once(child.stdout, "data");
    const before = performance.now();
    expect(await child.stop()).toBe(true);
    expect(child.exit).toEqual({ code: null, signal: "SIGTERM" });
    expect(performance.now() - before).toBeLessThan(1500);
  });

  test.each<{
    from: string;
    start: readonly Action[];
    exit: object;
    signals?: readonly string[];
    grandchildren?: number;
  }>([
    { from: "polite", start: [], exit: { code: 0, signal: null } },
    { from: "ignores the end of stdin", start: [deaf], exit: { code: null, signal: "SIGTERM" } },
    {
      from: "ignores SIGTERM too",
      start: [deaf, stubborn],
      exit: { code: null, signal: "SIGKILL" },
      signals: ["SIGTERM"],
    },
    {
      from: "polite, with a child that goes on",
      start: [{ grandchild: {} }],
      exit: { code: 0, signal: null },
      grandchildren: 1,
    },
    {
      from: "polite, with a child in a session of its own",
      start: [{ grandchild: { detached: true } }],
      exit: { code: 0, signal: null },
      grandchildren: 1,
    },
    {
      from: "ignores everything, with such a child that does so too",
      start: [deaf, stubborn, { grandchild: { detached: true, ignoresSigterm: true } }],
      exit: { code: null, signal: "SIGKILL" },
      signals: ["SIGTERM"],
      grandchildren: 1,
    },
    {
      from: "a child that holds the output open",
      start: [{ grandchild: { detached: true, keepsStdout: true, ignoresSigterm: true } }],
      exit: { code: 0, signal: null },
      grandchildren: 1,
    },
    {
      from: "several of them",
      start: [{ grandchild: {} }, { grandchild: { detached: true } }, { grandchild: { ignoresSigterm: true } }],
      exit: { code: 0, signal: null },
      grandchildren: 3,
    },
  ])("$from", async ({ start, exit, signals = [], grandchildren = 0 }) => {
    const { child, log, pids } = await started(start);
    expect(pids().filter(isRunning)).toHaveLength(pids().length);
    await child.stop();
    expect(await child.exited).toEqual(exit);
    expect(child.exit).toEqual(exit);
    expect(grandchildrenIn(log)).toHaveLength(grandchildren);
    expect(pids().filter(isRunning)).toEqual([]);
    expect(logOf(log).flatMap(({ signal }) => (signal === undefined ? [] : [signal]))).toEqual(signals);
  });

  test("kill ends the whole tree at once", async () => {
    const { child, log, pids } = await started([
      deaf,
      stubborn,
      { grandchild: { detached: true, ignoresSigterm: true } },
    ]);
    child.kill();
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    await child.stop();
    expect(grandchildrenIn(log)).toHaveLength(1);
    expect(pids().filter(isRunning)).toEqual([]);
  });

  test("a launcher that is gone: what it started is ended too", async () => {
    const { child, log, pids } = await started([deaf, stubborn], behindLauncher);
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(processesIn(log).filter(isRunning)).toHaveLength(1);
    await child.stop();
    expect(pids().filter(isRunning)).toEqual([]);
  });

  test.each<{ from: string; how: string }>([
    { from: "with the environment cleared", how: "" },
    { from: "with the environment cleared, in a session of its own", how: "setsid" },
  ])("a launcher that is gone, and started its agent $from", async ({ how }) => {
    // It leaves when its agent is there, as launchers do; one that is gone before it can be looked at has no pipes left to read.
    const script = `exec 3<&0; env -i AGENT_LOG="$AGENT_LOG" ${how} "$@" <&3 & while [ ! -s "$AGENT_LOG" ]; do :; done; exit 0`;
    const { child, pids, log } = await started([deaf, stubborn], (scenario) => {
      const { file, args } = agentCommand(scenario);
      return { file: "/bin/sh", args: ["-c", script, "sh", file, ...args] };
    });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(processesIn(log).filter(isRunning)).toHaveLength(1);
    expect(await child.stop()).toBe(true);
    expect(pids().filter(isRunning)).toEqual([]);
  });

  test("a polite stop takes no longer than the agent does", async () => {
    const { child } = await started([]);
    const startedAt = performance.now();
    await child.stop();
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });

  test("stop is idempotent, at once and after the end", async () => {
    const { child } = await started([]);
    const [first, second] = [child.stop(), child.stop()];
    await Promise.all([first, second]);
    await child.stop();
    child.kill();
    expect(child.exit).toEqual({ code: 0, signal: null });
  });
});

describe("how it ended", () => {
  test.each<{ from: string; start: readonly Action[]; exit: object }>([
    { from: "a code", start: [{ exit: 7 }], exit: { code: 7, signal: null } },
    { from: "well", start: [{ exit: 0 }], exit: { code: 0, signal: null } },
    { from: "a signal", start: [{ kill: "SIGKILL" }], exit: { code: null, signal: "SIGKILL" } },
  ])("$from", async ({ start, exit }) => {
    const { child } = await spawn(agentCommand({ start }));
    expect(await child.exited).toEqual(exit);
    await child.stop();
    expect(isRunning(child.pid)).toBe(false);
  });
});

describe("stderr", () => {
  test("a flood never blocks it, and only the end is kept", async () => {
    const { child } = await started([
      { stderr: "first words\n" },
      { stderr: `${"e".repeat(1023)}\n`, times: 1024 },
      { stderr: "last words\n" },
    ]);
    while (!child.stderrTail().endsWith("last words\n")) await once(child.stderr, "data");
    expect(child.stderrTail()).toHaveLength(64 * 1024);
    expect(child.stderrTail()).not.toContain("first words");
    await child.stop();
  });

  test("a character that was cut between two pieces is whole", async () => {
    const source =
      'const b = Buffer.from("汉😀\\n"); process.stderr.write(b.subarray(0, 5)); setTimeout(() => process.stderr.write(b.subarray(5)), 20);';
    const { child } = await spawn({ file: process.execPath, args: ["-e", source] });
    await Promise.all([child.exited, once(child.stderr, "close")]);
    expect(child.stderrTail()).toBe("汉😀\n");
  });
});

describe("what cannot be started", () => {
  const folder = mkdtempSync(join(tmpdir(), "ostler-spawn-"));
  const plain = join(folder, "plain.txt");
  writeFileSync(plain, "no program\n");
  chmodSync(plain, 0o644);
  const broken = join(folder, "broken.sh");
  writeFileSync(broken, "#!/nonexistent/interpreter\n");
  chmodSync(broken, 0o755);

  test.each<{ from: string; file: string; cwd?: string; code: string }>([
    { from: "no such file", file: join(folder, "nothing"), code: "ENOENT" },
    { from: "a name that no folder has", file: "ostler-no-such-program", code: "ENOENT" },
    { from: "a file that may not run", file: plain, code: "EACCES" },
    { from: "a folder", file: folder, code: "EACCES" },
    { from: "an interpreter that is missing", file: broken, code: "ENOENT" },
    { from: "a working folder that is missing", file: process.execPath, cwd: join(folder, "gone"), code: "ENOENT" },
  ])("$from: $code", async ({ file, cwd = folder, code }) => {
    const error = await rejectionOf(
      AgentChild.spawn({ command: { file, args: [] }, cwd, env: { PATH: process.env["PATH"] ?? "" } }),
    );
    expect(error).toBeInstanceOf(SpawnFailed);
    expect(error).toMatchObject({ code, message: `Starting ${file} failed (${code})` });
  });
});

test("the environment is the one given, and nothing is inherited besides", async () => {
  process.env["OSTLER_TEST_LEAK"] = "leak";
  const { child } = await spawn(
    { file: process.execPath, args: ["-e", "process.stderr.write(JSON.stringify(process.env))"] },
    { GIVEN: "yes" },
  );
  await Promise.all([child.exited, once(child.stderr, "close")]);
  delete process.env["OSTLER_TEST_LEAK"];
  const environment: Record<string, string> = JSON.parse(child.stderrTail());
  expect(environment).toMatchObject({ GIVEN: "yes" });
  expect(environment["OSTLER_TEST_LEAK"]).toBeUndefined();
});

test.runIf(process.platform === "linux")(
  "it leads a process group of its own, away from the terminal's Ctrl-C",
  async () => {
    const { child } = await started([]);
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    expect(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]).toBe(String(child.pid));
    await child.stop();
  },
);

test("arguments are passed as they are: no shell", async () => {
  const words = ["a b", '"$HOME"', "*", "", "; exit 3"];
  const { child } = await spawn({
    file: process.execPath,
    args: ["-e", "process.stderr.write(JSON.stringify(process.argv.slice(1)))", ...words],
  });
  await Promise.all([child.exited, once(child.stderr, "close")]);
  expect(JSON.parse(child.stderrTail())).toEqual(words);
});
