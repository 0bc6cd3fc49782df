import { describe, expect, test } from "vitest";
import { compactExcerpt, oneLine } from "../../../src/failures/pages/excerpt.ts";

describe("a tool's result JSON is shown as its text (seed document 004)", () => {
  test.each<{ from: string; summary: string; excerpt: string }>([
    { from: "plain text", summary: "npm test failed", excerpt: "npm test failed" },
    {
      from: "an MCP result",
      summary: '{"content":[{"type":"text","text":"2 tests failed"}],"isError":true}',
      excerpt: "2 tests failed",
    },
    {
      from: "ACP content",
      summary: '[{"type":"content","content":{"type":"text","text":"no such file"}}]',
      excerpt: "no such file",
    },
    {
      from: "codex's rawOutput, which says the same thing twice",
      summary: '{"exit_code":1,"stdout":"boom","formatted_output":"boom"}',
      excerpt: "boom",
    },
    {
      from: "Kiro's rawOutput",
      summary: '{"items":[{"Json":{"exit_status":"exit status: 2","stdout":"","stderr":"ls: cannot access"}}]}',
      excerpt: "ls: cannot access",
    },
    {
      from: "an error object",
      summary: '{"error":{"code":404,"message":"Not found"}}',
      excerpt: "Not found",
    },
    {
      from: "escapes of every kind",
      summary: String.raw`{"text":"a \"b\"\n\tc\\d \u00e9 \ud83d\ude00 \/x"}`,
      excerpt: 'a "b" c\\d é 😀 /x',
    },
    {
      from: "a wrapper that was cut in the middle of its string",
      summary: '{"content":[{"type":"text","text":"Error: the server an…',
      excerpt: "Error: the server an…",
    },
    { from: "cut in the middle of an escape", summary: String.raw`{"text":"one\ntwo\u00`, excerpt: "one two" },
    { from: "cut behind a backslash", summary: '{"text":"one two\\', excerpt: "one two" },
    { from: "cut behind a backslash, with an ellipsis", summary: '{"text":"one two\\…', excerpt: "one two…" },
    {
      from: "the name of a text inside of a text",
      summary: String.raw`{"text":"he sent \"text\": \"x\" to me"}`,
      excerpt: 'he sent "text": "x" to me',
    },
    { from: "JSON without any text", summary: '{"code":500}', excerpt: '{"code":500}' },
    {
      from: "JSON in the middle of a sentence",
      summary: 'Expected {"text":"a"} to equal {"text":"b"}',
      excerpt: 'Expected {"text":"a"} to equal {"text":"b"}',
    },
    { from: "a Windows path", summary: "C:\\new\\table is missing", excerpt: "C:\\new\\table is missing" },
  ])("$from", ({ summary, excerpt }) => {
    expect(compactExcerpt(summary)).toBe(excerpt);
  });

  test("a secret that an escape kept from the scrubber is hidden", () => {
    const summary = String.raw`{"text":"use sk\u002dant\u002dapi03\u002dAAAABBBBCCCCDDDD now"}`;
    expect(compactExcerpt(summary)).toBe("use [redacted] now");
  });
});

describe("one line, whatever it holds", () => {
  test.each<{ from: string; summary: string; excerpt: string }>([
    { from: "line ends of every kind", summary: "a\nb\r\nc\u2028d\u2029e\u000bf", excerpt: "a b c d ef" },
    { from: "colours and a title", summary: "\u001b[31mred\u001b[0m \u001b]0;title\u0007x", excerpt: "red x" },
    { from: "escaped colours in JSON", summary: String.raw`{"text":"\u001b[31mred\u001b[0m"}`, excerpt: "red" },
    { from: "direction marks", summary: "a\u202eb\u2066c\u200fd", excerpt: "abcd" },
    { from: "half a code point", summary: "a\ud83d b", excerpt: "a b" },
    { from: "an escaped half of a code point", summary: String.raw`{"text":"a\ud83d b"}`, excerpt: "a b" },
    { from: "blanks in a row", summary: "  a \t  b  ", excerpt: "a b" },
  ])("$from", ({ summary, excerpt }) => {
    expect(compactExcerpt(summary)).toBe(excerpt);
  });

  test("a raw line keeps every blank, and no control character", () => {
    expect(oneLine("a  b\n\u001b[1mc\u001b[0m")).toBe("a  b c");
  });
});

describe("at most 120 bytes of UTF-8", () => {
  test.each<{ from: string; summary: string; excerpt: string }>([
    { from: "120 letters", summary: "x".repeat(120), excerpt: "x".repeat(120) },
    { from: "121 letters", summary: "x".repeat(121), excerpt: `${"x".repeat(117)}…` },
    { from: "30 faces of four bytes", summary: "😀".repeat(30), excerpt: "😀".repeat(30) },
    { from: "31 faces", summary: "😀".repeat(31), excerpt: `${"😀".repeat(29)}…` },
    { from: "a cut at a blank", summary: `${"x".repeat(116)} ${"y".repeat(20)}`, excerpt: `${"x".repeat(116)}…` },
  ])("$from", ({ summary, excerpt }) => {
    expect(compactExcerpt(summary)).toBe(excerpt);
  });
});
