/** `ostler backends` and `ostler backends resume`, with crashes that other Ostlers wrote down. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CrashFiles, identifyProgram } from "../../../src/host/crash-ledger.ts";
import { OwnerServer } from "../../../src/host/owner-server.ts";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { openStore } from "../../../src/host/store.ts";
import { newFolder, run } from "./run-main.ts";

const SINCE = new Date(2027, 0, 15, 14, 2).getTime();
const config = { backends: { mine: { command: ["./agent", "--acp"] } } };

/** A folder with one agent of its own, which crashed so many times; `changed`: and was repaired since. */
function world(crashes: number, { changed = false } = {}) {
  const folder = newFolder();
  const program = join(folder, "agent");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const ledger = new CrashFiles(ostlerPaths({ OSTLER_HOME: join(folder, "home") }));
  for (let n = 1; n <= crashes; n += 1) {
    ledger.add("mine", {
      at: SINCE + n,
      livedMs: 0,
      program: identifyProgram(program, { args: ["--acp"] }, folder),
      title: `Agent "mine" exited with code ${n}`,
      stderr: "panic",
    });
  }
  if (changed) writeFileSync(program, "#!/bin/sh\nexit 0\n");
  return { folder, ledger, config };
}

const mine = (stdout: string): string | undefined => stdout.split("\n").find((line) => line.startsWith("mine"));

describe("the list", () => {
  test("says of a parked one since when, why, and what to run", async () => {
    const { folder, ledger } = world(5);
    const { exitCode, stdout } = await run(["backends"], { folder, config });
    expect(exitCode).toBe(0);
    expect(mine(stdout)).toBe(
      `mine    ${join(folder, "agent")}  parked since 2027-01-15 14:02 (Agent "mine" exited with code 5); to start it again: ostler backends resume mine`,
    );
    expect(stdout.match(/parked/g)).toHaveLength(1);
    expect(ledger.read("mine")).toHaveLength(5);
  });

  test.each([
    { from: "nothing crashed", crashes: 0, changed: false },
    { from: "too few crashes", crashes: 4, changed: false },
    { from: "a program that was repaired", crashes: 5, changed: true },
  ])("says nothing of it: $from", async ({ crashes, changed }) => {
    const { folder } = world(crashes, { changed });
    const { stdout } = await run(["backends"], { folder, config });
    expect(mine(stdout)).toBe(`mine    ${join(folder, "agent")}`);
  });

  test("follows the configured burst", async () => {
    const { folder } = world(2);
    const { stdout } = await run(["backends"], { folder, config: { ...config, restart: { burst: 2 } } });
    expect(mine(stdout)).toContain("parked since");
  });
});

