import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideDue, deliveryAtEnd } from "../../../src/failures/notify/due.ts";
import { renderNotification } from "../../../src/failures/notify/text.ts";
import type { NotificationMoment } from "../../../src/failures/notification.ts";
import { CORRECTNESS_NOTE } from "../../../src/failures/pages/notes.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { broke, delivered, disposed, failed, fold, gap, STARTED_AT } from "../incidents/records.ts";
import { bytesOf, metaOf, runningMeta, STARTED_ISO } from "../pages/run.ts";

const now = STARTED_AT + 200_000;
const broken = (count: number) => Array.from({ length: count }, (_, i) => broke("model", `m${i}`, `prompt ${i}`));
const unclassified = (count: number) =>
  Array.from({ length: count }, (_, i) => failed(`u${i}`, `check ${i}`, [i * 2 + 1, i * 2 + 2]));

function linesAtEnd(moment: NotificationMoment, events: readonly JournalEvent[], more: Partial<RunMeta> = {}) {
  const state = fold(events);
  return renderNotification(deliveryAtEnd(state, moment), { meta: metaOf(more), state, now }).split("\n");
}

function linesWhileRunning(events: readonly JournalEvent[], maxBytes?: number) {
  const state = fold(events);
  const due = decideDue({ state, meta: { callback: true, told: [] }, now });
  return "wakeAt" in due ? [] : renderNotification(due, { meta: runningMeta(), state, now, maxBytes }).split("\n");
}

describe("at completion", () => {
  const identity = ["run=ag_0m1k2j_17 · codex · exit 0 · 2 min 5 s", "status=completed"];

  test("seed document 004, the example: lifecycle and incidents are separate facts", () => {
    expect(linesAtEnd("completion", unclassified(8))).toEqual([
      ...identity,
      "8 earlier tool failures remain unclassified.",
      "Work correctness was not inferred from lifecycle alone.",
    ]);
  });

  test("what needs action in full, what was told before as a number", () => {
    expect(linesAtEnd("completion", [...broken(2), delivered("m0"), gap("g", "scan"), ...unclassified(1)])).toEqual([
      ...identity,
      "Observation incomplete · observed 2023-11-14T22:13:23.000Z · scan is incomplete",
      "Action required · observed 2023-11-14T22:13:21.000Z · prompt 1 broke",
      "1 incident that needs action was already reported.",
      "1 earlier tool failure remains unclassified.",
      CORRECTNESS_NOTE,
    ]);
  });

  test("nothing to tell: how it ended, and no more", () => {
    expect(linesAtEnd("completion", [])).toEqual(identity);
  });

  test("the budget is 4 KiB", () => {
    const long = broken(5).map((event) => ({ ...event, summary: "😀".repeat(100) }));
    const text = linesAtEnd("completion", [
      ...long,
      ...long.map(({ id }) => ({ ...disposed("open", id), reason: "w".repeat(400) })),
    ]);
    expect(text.filter((line) => line.startsWith("Action required"))).toHaveLength(5);
  });
});

describe("of a run that nobody supervises", () => {
  test.each<{ moment: NotificationMoment; status: RunMeta["status"]; note: string }>([
    {
      moment: "orphaned",
      status: "orphaned",
      note: "Nobody supervises this run any more; its process may still be there.",
    },
    { moment: "lost", status: "lost", note: "This run is gone, and how it ended was not recorded." },
  ])("$moment: the same facts, and why", ({ moment, status, note }) => {
    expect(linesAtEnd(moment, [...broken(1), ...unclassified(2)], { status }).slice(1)).toEqual([
      `status=${status}`,
      note,
      `Action required · observed ${STARTED_ISO} · prompt 0 broke`,
      "2 earlier tool failures remain unclassified.",
      CORRECTNESS_NOTE,
    ]);
  });
});

describe("while it runs", () => {
  test("what is due alone: no history, nothing of correctness", () => {
    expect(linesWhileRunning([...broken(1), ...unclassified(2), gap("g", "scan")])).toEqual([
      "run=ag_0m1k2j_17 · codex · 3 min 20 s",
      "status=running",
      `Action required · observed ${STARTED_ISO} · prompt 0 broke`,
    ]);
  });

  test("five rows, then how many more", () => {
    const lines = linesWhileRunning(broken(8));
    expect(lines.filter((line) => line.startsWith("Action required"))).toHaveLength(5);
    expect(lines.at(-1)).toBe("3 more need action.");
  });

  test("fewer rows where they have no room", () => {
    const long = broken(5).map((event) => ({ ...event, summary: "w".repeat(400), evidence: "output.log#byte=123456" }));
    const opened = long.map(({ id }) => ({ ...disposed("open", id), reason: "w".repeat(400) }));
    const lines = linesWhileRunning([...long, ...opened], 1500);
    expect(bytesOf(lines.join("\n"))).toBeLessThanOrEqual(1500);
    expect(lines.at(-1)).toBe("1 more needs action.");
  });
});

test("a notification stays within its budget, whatever it is about", () => {
  const summary = fc.string({ unit: "binary", maxLength: 400 });
  const budget = fc.integer({ min: 0, max: 1200 });
  fc.assert(
    fc.property(fc.array(summary, { maxLength: 8 }), budget, fc.boolean(), (summaries, maxBytes, isTool) => {
      const events = summaries.map((text, i) =>
        isTool
          ? failed(`a${i}`, `x${i}`, [1, 2], { summary: text })
          : { ...broke("model", `m${i}`, `p${i}`), summary: text },
      );
      const state = fold(events);
      const facts = { meta: metaOf({ title: summaries[0] ?? "" }), state, now, maxBytes };
      const text = renderNotification(deliveryAtEnd(state, "completion"), facts);
      expect(bytesOf(text)).toBeLessThanOrEqual(maxBytes);
      const isWhole = text.split("\n").includes(CORRECTNESS_NOTE);
      expect(isWhole).toBe(events.length > 0 && bytesOf(CORRECTNESS_NOTE) <= maxBytes);
      expect(bytesOf(linesWhileRunning(events, maxBytes).join("\n"))).toBeLessThanOrEqual(maxBytes);
    }),
    { numRuns: 200 },
  );
});
