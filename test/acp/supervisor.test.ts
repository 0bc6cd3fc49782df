/** Running agents that are shared, started within a budget, and left down when they keep dying: real processes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Backend } from "../../src/acp/ports.ts";
import { createMemoryLedger } from "../../src/acp/restart-budget.ts";
import type { StartDelay } from "../../src/acp/restart-budget.ts";
import type { RuntimeBinding, RuntimeSpec } from "../../src/acp/runtime-binding.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import { createSupervisor } from "../../src/acp/supervisor.ts";
import type { Supervisor, SupervisorOptions } from "../../src/acp/supervisor.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import { agentCommand, chunk, end, logOf, processesIn, turns } from "../fixtures/agents/scenario.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";
import { habits, isRunning, play, recordOf, rejectionOf, untilLogged } from "./drive.ts";

const works: Scenario = turns([chunk("works"), end()]);
const SECRET = "sk-ant-api03-NEVERSHOWN0123456789";
const panics: Scenario = {
  on: { initialize: [[{ stderr: `token=${SECRET}\npanic: cannot read state\n` }, { exit: 3 }]] },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ostler-supervisor-"));
  writeFileSync(log(), "");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = (): string => join(folder, "agent.log");
const pids = (): readonly number[] => processesIn(log());
const begun = (): Promise<void> => untilLogged(log(), () => logOf(log()).some(({ frame }) => frame !== undefined));

/** Two crashes are enough where the number is not the point. */
const hasty = { intensity: { burst: 2, periodMs: 60_000, baseDelayMs: 1 } };

/** A supervisor that waits next to nothing between restarts, and its ledger. */
function supervise(options: Partial<SupervisorOptions> = {}) {
  const ledger = createMemoryLedger();
  const supervisor = createSupervisor({
    start: startAgent,
    intensity: { burst: 5, periodMs: 60_000, baseDelayMs: 1 },
    ledger,
    ...options,
  });
  onTestFinished(() => supervisor.stop());
  return { supervisor, ledger };
}

function startAgent({ backend, binding }: RuntimeSpec, signal: AbortSignal): Promise<Runtime> {
  return createRuntime({ backend, ...binding, signal });
}

function need(scenario: Scenario, more: Partial<RuntimeBinding & RuntimeSpec & Backend> = {}): RuntimeSpec {
  const { id = "scripted", sessionsPerRuntime = Infinity, program = "agent 1", adHoc, ...binding } = more;
  return {
    backend: { ...habits("generic"), id, label: id, sessionsPerRuntime },
    binding: {
      command: agentCommand(scenario),
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", AGENT_LOG: log() },
      approval: "reads",
      ...binding,
    },
    program,
    adHoc,
  };
}

/** The rule and kind of the failure that an acquire was refused with. */
async function refusalOf(supervisor: Supervisor, spec: RuntimeSpec) {
  return recordOf(await rejectionOf(supervisor.acquire(spec)));
}

async function crash(supervisor: Supervisor, spec: RuntimeSpec, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) expect(await refusalOf(supervisor, spec)).toMatchObject({ rule: "exit" });
}

