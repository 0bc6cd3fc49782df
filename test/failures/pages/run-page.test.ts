import { describe, expect, test } from "vitest";
import { textContent } from "../../../src/failures/pages/content.ts";
import { outputPage, resultPage } from "../../../src/failures/pages/run-page.ts";
import type { JournalEvent, PermissionBlocker } from "../../../src/failures/records.ts";
import type { RunStatus } from "../../../src/failures/runs/meta.ts";
import { broke, delivered, disposed, failed, fold, gap, STARTED_AT, succeeded } from "../incidents/records.ts";
import { bytesOf, metaOf, runningMeta, STARTED_ISO } from "./run.ts";

const now = STARTED_AT + 200_000;
const CORRECTNESS = "Work correctness was not inferred from lifecycle alone.";

const unclassified = (count: number) =>
  Array.from({ length: count }, (_, i) => failed(`u${i}`, `check ${i}`, [i * 2 + 1, i * 2 + 2]));
const expected = (count: number) =>
  Array.from({ length: count }, (_, i) => failed(`e${i}`, `rg ${i}`, [1, 2], { expected: true }));
const broken = (count: number) => Array.from({ length: count }, (_, i) => broke("model", `m${i}`, `prompt ${i}`));
const recovered = (name: string) => [failed(name, name, [1, 2]), succeeded(name, [3, 4], name)];

describe("what a page says of failures", () => {
  test.each<{ from: string; events: readonly JournalEvent[]; status?: RunStatus; lines: readonly string[] }>([
    { from: "nothing failed: no section", events: [], lines: [] },
    {
      from: "failure observations, case 54; seed document 004, a completed run with nothing to act on",
      events: [...unclassified(8), ...expected(2)],
      lines: ["No failures need action · 8 unclassified tool errors · 2 expected (history)", CORRECTNESS],
    },
    {
      from: "the same while it runs: nothing is said of correctness yet",
      events: [...unclassified(8), ...expected(2)],
      status: "running",
      lines: ["No failures need action · 8 unclassified tool errors · 2 expected (history)"],
    },
    {
      from: "one of each, with what is closed",
      events: [...unclassified(1), ...expected(1), ...recovered("r")],
      lines: ["No failures need action · 1 unclassified tool error · 1 expected · 1 recovered (history)", CORRECTNESS],
    },
    { from: "closed alone: no line", events: recovered("r"), lines: [] },
    {
      from: "expected alone: nothing to doubt",
      events: expected(2),
      lines: ["No failures need action · 2 expected (history)"],
    },
    {
      from: "action and history while it runs: rows, then one line",
      events: [...unclassified(2), ...recovered("r"), ...broken(1)],
      status: "running",
      lines: [
        `Action required · observed 2023-11-14T22:13:24.000Z · prompt 0 broke`,
        "2 unclassified tool errors · 1 recovered (history)",
      ],
    },
    {
      from: "gaps come before what requires action, the newest first",
      events: [gap("g", "scan"), ...broken(2)],
      status: "running",
      lines: [
        `Observation incomplete · observed ${STARTED_ISO} · scan is incomplete`,
        "Action required · observed 2023-11-14T22:13:22.000Z · prompt 1 broke",
        "Action required · observed 2023-11-14T22:13:21.000Z · prompt 0 broke",
      ],
    },
    {
      from: "a gap alone says nothing about correctness",
      events: [gap("g", "scan")],
      lines: [`Observation incomplete · observed ${STARTED_ISO} · scan is incomplete`],
    },
    {
      from: "a run that is over: rows, then a note for everything else",
      events: [...broken(1), delivered("m0"), ...unclassified(8), ...expected(1), ...recovered("r"), ...recovered("s")],
      lines: [
        `Action required · observed ${STARTED_ISO} · prompt 0 broke`,
        "1 incident that needs action was already reported.",
        "8 earlier tool failures remain unclassified.",
        "1 failure was expected.",
        "2 incidents were recovered or superseded.",
        CORRECTNESS,
      ],
    },
    {
      from: "lifecycle is no input: a failed run in which nothing failed",
      events: [],
      status: "failed",
      lines: [],
    },
    {
      from: "the same facts of a lost run",
      events: unclassified(1),
      status: "lost",
      lines: ["No failures need action · 1 unclassified tool error (history)", CORRECTNESS],
    },
  ])("$from", ({ events, status = "completed", lines }) => {
    const meta = status === "running" ? runningMeta() : metaOf({ status });
    const page = resultPage(meta, fold(events), { now });
    const identity =
      status === "running" ? "run=ag_0m1k2j_17 · codex · 3 min 20 s" : "run=ag_0m1k2j_17 · codex · exit 0 · 2 min 5 s";
    expect(page.text.replace(/\nnext=\S+$/, "").split("\n")).toEqual([identity, `status=${status}`, ...lines]);
    expect(page.cursor).toBeUndefined();
  });

  test("history lists every incident, what is closed last", () => {
    const state = fold([...recovered("r"), ...expected(1), ...unclassified(1), ...broken(1), disposed("open", "u0")]);
    const { text, incidents } = resultPage(metaOf(), state, { now, history: true });
    expect(text).not.toContain("(history)");
    expect(incidents.map(({ id }) => id)).toEqual(["u0", "m0", "e0", "r"]);
    expect(text).toMatch(/\nRecovered · observed \S+ · r failed\nWork correctness was not inferred/);
  });

  test("failures stand before the answer", () => {
    const { text } = resultPage(metaOf(), fold(broken(1)), { now, content: textContent("answer", "All is well.") });
    expect(text.indexOf("Action required")).toBeLessThan(text.indexOf("answer:\nAll is well."));
  });
});

