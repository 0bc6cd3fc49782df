/** `ostler goal` and `ostler steer`, in process with real agents: what is shown, what is sent, and the exit code. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chunk, end, logOf, permission, reply, tool, waitFor, waitForAnswer } from "../../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { ACTIVE, advertised, goal, status } from "../../acp/goals.ts";
import { linesOf, newFolder, run } from "./run-main.ts";
import type { Ran, RunOptions } from "./run-main.ts";

const said = (text: string, messageId = "m1"): Action => chunk(text, { messageId });
const at = (state: string): Json => ({ ...ACTIVE, status: state });
const WORK: readonly Action[] = [goal(ACTIVE), status("active"), said("Shipped.")];

/** An agent whose goal requests are played one after the other. */
function goals(...requests: readonly (readonly Action[])[]): Scenario {
  return { on: { "_session/goal": requests }, initializeResult: advertised() };
}

/** A session called "ship" that has been asked something, in a folder of its own. */
async function kept(scenario: Scenario): Promise<string> {
  const { folder } = await run(["ask", "-s", "ship", "hello"], {
    scenario: {
      ...scenario,
      initializeResult: { ...scenario.initializeResult, agentCapabilities: { loadSession: true } },
    },
  });
  return folder;
}

const requestsOf = ({ log }: Pick<Ran, "log">, method: string): unknown[] =>
  logOf(log).flatMap(({ frame }) => (frame?.method === method ? [frame.params] : []));

describe("a goal of a session that nobody runs", () => {
  test("set shows what the agent does, and says how far the goal is", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "Ship", "it"], {
      scenario: goals([...WORK, goal(at("complete")), status("idle"), reply({})]),
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Shipped.\n" });
    expect(ran.stderr).toContain("◎ Goal active: Ship it\n");
    expect(ran.stderr).toContain("The agent works for its goal, without a prompt\n");
    expect(ran.stderr).toContain("Goal complete: Ship it");
    expect(requestsOf(ran, "_session/goal")).toEqual([{ sessionId: "s1", action: "set", objective: "Ship it" }]);
    expect(requestsOf(ran, "session/prompt")).toEqual([]);
  });

  test("ndjson: events that say that no prompt started them, and one result", async () => {
    const { stdout, exitCode } = await run(["goal", "set", "-s", "ship", "--json", "Ship it"], {
      scenario: goals([...WORK, goal(at("complete")), status("idle"), reply({})]),
    });
    const lines = linesOf(stdout);
    expect(exitCode).toBe(0);
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      outcome: "completed",
      text: "Shipped.",
      exitCode: 0,
      sessionId: "s1",
    });
    expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
    expect(lines).toContainEqual({ type: "text", text: "Shipped.", messageId: "m1", outsidePrompt: true });
    expect(lines).toContainEqual({ type: "goal", goal: at("complete"), outsidePrompt: true });
  });

  test("a goal that is still active goes on only while a session is open: said", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "Ship it"], {
      scenario: goals([...WORK, status("idle"), reply({})]),
    });
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("Goal active: Ship it. It goes on only while the session is open");
  });

  test("--wait stays until the goal is reached, through what the agent does by itself", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "--wait", "Ship it"], {
      scenario: goals([
        ...WORK,
        status("idle"),
        reply({}),
        status("active"),
        goal(at("complete")),
        said("Tested.", "m2"),
        status("idle"),
      ]),
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Shipped.\n\nTested.\n" });
    expect(ran.stderr).not.toContain("only while the session is open");
  });

  test.each([
    { state: "blocked", exitCode: 1 },
    { state: "limited", exitCode: 8 },
    { state: "paused", exitCode: 0 },
  ])("--wait: $state ends it with $exitCode", async ({ state, exitCode }) => {
    const ran = await run(["goal", "set", "-s", "ship", "--wait", "Ship it"], {
      scenario: goals([...WORK, status("idle"), reply({}), goal(at(state))]),
    });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(`Goal ${state}: Ship it`);
  });

  test("--wait has its limit", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "--wait", "--timeout", "1.5", "Ship it"], {
      scenario: goals([...WORK, status("idle"), reply({})]),
    });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("The goal is still active after 1.5 s");
  });

  test("--wait: an agent that dies between two pieces of its work has not reached the goal", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "--wait", "Ship it"], {
      scenario: goals([...WORK, status("idle"), reply({}), { delayMs: 50 }, { exit: 3 }]),
    });
    expect(ran).toMatchObject({ exitCode: 9, stdout: "Shipped.\n" });
    expect(ran.stderr).toContain("exited with code 3");
  });

  test("Ctrl-C stops the work, leaves the goal and says so", async () => {
    let isStopped = false;
    const ran = await run(["goal", "set", "-s", "ship", "--wait", "Ship it"], {
      scenario: goals([...WORK, waitFor("session/cancel"), status("idle"), reply({})]),
      onStdout: (text, signal) => {
        if (isStopped || !text.includes("Shipped.")) return;
        isStopped = true;
        signal("SIGINT");
      },
    });
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain("Goal active: Ship it. It goes on only while the session is open");
    expect(requestsOf(ran, "session/cancel")).toHaveLength(1);
    expect(requestsOf(ran, "_session/goal")).toHaveLength(1);
  });

  test("what it may do is asked: a denial is exit code 5", async () => {
    const asks = [
      goal(ACTIVE),
      status("active"),
      tool("t1"),
      permission("t1"),
      waitForAnswer("p1"),
      said("No."),
      status("idle"),
      reply({}),
    ];
    const denied = await run(["goal", "set", "-s", "ship", "Ship it"], { scenario: goals(asks) });
    expect(denied.exitCode).toBe(5);
    expect(denied.stderr).toContain("Denied: rm -rf x");
    const allowed = await run(["goal", "set", "-s", "ship", "--approve", "all", "Ship it"], { scenario: goals(asks) });
    expect(allowed.exitCode).toBe(0);
  });

  test.each([
    { action: "pause", goalThen: at("paused"), says: "Goal paused: Ship it" },
    { action: "clear", goalThen: null, says: "No goal" },
  ])("$action says how it is then", async ({ action, goalThen, says }) => {
    const scenario: Scenario = { ...goals([goal(goalThen), reply({})]) };
    const folder = await kept({ ...scenario, on: { ...scenario.on, "session/load": [[goal(ACTIVE), reply({})]] } });
    const ran = await run(["goal", action, "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: `${says}\n` });
    expect(ran.stderr).not.toContain("◎");
    expect(requestsOf(ran, "_session/goal")).toEqual([{ sessionId: "s1", action }]);
  });

  test.each([
    {
      from: "known from the replay",
      on: { "session/load": [[goal(at("paused")), reply({})]] },
      says: "Goal paused: Ship it",
    },
    {
      from: "told right after (recording codex-acp 2.6.0 resume-after-failure)",
      on: { "session/load": [[reply({}), goal(null)]] },
      says: "No goal",
    },
  ])("show: $from", async ({ on, says }) => {
    const folder = await kept({ on });
    const ran = await run(["goal", "show", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: `${says}\n`, stderr: "" });
    const json = linesOf((await run(["goal", "show", "-s", "ship", "--json"], { folder })).stdout);
    expect(json.map(({ type }) => type)).toEqual(["session", "goal", "result"]);
  });

  test("an agent that cannot: one sentence that says what it can", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "Ship it"], { scenario: { on: {} } });
    expect(ran).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ran.stderr).toMatch(/has no goals\n/);
  });

  test("the objective may be in a file", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "-f", "-"], {
      scenario: goals([goal(ACTIVE), reply({})]),
      stdin: { text: "Ship it\n" },
    });
    expect(requestsOf(ran, "_session/goal")).toEqual([{ sessionId: "s1", action: "set", objective: "Ship it" }]);
  });
});

