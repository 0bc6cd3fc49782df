/** Crashes on disk: shared by processes, tolerant of what a crash leaves, and harmless whatever a backend is called. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Crash } from "../../src/acp/restart-policy.ts";
import { CrashFiles, identifyProgram } from "../../src/host/crash-ledger.ts";
import { ostlerPaths } from "../../src/host/paths.ts";

const NOON = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const LEDGER = fileURLToPath(new URL("../../src/host/crash-ledger.ts", import.meta.url));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-crashes-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const ledger = (): CrashFiles => new CrashFiles(ostlerPaths({ OSTLER_HOME: home }));
const file = (name = "codex"): string => join(home, "state/crashes", `${name}.jsonl`);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

function crash(at = NOON, more: Partial<Crash> = {}): Crash {
  return { at, livedMs: 0, program: "codex-acp:1:1", title: "Codex exited with code 3", stderr: "panic", ...more };
}

/** Puts text where the crashes of codex are. */
function written(text: string): void {
  mkdirSync(dirname(file()), { recursive: true });
  writeFileSync(file(), text);
}

/** So many crashes, a millisecond apart, of a kilobyte each. */
function lines(count: number, at: number): string {
  const crashes = Array.from({ length: count }, (_, n) => crash(at + n, { stderr: "x".repeat(1000) }));
  return crashes.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const program = (): string => join(home, "codex-acp");
const identity = (...args: readonly string[]): string => identifyProgram(program(), { args }, home);

test("nothing is made before something crashed", () => {
  expect(ledger().read("codex")).toEqual([]);
  expect(ledger().clear("codex")).toBe(false);
  expect(readdirSync(home)).toEqual([]);
});

test("what one process writes the next one reads, per backend and oldest first", () => {
  ledger().add("codex", crash(NOON));
  ledger().add("claude", crash(NOON + 1));
  ledger().add("codex", crash(NOON + 2, { livedMs: 5 }));
  expect(ledger().read("codex")).toEqual([crash(NOON), crash(NOON + 2, { livedMs: 5 })]);
  expect(ledger().read("claude")).toEqual([crash(NOON + 1)]);
  expect([modeOf(join(home, "state")), modeOf(dirname(file())), modeOf(file())]).toEqual([0o700, 0o700, 0o600]);
});

test("clearing forgets one backend", () => {
  ledger().add("codex", crash());
  ledger().add("claude", crash());
  expect(ledger().clear("codex")).toBe(true);
  expect(ledger().read("codex")).toEqual([]);
  expect(ledger().read("claude")).toHaveLength(1);
  expect(existsSync(file())).toBe(false);
});

describe("lines that are no crash are passed over", () => {
  test.each([
    { from: "torn by a kill", line: '{"at":1800000000000,"livedMs":0,"prog' },
    { from: "an empty line", line: "" },
    { from: "no object", line: "null" },
    { from: "a list", line: "[1]" },
    { from: "no time", line: JSON.stringify({ ...crash(), at: "noon" }) },
    { from: "no number for a time", line: JSON.stringify({ ...crash(), at: Number.NaN }) },
    { from: "no title", line: JSON.stringify({ ...crash(), title: undefined }) },
    { from: "a title that is none", line: JSON.stringify({ ...crash(), title: ["x"] }) },
    { from: "bytes", line: "\u0000\uFFFD\u0007" },
  ])("$from", ({ line }) => {
    written(`${JSON.stringify(crash(NOON))}\n${line}`);
    ledger().add("codex", crash(NOON + 1));
    expect(ledger().read("codex")).toEqual([crash(NOON), crash(NOON + 1)]);
  });
});

test("several processes append at once", async () => {
  const source = `
    import { CrashFiles } from ${JSON.stringify(LEDGER)};
    const ledger = new CrashFiles({ state: ${JSON.stringify(join(home, "state"))} });
    for (let n = 0; n < 25; n += 1) ledger.add("codex", { ...${JSON.stringify(crash())}, at: process.pid * 1000 + n });
  `;
  const args = ["--input-type=module", "-e", source];
  const writers = Array.from({ length: 3 }, () => spawn(process.execPath, args, { stdio: "inherit" }));
  const exits = await Promise.all(writers.map((writer) => once(writer, "exit")));
  expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
  const times = ledger()
    .read("codex")
    .map(({ at }) => at);
  const expected = writers.flatMap(({ pid = 0 }) => Array.from({ length: 25 }, (_, n) => pid * 1000 + n));
  expect(times.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
});

describe("a file that has grown", () => {
  test("loses what is older than a day", () => {
    written(lines(100, NOON - DAY_MS - 1000) + lines(2, NOON - 10));
    ledger().add("codex", crash(NOON));
    expect(
      ledger()
        .read("codex")
        .map(({ at }) => at),
    ).toEqual([NOON - 10, NOON - 9, NOON]);
    expect(modeOf(file())).toBe(0o600);
    expect(readdirSync(dirname(file()))).toEqual(["codex.jsonl"]);
  });

  test("and all but the last hundred", () => {
    written(lines(150, NOON - 150));
    ledger().add("codex", crash(NOON));
    const kept = ledger().read("codex");
    expect(kept).toHaveLength(100);
    expect(kept.at(-1)?.at).toBe(NOON);
  });

  test("a small one keeps even what is old", () => {
    written(lines(3, NOON - 2 * DAY_MS));
    ledger().add("codex", crash(NOON));
    expect(ledger().read("codex")).toHaveLength(4);
  });
});

test("no name leaves the folder or meets another", () => {
  const names = ["../../evil", "/etc/passwd", "a/b", "a%2Fb", "..", ".", "", "nul\u0000byte", "a\nb", "\uD800", "ünï"];
  names.forEach((name, index) => ledger().add(name, crash(NOON + index)));
  names.forEach((name, index) => expect(ledger().read(name)).toEqual([crash(NOON + index)]));
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).toHaveLength(names.length);
  expect(new Set(files.map(({ parentPath }) => parentPath))).toEqual(new Set([join(home, "state/crashes")]));
});

test("texts are scrubbed and bounded before they are written", () => {
  const secret = "sk-ant-api03-NEVERSHOWN0123456789";
  const stderr = `${"x".repeat(10_000)}\nOPENAI_API_KEY=${secret}\nat /home/somebody/agent.js\n`;
  ledger().add("codex", crash(NOON, { title: `exited: ${secret}`, stderr }));
  const text = readFileSync(file(), "utf8");
  expect(text).not.toMatch(/NEVERSHOWN|somebody/);
  expect(text.length).toBeLessThan(3000);
  expect(ledger().read("codex")[0]?.stderr).toContain("agent.js");
});

describe("what cannot be written is kept in memory, and said once", () => {
  test.each<{ from: string; name: string; prepare: () => void }>([
    {
      from: "a file where the state folder should be",
      name: "codex",
      prepare: () => writeFileSync(join(home, "state"), ""),
    },
    {
      from: "a folder where the file should be",
      name: "codex",
      prepare: () => mkdirSync(file(), { recursive: true }),
    },
    { from: "a name too long for a file", name: "x".repeat(300), prepare: () => {} },
  ])("$from", ({ name, prepare }) => {
    prepare();
    const own = ledger();
    expect(own.takeProblem()).toBeUndefined();
    own.add(name, crash(NOON));
    own.add(name, crash(NOON + 1));
    expect(own.read(name)).toEqual([crash(NOON), crash(NOON + 1)]);
    expect(own.takeProblem()).toMatch(/^Crashes cannot be written down in .*\/state\/crashes \(E[A-Z]+\): /);
    expect(own.takeProblem()).toBeUndefined();
    expect(ledger().read(name)).toEqual([]);
    own.clear(name);
    expect(own.read(name)).toEqual([]);
  });
});

describe("what a program is known by", () => {
  beforeEach(() => {
    writeFileSync(program(), "#!/bin/sh\n");
    writeFileSync(join(home, "agent.mjs"), "1");
    utimesSync(join(home, "agent.mjs"), 1, 1);
    utimesSync(program(), 1, 1);
  });

  test.each<{ from: string; change: () => void }>([
    { from: "another time", change: () => utimesSync(program(), 2, 2) },
    {
      from: "another size, the time kept",
      change: () => (appendFileSync(program(), "#"), utimesSync(program(), 1, 1)),
    },
    { from: "a script among its arguments", change: () => utimesSync(join(home, "agent.mjs"), 2, 2) },
    { from: "its absence", change: () => rmSync(program()) },
  ])("changes with $from", ({ change }) => {
    const before = identity("agent.mjs");
    expect(identity("agent.mjs")).toBe(before);
    change();
    expect(identity("agent.mjs")).not.toBe(before);
  });

  test("holds no folder and no argument", () => {
    expect(identity("--token", "abc", home, "agent.mjs")).toBe("codex-acp:10:1000 agent.mjs:1:1000");
    rmSync(program());
    expect(identity("--token")).toBe("codex-acp");
  });
});
