/** Whether what an agent declares is believed, on real files; the clock is an argument. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AttemptBook, AttemptFact } from "../../../src/failures/attempt-book.ts";
import { IncidentFold } from "../../../src/failures/incidents/fold.ts";
import type { AttemptRef, JournalEvent } from "../../../src/failures/records.ts";
import { decideMetadataRecovered, leftoversOf, metadataGapEvent } from "../../../src/failures/runs/metadata-gap.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { readTrust } from "../../../src/failures/runs/trust.ts";
import { TrustWait } from "../../../src/failures/runs/trust-wait.ts";
import type { TrustDecision } from "../../../src/failures/runs/trust-wait.ts";
import { aRun } from "./run-fixture.ts";

let state: string;
let registry: RunRegistry;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ostler-trust-"));
  registry = new RunRegistry(state);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function given(taskRuntime: boolean): string {
  const meta = aRun({ taskRuntime });
  registry.createRun(meta);
  return meta.id;
}

const provenance = (id: string): string => registry.provenance.fileOf(id);
const replace = (file: string, text: string): void => {
  rmSync(file);
  writeFileSync(file, text);
};

test.each([
  { from: "confined, with its record", confined: true, change: () => undefined, trust: "trusted" },
  { from: "not confined", confined: false, change: () => undefined, trust: "untrusted" },
  {
    from: "not confined, with a record",
    confined: false,
    change: (id: string) => {
      mkdirSync(join(state, "provenance"));
      writeFileSync(provenance(id), JSON.stringify({ version: 1, id }));
    },
    trust: "untrusted",
  },
  { from: "no record", confined: true, change: (id: string) => rmSync(provenance(id)), trust: "untrusted" },
  {
    from: "the record of another run",
    confined: true,
    change: (id: string) => replace(provenance(id), JSON.stringify({ version: 1, id: "ag_abcdefgh_1" })),
    trust: "untrusted",
  },
  {
    from: "a record of another version",
    confined: true,
    change: (id: string) => replace(provenance(id), JSON.stringify({ version: 2, id })),
    trust: "untrusted",
  },
  {
    from: "a record that is no JSON",
    confined: true,
    change: (id: string) => replace(provenance(id), "yes"),
    trust: "untrusted",
  },
  {
    from: "a record that cannot be read",
    confined: true,
    change: (id: string) => {
      rmSync(provenance(id));
      symlinkSync(provenance(id), provenance(id));
    },
    trust: "unknown",
  },
  {
    from: "the flag is no boolean",
    confined: true,
    change: (id: string) =>
      replace(
        registry.metaFile(id),
        readFileSync(registry.metaFile(id), "utf8").replace('"taskRuntime":true', '"taskRuntime":"true"'),
      ),
    trust: "unknown",
  },
  { from: "no meta.json", confined: true, change: (id: string) => rmSync(registry.metaFile(id)), trust: "unknown" },
  {
    from: "a torn meta.json",
    confined: true,
    change: (id: string) => replace(registry.metaFile(id), '{"version":1'),
    trust: "unknown",
  },
])("$from: $trust", ({ confined, change, trust }) => {
  const id = given(confined);
  change(id);
  expect(readTrust(registry, id)).toBe(trust);
});

/** A wait on a clock that only `pass` moves. */
function waitFor(id: string) {
  const decisions: (TrustDecision & { readonly atMs: number })[] = [];
  let nowMs = 0;
  let timer: { readonly dueMs: number; readonly act: () => void } | undefined;
  let reads = 0;
  const wait = new TrustWait({
    read: () => {
      reads += 1;
      return readTrust(registry, id);
    },
    onDecision: (decision) => decisions.push({ ...decision, atMs: nowMs }),
    now: () => nowMs,
    setTimer: (afterMs, act) => {
      timer = { dueMs: nowMs + afterMs, act };
      return () => (timer = undefined);
    },
  });
  const pass = (untilMs: number): void => {
    while (timer !== undefined && timer.dueMs <= untilMs) {
      const { dueMs, act } = timer;
      timer = undefined;
      nowMs = dueMs;
      act();
    }
    nowMs = untilMs;
  };
  wait.begin();
  return { wait, decisions, pass, reads: () => reads, waits: () => timer !== undefined };
}

function broken(id: string) {
  const file = registry.metaFile(id);
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, "{");
  return () => writeFileSync(file, whole);
}

test("metadata that can be read decides at once, and is not read again", () => {
  const { decisions, pass, reads, waits } = waitFor(given(true));
  expect(decisions).toEqual([{ metadata: "read", trusted: true, atMs: 0 }]);
  pass(60_000);
  expect({ reads: reads(), waits: waits() }).toEqual({ reads: 1, waits: false });
});

test("broken for 5 s, then fine: nothing is decided in between (failure observations, case 66)", () => {
  const id = given(true);
  const mend = broken(id);
  const { decisions, pass, waits } = waitFor(id);
  pass(4500);
  expect(decisions).toEqual([]);
  mend();
  pass(60_000);
  expect(decisions).toEqual([{ metadata: "read", trusted: true, atMs: 5000 }]);
  expect(waits()).toBe(false);
});

