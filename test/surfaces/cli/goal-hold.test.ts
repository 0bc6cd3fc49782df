/** A goal that a permission holds: what holds it, what does not release it, and the one turn of `ostler goal resume`. */
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  chunk,
  end,
  logOf,
  permission,
  reply,
  tool,
  toolUpdate,
  waitFor,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { ACTIVE, advertised, goal, status } from "../../acp/goals.ts";
import { newFolder, run } from "./run-main.ts";
import type { Ran } from "./run-main.ts";

const CODEX = { ...advertised(), agentCapabilities: { loadSession: true } };
const CLAUDE = { ...advertised(["set", "clear"]), agentCapabilities: { loadSession: true } };
const at = (state: string): Json => ({ ...ACTIVE, status: state });
const said = (text: string): Action => chunk(text, { messageId: text });
const COMMAND = { rawInput: { command: "npm publish" } };

/** A command that is asked about, and fails when that is denied. */
const refused = (id: string): readonly Action[] => [
  tool(id, COMMAND),
  permission(id, { id: `ask-${id}` }),
  waitForAnswer(`ask-${id}`),
  toolUpdate(id, { status: "failed" }),
];
const done = (id: string): readonly Action[] => [tool(id, COMMAND), toolUpdate(id, { status: "completed" })];
const works = (...actions: readonly Action[]): readonly Action[] => [
  goal(ACTIVE),
  status("active"),
  ...actions,
  status("idle"),
  reply({}),
];
const PAUSED: readonly Action[] = [goal(at("paused")), reply({})];
/** Three times the same: somebody has to act. */
const STUCK = works(...refused("t1"), ...refused("t2"), ...refused("t3"), said("Blocked."));

/** How the session is opened again, and what its agent plays for each request of a goal. */
interface Later {
  readonly opens?: readonly Action[];
  readonly goals?: readonly (readonly Action[])[];
  readonly prompts?: readonly (readonly Action[])[];
}
const later = (
  { opens = [goal(ACTIVE), reply({})], goals = [PAUSED], prompts }: Later,
  initializeResult = CODEX,
): Scenario => ({
  on: { "session/load": [opens], "_session/goal": goals, ...(prompts && { "session/prompt": prompts }) },
  initializeResult,
});

/** What the goal is asked for in turn: it is paused when the session is opened, resumed, and paused again. */
const resumed = (...turn: readonly Action[]): Later => ({ goals: [PAUSED, works(...turn), PAUSED] });

interface Place {
  readonly folder: string;
  readonly runId: string;
  readonly incidentId: string;
}

/** A session "ship" whose goal got stuck at something that was denied; later processes of its agent play `processes`. */
async function stuck(processes: readonly Scenario[], initializeResult = CODEX): Promise<Place> {
  const { folder } = await run(["goal", "set", "-s", "ship", "Ship it"], {
    scenario: { runs: [{ on: { "_session/goal": [STUCK] }, initializeResult }, ...processes] },
  });
  // A list is no inspection.
  const { incidents } = JSON.parse((await run(["incidents", "--json"], { folder })).stdout);
  return { folder, runId: incidents[0].runId, incidentId: incidents[0].id };
}

/** As {@link stuck}, and a person has read of it. */
async function inspected(...processes: readonly Scenario[]): Promise<Place> {
  const place = await stuck(processes);
  await run(["runs", "result", place.runId], { folder: place.folder });
  return place;
}

const holdsIn = (folder: string): string[] => {
  const holds = join(folder, "home", "state", "holds");
  return existsSync(holds) ? readdirSync(holds).map((name) => join(holds, name)) : [];
};
const readHold = (folder: string): unknown => JSON.parse(readFileSync(holdsIn(folder)[0] ?? "", "utf8"));
const goalRequests = ({ log }: Pick<Ran, "log">): unknown[] =>
  logOf(log).flatMap(({ frame }) => (frame?.method === "_session/goal" ? [frame.params?.["action"]] : []));

const HELD =
  /^Goal held\(permission\): Ship it\npermission command-execution is missing for operation [0-9a-f]{32} \(run ag_\w+, incident tool:\w+:t1\)\. ostler goal resume -s ship gives .* ostler goal clear -s ship drops the goal\n$/;

