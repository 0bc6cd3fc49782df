import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callOwner } from "../../../src/host/owner-client.ts";
import { listOwners } from "../../../src/host/owner-socket.ts";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { openStore } from "../../../src/host/store.ts";
import type { ResultLine } from "../../../src/surfaces/shared/result.ts";
import {
  agentOption,
  call,
  chunk,
  end,
  err,
  logOf,
  processesIn,
  promptsIn,
  reply,
  update,
  waitFor,
} from "../../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { untilLogged } from "../../acp/drive.ts";
import { linesOf, newFolder, run } from "./run-main.ts";

/** Above the largest process number of Linux by default: nobody has it. */
const DEAD_PID = 4_194_303;
const BOTH: Json = { loadSession: true, sessionCapabilities: { resume: {} } };
const LOAD: Json = { loadSession: true };
const LOST = /^Context was lost, this is a new session: the earlier one could not be reopened/;

/** An agent whose first process opens `s1`, every later one `s2`, that answers `session/load` and `session/resume` as told, and every prompt with "Answer". */
function reopening(
  load: readonly Action[],
  {
    can = LOAD,
    resume = load,
    prompt = [chunk("Answer"), end()],
  }: Partial<Record<"resume" | "prompt", readonly Action[]>> & { can?: Json } = {},
): Scenario {
  const first = {
    initializeResult: { agentCapabilities: can },
    on: {
      "session/load": [load],
      "session/resume": [resume],
      "session/prompt": [prompt],
    },
  };
  return { runs: [first, { ...first, newResult: { sessionId: "s2" } }] };
}

