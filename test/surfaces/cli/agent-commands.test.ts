/** The commands that ask an agent something besides a prompt: models, modes, sessions of the agent, forks, transcripts. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { openStore } from "../../../src/host/store.ts";
import {
  agentOption,
  call,
  chunk,
  end,
  err,
  logOf,
  recordUpdate,
  record,
  reply,
  update,
} from "../../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { linesOf, newFolder, run } from "./run-main.ts";

const ESCAPE = "\u001b[31m";

const choice = (value: string, name: string, meta?: Json): Json => ({
  value,
  name,
  description: `All of ${name}${ESCAPE}`,
  ...(meta !== undefined && { _meta: meta }),
});
const hint = (fields: { readonly [key: string]: Json }): Json => ({ jetbrains: { air: { version: 1, ...fields } } });

const OFFERING: Scenario = {
  start: [call("_auth/status_update", { authStatus: { kind: "api_key", label: "Lab API key" } })],
  newResult: {
    configOptions: [
      {
        id: "mode",
        category: "mode",
        currentValue: "default",
        options: [
          choice("default", "Manual", hint({ kind: "standard" })),
          choice("auto", "Auto", hint({ kind: "auto_review" })),
          choice("everything", "Everything", hint({ kind: "full_access" })),
        ],
      },
      {
        id: "model",
        category: "model",
        currentValue: "opus",
        _meta: hint({ recommendedValue: "sonnet" }),
        options: [choice("opus", "Opus 5"), choice("sonnet", "Sonnet 5")],
      },
      { id: "effort", name: "Effort", currentValue: "low", options: [choice("low", "Low"), choice("high", "High")] },
    ],
  },
};

describe("models and modes", () => {
  test("what is set, what is recommended, the options, and who is signed in", async () => {
    const { stdout, stderr, exitCode, log } = await run(["models"], { scenario: OFFERING });
    expect(stdout).toBe(
      [
        "opus    Opus 5    set          All of Opus 5",
        "sonnet  Sonnet 5  recommended  All of Sonnet 5",
        "",
        "Options, for --config-option NAME=VALUE:",
        "effort  low* high  Effort",
        "",
        "Login: Lab API key",
        "",
      ].join("\n"),
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(logOf(log).flatMap(({ frame }) => frame?.method ?? [])).toEqual(["initialize", "session/new"]);
  });

  test("which modes ask, as far as anybody knows", async () => {
    const { stdout } = await run(["modes"], { scenario: OFFERING });
    expect(stdout.split("\n")).toEqual([
      "default     Manual      set                All of Manual",
      "auto        Auto                           All of Auto",
      "everything  Everything       acts unasked  All of Everything",
      "",
    ]);
    const claude = await run(["modes", "--profile", "claude"], { scenario: OFFERING });
    expect(claude.stdout).toMatch(/^default +Manual +set +asks +All/);
    expect(claude.stdout).toMatch(/^auto +Auto +acts unasked/m);
  });

  test("for programs", async () => {
    const models = linesOf((await run(["models", "--json"], { scenario: OFFERING })).stdout);
    expect(models).toMatchObject([
      {
        backend: "agent",
        agent: "scripted 1.0.0",
        login: { kind: "api_key", label: "Lab API key" },
        models: { current: "opus", recommended: "sonnet", choices: [{ value: "opus", name: "Opus 5" }, {}] },
        options: [{ id: "effort", current: "low" }],
      },
    ]);
    const { stdout } = await run(["modes", "--json"], { scenario: OFFERING });
    expect(linesOf(stdout)).toMatchObject([
      { modes: { current: "default", choices: [{ kind: "standard", asks: null }, {}, { asks: false }] } },
    ]);
    expect(stdout).not.toContain("u001b");
  });

  test.each([
    { command: "models", newResult: {}, said: 'Agent "scripted.mjs" does not say which models it has\n' },
    { command: "modes", newResult: {}, said: 'Agent "scripted.mjs" does not say which modes it has\n' },
    { command: "modes", newResult: { modes: {} }, said: 'Agent "scripted.mjs" has no modes\n' },
  ])("$command of an agent that offers none: $said", async ({ command, newResult, said }) => {
    const { stdout, exitCode } = await run([command], { scenario: { newResult } });
    expect(stdout.replace(/Agent "[^"]+"/, 'Agent "scripted.mjs"')).toBe(said);
    expect(exitCode).toBe(0);
  });

  test.each<{ from: string; on: Scenario["on"]; exitCode: number; kind: string; said: RegExp }>([
    {
      from: "a missing login",
      on: { "session/new": [[err(-32000, "Authentication required")]] },
      exitCode: 6,
      kind: "auth",
      said: /^Authentication required\n  Sign in with the agent's own command/,
    },
    {
      from: "an agent that dies",
      on: { "session/new": [[{ stderr: "panic: boom\n" }, { exit: 3 }]] },
      exitCode: 9,
      kind: "agent_died",
      said: /exited with code 3: panic: boom\n  /,
    },
  ])("$from is a card and its own exit code", async ({ on, exitCode, kind, said }) => {
    const text = await run(["models"], { scenario: { on: on! } });
    expect(text).toMatchObject({ exitCode, stdout: "", stderr: expect.stringMatching(said) });
    const json = await run(["modes", "--json"], { scenario: { on: on! } });
    expect(json.exitCode).toBe(exitCode);
    expect(linesOf(json.stdout)).toMatchObject([{ failure: { kind } }]);
    expect(json.stderr).toBe("");
  });

  test("words and two agents are mistakes", async () => {
    expect(await run(["models", "claude"])).toMatchObject({
      exitCode: 2,
      stderr: "ostler: ostler models takes no words, only options; to ask one agent: ostler models -b claude\n",
    });
    expect(await run(["modes", "-b", "claude"], { scenario: {} })).toMatchObject({
      exitCode: 2,
      stderr: "ostler: --backend and --agent both name an agent; give one of them\n",
    });
  });
});

const user = (text: string): Action =>
  update({ sessionUpdate: "user_message_chunk", content: { type: "text", text }, messageId: `u-${text}` }, "s1");
const REPLAY: readonly Action[] = [
  user("First"),
  chunk("Same ", { messageId: "m1" }, "s1"),
  chunk("words", { messageId: "m1" }, "s1"),
  user("Second"),
  update({ sessionUpdate: "tool_call", toolCallId: "t1", title: `Run${ESCAPE} tests`, status: "completed" }, "s1"),
  chunk("Same words", { messageId: "m2" }, "s1"),
  recordUpdate(record({ title: "You've hit your 5-hour limit", category: "limit" })),
  reply({}),
];
const CAN: Json = { loadSession: true, sessionCapabilities: { fork: {}, list: {}, close: {} } };

/** What the agents were asked after the first call. */
const methods = (log: string): readonly string[] =>
  logOf(log)
    .flatMap(({ frame }) => frame?.method ?? [])
    .slice(3);