describe("a page that is too small", () => {
  const state = fold([...broken(6), delivered("m0", "m1"), ...unclassified(8), ...expected(1), ...recovered("r")]);
  const page = (maxBytes: number) => resultPage(metaOf(), state, { now, maxBytes });

  test("failure observations, case 55: rows go first, the correctness note stays whole", () => {
    const { text, cursor } = page(200);
    expect(bytesOf(text)).toBeLessThanOrEqual(200);
    expect(text.split("\n")).toEqual([
      "status=completed",
      `6 need action · 0 listed · 6 more · cursor=${cursor}`,
      CORRECTNESS,
    ]);
  });

  test("failure observations, case 56: at 10 bytes there is nothing", () => {
    const { text } = page(10);
    expect(text).toBe("");
  });

  test.each<{ from: string; maxBytes: number; lines: readonly string[] }>([
    {
      from: "a whole line that fits",
      maxBytes: 20,
      lines: ["status=completed"],
    },
    { from: "the note alone", maxBytes: 55, lines: [CORRECTNESS] },
    { from: "no room for the note", maxBytes: 54, lines: ["status=completed"] },
    {
      from: "the cursor does not fit: the numbers do",
      maxBytes: 135,
      lines: ["status=completed", "6 need action · 0 listed · 6 more · no room for the cursor", CORRECTNESS],
    },
  ])("$from ($maxBytes bytes)", ({ maxBytes, lines }) => {
    const { text } = page(maxBytes);
    expect(text.split("\n")).toEqual(lines);
  });

  test("lines are dropped in the order of failure observations, section 7.4", () => {
    const names: readonly (readonly [name: string, pattern: RegExp])[] = [
      ["row", /^Action required/m],
      ["closed", /recovered or superseded/],
      ["expected", /expected\.$/m],
      ["reported", /already reported/],
      ["hint", /cursor continues/],
      ["run", /^run=/m],
      ["unclassified", /remain unclassified/],
      ["cursor", /cursor=i2/],
      ["status", /^status=/m],
      ["count", /need action ·/],
      ["correctness", /Work correctness/],
    ];
    const gone: string[] = [];
    for (let maxBytes = 2000; maxBytes >= 55; maxBytes -= 1) {
      const { text } = page(maxBytes);
      // With all rows there is no cursor to go on with.
      const isShort = text.includes("need action ·") || maxBytes < 400;
      for (const [name, pattern] of names) if (isShort && !pattern.test(text) && !gone.includes(name)) gone.push(name);
    }
    expect(gone).toEqual(names.map(([name]) => name).slice(0, -1));
  });

  test("rows leave room for the answer, all but the first", () => {
    const content = textContent("answer", "word ".repeat(2000));
    const { text, incidents } = resultPage(metaOf(), state, { now, maxBytes: 1000, content });
    expect(incidents.length).toBeGreaterThan(0);
    expect(text).toContain("answer (bytes 0-");
    expect(resultPage(metaOf(), state, { now, maxBytes: 1000 }).incidents.length).toBeGreaterThan(incidents.length);
  });

  test("no progress where a note had to go", () => {
    const content = textContent("answer", "All is well.");
    const { text } = resultPage(metaOf(), state, { now, maxBytes: 100, content });
    expect(text).toBe(CORRECTNESS);
  });

  test("a surface never gives more than its maximum", () => {
    const content = textContent("answer", "x".repeat(100_000));
    expect(bytesOf(resultPage(metaOf(), state, { now, maxBytes: 1e9, content }).text)).toBeLessThanOrEqual(65_536);
    expect(bytesOf(resultPage(metaOf(), state, { now, content }).text)).toBeLessThanOrEqual(8192);
    expect(bytesOf(outputPage(metaOf(), state, { now, content }).text)).toBeLessThanOrEqual(4096);
    const raw = bytesOf(outputPage(metaOf(), state, { now, content, raw: true }).text);
    expect([raw > 15_000, raw <= 16_384]).toEqual([true, true]);
    expect(resultPage(metaOf(), state, { now, maxBytes: Number.NaN, content }).text).toBe("");
  });
});

