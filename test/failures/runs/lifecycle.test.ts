/** What becomes of a run whose supervisor is gone: the decision as a table, then with real files and processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "../../../src/acp/processes.ts";
import { thisProcess } from "../../../src/acp/this-process.ts";
import { decideLifecycle, needsSettling, settleRuns } from "../../../src/failures/runs/lifecycle.ts";
import { thisMachine } from "../../../src/failures/runs/machine.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { GONE, aRun } from "./run-fixture.ts";

let state: string;
let registry: RunRegistry;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-lifecycle-"));
  registry = new RunRegistry(state);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const DEAD = { ...GONE, system: thisProcess().system };

test.each([
  { status: "running", supervisorAlive: true, processAlive: true, decision: "stands" },
  { status: "running", supervisorAlive: true, processAlive: false, decision: "stands" },
  { status: "starting", supervisorAlive: true, processAlive: false, decision: "stands" },
  { status: "running", supervisorAlive: false, processAlive: true, decision: "orphaned" },
  { status: "starting", supervisorAlive: false, processAlive: true, decision: "orphaned" },
  { status: "running", supervisorAlive: false, processAlive: false, decision: "lost" },
  { status: "starting", supervisorAlive: false, processAlive: false, decision: "lost" },
  { status: "orphaned", supervisorAlive: false, processAlive: true, decision: "stands" },
  { status: "orphaned", supervisorAlive: false, processAlive: false, decision: "lost" },
  { status: "orphaned", supervisorAlive: true, processAlive: false, decision: "stands" },
  { status: "completed", supervisorAlive: false, processAlive: false, decision: "stands" },
  { status: "failed", supervisorAlive: false, processAlive: true, decision: "stands" },
  { status: "cancelled", supervisorAlive: false, processAlive: false, decision: "stands" },
  { status: "lost", supervisorAlive: false, processAlive: false, decision: "stands" },
] as const)(
  "$status, supervisor $supervisorAlive, process $processAlive: $decision",
  ({ status, supervisorAlive, processAlive, decision }) => {
    const facts = { supervisorAlive, processAlive };
    expect(decideLifecycle({ status }, { ...facts, sameSystem: true })).toBe(decision);
    const isOver = ["completed", "failed", "cancelled", "lost"].includes(status);
    expect(decideLifecycle({ status }, { ...facts, sameSystem: false })).toBe(isOver ? "stands" : "undecidable");
  },
);

/** Settles, and says what was asked of the caller in which order. */
async function settle(fails?: "rescan" | "tell") {
  const asked: string[] = [];
  const ask = (what: "rescan" | "tell", words: string): Promise<void> => {
    asked.push(words);
    return fails === what ? Promise.reject(new Error("no")) : Promise.resolve();
  };
  const settled = await settleRuns(registry, {
    rescan: ({ id, status }) => ask("rescan", `rescan ${id} while ${status}`),
    tell: ({ id, status }, callback) => ask("tell", `tell ${callback} of ${id}, ${status}`),
    now: () => 1_800_000_000_000,
  });
  return { settled, asked };
}

function given(over: Partial<RunMeta>): string {
  const meta = aRun(over);
  registry.createRun(meta);
  return meta.id;
}

