/** Proposed plans: of ExitPlanMode, in a file or inline, and those that codex streams. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { MAX_PLAN_CHARS, PlanDocuments, namePlanFile } from "../../../src/acp/air/plan-file.ts";
import type { ReadPlanFile } from "../../../src/acp/air/plan-file.ts";
import type { TurnEventBody } from "../../../src/acp/events.ts";
import type { Frame } from "../../../src/acp/frames.ts";
import { readPlanFile } from "../../../src/acp/read-plan-file.ts";
import { chunk, end, tool, toolUpdate, turns } from "../../fixtures/agents/scenario.ts";
import { cpuMs } from "../../cpu-time.ts";
import { drive } from "../drive.ts";

/** A file system of these files. `/w/folder` is none; everything else is missing. */
const FILES: Readonly<Record<string, string>> = { "/w/plan.md": "# Plan\n", "/w/empty.md": "" };
const MISSING = "there is no such file";
const readFake: ReadPlanFile = (path) => {
  if (path === "/w/folder") return null;
  const text = FILES[path];
  return text === undefined ? { text: null, path, problem: MISSING } : { text, path };
};

function played(updates: readonly Frame[], readFile: ReadPlanFile | undefined = readFake, kind = "switch_mode") {
  const plans = new PlanDocuments();
  plans.readFile = readFile;
  return updates.flatMap((update) => [...plans.ofCall(kind, update), ...plans.ofPlan(update)]);
}
const call = (rawInput: unknown, toolCallId = "t1") => ({ toolCallId, rawInput });
const card = (document: object | null, toolCallId = "t1") => ({ type: "plan", toolCallId, document });
const FILED = card({ text: "# Plan\n", path: "/w/plan.md" });

test.each<{ from: string; updates: readonly Frame[]; events: readonly unknown[] }>([
  {
    from: "recording claude-agent-acp 0.101.0 exit-plan-approve: taken back by a call of its own",
    updates: [
      call(undefined),
      call({ planFilePath: "/w/plan.md" }),
      call({ planFilePath: "/w/plan.md" }),
      call({ planFilePath: "" }, "t1:plan-file-clear"),
    ],
    events: [FILED, card(null)],
  },
  {
    from: "a blank path of the call itself",
    updates: [call({ planFilePath: "/w/plan.md" }), call({ planFilePath: " " })],
    events: [FILED, card(null)],
  },
  ...[null, 7, true, {}, ["/w/plan.md"], "w/plan.md", "plan.md", "file:///w/plan.md"].map((planFilePath) => ({
    from: `no path of a file: ${JSON.stringify(planFilePath)}`,
    updates: [call({ planFilePath: "/w/plan.md" }), call({ planFilePath })],
    events: [FILED, card(null)],
  })),
  {
    from: "a folder",
    updates: [call({ planFilePath: "/w/plan.md" }), call({ planFilePath: "/w/folder" })],
    events: [FILED, card(null)],
  },
  { from: "nothing to take back", updates: [call({ planFilePath: "" })], events: [] },
  {
    from: "the newest of two is taken back, then the other",
    updates: [
      call({ plan: "one" }),
      call({ plan: "two" }, "t2"),
      call({ planFilePath: "" }, "x"),
      call({ planFilePath: "" }, "x"),
    ],
    events: [card({ text: "one" }), card({ text: "two" }, "t2"), card(null, "t2"), card(null)],
  },
  {
    from: "the older of two is taken back by its own call",
    updates: [call({ plan: "one" }), call({ plan: "two" }, "t2"), call({ planFilePath: "" }, "t1:plan-file-clear")],
    events: [card({ text: "one" }), card({ text: "two" }, "t2"), card(null)],
  },
  {
    from: "a missing file is said",
    updates: [call({ planFilePath: "/w/gone.md" })],
    events: [card({ text: null, path: "/w/gone.md", problem: MISSING })],
  },
  {
    from: "a missing file, and the plan inline",
    updates: [call({ planFilePath: "/w/gone.md", plan: "# Inline" })],
    events: [card({ text: "# Inline" })],
  },
  {
    from: "a file beats the plan inline",
    updates: [call({ planFilePath: "/w/plan.md", plan: "# Inline" })],
    events: [FILED],
  },
  {
    from: "an empty file",
    updates: [call({ planFilePath: "/w/empty.md" })],
    events: [card({ text: "", path: "/w/empty.md" })],
  },
  { from: "the plan inline", updates: [call({ plan: "# Inline" })], events: [card({ text: "# Inline" })] },
  {
    from: "a plan inline that changes",
    updates: [call({ plan: "# A" }), call({ plan: "# A" }), call({ plan: "# B" })],
    events: [card({ text: "# A" }), card({ text: "# B" })],
  },
  ...[{}, { plan: " \n" }, { plan: 7 }, "plan", null, []].map((rawInput) => ({
    from: `no plan in ${JSON.stringify(rawInput)}`,
    updates: [call(rawInput)],
    events: [],
  })),
  { from: "a path by inheritance", updates: [call(Object.create({ planFilePath: "/w/plan.md" }))], events: [] },
])("a plan is shown, and taken back: $from", ({ updates, events }) => {
  expect(played(updates)).toEqual(events);
});

