/** What `ostler ask` writes into the log, and what it does not. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, chunk, end, err, permission, tool, turns, waitForAnswer } from "../../fixtures/agents/scenario.ts";
import { linesOf, newFolder, run } from "./run-main.ts";
import type { Ran, RunOptions } from "./run-main.ts";

const fileOf = ({ folder }: Pick<Ran, "folder">) => join(folder, "home/state/logs/ostler.log");

/** The records of one run, without what is in all of them. */
async function recordsOf(argv: readonly string[], options: RunOptions) {
  const ran = await run(["ask", ...argv], options);
  if (!existsSync(fileOf(ran))) return { ran, text: "", records: [] };
  const text = readFileSync(fileOf(ran), "utf8");
  return { ran, text, records: linesOf(text).map(({ time: _time, ostler: _ostler, ...record }) => record) };
}

const hello = turns([chunk("Hello"), end()]);

test("a plain turn that completed writes nothing, and makes no folder", async () => {
  const { ran } = await recordsOf(["hi"], { scenario: hello });
  expect(ran.exitCode).toBe(0);
  expect(existsSync(join(ran.folder, "home/state/logs"))).toBe(false);
});

test("at info the life of the agent and of the turn, without what was said", async () => {
  const scenario = turns([{ raw: "noise\n" }, tool("t1"), chunk("my answer"), end()]);
  const { records, text } = await recordsOf(["--log-level", "info", "my question"], { scenario });
  expect(records).toEqual([
    { level: "info", event: "agent.started", pid: expect.any(Number), backend: "agent", program: "node" },
    { level: "info", event: "turn.began", turnId: expect.any(String), sessionId: "s1", backend: "agent" },
    {
      level: "info",
      event: "turn.ended",
      turnId: records[1]?.["turnId"],
      sessionId: "s1",
      backend: "agent",
      outcome: "completed",
      attempts: 1,
      durationMs: expect.any(Number),
      lateFrames: 0,
    },
    {
      level: "info",
      event: "agent.exited",
      pid: records[0]?.["pid"],
      backend: "agent",
      code: 0,
      signal: null,
      expected: true,
      unroutedFrames: 0,
      strayFrames: 0,
      retiredFrames: 0,
      noiseLines: 1,
    },
  ]);
  expect(text).not.toContain("question");
  expect(text).not.toContain("answer");
});

test("a turn that failed says why, also without a flag", async () => {
  const scenario = turns([err(-32603, "boom sk-ant-api03-abcdefghijklmnop", { status: 400 })]);
  const { records, text } = await recordsOf(["hi"], { scenario });
  expect(records).toMatchObject([{ level: "warn", event: "turn.ended", outcome: "failed", rule: expect.any(String) }]);
  expect(text).not.toContain("abcdefghijklmnop");
});

test("an agent that died by itself is a warning", async () => {
  const { records } = await recordsOf(["hi"], { scenario: turns([{ kill: "SIGKILL" }]) });
  expect(records).toContainEqual(
    expect.objectContaining({ level: "warn", event: "agent.exited", signal: "SIGKILL", expected: false }),
  );
});

test("a retry says what it waits for", async () => {
  const scenario = turns([err(-32603, "HTTP 503", { status: 503 })], [chunk("Hello"), end()]);
  const { records } = await recordsOf(["hi"], { scenario });
  expect(records).toMatchObject([
    { level: "warn", event: "turn.retry", attempt: 2, of: 4, reason: expect.any(String) },
  ]);
});

test.each([
  { from: "a call that was announced", sessionId: "$S", announced: [tool("t9")], kind: "execute" },
  { from: "a session nobody opened, case C17", sessionId: "child-99", announced: [], kind: undefined },
])("a denied permission has its audit record: $from", async ({ sessionId, announced, kind }) => {
  const ask = permission("t9", { sessionId, title: "curl -H 'x-api-key: sk-ant-api03-abcdefghijklmnop' x" });
  const { records, text } = await recordsOf(["hi"], {
    scenario: turns([...announced, ask, waitForAnswer("p1"), chunk("Hi"), end()]),
  });
  expect(records).toEqual([
    {
      level: "warn",
      event: "permission.answered",
      sessionId: sessionId === "$S" ? "s1" : sessionId,
      toolCallId: "t9",
      title: expect.stringContaining("[redacted]"),
      kind,
      answer: "denied",
      optionId: "r",
      reason: expect.any(String),
    },
  ]);
  expect(text).not.toContain("abcdefghijklmnop");
});

test("an allowed permission is there at info", async () => {
  const scenario = turns([permission("t9"), waitForAnswer("p1"), chunk("Hi"), end()]);
  const argv = ["--approve", "all", "hi"];
  expect((await recordsOf(argv, { scenario })).records).toEqual([]);
  const { records } = await recordsOf(argv, { scenario, env: { OSTLER_LOG: "info" } });
  expect(records).toContainEqual(
    expect.objectContaining({ event: "permission.answered", answer: "allowed", optionId: "a" }),
  );
});

test("a request before the session is open", async () => {
  const late = call(
    "session/request_permission",
    { sessionId: "x", toolCall: { toolCallId: "t1" }, options: [] },
    "p9",
  );
  const scenario = { on: { "session/new": [[late, waitForAnswer("p9"), { default: true }]], ...hello.on } } as const;
  const { records } = await recordsOf(["hi"], { scenario });
  expect(records).toMatchObject([
    { event: "permission.answered", answer: "denied", reason: "The session is not open yet" },
  ]);
});

test("warnings of the configuration", async () => {
  const { records } = await recordsOf(["hi"], { scenario: hello, config: { defaultBackendd: "x" } });
  expect(records).toEqual([
    { level: "warn", event: "config.warning", warning: expect.stringContaining("defaultBackendd") },
  ]);
});

test.each([
  { from: "the flag", argv: ["--log-level", "silent"], env: {} },
  { from: "the variable", argv: [], env: { OSTLER_LOG: "silent" } },
  { from: "the flag against the variable", argv: ["--log-level", "silent"], env: { OSTLER_LOG: "trace" } },
])("silent writes nothing: $from", async ({ argv, env }) => {
  const { ran } = await recordsOf([...argv, "hi"], { scenario: turns([err(-32603, "boom")]), env });
  expect(existsSync(fileOf(ran))).toBe(false);
});

test("a variable that makes no sense is said, and warnings are logged", async () => {
  const { ran, records } = await recordsOf(["hi"], {
    scenario: turns([err(-32603, "boom")]),
    env: { OSTLER_LOG: "loud" },
  });
  expect(ran.stderr).toContain('OSTLER_LOG cannot be "loud"; it is one of silent, error, warn, info, debug, trace\n');
  expect(records).toMatchObject([{ event: "turn.ended" }]);
});

test("a level that does not exist is a usage error", async () => {
  const { ran } = await recordsOf(["--log-level", "loud", "hi"], { scenario: hello });
  expect(ran.exitCode).toBe(2);
});

test("a log that cannot be written is one remark, and the turn is as it was", async () => {
  const folder = newFolder();
  const scenario = turns([chunk("Hello"), end()]);
  mkdirSync(fileOf({ folder }), { recursive: true });
  const { exitCode, stdout, stderr } = await run(["ask", "--log-level", "info", "hi"], { folder, scenario });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Hello\n" });
  expect(stderr).toBe(
    `The log in ${join(folder, "home/state/logs")} cannot be written (EISDIR); --log-level silent does without it\n`,
  );
});
