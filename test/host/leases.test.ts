/** Agents of an Ostler that was killed, with real processes: the next start ends them, and nobody else. */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { newMark } from "../../src/acp/process-mark.ts";
import { signalProcess, startTimeOf } from "../../src/acp/processes.ts";
import { createHost } from "../../src/host/host.ts";
import { agentOption, chunk, end, grandchildrenIn, processesIn, turns, waitFor } from "../fixtures/agents/scenario.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";

const OSTLER = fileURLToPath(new URL("../../src/surfaces/cli/ostler.ts", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ostler-leases-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const environment = () => ({
  PATH: process.env["PATH"],
  OSTLER_HOME: join(folder, "home"),
  AGENT_LOG: join(folder, "agent.log"),
});
const leases = () => join(folder, "home/state/leases");
const nextStart = () => createHost({ env: environment(), cwd: folder });

/** Every file below the leases, without the folder of the system. */
function written(): string[] {
  if (!existsSync(leases())) return [];
  return readdirSync(leases(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const alive = (pids: readonly number[]): readonly number[] => pids.filter((pid) => startTimeOf(pid) !== undefined);

function everyone(): readonly number[] {
  return [...processesIn(join(folder, "agent.log")), ...grandchildrenIn(join(folder, "agent.log"))];
}

/** Runs the real `ostler ask` until its answer begins, kills it, and returns its pid. */
async function killedOstler(scenario: Scenario, launcher = ""): Promise<number> {
  const agent = `${launcher} ${agentOption(scenario, folder)}`;
  const args = [OSTLER, "ask", "--format", "ndjson", "--agent", agent, "hi"];
  const ostler = spawn(process.execPath, args, {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void ostler.kill("SIGKILL"));
  let stdout = "";
  for await (const data of ostler.stdout) {
    stdout += String(data);
    if (stdout.includes("partial words")) break;
  }
  const exited = once(ostler, "exit");
  ostler.kill("SIGKILL");
  await exited;
  return ostler.pid ?? 0;
}

/** Resolves once a stream has said this. */
function heard(stream: Readable, words: string): Promise<void> {
  return new Promise((resolve) => {
    let text = "";
    stream.on("data", (data: Buffer) => {
      text += data.toString();
      if (text.includes(words)) resolve();
    });
  });
}

/** A process that has nothing to do with Ostler. */
async function stranger(): Promise<number> {
  const child = spawn(process.execPath, ["-e", 'console.log("up");setInterval(() => {}, 1e6)'], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

/** A lease of an Ostler that is dead, made from one that a host wrote for a real agent. */
async function plantLease(content: (real: Record<string, unknown>) => string): Promise<string> {
  await using host = await nextStart();
  await host.openRuntime({ agent: agentOption(turns(), folder) });
  const [own = ""] = written();
  const planted = join(dirname(dirname(own)), "999999999-1", "4.json");
  mkdirSync(dirname(planted), { recursive: true });
  const real: Record<string, unknown> = JSON.parse(readFileSync(own, "utf8"));
  writeFileSync(planted, content(real));
  return planted;
}

const deafTo = (...actions: Scenario["start"] & {}) => ({
  on: { "session/prompt": [[{ grandchild: { detached: true } }, chunk("partial words"), waitFor("never")]] },
  start: [{ ignoreStdinEnd: true } as const, ...actions],
});

test("the agents of an Ostler that was killed are ended by the next start, with what left their group", async () => {
  await killedOstler(deafTo());
  const left = everyone();
  expect(alive(left)).toEqual(left);
  expect(left).toHaveLength(2);
  expect(written()).toHaveLength(1);
  await (await nextStart()).close();
  expect({ alive: alive(left), written: written() }).toEqual({ alive: [], written: [] });
});

/** A shell script that starts its arguments without the mark and leaves. */
function shellLauncher(last: string): string {
  const script = join(folder, "launcher.sh");
  writeFileSync(script, `exec 3<&0\nenv -i AGENT_LOG="$AGENT_LOG" "$@" <&3 &\n${last}\n`);
  return `/bin/sh ${script}`;
}

test.each<{ from: string; last: string }>([
  { from: "leaves at once", last: "exit 0" },
  {
    from: "leaves some time after the agent has spoken",
    last: 'while ! grep -q session/prompt "$AGENT_LOG"; do :; done',
  },
  { from: "stays, and is ended with it", last: "wait" },
])(
  "an agent whose launcher cleared its environment is ended by the next start; the launcher $from",
  async ({ last }) => {
    const { start, on } = deafTo();
    const prompts = on["session/prompt"].map((actions) => actions.slice(1));
    await killedOstler({ start, ...turns(...prompts) }, shellLauncher(last));
    const left = everyone();
    expect({ left: left.length, alive: alive(left), written: written().length }).toEqual({
      left: 1,
      alive: left,
      written: 1,
    });
    await (await nextStart()).close();
    expect({ alive: alive(left), written: written() }).toEqual({ alive: [], written: [] });
  },
);

test.each<{ from: string; later: number; ended: boolean }>([
  { from: "born after the number was free: somebody else's", later: -1, ended: false },
  { from: "born while the number was the agent's", later: 0, ended: true },
])("a group without its leader, with a member $from", async ({ later, ended }) => {
  const shell = spawn("/bin/sh", ["-c", "sleep 1000 & echo $!"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(shell, "exit");
  const [line]: unknown[] = await once(shell.stdout, "data");
  const member = Number(String(line));
  onTestFinished(() => void signalProcess({ pid: member, startedAt: startTimeOf(member) ?? "" }, "SIGKILL"));
  await exited;
  const heldUntil = Number(startTimeOf(member)) + later;
  await plantLease((real) => JSON.stringify({ ...real, pid: shell.pid, startedAt: "1", mark: newMark(), heldUntil }));
  await (await nextStart()).close();
  expect(alive([member])).toEqual(ended ? [] : [member]);
});

test("whoever waited for a named session gets it when the agent of its killed owner is gone, not before", async () => {
  const log = join(folder, "agent.log");
  const agent = agentOption(
    { ...turns([chunk("works"), end()]), start: deafTo().start, prompts: { one: deafTo().on["session/prompt"] } },
    folder,
  );
  const ask = (prompt: string): ChildProcessWithoutNullStreams => {
    const args = [OSTLER, "ask", "-s", "work", "--format", "ndjson", "--agent", agent, prompt];
    const ostler = spawn(process.execPath, args, { cwd: folder, env: environment() });
    ostler.stdin.end();
    onTestFinished(() => void ostler.kill("SIGKILL"));
    return ostler;
  };
  const first = ask("one");
  await heard(first.stdout, "partial words");
  const left = everyone();
  const second = ask("two");
  const told = heard(second.stdout, "was cut when its Ostler ended");
  const answered = heard(second.stdout, '"works"');
  await heard(second.stderr, "waiting for it");
  first.kill("SIGKILL");
  await Promise.all([told, answered]);
  expect({ left: left.length, alive: alive(left) }).toEqual({ left: 2, alive: [] });
  await once(second, "exit");
  expect({ processes: processesIn(log).length, alive: alive(everyone()), written: written() }).toEqual({
    processes: 2,
    alive: [],
    written: [],
  });
});

test("an agent that ended by itself after the kill leaves a child, which is found by the mark in the lease", async () => {
  await killedOstler(turns([{ grandchild: { detached: true } }, chunk("partial words"), waitFor("never")]));
  const [child = 0] = grandchildrenIn(join(folder, "agent.log"));
  expect(alive([child])).toEqual([child]);
  await (await nextStart()).close();
  expect({ alive: alive(everyone()), written: written() }).toEqual({ alive: [], written: [] });
});

test("a lease says who, since when, whose and which program: no arguments, no environment", async () => {
  await using host = await nextStart();
  const { runtime } = await host.openRuntime({ agent: agentOption(turns(), folder) });
  const [file = ""] = written();
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    pid: runtime.pid,
    startedAt: startTimeOf(runtime.pid),
    mark: expect.stringMatching(/^\d+-[0-9a-z]+-[0-9a-z]+$/),
    file: "node",
    heldUntil: expect.any(Number),
    owner: { pid: process.pid, startedAt: startTimeOf(process.pid) },
  });
  await host.close();
  expect(written()).toEqual([]);
});

test("the agents of a living Ostler are left alone by another start", async () => {
  await using host = await nextStart();
  const { runtime } = await host.openRuntime({ agent: agentOption(turns(), folder) });
  await (await nextStart()).close();
  expect(alive([runtime.pid])).toEqual([runtime.pid]);
  expect(written()).toHaveLength(1);
});

test("a process that got the number of a dead agent is not touched", async () => {
  const pid = await stranger();
  const planted = await plantLease((real) => JSON.stringify({ ...real, pid, startedAt: "1", mark: newMark() }));
  await (await nextStart()).close();
  expect(alive([pid])).toEqual([pid]);
  expect(existsSync(planted)).toBe(false);
});

test.each<{ from: string; content: (real: Record<string, unknown>) => string }>([
  { from: "a write that was cut", content: (real) => JSON.stringify(real).slice(0, 20) },
  { from: "an empty file of a full disk", content: () => "" },
  { from: "a group signal to 1 reaches everybody", content: (real) => JSON.stringify({ ...real, pid: 1 }) },
  { from: "a group signal to 0 reaches ourselves", content: (real) => JSON.stringify({ ...real, pid: 0 }) },
  { from: "an empty mark", content: (real) => JSON.stringify({ ...real, mark: "" }) },
  { from: "no object", content: () => "null" },
])("a lease that cannot be believed is set aside: $from", async ({ content }) => {
  const planted = await plantLease(content);
  await (await nextStart()).close();
  expect(existsSync(planted)).toBe(false);
  expect(readdirSync(join(leases(), "unreadable"))).toEqual(["999999999-1-4.json"]);
});

test.each<{ from: string; put: (file: string) => void }>([
  {
    from: "a pipe that nobody writes to",
    put: (file) => execFileSync("/bin/sh", ["-c", 'rm "$0" && mkfifo "$0"', file]),
  },
  { from: "a file of gigabytes", put: (file) => truncateSync(file, 4 * 1024 ** 3) },
])("nor does a start wait for $from in the place of a lease", async ({ put }) => {
  put(await plantLease(() => ""));
  await (await nextStart()).close();
  expect(readdirSync(join(leases(), "unreadable"))).toEqual(["999999999-1-4.json"]);
});

test("leases of another system are left to it", async () => {
  const foreign = join(leases(), "00000000-1/999999999-1/4.json");
  mkdirSync(dirname(foreign), { recursive: true });
  writeFileSync(foreign, "{}");
  await (await nextStart()).close();
  expect(written()).toEqual([foreign]);
});

test.each<{ from: string; spoil: () => void }>([
  { from: "a file where the folder should be", spoil: () => writeFileSync(leases(), "") },
  { from: "a folder that points into nothing", spoil: () => symlinkSync(join(folder, "nowhere"), leases()) },
])("a state folder that takes nothing is said once, and agents run: $from", async ({ spoil }) => {
  mkdirSync(dirname(leases()), { recursive: true });
  spoil();
  await using host = await nextStart();
  const first = await host.openRuntime({ agent: agentOption(turns(), folder) });
  const second = await host.openRuntime({ agent: agentOption(turns(), folder) });
  expect(first.notice).toContain("Agents cannot be written down in");
  expect(first.runtime.state).toBe("ready");
  expect(second).not.toHaveProperty("notice");
});

test("30 agents, ten at a time, each leave no process and no lease", async () => {
  await using host = await nextStart();
  const agent = agentOption(turns([chunk("works"), end()]), folder);
  const pids: number[] = [];
  const runOne = async (): Promise<string> => {
    await using runtime = (await host.openRuntime({ agent })).runtime;
    pids.push(runtime.pid);
    const session = await runtime.openSession({ cwd: folder });
    return (await session.prompt("hi").outcome).text;
  };
  for (let round = 0; round < 3; round += 1) {
    expect(await Promise.all(Array.from({ length: 10 }, runOne))).toEqual(Array.from({ length: 10 }, () => "works"));
    expect({ alive: alive(pids), written: written() }).toEqual({ alive: [], written: [] });
  }
  expect(new Set(pids).size).toBe(30);
}, 60_000);
