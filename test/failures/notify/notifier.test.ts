import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Journal } from "../../../src/failures/journal/journal.ts";
import { EMPTY_STATE } from "../../../src/failures/incidents/fold.ts";
import { broke, delivered, disposed, failed, fold, gap, succeeded } from "../incidents/records.ts";
import { metaOf } from "../pages/run.ts";
import { newFolder, ToldRun } from "./told-run.ts";

const MINUTE_MS = 60_000;
const strikes = (from = 0) =>
  [0, 1, 2].map((i) => failed(`a${from + i}`, "npm test", [from + i * 2 + 1, from + i * 2 + 2]));

describe("while the run goes on", () => {
  test("case 1: one tool failure wakes nobody, and sets no timer", async () => {
    const run = new ToldRun();
    await run.observe(failed("a", "npm test", [1, 2]));
    expect(run.clock.delays).toEqual([]);
    await run.advance(10 * MINUTE_MS);
    expect(run.said).toEqual([]);
  });

  test("case 9: three failures are told once, 60 s after the third", async () => {
    const run = new ToldRun();
    for (const event of strikes()) {
      await run.advance(1000);
      await run.observe(event);
    }
    expect(run.clock.delays).toEqual([MINUTE_MS]);
    await run.advance(MINUTE_MS - 1);
    expect(run.said).toEqual([]);
    await run.advance(1);
    expect(run.said).toEqual(["running: a0"]);
    expect(run.told[0]?.text).toBe(
      "run=ag_0m1k2j_17 · codex · 1 min 3 s\nstatus=running\nAction required · observed 2023-11-14T22:13:21.000Z · npm test failed (3 occurrences)",
    );
    expect(run.receipts).toEqual(["a0"]);
    expect(run.clock.delays).toEqual([]);
  });

  test("case 11: it is not told again when it goes on failing, nor when it is marked open", async () => {
    const run = new ToldRun();
    await run.observe(...strikes());
    await run.advance(MINUTE_MS);
    await run.observe(...strikes(9), disposed("open", "a0"));
    await run.advance(10 * MINUTE_MS);
    expect(run.said).toEqual(["running: a0"]);
  });

  test.each([
    { from: "a third strike", later: strikes().slice(2) },
    { from: "marked open", later: [disposed("open", "a0")] },
  ])("only counted at the end of an earlier call, then $from: told once, and not again", async ({ later }) => {
    const first = new ToldRun();
    await first.observe(...strikes().slice(0, 2));
    await first.ended("completion");
    expect(first.told[0]?.text).toContain("1 earlier tool failure remains unclassified.");
    await first.journal.close();
    const second = new ToldRun({ folder: first.folder, clock: first.clock });
    await second.observe(...later);
    await second.advance(MINUTE_MS);
    await second.observe(...strikes(9));
    await second.advance(10 * MINUTE_MS);
    await second.ended("completion");
    expect([first.said, second.said]).toEqual([["completion: a0"], ["running: a0"]]);
    expect(second.told[0]?.text).toContain("Action required");
    await second.journal.close();
    const third = new ToldRun({ folder: first.folder, clock: first.clock });
    await third.observe(...strikes(20));
    await third.ended("completion");
    expect(third.said).toEqual([]);
  });

  test("case 12: recovered, then three failures: a new notification for the new incident", async () => {
    const run = new ToldRun();
    await run.observe(...strikes());
    await run.advance(MINUTE_MS);
    await run.observe(succeeded("npm test", [7, 8], "a0"), ...strikes(9));
    await run.advance(MINUTE_MS);
    expect(run.said).toEqual(["running: a0", "running: a9"]);
  });

  test("cases 36 and 37: marked open is told after 60 s, unless it recovered before", async () => {
    const run = new ToldRun();
    await run.observe(failed("a", "x", [1, 2]), disposed("open", "a"), failed("b", "y", [3, 4]), disposed("open", "b"));
    await run.advance(MINUTE_MS - 1);
    await run.observe(succeeded("y", [5, 6], "b"));
    await run.advance(10 * MINUTE_MS);
    expect(run.said).toEqual(["running: a"]);
  });

  test("a gap waits for the end", async () => {
    const run = new ToldRun();
    await run.observe(gap("g", "scan"));
    await run.advance(10 * MINUTE_MS);
    expect(run.said).toEqual([]);
    await run.ended("completion");
    expect(run.said).toEqual(["completion: g"]);
  });

  test("one timer at most, for what is due first", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"));
    await run.advance(20_000);
    await run.observe(broke("model", "m"));
    expect(run.clock.delays).toEqual([40_000]);
    await run.advance(40_000);
    expect(run.clock.delays).toEqual([20_000]);
    await run.advance(20_000);
    expect(run.said).toEqual(["running: x", "running: m"]);
  });

  test("a restart does not begin the minute anew", async () => {
    const first = new ToldRun();
    await first.observe(broke("exit", "x"));
    await first.advance(30_000);
    await first.notifier.close();
    await first.journal.close();
    const second = new ToldRun({ folder: first.folder, clock: first.clock });
    second.notifier.look();
    expect(second.clock.delays).toEqual([30_000]);
    await second.advance(30_000);
    expect(second.said).toEqual(["running: x"]);
    expect(first.said).toEqual([]);
  });

  test("case 64: without callback nothing is ever sent; the incident stays", async () => {
    const run = new ToldRun({ meta: { callback: false }, announcesEnd: true });
    await run.observe(broke("exit", "x"), gap("g", "scan"));
    await run.advance(10 * MINUTE_MS);
    expect(await run.ended("completion")).toBe("nothing");
    expect(run.asked).toBe(0);
    expect(run.receipts).toEqual([]);
    expect(run.journal.state.incidents.size).toBe(2);
  });

  test("a failure that Ostler tries again is told 5 s after the last retry ended", async () => {
    const run = new ToldRun();
    await run.observe(broke("model", "m", "prompt"));
    run.notifier.retryScheduled("prompt");
    await run.advance(2 * MINUTE_MS);
    expect(run.said).toEqual([]);
    run.notifier.retryEnded("prompt");
    expect(run.clock.delays).toEqual([5000]);
    await run.advance(5000);
    expect(run.said).toEqual(["running: m"]);
  });
});