describe("a person reads of what is missing", () => {
  test("the goal of a session that nobody runs is held when it is opened", async () => {
    const { folder, runId, incidentId } = await inspected(later({}));
    const hold = {
      incidentId,
      resource: "command-execution",
      runId,
      operation: expect.stringMatching(/^[0-9a-f]{32}$/),
    };
    expect(readHold(folder)).toEqual({ version: 1, ...hold, since: expect.any(Number), status: "due" });
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(HELD) });
    expect(goalRequests(shown)).toEqual(["set", "pause"]);
    expect(readHold(folder)).toEqual({ version: 1, ...hold, since: expect.any(Number), status: "held" });
    expect(statSync(holdsIn(folder)[0] ?? "").mode & 0o777).toBe(0o600);
    expect(JSON.stringify(readHold(folder))).not.toContain("npm publish");
  });

  test("with runs result, output and show, and with incidents show; lists are no inspection", async () => {
    const { folder, runId, incidentId } = await stuck([]);
    for (const argv of [["runs"], ["incidents"]]) expect((await run(argv, { folder })).stderr).toBe("");
    expect(holdsIn(folder)).toEqual([]);
    const inspections = [
      ["runs", "result", runId],
      ["runs", "output", runId],
      ["runs", "show", runId],
      ["incidents", "show", incidentId],
    ];
    for (const argv of inspections) {
      const read = await run(argv, { folder });
      expect(read.exitCode).toBe(0);
      expect(read.stderr).toBe(
        "ostler: If the session has an active goal, it is held(permission) when it is opened next; ostler goal show -s ship says more\n",
      );
      expect(readHold(folder)).toMatchObject({ incidentId, status: "due" });
      rmSync(holdsIn(folder)[0] ?? "");
    }
  });

  test("--json: the report, and the hold that came of it; a compact row shows no command", async () => {
    const { folder, runId, incidentId } = await stuck([later({})]);
    const json = JSON.parse((await run(["runs", "result", runId, "--json"], { folder })).stdout);
    expect(json.goalHold).toMatchObject({
      session: "ship",
      incidentId,
      runId,
      resource: "command-execution",
      status: "due",
    });
    expect(json.permissionBlockersOmitted).toBe(0);
    expect(json.permissionBlockers[0]).toMatchObject({
      basis: "policy-refusal",
      remoteOutcome: "not-started",
      incidentId,
    });
    const { stdout } = await run(["runs", "result", runId], { folder });
    expect(stdout).toContain("permission command-execution (policy-refusal, remote outcome not-started)");
    expect(stdout).not.toContain("npm publish");
  });

  test("what nobody has to act on holds nothing", async () => {
    const once = works(...refused("t1"), said("Blocked."));
    const { folder } = await run(["goal", "set", "-s", "ship", "Ship it"], {
      scenario: { runs: [{ on: { "_session/goal": [once] }, initializeResult: CODEX }, later({})] },
    });
    const { runs } = JSON.parse((await run(["runs", "--json"], { folder })).stdout);
    const read = await run(["runs", "result", runs[0].id], { folder });
    expect(read).toMatchObject({ exitCode: 0, stderr: "" });
    expect(holdsIn(folder)).toEqual([]);
  });

  test("an agent without goals has none that could be held", async () => {
    const { folder } = await inspected({
      initializeResult: { agentCapabilities: { loadSession: true } },
      on: { "session/load": [[reply({})]] },
    });
    expect(holdsIn(folder)).toHaveLength(1);
    expect((await run(["ask", "-s", "ship", "hello"], { folder })).stderr).not.toContain("held(permission)");
    expect(holdsIn(folder)).toEqual([]);
  });

  test.each([
    { from: "no goal", state: null, says: "No goal" },
    { from: "a goal that was paused before", state: at("paused"), says: "Goal paused: Ship it" },
    { from: "a goal that is reached", state: at("complete"), says: "Goal complete: Ship it" },
  ])("$from is not held", async ({ state, says }) => {
    const { folder } = await inspected(later({ opens: [goal(state), reply({})] }));
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown).toMatchObject({ stdout: `${says}\n`, stderr: "" });
    expect(goalRequests(shown)).toEqual(["set"]);
    expect(holdsIn(folder)).toEqual([]);
  });

  test("the goal of a session that runs is paused at once, by the Ostler that runs it", async () => {
    const folder = newFolder();
    const begun = Promise.withResolvers<void>();
    const asks = [
      goal(ACTIVE),
      ...refused("t1"),
      ...refused("t2"),
      ...refused("t3"),
      said("Stuck."),
      waitFor("_session/goal"),
      end(),
    ];
    const asking = run(["ask", "-s", "ship", "hello"], {
      folder,
      scenario: { on: { "session/prompt": [asks], "_session/goal": [PAUSED] }, initializeResult: CODEX },
      onStdout: (text) => text.includes("Stuck.") && begun.resolve(),
    });
    await begun.promise;
    const { runs } = JSON.parse((await run(["runs", "--json"], { folder })).stdout);
    const read = await run(["runs", "result", runs[0].id], { folder });
    expect(read.stderr).toMatch(/^ostler: The goal is held\(permission\): permission command-execution is missing/);
    const asked = await asking;
    expect(asked.stderr).toContain("The goal is held(permission): ");
    expect(goalRequests(asked)).toEqual(["pause"]);
    expect(readHold(folder)).toMatchObject({ status: "held" });
  });
});

