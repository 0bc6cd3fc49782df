import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { classifyError, classifyStderr } from "../../src/errors/classify.ts";
import { PATTERNS, namedModel, statusInText } from "../../src/errors/patterns.ts";
import { readRawError } from "../../src/errors/raw.ts";
import { cleanBlock, redact } from "../../src/errors/redact.ts";
import { cpuMs } from "../cpu-time.ts";

const HOSTILE_CHARS = 100_000;
/** Repeated pieces that feed the beginnings of patterns, so that a quadratic one would show. */
const HOSTILE = [
  "a",
  " ",
  "\n",
  "_",
  "a.",
  "a-",
  "model ",
  "model 'x",
  "context window ",
  "exceeded your ",
  "exceeded your a b c ",
  "tool_use ",
  "input_schema ",
  "session ",
  "token ",
  "spawn /x",
  "registration failed 42",
  "resets ",
  "A_",
  "A_B_",
  "ErrorError",
  "{",
  '{"a":',
  "HTTP/1.1 ",
  "status code ",
  "sk-ant-",
  "eyJ-",
  "eyJaaaaaaaa.",
  "-----BEGIN A-----",
  "https://",
  "https://a:",
  "password=",
  'password="',
  '\\"token\\":',
  "Authorization: Bearer ",
  "/home/",
  "C:\\Users\\",
  "\u001B[",
  "\u001B]",
  "?token=",
  '"name":"token',
].map((piece) => ({ piece, text: piece.repeat(Math.ceil(HOSTILE_CHARS / piece.length)).slice(0, HOSTILE_CHARS) }));

/** Half the text must not cost less than a quarter of the time by more than noise; a quadratic pattern takes seconds here. */
const BUDGET_MS = 400;

function elapsedMs(run: () => void): number {
  const startedAt = cpuMs();
  run();
  return cpuMs() - startedAt;
}

describe.each(HOSTILE)("100 KB of $piece", ({ text }) => {
  test("every pattern is linear, without the cap of the classifier", () => {
    const slow = PATTERNS.filter(({ pattern }) => elapsedMs(() => pattern.test(text)) > BUDGET_MS).map(({ id }) => id);
    expect(slow).toEqual([]);
    expect(elapsedMs(() => statusInText(text))).toBeLessThan(BUDGET_MS);
  });

  test("classifying and redacting it stays quick", () => {
    expect(
      elapsedMs(() => classifyError(readRawError({ code: -32603, message: text, data: { details: text } }))),
    ).toBeLessThan(BUDGET_MS);
    expect(elapsedMs(() => classifyStderr(text))).toBeLessThan(BUDGET_MS);
    expect(elapsedMs(() => redact(text))).toBeLessThan(BUDGET_MS * 3);
    expect(elapsedMs(() => cleanBlock(text, 4000))).toBeLessThan(BUDGET_MS * 3);
  });
});

test("rows are named once and say where they come from", () => {
  expect(new Set(PATTERNS.map(({ id }) => id)).size).toBe(PATTERNS.length);
  for (const { id, source, pattern } of PATTERNS) {
    expect(id).toMatch(/^[a-z][a-z-]+$/);
    expect(source).not.toBe("");
    // A sticky or global pattern would remember where it stopped.
    expect(pattern.flags).not.toMatch(/[gy]/);
    expect(`${id}: ${pattern.source}`).not.toMatch(/\.\*|\.\+|\]\*|\]\+|\)\*|\)\+|\\w\+|\\S\+/);
  }
});

test("only the tables name kinds beside regular expressions", () => {
  const classify = readFileSync("src/errors/classify.ts", "utf8");
  expect(classify).not.toMatch(/\.test\((?!row\.field)/);
  const others = globSync("src/errors/*.ts").filter((file) =>
    /kind: "[a-z_]+",\s+pattern:/.test(readFileSync(file, "utf8")),
  );
  expect(others).toEqual(["src/errors/patterns.ts"]);
});

test.each([
  ["The model 'model-a' is not available. Please", "model-a"],
  ["Invalid model ID: eu.vendor/model-a:1", "eu.vendor/model-a:1"],
  ["Model is not available", undefined],
])("the model of «%s»", (text, model) => {
  expect(namedModel(text)).toBe(model);
});
