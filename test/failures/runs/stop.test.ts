/** Runs that are stopped from another process, with real processes: nothing of them is left, and nobody else is hit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startTimeOf } from "../../../src/acp/processes.ts";
import { thisProcess } from "../../../src/acp/this-process.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { stopRun } from "../../../src/failures/runs/stop.ts";
import { GONE, aRun } from "./run-fixture.ts";

let state: string;
let registry: RunRegistry;
let scanned: string[];

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-stop-"));
  registry = new RunRegistry(state);
  scanned = [];
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const DEAD = { ...GONE, system: thisProcess().system };
const isThere = (pid: number): boolean => startTimeOf(pid) !== undefined;

/** A run under a supervisor of its own, with a command and a grandchild far away. */
async function supervised(habit: "obeys" | "escalates" | "deaf" | "leaves", over: Partial<RunMeta> = {}) {
  const { id } = aRun({ kind: "command", ...over });
  registry.createRun(aRun({ id, kind: "command", ...over }));
  const script = fileURLToPath(new URL("./supervise.ts", import.meta.url));
  const supervisor = spawn(process.execPath, ["--no-warnings", script, state, id, habit], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(supervisor, "exit");
  const [words] = await once(supervisor.stdout, "data");
  const [command = 0, far = 0] = String(words).split(" ").slice(1).map(Number);
  onTestFinished(() => {
    for (const pid of [command, far]) if (isThere(pid)) process.kill(pid, "SIGKILL");
    supervisor.kill("SIGKILL");
  });
  if (habit === "leaves") await exited;
  return { id, command, far, supervisor: supervisor.pid ?? 0 };
}

/** With short waits where the supervisor is not going to answer. */
function stop(id: string, { patient = true } = {}) {
  const meta = registry.readMeta(id);
  if (typeof meta === "string") throw new Error(meta);
  return stopRun(registry, meta, {
    rescan: ({ id: lost, status }) => Promise.resolve(void scanned.push(`${lost} ${status}`)),
    ...(!patient && { softMs: 200, hardMs: 200 }),
  });
}

test("the supervisor is asked, and says how the run ended", async () => {
  const { id, command } = await supervised("obeys");
  expect(await stop(id)).toEqual({ result: "stopped", status: "cancelled" });
  expect(registry.readMeta(id)).toMatchObject({ status: "cancelled", endedAt: 7, noiseLines: 1 });
  expect({ command: isThere(command), scanned }).toEqual({ command: false, scanned: [] });
});

test("one that does not end it in time is asked once more", async () => {
  const { id } = await supervised("escalates");
  expect(await stop(id, { patient: false })).toEqual({ result: "stopped", status: "cancelled" });
  expect(registry.readMeta(id)).toMatchObject({ noiseLines: 2 });
});

test("one that answers to nothing is ended, after what it started", async () => {
  const { id, command, far, supervisor } = await supervised("deaf");
  expect(await stop(id, { patient: false })).toEqual({ result: "stopped", status: "cancelled" });
  await vi.waitFor(() => expect([command, far, supervisor].filter(isThere)).toEqual([]));
  expect(registry.readMeta(id)).toMatchObject({ status: "cancelled", endedAt: expect.any(Number) });
  expect(scanned).toEqual([`${id} running`]);
});

test.each(["running", "orphaned"] as const)("nobody supervises a run that is %s: its tree is ended", async (status) => {
  const { id, command, far } = await supervised("leaves");
  registry.updateMeta(id, { status });
  expect([command, far].filter(isThere)).toEqual([command, far]);
  expect(await stop(id)).toEqual({ result: "stopped", status: "cancelled" });
  expect([command, far].filter(isThere)).toEqual([]);
  expect(scanned).toEqual([`${id} ${status}`]);
  // Its completion is told by the next start.
  expect(registry.openIds()).toEqual([id]);
});

test("an agent's Ostler is asked softly; asked again, it ends the agent at once", async () => {
  const { id, supervisor } = await supervised("escalates", { kind: "agent" });
  expect(await stop(id, { patient: false })).toEqual({ result: "asked", pid: supervisor });
  expect(registry.readMeta(id)).toMatchObject({ status: "running" });
  expect(await stop(id)).toEqual({ result: "stopped", status: "cancelled" });
});

test("a number that somebody else has now is not signalled", async () => {
  const { id, command, far, supervisor } = await supervised("deaf");
  const start = registry.readMeta(id);
  if (typeof start === "string") throw new Error(start);
  const process = { pid: command, startedAt: "1" };
  registry.updateMeta(id, { supervisor: { ...start.supervisor, startedAt: "1" }, process });
  expect(await stop(id)).toEqual({ result: "stopped", status: "cancelled" });
  expect([command, far, supervisor].filter(isThere)).toEqual([command, far, supervisor]);
});

test("a run that is over stays as it ended", async () => {
  const meta = aRun({ status: "failed", supervisor: DEAD });
  registry.createRun(meta);
  expect(await stop(meta.id)).toEqual({ result: "over", status: "failed" });
});

test("a run on another system is not touched", async () => {
  const { id, command } = await supervised("leaves");
  registry.updateMeta(id, { supervisor: { ...DEAD, system: "0badb007-4026531836" } });
  // Not of this machine before its restart either.
  registry.updateMeta(id, { machine: "0123456789ab" });
  expect(await stop(id)).toEqual({ result: "elsewhere" });
  expect(isThere(command)).toBe(true);
});

test("of a run from before the restart nothing is left, whoever has its numbers now", async () => {
  const { id, command, far, supervisor } = await supervised("deaf");
  const meta = registry.readMeta(id);
  if (typeof meta === "string") throw new Error(meta);
  registry.updateMeta(id, { supervisor: { ...meta.supervisor, system: "0badb007-4026531836" } });
  expect(await stop(id)).toEqual({ result: "stopped", status: "cancelled" });
  expect([command, far, supervisor].filter(isThere)).toEqual([command, far, supervisor]);
});

test("a run does not stop itself from inside", async () => {
  const { id, command } = await supervised("leaves");
  const meta = registry.readMeta(id);
  vi.stubEnv("OSTLER_RUN", typeof meta === "string" ? "" : meta.process?.mark);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await stop(id)).toEqual({ result: "inside" });
  expect(isThere(command)).toBe(true);
});