/** A real process that stays until the test is over. */
async function living() {
  const child = spawn(process.execPath, ["-e", 'console.log("up");setInterval(() => {}, 1e6)'], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const end = async (): Promise<void> => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { identity: { pid, startedAt: startTimeOf(pid) ?? "" }, end };
}

test("neither supervisor nor process is left: lost, after its log was scanned, and told once", async () => {
  const id = given({ supervisor: DEAD, process: GONE });
  expect(await settle()).toEqual({
    settled: [{ id, found: "lost" }],
    asked: [`rescan ${id} while running`, `tell lost of ${id}, lost`],
  });
  expect(registry.readMeta(id)).toMatchObject({ status: "lost", told: ["lost"], endedAt: 1_800_000_000_000 });
  expect(registry.openIds()).toEqual([]);
  expect(await settle()).toEqual({ settled: [], asked: [] });
});

test.each<{ readonly from: string; readonly over: Partial<RunMeta>; readonly needed: boolean }>([
  { from: "lost", over: { supervisor: DEAD }, needed: true },
  { from: "orphaned, and told", over: { supervisor: DEAD, status: "orphaned", told: ["orphaned"] }, needed: true },
  { from: "over, and untold by one that is gone", over: { supervisor: DEAD, status: "failed" }, needed: true },
  { from: "over, and being told", over: { status: "failed" }, needed: false },
  { from: "under a living supervisor", over: {}, needed: false },
  { from: "over and told", over: { supervisor: DEAD, status: "failed", told: ["completion"] }, needed: false },
])("a run that is $from: is there anything to settle? $needed", ({ over, needed }) => {
  given(over);
  expect(needsSettling(registry)).toBe(needed);
});

test("a run that never got as far as a process is lost", async () => {
  const id = given({ supervisor: DEAD, status: "starting" });
  expect((await settle()).settled).toEqual([{ id, found: "lost" }]);
});

test("the process lives: orphaned, told once; when it is gone, lost, told once", async () => {
  const child = await living();
  const id = given({ supervisor: DEAD, process: child.identity });
  expect(await settle()).toEqual({ settled: [{ id, found: "orphaned" }], asked: [`tell orphaned of ${id}, orphaned`] });
  expect(registry.readMeta(id)).toMatchObject({ status: "orphaned", told: ["orphaned"] });
  expect(registry.readMeta(id)).not.toHaveProperty("endedAt");
  expect(await settle()).toEqual({ settled: [], asked: [] });
  await child.end();
  expect(await settle()).toEqual({
    settled: [{ id, found: "lost" }],
    asked: [`rescan ${id} while orphaned`, `tell lost of ${id}, lost`],
  });
  expect(registry.readMeta(id)).toMatchObject({ status: "lost", told: ["orphaned", "lost"] });
});

test("a living supervisor keeps its run, whatever its process does", async () => {
  const id = given({ process: GONE });
  expect(await settle()).toEqual({ settled: [], asked: [] });
  expect(registry.readMeta(id)).toMatchObject({ status: "running" });
});

test("callback: false is settled the same, and nobody is told", async () => {
  const id = given({ supervisor: DEAD, callback: false });
  expect(await settle()).toEqual({ settled: [{ id, found: "lost" }], asked: [`rescan ${id} while running`] });
  expect(registry.readMeta(id)).toMatchObject({ status: "lost", told: [] });
  expect(registry.openIds()).toEqual([]);
});

test("an Ostler that ended a run and died before it told so is spoken for", async () => {
  const id = given({ supervisor: DEAD, status: "failed", endedAt: 5 });
  expect(await settle()).toEqual({ settled: [{ id, found: "told" }], asked: [`tell completion of ${id}, failed`] });
  expect(registry.readMeta(id)).toMatchObject({ status: "failed", told: ["completion"], endedAt: 5 });
  expect(await settle()).toEqual({ settled: [], asked: [] });
});

test("one that still lives is not", async () => {
  given({ status: "completed" });
  expect(await settle()).toEqual({ settled: [], asked: [] });
});

test.each([
  { fails: "rescan", status: "running", told: [] },
  { fails: "tell", status: "lost", told: [] },
] as const)("when $fails fails, the next start does it", async ({ fails, status, told }) => {
  const id = given({ supervisor: DEAD });
  expect((await settle(fails)).settled).toEqual([{ id, found: "lost", problem: new Error("no") }]);
  expect(registry.readMeta(id)).toMatchObject({ status, told });
  expect(registry.openIds()).toEqual([id]);
  const { asked } = await settle();
  expect(asked.at(-1)).toBe(`tell lost of ${id}, lost`);
  expect(registry.readMeta(id)).toMatchObject({ status: "lost", told: ["lost"] });
});

test.each([
  { from: "another machine", machine: "0123456789ab", found: "undecidable" },
  { from: "a machine that is not named", machine: undefined, found: "undecidable" },
  { from: "this machine before its restart", machine: thisMachine(), found: "lost" },
])("a run of $from that was just written is $found", async ({ machine, found }) => {
  const id = given({ supervisor: { ...thisProcess(), system: "0badb007-4026531836" }, process: thisProcess() });
  const { machine: here, ...meta } = JSON.parse(readFileSync(registry.metaFile(id), "utf8"));
  expect(here).toBe(thisMachine());
  registry.writeMeta({ ...meta, ...(machine !== undefined && { machine }) });
  utimesSync(registry.metaFile(id), 1_800_000_000, 1_800_000_000);
  const { settled, asked } = await settle();
  expect(settled).toEqual([{ id, found }]);
  expect(asked.length).toBe(found === "lost" ? 2 : 0);
  expect(registry.readMeta(id)).toMatchObject({ status: found === "lost" ? "lost" : "running" });
});

test("a run of another machine that has written nothing for a week is lost", async () => {
  const id = given({ supervisor: { ...thisProcess(), system: "0badb007-4026531836" }, process: thisProcess() });
  registry.updateMeta(id, { machine: "0123456789ab" });
  const writtenDaysAgo = (days: number): void => {
    const seconds = 1_800_000_000 - days * 86_400;
    utimesSync(registry.metaFile(id), seconds, seconds);
  };
  writtenDaysAgo(6.9);
  expect((await settle()).settled).toEqual([{ id, found: "undecidable" }]);
  writtenDaysAgo(7.1);
  expect((await settle()).settled).toEqual([{ id, found: "lost" }]);
});

test("a run that another living Ostler settles is left to it, until that one is gone", async () => {
  const other = await living();
  const id = given({ supervisor: DEAD, settling: { ...other.identity, system: DEAD.system } });
  expect(await settle()).toEqual({ settled: [], asked: [] });
  await other.end();
  expect((await settle()).settled).toEqual([{ id, found: "lost" }]);
});

test("metadata that cannot be read is left as it is, and said", async () => {
  const id = given({ supervisor: DEAD });
  writeFileSync(registry.metaFile(id), "{");
  expect(await settle()).toEqual({ settled: [{ id, found: "unreadable" }], asked: [] });
  expect(readFileSync(registry.metaFile(id), "utf8")).toBe("{");
});

test("a mark without a run goes after an hour: before that the run may be in the making", async () => {
  const { id } = aRun();
  mkdirSync(join(state, "open-runs"));
  const mark = join(state, "open-runs", id);
  writeFileSync(mark, "");
  utimesSync(mark, 1_800_000_000 - 3599, 1_800_000_000 - 3599);
  await settle();
  expect(registry.openIds()).toEqual([id]);
  utimesSync(mark, 1_800_000_000 - 3601, 1_800_000_000 - 3601);
  await settle();
  expect(registry.openIds()).toEqual([]);
});

test("a run that somebody went on with while its log was scanned is not lost", async () => {
  const id = given({ supervisor: DEAD });
  const resumed = { ...thisProcess(), startedAt: "2" };
  const told: string[] = [];
  const settled = await settleRuns(registry, {
    rescan: () => Promise.resolve(void registry.updateMeta(id, { status: "running", supervisor: resumed })),
    tell: (meta) => Promise.resolve(void told.push(meta.id)),
  });
  expect({ settled, told }).toEqual({ settled: [], told: [] });
  expect(registry.readMeta(id)).toMatchObject({ status: "running", supervisor: resumed });
});

test("two Ostlers at once: each run is scanned and told once", async () => {
  const ids = Array.from({ length: 20 }, () => given({ supervisor: DEAD }));
  const log = join(state, "asked.log");
  const script = fileURLToPath(new URL("./settle.ts", import.meta.url));
  const children = [1, 2].map(() =>
    spawn(process.execPath, ["--no-warnings", script, state, log], { stdio: "inherit" }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
  expect(codes).toEqual([0, 0]);
  const asked = readFileSync(log, "utf8").trim().split("\n");
  expect(asked.toSorted()).toEqual(ids.flatMap((id) => [`rescan ${id}`, `tell ${id}`]).toSorted());
  expect(ids.map((id) => registry.readMeta(id))).toEqual(
    ids.map((id) => expect.objectContaining({ id, status: "lost", told: ["lost"] })),
  );
});

test("runs that are over cost a start nothing", async () => {
  const over = Array.from({ length: 50 }, () => given({ status: "completed", told: ["completion"] }));
  // Whoever read one of them would report it.
  for (const id of over) writeFileSync(registry.metaFile(id), "{");
  expect(await settle()).toEqual({ settled: [], asked: [] });
});
