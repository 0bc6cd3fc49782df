import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentOption, err, logOf, reply } from "../../fixtures/agents/scenario.ts";
import type { Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";
import type { RunOptions } from "./run-main.ts";

const AT_A_TERMINAL: RunOptions = { terminal: true, stdin: { kind: "terminal" } };

/** A login that leaves a file behind and ends with `code`. */
const offers = (code = 0): Json => [
  {
    id: "browser",
    name: "Browser",
    _meta: { "terminal-auth": { command: "/bin/sh", args: ["-c", `touch signed-in; exit ${code}`], label: "Login" } },
  },
  { id: "key", name: "Key" },
];

/** `ostler login mine`, with an agent that plays this. */
async function login(scenario: Scenario, argv: readonly string[] = [], options: RunOptions = {}) {
  const folder = newFolder();
  const config = { backends: { mine: { command: agentOption(scenario, folder).split(" ") } } };
  const ran = await run(["login", "mine", ...argv], { folder, config, ...options });
  const frames = logOf(ran.log).flatMap(({ frame }) => (frame === undefined ? [] : [frame]));
  return { ...ran, frames, wasRun: existsSync(join(folder, "signed-in")) };
}

const SIGNED_OUT = { "session/new": [[err(-32000, "Authentication required")]] };

test("an agent that needs no login says so", async () => {
  const { exitCode, stderr } = await run(["login", "demo"], {});
  expect([exitCode, stderr]).toEqual([0, "Demo needs no login\n"]);
});

describe("a login that the agent offers as a command", () => {
  test("is run at a terminal, and seen to have taken", async () => {
    const { exitCode, stderr, wasRun, frames } = await login(
      { initializeResult: { authMethods: offers() } },
      [],
      AT_A_TERMINAL,
    );
    expect({ exitCode, wasRun }).toEqual({ exitCode: 0, wasRun: true });
    expect(stderr.split("\n")).toEqual([
      "Another way: ostler login mine --method key",
      "Running /bin/sh -c 'touch signed-in; exit 0'",
      'Agent "mine": it opens sessions',
      "",
    ]);
    const [first, second] = frames.filter(({ method }) => method === "initialize");
    const meta = { "terminal-auth": true };
    expect(first?.params).toMatchObject({ clientCapabilities: { _meta: meta } });
    // Only who runs logins says so.
    expect(second?.params).not.toMatchObject({ clientCapabilities: { _meta: meta } });
  });

  test("is said, not run, where nobody sits", async () => {
    const { exitCode, stderr, wasRun } = await login({ initializeResult: { authMethods: offers() } });
    expect({ exitCode, wasRun }).toEqual({ exitCode: 6, wasRun: false });
    expect(stderr).toBe("Sign in at a terminal: /bin/sh -c 'touch signed-in; exit 0'\n");
  });

  test.each<{ from: string; scenario: Scenario; exitCode: number; said: string }>([
    {
      from: "that did not take",
      scenario: { initializeResult: { authMethods: offers(1) }, on: SIGNED_OUT },
      exitCode: 6,
      said: 'The login ended with code 1\nAgent "mine" says: Authentication required\n',
    },
    {
      from: "after which the agent still does not start",
      scenario: {
        initializeResult: { authMethods: offers() },
        on: { "session/new": [[{ stderr: "panic: boom\n" }, { exit: 3 }]] },
      },
      exitCode: 9,
      said: 'Agent "mine" exited with code 3: panic: boom\n',
    },
    {
      from: "that cannot be run",
      scenario: {
        initializeResult: {
          authMethods: [{ id: "a", name: "A", _meta: { "terminal-auth": { command: "/no/such/program" } } }],
        },
        on: SIGNED_OUT,
      },
      exitCode: 6,
      said: "The login could not be run\n",
    },
  ])("$from", async ({ scenario, exitCode, said }) => {
    const ran = await login(scenario, [], AT_A_TERMINAL);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(said);
  });
});

describe("a login that the agent does by itself", () => {
  test("is done without a terminal when it is named", async () => {
    const scenario: Scenario = { initializeResult: { authMethods: offers() }, on: { authenticate: [[reply({})]] } };
    const { exitCode, frames, wasRun } = await login(scenario, ["--method", "key"]);
    expect({ exitCode, wasRun }).toEqual({ exitCode: 0, wasRun: false });
    expect(frames.find(({ method }) => method === "authenticate")?.params).toEqual({ methodId: "key" });
  });

  test("that the agent refuses is a card", async () => {
    const refusal = err(-32603, "Internal error: CODEX_API_KEY or OPENAI_API_KEY is not set");
    const scenario: Scenario = { initializeResult: { authMethods: offers() }, on: { authenticate: [[refusal]] } };
    const { exitCode, stderr } = await login(scenario, ["--method", "key"]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("OPENAI_API_KEY is not set");
  });
});

test("an agent that offers none, and whose login nobody knows", async () => {
  const { exitCode, stderr } = await login({}, [], AT_A_TERMINAL);
  expect(exitCode).toBe(6);
  expect(stderr).toBe("Sign in with the agent's own command, then ask again\n");
});

test("mistakes are sentences", async () => {
  expect(await run(["login"])).toMatchObject({
    exitCode: 2,
    stderr: "ostler: Say which agent to sign in to: ostler login claude, ostler login codex or ostler login kiro\n",
  });
  expect(await run(["login", "cluade"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('did you mean "claude"'),
  });
  const { exitCode, stderr } = await login({ initializeResult: { authMethods: offers() } }, ["--method", "brwser"]);
  expect(exitCode).toBe(2);
  expect(stderr).toBe('ostler: There is no login "brwser": it offers browser, key; did you mean "browser"?\n');
});