describe("resume", () => {
  test.each([
    {
      from: "a parked one",
      crashes: 5,
      says: 'mine may start again; it was parked since 2027-01-15 14:02 (Agent "mine" exited with code 5)\n',
    },
    { from: "one with fewer crashes", crashes: 2, says: "mine was not parked; 2 crashes are forgotten\n" },
    { from: "one with a single crash", crashes: 1, says: "mine was not parked; one crash is forgotten\n" },
    { from: "one that never crashed", crashes: 0, says: "mine was not parked\n" },
  ])("$from", async ({ crashes, says }) => {
    const { folder, ledger } = world(crashes);
    expect(await run(["backends", "resume", "mine"], { folder, config })).toMatchObject({
      exitCode: 0,
      stdout: says,
      stderr: "",
    });
    expect(ledger.read("mine")).toEqual([]);
  });

  test.each([
    {
      from: "an unknown name",
      argv: ["resume", "mien"],
      says: /No backend is called "mien" \(did you mean "mine"\?\)/,
    },
    { from: "no name", argv: ["resume"], says: /ostler backends resume NAME/ },
    { from: "two names", argv: ["resume", "mine", "demo"], says: /ostler backends resume NAME/ },
    { from: "a path", argv: ["resume", "../mine"], says: /No backend is called/ },
  ])("$from is exit 2 and clears nothing", async ({ argv, says }) => {
    const { folder, ledger } = world(5);
    const { exitCode, stdout, stderr } = await run(["backends", ...argv], { folder, config });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(says);
    expect(ledger.read("mine")).toHaveLength(5);
  });

  test("says when the crashes cannot be removed", async () => {
    const { folder, ledger } = world(0);
    mkdirSync(join(folder, "home/state/crashes/mine.jsonl"), { recursive: true });
    const { exitCode, stderr } = await run(["backends", "resume", "mine"], { folder, config });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^ostler: Crashes cannot be written down in .*crashes \(E\w+\)/);
    expect(statSync(join(folder, "home/state/crashes/mine.jsonl")).isDirectory()).toBe(true);
    expect(ledger.read("mine")).toEqual([]);
  });

  test.each<{ from: string; answer?: () => unknown; exitCode: number; stderr: RegExp }>([
    { from: "a living Ostler is told", answer: () => ({ resumed: true }), exitCode: 0, stderr: /^$/ },
    { from: "one that knows no such request has nothing to forget", exitCode: 0, stderr: /^$/ },
    {
      from: "one that fails is named",
      answer: () => {
        throw new Error("out of order");
      },
      exitCode: 1,
      stderr: new RegExp(`^ostler: Ostler process ${process.pid} says: .+\n$`),
    },
  ])("$from", async ({ answer, exitCode, stderr }) => {
    const { folder } = world(5);
    const asked: unknown[] = [];
    const store = openStore(ostlerPaths({ OSTLER_HOME: join(folder, "home") }));
    onTestFinished(() => store.close());
    await using owner = await OwnerServer.open(store);
    if (answer !== undefined) {
      owner.handle("backends/resume", (params) => {
        asked.push(params);
        return answer();
      });
    }
    const ran = await run(["backends", "resume", "mine"], { folder, config });
    expect(ran).toMatchObject({ exitCode, stderr: expect.stringMatching(stderr) });
    expect(ran.stdout).toMatch(/^mine may start again;/);
    expect(asked).toEqual(answer === undefined ? [] : [{ backend: "mine" }]);
  });
});

describe("crashes that something else wrote down", () => {
  const KEY = `sk-ant-api03-${"aB3dE6gH9".repeat(5)}`;
  const FORGED = `x\nforged\r\u001B[31m${KEY}\u001B(B${KEY} ${"y".repeat(100_000)}`;

  test.each([
    { argv: ["backends"], says: "parked since unknown (x forged [redacted] [redacted] yyy" },
    { argv: ["backends", "resume", "mine"], says: "parked since unknown (x forged [redacted] [redacted] yyy" },
    {
      argv: ["doctor", "-b", "mine"],
      says: "Parked after 5 crashes within 60 s: x forged [redacted] [redacted] yyy",
    },
    { argv: ["doctor", "-b", "mine", "--json"], says: "forged\\n[redacted]" },
  ])("are scrubbed again and short: $argv", async ({ argv, says }) => {
    const { folder } = world(0);
    const program = identifyProgram(join(folder, "agent"), { args: ["--acp"] }, folder);
    const crashes = Array.from({ length: 5 }, () => ({
      at: 9e15,
      livedMs: 0,
      program,
      title: FORGED,
      stderr: `${"z\n".repeat(5000)}forged\n${KEY}\u001B(B${KEY}`,
    }));
    mkdirSync(join(folder, "home/state/crashes"), { recursive: true });
    // The ledger reads the end of a large file only.
    const text = crashes
      .map((crash) => `${JSON.stringify(crash)}\n`)
      .join("")
      .replaceAll("y".repeat(100_000), "y".repeat(10_000));
    writeFileSync(join(folder, "home/state/crashes/mine.jsonl"), text);
    const { stdout } = await run(argv, { folder, config });
    expect(stdout).toContain(says);
    expect(stdout).not.toContain(KEY.slice(-12));
    // oxlint-disable-next-line no-control-regex -- they must not appear
    expect(stdout).not.toMatch(/^forged|Invalid|NaN|[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/m);
    expect(stdout).not.toMatch(/y{400}|(?:z(?:\\n|\W{1,7})){1100}/);
  });
});
