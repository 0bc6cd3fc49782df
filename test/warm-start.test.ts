import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeEach, expect, test } from "vitest";

const WARM_START = fileURLToPath(new URL("../bin/warm-start.js", import.meta.url));

let home: string;
let bundle: string;
let cache: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-warm-"));
  bundle = join(home, "bundle.cjs");
  cache = join(home, "cache", "ask.v8");
  writeBundle("console.log(greet());");
});

function writeBundle(last: string): void {
  writeFileSync(
    bundle,
    `function greet() { return "hello from " + require("node:path").basename(__filename); }\n${last}\n`,
  );
}

async function run(env: Record<string, string> = { OSTLER_HOME: home }): Promise<{ stdout: string; code: unknown }> {
  const script = `require(${JSON.stringify(WARM_START)}).runWarm(${JSON.stringify(bundle)})`;
  const { stdout, exitCode } = await execa(process.execPath, ["-e", script], { env, extendEnv: false, reject: false });
  return { stdout, code: exitCode };
}

const GREETED = { stdout: "hello from bundle.cjs", code: 0 };

test("the first run leaves a cache, the second uses it as it is", async () => {
  expect(await run()).toEqual(GREETED);
  const { ino } = statSync(cache);
  expect(await run()).toEqual(GREETED);
  expect(statSync(cache).ino).toBe(ino);
});

test("what is loaded later finds the bundle that runs, and starts no second one", async () => {
  writeFileSync(join(home, "chunk.cjs"), 'exports.of = require("./bundle.cjs").mark;');
  writeBundle(
    'exports.mark = {}; console.log("started"); setImmediate(() => console.log(require("./chunk.cjs").of === exports.mark));',
  );
  const once = { stdout: "started\ntrue", code: 0 };
  expect(await run()).toEqual(once);
  expect(await run()).toEqual(once);
});

test("only its owner can read the cache", async () => {
  await run();
  expect(statSync(cache).mode & 0o777).toBe(0o600);
});

test("a changed bundle runs as it is now, though its length is the same", async () => {
  await run();
  writeFileSync(bundle, readFileSync(bundle, "utf8").replace("hello", "HELLO"));
  utimesSync(bundle, new Date(), new Date(Date.now() + 5000));
  expect((await run()).stdout).toBe("HELLO from bundle.cjs");
});

test.each([
  { damage: "one byte is wrong", of: (whole: Buffer) => withWrongByte(whole, Math.floor(whole.length / 4)) },
  {
    damage: "the other copy is wrong",
    of: (whole: Buffer) => withWrongByte(whole, Math.floor((whole.length * 3) / 4)),
  },
  { damage: "the end is missing", of: (whole: Buffer) => whole.subarray(0, whole.length / 2) },
  { damage: "it is empty", of: () => Buffer.alloc(0) },
  { damage: "it is something else", of: () => Buffer.from("not a cache") },
])("a cache of which $damage is replaced", async ({ of }) => {
  await run();
  const whole = readFileSync(cache);
  writeFileSync(cache, of(whole));
  expect(await run()).toEqual(GREETED);
  expect(readFileSync(cache).length).toBe(whole.length);
});

test("a run that failed leaves no cache", async () => {
  writeBundle("process.exit(9);");
  expect((await run()).code).toBe(9);
  expect(existsSync(cache)).toBe(false);
});

test.each([
  { where: "the folder cannot be made", env: () => ({ OSTLER_HOME: fileInTheWay() }) },
  { where: "there is no home", env: () => ({}) },
])("runs where $where", async ({ env }) => {
  expect(await run(env())).toEqual(GREETED);
});

test.each([
  { variable: "HOME", folder: ".cache/ostler" },
  { variable: "XDG_CACHE_HOME", folder: "ostler" },
])("without OSTLER_HOME the cache is kept under $variable", async ({ variable, folder }) => {
  await run({ [variable]: home });
  expect(existsSync(join(home, folder, "ask.v8"))).toBe(true);
});

function withWrongByte(whole: Buffer, at: number): Buffer {
  const damaged = Buffer.from(whole);
  damaged[at] = damaged[at]! ^ 0xff;
  return damaged;
}

function fileInTheWay(): string {
  const file = join(home, "in-the-way", "file");
  mkdirSync(dirname(file));
  writeFileSync(file, "");
  return file;
}