describe("sharing", () => {
  test("concurrent needs of one binding start one process, up to what the backend can serve", async () => {
    const { supervisor } = supervise();
    const spec = need(works, { sessionsPerRuntime: 2 });
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => supervisor.acquire(spec)));
    expect(b?.runtime).toBe(a?.runtime);
    expect(c?.runtime).not.toBe(a?.runtime);
    expect(pids()).toHaveLength(2);
  });

  test("both of them can be used", async () => {
    const { supervisor } = supervise();
    const leases = await Promise.all([supervisor.acquire(need(works)), supervisor.acquire(need(works))]);
    for (const { runtime } of leases) {
      const { outcome } = await play(await runtime.openSession({ cwd: folder }));
      expect(outcome).toMatchObject({ kind: "completed", text: "works" });
    }
    expect(pids()).toHaveLength(1);
  });

  test.each<{ from: string; other: Parameters<typeof need>[1] }>([
    { from: "one session per process", other: { sessionsPerRuntime: 1 } },
    { from: "another folder", other: { cwd: tmpdir() } },
    { from: "another model", other: { model: "opus" } },
    { from: "another backend with the same program", other: { id: "second" } },
  ])("$from gets its own", async ({ other }) => {
    const { supervisor } = supervise();
    const first = await supervisor.acquire(need(works, { sessionsPerRuntime: other?.sessionsPerRuntime ?? Infinity }));
    const second = await supervisor.acquire(need(works, other));
    expect(second.runtime).not.toBe(first.runtime);
    expect(pids()).toHaveLength(2);
  });

  test("the last release ends it, and releasing twice counts once", async () => {
    const { supervisor, ledger } = supervise();
    const first = await supervisor.acquire(need(works));
    const second = await supervisor.acquire(need(works));
    await Promise.all([first.release(), first.release()]);
    expect(first.runtime.state).toBe("ready");
    await second.release();
    expect(pids().map(isRunning)).toEqual([false]);
    expect(ledger.read("scripted")).toEqual([]);
  });

  test("an agent that is being ended is not handed out", async () => {
    const { supervisor } = supervise();
    const first = await supervisor.acquire(need(works));
    const released = first.release();
    const second = await supervisor.acquire(need(works));
    expect(second.runtime).not.toBe(first.runtime);
    await released;
    expect(second.runtime.state).toBe("ready");
  });

  test("kept alive it serves the next need, and is ended when there is none", async () => {
    const { supervisor } = supervise({ keepAliveMs: 300 });
    const first = await supervisor.acquire(need(works));
    await first.release();
    const second = await supervisor.acquire(need(works));
    expect(second.runtime).toBe(first.runtime);
    await second.release();
    expect(second.runtime.state).toBe("ready");
    expect(await second.runtime.gone).toMatchObject({ expected: true });
    expect(pids()).toHaveLength(1);
  });

  test("in use it outlives the time it would have been kept alive", async () => {
    const { supervisor } = supervise({ keepAliveMs: 1000 });
    const first = await supervisor.acquire(need(works));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await first.release();
    const second = await supervisor.acquire(need(works));
    await vi.advanceTimersByTimeAsync(2000);
    expect(second.runtime.state).toBe("ready");
  });

  test("a dedicated one serves nobody else and is not kept alive", async () => {
    const { supervisor } = supervise({ keepAliveMs: 60_000 });
    const own = await supervisor.acquire(need(works), { dedicated: true });
    const shared = await supervisor.acquire(need(works));
    const second = await supervisor.acquire(need(works), { dedicated: true });
    expect(new Set([own, shared, second].map(({ runtime }) => runtime)).size).toBe(3);
    await own.release();
    expect([own, shared, second].map(({ runtime }) => isRunning(runtime.pid))).toEqual([false, true, true]);
  });

  test("a start that fails rejects all who wait for it, and is one crash", async () => {
    const { supervisor, ledger } = supervise();
    const spec = need(panics);
    const [a, b] = await Promise.all([supervisor.acquire(spec), supervisor.acquire(spec)].map(rejectionOf));
    expect(a).toBe(b);
    expect(recordOf(a!)).toMatchObject({ kind: "agent_spawn", source: "exit" });
    expect(pids()).toHaveLength(1);
    expect(ledger.read("scripted")).toMatchObject([{ livedMs: 0, title: expect.stringContaining("panic") }]);
  });
});