describe("at its end", () => {
  test("what was told before is a number, tool failures too, and all of it has receipts", async () => {
    const run = new ToldRun();
    await run.observe(...strikes());
    await run.advance(MINUTE_MS);
    await run.observe(
      broke("exit", "x"),
      failed("u", "make", [20, 21]),
      failed("e", "rg", [22, 23], { expected: true }),
    );
    expect(await run.ended("completion")).toBe("delivered");
    expect(run.said).toEqual(["running: a0", "completion: x u"]);
    expect(run.told[1]?.text.split("\n")).toEqual([
      "run=ag_0m1k2j_17 · codex · 1 min 0 s",
      "status=completed",
      "Action required · observed 2023-11-14T22:14:20.000Z · exit broke",
      "1 incident that needs action was already reported.",
      "1 earlier tool failure remains unclassified.",
      "Work correctness was not inferred from lifecycle alone.",
    ]);
    expect(run.receipts).toEqual(["a0", "x", "u"]);
    expect(run.meta?.told).toEqual(["completion"]);
  });

  test("once: neither by asking again, nor after a restart, nor by what fails later", async () => {
    const run = new ToldRun({ announcesEnd: true });
    await run.observe(failed("u", "make", [1, 2]));
    await run.ended("completion");
    expect(await run.ended("completion")).toBe("nothing");
    await run.journal.close();
    const next = new ToldRun({ folder: run.folder, clock: run.clock, meta: run.meta!, announcesEnd: true });
    await next.observe(gap("g", "scan"), failed("v", "make all", [3, 4]));
    expect(await next.ended("completion")).toBe("nothing");
    expect([...run.said, ...next.said]).toEqual(["completion: u"]);
  });

  test("case 16: nothing but an expected failure is no reason to tell", async () => {
    const run = new ToldRun();
    await run.observe(failed("e", "rg x", [1, 2], { expected: true }));
    expect(await run.ended("completion")).toBe("nothing");
    expect(run.asked).toBe(0);
    expect(run.meta?.told).toEqual(["completion"]);
  });

  test("somebody waits for it: the end is told all the same, without a receipt", async () => {
    const run = new ToldRun({ announcesEnd: true });
    expect(await run.ended("completion", "cancelled")).toBe("delivered");
    expect(run.told[0]?.text).toBe("run=ag_0m1k2j_17 · codex · 0 s\nstatus=cancelled");
    expect(run.journal.state).toEqual(EMPTY_STATE);
  });

  test("more than one record holds: the receipts cover all", async () => {
    const run = new ToldRun();
    const many = Array.from({ length: 450 }, (_, i) =>
      failed(`tool:12345678:call_${i}_${"x".repeat(40)}`, `op ${i}`, [1, 2]),
    );
    await run.journal.append(many, { durable: false });
    await run.ended("completion");
    expect(run.receipts).toHaveLength(450);
    expect(run.told[0]?.text).toContain("\n450 earlier tool failures remain unclassified.\n");
    await run.journal.close();
    expect(Journal.open(run.folder).state.delivered.size).toBe(450);
  });

  test("what is being told while the run ends is not told twice", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"));
    const { promise, resolve } = Promise.withResolvers<void>();
    run.onDeliver = () => promise;
    await run.advance(MINUTE_MS);
    expect([run.asked, run.said.length]).toEqual([1, 0]);
    run.meta = metaOf();
    const ended = run.notifier.ended("completion");
    resolve();
    expect(await ended).toBe("nothing");
    expect(run.said).toEqual(["running: x"]);
  });
});

