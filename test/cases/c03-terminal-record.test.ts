import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, playEach } from "../acp/drive.ts";
import type { Played } from "../acp/drive.ts";
import type { Json } from "../fixtures/agents/scenario.ts";
import { air, chunk, end, logOf, record, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText, countOf } from "./ask-case.ts";

const UNREADABLE = "The backend reported a failure in a form this version cannot read";
const failing = (sessionFailure: Json, version?: number) => turns([end("end_turn", air(sessionFailure, version))]);

test.concurrent("the capability is declared", async () => {
  const { log } = await ask(turns([chunk("ok"), end()]));
  const initialize = logOf(log).find(({ frame }) => frame?.method === "initialize");
  expect(initialize?.frame?.params).toMatchObject({
    protocolVersion: 1,
    clientCapabilities: {
      _meta: { jetbrains: { air: { version: 1, capabilities: expect.arrayContaining(["sessionFailure"]) } } },
    },
  });
});

describe("a readable record fails the turn although it ended well", () => {
  test.concurrent.each<{
    from: string;
    fields: { readonly [key: string]: Json };
    kind: string;
    retry: string;
    needs?: string;
    exit: number;
    category?: string;
    actions?: readonly string[];
  }>([
    { from: "C03 limit", fields: { category: "limit" }, kind: "usage_limit", retry: "never", needs: "quota", exit: 8 },
    {
      from: "C03 access",
      fields: { category: "access", actions: ["login"] },
      kind: "auth",
      retry: "never",
      needs: "login",
      exit: 6,
    },
    {
      from: "C03 connection",
      fields: { category: "connection", actions: ["new_session"] },
      kind: "agent_died",
      retry: "after_respawn",
      exit: 9,
    },
    {
      from: "C03 service",
      fields: { category: "service", actions: ["retry"] },
      kind: "service_error",
      retry: "backoff",
      exit: 1,
    },
    {
      from: "C03 a category nobody knows is kept",
      fields: { category: "zzz", actions: ["retry"] },
      kind: "unknown",
      retry: "backoff",
      exit: 1,
      category: "zzz",
    },
    {
      from: "C03 an action nobody knows is dropped",
      fields: { category: "limit", actions: ["dance"] },
      kind: "usage_limit",
      retry: "never",
      needs: "quota",
      exit: 8,
      actions: [],
    },
    {
      from: "the same beside one that is known, twice",
      fields: { category: "service", actions: ["dance", "retry", "retry"] },
      kind: "service_error",
      retry: "backoff",
      exit: 1,
      actions: ["retry"],
    },
    {
      from: "a category in other letters is not the known one",
      fields: { category: "Limit" },
      kind: "unknown",
      retry: "never",
      exit: 1,
      category: "Limit",
    },
    {
      from: "no severity is an error",
      fields: { category: "limit", severity: null },
      kind: "usage_limit",
      retry: "never",
      needs: "quota",
      exit: 8,
    },
    {
      from: "a severity nobody knows is an error",
      fields: { category: "limit", severity: "fatal" },
      kind: "usage_limit",
      retry: "never",
      needs: "quota",
      exit: 8,
    },
    {
      from: "fields nobody knows",
      fields: { category: "request", phase: "run", retryable: true },
      kind: "request_rejected",
      retry: "never",
      exit: 1,
    },
    {
      from: "a category that is a name of every object",
      fields: { category: "constructor", id: "__proto__" },
      kind: "unknown",
      retry: "never",
      exit: 1,
      category: "constructor",
    },
  ])("$from", async ({ fields, kind, retry, needs, exit, category, actions }) => {
    const { result, exitCode, prompts } = await ask(failing(record(fields)), { argv: ["--retries", "0"] });
    expect(result).toMatchObject({
      outcome: "failed",
      stopReason: "end_turn",
      text: "",
      failure: {
        kind,
        retry,
        transient: retry !== "never",
        source: "session_failure",
        severity: "error",
        title: "T1",
        revision: 1,
        ...(category === undefined ? {} : { category }),
        ...(actions === undefined ? {} : { actions }),
      },
    });
    expect(result.failure?.needs).toBe(needs);
    expect({ exitCode, prompts }).toEqual({ exitCode: exit, prompts: 1 });
  });
});

const UNTITLED = [
  { from: "C03 an empty title", category: "limit", title: "", sentence: "The usage allowance is spent" },
  { from: "a blank title", category: "limit", title: " \n\t", sentence: "The usage allowance is spent" },
  {
    from: "escapes alone",
    category: "request",
    title: "\u001B[31m\u001B[0m",
    sentence: "The service rejected the request",
  },
  { from: "an empty title of a login", category: "access", title: "", sentence: "The backend is not signed in" },
].map((row) => ({ ...row, turn: [end("end_turn", air(record({ category: row.category, title: row.title })))] }));