/** A folder in which `ostler ask -s work` was called once. */
async function worked(scenario: Scenario = {}) {
  const folder = newFolder();
  const all: Scenario = {
    initializeResult: { agentCapabilities: CAN },
    ...scenario,
    on: {
      "session/load": [REPLAY],
      "session/fork": [[reply({ sessionId: "f1" })]],
      "session/prompt": [[chunk("ok"), end()]],
      ...scenario.on,
    },
  };
  await run(["ask", "-s", "work", "--agent", agentOption(all, folder), "hi"], { folder });
  const paths = ostlerPaths({ OSTLER_HOME: join(folder, "home") });
  const stored = () => {
    using store = openStore(paths);
    return store.list();
  };
  return { folder, stored };
}

describe("sessions fork", () => {
  test("is a conversation of its own, and the original stays as it was", async () => {
    const { folder, stored } = await worked();
    const [before] = stored();
    const { stdout, stderr, exitCode, log } = await run(["sessions", "fork", "work"], { folder });
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: '"work" is forked as "work-2" (session f1)\n',
      stderr: "",
      exitCode: 0,
    });
    expect(methods(log)).toEqual(["initialize", "session/fork", "session/close"]);
    const [forked, original] = stored();
    expect(original).toEqual(before);
    expect(forked).toMatchObject({
      name: "work-2",
      sessionId: "f1",
      cwd: folder,
      agent: before?.agent,
      backend: "agent",
    });
    await run(["ask", "-s", "work-2", "go on"], { folder });
    expect(logOf(log).findLast(({ frame }) => frame?.method === "session/load")?.frame?.params).toMatchObject({
      sessionId: "f1",
    });
  });

  test("a name of its own, and one that is taken", async () => {
    const { folder, stored } = await worked();
    expect(await run(["sessions", "fork", "work", "--as", "try", "--json"], { folder })).toMatchObject({ exitCode: 0 });
    expect(await run(["sessions", "fork", "work", "--as", "try"], { folder })).toMatchObject({
      exitCode: 2,
      stderr: 'ostler: There is a session called "try" in this folder already; take another name with --as\n',
    });
    await run(["sessions", "fork", "work"], { folder });
    await run(["sessions", "fork", "work"], { folder });
    expect(new Set(stored().map(({ name }) => name))).toEqual(new Set(["try", "work", "work-2", "work-3"]));
  });

  test("at a message: with the fingerprint of its text, and which one of equal messages it is", async () => {
    const { folder } = await worked();
    const { exitCode, log } = await run(["sessions", "fork", "work", "--at", "m2"], { folder });
    expect(exitCode).toBe(0);
    expect(methods(log)).toEqual(["initialize", "session/load", "session/close", "session/fork", "session/close"]);
    const sent = logOf(log).find(({ frame }) => frame?.method === "session/fork")?.frame?.params;
    // sha256 of "Same words".
    const fingerprint = "sha256:36eeda0da7b3fb51f2e42ea15cbf918c4b45b228fd2ff6e325efe031a0f67cb3";
    expect(sent?.["_meta"]).toEqual(
      hint({
        fork: { version: 1, messageId: "m2", messageFingerprint: fingerprint, messageOccurrence: 2 },
      }),
    );
  });

  test("at a message that the replay does not have: the agent may know the id", async () => {
    const { folder } = await worked();
    const { log } = await run(["sessions", "fork", "work", "--at", "m7:segment:1"], { folder });
    const sent = logOf(log).find(({ frame }) => frame?.method === "session/fork")?.frame?.params;
    expect(sent?.["_meta"]).toEqual(hint({ fork: { version: 1, messageId: "m7:segment:1" } }));
  });

  test.each<{ from: string; scenario: Scenario; argv?: readonly string[]; exitCode: number; said: string }>([
    {
      from: "an agent that cannot fork",
      scenario: { initializeResult: { agentCapabilities: { loadSession: true } } },
      exitCode: 1,
      said: "cannot fork a session",
    },
    {
      from: "a message that the agent does not find",
      scenario: { on: { "session/fork": [[err(-32602, "Fork point message m9 was not found in session s1")]] } },
      argv: ["--at", "m9"],
      exitCode: 1,
      said: "finds no message m9 in this session",
    },
  ])("$from: one card, and nothing is kept", async ({ scenario, argv = [], exitCode, said }) => {
    const { folder, stored } = await worked(scenario);
    const ran = await run(["sessions", "fork", "work", ...argv], { folder });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(said);
    expect(stored().map(({ name }) => name)).toEqual(["work"]);
  });

  test("of a session that does not exist, and with options of another action", async () => {
    expect(await run(["sessions", "fork", "nobody"])).toMatchObject({ exitCode: 4 });
    expect(await run(["sessions", "close", "work", "--at", "m1"])).toMatchObject({
      exitCode: 2,
      stderr: "ostler: --at belongs to ostler sessions fork\n",
    });
    expect(await run(["sessions", "list", "-b", "claude"])).toMatchObject({
      exitCode: 2,
      stderr: "ostler: --backend says whose own sessions --agent lists; it means nothing without --agent\n",
    });
  });
});