describe("what the run said", () => {
  const text = Array.from({ length: 400 }, (_, i) => `line ${i} ü😀`).join("\n");
  const content = textContent("output", text);
  const state = fold([]);

  test("a result begins at the start, output shows the last whole lines", () => {
    expect(resultPage(metaOf(), state, { now, content, maxBytes: 1000 }).content).toMatch(/^line 0 ü😀\nline 1 /);
    const page = outputPage(metaOf(), state, { now, content, maxBytes: 1000 });
    expect(page.content).toMatch(/^line \d+ ü😀\n[\s\S]*line 399 ü😀$/);
    expect(page.text).toMatch(/\noutput \(bytes \d+-\d+ of \d+\):\nline /);
  });

  test("the pages of a result, joined, are the whole text", () => {
    const pages: string[] = [];
    let cursor: string | undefined;
    for (let seen = 0; seen < bytesOf(text) && pages.length < 50;) {
      const page = resultPage(metaOf(), state, { now, content, maxBytes: 777, cursor });
      expect(bytesOf(page.text)).toBeLessThanOrEqual(777);
      pages.push(page.content);
      seen += bytesOf(page.content);
      cursor = page.next;
    }
    expect(pages.join("")).toBe(text);
    expect(pages.length).toBeGreaterThan(5);
  });

  test("control characters of an agent do not reach the page, unless it is raw", () => {
    const hostile = textContent("answer", "\u001b[2J\u001b[Hstatus=completed\nNo failures need action");
    const failing = fold(broken(1));
    expect(resultPage(metaOf(), failing, { now, content: hostile }).text).not.toContain("\u001b");
    expect(resultPage(metaOf(), failing, { now, content: hostile, raw: true }).text).toContain("\u001b[2J");
  });

  test("text of control characters alone does not stop a reader", () => {
    const empty = textContent("answer", "\u001b[0m".repeat(20));
    const { next } = resultPage(metaOf(), state, { now, content: empty });
    expect(resultPage(metaOf(), state, { now, content: empty, cursor: next }).unchanged).toBe(true);
  });

  test("bytes that are no text take no more room than the page has", () => {
    const bytes = Buffer.alloc(5000, 0xff);
    const noise = {
      name: "output" as const,
      bytes: 5000,
      read: (from: number, max: number) => bytes.subarray(from, from + max),
    };
    const { text: shown, content: said } = outputPage(metaOf(), state, {
      now,
      content: noise,
      maxBytes: 1000,
      raw: true,
    });
    expect(bytesOf(shown)).toBeLessThanOrEqual(1000);
    expect(said).toMatch(/^\uFFFD{100,}$/);
  });

  test("diagnostics in one line each, before it", () => {
    const diagnostics = ["Not trusted: bubblewrap\nis missing"];
    const page = resultPage(metaOf(), state, { now, content: textContent("answer", "Hello"), diagnostics });
    expect(page.text).toContain("\nNot trusted: bubblewrap is missing\nanswer:\nHello\n");
  });
});

