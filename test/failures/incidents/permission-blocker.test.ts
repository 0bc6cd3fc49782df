import { describe, expect, test } from "vitest";
import {
  agentReport,
  policyRefusal,
  readPermissionBlocker,
  resourceOf,
} from "../../../src/failures/incidents/permission-blocker.ts";
import type { FailureEvent } from "../../../src/failures/records.ts";
import { failed, fold } from "./records.ts";

const REPORT = {
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "credential-files",
  basis: "agent-reported",
  operation: "npm-test",
  remoteOutcome: "unknown",
  incidentId: "tool:01ab|x",
};

test.each<{ from: string; value: unknown; fits: boolean }>([
  { from: "every key that has to be there", value: REPORT, fits: true },
  { from: "every key there is", value: { ...REPORT, runId: "ag_abcdef_1", policySnapshotId: "p.1" }, fits: true },
  { from: "a call whose id was used again", value: { ...REPORT, incidentId: "tool:01ab:call#2~2" }, fits: true },
  { from: "another key", value: { ...REPORT, path: "/etc/passwd" }, fits: false },
  { from: "another version", value: { ...REPORT, version: 2 }, fits: false },
  { from: "another kind", value: { ...REPORT, kind: "blocker" }, fits: false },
  { from: "another context", value: { ...REPORT, context: "background" }, fits: false },
  { from: "another resource", value: { ...REPORT, resource: "sudo" }, fits: false },
  { from: "another basis", value: { ...REPORT, basis: "guess" }, fits: false },
  { from: "another outcome", value: { ...REPORT, remoteOutcome: "started" }, fits: false },
  { from: "an operation with a blank", value: { ...REPORT, operation: "npm test" }, fits: false },
  { from: "an operation of 65 characters", value: { ...REPORT, operation: "x".repeat(65) }, fits: false },
  { from: "an incident that is a path", value: { ...REPORT, incidentId: "/etc/passwd" }, fits: false },
  { from: "an incident of 201 characters", value: { ...REPORT, incidentId: "x".repeat(201) }, fits: false },
  { from: "a run that is no id", value: { ...REPORT, runId: "../x" }, fits: false },
  { from: "an undefined snapshot", value: { ...REPORT, policySnapshotId: undefined }, fits: false },
  { from: "no incident", value: { ...REPORT, incidentId: undefined }, fits: false },
  { from: "a list", value: [REPORT], fits: false },
  { from: "null", value: null, fits: false },
  { from: "a text", value: "permission denied", fits: false },
])("failure observations, section 11: a report with $from", ({ value, fits }) => {
  expect(readPermissionBlocker(value)).toEqual(fits ? value : undefined);
});

test.each([
  { kind: "execute", paths: ["/etc/passwd"], resource: "command-execution" },
  { kind: "fetch", paths: [], resource: "network-access" },
  { kind: "edit", paths: ["/p/a.ts", "b.ts"], resource: "project-files" },
  { kind: "edit", paths: ["/p/a.ts", "/q/b.ts"], resource: "outside-project-files" },
  { kind: "delete", paths: ["../q"], resource: "outside-project-files" },
  { kind: "move", paths: ["/p/..a", "/p"], resource: "project-files" },
  { kind: "edit", paths: ["/pp/a"], resource: "outside-project-files" },
  { kind: "edit", paths: [], resource: "unknown" },
  { kind: "read", paths: ["/p/a.ts"], resource: "unknown" },
  { kind: "other", paths: ["/p/a.ts"], resource: "unknown" },
  { kind: undefined, paths: ["/p/a.ts"], resource: "unknown" },
])("a refused $kind of $paths in /p is about $resource", ({ kind, paths, resource }) => {
  expect(resourceOf(kind, paths, "/p")).toBe(resource);
});

describe("what an agent reports", () => {
  test.each<{ from: string; event: Partial<FailureEvent>; operation: string }>([
    {
      from: "the operation that it declared",
      event: { attempt: { operationId: "full", startN: 1, endN: 2 } },
      operation: "full",
    },
    {
      from: "its tool, when what it declared does not fit the schema",
      event: { attempt: { operationId: "a/b", startN: 1, endN: 2 } },
      operation: "run",
    },
    {
      from: "the key of the operation, when its tool does not fit either",
      event: { tool: "Run a shell command" },
      operation: "0123456789abcdef0123456789abcdef",
    },
  ])("names $from", ({ event, operation }) => {
    const key = "0123456789abcdef0123456789abcdef";
    const incident = fold([failed("a", key, [1, 2], event)]).incidents.get("a");
    const report = incident && agentReport(incident, "network-access", "ag_abcdef_1");
    expect(report).toEqual({
      version: 1,
      kind: "permission-blocker",
      context: "worker",
      resource: "network-access",
      basis: "agent-reported",
      operation,
      remoteOutcome: "unknown",
      incidentId: "a",
      runId: "ag_abcdef_1",
    });
    expect(readPermissionBlocker(report)).toEqual(report);
  });
});

test.each([
  { didNothing: true, remoteOutcome: "not-started" },
  { didNothing: false, remoteOutcome: "unknown" },
])("what Ostler refused itself is $remoteOutcome", ({ didNothing, remoteOutcome }) => {
  const refused = { incidentId: "tool:01ab:x", runId: "ag_abcdef_1", operation: "execute", didNothing };
  const report = policyRefusal({ ...refused, resource: "command-execution" });
  expect(report).toMatchObject({ basis: "policy-refusal", remoteOutcome, resource: "command-execution" });
  expect(readPermissionBlocker(report)).toEqual(report);
});