describe("sessions show --transcript", () => {
  test("the end of the conversation, with the ids that a fork takes", async () => {
    const { folder } = await worked();
    const { stdout, stderr, exitCode, log } = await run(["sessions", "show", "work", "--transcript"], { folder });
    expect(stdout.split("\n")).toEqual([
      "you:",
      "  First",
      "agent [m1]:",
      "  Same words",
      "you:",
      "  Second",
      "  ✓ Run tests",
      "agent [m2]:",
      "  Same words",
      "  ! You've hit your 5-hour limit",
      "",
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(methods(log)).toEqual(["initialize", "session/load", "session/close"]);
  });

  test("of a long conversation only the end", async () => {
    const many = Array.from({ length: 60 }, (_, n) => chunk(`Message ${n}`, { messageId: `m${n}` }, "s1"));
    const { folder } = await worked({ on: { "session/load": [[...many, reply({})]] } });
    const { stdout } = await run(["sessions", "show", "work", "--transcript"], { folder });
    expect(stdout).toMatch(/^\(20 earlier entries\)\nagent \[m20\]:\n  Message 20\n/);
    expect(stdout).toMatch(/Message 59\n$/);
  });
});

test.each(["models", "modes"])(
  "%s in a folder that is not there: one sentence, and nothing is started",
  async (command) => {
    expect(await run([command, "--cwd", "/no/such/folder"], { scenario: OFFERING })).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: "ostler: Cannot look in /no/such/folder: there is no such folder\n",
    });
  },
);