test("a path is looked at only of an agent that advertises planFile", () => {
  const plans = new PlanDocuments();
  expect(plans.ofCall("switch_mode", call({ planFilePath: "/w/plan.md", plan: "# Inline" }))).toEqual([
    card({ text: "# Inline" }),
  ]);
  expect(plans.ofCall("switch_mode", call({ planFilePath: "" }))).toEqual([]);
});

test("the input of another tool is no plan", () => {
  expect(played([call({ planFilePath: "/w/plan.md", plan: "# A" })], readFake, "other")).toEqual([]);
});

test("what happened earlier names its file, which holds something else by now", () => {
  expect(played([call({ planFilePath: "/w/plan.md" })], namePlanFile)).toEqual([
    card({ text: null, path: "/w/plan.md" }),
  ]);
});

const plan = (content: unknown, planId = "p1", type = "markdown") => ({
  sessionUpdate: "plan_update",
  plan: { type, planId, content },
});
const delta = (contentDelta: unknown, planId = "p1") => ({
  ...plan("", planId),
  _meta: { jetbrains: { air: { version: 1, contentDelta } } },
});

const grown = (text: string, id = "p1") => card({ text, grows: true }, id);

test.each<{ from: string; updates: readonly Frame[]; events: readonly unknown[] }>([
  {
    from: "codex-acp 2.6.0: the text grows",
    updates: [plan("# Pl"), delta("an"), delta("\n")],
    events: ["# Pl", "# Plan", "# Plan\n"].map((text) => grown(text)),
  },
  {
    from: "a whole text replaces what grew",
    updates: [plan("# A"), delta("B"), plan("# C"), delta("D")],
    events: ["# A", "# AB", "# C", "# CD"].map((text) => grown(text)),
  },
  {
    from: "two plans grow side by side",
    updates: [plan("A"), plan("X", "p2"), delta("B"), delta("Y", "p2")],
    events: [grown("A"), grown("X", "p2"), grown("AB"), grown("XY", "p2")],
  },
  { from: "a growth that nothing came before", updates: [delta("B")], events: [grown("B")] },
  { from: "a growth of the wrong type", updates: [plan("A"), delta(7)], events: [grown("A")] },
  { from: "the same text again", updates: [plan("A"), plan("A")], events: [grown("A")] },
  {
    from: "claude-agent-acp: the approved plan is the one of its call",
    updates: [call({ plan: "# A" }), plan("# A, edited", "plan-mode:t1")],
    events: [card({ text: "# A" }), grown("# A, edited", "t1")],
  },
  {
    from: "a plan that is removed",
    updates: [plan("A"), { sessionUpdate: "plan_removed", planId: "p1" }],
    events: [grown("A"), card(null, "p1")],
  },
  {
    from: "a list of steps",
    updates: [
      {
        sessionUpdate: "plan_update",
        plan: { type: "items", planId: "p1", entries: [{ content: "A", status: "completed" }] },
      },
    ],
    events: [{ type: "plan", entries: [{ content: "A", status: "completed" }] }],
  },
  ...[
    plan(7),
    plan(undefined),
    plan("x", "p1", "later"),
    { sessionUpdate: "plan_update" },
    { sessionUpdate: "plan_update", plan: { type: "markdown", content: "x" } },
  ].map((update) => ({
    from: `no plan in ${JSON.stringify(update)}`,
    updates: [update],
    events: [],
  })),
])("a plan that is told by itself: $from", ({ updates, events }) => {
  expect(played(updates)).toEqual(events);
});

test("a plan that grows without end is cut, once", () => {
  const updates = Array.from({ length: 40 }, () => delta("x".repeat(10_000)));
  const events = played(updates);
  const last = events.at(-1);
  const text = last?.type === "plan" && "document" in last ? (last.document?.text ?? "") : "";
  expect(text).toHaveLength(MAX_PLAN_CHARS);
  expect(text).toMatch(/^x+\n\n\(The plan is longer than what is shown here\.\)\n$/);
  expect(events.length).toBeLessThan(40);
});