const LOADED: readonly Action[] = [
  update({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Old question" } }, "s1"),
  chunk("Old answer", {}, "s1"),
  reply({}),
];

/** Two calls of `ostler ask -s work` in one folder: the session of the first is gone back to by the second. */
async function askTwice(scenario: Scenario) {
  const folder = newFolder();
  const argv = ["ask", "-s", "work", "--agent", agentOption(scenario, folder)];
  await run([...argv, "one"], { folder });
  const { stdout, exitCode, log, stderr } = await run([...argv, "--format", "ndjson", "two"], { folder });
  const lines = linesOf(stdout);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the last line is the result line
  const result = lines.at(-1) as unknown as ResultLine;
  const methods = logOf(log).flatMap(({ frame }) => (frame?.method === undefined ? [] : [frame.method]));
  return {
    folder,
    result,
    exitCode,
    stdout,
    stderr,
    notices: lines.filter(({ type }) => type === "notice").map(({ text }) => text),
    /** What the second process and its successors were asked. */
    methods: methods.slice(methods.indexOf("session/prompt") + 1).filter((method) => method !== "initialize"),
    log,
  };
}

describe("a named session", () => {
  test("is gone back to, and what is replayed is no answer", async () => {
    const { result, notices, stdout, methods } = await askTwice(reopening(LOADED));
    expect(result).toMatchObject({ outcome: "completed", text: "Answer", sessionId: "s1", attempts: 1, exitCode: 0 });
    expect(notices).toEqual([]);
    expect(stdout).not.toContain("Old");
    expect(methods).toEqual(["session/load", "session/prompt"]);
  });

  test("500 old updates are no answer either", async () => {
    const old = call("session/update", {
      sessionId: "s1",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Old " } },
    });
    const many = [...Array.from({ length: 500 }, () => old), reply({})];
    const { result, stdout } = await askTwice(reopening(many));
    expect(result).toMatchObject({ outcome: "completed", text: "Answer", attempts: 1 });
    expect(stdout).not.toContain("Old");
  });

  test("is resumed where the agent cannot load", async () => {
    const { methods, notices } = await askTwice(
      reopening([reply({})], { can: { loadSession: false, sessionCapabilities: { resume: {} } } }),
    );
    expect(methods).toEqual(["session/resume", "session/prompt"]);
    expect(notices).toEqual([]);
  });

  test("that was begun anew says so on stderr where stdout is one result", async () => {
    const folder = newFolder();
    const argv = ["ask", "-s", "work", "--agent", agentOption(reopening([reply({})], { can: {} }), folder)];
    await run([...argv, "one"], { folder });
    const { stdout, stderr } = await run([...argv, "--format", "json", "two"], { folder });
    expect(stderr).toMatch(LOST);
    expect(linesOf(stdout)).toEqual([expect.objectContaining({ type: "result", outcome: "completed" })]);
  });

  test("of an agent that can do neither begins anew, and says so", async () => {
    const { methods, notices, result } = await askTwice(reopening([reply({})], { can: {} }));
    expect(methods).toEqual(["session/new", "session/prompt"]);
    expect(notices).toEqual([
      "Context was lost, this is a new session: the earlier one could not be reopened (the agent cannot reopen a session)",
    ]);
    expect(result.exitCode).toBe(0);
  });
});

describe.concurrent("case C21: what session/load answers", () => {
  test.each<{ from: string; answer: Action; can?: Json; methods: readonly string[] }>([
    {
      from: "-32002",
      answer: err(-32002, "Resource not found", { sessionId: "s1" }),
      methods: ["session/load", "session/new", "session/prompt"],
    },
    {
      from: "-32602 and a sentence",
      answer: err(-32602, 'Session "s1" not found'),
      methods: ["session/load", "session/new", "session/prompt"],
    },
    {
      from: "-32603 and details",
      answer: err(-32603, "Internal error", { details: "Session s1 not found" }),
      can: BOTH,
      methods: ["session/load", "session/resume", "session/new", "session/prompt"],
    },
    {
      from: "kiro 2.8.1",
      answer: err(-32603, "Internal error", "Failed to start session: Session not found: s1"),
      methods: ["session/load", "session/new", "session/prompt"],
    },
  ])("not found as $from: a new session that says so", async ({ answer, can = LOAD, methods: expected }) => {
    const { result, notices, methods, folder } = await askTwice(reopening([answer], { can }));
    expect(methods).toEqual(expected);
    expect(result).toMatchObject({ outcome: "completed", exitCode: 0, text: "Answer" });
    expect(notices).toEqual([expect.stringMatching(LOST)]);
    const { stdout } = await run(["sessions", "show", "work", "--json"], { folder });
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: "s2",
      pastSessionIds: [{ sessionId: "s1", why: expect.stringMatching(LOST) }],
    });
  });

  test.each<{ from: string; answer: Action }>([
    {
      from: "kiro 2.16, the process lives",
      answer: err(
        -32603,
        "Internal error",
        `Failed to start session: Session is active in another process (PID ${process.pid})`,
      ),
    },
    {
      from: "codex 2.6.0 load-active-elsewhere",
      answer: err(-32600, "Invalid request: This Codex session is in use by another Codex client", {
        reason: "thread_active_writer",
        threadId: "s1",
      }),
    },
  ])("in use as $from: exit 10, and the session stays", async ({ answer }) => {
    const { result, exitCode, methods, folder } = await askTwice(reopening([answer]));
    expect(exitCode).toBe(10);
    expect(result).toMatchObject({
      outcome: "failed",
      failure: { kind: "busy", replaySafety: "not_sent" },
      attempts: 0,
    });
    expect(methods).toEqual(["session/load"]);
    const { stdout } = await run(["sessions", "show", "work", "--json"], { folder });
    expect(JSON.parse(stdout)).toMatchObject({ sessionId: "s1", pastSessionIds: [], turns: 1 });
  });

  test.each<{ from: string; answer: Action }>([
    {
      from: "kiro 2.16, the process is dead",
      answer: err(
        -32603,
        "Internal error",
        `Failed to start session: Session is active in another process (PID ${DEAD_PID})`,
      ),
    },
    { from: "a bare internal error", answer: err(-32603, "Internal error") },
    { from: "a sentence without a process", answer: err(-32603, "Already open in another process") },
  ])("$from: four tries, then a new session", async ({ answer }) => {
    const { methods, notices, exitCode } = await askTwice(reopening([answer]));
    expect(methods).toEqual([
      "session/load",
      "session/load",
      "session/load",
      "session/load",
      "session/new",
      "session/prompt",
    ]);
    expect(notices).toEqual([expect.stringMatching(LOST)]);
    expect(exitCode).toBe(0);
  });

  test("kiro 2.4 exits 0 instead: a fresh process, once more, then a new session", async () => {
    const { methods, notices, exitCode, log } = await askTwice(reopening([{ exit: 0 }]));
    expect(methods).toEqual(["session/load", "session/load", "session/new", "session/prompt"]);
    expect(notices).toEqual([expect.stringMatching(LOST)]);
    expect(exitCode).toBe(0);
    expect(processesIn(log)).toHaveLength(4);
  });

  test("kiro 1.28 never answers: a timeout, and the session stays", async () => {
    const folder = newFolder();
    const argv = ["ask", "-s", "work", "--agent", agentOption(reopening([{ delayMs: 600_000 }]), folder)];
    await run([...argv, "one"], { folder });
    const config = { timeouts: { sessionS: 1 } };
    const { stdout, exitCode } = await run([...argv, "--format", "json", "two"], { folder, config });
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ failure: { kind: "timeout", replaySafety: "not_sent" }, attempts: 0 });
    const shown = await run(["sessions", "show", "work", "--json"], { folder });
    expect(JSON.parse(shown.stdout)).toMatchObject({ sessionId: "s1", pastSessionIds: [] });
  });

  test("a login that is missing loses nothing", async () => {
    const { exitCode, methods, folder } = await askTwice(reopening([err(-32000, "Authentication required")]));
    expect(exitCode).toBe(6);
    expect(methods).toEqual(["session/load"]);
    const shown = await run(["sessions", "show", "work", "--json"], { folder });
    expect(JSON.parse(shown.stdout)).toMatchObject({ sessionId: "s1" });
  });
});