describe("orphaned and lost", () => {
  test("case 70: the facts once, then a gap that is found later, promptly and once", async () => {
    const run = new ToldRun();
    await run.observe(failed("u", "make", [1, 2]), gap("g", "scan"));
    expect(await run.ended("orphaned")).toBe("delivered");
    await run.observe(gap("h", "log-access"));
    await run.observe(gap("h2", "log-access"));
    expect(run.said).toEqual(["orphaned: g u", "late-gap: h"]);
    expect(run.told[1]?.text).toMatch(
      /^run=.*\nstatus=orphaned\nObservation incomplete · .* · log-access is incomplete$/,
    );
  });

  test("an orphaned run that is lost then has both callbacks, the second without what the first told", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"));
    await run.ended("orphaned");
    await run.observe(failed("u", "make", [1, 2]));
    await run.ended("lost");
    expect(run.said).toEqual(["orphaned: x", "lost: u"]);
    expect(run.meta?.told).toEqual(["orphaned", "lost"]);
  });

  test("nothing failed: that it is lost is told all the same", async () => {
    const run = new ToldRun();
    expect(await run.ended("lost")).toBe("delivered");
    expect(run.said).toEqual(["lost: "]);
  });
});

describe("a surface that does not take it", () => {
  test("case 62: no receipt, and again after 1 s, doubling to 60 s", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"));
    run.onDeliver = () => {
      throw new Error("502");
    };
    await run.advance(MINUTE_MS);
    const delays: number[] = [];
    for (let retry = 0; retry < 8; retry += 1) {
      delays.push(...run.clock.delays);
      await run.advance(run.clock.delays[0]!);
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect([run.asked, run.receipts]).toEqual([9, []]);
    run.onDeliver = () => {};
    await run.advance(MINUTE_MS);
    expect([run.said, run.receipts]).toEqual([["running: x"], ["x"]]);
    await run.advance(10 * MINUTE_MS);
    expect(run.asked).toBe(10);
  });

  test("a look in between does not hurry it", async () => {
    const run = new ToldRun();
    run.onDeliver = () => Promise.reject(new Error("502"));
    await run.observe(broke("exit", "x"));
    await run.advance(MINUTE_MS);
    await run.observe(failed("u", "make", [1, 2]));
    expect([run.asked, run.clock.delays]).toEqual([1, [1000]]);
  });

  test("at the end: one try, then again as long as the process lives; the next process tells it", async () => {
    const run = new ToldRun();
    run.onDeliver = () => Promise.reject(new Error("502"));
    await run.observe(failed("u", "make", [1, 2]));
    expect(await run.ended("completion")).toBe("deferred");
    expect([run.meta?.told, run.receipts]).toEqual([[], []]);
    await run.advance(1000);
    expect(run.asked).toBe(2);
    await run.notifier.close();
    await run.journal.close();
    expect(run.clock.delays).toEqual([]);
    const next = new ToldRun({ folder: run.folder, clock: run.clock, meta: run.meta! });
    expect(await next.ended("completion")).toBe("delivered");
    expect(next.said).toEqual(["completion: u"]);
  });

  test("that comes back by itself takes the end too", async () => {
    const run = new ToldRun();
    run.onDeliver = () => Promise.reject(new Error("502"));
    await run.observe(failed("u", "make", [1, 2]));
    await run.ended("completion");
    run.onDeliver = () => {};
    await run.advance(1000);
    expect([run.said, run.meta?.told]).toEqual([["completion: u"], ["completion"]]);
  });
});

test("the delay begins at 1 s again once something was taken; closed, nothing is told", async () => {
  const run = new ToldRun();
  run.onDeliver = () => Promise.reject(new Error("502"));
  await run.observe(gap("g", "scan"));
  await run.ended("orphaned");
  await run.advance(1000);
  expect(run.clock.delays).toEqual([2000]);
  run.onDeliver = () => {};
  expect(await run.ended("orphaned")).toBe("delivered");
  run.onDeliver = () => Promise.reject(new Error("502"));
  await run.observe(gap("h", "log-access"));
  expect([run.asked, run.clock.delays]).toEqual([4, [1000]]);
  await run.notifier.close();
  run.notifier.look();
  expect([run.asked, run.clock.delays]).toEqual([4, []]);
});

