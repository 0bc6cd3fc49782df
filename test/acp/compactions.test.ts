/** Compactions of the context, read from every form that agents have for them. Sequences as they stand in the recordings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Compactions } from "../../src/acp/compactions.ts";
import type { TurnEventBody } from "../../src/acp/events.ts";
import { isObject } from "../../src/acp/frames.ts";
import type { Backend } from "../../src/acp/ports.ts";
import { UpdateReader } from "../../src/acp/update-reader.ts";
import { claudeBackend } from "../../src/backends/claude.ts";
import { codexBackend } from "../../src/backends/codex.ts";
import { genericHabits } from "../../src/backends/generic.ts";

const GENERIC: Backend = { ...genericHabits, id: "generic", label: "Generic" };
const air = (contextCompaction: unknown) => ({ jetbrains: { air: { version: 1, contextCompaction } } });
const update = (status: string, more: object = {}) => ({
  sessionUpdate: "compaction_update",
  compactionId: "c1",
  status,
  ...more,
});
const summaryChunk = (text: unknown, compactionId = "c1") => ({
  sessionUpdate: "compaction_summary_chunk",
  compactionId,
  content: { type: "text", text },
});
const call = (more: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "c1", ...more });
const begun = (more: object) =>
  call({ sessionUpdate: "tool_call", title: "Compact conversation", kind: "think", status: "in_progress", ...more });
const told = (more: object) => ({ type: "compaction", compactionId: "c1", ...more });

function read(updates: readonly object[], backend: Backend = GENERIC): TurnEventBody[] {
  const reader = new UpdateReader(backend, { profile: backend.profile });
  return updates.flatMap((one) => reader.read({ ...one }));
}

test.each<{ from: string; updates: readonly object[]; backend?: Backend; events: readonly object[] }>([
  {
    from: "declared, AIR (recording claude-agent-acp declared-compact-ok): facts come after the end",
    updates: [
      update("in_progress", { _meta: air({ version: 1 }) }),
      update("completed", { summary: [{ type: "text", text: "Short summary." }], _meta: air({ version: 1 }) }),
      update("completed", {
        _meta: air({ version: 1, trigger: "manual", preTokens: 122, postTokens: 2563, durationMs: 282 }),
      }),
    ],
    events: [
      told({ state: "running" }),
      told({ state: "completed", summary: "Short summary." }),
      told({
        state: "completed",
        summary: "Short summary.",
        trigger: "manual",
        preTokens: 122,
        postTokens: 2563,
        durationMs: 282,
      }),
    ],
  },
  {
    from: "declared, plain (declared-compact-ok): the second end says nothing new",
    updates: [
      update("in_progress"),
      update("completed", { summary: [{ type: "text", text: "Short summary." }] }),
      update("completed"),
    ],
    events: [told({ state: "running" }), told({ state: "completed", summary: "Short summary." })],
  },
  {
    from: "a summary in pieces is told whole and once, with the end that does not repeat it",
    updates: [update("in_progress"), summaryChunk("Short "), summaryChunk("summary."), update("completed")],
    events: [told({ state: "running" }), told({ state: "completed", summary: "Short summary." })],
  },
  {
    from: "a summary in pieces, and another text with the end: that one counts",
    updates: [
      update("in_progress"),
      summaryChunk("<analysis>…</analysis>Short"),
      update("completed", {
        summary: [
          { type: "text", text: "Sho" },
          { type: "text", text: "rt" },
        ],
      }),
    ],
    events: [told({ state: "running" }), told({ state: "completed", summary: "Short" })],
  },
  {
    from: "the pieces of one that failed are no summary",
    updates: [update("in_progress"), summaryChunk("Sho"), update("failed", { error: "HTTP 500" })],
    events: [told({ state: "running" }), told({ state: "failed", error: "HTTP 500" })],
  },
  {
    from: "declared, cancelled (declared-compact-cancel)",
    updates: [update("in_progress"), update("cancelled")],
    events: [told({ state: "running" }), told({ state: "cancelled" })],
  },
  {
    from: "only the end is told (codex replays it so)",
    updates: [update("completed")],
    events: [told({ state: "completed" })],
  },
  {
    from: "what has ended does not run again, and an unknown state changes nothing",
    updates: [update("completed"), update("in_progress"), update("resting")],
    events: [told({ state: "completed" })],
  },
  {
    from: "a tool call, AIR (compact-fail): the error once, from the record and not from the content",
    updates: [
      begun({ _meta: air({ version: 1 }) }),
      call({
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "Compaction failed: too_few_groups" } }],
        _meta: { jetbrains: { air: { contextCompaction: { version: 1, error: "too_few_groups" } } } },
      }),
    ],
    events: [told({ state: "running" }), told({ state: "failed", error: "too_few_groups" })],
  },
  {
    from: "a tool call, AIR: facts are merged over updates",
    updates: [
      begun({ _meta: air({ version: 1, trigger: "automatic" }) }),
      call({ status: "completed" }),
      call({ _meta: { jetbrains: { air: { contextCompaction: { version: 1, preTokens: 9, postTokens: 3 } } } } }),
    ],
    events: [
      told({ state: "running", trigger: "automatic" }),
      told({ state: "completed", trigger: "automatic" }),
      told({ state: "completed", trigger: "automatic", preTokens: 9, postTokens: 3 }),
    ],
  },
  {
    from: "a tool call, plain claude (compact-ok): the tool's name, and the facts in rawOutput",
    backend: claudeBackend,
    updates: [
      begun({ _meta: { claudeCode: { toolName: "compact" } } }),
      call({ status: "completed", _meta: { claudeCode: { toolName: "compact" } } }),
      call({
        rawOutput: { trigger: "manual", preTokens: 122, postTokens: 2558, durationMs: 35 },
        _meta: { claudeCode: { toolName: "compact" } },
      }),
    ],
    events: [
      told({ state: "running" }),
      told({ state: "completed" }),
      told({ state: "completed", trigger: "manual", preTokens: 122, postTokens: 2558, durationMs: 35 }),
    ],
  },
  {
    from: "a tool call, plain claude (compact-fail)",
    backend: claudeBackend,
    updates: [
      begun({ _meta: { claudeCode: { toolName: "compact" } } }),
      call({
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "Compaction failed: HTTP 500" } }],
        rawOutput: { error: "HTTP 500" },
        _meta: { claudeCode: { toolName: "compact" } },
      }),
    ],
    events: [told({ state: "running" }), told({ state: "failed", error: "HTTP 500" })],
  },
  {
    from: "a tool call without any record of why: the words that it shows",
    updates: [
      begun({ _meta: air({ version: 1 }) }),
      call({
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "Compaction failed: no room" } }],
      }),
    ],
    events: [told({ state: "running" }), told({ state: "failed", error: "no room" })],
  },
  {
    from: "a tool call, plain codex (compact-manual): the adapter's two words",
    backend: codexBackend,
    updates: [begun({}), call({ status: "completed" })],
    events: [told({ state: "running" }), told({ state: "completed" })],
  },
  {
    from: "the adapter compacts between prompts by itself: nobody asked",
    updates: [update("completed", { _meta: air({ version: 1, trigger: "idle" }) })],
    events: [told({ state: "completed", trigger: "automatic" })],
  },
  {
    from: "facts of another version are not read",
    updates: [update("completed", { _meta: air({ version: 2, trigger: "manual", preTokens: 1 }) })],
    events: [told({ state: "completed" })],
  },
  {
    from: "facts of wrong types",
    updates: [
      update("completed", {
        summary: "text",
        error: 5,
        _meta: air({ version: 1, trigger: "constructor", preTokens: "9", postTokens: -1, durationMs: null, error: {} }),
      }),
    ],
    events: [told({ state: "completed" })],
  },
  {
    from: "no id",
    updates: [update("in_progress", { compactionId: 5 }), update("failed", { compactionId: "" })],
    events: [],
  },
  {
    from: "an id that is too long",
    updates: [update("in_progress", { compactionId: "c".repeat(257) })],
    events: [],
  },
  {
    from: "pieces that are none",
    updates: [summaryChunk(5), { sessionUpdate: "compaction_summary_chunk", compactionId: "c1" }, update("completed")],
    events: [told({ state: "completed" })],
  },
])("$from", ({ updates, backend, events }) => {
  expect(read(updates, backend)).toEqual(events);
});

test.each<{ from: string; first: object; backend?: Backend }>([
  { from: "it names an input", first: begun({ rawInput: { command: "rm -rf x" }, _meta: air({ version: 1 }) }) },
  { from: "it names a place", first: begun({ locations: [{ path: "/w/a.ts" }], _meta: air({ version: 1 }) }) },
  { from: "its mark is of another version", first: begun({ _meta: air({ version: 2 }) }) },
  { from: "it has no mark but a title that a model may have written", first: begun({}) },
  {
    from: "claude's Task tool, whose title the model wrote",
    first: begun({ _meta: { claudeCode: { toolName: "Task" } } }),
    backend: claudeBackend,
  },
  { from: "codex's command of that title", first: begun({ kind: "execute" }), backend: codexBackend },
])("a tool call stays one: $from", ({ first, backend }) => {
  const events = read([first, call({ status: "completed", _meta: air({ version: 1 }) })], backend);
  expect(events.map(({ type }) => type)).toEqual(["tool", "tool"]);
});

test("an input of no keys, which plain clients get with every call, is none", () => {
  expect(read([begun({ rawInput: {}, _meta: air({ version: 1 }) })])).toEqual([told({ state: "running" })]);
});

test("a summary of any length, an endless error and ever new compactions do not fill the memory", () => {
  const compactions = new Compactions();
  const long = "x".repeat(1024 * 1024);
  for (let count = 0; count < 50; count += 1) compactions.apply(summaryChunk(long));
  const [event] = compactions.apply(update("completed"));
  expect(event).toMatchObject({ summary: long.slice(0, 256 * 1024) });
  const [failed] = compactions.apply(update("failed", { compactionId: "c2", error: long }));
  expect(failed).toMatchObject({ error: long.slice(0, 16 * 1024) });
  for (let count = 0; count < 1000; count += 1) compactions.apply(update("in_progress", { compactionId: `n${count}` }));
  // The oldest are forgotten: what is said of them again is news.
  expect(compactions.apply(update("in_progress", { compactionId: "n0" }))).toHaveLength(1);
  expect(compactions.apply(update("in_progress", { compactionId: "n999" }))).toHaveLength(0);
});

test("an agent that names no compaction: the next state is of the one that runs, else of a new one", () => {
  const compactions = new Compactions();
  const states = (["running", "completed", "failed", "running", "failed"] as const).flatMap((state) =>
    compactions.ofStatus({ state }),
  );
  expect(states.map((event) => event.type === "compaction" && `${event.compactionId} ${event.state}`)).toEqual([
    "compaction-1 running",
    "compaction-1 completed",
    "compaction-2 failed",
    "compaction-3 running",
    "compaction-3 failed",
  ]);
});

const RECORDINGS = join(import.meta.dirname, "../fixtures/recordings");
const OK_PLAIN = ["running", "completed"];
const FACTS = (trigger: string) => `completed ${trigger} pre post ms`;

describe.each([
  { folder: "claude-agent-acp/0.101.0", backend: claudeBackend },
  { folder: "codex-acp/2.6.0", backend: codexBackend },
])("$folder", ({ folder, backend }) => {
  const rows: Readonly<Record<string, { air: readonly string[]; plain: readonly string[] }>> =
    backend === claudeBackend
      ? {
          "compact-ok": {
            air: ["running", "completed", FACTS("manual")],
            plain: ["running", "completed", FACTS("manual")],
          },
          "compact-fail": { air: ["running", "failed error"], plain: ["running", "failed error"] },
          "compact-auto": {
            air: ["running", "completed", FACTS("automatic")],
            plain: ["running", "completed", FACTS("automatic")],
          },
          "compact-auto-warn": {
            air: ["running", "failed error", "running", "failed error"],
            plain: ["running", "failed error", "running", "failed error"],
          },
          "compact-nothing": { air: [], plain: [] },
          "declared-compact-ok": {
            air: ["running", "completed summary", `${FACTS("manual")} summary`],
            plain: ["running", "completed summary"],
          },
          "declared-compact-fail": { air: ["running", "failed error"], plain: ["running", "failed error"] },
          "declared-compact-auto": {
            air: ["running", "completed summary", `${FACTS("automatic")} summary`],
            plain: ["running", "completed summary"],
          },
          "declared-compact-cancel": { air: ["running", "cancelled"], plain: ["running", "cancelled"] },
        }
      : {
          "compact-manual": { air: OK_PLAIN, plain: OK_PLAIN },
          "compact-auto": { air: OK_PLAIN, plain: OK_PLAIN },
          // The adapter never closes the call.
          "compact-fails": { air: ["running"], plain: ["running"] },
          "declared-compact-manual": { air: OK_PLAIN, plain: OK_PLAIN },
          "declared-compact-auto": { air: OK_PLAIN, plain: OK_PLAIN },
          "declared-compact-fails": { air: ["running", "failed error"], plain: ["running", "failed error"] },
          "declared-compact-auto-fails": { air: ["running", "failed error"], plain: ["running", "failed error"] },
        };

  test.each(
    Object.entries(rows).flatMap(([name, { air, plain }]) => [
      { name, mode: "air", wanted: air },
      { name, mode: "plain", wanted: plain },
    ]),
  )("$mode $name", ({ name, mode, wanted }) => {
    const updates = updatesIn(join(RECORDINGS, folder, mode, `${name}.jsonl`));
    const reader = new UpdateReader(backend, { profile: backend.profile });
    const read = updates.flatMap((one) => reader.read(one));
    expect(read.flatMap(inShort)).toEqual(wanted);
    expect(read.filter(({ type }) => type === "tool")).toEqual([]);
  });
});

function updatesIn(file: string): Readonly<Record<string, unknown>>[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const entry: { frame?: { params?: { update?: unknown } } } = JSON.parse(line);
      const found = entry.frame?.params?.update;
      return isObject(found) ? [found] : [];
    });
}

function inShort(event: TurnEventBody): string[] {
  if (event.type !== "compaction") return [];
  const { state, trigger, preTokens, postTokens, durationMs, summary, error } = event;
  const parts = [
    state,
    trigger,
    preTokens !== undefined && "pre",
    postTokens !== undefined && "post",
    durationMs !== undefined && "ms",
    summary !== undefined && "summary",
    error !== undefined && "error",
  ];
  return [parts.filter((part) => typeof part === "string").join(" ")];
}