describe("--continue", () => {
  test("goes on in the last plain ask of the folder", async () => {
    const folder = newFolder();
    const agent = agentOption(reopening(LOADED), folder);
    await run(["ask", "--agent", agent, "one"], { folder });
    const { exitCode, stdout, log } = await run(["ask", "--continue", "two"], { folder });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Answer\n" });
    expect(logOf(log).filter(({ frame }) => frame?.method === "session/new")).toHaveLength(1);
    const third = await run(["ask", "--continue", "three"], { folder });
    expect(third.exitCode).toBe(0);
    const { stdout: list } = await run(["sessions", "--json"], { folder });
    expect(JSON.parse(list)).toEqual([expect.objectContaining({ name: null, sessionId: "s1", turns: 3 })]);
  });

  test("has nothing to go on in: exit 4", async () => {
    const folder = newFolder();
    await run(["ask", "--agent", agentOption(reopening(LOADED), folder), "one"], { folder });
    mkdirSync(join(folder, "below"));
    const { exitCode, stderr, stdout } = await run(["ask", "--continue", "-C", "below", "two"], { folder });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toContain("There is no earlier session in");
  });

  test("an agent whose command line held a secret has to be named again", async () => {
    const folder = newFolder();
    const agent = `${agentOption(reopening(LOADED), folder)} --token sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA`;
    await run(["ask", "--agent", agent, "one"], { folder });
    const { exitCode, stderr } = await run(["ask", "--continue", "two"], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("give it again with --agent");
    expect((await run(["ask", "--continue", "--agent", agent, "two"], { folder })).exitCode).toBe(0);
  });
});

describe("ostler sessions", () => {
  test("lists, shows and closes", async () => {
    const { folder } = await askTwice(reopening(LOADED));
    const { stdout: list } = await run(["sessions"], { folder });
    expect(list).toMatch(/^work +agent +\S+ +2 turns +\d{4}-\d\d-\d\d \d\d:\d\d +completed\n$/);
    const { stdout: shown } = await run(["sessions", "show", "work"], { folder });
    expect(shown).toMatch(/^name +work$/m);
    expect(shown).toMatch(/^session +s1$/m);
    const { stdout: closed, exitCode } = await run(["sessions", "close", "work"], { folder });
    expect({ closed, exitCode }).toEqual({
      closed: 'Closed "work"; agent itself may still keep session s1\n',
      exitCode: 0,
    });
    expect((await run(["sessions"], { folder })).stdout).toBe('No sessions yet; ostler ask -s NAME "…" makes one\n');
  });

  test.each([
    { argv: ["sessions", "show", "nope"], exitCode: 4, says: 'There is no session called "nope"' },
    { argv: ["sessions", "close", "nope"], exitCode: 4, says: 'There is no session called "nope"' },
    { argv: ["sessions", "show"], exitCode: 2, says: "show, fork or close with a NAME" },
    { argv: ["sessions", "drop", "x"], exitCode: 2, says: "show, fork or close with a NAME" },
    { argv: ["sessions", "-C", "nowhere"], exitCode: 2, says: "there is no such folder" },
    { argv: ["ask", "-s", "", "hi"], exitCode: 2, says: "--session needs a value" },
    { argv: ["ask", "-s", "a\nb", "hi"], exitCode: 2, says: "line breaks" },
    { argv: ["ask", "-s", "x".repeat(101), "hi"], exitCode: 2, says: "at most 100 characters" },
    { argv: ["ask", "-s", "a", "--continue", "hi"], exitCode: 2, says: "give one of them" },
    { argv: ["ask", "--no-wait", "hi"], exitCode: 2, says: "means nothing without --session" },
  ])("$argv ends with $exitCode and one sentence", async ({ argv, exitCode, says }) => {
    const ran = await run(argv);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(says);
    expect(ran.stdout).toBe("");
  });

  test("a session of another agent is not taken over", async () => {
    const { folder } = await askTwice(reopening(LOADED));
    const { exitCode, stderr } = await run(["ask", "-s", "work", "-b", "demo", "hi"], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/The session "work" belongs to .*scripted\.mjs.*, not to demo/);
  });

  test("nor one of another command line", async () => {
    const { folder } = await askTwice(reopening(LOADED));
    const { exitCode, stderr } = await run(["ask", "-s", "work", "--agent", "other-agent --acp", "hi"], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/The session "work" belongs to .*scripted\.mjs.*, not to other-agent --acp/);
  });

  test("a name whose first call came to no session is free", async () => {
    const folder = newFolder();
    expect((await run(["ask", "-s", "work", "--agent", "/no/such/agent", "hi"], { folder })).exitCode).toBe(9);
    const { exitCode, stdout } = await run(["ask", "-s", "work", "-b", "demo", "hi"], { folder });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Hello!");
    expect(JSON.parse((await run(["sessions", "--json"], { folder })).stdout)).toMatchObject([{ backend: "demo" }]);
  });

  test("a mode that acts without asking is for one call, not for the session", async () => {
    const folder = newFolder();
    await run(["ask", "-s", "work", "-b", "demo", "--mode", "auto", "hi"], { folder });
    const { stdout, stderr } = await run(["ask", "-s", "work", "--approve", "none", "--json", "/ask-permission"], {
      folder,
    });
    expect(linesOf(stdout)[0]).toMatchObject({ type: "session", mode: "ask" });
    expect(linesOf(stdout).at(-1)).toMatchObject({
      outcome: "completed",
      text: expect.stringContaining("You said no"),
    });
    expect(stdout + stderr).not.toContain("without asking");
  });

  test("one without a name is shown and closed by the beginning of its id", async () => {
    const folder = newFolder();
    await run(["ask", "-b", "demo", "one"], { folder });
    await run(["ask", "--continue", "two"], { folder });
    const { stdout: list } = await run(["sessions"], { folder });
    const [id = ""] = list.split(" ");
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect((await run(["sessions", "show", id], { folder })).stdout).toContain("(unnamed)");
    expect((await run(["sessions", "close", id], { folder })).exitCode).toBe(0);
    expect((await run(["sessions", "--json"], { folder })).stdout).toBe("[]\n");
    expect((await run(["ask", "--continue", "three"], { folder })).exitCode).toBe(4);
  });

  test("a model is kept as it was given once it worked, a path too; one that did not is not", async () => {
    const folder = newFolder();
    const models = { availableModels: [{ modelId: "/home/me/m1" }, { modelId: "m2" }], currentModelId: "m2" };
    const agent = agentOption(
      {
        initializeResult: { agentCapabilities: LOAD },
        newResult: { models },
        on: { "session/load": [[reply({ models })]] },
      },
      folder,
    );
    const argv = ["ask", "-s", "work", "--agent", agent];
    expect((await run([...argv, "-m", "nope", "hi"], { folder })).exitCode).toBe(1);
    expect((await run([...argv, "-m", "/home/me/m1", "hi"], { folder })).exitCode).toBe(0);
    const { exitCode, log } = await run([...argv, "hi"], { folder });
    expect(exitCode).toBe(0);
    const set = logOf(log).filter(({ frame }) => frame?.method === "session/set_model");
    expect(set.map(({ frame }) => frame?.params?.["modelId"])).toEqual(["/home/me/m1", "/home/me/m1"]);
  });

  test("a first call that failed does not stand before the last session", async () => {
    const folder = newFolder();
    await run(["ask", "-b", "demo", "one"], { folder });
    await run(["ask", "-s", "broken", "--agent", "/no/such/agent", "hi"], { folder });
    expect((await run(["ask", "--continue", "two"], { folder })).stdout).toContain('before that "one"');
  });

  test("how the last turn failed is shown", async () => {
    const folder = newFolder();
    await run(["ask", "-s", "work", "-b", "demo", "/crash"], { folder });
    expect((await run(["sessions"], { folder })).stdout).toMatch(/ failed \(agent_died\)\n$/);
  });

  test("two folders may use one name", async () => {
    const { folder } = await askTwice(reopening(LOADED));
    mkdirSync(join(folder, "below"));
    const agent = agentOption(reopening(LOADED), folder);
    const { stdout } = await run(["ask", "-s", "work", "-C", "below", "--agent", agent, "hi"], { folder });
    expect(stdout).toBe("Answer\n");
    expect(JSON.parse((await run(["sessions", "--json"], { folder })).stdout)).toHaveLength(2);
    mkdirSync(join(folder, "other"));
    const shown = await run(["sessions", "show", "work", "-C", "other"], { folder });
    expect(shown.exitCode).toBe(2);
    expect(shown.stderr).toContain("say which with -C");
  });
});

test("a prompt waits for the one before it; --no-wait ends with 10", async () => {
  const folder = newFolder();
  const go = join(folder, "go");
  const scenario = reopening(LOADED, { prompt: [chunk("Answer"), { untilFile: go }, end()] });
  const argv = ["ask", "-s", "work", "--agent", agentOption(scenario, folder)];
  const answering = Promise.withResolvers<void>();
  const first = run([...argv, "one"], { folder, onStdout: () => answering.resolve() });
  await answering.promise;
  const refused = await run([...argv, "--no-wait", "--format", "json", "no"], { folder });
  expect(refused.exitCode).toBe(10);
  expect(JSON.parse(refused.stdout)).toMatchObject({ outcome: "failed", failure: { kind: "busy" }, attempts: 0 });
  const closing = await run(["sessions", "close", "work"], { folder });
  expect(closing.exitCode).toBe(10);
  const waiting = Promise.withResolvers<string>();
  const second = run([...argv, "two"], {
    folder,
    terminal: true,
    onStderr: (text) => / s · waits until the session is free/.test(text) && waiting.resolve(text),
  });
  const [, shown] = (await waiting.promise).split("waiting for it");
  expect(shown).not.toContain("starting");
  writeFileSync(go, "");
  expect([(await first).exitCode, (await second).exitCode]).toEqual([0, 0]);
  expect(promptsIn((await second).log).map(({ params }) => params?.["prompt"])).toEqual([
    [{ type: "text", text: "one" }],
    [{ type: "text", text: "two" }],
  ]);
});

test("a stop ends the wait for a session", async () => {
  const folder = newFolder();
  const go = join(folder, "go");
  const scenario = reopening(LOADED, { prompt: [chunk("Answer"), { untilFile: go }, end()] });
  const argv = ["ask", "-s", "work", "--agent", agentOption(scenario, folder)];
  const answering = Promise.withResolvers<void>();
  const first = run([...argv, "one"], { folder, onStdout: () => answering.resolve() });
  await answering.promise;
  const second = await run([...argv, "two"], {
    folder,
    onStderr: (text, signal) => text.includes("waiting for it") && signal("SIGINT"),
  });
  expect(second.exitCode).toBe(130);
  writeFileSync(go, "");
  expect((await first).exitCode).toBe(0);
  expect(promptsIn((await first).log)).toHaveLength(1);
});

test("another process can cancel the turn of a named session through its socket", async () => {
  const folder = newFolder();
  const scenario = reopening(LOADED, { prompt: [chunk("Half"), waitFor("session/cancel"), end("cancelled")] });
  const argv = ["ask", "-s", "work", "--agent", agentOption(scenario, folder), "--format", "json"];
  const paths = ostlerPaths({ OSTLER_HOME: join(folder, "home") });
  const turn = run([...argv, "one"], { folder });
  const log = join(folder, "agent.log");
  writeFileSync(log, "");
  await untilLogged(log, () => promptsIn(log).length === 1);
  const shown = await run(["sessions", "show", "work", "--json"], { folder });
  const { id }: { id: string } = JSON.parse(shown.stdout);
  const [owner] = listOwners(paths);
  expect(await callOwner(owner!.path, "cancel", { conversation: "another" })).toEqual({ cancelled: false });
  expect(await callOwner(owner!.path, "cancel", { conversation: id })).toEqual({ cancelled: true });
  const { stdout, exitCode } = await turn;
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "cancelled", text: "Half", partial: true });
  expect(exitCode).toBe(1);
});