describe("death", () => {
  test("a dead agent is forgotten, its crash recorded once, and the next need gets another", async () => {
    const { supervisor, ledger } = supervise();
    const leases = await Promise.all([supervisor.acquire(need(works)), supervisor.acquire(need(works))]);
    process.kill(leases[0].runtime.pid, "SIGKILL");
    expect(await leases[0].runtime.gone).toMatchObject({ expected: false, failure: { kind: "agent_died" } });
    const next = await supervisor.acquire(need(works));
    expect(next.runtime.pid).not.toBe(leases[0].runtime.pid);
    await Promise.all(leases.map((lease) => lease.release()));
    expect(next.runtime.state).toBe("ready");
    expect(ledger.read("scripted")).toHaveLength(1);
    expect(ledger.read("scripted")[0]?.title).toMatch(/was killed by SIGKILL/);
  });

  test("what Ostler killed is not handed out either, and is no crash", async () => {
    const { supervisor, ledger } = supervise();
    const first = await supervisor.acquire(need(works));
    first.runtime.kill();
    const second = await supervisor.acquire(need(works));
    expect(second.runtime).not.toBe(first.runtime);
    await first.runtime.gone;
    expect(ledger.read("scripted")).toEqual([]);
  });
});

describe("giving up", () => {
  const silent = need.bind(undefined, MISBEHAVING.silent);

  test("the last who waits takes the process with it", async () => {
    const { supervisor, ledger } = supervise();
    const abort = new AbortController();
    const waiting = rejectionOf(supervisor.acquire(silent(), { signal: abort.signal }));
    await begun();
    abort.abort(new Error("enough"));
    expect((await waiting).message).toBe("enough");
    expect(pids().map(isRunning)).toEqual([false]);
    expect(ledger.read("scripted")).toEqual([]);
  });

  test("the start goes on for the others", async () => {
    const { supervisor } = supervise();
    const abort = new AbortController();
    const slow = need({ on: { initialize: [[{ untilFile: join(tmpdir(), "never") }]] } });
    const first = rejectionOf(supervisor.acquire(slow, { signal: abort.signal }));
    const second = rejectionOf(supervisor.acquire(slow));
    await begun();
    abort.abort(new Error("enough"));
    expect((await first).message).toBe("enough");
    expect(pids().map(isRunning)).toEqual([true]);
    await supervisor.stop();
    expect(recordOf(await second)).toMatchObject({ rule: "supervisor-stopped" });
  });

  test("an aborted signal starts nothing", async () => {
    const { supervisor } = supervise();
    await rejectionOf(supervisor.acquire(silent(), { signal: AbortSignal.abort(new Error("enough")) }));
    expect(pids()).toEqual([]);
  });

  test("a delay ends with the signal", async () => {
    const intensity = { burst: 5, periodMs: 60_000, baseDelayMs: 15_000 };
    const { supervisor } = supervise({ intensity, random: () => 1 });
    await crash(supervisor, need(panics), 1);
    const abort = new AbortController();
    const onDelay = (): void => abort.abort(new Error("enough"));
    const error = await rejectionOf(supervisor.acquire(need(panics), { signal: abort.signal, onDelay }));
    expect(error.message).toBe("enough");
    expect(pids()).toHaveLength(1);
  });
});

