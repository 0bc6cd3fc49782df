/** State files in whose place something else stands, or that have grown beyond all measure: nothing hangs, nothing is slow. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync, appendFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CrashFiles } from "../../src/host/crash-ledger.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import type { Paths } from "../../src/host/paths.ts";
import { findRecentSession, noteRecentSession } from "../../src/host/recent-sessions.ts";
import { appendText, readLastLines, readSmallFile } from "../../src/host/state-file.ts";

let home: string;
let paths: Paths;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-state-"));
  paths = ostlerPaths({ OSTLER_HOME: home });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const crash = { at: Date.now(), livedMs: 1, program: "p", title: "t", stderr: "" };
const session = { cwd: "/a", backend: "claude", sessionId: "s1", at: 1 };

const INTRUDERS: readonly { readonly from: string; readonly put: (file: string) => void }[] = [
  { from: "a pipe that nobody writes to", put: (file) => execFileSync("mkfifo", [file]) },
  { from: "a device without an end", put: (file) => symlinkSync("/dev/zero", file) },
  { from: "a folder", put: (file) => mkdirSync(file) },
];

describe.each(INTRUDERS)("$from in the place of", ({ put }) => {
  test("the recent sessions", () => {
    const file = join(paths.state, "recent.jsonl");
    mkdirSync(dirname(file), { recursive: true });
    put(file);
    noteRecentSession(paths, session);
    expect(findRecentSession(paths, { cwd: "/a" })).toBeUndefined();
  });

  test("the crashes, which are kept in memory then", () => {
    const file = join(paths.state, "crashes/codex.jsonl");
    mkdirSync(dirname(file), { recursive: true });
    put(file);
    const crashes = new CrashFiles(paths);
    expect(crashes.read("codex")).toEqual([]);
    crashes.add("codex", crash);
    expect(crashes.read("codex")).toEqual([crash]);
    expect(crashes.takeProblem()).toContain("Crashes cannot be written down");
  });

  test("any other", () => {
    const file = join(home, "file");
    put(file);
    expect(() => readSmallFile(file, 10)).toThrow("is no plain file");
    expect(() => readLastLines(file, 10)).toThrow("is no plain file");
    expect(() => appendText(file, "x\n")).toThrow(/is no plain file|ENXIO|EISDIR/);
  });
});

/** A file of 4 GB that takes no place: all of it is one hole, and this is its end. */
function huge(file: string, end: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  truncateSync(file, 4 * 1024 ** 3);
  appendFileSync(file, end);
}

test("of a huge file only the end is read", () => {
  huge(join(paths.state, "recent.jsonl"), `\n${JSON.stringify(session)}\n`);
  huge(join(paths.state, "crashes/codex.jsonl"), `\n${JSON.stringify(crash)}\n`);
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual(session);
  expect(new CrashFiles(paths).read("codex")).toEqual([crash]);
  expect(() => readSmallFile(join(paths.state, "recent.jsonl"), 64 * 1024)).toThrow("has more than 65536 bytes");
});

test.each<{ from: string; text: string; maxBytes: number; expected: string }>([
  { from: "all of it", text: "a\nb\n", maxBytes: 4, expected: "a\nb\n" },
  { from: "a cut between two lines", text: "a\nb\n", maxBytes: 2, expected: "b\n" },
  { from: "a cut within a line", text: "aa\nb\n", maxBytes: 3, expected: "b\n" },
  { from: "a cut within a character", text: "a😀\nb\n", maxBytes: 5, expected: "b\n" },
  { from: "one line that is too long", text: "aaaa", maxBytes: 3, expected: "" },
  { from: "nothing", text: "", maxBytes: 3, expected: "" },
])("whole lines from the end: $from", ({ text, maxBytes, expected }) => {
  const file = join(home, "lines");
  writeFileSync(file, text);
  expect(readLastLines(file, maxBytes)).toBe(expected);
});

test.each<{ from: string; long: Partial<typeof session> & { agent?: string } }>([
  { from: "a session id of 140 kB", long: { sessionId: "s".repeat(140_000) } },
  { from: "a session id of 1,001 characters", long: { sessionId: "s".repeat(1001) } },
  { from: "a command of 140 kB", long: { agent: `agent ${"x".repeat(140_000)}` } },
])("a session that would drive out all others is not noted: $from", ({ long }) => {
  noteRecentSession(paths, session);
  noteRecentSession(paths, { ...session, cwd: "/b", ...long });
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual(session);
  expect(findRecentSession(paths, { cwd: "/b" })).toBeUndefined();
});