test("sessions show --transcript --json: words for people are scrubbed, what was said stays as it came", async () => {
  const secret = "sk-ant-api03-aB3dE6gH9aB3dE6gH9aB3dE6gH9";
  const said = `Use${ESCAPE} ${secret}`;
  const { folder } = await worked({
    on: {
      "session/load": [
        [
          chunk(said, { messageId: "m1" }, "s1"),
          update({ sessionUpdate: "tool_call", toolCallId: "t1", title: said, kind: "read" }, "s1"),
          update({ sessionUpdate: "notice", title: said }, "s1"),
          update({ sessionUpdate: "async_task_spawned", asyncTaskId: "a1", name: said }, "s1"),
          reply({}),
        ],
      ],
    },
  });
  const { stdout } = await run(["sessions", "show", "work", "--transcript", "--json"], { folder });
  const [shown] = linesOf(stdout);
  expect(shown).toMatchObject({
    entries: [
      { type: "message", text: said },
      { type: "tool", title: "Use [redacted]" },
      { type: "notice", text: "Use [redacted]" },
      { type: "task", task: { name: "Use [redacted]" } },
    ],
  });
});

describe("sessions list --agent", () => {
  test("what the agent keeps for this folder, and what has a name here", async () => {
    const scenario: Scenario = {
      initializeResult: { agentCapabilities: CAN },
      on: {
        "session/list": [
          [
            reply({
              sessions: [{ sessionId: "s1", cwd: "/w", title: `Fix${ESCAPE} it`, updatedAt: "x" }],
              nextCursor: "c",
            }),
          ],
          [reply({ sessions: [{ sessionId: "s2", cwd: "/w" }] })],
        ],
      },
    };
    const { folder } = await worked();
    const config = { backends: { mine: { command: agentOption(scenario, newFolder()).split(" ") } } };
    const { stdout, exitCode } = await run(["sessions", "list", "--agent", "-b", "mine"], { folder, config });
    expect(exitCode).toBe(0);
    expect(stdout).toBe("s1  unknown  work  Fix it\ns2\n");
    const json = linesOf(
      (await run(["sessions", "list", "--agent", "-b", "mine", "--json"], { folder, config })).stdout,
    );
    expect(json).toMatchObject([
      { backend: "mine", isComplete: true, sessions: [{ title: "Fix it", name: "work" }, { name: null }] },
    ]);
  });

  test("an agent that cannot", async () => {
    const config = { backends: { mine: { command: agentOption({}, newFolder()).split(" ") } } };
    const { exitCode, stderr } = await run(["sessions", "list", "--agent", "-b", "mine"], { config });
    expect(exitCode).toBe(1);
    // One sentence: advice about a prompt would be wrong here.
    expect(stderr).toBe('Agent "mine" cannot list its sessions\n');
  });
});