describe("restarts", () => {
  test("wait a little, and say why, also to who comes later", async () => {
    const intensity = { burst: 5, periodMs: 60_000, baseDelayMs: 2000 };
    const { supervisor } = supervise({ intensity, random: () => 1 });
    const first = await supervisor.acquire(need(works));
    process.kill(first.runtime.pid, "SIGKILL");
    await first.runtime.gone;
    const told: StartDelay[] = [];
    const onDelay = (delay: StartDelay): void => void told.push(delay);
    const waiting = [supervisor.acquire(need(works), { onDelay }), supervisor.acquire(need(works), { onDelay })];
    await Promise.all(waiting);
    expect(told).toHaveLength(2);
    for (const { delayMs, title } of told) {
      expect(delayMs).toBeGreaterThan(0);
      expect(delayMs).toBeLessThanOrEqual(2000);
      expect(title).toBe("scripted was killed by SIGKILL");
    }
    expect(pids()).toHaveLength(2);
  });

  test("the first start does not wait", async () => {
    const { supervisor } = supervise({ random: () => 1 });
    const onDelay = vi.fn<(delay: StartDelay) => void>();
    await supervisor.acquire(need(works), { onDelay });
    expect(onDelay).not.toHaveBeenCalled();
  });

  test("one backend's loop or hanging handshake never delays another", async () => {
    const intensity = { burst: 5, periodMs: 60_000, baseDelayMs: 15_000 };
    const { supervisor } = supervise({ intensity, random: () => 1 });
    const loops = need(panics, { id: "loops" });
    await crash(supervisor, loops, 1);
    const pending = [loops, need(MISBEHAVING.silent, { id: "hangs" })].map((spec) =>
      rejectionOf(supervisor.acquire(spec)),
    );
    const { runtime } = await supervisor.acquire(need(works));
    expect(runtime.state).toBe("ready");
    await supervisor.stop();
    for (const error of await Promise.all(pending)) expect(recordOf(error)?.rule).toBe("supervisor-stopped");
  });
});

describe("a backend that keeps dying is parked", () => {
  test("with the reason, the end of stderr, and what to run", async () => {
    const { supervisor } = supervise();
    await crash(supervisor, need(panics), 5);
    const failure = await refusalOf(supervisor, need(panics));
    expect(failure).toMatchObject({ kind: "agent_spawn", rule: "parked", retry: "never", replaySafety: "not_sent" });
    expect(failure?.title).toBe(
      "scripted is parked after 5 crashes within 60 s (scripted exited with code 3: panic: cannot read state); to start it again: ostler backends resume scripted",
    );
    expect(failure?.details).toMatch(/^token=.*\npanic: cannot read state$/);
    expect(JSON.stringify([failure, supervisor.parked()])).not.toContain("NEVERSHOWN");
    expect(supervisor.parked()).toMatchObject([
      { backend: "scripted", last: { title: expect.stringContaining("panic") } },
    ]);
    expect(pids()).toHaveLength(5);
  });

  test("also when it dies at work", async () => {
    const { supervisor } = supervise(hasty);
    const dies = need(turns([{ exit: 7 }]));
    for (let n = 0; n < 2; n += 1) {
      await using lease = await supervisor.acquire(dies);
      const { outcome } = await play(await lease.runtime.openSession({ cwd: folder }), { retries: 0 });
      expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "agent_died" } });
    }
    expect(await refusalOf(supervisor, dies)).toMatchObject({ rule: "parked" });
    expect(pids()).toHaveLength(2);
  });

  test("at once, and nothing waits for a timer", async () => {
    const { supervisor } = supervise(hasty);
    await crash(supervisor, need(panics), 2);
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "setImmediate"] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await refusalOf(supervisor, need(panics))).toMatchObject({ rule: "parked" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("what still runs goes on, and takes what fits", async () => {
    const { supervisor } = supervise(hasty);
    const running = await supervisor.acquire(need(works, { program: "p" }));
    await crash(supervisor, need(panics, { program: "p" }), 2);
    expect((await supervisor.acquire(need(works, { program: "p" }))).runtime).toBe(running.runtime);
  });

  test("until it is resumed", async () => {
    const { supervisor, ledger } = supervise(hasty);
    const runs = need({ runs: [panics, panics, works] });
    await crash(supervisor, runs, 2);
    expect(await refusalOf(supervisor, runs)).toMatchObject({ rule: "parked" });
    expect(supervisor.resume("other")).toBe(false);
    expect(supervisor.resume("scripted")).toBe(true);
    expect(supervisor.resume("scripted")).toBe(false);
    expect(ledger.read("scripted")).toEqual([]);
    expect(supervisor.parked()).toEqual([]);
    expect((await supervisor.acquire(runs)).runtime.state).toBe("ready");
  });

  test("or its program was changed", async () => {
    const { supervisor } = supervise(hasty);
    await crash(supervisor, need(panics, { program: "agent 1" }), 2);
    expect(await refusalOf(supervisor, need(panics, { program: "agent 1" }))).toMatchObject({ rule: "parked" });
    await crash(supervisor, need(panics, { program: "agent 2" }), 1);
  });

  test("alone: another name for the same program is not", async () => {
    const { supervisor } = supervise(hasty);
    await crash(supervisor, need(panics), 2);
    expect(await refusalOf(supervisor, need(panics, { id: "second" }))).toMatchObject({ rule: "exit" });
  });

  test("an agent of the moment is parked in this process alone, without a command that cannot help", async () => {
    const { supervisor, ledger } = supervise(hasty);
    const adHoc = need(panics, { id: "agent", adHoc: true });
    await crash(supervisor, adHoc, 2);
    const failure = await refusalOf(supervisor, adHoc);
    expect(failure).toMatchObject({ rule: "parked", title: expect.not.stringContaining("ostler backends") });
    expect(ledger.read("agent")).toEqual([]);
    await crash(supervisor, need(panics, { id: "agent", adHoc: true, program: "another" }), 1);
  });

  test.each<{ from: string; spec: () => RuntimeSpec; kind: string }>([
    { from: "a login", spec: () => need(MISBEHAVING.signedOut), kind: "auth" },
    { from: "a full disk", spec: () => need(MISBEHAVING.diesOnStart), kind: "configuration" },
    { from: "another ACP", spec: () => need(MISBEHAVING.wrongVersion), kind: "protocol" },
    {
      from: "a missing program",
      spec: () => need(works, { command: { file: "/nowhere/agent", args: [] } }),
      kind: "agent_spawn",
    },
    {
      from: "a program that may not be run",
      spec: () => need(works, { command: { file: "/etc/passwd", args: [] } }),
      kind: "agent_spawn",
    },
  ])("not by $from", async ({ spec, kind }) => {
    const { supervisor, ledger } = supervise({ intensity: { burst: 1, periodMs: 60_000 } });
    for (let n = 0; n < 2; n += 1) expect(await refusalOf(supervisor, spec())).toMatchObject({ kind });
    expect(ledger.read("scripted")).toEqual([]);
  });
});