describe("what is not said right", () => {
  test.each([
    { argv: ["goal"], exitCode: 2, says: 'write: ostler goal set -s NAME "what is to be reached"' },
    { argv: ["goal", "puase", "-s", "x"], exitCode: 2, says: "did you mean ostler goal pause?" },
    { argv: ["goal", "pause", "now", "-s", "x"], exitCode: 2, says: 'Cannot make sense of "goal pause now"' },
    { argv: ["goal", "set", "Ship it"], exitCode: 2, says: "Say which session is meant" },
    { argv: ["goal", "set", "-s", "x"], exitCode: 2, says: "A goal needs an objective" },
    { argv: ["goal", "set", "-s", "x", "  "], exitCode: 2, says: "A goal needs an objective" },
    { argv: ["goal", "show", "-s", "x"], exitCode: 4, says: 'There is no session called "x"' },
    {
      argv: ["goal", "set", "-s", "x", "-f", "-"],
      exitCode: 2,
      says: "Nothing to work toward: no objective is given and stdin is empty; write: ostler goal set -s NAME",
    },
    {
      argv: ["steer", "-s", "x", " "],
      exitCode: 2,
      says: "Nothing to say: no text is given and stdin is empty; write: ostler steer -s NAME",
    },
    { argv: ["steer", "go"], exitCode: 2, says: "Say which session is meant" },
    { argv: ["steer", "-s", "x", "go"], exitCode: 4, says: 'There is no session called "x"' },
  ])("$argv", async ({ argv, exitCode, says }) => {
    const ran = await run(argv);
    expect(ran).toMatchObject({ exitCode, stdout: "" });
    expect(ran.stderr).toContain(says);
  });

  test("steer --json that fails is one object too", async () => {
    const { stdout, exitCode, stderr } = await run(["steer", "-s", "x", "--json", "go"]);
    expect({ exitCode, said: JSON.parse(stdout) }).toEqual({
      exitCode: 4,
      said: { outcome: "failed", kind: "session_not_found", problem: expect.stringContaining('no session called "x"') },
    });
    expect(stderr).toContain('There is no session called "x"');
  });

  test("nothing is steered where no turn runs, and it is said how to prompt", async () => {
    const folder = await kept({ on: {} });
    const ran = await run(["steer", "-s", "ship", "go on"], { folder });
    expect(ran).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ran.stderr).toBe(
      'ostler: No turn runs in "ship", so nothing was sent; as a prompt it is: ostler ask -s ship "…"\n',
    );
  });
});

