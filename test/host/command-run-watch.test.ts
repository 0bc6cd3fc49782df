/** Watches: a command that is polled, what its exit codes mean, and what is on disk when the watch is over. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { WatchPlan } from "../../src/host/command-run-launch.ts";
import { decidePoll } from "../../src/host/command-run-watch.ts";
import { World } from "./supervised.ts";
import type { Supervised } from "./supervised.ts";

const PLAN: WatchPlan = { everyMs: 1, untilExit: 0, failExits: [] };

describe("a poll", () => {
  test.each([
    { from: "the code that is waited for", code: 0, verdict: "done" },
    { from: "another code that is waited for", code: 8, plan: { untilExit: 8 }, verdict: "done" },
    { from: "a code that ends the watch", code: 2, plan: { failExits: [2] }, verdict: "negative" },
    { from: "failure observations, case 73: a declared code", code: 8, expected: [8], verdict: "expected" },
    { from: "success that is not waited for", code: 0, plan: { untilExit: 8 }, verdict: "positive" },
    { from: "success that ends the watch", code: 0, plan: { untilExit: 8, failExits: [0] }, verdict: "negative" },
    { from: "any other code", code: 1, expected: [8], verdict: "failing" },
    { from: "a signal, or no start", code: null, plan: { failExits: [1] }, expected: [1], verdict: "failing" },
  ])("$from is $verdict", ({ code, plan, expected, verdict }) => {
    expect(decidePoll({ code }, { ...PLAN, ...plan }, expected)).toBe(verdict);
  });
});

/** A line whose n-th poll exits with the n-th code, the last one for ever. */
function codes(world: World, ...list: readonly number[]): string {
  const count = join(world.folder, "count");
  const cases = list.map((code, at) => `${at === list.length - 1 ? "*" : at + 1}) exit ${code};;`).join(" ");
  return `echo x >>'${count}'; n=$(wc -l <'${count}'); echo "poll number $n"; case $((n)) in ${cases} esac`;
}

const summaryOf = ({ meta, news, labels }: Supervised): object => ({
  status: meta.status,
  news: news.at(-1),
  labels,
});

test("goes on until the code says done, and each poll has its part of the log", async () => {
  const world = new World();
  const run = await world.supervise(codes(world, 0, 0, 8), { watch: { ...PLAN, untilExit: 8 } });
  expect(summaryOf(run)).toEqual({
    status: "completed",
    news: { type: "ended", status: "completed", exitCode: 0 },
    labels: [],
  });
  expect(run.meta).toMatchObject({ kind: "watch", id: expect.stringMatching(/^wa_/), exit: { code: 8, signal: null } });
  expect(run.log.toString().replaceAll(/· \S+Z/g, "· TIME")).toBe(
    [
      "--- poll 1 · TIME ---\npoll number 1",
      "--- poll 2 · TIME ---\npoll number 2",
      "--- poll 3 · TIME ---\npoll number 3\n",
    ].join("\n"),
  );
});

test("failing polls are one incident, which the next good one recovers", async () => {
  const world = new World();
  const run = await world.supervise(codes(world, 1, 2, 0), { watch: PLAN });
  expect(run.meta.status).toBe("completed");
  expect(run.incidents).toMatchObject([
    {
      category: "watch",
      status: "resolved",
      occurrences: 2,
      exitCode: 2,
      summary: "Poll 2: the command exited with 2",
      evidence: "output.log#poll=2",
    },
  ]);
});

test("after a recovery a failing poll is another incident", async () => {
  const world = new World();
  const run = await world.supervise(codes(world, 1, 0, 1, 8), { watch: { ...PLAN, untilExit: 8 } });
  expect(run.labels).toEqual([
    "Recovered · Poll 1: the command exited with 1",
    "Recovered · Poll 3: the command exited with 1",
  ]);
});

test("failure observations, case 73: a declared code is expected, and the watch goes on", async () => {
  const world = new World();
  const run = await world.supervise(codes(world, 8, 8, 0), { watch: PLAN, expectedExitCodes: [8] });
  expect(run.meta.status).toBe("completed");
  expect(run.incidents).toMatchObject([{ status: "expected", occurrences: 2, strikes: 0, exitCode: 8 }]);
});

test("a declared code recovers nothing", async () => {
  const world = new World();
  const run = await world.supervise(codes(world, 1, 8), {
    watch: { ...PLAN, maxPolls: 2 },
    expectedExitCodes: [8],
  });
  expect(run.incidents[0]).toMatchObject({ status: "unresolved", occurrences: 2, strikes: 1 });
});

test.each([
  {
    from: "a code that says failed",
    list: [0, 3],
    plan: { untilExit: 8, failExits: [3] },
    status: "failed",
    exitCode: 3,
    labels: ["Action required · Poll 2 exited with 3, which ends the watch as failed"],
  },
  {
    from: "success that says failed",
    list: [1, 0],
    plan: { untilExit: 8, failExits: [0] },
    status: "failed",
    exitCode: 1,
    labels: [
      "Recovered · Poll 1: the command exited with 1",
      "Action required · Poll 2 exited with 0, which ends the watch as failed",
    ],
  },
  {
    from: "the last of its polls",
    list: [0],
    plan: { untilExit: 8, maxPolls: 3 },
    status: "failed",
    exitCode: 1,
    labels: ["Action required · Not done after 3 polls"],
  },
])("$from ends it", async ({ list, plan, status, exitCode, labels }) => {
  const world = new World();
  const run = await world.supervise(codes(world, ...list), { watch: { ...PLAN, ...plan } });
  expect(summaryOf(run)).toEqual({ status, news: { type: "ended", status, exitCode }, labels });
});

test.each([
  { from: "between two polls", line: "exit 5", everyMs: 60_000, labels: ["Poll 1: the command exited with 5"] },
  { from: "in the middle of a poll", line: "sleep 60", everyMs: 1, labels: [] },
])("its time is up $from", async ({ line, everyMs, labels }) => {
  const run = await new World().supervise(line, { watch: { ...PLAN, everyMs }, timeoutMs: 500 });
  expect(summaryOf(run)).toEqual({
    status: "failed",
    news: { type: "ended", status: "failed", exitCode: 3 },
    labels: [...labels, "The watch timed out after 0.5 s"].map((words) => `Action required · ${words}`),
  });
});

test.each([
  { from: "between two polls", line: "exit 0", everyMs: 60_000 },
  { from: "in the middle of a poll", line: "sleep 60", everyMs: 1 },
])("a stop $from ends it, and is no failure", async ({ line, everyMs }) => {
  const run = await new World().supervise(
    line,
    { watch: { ...PLAN, everyMs, untilExit: 8 } },
    { onStarted: ({ stop }) => stop() },
  );
  expect(summaryOf(run)).toEqual({
    status: "cancelled",
    news: { type: "ended", status: "cancelled", exitCode: 143 },
    labels: [],
  });
});

test("a program that is not there any more is a failing poll; one that never was ends it", async () => {
  const world = new World();
  const program = join(world.folder, "program");
  const line = `printf '#!/bin/sh\\nrm "$0"; exit 0\\n' >'${program}' && chmod +x '${program}'`;
  await world.supervise(line);
  const launch = { command: [program] as const, watch: { ...PLAN, untilExit: 8, maxPolls: 2 } };
  const run = await world.supervise("", launch);
  expect(run.labels).toEqual([
    `Action required · Poll 2: The command "${program}" cannot be started: there is no such program`,
    "Action required · Not done after 2 polls",
  ]);
  const again = await world.supervise("", launch);
  expect(again.news.map(({ type }) => type)).toEqual(["unstarted", "ended"]);
});
