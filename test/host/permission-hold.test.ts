/** The file of a held goal, and which report holds one. */
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentReport, policyRefusal } from "../../src/failures/incidents/permission-blocker.ts";
import type { Incident } from "../../src/failures/records.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { GoalHolds, readGoalHold } from "../../src/host/permission-hold-file.ts";
import type { GoalHold } from "../../src/host/permission-hold-file.ts";
import { actionableReport, holdAfterInspection } from "../../src/host/permission-hold-inspect.ts";
import { heldSentence } from "../../src/host/permission-hold-words.ts";
import { openStore } from "../../src/host/store.ts";

const RUN = "ag_loyw3v28abcd_1";
const HOLD: GoalHold = {
  incidentId: "tool:043a7187:t1",
  resource: "credential-files",
  operation: "unit",
  runId: RUN,
  since: 1_700_000_000_000,
  status: "held",
};
const newState = (): string => mkdtempSync(join(tmpdir(), "hold-"));

describe("the file of a hold", () => {
  test("is for its owner alone, and whole or not there", () => {
    const state = newState();
    const holds = new GoalHolds(state);
    expect(holds.read("c1")).toBeUndefined();
    holds.write("c1", HOLD);
    expect(holds.read("c1")).toEqual(HOLD);
    expect(holds.read("c2")).toBeUndefined();
    expect(readdirSync(join(state, "holds"))).toEqual(["c1.json"]);
    expect(JSON.parse(readFileSync(join(state, "holds", "c1.json"), "utf8"))).toEqual({ version: 1, ...HOLD });
    expect(statSync(join(state, "holds")).mode & 0o777).toBe(0o700);
    expect(statSync(join(state, "holds", "c1.json")).mode & 0o777).toBe(0o600);
    holds.remove("c1");
    holds.remove("c1");
    expect(holds.read("c1")).toBeUndefined();
  });

  test.each([
    { from: "cut", text: '{"version":1,"incident' },
    { from: "no object", text: "[]" },
    { from: "another resource", text: JSON.stringify({ ...HOLD, resource: "everything" }) },
    { from: "another status", text: JSON.stringify({ ...HOLD, status: "released" }) },
    { from: "a path in the place of a name", text: JSON.stringify({ ...HOLD, operation: "cat /etc/shadow" }) },
  ])("that is $from holds all the same", ({ text }) => {
    const state = newState();
    const holds = new GoalHolds(state);
    holds.write("c1", HOLD);
    writeFileSync(join(state, "holds", "c1.json"), text);
    expect(holds.read("c1")).toMatchObject({ resource: "unknown", operation: "unknown", status: "held" });
  });

  test("what an owner answers is read as strictly", () => {
    expect(readGoalHold({ ...HOLD })).toEqual(HOLD);
    expect(readGoalHold(null)).toBeUndefined();
    expect(readGoalHold({ ...HOLD, since: "now" })).toBeUndefined();
  });

  test("a name that a shell would take apart is quoted", () => {
    expect(heldSentence(HOLD, "my parser")).toContain('ostler goal resume -s "my parser" gives');
  });
});

/** A failed tool call. */
const failed = (fields: Partial<Incident> = {}): Incident => ({
  id: "tool:043a7187:t1",
  operation: "0123456789abcdef0123456789abcdef",
  status: "unresolved",
  category: "tool",
  tool: "run",
  summary: "run failed: cat ~/.aws/credentials",
  firstObservedAt: 1,
  lastObservedAt: 1,
  lastSeq: 1,
  occurrences: 1,
  strikes: 1,
  ...fields,
});
const OPEN = { word: "open", reason: "The key cannot be read", by: "child" } as const;
const report = (incident: Incident) => agentReport(incident, "credential-files", RUN);
const refusal = (incident: Incident) =>
  policyRefusal({
    incidentId: incident.id,
    runId: RUN,
    operation: incident.operation,
    resource: "command-execution",
    didNothing: true,
  });

describe("failure observations, section 11: which report holds a goal", () => {
  test.each([
    {
      from: "case 45: opened by the agent",
      incidents: [failed({ disposition: OPEN, permissionBlockers: [report(failed())] })],
      holds: { basis: "agent-reported", resource: "credential-files", remoteOutcome: "unknown", operation: "run" },
    },
    {
      from: "case 44: denied once, unclassified",
      incidents: [failed({ permissionBlockers: [refusal(failed())] })],
      holds: undefined,
    },
    {
      from: "denied three times",
      incidents: [failed({ strikes: 3, permissionBlockers: [refusal(failed())] })],
      holds: { basis: "policy-refusal", resource: "command-execution", remoteOutcome: "not-started" },
    },
    {
      from: "denied, then opened: the newest report",
      incidents: [failed({ disposition: OPEN, permissionBlockers: [refusal(failed()), report(failed())] })],
      holds: { basis: "agent-reported" },
    },
    {
      from: "of several the first of the list",
      incidents: [
        failed({ disposition: OPEN, permissionBlockers: [report(failed())] }),
        failed({ id: "tool:043a7187:t2", lastSeq: 2, disposition: OPEN, permissionBlockers: [refusal(failed())] }),
      ],
      holds: { basis: "policy-refusal" },
    },
    {
      from: "recovered: actionable no more",
      incidents: [failed({ status: "resolved", disposition: OPEN, permissionBlockers: [report(failed())] })],
      holds: undefined,
    },
    {
      from: "opened without a permission; EPERM in the text is no report",
      incidents: [failed({ disposition: OPEN, summary: "EPERM: operation not permitted" })],
      holds: undefined,
    },
  ])("$from", ({ incidents, holds }) => {
    expect([actionableReport(incidents)]).toMatchObject([holds]);
  });
});

describe("what is read of", () => {
  const blocker = report(failed());

  test("a run without a conversation that is kept holds nothing", async () => {
    const paths = ostlerPaths({ OSTLER_HOME: newState() });
    expect(await holdAfterInspection(paths, { id: RUN, conversationId: RUN }, blocker)).toBeUndefined();
    expect(new GoalHolds(paths.state).read(RUN)).toBeUndefined();
  });

  test("a first hold stays when more is read of", async () => {
    const paths = ostlerPaths({ OSTLER_HOME: newState() });
    using store = openStore(paths);
    const { id } = store.create({ name: "ship", cwd: "/p", backend: "codex", sessionId: "s1" });
    const first = await holdAfterInspection(paths, { id: RUN, conversationId: id }, blocker);
    expect(first).toMatchObject({ name: "ship", hold: { operation: "run", status: "due" } });
    const second = await holdAfterInspection(paths, { id: RUN, conversationId: id }, refusal(failed()));
    expect(second).toEqual(first);
  });
});