describe("what does not release it", () => {
  test("a message, for which it stays paused; nor that the operation succeeds in it", async () => {
    const { folder } = await inspected(later({ prompts: [[...done("m1"), said("Done."), end()]] }), later({}));
    const asked = await run(["ask", "-s", "ship", "publish it"], { folder });
    expect(asked).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
    expect((await run(["incidents", "--history"], { folder })).stdout).toContain("Recovered");
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown.stdout).toMatch(HELD);
    expect(goalRequests(shown)).toEqual(["set", "pause", "pause"]);
  });

  test("a message that has the agent go on with its goal", async () => {
    const resumes = [goal(at("paused")), goal(ACTIVE), waitFor("_session/goal"), said("Resumed."), end()];
    const { folder } = await inspected(later({ opens: [goal(at("paused")), reply({})], prompts: [resumes] }));
    // Known to be active when it was read of.
    writeFileSync(holdsIn(folder)[0] ?? "", JSON.stringify({ ...Object(readHold(folder)), status: "held" }));
    const asked = await run(["ask", "-s", "ship", "/goal resume"], { folder });
    expect(asked).toMatchObject({ exitCode: 0, stdout: "Resumed.\n" });
    expect(goalRequests(asked)).toEqual(["set", "pause"]);
  });

  test("changed settings", async () => {
    const { folder } = await inspected(later({ prompts: [[said("Ready."), end()]] }), later({}));
    const asked = await run(["ask", "-s", "ship", "--approve", "all", "are you ready?"], { folder });
    expect(asked).toMatchObject({ exitCode: 0, stdout: "Ready.\n" });
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown.stdout).toMatch(HELD);
    expect(goalRequests(shown)).toEqual(["set", "pause", "pause"]);
  });

  test("other words: nothing is sent", async () => {
    const { folder } = await inspected(later({}));
    const set = await run(["goal", "set", "-s", "ship", "Ship it, please"], { folder });
    expect(set).toMatchObject({ exitCode: 1, stdout: "" });
    expect(set.stderr).toContain("The goal is held(permission), and other words do not release it: ");
    expect(goalRequests(set)).toEqual(["set", "pause"]);
  });

  test("a file that cannot be read", async () => {
    const { folder } = await inspected(later({}));
    writeFileSync(holdsIn(folder)[0] ?? "", "{");
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown.stdout).toMatch(/^Goal held\(permission\): Ship it\npermission unknown is missing/);
  });
});

