/** The registry on a real disk: what is there after a crash, who may read it, and what two processes do at once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { thisProcess } from "../../../src/acp/this-process.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { GONE, aRun } from "./run-fixture.ts";

let state: string;
let registry: RunRegistry;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-registry-"));
  registry = new RunRegistry(state);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("a run is there whole, for its user alone", () => {
  const meta = aRun({ taskRuntime: true });
  registry.createRun(meta);
  expect(registry.readMeta(meta.id)).toMatchObject(meta);
  expect(registry.ids()).toEqual([meta.id]);
  expect(readdirSync(state).toSorted()).toEqual(["open-runs", "provenance", "runs"]);
  expect(readdirSync(join(state, "runs", meta.id))).toEqual(["meta.json"]);
  expect(readdirSync(join(state, "provenance"))).toEqual([`${meta.id}.json`]);
  expect(["runs", `runs/${meta.id}`, "provenance", "open-runs"].map((name) => mode(join(state, name)))).toEqual([
    "700",
    "700",
    "700",
    "700",
  ]);
  expect([registry.metaFile(meta.id), registry.provenance.fileOf(meta.id)].map(mode)).toEqual(["600", "600"]);
});

test("a run that is not confined has no provenance", () => {
  const meta = aRun();
  registry.createRun(meta);
  expect(existsSync(join(state, "provenance"))).toBe(false);
});

test("an id that is taken is refused, and what stands there stays", () => {
  const meta = aRun({ title: "first" });
  registry.createRun(meta);
  expect(() => registry.createRun({ ...meta, title: "second" })).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(registry.readMeta(meta.id)).toMatchObject({ title: "first" });
  expect(registry.openIds()).toEqual([meta.id]);
});

test("a provenance record that stands already is not replaced, and no run is made", () => {
  const meta = aRun({ taskRuntime: true });
  mkdirSync(join(state, "provenance"));
  writeFileSync(registry.provenance.fileOf(meta.id), "planted");
  expect(() => registry.createRun(meta)).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(readFileSync(registry.provenance.fileOf(meta.id), "utf8")).toBe("planted");
  expect(registry.ids()).toEqual([]);
});

test("a launch that fails leaves neither run nor provenance", () => {
  const meta = aRun({ taskRuntime: true });
  writeFileSync(join(state, "runs"), "a file where the folder should be");
  expect(() => registry.createRun(meta)).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
  expect(readdirSync(join(state, "provenance"))).toEqual([]);
  expect(registry.openIds()).toEqual([]);
});

test.each([
  { from: "nothing there", plant: () => undefined, read: "missing" },
  { from: "torn by a crash", plant: (file: string) => writeFileSync(file, '{"version":1,"id":'), read: "unreadable" },
  { from: "empty", plant: (file: string) => writeFileSync(file, ""), read: "unreadable" },
  { from: "a folder", plant: (file: string) => mkdirSync(file), read: "unreadable" },
  { from: "a link to itself", plant: (file: string) => symlinkSync(file, file), read: "unreadable" },
  {
    from: "metadata of another run",
    plant: (file: string) => writeFileSync(file, JSON.stringify(aRun())),
    read: "unreadable",
  },
  {
    from: "more than a meta.json ever holds",
    plant: (file: string) => writeFileSync(file, " ".repeat(300_000)),
    read: "unreadable",
  },
])("meta.json: $from is $read", ({ plant, read }) => {
  const { id } = aRun();
  mkdirSync(registry.runFolder(id), { recursive: true });
  plant(registry.metaFile(id));
  expect(registry.readMeta(id)).toBe(read);
  expect(registry.updateMeta(id, { status: "failed" })).toBeUndefined();
  expect(registry.list()).toEqual([{ id, meta: "unreadable" }]);
});

test.each(["../../etc", "ag_abcdef_1/../x", "", "AG_abcdef_1"])("%j names no file", (id) => {
  expect(() => registry.runFolder(id)).toThrow(TypeError);
  expect(registry.readMeta(id)).toBe("missing");
});

test("a supervisor may put damaged metadata right", () => {
  const meta = aRun();
  registry.createRun(meta);
  writeFileSync(registry.metaFile(meta.id), "{");
  registry.writeMeta({ ...meta, status: "completed", told: ["completion"] });
  expect(registry.readMeta(meta.id)).toMatchObject({ status: "completed" });
});

test("the newest run is the first, whatever its kind", () => {
  const ids = [
    "wa_mgx1k2a3aaaa_1",
    "ag_mgx1k2a3aaaa_2",
    "cm_mgx1k2a4aaaa_1",
    "ag_mgx1k2a3aaaa_10",
    "cm_mgx0zzzzzzzz_9",
  ];
  for (const id of ids) registry.createRun(aRun({ id }));
  mkdirSync(join(state, "runs", ".new-ag_mgx1k2a3aaaa_3"));
  writeFileSync(join(state, "runs", "notes.txt"), "");
  expect(registry.ids()).toEqual([
    "cm_mgx1k2a4aaaa_1",
    "ag_mgx1k2a3aaaa_10",
    "ag_mgx1k2a3aaaa_2",
    "wa_mgx1k2a3aaaa_1",
    "cm_mgx0zzzzzzzz_9",
  ]);
});

test.each([
  { from: "starting", patch: { status: "starting" }, open: true },
  { from: "running", patch: { status: "running" }, open: true },
  { from: "orphaned: its process lives", patch: { status: "orphaned", told: ["orphaned"] }, open: true },
  { from: "ended, its end untold", patch: { status: "failed" }, open: true },
  { from: "ended and told", patch: { status: "completed", told: ["completion"] }, open: false },
  { from: "ended, nobody is to be told", patch: { status: "cancelled", callback: false }, open: false },
  { from: "lost, told that it was orphaned", patch: { status: "lost", told: ["orphaned"] }, open: true },
  { from: "lost and told", patch: { status: "lost", told: ["orphaned", "lost"] }, open: false },
] as const)("a run that is $from: is it open? $open", ({ patch, open }) => {
  const meta = aRun();
  registry.createRun(meta);
  registry.updateMeta(meta.id, { status: "completed", told: ["completion"] });
  expect(registry.openIds()).toEqual([]);
  registry.updateMeta(meta.id, { told: [], ...patch });
  expect(registry.openIds()).toEqual(open ? [meta.id] : []);
});

test("a run that goes on again has no end", () => {
  const meta = aRun({ status: "failed", endedAt: 5, told: ["completion"] });
  registry.createRun(meta);
  registry.updateMeta(meta.id, { status: "running", told: [] });
  expect(registry.readMeta(meta.id)).not.toHaveProperty("endedAt");
});

test.each([
  { from: "a mark", process: { ...GONE, mark: "4711-mgx1k2a3-0badcafe0badcafe" }, read: true },
  { from: "no mark", process: GONE, read: true },
  { from: "a mark that matches anything", process: { ...GONE, mark: "" }, read: false },
  { from: "number 1, which a signal to must never reach", process: { pid: 1, startedAt: "1" }, read: false },
])("a process with $from: is the metadata readable? $read", ({ process, read }) => {
  const meta = aRun({ process });
  registry.createRun(meta);
  const found = registry.readMeta(meta.id);
  expect(typeof found === "string" ? found : found.process).toEqual(read ? process : "unreadable");
});

test("two processes that change one run lose nothing of each other's", async () => {
  const meta = aRun({ noiseLines: 0 });
  registry.createRun(meta);
  const script = fileURLToPath(new URL("./count-up.ts", import.meta.url));
  const counters = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--no-warnings", script, state, meta.id, "30"], { stdio: "inherit" }),
  );
  const codes = await Promise.all(counters.map(async (child) => (await once(child, "exit"))[0]));
  expect(codes).toEqual([0, 0, 0]);
  expect(registry.readMeta(meta.id)).toMatchObject({ noiseLines: 90 });
  expect(readdirSync(registry.runFolder(meta.id))).toEqual(["meta.json"]);
});

test("the lock of a process that died is taken over", () => {
  const meta = aRun();
  registry.createRun(meta);
  const { system } = thisProcess();
  symlinkSync(`999999999/1/${system}`, join(registry.runFolder(meta.id), "meta.lock"));
  expect(registry.updateMeta(meta.id, { noiseLines: 7 })).toMatchObject({ noiseLines: 7 });
  expect(readdirSync(registry.runFolder(meta.id))).toEqual(["meta.json"]);
});

test("a decision is made on what stands there now, and may leave it", () => {
  const meta = aRun();
  registry.createRun(meta);
  const before = readFileSync(registry.metaFile(meta.id), "utf8");
  expect(registry.updateMeta(meta.id, ({ status }) => (status === "running" ? undefined : {}))).toMatchObject(meta);
  expect(readFileSync(registry.metaFile(meta.id), "utf8")).toBe(before);
});