test.each<{ from: string; make: (folder: string) => string; read: (path: string) => unknown }>([
  { from: "a regular file", make: (folder) => file(folder, "# Plän\n"), read: (path) => ({ text: "# Plän\n", path }) },
  {
    from: "a missing file",
    make: (folder) => join(folder, "gone.md"),
    read: (path) => ({
      text: null,
      path,
      problem: expect.stringMatching(/^The plan in .*gone\.md is not shown: there is no such file$/),
    }),
  },
  {
    from: "a file in the way of the folder",
    make: (folder) => join(file(folder, ""), "plan.md"),
    read: (path) => expect.objectContaining({ text: null, path, problem: expect.stringContaining("no such file") }),
  },
  { from: "a folder", make: (folder) => folder, read: () => null },
  { from: "a link", make: (folder) => linked(folder), read: () => null },
  { from: "a pipe that nobody writes to", make: (folder) => pipe(folder), read: () => null },
  { from: "a device", make: () => "/dev/zero", read: () => null },
  { from: "a terminal", make: () => "/dev/tty", read: () => null },
  {
    from: "a file of the kernel, which has no size: our own environment",
    make: () => "/proc/self/environ",
    read: () => null,
  },
  {
    from: "a file that is no Markdown: a key, whatever the agent calls it",
    make: (folder) => {
      const path = join(folder, "id_rsa");
      writeFileSync(path, "-----BEGIN KEY-----\n");
      return path;
    },
    read: (path) => ({
      text: null,
      path,
      problem: expect.stringMatching(/^The plan in .*id_rsa is not shown: a plan is a Markdown file \(\.md\)$/),
    }),
  },
  { from: "an empty file", make: (folder) => file(folder, ""), read: () => null },
  { from: "a path with a NUL", make: (folder) => `${folder}/a\0b`, read: () => null },
  { from: "a path that is too long", make: () => `/${"x".repeat(5000)}`, read: () => null },
])("only a regular file is read: $from", ({ make, read }) => {
  const path = make(mkdtempSync(join(tmpdir(), "ostler-plan-")));
  expect(readPlanFile(path)).toEqual(read(path));
});

test("of a huge file as much is read as a plan may have, and no more", () => {
  const path = file(mkdtempSync(join(tmpdir(), "ostler-plan-")), "ü".repeat(4_000_000));
  const { length } = readPlanFile(path)?.text ?? "";
  expect(length).toBeGreaterThan(MAX_PLAN_CHARS);
  expect(length).toBeLessThan(2 * MAX_PLAN_CHARS);
});

test("a plan at its limit takes no more words, and costs nothing more", () => {
  const plans = new PlanDocuments();
  plans.ofPlan(delta("x".repeat(2 * MAX_PLAN_CHARS)));
  const more = delta("y");
  const startedAt = cpuMs();
  for (let count = 0; count < 100_000; count += 1) plans.ofPlan(more);
  expect(cpuMs() - startedAt).toBeLessThan(1000);
});

test("in a turn the plan stands before what comes after it, with the text that the file has now", async () => {
  const path = file(mkdtempSync(join(tmpdir(), "ostler-plan-")), "# Plan\n");
  const asks = { title: "Approve Plan", kind: "switch_mode" };
  const turn = [
    tool("t1", asks),
    toolUpdate("t1", { rawInput: { planFilePath: path } }),
    toolUpdate("t1", { status: "completed", title: "Exited Plan Mode" }),
    tool("t1:plan-file-clear", { ...asks, status: "completed", rawInput: { planFilePath: "" } }),
    chunk("done", { messageId: "m1" }),
    end(),
  ];
  const initializeResult = { _meta: { jetbrains: { air: { version: 1, capabilities: ["planFile"] } } } };
  const { events } = await drive({ ...turns(turn), initializeResult }, { profile: "claude" });
  const told = events.flatMap((event): TurnEventBody[] =>
    event.type === "plan" || event.type === "text" ? [event] : [],
  );
  expect(told).toEqual([card({ text: "# Plan\n", path }), card(null), { type: "text", text: "done", messageId: "m1" }]);
  const calls = events.flatMap((event) => (event.type === "tool" ? [event.toolCallId] : []));
  expect(new Set(calls), "the call that only takes the plan back is none").toEqual(new Set(["t1"]));
  const without = await drive(turns(turn), { profile: "claude" });
  expect(without.events.map(({ type }) => type)).not.toContain("plan");
});

function file(folder: string, text: string): string {
  const path = join(folder, "plan.md");
  writeFileSync(path, text);
  return path;
}

function linked(folder: string): string {
  mkdirSync(join(folder, "below"));
  const path = join(folder, "linked.md");
  symlinkSync(file(join(folder, "below"), "secret"), path);
  return path;
}

function pipe(folder: string): string {
  const path = join(folder, "pipe.md");
  execFileSync("mkfifo", [path]);
  return path;
}
