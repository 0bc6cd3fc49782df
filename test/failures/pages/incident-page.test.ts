import { describe, expect, test } from "vitest";
import { encodeIncidentCursor, readIncidentCursor } from "../../../src/failures/pages/cursor.ts";
import type { IncidentCursor } from "../../../src/failures/pages/cursor.ts";
import { incidentPage } from "../../../src/failures/pages/incident-page.ts";
import type { IncidentPage, IncidentPageOptions } from "../../../src/failures/pages/incident-page.ts";
import { resultPage } from "../../../src/failures/pages/run-page.ts";
import type { IncidentState, JournalEvent } from "../../../src/failures/records.ts";
import { cpuMs } from "../../cpu-time.ts";
import { broke, delivered, disposed, failed, fold, gap, STARTED_AT } from "../incidents/records.ts";
import { bytesOf, metaOf } from "./run.ts";

const meta = metaOf();
const now = STARTED_AT + 200_000;
const broken = (count: number) => Array.from({ length: count }, (_, i) => broke("model", `m${i}`, `prompt ${i}`));
const events: readonly JournalEvent[] = [
  gap("g", "scan"),
  ...broken(3),
  failed("u", "npm test", [1, 2]),
  failed("e", "rg x", [1, 2], { expected: true }),
];

/** All pages of one list, by following the cursors. */
function pagesOf(state: IncidentState, options: IncidentPageOptions): readonly IncidentPage[] {
  const pages = [incidentPage(meta, state, options)];
  for (let last = pages[0]; last?.cursor !== undefined && last.rows !== ""; pages.push(last))
    last = incidentPage(meta, state, { ...options, cursor: last.cursor });
  return pages;
}

/** The place of the cursor, elsewhere. */
const forged = (text: string | undefined, fields: Partial<IncidentCursor>) =>
  encodeIncidentCursor({ ...readIncidentCursor(text ?? "")!, ...fields });