describe("what a person does", () => {
  test("resume: one turn, and the hold is back; the next process does not repeat it", async () => {
    const { folder } = await inspected(later(resumed(said("Tried."), goal(at("active")))), later({}));
    const ran = await run(["goal", "resume", "-s", "ship", "--wait"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Tried.\n" });
    expect(ran.stderr).toContain("The agent gets one turn to try that again; what it may do stays as it is");
    expect(ran.stderr).not.toContain("Goal active: Ship it. It goes on");
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume", "pause"]);
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown.stdout).toMatch(HELD);
    expect(goalRequests(shown)).toEqual(["set", "pause", "resume", "pause", "pause"]);
  });

  test("resume: what the agent began after its turn is stopped", async () => {
    const goesOn = [
      ...works(said("Tried.")),
      status("active"),
      said("And on."),
      waitFor("session/cancel"),
      status("idle"),
    ];
    const { folder } = await inspected(later({ goals: [PAUSED, goesOn, PAUSED] }));
    const ran = await run(["goal", "resume", "-s", "ship", "--wait", "--timeout", "15"], { folder });
    // With nobody to stop it the work would go on until the time is over.
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Tried.\n\nAnd on.\n" });
    expect(ran.stderr).not.toContain("Cancelled");
    expect(ran.stderr).toContain("The goal is held(permission): ");
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume", "pause"]);
    expect(logOf(ran.log).filter(({ frame }) => frame?.method === "session/cancel")).toHaveLength(1);
  });

  test("resume: a success of the operation ends the hold, and the agent goes on", async () => {
    const { folder, incidentId } = await inspected(later(resumed(...done("r1"), said("Published."))));
    const ran = await run(["goal", "resume", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Published.\n" });
    expect(ran.stderr).toContain("The operation succeeded: the goal is not held any more");
    expect(ran.stderr).toContain("Goal active: Ship it. It goes on only while the session is open");
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume"]);
    expect(holdsIn(folder)).toEqual([]);
    expect((await run(["incidents", "show", incidentId], { folder })).stdout).toContain("Recovered");
  });

  test("resume: also of one that was recovered before", async () => {
    const { folder } = await inspected(
      later({ prompts: [[...done("m1"), said("Done."), end()]] }),
      later(resumed(...done("r1"), said("Published."))),
    );
    await run(["ask", "-s", "ship", "publish it"], { folder });
    await run(["goal", "resume", "-s", "ship"], { folder });
    expect(holdsIn(folder)).toEqual([]);
  });

  test("resume: another command that succeeds is not the one", async () => {
    const other = [tool("r1", { rawInput: { command: "npm pack" } }), toolUpdate("r1", { status: "completed" })];
    const { folder } = await inspected(later(resumed(...other, said("Packed."))));
    const ran = await run(["goal", "resume", "-s", "ship"], { folder });
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume", "pause"]);
    expect(readHold(folder)).toMatchObject({ status: "held" });
  });

  test("resume: a new denial holds at once, and a success after it does not count", async () => {
    const denied = [
      goal(ACTIVE),
      status("active"),
      ...refused("r1"),
      waitFor("_session/goal"),
      ...done("r2"),
      said("Denied."),
      status("idle"),
      reply({}),
    ];
    const { folder } = await inspected(later({ goals: [PAUSED, denied, PAUSED] }));
    const ran = await run(["goal", "resume", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 5, stdout: "Denied.\n" });
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume", "pause"]);
    expect(readHold(folder)).toMatchObject({ status: "held" });
  });

  test("resume: a goal that is reached in the turn is held no more", async () => {
    const { folder } = await inspected(later(resumed(said("Shipped."), goal(at("complete")))));
    const ran = await run(["goal", "resume", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Shipped.\n" });
    expect(goalRequests(ran)).toEqual(["set", "pause", "resume"]);
    expect(holdsIn(folder)).toEqual([]);
  });

  test("resume: an agent that dies in the turn has had it", async () => {
    const dies = [goal(ACTIVE), status("active"), said("Trying."), { exit: 3 }];
    const { folder } = await inspected(later({ goals: [PAUSED, dies] }), later({}));
    expect((await run(["goal", "resume", "-s", "ship"], { folder })).exitCode).toBe(9);
    const shown = await run(["goal", "show", "-s", "ship"], { folder });
    expect(shown.stdout).toMatch(HELD);
    expect(goalRequests(shown)).toEqual(["set", "pause", "resume", "pause"]);
  });

  test.each([
    { from: "the agent tells that it is gone", clears: [goal(null), reply({})], says: "No goal\n" },
    { from: "the agent only says yes", clears: [reply({})], says: "Goal paused: Ship it\n" },
  ])("clear drops the hold with the goal: $from", async ({ clears, says }) => {
    const { folder } = await inspected(later({ goals: [PAUSED, clears] }));
    const ran = await run(["goal", "clear", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: says });
    expect(goalRequests(ran)).toEqual(["set", "pause", "clear"]);
    expect(holdsIn(folder)).toEqual([]);
  });

  test("sessions close forgets it", async () => {
    const { folder } = await inspected();
    await run(["sessions", "close", "ship"], { folder });
    expect(holdsIn(folder)).toEqual([]);
  });
});

describe("an agent that cannot pause", () => {
  test("is stopped when it goes on, and gets its turn by setting the same goal", async () => {
    const place = await stuck([later({ goals: [works(said("Tried."))] }, CLAUDE)], CLAUDE);
    const { folder, runId } = place;
    await run(["runs", "result", runId], { folder });
    const ran = await run(["goal", "resume", "-s", "ship"], { folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Tried.\n" });
    expect(
      logOf(ran.log)
        .flatMap(({ frame }) => (frame?.method === "_session/goal" ? [frame.params] : []))
        .at(-1),
    ).toEqual({
      sessionId: "s1",
      action: "set",
      objective: "Ship it",
    });
    expect(goalRequests(ran)).toEqual(["set", "set"]);
    expect(readHold(folder)).toMatchObject({ status: "held" });
  });
});
