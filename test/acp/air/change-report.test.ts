/** The file-change report of a turn: what is asked, what is believed, and what is said when nothing is told. */
import { expect, test } from "vitest";
import { ChangeReports, readChangeReport } from "../../../src/acp/air/change-report.ts";
import type { Action, Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { chunk, end, err, promptsIn, toolUpdate, turns, update } from "../../fixtures/agents/scenario.ts";
import { drive, start } from "../drive.ts";

const REPORTED = {
  version: 1,
  requestId: "r1",
  status: "reported",
  paths: ["/w/a"],
  declaredComplete: false,
  truncated: false,
};
const UNAVAILABLE = { version: 1, requestId: "r1", status: "unavailable", reason: "timeout" };
const long = (chars: number) => `/${"x".repeat(chars - 1)}`;

test.each<{ from: string; value: unknown; report: unknown }>([
  {
    from: "recording claude-agent-acp 0.101.0 edit-diff",
    value: { ...REPORTED, paths: ["/workspace/app.txt"] },
    report: { status: "reported", paths: ["/workspace/app.txt"], declaredComplete: false, truncated: false },
  },
  {
    from: "recording codex-acp 2.6.0 apply-patch-bad-context: an empty list, and why it may lack something",
    value: { ...REPORTED, paths: [], uncertainty: "Codex turn diffs may omit same-content renames" },
    report: {
      status: "reported",
      paths: [],
      declaredComplete: false,
      truncated: false,
      uncertainty: "Codex turn diffs may omit same-content renames",
    },
  },
  { from: "an unavailable one", value: UNAVAILABLE, report: { status: "unavailable", reason: "timeout" } },
  {
    from: "a reason nobody knows",
    value: { ...UNAVAILABLE, reason: "x" },
    report: { status: "unavailable", reason: "x" },
  },
  {
    from: "a path told twice, and an unknown field",
    value: { ...REPORTED, paths: ["/w/a", "/w/b", "/w/a"], later: 1 },
    report: { status: "reported", paths: ["/w/a", "/w/b"], declaredComplete: false, truncated: false },
  },
  {
    from: "1,024 paths",
    value: { ...REPORTED, paths: Array.from({ length: 1024 }, (_, n) => `/w/${n}`) },
    report: expect.objectContaining({ paths: expect.objectContaining({ length: 1024 }) }),
  },
  { from: "a path of 4,096 characters", value: { ...REPORTED, paths: [long(4096)] }, report: expect.anything() },
  {
    from: "a complete and cut list",
    value: { ...REPORTED, declaredComplete: true, truncated: true },
    report: expect.objectContaining({ declaredComplete: true, truncated: true }),
  },
])("a report is read: $from", ({ value, report }) => {
  expect(readChangeReport(value)?.report).toEqual(report);
});

test.each<{ from: string; value: unknown }>([
  { from: "version 2", value: { ...REPORTED, version: 2 } },
  { from: "no version", value: { ...REPORTED, version: undefined } },
  { from: "no id", value: { ...REPORTED, requestId: 7 } },
  { from: "another status", value: { ...REPORTED, status: "partial" } },
  { from: "an inherited status", value: { ...REPORTED, status: "toString" } },
  { from: "paths that are no list", value: { ...REPORTED, paths: "/w/a" } },
  { from: "a path that is no text", value: { ...REPORTED, paths: ["/w/a", 7] } },
  { from: "a path that is not absolute", value: { ...REPORTED, paths: ["w/a"] } },
  { from: "a path with a line break", value: { ...REPORTED, paths: ["/w/a\nb"] } },
  { from: "a path of 4,097 characters", value: { ...REPORTED, paths: [long(4097)] } },
  { from: "1,025 paths", value: { ...REPORTED, paths: Array.from({ length: 1025 }, (_, n) => `/w/${n}`) } },
  {
    from: "more than 256 KiB",
    value: { ...REPORTED, paths: Array.from({ length: 100 }, (_, n) => `${long(3000)}${n}`) },
  },
  { from: "declaredComplete of the wrong type", value: { ...REPORTED, declaredComplete: "no" } },
  { from: "truncated left out", value: { ...REPORTED, truncated: undefined } },
  { from: "an uncertainty of the wrong type", value: { ...REPORTED, uncertainty: [] } },
  { from: "unavailable without a reason", value: { ...UNAVAILABLE, reason: undefined } },
  { from: "unavailable for a blank reason", value: { ...UNAVAILABLE, reason: " " } },
  { from: "no object", value: [REPORTED] },
  { from: "nothing", value: null },
])("a malformed report is none: $from", ({ value }) => {
  expect(readChangeReport(value)).toBeUndefined();
});

const told = (report: object) => ({
  sessionUpdate: "session_info_update",
  _meta: { jetbrains: { air: { version: 1, agentFileChangeReport: report } } },
});

test("a report that is stale, of another prompt, or told twice is ignored", () => {
  const changes = new ChangeReports();
  changes.request("r1");
  const events = [
    changes.apply(told({ ...REPORTED, requestId: "r0" })),
    changes.apply(told(REPORTED)),
    changes.apply(told({ ...REPORTED, paths: ["/etc/passwd"] })),
  ];
  const report = { status: "reported", paths: ["/w/a"], declaredComplete: false, truncated: false };
  expect(events).toEqual([[], [{ type: "changes", report }], []]);
  expect(changes.end(() => {})).toEqual({ changes: report });
  expect(changes.apply(told(REPORTED))).toEqual([]);
});

test.each<{ from: string; second: object; changes: object }>([
  {
    from: "two lists",
    second: { ...REPORTED, paths: ["/w/b", "/w/a"], truncated: true },
    changes: { status: "reported", paths: ["/w/a", "/w/b"], declaredComplete: false, truncated: true },
  },
  {
    from: "a list and a failure",
    second: UNAVAILABLE,
    changes: { status: "reported", paths: ["/w/a"], declaredComplete: false, truncated: true },
  },
])("two prompts of one turn have one report: $from", ({ second, changes }) => {
  const reports = new ChangeReports();
  reports.request("r1");
  reports.apply(told({ ...REPORTED, declaredComplete: true }));
  reports.request("r2");
  reports.apply(told({ ...second, requestId: "r2" }));
  expect(reports.end(() => {})).toEqual({ changes });
});

const info = (report: Json): Action =>
  update({
    sessionUpdate: "session_info_update",
    _meta: { jetbrains: { air: { version: 1, agentFileChangeReport: report } } },
  });
const answer = [chunk("done"), end()];
const supports = (scenario: Scenario): Scenario => ({
  ...scenario,
  initializeResult: { _meta: { jetbrains: { air: { version: 1, capabilities: ["agentFileChangeReport"] } } } },
});
const asks = { profile: "claude", prompt: { reportChanges: true, retries: 0 } } as const;

test("the request has exactly the keys of the contract, and an id that it allows and that no other prompt has", async () => {
  await using agent = await start(supports(turns(answer)), { profile: "claude" });
  const session = await agent.open();
  for (let n = 0; n < 2; n += 1) await session.prompt("go", { reportChanges: true }).outcome;
  await session.prompt("go").outcome;
  const metas = promptsIn(agent.log).map(({ params }) => params?.["_meta"]);
  const asked = {
    jetbrains: {
      air: {
        version: 1,
        agentFileChangeReportRequest: { version: 1, requestId: expect.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/) },
      },
    },
  };
  expect(metas).toEqual([asked, asked, undefined]);
  expect(metas[0]).not.toEqual(metas[1]);
});

