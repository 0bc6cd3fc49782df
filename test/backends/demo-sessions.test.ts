import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listSessions, loadSession, readSessionFolder, saveSession } from "../../src/backends/demo/session-files.ts";
import { createSession } from "../../src/backends/demo/session.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ostler-demo-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("what was said comes back in a later process, scrubbed", () => {
  const session = createSession("/work");
  session.history.push(
    { from: "user", text: "my key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA" },
    { from: "agent", text: "Hi" },
  );
  session.modeId = "auto";
  saveSession(folder, session);
  const file = join(folder, `${session.id}.json`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain("AAAAAAAA");
  expect(loadSession(folder, session.id)).toMatchObject({
    id: session.id,
    cwd: "/work",
    modeId: "auto",
    modelId: "demo-small",
    history: [
      { from: "user", text: expect.stringContaining("my key is") },
      { from: "agent", text: "Hi" },
    ],
  });
});

test.each([
  ["no file", "00000000-0000-4000-8000-000000000000"],
  ["a path", "../../etc/passwd"],
  ["nothing", ""],
])("%s is no session", (_, id) => {
  expect(loadSession(folder, id)).toBeUndefined();
});

test("a file that is damaged is no session", () => {
  const { id } = createSession("/work");
  writeFileSync(join(folder, `${id}.json`), '{"cwd":"/w');
  expect(loadSession(folder, id)).toBeUndefined();
});

test("the sessions of earlier processes are listed, the last used first; what is damaged is not", () => {
  const [first, second] = [createSession("/work"), createSession("/work")];
  saveSession(folder, first);
  saveSession(folder, second);
  utimesSync(join(folder, `${first.id}.json`), 1, 1);
  writeFileSync(join(folder, `${createSession("/work").id}.json`), '{"cwd":"/w');
  writeFileSync(join(folder, "notes.json"), "{}");
  expect(listSessions(folder).map(({ id, updatedAt }) => [id, updatedAt.getTime() === 1000])).toEqual([
    [second.id, false],
    [first.id, true],
  ]);
  expect(listSessions(join(folder, "none"))).toEqual([]);
});

test("the folder stays small", () => {
  const sessions = Array.from({ length: 55 }, () => createSession("/work"));
  for (const session of sessions) saveSession(folder, session);
  expect(readdirSync(folder)).toHaveLength(50);
  expect(loadSession(folder, sessions.at(-1)!.id)?.id).toBe(sessions.at(-1)!.id);
});

test("a folder that cannot be made costs nothing", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(() => saveSession(join(file, "below"), createSession("/work"))).not.toThrow();
});

test("the folder stands among the arguments, or nowhere", () => {
  expect(readSessionFolder(["node", "agent.js", "--sessions=/state/a b"])).toBe("/state/a b");
  expect(readSessionFolder(["node", "agent.js"])).toBeUndefined();
});