describe("stop", () => {
  test("ends the last one first, waits for starts under way, and starts nothing any more", async () => {
    const order: number[] = [];
    const { supervisor, ledger } = supervise({
      start: async (spec, signal) => {
        const runtime = await startAgent(spec, signal);
        const stop = runtime.stop.bind(runtime);
        runtime.stop = () => {
          order.push(runtime.pid);
          return stop();
        };
        return runtime;
      },
    });
    const started: number[] = [];
    for (const id of ["first", "second", "third"])
      started.push((await supervisor.acquire(need(works, { id }))).runtime.pid);
    const underWay = rejectionOf(supervisor.acquire(need(MISBEHAVING.silent)));
    await untilLogged(log(), () => pids().length === 4);
    const stopping = supervisor.stop();
    expect(supervisor.stop()).toBe(stopping);
    const late = rejectionOf(supervisor.acquire(need(works)));
    await stopping;
    expect(order).toEqual(started.toReversed());
    expect(pids().filter(isRunning)).toEqual([]);
    for (const error of [await underWay, await late]) {
      expect(recordOf(error)).toMatchObject({ kind: "agent_spawn", rule: "supervisor-stopped" });
    }
    expect(pids()).toHaveLength(4);
    expect(ledger.read("scripted")).toEqual([]);
  });

  test("waits for an agent that is being ended already", async () => {
    const { supervisor } = supervise();
    const lease = await supervisor.acquire(need(works));
    void lease.release();
    await supervisor.stop();
    expect(pids().map(isRunning)).toEqual([false]);
  });
});
