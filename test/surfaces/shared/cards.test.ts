import { expect, test } from "vitest";
import type { TurnOutcome } from "../../../src/acp/types.ts";
import type { Failure } from "../../../src/errors/failure.ts";
import { renderCard } from "../../../src/surfaces/shared/card.ts";
import { failureCard } from "../../../src/surfaces/shared/failure-card.ts";
import { refusalCard } from "../../../src/surfaces/shared/refusal-card.ts";
import { partialNote, reportOf } from "../../../src/surfaces/shared/report.ts";
import { outcomeWithoutTurn, resultOf } from "../../../src/surfaces/shared/result.ts";

const failure: Failure = {
  id: "t1:error",
  revision: 1,
  kind: "usage_limit",
  source: "session_failure",
  category: "limit",
  severity: "error",
  title: "You've hit your usage limit",
  actions: [],
  retry: "never",
  transient: false,
  needs: "quota",
  replaySafety: "no_output",
  rule: "test",
};
const base = {
  text: "",
  partial: false,
  sessionId: "s1",
  stopReason: "end_turn",
  warnings: [],
  attempts: 1,
  usage: null,
  durationMs: 7,
  denied: [],
} as const;

test("a failure card has the provider's sentence, the facts that are there, and what to do", () => {
  const card = failureCard({
    ...failure,
    details: "plan: pro\n\nplan: pro",
    requestId: "req_1",
    resetAt: "8pm (Europe/Berlin)",
  });
  expect(renderCard(card)).toEqual([
    "You've hit your usage limit",
    "  Details: plan: pro\n    plan: pro",
    "  Request: req_1",
    "  The limit resets at 8pm (Europe/Berlin). Wait until the allowance renews, add credits or change the plan, or choose another model.",
  ]);
});

test("a failure card says nothing twice", () => {
  const card = failureCard({
    ...failure,
    title: "Limit (req_1), resets 8pm",
    details: "resets 8pm",
    requestId: "req_1",
    resetAt: "8pm",
  });
  expect(renderCard(card)).toEqual([
    "Limit (req_1), resets 8pm",
    "  Wait until the allowance renews, add credits or change the plan, or choose another model.",
  ]);
});

test("a failure without words of its own gets the fixed sentence of its kind", () => {
  expect(failureCard({ ...failure, title: "" }).lead).toBe("The usage allowance is spent");
});

test("how to sign in comes from the backend, how to start over from the surface", () => {
  const words = { loginHint: "Run: agent login.", newConversation: "Send /new." };
  expect(failureCard({ ...failure, kind: "auth", needs: "login" }, words).advice).toEqual(["Run: agent login."]);
  expect(failureCard({ ...failure, kind: "session_not_found", needs: "new_session" }, words).advice).toEqual([
    "Start a new conversation.",
    "Send /new.",
  ]);
});

test("details from a harness are cleaned and cut", () => {
  const details = `\u001b[31mred\u001b[0m key=sk-ant-api03-${"A".repeat(40)}\n${"line\n".repeat(40)}`;
  const [field] = failureCard({ ...failure, details }).fields;
  expect(field?.value).not.toContain("\u001b");
  expect(field?.value).not.toContain("AAAA");
  expect(field?.value.split("\n")).toHaveLength(13);
});

test.each([
  {
    from: "a bare refusal",
    refusal: { category: "", explanation: "", recommendedModel: "" },
    shown: "",
    lines: ["The model refused this request.", "  Say it differently, or start over in a new conversation."],
  },
  {
    from: "kiro's filter (case C02)",
    refusal: { category: "CYBER", explanation: "E", recommendedModel: "m2" },
    shown: "",
    lines: [
      "The model refused this request.",
      "  Filter: cyber",
      "  Explanation: E",
      "  Suggested model: m2",
      "  Try it with the model m2.",
    ],
  },
  {
    from: "an explanation that was streamed",
    refusal: { category: "", explanation: "I cannot  help\nwith that.", recommendedModel: "" },
    shown: "Well. I cannot help with that. Bye.",
    lines: ["The model refused this request.", "  Say it differently, or start over in a new conversation."],
  },
])("$from", ({ refusal, shown, lines }) => {
  expect(renderCard(refusalCard(refusal, shown))).toEqual(lines);
});