const encoded = (value: unknown) => `i2.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;

describe("what is listed", () => {
  test("what needs action, then counts of the rest", () => {
    const { text, incidents, needAction, more, cursor } = incidentPage(meta, fold(events));
    expect(incidents.map(({ id }) => id)).toEqual(["g", "m2", "m1", "m0"]);
    expect(text.split("\n").at(-1)).toBe("1 unclassified tool error · 1 expected (history)");
    expect({ needAction, more, cursor }).toEqual({ needAction: 4, more: 0, cursor: undefined });
  });

  test("history: everything, and no counts", () => {
    const { text, incidents } = incidentPage(meta, fold(events), { history: true });
    expect(incidents.map(({ id }) => id)).toEqual(["g", "m2", "m1", "m0", "u", "e"]);
    expect(text.split("\n")).toHaveLength(6);
  });

  test.each<{ from: string; events: readonly JournalEvent[]; text: string }>([
    { from: "nothing failed", events: [], text: "" },
    {
      from: "nobody has to act (failure observations, case 54)",
      events: [failed("u", "npm test", [1, 2])],
      text: "No failures need action · 1 unclassified tool error (history)",
    },
  ])("$from: no row, no cursor", ({ events: few, text }) => {
    expect(incidentPage(meta, fold(few))).toEqual({ text, rows: "", incidents: [], needAction: 0, more: 0 });
  });
});

describe("page by page", () => {
  const state = fold(events);
  const whole = incidentPage(meta, state, { history: true, maxBytes: 65_536 }).rows;

  test("whole rows, and the pages joined are the text", () => {
    const pages = pagesOf(state, { history: true, maxBytes: 250 });
    expect(pages.map(({ rows }) => rows).join("")).toBe(whole);
    expect(pages.length).toBeGreaterThan(2);
    for (const { rows } of pages) expect(rows).toMatch(/(failed|broke|incomplete)\n?$/);
    expect(pages[0]?.text).toMatch(/^4 need action · 1 listed · 5 more · cursor=i2\.\S+\nObservation incomplete/);
  });

  test("a row that is bigger than a page goes on in the next one", () => {
    const long = fold([failed("u", "x", [1, 2], { summary: "😀ü".repeat(100) })]);
    const options = { history: true, raw: true, maxBytes: 180 };
    const pages = pagesOf(long, options);
    expect(pages.map(({ rows }) => rows).join("")).toBe(incidentPage(meta, long, { ...options, maxBytes: 4096 }).rows);
    expect(pages.length).toBeGreaterThan(4);
    for (const { text } of pages) expect(bytesOf(text)).toBeLessThanOrEqual(180);
  });

  test.each<{ from: string; maxBytes: number; text: RegExp }>([
    { from: "no row fits", maxBytes: 140, text: /^4 need action · 0 listed · 6 more · cursor=i2\.\S+$/ },
    { from: "no cursor fits", maxBytes: 62, text: /^4 need action · 0 listed · 6 more · no room for the cursor$/ },
    { from: "failure observations, case 56", maxBytes: 10, text: /^$/ },
  ])("$from", ({ maxBytes, text }) => {
    const page = incidentPage(meta, state, { history: true, maxBytes });
    expect(page.text).toMatch(text);
    expect(page.rows).toBe("");
  });

  test("the counts at the end go before the rows do", () => {
    const { text, rows } = incidentPage(meta, state, {});
    const exact = incidentPage(meta, state, { maxBytes: bytesOf(text) - 1 });
    expect(exact.text).toBe(rows);
  });
});

describe("where a cursor leads", () => {
  const state = fold(events);
  const first = incidentPage(meta, state, { history: true, maxBytes: 300 });
  const { cursor } = first;

  test("failure observations, case 57: it stays in history without the flag", () => {
    const second = incidentPage(meta, state, { cursor, maxBytes: 280 });
    expect(second.incidents.map(({ id }) => id)).toEqual(["m1"]);
    const last = incidentPage(meta, state, { cursor: second.cursor });
    expect(last.incidents.map(({ id }) => id)).toEqual(["m0", "u", "e"]);
    expect(last.reset).toBeUndefined();
  });

  test("failure observations, case 57: an incident changed in between", () => {
    const page = incidentPage(meta, fold([...events, disposed("open", "u")]), { cursor, maxBytes: 400 });
    expect(page.reset).toBe("changed");
    expect(page.text).toMatch(/^reset: changed\n5 need action · 3 listed · 3 more/);
    expect(page.incidents[0]?.id).toBe("g");
  });

  test("a receipt is no change", () => {
    expect(incidentPage(meta, fold([...events, delivered("m0")]), { cursor }).reset).toBeUndefined();
  });

  test("a raw cursor stays raw; a compact one does not become raw", () => {
    const raw = incidentPage(meta, state, { history: true, raw: true, maxBytes: 300 });
    expect(incidentPage(meta, state, { cursor: raw.cursor }).reset).toBeUndefined();
    expect(incidentPage(meta, state, { cursor, raw: true }).reset).toBe("other-view");
  });

  test("of another run", () => {
    const page = incidentPage(metaOf({ id: "ag_0m1k2j_18" }), state, { cursor, maxBytes: 400 });
    expect(page.reset).toBe("other-view");
    expect(page.text).toMatch(/^reset: other-view\n/);
  });

  test("the page of the run goes on with the list", () => {
    const short = resultPage(meta, state, { now, history: true, maxBytes: 600 });
    const { listed } = { listed: short.incidents.length };
    const next = resultPage(meta, state, { now, cursor: short.cursor });
    expect(next.incidents.map(({ id }) => id)).toEqual(["g", "m2", "m1", "m0", "u", "e"].slice(listed));
    expect(next.text).not.toContain("status=");
  });

  test.each<{ from: string; text: string; reset: string }>([
    { from: "a row that is not there", text: forged(cursor, { row: 6 }), reset: "changed" },
    { from: "a byte behind the row", text: forged(cursor, { byte: 100_000 }), reset: "changed" },
    { from: "a negative row", text: forged(cursor, { row: -1 }), reset: "other-view" },
    { from: "half a byte", text: forged(cursor, { byte: 0.5 }), reset: "other-view" },
    { from: "a list", text: encoded([]), reset: "other-view" },
    { from: "null", text: encoded(null), reset: "other-view" },
    { from: "no JSON", text: "i2.!!", reset: "other-view" },
    { from: "a megabyte", text: `i2.${"A".repeat(2 ** 20)}`, reset: "other-view" },
  ])("made up, $from: the first page", ({ text, reset }) => {
    const page = incidentPage(meta, state, { cursor: text, history: true });
    expect(page.reset).toBe(reset);
    expect(page.incidents[0]?.id).toBe("g");
  });

  test("one inside of a code point", () => {
    const faces = fold([failed("u", "x", [1, 2], { summary: "😀".repeat(100) })]);
    const page = incidentPage(meta, faces, { history: true, raw: true, maxBytes: 270 });
    const { byte = 0 } = readIncidentCursor(page.cursor ?? "") ?? {};
    expect(byte).toBeGreaterThan(100);
    expect(incidentPage(meta, faces, { cursor: forged(page.cursor, { byte: byte + 1 }) }).reset).toBe("changed");
  });
});

test("failure observations, case 77: a page of a history of 1,000 operations costs at most 50 ms", () => {
  const many = fold(
    Array.from({ length: 1000 }, (_, i) =>
      failed(`u${i}`, `check ${i}`, [1, 2], { summary: `{"text":"Error: ${"words of it ".repeat(25)}\\n` }),
    ),
  );
  const costs = Array.from({ length: 5 }, () => {
    const before = cpuMs();
    incidentPage(meta, many, { history: true });
    return cpuMs() - before;
  });
  expect(Math.min(...costs)).toBeLessThan(50);
});
