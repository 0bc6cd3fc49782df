import { expect, test } from "vitest";
import type { Profile } from "../../src/errors/failure.ts";
import { readCommands, readPlan } from "../../src/acp/normalize.ts";
import { readPermissionRequest } from "../../src/acp/permissions.ts";
import { readSessionInfo } from "../../src/acp/session-info.ts";
import { ToolCalls } from "../../src/acp/tool-calls.ts";
import { cpuMs } from "../cpu-time.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import {
  call,
  chunk,
  end,
  hugeChunk,
  permission,
  record,
  recordUpdate,
  send,
  tool,
  turns,
} from "../fixtures/agents/scenario.ts";
import { drive, failureOf, habits } from "./drive.ts";

const MIB = 1024 * 1024;
/** Names that every object has by inheritance. */
const INHERITED = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__"];

const line = (piece: string, times: number): readonly Action[] => [{ raw: piece, times }, { raw: "\n" }];
const notifications = (params: { readonly [key: string]: Json }): readonly Action[] =>
  INHERITED.map((method) => call(method, { sessionId: "$S", ...params }));

test.each<{ from: string; actions: readonly Action[]; profile?: Profile }>([
  { from: "8 MiB of blanks", actions: line(" ".repeat(1024), 8 * 1024) },
  { from: "8 MiB of colours", actions: line("\u001B[31m", (8 * MIB) / 5) },
  { from: "8 MiB of unfinished titles", actions: line("\u001B]", 4 * MIB) },
  { from: "8 MiB of beginnings of frames", actions: line('{"jsonrpc"', (8 * MIB) / 10) },
  { from: "kiro: methods with inherited names", actions: notifications({ events: "x", failure: 1 }), profile: "kiro" },
  { from: "kiro: the same with nothing in them", actions: notifications({ failure: null }), profile: "kiro" },
])("the turn goes on after $from", async ({ actions, profile = "generic" }) => {
  const { outcome } = await drive(turns([...actions, chunk("works"), end()]), { profile });
  expect(outcome).toMatchObject({ kind: "completed", text: "works", warnings: [] });
});

const many = <Item>(item: Item): Item[] => Array.from({ length: 200_000 }, () => item);

test.each<{ from: string; read: () => readonly unknown[]; atMost: number }>([
  { from: "steps of a plan", read: () => readPlan({ entries: many({ content: "x" }) }), atMost: 1000 },
  { from: "commands", read: () => readCommands({ availableCommands: many({ name: "x" }) }), atMost: 1000 },
  {
    from: "models",
    read: () => readSessionInfo({ models: { availableModels: many({ modelId: "x" }) } }).models,
    atMost: 5000,
  },
  {
    from: "texts beside a permission question",
    read: () => {
      const content = many("content").map((type, n) => ({ type, content: { type: "text", text: `${n}` } }));
      return readPermissionRequest("s1", { toolCall: { toolCallId: "t1", content } }, new ToolCalls()).texts ?? [];
    },
    atMost: 100,
  },
])("of 200,000 $from as many are read as anybody looks at", ({ read, atMost }) => {
  expect(read()).toHaveLength(atMost);
});

test.each([
  { from: "a text instead of an error", error: "Out of cheese", title: "Out of cheese" },
  { from: "no code", error: { message: "Out of cheese" }, title: "Out of cheese" },
  { from: "a message of the wrong type", error: { code: 1, message: {} }, title: /did not explain/ },
  { from: "a number", error: 42, title: /did not explain/ },
  { from: "a list", error: [], title: /did not explain/ },
])("the prompt is answered with an error: $from", async ({ error, title }) => {
  const { outcome } = await drive(turns([send({ jsonrpc: "2.0", id: "$P", error })]));
  expect(outcome.kind).toBe("failed");
  expect(failureOf(outcome)?.title).toMatch(title);
});

test("a tool call whose status has an inherited name keeps the status it had", async () => {
  const calls = INHERITED.map((status) => tool("t1", { status, title: status }));
  const { events } = await drive(turns([...calls, chunk("works"), end()]));
  const statuses = events.flatMap((event) => (event.type === "tool" ? [event.status] : []));
  expect(new Set(statuses)).toEqual(new Set(["pending"]));
});

test("a hundred thousand calls that never end cost no more time each than one", () => {
  const tools = new ToolCalls();
  const start = (n: number) => tools.apply({ toolCallId: `t${n}`, kind: "read", status: "in_progress" });
  const startedAt = cpuMs();
  for (let n = 0; n < 100_000; n += 1) start(n);
  expect(cpuMs() - startedAt).toBeLessThan(3000);
  expect(tools.running).toBe(1000);
  expect(tools.get("t0")).toBeUndefined();
  expect(tools.get("t99999")?.kind).toBe("read");
});

test("of calls that ended the last thousand are known, and those that run all of them", () => {
  const tools = new ToolCalls();
  tools.apply({ toolCallId: "runs", kind: "read", status: "in_progress" });
  for (let n = 0; n < 3000; n += 1) tools.apply({ toolCallId: `t${n}`, kind: "read", status: "completed" });
  expect([tools.get("t1998"), tools.get("t1999")?.kind, tools.get("t2999")?.kind, tools.get("runs")?.kind]).toEqual([
    undefined,
    "read",
    "read",
    "read",
  ]);
});

test("an answer that no result could hold is cut, and that is the outcome", async () => {
  const portion = hugeChunk(20 * MIB);
  const { outcome } = await drive(turns([...portion, ...portion, ...portion, ...portion, end()]));
  expect(outcome.kind).toBe("truncated");
  expect(outcome).toMatchObject({ partial: true, stopReason: "end_turn" });
  expect(outcome.text.length).toBe(60 * MIB);
  expect(failureOf(outcome)).toMatchObject({ kind: "output_limit", rule: "answer-too-long", retry: "never" });
});

test("the same answer is whole for a reader who takes it as it comes", async () => {
  const portion = hugeChunk(20 * MIB);
  const { outcome, events } = await drive(turns([...portion, ...portion, ...portion, ...portion, end()]), {
    prompt: { keepText: false },
  });
  expect(outcome).toMatchObject({ kind: "completed", text: "" });
  expect(events.reduce((sum, event) => sum + (event.type === "text" ? event.text.length : 0), 0)).toBe(80 * MIB);
});

test("a permission question after the end is denied, and none of the turn's denials", async () => {
  const { outcome } = await drive(turns([chunk("works"), end(), permission("t1")]));
  expect(outcome).toMatchObject({ kind: "completed", denied: [] });
});

test("of very many warnings the outcome repeats the newest", async () => {
  const warnings = Array.from({ length: 300 }, (_, n) =>
    recordUpdate(record({ id: `w${n}`, severity: "warning", title: `warning ${n}` })),
  );
  const { outcome, sunk } = await drive(turns([...warnings, chunk("works"), end()]));
  expect(outcome.warnings.map(({ title }) => title)).toEqual(
    Array.from({ length: 256 }, (_, n) => `warning ${n + 44}`),
  );
  expect(sunk).toHaveLength(300);
});

test("a bug in a handler fails the turn that was running, and nothing else", async () => {
  const backend = {
    ...habits("generic"),
    readExtension: () => {
      throw new TypeError("not a function");
    },
  };
  const { outcome, prompts } = await drive(turns([call("_x/y", { sessionId: "$S" }), chunk("works"), end()]), {
    backend,
  });
  expect(failureOf(outcome)).toMatchObject({ kind: "unknown", rule: "internal-error", retry: "never" });
  expect(outcome.cause?.cause).toBeInstanceOf(TypeError);
  expect(prompts).toBe(1);
});
