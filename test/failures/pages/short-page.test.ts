import { describe, expect, test } from "vitest";
import { listText, navigatorText } from "../../../src/failures/pages/short-page.ts";
import type { JournalEvent } from "../../../src/failures/records.ts";
import { broke, failed, fold, gap, succeeded } from "../incidents/records.ts";
import { bytesOf } from "./run.ts";

const unclassified = failed("u", "npm test", [1, 2]);

describe("the failures of one run in a list", () => {
  test.each<{ from: string; events: readonly JournalEvent[]; text: string }>([
    { from: "nothing failed", events: [], text: "" },
    { from: "all is closed", events: [unclassified, succeeded("npm test", [3, 4], "u")], text: "" },
    {
      from: "nobody has to act",
      events: [unclassified],
      text: "No failures need action · 1 unclassified tool error (history)",
    },
    {
      from: "the first that needs action, and counts",
      events: [unclassified, broke("model", "m"), broke("exit", "x"), gap("g", "scan")],
      text: "Observation incomplete · scan is incomplete\n3 need action · 1 unclassified tool error (history)",
    },
  ])("$from", ({ events, text }) => {
    expect(listText(fold(events))).toBe(text);
  });

  test("the row is cut to what the counts leave of 200 bytes", () => {
    const text = listText(fold([{ ...broke("model", "m"), summary: "😀".repeat(60) }, unclassified]));
    expect(bytesOf(text)).toBeLessThanOrEqual(200);
    expect(text).toMatch(/^Action required · 😀+…\n1 need action · 1 unclassified tool error \(history\)$/u);
  });

  test.each<{ from: string; maxBytes: number; text: string }>([
    { from: "just room for a row", maxBytes: 54, text: `Action required · ${"x".repeat(18)}…\n1 need action` },
    { from: "less of a row says nothing", maxBytes: 53, text: "1 need action" },
    { from: "the counts alone", maxBytes: 13, text: "1 need action" },
    { from: "not even they", maxBytes: 12, text: "" },
  ])("$from ($maxBytes bytes)", ({ maxBytes, text }) => {
    const state = fold([{ ...broke("model", "m"), summary: "x".repeat(100) }]);
    expect(listText(state, maxBytes)).toBe(text);
  });
});

describe("one line for a run among many", () => {
  test.each<{ from: string; events: readonly JournalEvent[]; text: string }>([
    { from: "nobody has to act: nothing", events: [unclassified], text: "" },
    { from: "label and excerpt", events: [unclassified, broke("auth", "a")], text: "Action required · auth broke" },
  ])("$from", ({ events, text }) => {
    expect(navigatorText(fold(events))).toBe(text);
  });
});