test("a secret in an explanation is hidden before the explanation is cut", () => {
  const secret = `sk-ant-api03-${"B".repeat(60)}`;
  const [field] = refusalCard({
    category: "",
    explanation: `${"x".repeat(580)} ${secret}`,
    recommendedModel: "",
  }).fields;
  expect(field?.value).not.toContain("BBB");
});

test.each<{ from: string; outcome: TurnOutcome; lead: string | undefined; tone?: string }>([
  { from: "completed", outcome: { ...base, kind: "completed" }, lead: undefined },
  {
    from: "failed",
    outcome: { ...base, kind: "failed", failure },
    lead: "You've hit your usage limit",
    tone: "failure",
  },
  {
    from: "truncated by a stop reason",
    outcome: { ...base, kind: "truncated", stopReason: "max_tokens", failure: null },
    lead: "The answer was cut off (max_tokens).",
    tone: "note",
  },
  {
    from: "truncated by a record",
    outcome: { ...base, kind: "truncated", failure: { ...failure, kind: "output_limit", title: "Too long" } },
    lead: "Too long",
    tone: "note",
  },
  {
    from: "empty",
    outcome: { ...base, kind: "empty", failure: null },
    lead: "The agent ended its turn without an answer.",
    tone: "note",
  },
  { from: "cancelled here", outcome: { ...base, kind: "cancelled", by: "caller" }, lead: "Cancelled.", tone: "note" },
  {
    from: "cancelled there",
    outcome: { ...base, kind: "cancelled", by: "harness" },
    lead: "The agent cancelled the turn by itself.",
    tone: "note",
  },
])("$from is told as $lead", ({ outcome, lead, tone }) => {
  expect(reportOf(outcome)?.lead).toBe(lead);
  expect(reportOf(outcome)?.tone).toBe(tone);
});

test("an empty or dead agent's last words on stderr are shown, scrubbed", () => {
  const stderr = `panic: boom\nkey sk-ant-api03-${"C".repeat(60)}`;
  const lines = renderCard(reportOf({ ...base, kind: "empty", failure: null, stderr })!);
  expect(lines[1]).toContain("Its last words on stderr: panic: boom");
  expect(lines.join("\n")).not.toContain("CCC");
});

test("last words that the sentence already holds are not repeated", () => {
  const died = { ...failure, title: "Demo exited with code 3: boom" };
  expect(reportOf({ ...base, kind: "failed", failure: died, stderr: "boom\n" })?.fields).toEqual([]);
  expect(reportOf({ ...base, kind: "failed", failure: died })?.fields).toEqual([]);
});

test("partial text is said to be partial", () => {
  expect(partialNote({ ...base, kind: "failed", failure, text: "half", partial: true })).toBe(
    "The answer above is partial.",
  );
  const refusal = { category: "", explanation: "", recommendedModel: "" };
  expect(partialNote({ ...base, kind: "refused", refusal, text: "No.", partial: true })).toBeUndefined();
  expect(partialNote({ ...base, kind: "completed", text: "whole" })).toBeUndefined();
});

test("the result line has every field, in the words of the contract", () => {
  expect(
    resultOf({ ...base, kind: "failed", failure, text: "half", partial: true }, { backend: "codex", exitCode: 8 }),
  ).toEqual({
    type: "result",
    outcome: "failed",
    backend: "codex",
    sessionId: "s1",
    text: "half",
    partial: true,
    stopReason: "end_turn",
    exitCode: 8,
    failure,
    refusal: null,
    warnings: [],
    attempts: 1,
    usage: null,
    changes: null,
    durationMs: 7,
  });
});

test.each<{ outcome: TurnOutcome; failure: unknown; refusal: unknown }>([
  { outcome: { ...base, kind: "completed" }, failure: null, refusal: null },
  { outcome: { ...base, kind: "empty", failure: null }, failure: null, refusal: null },
  { outcome: { ...base, kind: "truncated", failure }, failure, refusal: null },
  {
    outcome: { ...base, kind: "refused", refusal: { category: "a", explanation: "b", recommendedModel: "c" } },
    failure: null,
    refusal: { category: "a", explanation: "b", recommendedModel: "c" },
  },
  { outcome: outcomeWithoutTurn(failure, 3), failure, refusal: null },
  { outcome: outcomeWithoutTurn("cancelled", 3), failure: null, refusal: null },
])("the result of $outcome.kind carries what explains it", ({ outcome, failure, refusal }) => {
  expect(resultOf(outcome, { backend: "x", exitCode: 0 })).toMatchObject({ outcome: outcome.kind, failure, refusal });
});
