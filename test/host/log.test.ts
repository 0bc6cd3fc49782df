import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Log, readLogThreshold } from "../../src/host/log.ts";
import type { LogThreshold } from "../../src/host/log.ts";
import { ostlerPaths } from "../../src/host/paths.ts";

const KEY = "sk-ant-api03-abcdefghijklmnop";

function newLog(threshold?: LogThreshold) {
  const home = mkdtempSync(join(tmpdir(), "ostler-log-"));
  const problems: string[] = [];
  const log = new Log(ostlerPaths({ OSTLER_HOME: home }), threshold);
  log.onBroken = (sentence) => problems.push(sentence);
  const folder = join(home, "state/logs");
  const file = join(folder, "ostler.log");
  const text = () => readFileSync(file, "utf8");
  const records = () =>
    text()
      .trimEnd()
      .split("\n")
      .map((line): Record<string, unknown> => JSON.parse(line));
  return { log, folder, file, text, records, problems };
}

/** What one record makes of a field. */
async function logged(value: unknown): Promise<unknown> {
  const { log, records } = newLog();
  log.write("warn", "e", { value });
  await log.flush();
  return records()[0]?.["value"];
}

test("a record is one line of JSON with time, process and event, in a file of the owner alone", async () => {
  const { log, records, file, folder } = newLog();
  const before = Date.now();
  log.write("warn", "turn.ended", { outcome: "failed", attempts: 2 });
  await log.flush();
  const [{ time, ...record } = {}] = records();
  expect(record).toEqual({ level: "warn", ostler: process.pid, event: "turn.ended", outcome: "failed", attempts: 2 });
  expect(Date.parse(String(time))).toBeGreaterThanOrEqual(before);
  expect(Date.parse(String(time))).toBeLessThanOrEqual(Date.now());
  expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
});

test.each<{ threshold: LogThreshold; written: string[] }>([
  { threshold: "error", written: ["error"] },
  { threshold: "warn", written: ["error", "warn"] },
  { threshold: "info", written: ["error", "warn", "info"] },
  { threshold: "debug", written: ["error", "warn", "info", "debug"] },
  { threshold: "trace", written: ["error", "warn", "info", "debug", "trace"] },
])("at $threshold", async ({ threshold, written }) => {
  const { log, records } = newLog(threshold);
  for (const level of ["error", "warn", "info", "debug", "trace"] as const) log.write(level, level);
  await log.flush();
  expect(records().map(({ event }) => event)).toEqual(written);
});

test.each<{ threshold?: LogThreshold }>([{ threshold: "silent" }, {}])(
  "nothing wanted, nothing made: %o",
  async ({ threshold }) => {
    const { log, folder } = newLog(threshold);
    log.write(threshold === "silent" ? "error" : "info", "e");
    await log.flush();
    expect(existsSync(folder)).toBe(false);
  },
);

test("records keep their order while the file is being opened, and after", async () => {
  const { log, records } = newLog();
  for (let n = 0; n < 5; n += 1) log.write("warn", `e${n}`);
  await log.flush();
  log.write("warn", "e5");
  expect(records().map(({ event }) => event)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
});

test.each([
  { name: "silent", threshold: "silent" },
  { name: "warn", threshold: "warn" },
  { name: "WARN", threshold: undefined },
  { name: "", threshold: undefined },
  { name: undefined, threshold: undefined },
])("the threshold by name: $name", ({ name, threshold }) => {
  expect(readLogThreshold(name)).toBe(threshold);
});

test.each([
  { from: "a text", value: `key ${KEY}` },
  { from: "deep inside", value: { a: [{ b: `x-api-key: ${KEY}` }] } },
  { from: "the name of a field", value: { [KEY]: 1 } },
  { from: "a secret by its name", value: { password: "abcdefghijklmnop" } },
  { from: "a list with a secret's name", value: { apiKeys: ["abcdefghijklmnop"] } },
  { from: "an environment", value: { env: { CITY: "abcdefghijklmnop" } } },
  { from: "an error", value: new Error(`bad ${KEY}`, { cause: new Error(`worse ${KEY}`) }) },
])("a secret does not reach the file: $from", async ({ value }) => {
  const text = JSON.stringify(await logged(value));
  expect(text).toContain("[redacted]");
  expect(text).not.toContain("abcdefghijklmnop");
});

test.each([
  { from: "a number with a secret's name", value: { password: 1234 }, becomes: { password: "[redacted]" } },
  { from: "colours and control characters", value: "\u001b[31mred\u0007", becomes: "red" },
  { from: "a private path", value: "/home/ann/app", becomes: "~/app" },
  { from: "what JSON does not know", value: { n: 12n, f: () => 1, u: undefined }, becomes: { n: "12" } },
  {
    from: "what is harmless",
    value: { ok: true, none: null, list: [1, "a"] },
    becomes: { ok: true, none: null, list: [1, "a"] },
  },
])("$from", async ({ value, becomes }) => {
  expect(await logged(value)).toEqual(becomes);
});

test("an error comes with its causes and where it was thrown", async () => {
  const cause = Object.assign(new RangeError("below"), { code: "E_LOW", secret: { anything: 1 } });
  const value = await logged(new TypeError("oops", { cause }));
  expect(value).toMatchObject({ name: "TypeError", message: "oops", cause: { name: "RangeError", code: "E_LOW" } });
  expect(JSON.stringify(value)).toContain("log.test.ts");
  expect(JSON.stringify(value)).not.toContain("anything");
});

test.each([
  { from: "a long text", value: "x".repeat(1_000_000) },
  { from: "a long list", value: Array.from({ length: 100_000 }, () => "x") },
  { from: "a wide tree", value: Array.from({ length: 500 }, () => Array.from({ length: 500 }, () => [["x"]])) },
])("a record stays short: $from", async ({ value }) => {
  expect(JSON.stringify(await logged(value)).length).toBeLessThan(10_000);
});

test("circles and depth end; a field that cannot be read costs itself only", async () => {
  const round: Record<string, unknown> = {};
  round["self"] = round;
  expect(JSON.stringify(await logged(round))).toContain("[redacted]");
  const { log, records, problems } = newLog();
  const trap = Object.defineProperty({}, "trap", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  log.write("warn", "trapped", { trap });
  log.write("warn", "next");
  await log.flush();
  expect(records()).toMatchObject([{ event: "trapped", unreadable: ["trap"] }, { event: "next" }]);
  expect(problems).toEqual([]);
});

test.each([
  {
    from: "a folder in place of the file",
    spoil: (file: string) => mkdirSync(file, { recursive: true }),
    code: "EISDIR",
  },
  {
    from: "a file in place of the folder",
    spoil: (file: string) => {
      mkdirSync(dirname(dirname(file)), { recursive: true });
      writeFileSync(dirname(file), "");
    },
    code: "EEXIST",
  },
  {
    from: "a pipe nobody reads",
    spoil: (file: string) => {
      mkdirSync(dirname(file), { recursive: true });
      execFileSync("mkfifo", [file]);
    },
    code: "ENXIO",
  },
])("a log that cannot be written is said once and never throws: $from", async ({ spoil, code }) => {
  const { log, file, folder, problems } = newLog();
  spoil(file);
  for (const event of ["a", "b"]) log.write("warn", event);
  await log.flush();
  log.write("error", "c");
  await log.flush();
  expect(problems).toEqual([`The log in ${folder} cannot be written (${code}); --log-level silent does without it`]);
});