describe("receipts", () => {
  test("case 63: after a crash between hand-off and receipt it is told once more, and not again", async () => {
    const crashed = newFolder();
    const first = new ToldRun();
    await first.observe(broke("exit", "x"));
    // What the disk holds when the surface has it and the receipt is not written.
    first.onDeliver = () => cpSync(first.folder, crashed, { recursive: true });
    await first.advance(MINUTE_MS);
    const second = new ToldRun({ folder: crashed, clock: first.clock });
    second.notifier.look();
    await second.idle();
    await second.journal.close();
    const third = new ToldRun({ folder: crashed, clock: first.clock });
    third.notifier.look();
    await third.advance(10 * MINUTE_MS);
    expect([first.said, second.said, third.said]).toEqual([["running: x"], ["running: x"], []]);
  });

  test("stand in the journal when the surface has it, with an id made of what they cover", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"), broke("model", "m"));
    await run.advance(MINUTE_MS);
    const lines = readFileSync(join(run.folder, "failures.jsonl"), "utf8").split("\n").filter(Boolean);
    expect(lines.at(-1)).toMatch(/"id":"delivered:[0-9a-f]{32}"/);
    expect(lines.at(-1)).toContain('"incidents":["m","x"]');
  });

  test("the journal takes none: not told again by this process all the same", async () => {
    const state = fold([broke("exit", "x")]);
    const journal = { state, refresh: () => {}, append: () => Promise.resolve("pending") };
    const run = new ToldRun({ journal });
    run.notifier.look();
    await run.advance(10 * MINUTE_MS);
    expect(run.said).toEqual(["running: x"]);
  });

  test("the journal takes none, and what was only counted needs somebody later: told once more", async () => {
    const journal = { state: fold(strikes().slice(0, 2)), refresh: () => {}, append: () => Promise.resolve("pending") };
    const run = new ToldRun({ journal });
    await run.ended("orphaned");
    await run.advance(2 * MINUTE_MS);
    journal.state = fold([
      ...strikes().slice(0, 2),
      ...Array.from({ length: 60 }, (_, i) => gap(`g${i}`, "scan")),
      ...strikes().slice(2),
    ]);
    await run.ended("completion");
    await run.ended("lost");
    expect(run.told.map(({ incidents }) => incidents.filter(({ id }) => id === "a0").length)).toEqual([1, 1, 0]);
  });

  test("the metadata takes none: the end is told once by this process", async () => {
    const run = new ToldRun({ announcesEnd: true });
    run.metaIsWritable = false;
    expect(await run.ended("completion")).toBe("delivered");
    expect(await run.ended("completion")).toBe("nothing");
    expect(run.asked).toBe(1);
  });
});

describe("just before it is handed over (section 8, rules 4 to 6)", () => {
  test("what another process told is not told again", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"), broke("model", "m"));
    const other = Journal.open(run.folder, { isLive: true });
    await other.append([delivered("x")], { durable: true });
    await other.close();
    await run.advance(MINUTE_MS);
    expect(run.said).toEqual(["running: m"]);
  });

  test("what another process saw recover is not told", async () => {
    const run = new ToldRun();
    await run.observe(...strikes());
    const other = Journal.open(run.folder, { isLive: true });
    await other.append([succeeded("npm test", [7, 8], "a0")], { durable: true });
    await other.close();
    await run.advance(10 * MINUTE_MS);
    expect([run.said, run.receipts]).toEqual([[], []]);
  });

  test("it says what is true then", async () => {
    const run = new ToldRun();
    await run.observe(...strikes());
    const other = Journal.open(run.folder, { isLive: true });
    await other.append([failed("a9", "npm test", [9, 10])], { durable: true });
    await other.close();
    await run.advance(MINUTE_MS);
    expect(run.told[0]?.text).toContain("(4 occurrences)");
  });

  test("metadata that cannot be read: later, and no receipt until then", async () => {
    const run = new ToldRun();
    await run.observe(broke("exit", "x"));
    const { meta } = run;
    run.meta = undefined;
    await run.advance(MINUTE_MS);
    expect([run.asked, run.receipts, run.clock.delays]).toEqual([0, [], [1000]]);
    run.meta = meta;
    await run.advance(1000);
    expect(run.said).toEqual(["running: x"]);
  });

  test("an incident that is missing from the journal: later, and never without it", async () => {
    const journal = {
      state: fold([broke("exit", "x"), broke("model", "m")]),
      refresh() {},
      append: () => Promise.resolve(),
    };
    const whole = journal.state;
    journal.refresh = () => {
      journal.state = fold([broke("model", "m")]);
    };
    const run = new ToldRun({ journal });
    run.notifier.look();
    await run.advance(MINUTE_MS);
    expect([run.asked, run.clock.delays]).toEqual([0, [1000]]);
    journal.state = whole;
    journal.refresh = () => {};
    await run.advance(1000);
    expect(run.said).toEqual(["running: m x"]);
  });
});
