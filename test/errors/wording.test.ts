import { describe, expect, test } from "vitest";
import { adviceFor, sentenceFor, titleFor } from "../../src/errors/wording.ts";
import { ALL_KINDS, failureOf } from "./failures.ts";

describe.each(ALL_KINDS)("%s", (kind) => {
  test("has a fixed sentence: upper-case start, no full stop", () => {
    expect(titleFor(kind)).toMatch(/^[A-Z][^.]{10,}[^.!?]$/);
  });

  test("names no command but /compact, no surface and no product", () => {
    const text = `${titleFor(kind)} ${adviceFor(failureOf(kind)) ?? ""}`;
    expect(text.replaceAll("/compact", "")).not.toMatch(/(?:^|\s)[/!]\w/);
    expect(text).not.toMatch(/\b(?:new tab|Telegram|Discord|Slack|dashboard|kiro|codex|claude|AWS|--\w)/i);
  });
});

test("only kinds that pass by themselves begin with waiting or trying again", () => {
  const patient = ALL_KINDS.filter((kind) => /^(?:Wait a little|Try again)/.test(adviceFor(failureOf(kind)) ?? ""));
  expect(patient).toEqual(["rate_limit", "model_capacity", "overloaded", "service_error"]);
});

test("only the two kinds that a smaller history repairs name /compact", () => {
  expect(ALL_KINDS.filter((kind) => adviceFor(failureOf(kind))?.includes("/compact"))).toEqual([
    "context_overflow",
    "malformed_request",
  ]);
});

test("the malformed sentence offers a repair and a new conversation, and no retry (case C07)", () => {
  expect(titleFor("malformed_request")).toBe("The service rejected the request as malformed");
  expect(adviceFor(failureOf("malformed_request"))).toBe(
    "The history of this conversation is broken, so the same request fails again. Repair it with /compact, or start a new conversation.",
  );
});

test("the busy text names no command and not the marker that classifies it", () => {
  const text = `${titleFor("busy")} ${adviceFor(failureOf("busy"))}`;
  expect(text).not.toMatch(/[/!]\w|already in progress/);
});

test("nothing to do is said as nothing", () => {
  expect(adviceFor(failureOf("unknown"))).toBeUndefined();
});

test.each([
  ["the provider's words, verbatim", "You've hit your limit · resets 8pm", "You've hit your limit · resets 8pm"],
  ["no words: the fixed sentence", "", "The usage allowance is spent"],
  ["blank words: the fixed sentence", "  ", "The usage allowance is spent"],
  ["a JSON body: its message", '{"error":{"message":"Bad value.","code":"x"}}', "Bad value."],
  ["a JSON body without words stays", '{"a":1}', '{"a":1}'],
])("what happened: %s", (_name, title, sentence) => {
  expect(sentenceFor(failureOf("usage_limit", { title }))).toBe(sentence);
});

test.each([
  ["8pm (Europe/Berlin)", "The limit resets at 8pm (Europe/Berlin)."],
  ["in 13872 seconds", "The limit resets in 13872 seconds."],
])("the reset time %s stands in prose, once", (resetAt, words) => {
  expect(adviceFor(failureOf("usage_limit", { resetAt }))).toMatch(
    new RegExp(`^${words.replace(/[().]/g, "\\$&")} Wait `),
  );
  expect(adviceFor(failureOf("usage_limit", { resetAt, title: `Gone, resets ${resetAt}` }))).not.toContain(resetAt);
});

test("kiro's throttling may be a spent plan", () => {
  expect(adviceFor(failureOf("rate_limit"), { profile: "kiro" })).toContain("credits may be spent");
  expect(adviceFor(failureOf("rate_limit"), { profile: "codex" })).not.toContain("credits");
});

test("the sign-in sentence is the backend's own", () => {
  expect(adviceFor(failureOf("auth"), { loginHint: "Run `codex login`." })).toBe("Run `codex login`.");
});

test("a model that the account lacks: up to eight that it has", () => {
  const models = Array.from({ length: 10 }, (_, index) => `m${index}`);
  expect(adviceFor(failureOf("model_unavailable"), { usableModels: models })).toBe(
    "Choose another model for this session or as the default. Trying again with the same model does not help. " +
      "Models of this account: m0, m1, m2, m3, m4, m5, m6, m7 and 2 more.",
  );
  expect(adviceFor(failureOf("model_unavailable"))).not.toContain("Models of");
  expect(adviceFor(failureOf("model_unavailable"))).not.toContain("auto");
});