describe("a record without words", () => {
  let played: (row: { readonly from: string }) => Played;
  beforeAll(async () => {
    played = await playEach(UNTITLED);
  });

  test.each(UNTITLED)("$from shows the fixed sentence of its kind", (row) => {
    expect(failureOf(played(row).outcome)?.title).toBe(row.sentence);
  });
});

const unreadable: readonly { readonly from: string; readonly meta: Json }[] = [
  { from: "C03 version 2", meta: air(record({ title: "T-secret" }), 2) },
  { from: "C03 revision 0", meta: air(record({ title: "T-secret", revision: 0 })) },
  {
    from: "C03 no actions",
    meta: air({ id: "u1:error", revision: 1, category: "limit", severity: "error", title: "T-secret" }),
  },
  { from: "version 1.5", meta: air(record({ title: "T-secret" }), 1.5) },
  { from: "version 0", meta: air(record({ title: "T-secret" }), 0) },
  {
    from: "a version that is a word",
    meta: { jetbrains: { air: { version: "1", sessionFailure: record({ title: "T-secret" }) } } },
  },
  { from: "no version", meta: { jetbrains: { air: { sessionFailure: record({ title: "T-secret" }) } } } },
  { from: "a negative revision", meta: air(record({ title: "T-secret", revision: -1 })) },
  { from: "a revision that is a word", meta: air(record({ title: "T-secret", revision: "1" })) },
  { from: "actions that are a word", meta: air(record({ title: "T-secret", actions: "retry" })) },
  { from: "a title that is null", meta: air(record({ title: null })) },
  { from: "an empty id", meta: air(record({ title: "T-secret", id: "" })) },
  { from: "an empty category", meta: air(record({ title: "T-secret", category: "" })) },
  { from: "details that are a number", meta: air(record({ title: "T-secret", details: 5 })) },
  { from: "a text instead of a record", meta: air("T-secret") },
  { from: "a list instead of a record", meta: air(["T-secret"]) },
];

describe("a record that cannot be read is treated as absent, and said", () => {
  const rows = unreadable.map((row) => ({ ...row, turn: [end("end_turn", row.meta)] }));
  let played: (row: { readonly from: string }) => Played;
  beforeAll(async () => {
    played = await playEach(rows, { prompt: { retries: 5 } });
  });

  test.each(rows)("$from: empty, not tried again, nothing of it is shown", (row) => {
    const { outcome, events } = played(row);
    expect(outcome).toMatchObject({ kind: "empty", failure: null, attempts: 1 });
    expect(outcome.warnings.map(({ title, severity }) => ({ title, severity }))).toEqual([
      { title: UNREADABLE, severity: "warning" },
    ]);
    expect(JSON.stringify([outcome, events])).not.toContain("T-secret");
  });

  test.concurrent.each(unreadable.slice(0, 3))("$from: exit 11", async ({ meta }) => {
    const { result, exitCode, prompts, printed } = await ask(turns([end("end_turn", meta)]), {
      argv: ["--retries", "5"],
    });
    expect(result).toMatchObject({ outcome: "empty", failure: null, warnings: [{ title: UNREADABLE }] });
    expect({ exitCode, prompts }).toEqual({ exitCode: 11, prompts: 1 });
    expect(printed).not.toContain("T-secret");
  });

  test.concurrent.each(unreadable.slice(0, 3))("$from, with output: completed, exit 0", async ({ meta }) => {
    const { result, exitCode } = await ask(turns([chunk("done"), end("end_turn", meta)]));
    expect(result).toMatchObject({ outcome: "completed", text: "done", warnings: [{ title: UNREADABLE }] });
    expect(result.warnings).toHaveLength(1);
    expect(exitCode).toBe(0);
  });
});

describe("no record at all is an ordinary empty turn", () => {
  test.concurrent.each<{ from: string; meta: Json }>([
    { from: "null (a patch that clears)", meta: air(null) },
    { from: "a list for the namespace", meta: { jetbrains: { air: [record()] } } },
    { from: "the record outside its namespace", meta: { sessionFailure: record() } },
    { from: "a warning", meta: air(record({ severity: "warning" })) },
  ])("$from", async ({ meta }) => {
    const { result, exitCode, prompts } = await ask(turns([end("end_turn", meta)]));
    expect(result).toMatchObject({ outcome: "empty", failure: null });
    expect({ exitCode, prompts }).toEqual({ exitCode: 11, prompts: 2 });
    expect(result.warnings.map(({ title }) => title)).not.toContain(UNREADABLE);
  });
});

test.concurrent.each(["codex", "claude", "kiro", "generic"] as const)(
  "%s: the title is shown once and verbatim",
  async (profile) => {
    const scenario = failing(record({ category: "limit", title: "You are out of credits" }));
    const { exitCode, stdout, stderr } = await askAsText(scenario, { profile });
    expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: "" });
    expect(countOf("You are out of credits", stderr)).toBe(1);
    expect(stderr).not.toMatch(/u1:error|session_failure|\[object|undefined/);
  },
);