/** Asks in "ship"; the turn runs until the file `go` is there. */
async function whileAsking(
  scenario: Scenario,
  then: (folder: string) => Promise<Ran>,
  options: Partial<RunOptions> = {},
): Promise<{ readonly asked: Ran; readonly other: Ran }> {
  const folder = newFolder();
  const begun = Promise.withResolvers<void>();
  const asking = run(["ask", "-s", "ship", "hello"], {
    folder,
    scenario,
    onStdout: (text) => text.includes("One.") && begun.resolve(),
    ...options,
  });
  await begun.promise;
  const other = await then(folder);
  return { asked: await asking, other };
}
const turnUntil = (method: string): readonly Action[] => [said("One."), waitFor(method), said("Two.", "m2"), end()];

describe("from another terminal, while a turn runs", () => {
  test("steer: the words reach the turn, and both terminals say so", async () => {
    const { asked, other } = await whileAsking(
      {
        on: {
          "session/prompt": [turnUntil("_session/steering")],
          "_session/steering": [[reply({ outcome: "injected" })]],
        },
        initializeResult: advertised(),
      },
      (folder) => run(["steer", "-s", "ship", "-f", "-", "Mind"], { folder, stdin: { text: "the API\n" } }),
    );
    expect(other).toMatchObject({
      exitCode: 0,
      stdout: 'The running turn of "ship" has it; what comes of it is shown where that turn runs\n',
      stderr: "",
    });
    expect(requestsOf(asked, "_session/steering")).toMatchObject([
      { prompt: [{ type: "text", text: "Mind\n\nthe API" }] },
    ]);
    expect(asked.exitCode).toBe(0);
    expect(asked.stdout).toContain("One.");
    expect(asked.stdout).toContain("Two.");
  });

  test("steer --json is one object", async () => {
    const { other } = await whileAsking(
      {
        on: {
          "session/prompt": [turnUntil("_session/steering")],
          "_session/steering": [[reply({ outcome: "injected" })]],
        },
        initializeResult: advertised(),
      },
      (folder) => run(["steer", "-s", "ship", "--json", "go"], { folder }),
    );
    expect(JSON.parse(other.stdout)).toEqual({ outcome: "injected" });
  });

  test.each([
    {
      from: "the agent takes none",
      initializeResult: advertised([], false),
      answer: [],
      says: /takes no words while it works; wait until its turn is over and send a prompt\n$/,
    },
    {
      from: "the turn is over for the agent",
      initializeResult: advertised(),
      answer: [reply({ outcome: "promptRequired", reason: "noRunningTurn" })],
      says: /No turn runs in "ship", so nothing was sent/,
    },
  ])("steer is refused: $from", async ({ initializeResult, answer, says }) => {
    const folder = newFolder();
    const { other } = await whileAsking(
      {
        on: {
          "session/prompt": [[said("One."), { untilFile: join(folder, "go") }, end()]],
          "_session/steering": [answer],
        },
        initializeResult,
      },
      async (place) => {
        const ran = await run(["steer", "-s", "ship", "go"], { folder: place });
        writeFileSync(join(folder, "go"), "");
        return ran;
      },
    );
    expect(other).toMatchObject({ exitCode: 1, stdout: "" });
    expect(other.stderr).toMatch(says);
  });

  test("goal: asked where the session runs, and said what it is then", async () => {
    const { asked, other } = await whileAsking(
      {
        on: { "session/prompt": [turnUntil("_session/goal")], "_session/goal": [[goal(ACTIVE), reply({})]] },
        initializeResult: advertised(),
      },
      (folder) => run(["goal", "set", "-s", "ship", "Ship it"], { folder }),
    );
    expect(other).toMatchObject({ exitCode: 0, stdout: "Goal active: Ship it\n", stderr: "" });
    expect(asked.stderr).toContain("◎ Goal active: Ship it");
    expect(requestsOf(asked, "session/new")).toHaveLength(1);
  });

  test("a refusal comes back as its own sentence and code", async () => {
    const folder = newFolder();
    const { other } = await whileAsking(
      {
        on: { "session/prompt": [[said("One."), { untilFile: join(folder, "go") }, end()]] },
        initializeResult: advertised(["set", "clear"]),
      },
      async (place) => {
        const ran = await run(["goal", "pause", "-s", "ship", "--json"], { folder: place });
        writeFileSync(join(folder, "go"), "");
        return ran;
      },
    );
    expect(other.exitCode).toBe(1);
    const [result] = linesOf(other.stdout);
    expect(result).toMatchObject({
      outcome: "failed",
      failure: { kind: "request_rejected", title: expect.stringMatching(/cannot pause a goal; it can set and clear$/) },
    });
  });
});