test("broken for 30 s: the exact rule; readable later: trusted (case 67)", () => {
  const id = given(true);
  const mend = broken(id);
  const { decisions, pass, reads } = waitFor(id);
  pass(29_999);
  expect(decisions).toEqual([]);
  expect(reads()).toBe(30);
  pass(30_000);
  expect(decisions).toEqual([{ metadata: "unreadable", trusted: false, atMs: 30_000 }]);
  pass(40_500);
  mend();
  pass(100_000);
  expect(decisions.slice(1)).toEqual([{ metadata: "read", trusted: true, atMs: 41_000 }]);
});

test("broken at the terminal read: the exact rule at once (case 68)", () => {
  const id = given(true);
  broken(id);
  const { wait, decisions, pass, waits } = waitFor(id);
  pass(1500);
  wait.end();
  expect(decisions).toEqual([{ metadata: "unreadable", trusted: false, atMs: 1500 }]);
  expect(waits()).toBe(false);
});

test("mended before the terminal read: read", () => {
  const id = given(true);
  const mend = broken(id);
  const { wait, decisions, pass } = waitFor(id);
  pass(1500);
  mend();
  wait.end();
  expect(decisions).toEqual([{ metadata: "read", trusted: true, atMs: 1500 }]);
});

test("trust that was read stays while the metadata breaks (case 69)", () => {
  const id = given(true);
  const { wait, decisions, pass } = waitFor(id);
  broken(id);
  pass(60_000);
  wait.end();
  expect(decisions).toEqual([{ metadata: "read", trusted: true, atMs: 0 }]);
});

test("a wait that is closed decides nothing", () => {
  const id = given(true);
  broken(id);
  const { wait, decisions, pass } = waitFor(id);
  wait.close();
  pass(60_000);
  expect(decisions).toEqual([]);
});

test("a wait on the real clock keeps no process alive", () => {
  const id = given(true);
  broken(id);
  const wait = new TrustWait({ read: () => readTrust(registry, id), onDecision: () => undefined });
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  wait.begin();
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBe(before);
  wait.close();
});

/** A fold under the exact rule: two failures that it may have judged wrongly, one that it did not, and the gap. */
function exactFold() {
  const fold = new IncidentFold();
  const apply = (...events: readonly JournalEvent[]): void => {
    for (const event of events) fold.apply({ event, observedAt: 1_700_000_000_000 });
  };
  apply(failed("named", 5), failed("expected", 10), failed("plain", 15), metadataGapEvent({ n: 20, at: 1 }));
  return { fold, apply };
}

function failed(toolCallId: string, endN: number, ids: Partial<AttemptRef> = {}): JournalEvent {
  return {
    id: `tool:0badcafe:${toolCallId}`,
    operation: `op-${toolCallId}`,
    kind: "failure",
    category: "tool",
    tool: "run",
    summary: "Exit code 1",
    exitCode: 1,
    attempt: { toolCallId, startN: endN - 1, endN, ...ids },
  };
}

const recovered = (toolCallId: string): JournalEvent => ({
  id: `recovered:${toolCallId}`,
  operation: `op-${toolCallId}`,
  kind: "recovered",
  incidents: [`tool:0badcafe:${toolCallId}`],
});

/** What a trusted fold over the same log learns about the calls. */
const DECLARED: Readonly<Record<string, Partial<AttemptFact>>> = {
  named: { operationId: "unit-tests", outcome: "failed" },
  expected: { outcome: "expected" },
  plain: { outcome: "failed" },
  later: { operationId: "unit-tests", attemptId: "a2", outcome: "failed" },
};
const BOOK: AttemptBook = {
  byAttemptId: () => undefined,
  byToolCallId: (toolCallId) => ({
    sessionId: "s",
    toolCallId,
    operation: `op-${toolCallId}`,
    startN: 1,
    outcome: "failed",
    ...DECLARED[toolCallId],
  }),
  operationOf: () => undefined,
  isSpent: () => false,
};

const gapEnds = (fold: IncidentFold, leftovers: ReadonlySet<string>): readonly string[] | undefined =>
  decideMetadataRecovered(fold.state, { leftovers, at: 2 })?.incidents;

test("the gap closes once the leftovers that declared something are resolved, not before (case 67)", () => {
  const { fold, apply } = exactFold();
  const leftovers = leftoversOf(fold.state, BOOK);
  expect([...leftovers]).toEqual(["tool:0badcafe:named", "tool:0badcafe:expected"]);
  expect(gapEnds(fold, leftovers)).toBeUndefined();
  apply(recovered("named"));
  expect(gapEnds(fold, leftovers)).toBeUndefined();
  apply(recovered("expected"));
  expect(gapEnds(fold, leftovers)).toEqual(["gap:run-metadata:20"]);
});

test("failures from the trusted period never hold it open, however often the fold is rebuilt (case 67)", () => {
  const { fold, apply } = exactFold();
  apply(failed("later", 30, { operationId: "unit-tests", attemptId: "a2" }), recovered("named"), recovered("expected"));
  const rebuilt = leftoversOf(fold.state, BOOK);
  expect([...rebuilt]).toEqual([]);
  expect(gapEnds(fold, rebuilt)).toEqual(["gap:run-metadata:20"]);
});

test("the end of the gap is taken by the journal, and there is no second one", () => {
  const { fold } = exactFold();
  const event = decideMetadataRecovered(fold.state, { leftovers: new Set(), at: 2 });
  expect(event !== undefined && fold.apply({ event, observedAt: 3 })).toBe(true);
  expect(gapEnds(fold, new Set())).toBeUndefined();
});

test("without a gap nothing closes", () => {
  expect(gapEnds(new IncidentFold(), new Set())).toBeUndefined();
});
