/** What holds for every page, whatever the incidents say and however small it is. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelOf } from "../../../src/failures/incidents/labels.ts";
import { textContent } from "../../../src/failures/pages/content.ts";
import { compactExcerpt } from "../../../src/failures/pages/excerpt.ts";
import { incidentPage } from "../../../src/failures/pages/incident-page.ts";
import { CORRECTNESS_NOTE } from "../../../src/failures/pages/notes.ts";
import { renderRow } from "../../../src/failures/pages/row.ts";
import { outputPage, resultPage } from "../../../src/failures/pages/run-page.ts";
import { listText, navigatorText } from "../../../src/failures/pages/short-page.ts";
import type { FailureEvent, JournalEvent } from "../../../src/failures/records.ts";
import { disposed, fold, STARTED_AT, succeeded } from "../incidents/records.ts";
import { bytesOf, metaOf, runningMeta } from "./run.ts";

const RUNS = { numRuns: 150 };
const now = STARTED_AT + 1000;

/** What a page must survive: ends of lines, sequences of a terminal, direction marks, faces, halves, cut JSON. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom(
        "\n",
        "\r\n",
        "\u2028",
        "\u001b[2J",
        "\u009b1m",
        "\u202e",
        "\u0000",
        "😀",
        "\ud83d",
        "é",
        "·",
        "\\",
        '"',
      ),
      fc.constantFrom(
        '{"content":[{"type":"text","text":"',
        String.raw`\u001b[31m`,
        String.raw`\ud83d`,
        String.raw`\n`,
        '"}]}',
      ),
      fc.constantFrom("Action required · ", "\nNo failures need action", "evidence: output.log#byte=1", "cursor=i2.x"),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join("").slice(0, 400));

const failure = fc.record({
  operation: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  summary: hostile,
  category: fc.constantFrom<FailureEvent["category"]>(
    "tool",
    "model",
    "exit",
    "rejected-intent",
    "observation-incomplete",
  ),
  expected: fc.boolean(),
  evidence: fc.option(fc.constantFrom("output.log#byte=12", "/state/runs/x/output.log#byte=99", "output.log#poll=3"), {
    nil: undefined,
  }),
  fate: fc.constantFrom("nothing", "recovered", "open", "expected"),
  reason: hostile.map((text) => `because ${text}`),
});

const journal = fc.array(failure, { maxLength: 14 }).map((failures) =>
  failures.flatMap(({ fate, reason, evidence, ...fields }, i): readonly JournalEvent[] => {
    const id = `tool:${i}`;
    const event: FailureEvent = {
      id,
      kind: "failure",
      attempt: { startN: i * 10, endN: i * 10 + 1 },
      ...fields,
      ...(evidence !== undefined && { evidence }),
    };
    if (fate === "nothing") return [event];
    if (fate === "recovered") return [event, succeeded(fields.operation, [i * 10 + 2, i * 10 + 3], id)];
    return [event, { ...disposed(fate, id), reason }];
  }),
);

const budget = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 5000 }));
/** Real ones hold an object in base64, which begins so; what hostile text only calls a cursor does not. */
const cursorsIn = (text: string) =>
  Array.from(text.matchAll(/(?:cursor|next)=([is]2\.ey\S*)/g), ([, cursor]) => cursor);

describe("every page", () => {
  test("stays within its budget, and never prints a clipped cursor", () => {
    fc.assert(
      fc.property(journal, budget, fc.boolean(), fc.boolean(), hostile, (events, maxBytes, history, raw, said) => {
        const state = fold(events);
        const content = textContent("output", said);
        const options = { now, maxBytes, history, raw, content, diagnostics: [said] };
        for (const page of [
          resultPage(metaOf({ title: said }), state, options),
          outputPage(runningMeta({ title: said }), state, options),
        ]) {
          expect(bytesOf(page.text)).toBeLessThanOrEqual(maxBytes);
          for (const cursor of cursorsIn(page.text)) expect([page.cursor, page.next]).toContain(cursor);
        }
        const page = incidentPage(metaOf(), state, options);
        expect(bytesOf(page.text)).toBeLessThanOrEqual(maxBytes);
        for (const cursor of cursorsIn(page.text)) expect(cursor).toBe(page.cursor);
        expect(bytesOf(listText(state, maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
      RUNS,
    );
  });

  test("has the correctness note whole whenever it fits, and rows only together with every note", () => {
    fc.assert(
      fc.property(journal, budget, (events, maxBytes) => {
        const state = fold(events);
        const { text, incidents } = resultPage(metaOf(), state, { now, maxBytes });
        const labels = new Set([...state.incidents.values()].map(labelOf));
        const isDue = labels.has("Unclassified failure observation") || labels.has("Action required");
        const lines = text.split("\n");
        expect(lines.includes(CORRECTNESS_NOTE)).toBe(isDue && bytesOf(CORRECTNESS_NOTE) <= maxBytes);
        const notes = [
          /^run=/,
          labels.has("Unclassified failure observation") ? /remain(s)? unclassified\./ : /./,
          labels.has("Expected failure") ? / expected/ : /./,
        ];
        const missing = notes.filter((note) => !note.test(text));
        expect(incidents.length === 0 || missing.length === 0, `${text} has rows, and no ${missing.join()}`).toBe(true);
      }),
      RUNS,
    );
  });
});

test("the pages of one list, joined, are its whole text byte for byte", () => {
  fc.assert(
    fc.property(journal, fc.integer({ min: 190, max: 900 }), fc.boolean(), (events, maxBytes, raw) => {
      const state = fold(events);
      const whole = incidentPage(metaOf(), state, { history: true, raw, maxBytes: 65_536 }).rows;
      const pages: string[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = incidentPage(metaOf(), state, { history: true, raw, maxBytes, cursor });
        expect(page.reset).toBeUndefined();
        expect(page.rows).not.toBe(page.cursor === undefined ? undefined : "");
        pages.push(page.rows);
        cursor = page.cursor;
      }
      expect(pages.join("")).toBe(whole);
    }),
    RUNS,
  );
});

describe("a row", () => {
  /** Ends of lines, controls, marks of direction, halves of code points. */
  const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u202A-\u202E\u2066-\u2069\u200E\u200F]/u;

  test("is one line that begins with its label, whatever the texts hold", () => {
    fc.assert(
      fc.property(journal, fc.boolean(), (events, raw) => {
        for (const incident of fold(events).incidents.values()) {
          const row = renderRow(incident, { raw });
          expect(row).not.toMatch(UNSHOWN);
          expect(row.startsWith(`${labelOf(incident)} · observed 2023-`)).toBe(true);
          const hasPointer = / · evidence: output\.log#(byte|poll)=\d+$/.test(row);
          expect(hasPointer || incident.evidence === undefined).toBe(true);
        }
        expect(navigatorText(fold(events))).not.toMatch(UNSHOWN);
      }),
      RUNS,
    );
  });

  test("an excerpt has at most 120 bytes, and no half of a code point", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const excerpt = compactExcerpt(text);
        expect(bytesOf(excerpt)).toBeLessThanOrEqual(120);
        expect(excerpt).not.toMatch(UNSHOWN);
      }),
      { numRuns: 1000 },
    );
  });

  test("JSON of a tool's result that is cut anywhere gives the beginning of its text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(100), (text, cut) => {
        const json = JSON.stringify({ content: [{ type: "text", text }] });
        const start = json.indexOf(JSON.stringify(text)) + 1;
        const shown = compactExcerpt(json.slice(0, start + cut)).replace(/…$/, "");
        const whole = compactExcerpt(text);
        expect(whole.startsWith(shown) || json.startsWith(shown)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