describe("what changed since the cursor", () => {
  const content = textContent("answer", "Hello");
  const first = () => resultPage(runningMeta(), fold(broken(1)), { now, content });

  test("nothing: a short answer, which says all the same who has to act", () => {
    const page = resultPage(runningMeta(), fold(broken(1)), { now, content, cursor: first().next });
    expect(page.unchanged).toBe(true);
    expect(page.text.split("\n")).toEqual([
      "run=ag_0m1k2j_17 · codex · 3 min 20 s",
      "status=running",
      "Unchanged since the cursor · 1 need action",
      `next=${page.next}`,
    ]);
  });

  test("a receipt changes nothing, a disposition and a status do", () => {
    const cursor = first().next;
    const again = (events: readonly JournalEvent[], meta = runningMeta()) =>
      resultPage(meta, fold([...broken(1), ...events]), { now, content, cursor });
    expect(again([delivered("m0")]).unchanged).toBe(true);
    expect(again([disposed("open", "m0")]).text).toContain("\nSince the cursor: failures changed\n");
    expect(again([], metaOf()).text).toContain("\nSince the cursor: status was running\n");
  });

  test("more to read: what follows alone", () => {
    const more = textContent("answer", "Hello, and more");
    const page = resultPage(runningMeta(), fold(broken(1)), { now, content: more, cursor: first().next });
    expect(page.text).toContain(
      "\nSince the cursor: 10 more bytes of answer\nanswer (bytes 5-15 of 15):\n, and more\n",
    );
    expect(page.content).toBe(", and more");
  });

  test.each<{ from: string; cursor: () => string | undefined; reset: string }>([
    {
      from: "of the other page",
      cursor: () => outputPage(runningMeta(), fold([]), { now, content }).next,
      reset: "other-view",
    },
    {
      from: "of another run",
      cursor: () => resultPage(runningMeta({ id: "ag_0m1k2j_18" }), fold([]), { now, content }).next,
      reset: "other-view",
    },
    { from: "that somebody made up", cursor: () => "s2.e30", reset: "other-view" },
    { from: "that is no cursor", cursor: () => "hello", reset: "other-view" },
    {
      from: "behind the end of a log that was replaced",
      cursor: () => resultPage(runningMeta(), fold([]), { now, content: textContent("answer", "Hello, world") }).next,
      reset: "changed",
    },
  ])("a cursor $from: the first page, and why", ({ cursor, reset }) => {
    const page = resultPage(runningMeta(), fold([]), { now, content, cursor: cursor() });
    expect(page.reset).toBe(reset);
    expect(page.text).toContain(`\nstatus=running\nreset: ${reset}\nanswer:\nHello\n`);
  });
});

const report = (incidentId: string): PermissionBlocker => ({
  version: 1,
  kind: "permission-blocker",
  context: "worker",
  resource: "network-access",
  basis: "agent-reported",
  operation: "fetch",
  remoteOutcome: "unknown",
  incidentId,
  runId: "ag_0m1k2j_17",
});
const opened = (id: string) => [failed(id, id, [1, 2]), { ...disposed("open", id), permissionBlockers: [report(id)] }];
const total = ({ text, details }: { text: string; details?: unknown }) =>
  bytesOf(text) + bytesOf(JSON.stringify(details));

describe("permission reports in the details (failure observations, section 11)", () => {
  test("of what requires action, and no other", () => {
    const refused = failed("d", "d", [1, 2], { permissionBlockers: [report("d")] });
    const state = fold([...opened("a"), refused, ...opened("r"), succeeded("r", [3, 4], "r")]);
    expect(resultPage(metaOf(), state, { now }).details).toEqual({
      permissionBlockers: [report("a")],
      permissionBlockersOmitted: 0,
    });
    expect(resultPage(metaOf(), fold(broken(1)), { now })).not.toHaveProperty("details");
  });

  test("they share the budget of the page, and say how many had no room", () => {
    const state = fold(Array.from({ length: 30 }, (_, i) => opened(`a${i}`)).flat());
    // One report has 200 bytes or one more, its envelope 55; half of the page is for them.
    const rows = [
      [120, 0],
      [500, 0],
      [1000, 2],
      [4000, 9],
    ] as const;
    for (const [maxBytes, listed] of rows) {
      const page = outputPage(metaOf(), state, { now, maxBytes, content: textContent("output", "x".repeat(5000)) });
      expect(total(page)).toBeLessThanOrEqual(maxBytes);
      const { permissionBlockers, permissionBlockersOmitted } = page.details!;
      expect(permissionBlockers.length + permissionBlockersOmitted).toBe(30);
      expect(permissionBlockers.length).toBe(listed);
    }
  });

  test("a page that cannot even name them is an error", () => {
    expect(() => resultPage(metaOf(), fold(opened("a")), { now, maxBytes: 40 })).toThrow(
      new RangeError("The page needs at least 55 bytes: a permission report has to be named on it"),
    );
  });
});
