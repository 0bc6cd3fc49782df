import { describe, expect, test } from "vitest";
import { renderRow } from "../../../src/failures/pages/row.ts";
import type { JournalEvent, PermissionBlocker } from "../../../src/failures/records.ts";
import { broke, disposed, failed, fold, gap, STARTED_AT, succeeded } from "../incidents/records.ts";
import { STARTED_ISO } from "./run.ts";

const evidence = "output.log#byte=4711";

function rowOf(events: readonly JournalEvent[], detail: Parameters<typeof renderRow>[1] = {}): string {
  const [first] = fold(events).incidents.values();
  return renderRow(first!, detail);
}

describe("label · time · excerpt (failure observations, section 7.3)", () => {
  test.each<{ from: string; events: readonly JournalEvent[]; row: string }>([
    {
      from: "a tool failure whose time is known",
      events: [failed("a", "npm test", [1, 2], { at: STARTED_AT, evidence })],
      row: `Unclassified failure observation · ${STARTED_ISO} · npm test failed · evidence: output.log#byte=4711`,
    },
    {
      from: "a time that nobody knows",
      events: [broke("model", "m")],
      row: `Action required · observed ${STARTED_ISO} · model broke`,
    },
    {
      from: "three failures of one operation: the newest time, and how often",
      events: [1, 2, 3].map((n) => failed(`a${n}`, "npm test", [n * 2, n * 2 + 1], { at: STARTED_AT + n })),
      row: "Action required · 2023-11-14T22:13:20.003Z · npm test failed (3 occurrences)",
    },
    {
      from: "declared before it ran",
      events: [failed("a", "rg x", [1, 2], { expected: true })],
      row: `Expected failure · observed ${STARTED_ISO} · rg x failed`,
    },
    {
      from: "missing evidence",
      events: [gap("g", "scan")],
      row: `Observation incomplete · observed ${STARTED_ISO} · scan is incomplete`,
    },
    {
      from: "marked open",
      events: [failed("a", "deploy", [1, 2], { evidence }), disposed("open", "a")],
      row: `Action required · observed ${STARTED_ISO} · deploy failed · open: because · evidence: output.log#byte=4711`,
    },
    {
      from: "recovered by itself",
      events: [failed("a", "npm test", [1, 2]), succeeded("npm test", [3, 4], "a")],
      row: `Recovered · observed ${STARTED_ISO} · npm test failed`,
    },
    {
      from: "a time before 1970",
      events: [failed("a", "x", [1, 2], { at: -1 })],
      row: "Unclassified failure observation · 1969-12-31T23:59:59.999Z · x failed",
    },
  ])("$from", ({ events, row }) => {
    expect(rowOf(events)).toBe(row);
  });
});

describe("how much is shown", () => {
  const long = "word ".repeat(60).trim();
  const events = [
    failed("a", "x", [1, 2], { summary: long, evidence: "/state/runs/ag_0m1k2j_17/output.log#byte=1", at: STARTED_AT }),
    { ...disposed("open", "a"), reason: long },
  ];

  test("compact: 120 bytes of summary and of reason, and the name of the log", () => {
    const cut = `${"word ".repeat(23)}wo…`;
    expect(rowOf(events)).toBe(
      `Action required · ${STARTED_ISO} · ${cut} · open: ${cut} · evidence: output.log#byte=1`,
    );
  });

  test("raw: the whole of both, and the path of the log", () => {
    expect(rowOf(events, { raw: true, folder: "/state/runs/ag_0m1k2j_17" })).toBe(
      `Action required · ${STARTED_ISO} · ${long} · open: ${long} · evidence: /state/runs/ag_0m1k2j_17/output.log#byte=1`,
    );
  });

  test("raw keeps the JSON of a tool's result", () => {
    const summary = '{"content":[{"type":"text","text":"boom"}]}';
    expect(rowOf([failed("a", "x", [1, 2], { summary })], { raw: true })).toContain(` · ${summary}`);
  });
});

describe("a permission report (failure observations, section 11)", () => {
  const report: PermissionBlocker = {
    version: 1,
    kind: "permission-blocker",
    context: "worker",
    resource: "credential-files",
    basis: "agent-reported",
    operation: "login",
    remoteOutcome: "unknown",
    incidentId: "a",
  };
  const events: readonly JournalEvent[] = [
    failed("a", "login", [1, 2], { summary: "cannot read /srv/secret-place/token", evidence }),
    { ...disposed("open", "a"), reason: "look into /srv/other-place", permissionBlockers: [report] },
  ];

  test("a compact row says who reported it and what is not known, and no path, reason or output", () => {
    expect(rowOf(events)).toBe(
      `Action required · observed ${STARTED_ISO} · permission credential-files (agent-reported, remote outcome unknown) · open · evidence: output.log#byte=4711`,
    );
  });

  test("a raw row has both", () => {
    const row = rowOf(events, { raw: true });
    expect(row).toContain("cannot read /srv/secret-place/token · permission credential-files (agent-reported");
    expect(row).toContain("open: look into /srv/other-place");
  });
});
