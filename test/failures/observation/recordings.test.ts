/** Every recording of the two adapters as the log of a run. */
import { describe, expect, test } from "vitest";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import { Observer } from "../../../src/failures/observation/observer.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import { recordedLines, recordingNames } from "./recorded-lines.ts";
import { CLAUDE, CODEX } from "./recordings.expected.ts";

const NAMES = recordingNames();
const EXPECTED = new Map<string, readonly string[]>(
  [
    ...CODEX.map((row) => ["codex-acp/2.6.0", row] as const),
    ...CLAUDE.map((row) => ["claude-agent-acp/0.101.0", row] as const),
  ].flatMap(([adapter, { case: name, air, plain, both = [] }]) => [
    [`${adapter}/air/${name}`, air ?? both] as const,
    [`${adapter}/plain/${name}`, plain ?? both] as const,
  ]),
);

describe("recordings", () => {
  test.each(NAMES)("%s", (name) => {
    expect(observed(name).map(told)).toEqual(EXPECTED.get(name) ?? []);
  });

  test("no row is left over", () => {
    expect([...EXPECTED.keys()].filter((name) => !NAMES.includes(name))).toEqual([]);
    expect(NAMES.length).toBeGreaterThan(400);
  });

  test("what Ostler refused says so in a report, and nothing else does", () => {
    const refused = NAMES.filter((name) => observed(name).some((event) => "permissionBlockers" in event));
    expect(new Set(refused.map((name) => name.split("/").at(-1)))).toEqual(
      new Set([
        "apply-patch-approval-reject",
        "shell-approval-cancelled",
        "shell-approval-reject",
        "bash-perm-cancelled",
        "bash-reject",
      ]),
    );
  });
});

function observed(name: string): JournalEvent[] {
  const observer = new Observer({ runId: "ag_abcdef_1", conversationId: "c", trusted: false });
  const fold = new IncidentFold();
  const events: JournalEvent[] = [];
  const take = (more: readonly JournalEvent[]): void => {
    for (const event of more) fold.apply({ event, observedAt: event.at ?? 0 });
    events.push(...more);
  };
  for (const line of recordedLines(name)) take(observer.observe(line, undefined, fold.state));
  take(observer.runOver());
  return events;
}

function told(event: JournalEvent): string {
  if (event.kind !== "failure" && event.kind !== "incomplete") return event.kind;
  return `${event.attempt?.startN}-${event.attempt?.endN} ${event.summary}`;
}