const KEY = `sk-ant-api03-${"aB3dE6gH9".repeat(5)}`;
const FORGED = `x\nforged  row\r\u001B[31m${KEY}\u001B(B${KEY}\u0085y`;

/** A folder with one kept session, into whose row something else wrote. */
function spoil(values: Readonly<Record<string, string | number>>): string {
  const folder = newFolder();
  using store = openStore(ostlerPaths({ OSTLER_HOME: join(folder, "home") }));
  const { id } = store.create({ name: "work", cwd: folder, backend: "mine" });
  const sets = Object.keys(values).map((column) => `${column} = ?`);
  store.use(({ db }) =>
    db.prepare(`UPDATE conversations SET ${sets.join(", ")} WHERE id = ?`).run(...Object.values(values), id),
  );
  return folder;
}

describe("a store that something else wrote into", () => {
  test.each([
    { argv: ["sessions"], lines: 1 },
    { argv: ["sessions", "--json"], lines: 1 },
    { argv: ["sessions", "show", "work"], lines: 11 },
    { argv: ["sessions", "show", "work", "--json"], lines: 1 },
    { argv: ["sessions", "close", "work"], lines: 1 },
    { argv: ["sessions", "close", "work", "--json"], lines: 1 },
  ])("shows short lines without secrets: $argv", async ({ argv, lines }) => {
    for (const text of [FORGED, "y".repeat(1_000_000)]) {
      const folder = spoil({
        backend: text,
        agent: text,
        model: text,
        session_id: text,
        last_outcome: text,
        past_sessions: JSON.stringify([{ sessionId: text, at: 1, why: text }]),
      });
      const { stdout, exitCode } = await run([...argv], { folder });
      expect(exitCode).toBe(0);
      expect(stdout).not.toContain(KEY.slice(-12));
      // oxlint-disable-next-line no-control-regex -- they must not appear
      expect(stdout).not.toMatch(/^forged|\\[nu]|[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/m);
      expect(stdout.trim().split("\n")).toHaveLength(lines);
      expect(stdout.length).toBeLessThan(20_000);
    }
  });

  test("a folder with a line break forges no row", async () => {
    const folder = spoil({ cwd: `/srv/app\nforged  ${KEY}` });
    const { stdout } = await run(["sessions"], { folder });
    expect(stdout).toMatch(/^work +mine +\/srv\/app forged \[redacted\] +0 turns +\S+ \S+ +no turn yet\n$/);
  });

  test("what is no time and no number is unknown, what is no list is none", async () => {
    const folder = spoil({
      used_at: Number.MAX_SAFE_INTEGER,
      created_at: -Number.MAX_SAFE_INTEGER,
      turns: -3,
      past_sessions: '{"a":',
    });
    expect((await run(["sessions"], { folder })).stdout).toMatch(/ {2}unknown turns {2}unknown {2}no turn yet\n$/);
    const { stdout } = await run(["sessions", "show", "work"], { folder });
    expect(stdout).toMatch(/^made +unknown$/m);
    expect(stdout).toMatch(/^turns +unknown$/m);
    expect(stdout).not.toContain("NaN");
  });
});
