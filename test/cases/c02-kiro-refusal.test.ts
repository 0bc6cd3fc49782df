import { describe, expect, test } from "vitest";
import { inOneWrite, play, start } from "../acp/drive.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import { call, chunk, end, err, processesIn, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText, countOf } from "./ask-case.ts";

const KEY = "sk-ant-AAAABBBBCCCCDDDD";
const CANNED = "The selected model cannot continue this conversation.";
const REFUSAL = { category: "CYBER", explanation: `E with key ${KEY}`, recommendedModel: "m2" };
const FILTERED = { sessionId: "$S", stopReason: "CONTENT_FILTERED", refusal: REFUSAL };
const NOTHING_GUESSED = { category: "", explanation: "", recommendedModel: "" };

const metadata = (params: Json = FILTERED): Action => call("_kiro.dev/metadata", params);
const bareError = err(-32603, "Internal error");

describe("the three ends of a filtered turn", () => {
  test.concurrent.each<{ from: string; turn: readonly Action[]; text: string }>([
    { from: "C02 a", turn: [metadata(), chunk(CANNED), end()], text: CANNED },
    { from: "C02 b", turn: [metadata(), chunk(CANNED), bareError], text: CANNED },
    { from: "C02 c", turn: [metadata(), end()], text: "" },
    { from: "an error and no text", turn: [metadata(), bareError], text: "" },
    { from: "metadata behind the text", turn: [chunk(CANNED), metadata(), end()], text: CANNED },
    {
      from: "ordinary metadata behind the filtered one",
      turn: [metadata(), metadata({ sessionId: "$S", contextUsagePercentage: 40 }), end()],
      text: "",
    },
    { from: "a stop reason of its own too", turn: [metadata(), end("refusal")], text: "" },
  ])("$from is refused, sent once, exit 7, and the key is hidden", async ({ turn, text }) => {
    const { result, exitCode, prompts, printed } = await ask(turns(turn), {
      profile: "kiro",
      argv: ["--retries", "5"],
    });
    expect(result).toMatchObject({
      outcome: "refused",
      refusal: { category: "CYBER", explanation: "E with key [redacted]", recommendedModel: "m2" },
      text,
      failure: null,
      warnings: [],
    });
    expect({ exitCode, prompts }).toEqual({ exitCode: 7, prompts: 1 });
    expect(printed).not.toContain(KEY);
  });
});

describe("either signal alone, and fields as they come", () => {
  test.concurrent.each<{ from: string; params: Readonly<Record<string, Json>>; refusal: object }>([
    { from: "the stop reason alone", params: { stopReason: "CONTENT_FILTERED" }, refusal: NOTHING_GUESSED },
    {
      from: "the object alone",
      params: { refusal: { category: "BIO" } },
      refusal: { ...NOTHING_GUESSED, category: "BIO" },
    },
    { from: "an empty object", params: { refusal: {} }, refusal: NOTHING_GUESSED },
    {
      from: "fields of other types",
      params: { stopReason: "CONTENT_FILTERED", refusal: { category: 7, explanation: null, recommendedModel: ["m"] } },
      refusal: NOTHING_GUESSED,
    },
    {
      from: "an object that is none",
      params: { stopReason: "CONTENT_FILTERED", refusal: "no" },
      refusal: NOTHING_GUESSED,
    },
    {
      from: "escapes and newlines in the category",
      params: { refusal: { category: "CY\u001B[31mBER\n\u0007!", explanation: "a\u202Eb" } },
      refusal: { category: "CYBER !", explanation: "ab", recommendedModel: "" },
    },
  ])("$from", async ({ params, refusal }) => {
    const { result, exitCode } = await ask(turns([metadata({ sessionId: "$S", ...params }), end()]), {
      profile: "kiro",
    });
    expect(result).toMatchObject({ outcome: "refused", refusal });
    expect(exitCode).toBe(7);
  });
});

describe("what is no refusal", () => {
  test.concurrent.each<{
    from: string;
    turn: readonly Action[];
    profile?: "kiro" | "generic" | "claude";
    outcome: string;
    exit: number;
    kind?: string;
  }>([
    {
      from: "metadata with a usual stop reason and a null",
      turn: [metadata({ sessionId: "$S", stopReason: "END_TURN", refusal: null }), chunk("fine"), end()],
      outcome: "completed",
      exit: 0,
    },
    {
      from: "metadata of another session",
      turn: [metadata({ ...FILTERED, sessionId: "other" }), chunk("fine"), end()],
      outcome: "completed",
      exit: 0,
    },
    {
      from: "the same frame from an agent that is not kiro",
      turn: [metadata(), chunk("fine"), end()],
      profile: "generic",
      outcome: "completed",
      exit: 0,
    },
    {
      from: "the same frame and an error from claude",
      turn: [metadata(), bareError],
      profile: "claude",
      outcome: "failed",
      exit: 1,
      kind: "unknown",
    },
    {
      from: "an error that says why (kiro wire notes, section 12)",
      turn: [metadata(), err(-32603, "Internal error", "The monthly usage limit has been reached (request_id: ab12)")],
      outcome: "failed",
      exit: 8,
      kind: "usage_limit",
    },
    {
      from: "the canned words alone: prose of the model",
      turn: [chunk(CANNED), end()],
      outcome: "completed",
      exit: 0,
    },
  ])("$from", async ({ turn, profile = "kiro", outcome, exit, kind }) => {
    const { result, exitCode } = await ask(turns(turn), { profile });
    expect({ outcome: result.outcome, exitCode, kind: result.failure?.kind, refusal: result.refusal }).toEqual({
      outcome,
      exitCode: exit,
      kind,
      refusal: null,
    });
  });
});

test.concurrent.each([
  { from: "C02 a", turn: [metadata(), chunk(CANNED), end()] },
  { from: "C02 b", turn: [metadata(), chunk(CANNED), bareError] },
])("$from: one card under the text", async ({ turn }) => {
  const { exitCode, stdout, stderr } = await askAsText(turns(turn), { profile: "kiro" });
  expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: `${CANNED}\n` });
  expect(countOf("The model refused", stderr)).toBe(1);
  expect(countOf("E with key [redacted]", stderr)).toBe(1);
  expect(stderr).toContain("m2");
  expect(stderr).not.toContain(CANNED);
  expect(stderr).not.toContain(KEY);
});

test.concurrent("an explanation that was streamed already is not repeated", async () => {
  const turn = [
    metadata({ sessionId: "$S", refusal: { category: "CYBER", explanation: CANNED, recommendedModel: "m2" } }),
    chunk(CANNED),
    end(),
  ];
  const { stdout, stderr } = await askAsText(turns(turn), { profile: "kiro" });
  expect(countOf(CANNED, stdout + stderr)).toBe(1);
});

test.concurrent.each([
  { from: "C02 b", first: [metadata(), chunk(CANNED), bareError] },
  { from: "metadata that comes after its turn", first: [chunk("ok"), inOneWrite(end(), metadata())] },
])("$from: the worker lives on and the next turn is an ordinary one", async ({ first }) => {
  await using agent = await start(turns(first, [chunk("fine"), end()], [bareError]), { profile: "kiro" });
  const session = await agent.open();
  await play(session);
  const next = await play(session);
  const last = await play(session, { retries: 0 });
  expect(next.outcome).toMatchObject({ kind: "completed", text: "fine" });
  expect(last.outcome).toMatchObject({ kind: "failed", failure: { kind: "unknown" } });
  expect(processesIn(agent.log)).toEqual([agent.runtime.pid]);
});