const reported = { status: "reported", paths: ["/w/a"], declaredComplete: false, truncated: false };
test.each<{ from: string; turn: readonly Action[]; changes: object }>([
  { from: "a report", turn: [info({ ...REPORTED, requestId: "$R" }), ...answer], changes: reported },
  {
    from: "a report that is told twice",
    turn: [info({ ...REPORTED, requestId: "$R" }), info({ ...REPORTED, requestId: "$R", paths: [] }), ...answer],
    changes: reported,
  },
  {
    from: "an unavailable one is no empty list",
    turn: [info({ ...UNAVAILABLE, requestId: "$R" }), ...answer],
    changes: { status: "unavailable", reason: "timeout" },
  },
  {
    from: "nothing but a malformed one",
    turn: [info({ ...REPORTED, requestId: "$R", paths: ["a"] }), ...answer],
    changes: { status: "unavailable", reason: "notReported" },
  },
  {
    from: "the report of another prompt",
    turn: [info({ ...REPORTED, requestId: "turn-0:1" }), ...answer],
    changes: { status: "unavailable", reason: "notReported" },
  },
  {
    from: "a turn that failed",
    turn: [
      toolUpdate("t", { status: "completed" }),
      info({ ...UNAVAILABLE, requestId: "$R", reason: "providerError" }),
      err(-32603, "broken"),
    ],
    changes: { status: "unavailable", reason: "providerError" },
  },
])("an outcome has the report that was asked for: $from", async ({ turn, changes }) => {
  const { outcome, events } = await drive(supports(turns(turn)), asks);
  expect(outcome.changes).toEqual(changes);
  expect(events.filter(({ type }) => type === "changes")).toEqual([{ type: "changes", report: changes }]);
});

test("a prompt that does not ask is told nothing, whatever the agent says", async () => {
  const { outcome, events } = await drive(supports(turns([info(REPORTED), ...answer])), { profile: "claude" });
  expect(outcome).not.toHaveProperty("changes");
  expect(events.map(({ type }) => type)).not.toContain("changes");
});

test("an agent that has no reports says nothing: it cannot", async () => {
  const { outcome, events } = await drive(turns(answer), asks);
  const report = { status: "unavailable", reason: "unsupported" };
  expect(outcome.changes).toEqual(report);
  expect(events.filter(({ type }) => type === "changes")).toEqual([{ type: "changes", report }]);
});
