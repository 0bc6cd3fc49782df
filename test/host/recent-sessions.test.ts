import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ostlerPaths } from "../../src/host/paths.ts";
import type { Paths } from "../../src/host/paths.ts";
import { findRecentSession, forgetRecentSession, noteRecentSession } from "../../src/host/recent-sessions.ts";
import type { RecentSession } from "../../src/host/recent-sessions.ts";

let home: string;
let paths: Paths;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ostler-recent-"));
  paths = ostlerPaths({ OSTLER_HOME: home });
  file = join(paths.state, "recent.jsonl");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const session = (sessionId: string, cwd = "/a", backend = "claude"): RecentSession => ({
  cwd,
  backend,
  sessionId,
  at: 1,
});

test("the newest of the folder, and of the backend that was named", () => {
  for (const noted of [session("1"), session("2", "/a", "codex"), session("3"), session("4", "/b")])
    noteRecentSession(paths, noted);
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual(session("3"));
  expect(findRecentSession(paths, { cwd: "/a", backend: "codex" })).toEqual(session("2", "/a", "codex"));
  expect(findRecentSession(paths, { cwd: "/a", backend: "kiro" })).toBeUndefined();
  expect(findRecentSession(paths, { cwd: "/" })).toBeUndefined();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("one that was closed is passed over", () => {
  noteRecentSession(paths, session("1"));
  noteRecentSession(paths, session("2"));
  forgetRecentSession(paths, session("2"));
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual(session("1"));
});

test("an ad-hoc agent is found with its command line and habits", () => {
  const adHoc: RecentSession = { ...session("1", "/a", "agent"), agent: "my-agent --acp", profile: "generic" };
  noteRecentSession(paths, adHoc);
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual(adHoc);
});

test.each([
  ["nothing there", undefined],
  ["a line that was cut", '{"cwd":"/a","backend":"cla'],
  ["no object", '42\n"x"\nnull\n[]\n'],
  ["fields of other types", '{"cwd":1,"backend":"claude","sessionId":"s"}\n{"cwd":"/a","backend":"claude"}\n'],
])("%s is no session", (_, content) => {
  mkdirSync(paths.state, { recursive: true });
  if (content !== undefined) writeFileSync(file, content);
  expect(findRecentSession(paths, { cwd: "/a" })).toBeUndefined();
});

test("a line behind one that was cut is found", () => {
  noteRecentSession(paths, session("1"));
  appendFileSync(file, '{"cwd":"/a","back\n');
  noteRecentSession(paths, session("2"));
  expect(findRecentSession(paths, { cwd: "/a" })?.sessionId).toBe("2");
});

test("an unknown profile is left out", () => {
  mkdirSync(paths.state, { recursive: true });
  writeFileSync(file, '{"cwd":"/a","backend":"agent","sessionId":"s","profile":"gemini","at":"x"}\n');
  expect(findRecentSession(paths, { cwd: "/a" })).toEqual({ cwd: "/a", backend: "agent", sessionId: "s", at: 0 });
});

test("the file stays small and keeps the newest", () => {
  mkdirSync(paths.state, { recursive: true });
  writeFileSync(file, `${JSON.stringify(session("old", `/${"x".repeat(500)}`))}\n`.repeat(300));
  noteRecentSession(paths, session("new"));
  expect(statSync(file).size).toBeLessThan(100_000);
  expect(findRecentSession(paths, { cwd: "/a" })?.sessionId).toBe("new");
  expect(
    readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .every((line) => JSON.parse(line).backend === "claude"),
  ).toBe(true);
});

test("a state folder that cannot be made costs nothing else", () => {
  writeFileSync(join(home, "state"), "a file");
  expect(() => noteRecentSession(paths, session("1"))).not.toThrow();
  expect(findRecentSession(paths, { cwd: "/a" })).toBeUndefined();
});
