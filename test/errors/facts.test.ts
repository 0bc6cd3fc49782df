import { expect, test } from "vitest";
import { readRetryAfterMs } from "../../src/errors/facts.ts";

const NOW = Date.parse("2026-10-21T07:28:00Z");

test.each<{ from: string; key?: string; text: string; expected: number | undefined }>([
  { from: "a field in seconds", key: "retry_after", text: "30", expected: 30_000 },
  { from: "a field in milliseconds", key: "retryAfterMs", text: "30", expected: 30 },
  { from: "a header in seconds", text: "429 Too Many Requests, retry-after: 12", expected: 12_000 },
  { from: "a header as HTTP date", text: "retry-after: Wed, 21 Oct 2026 07:29:00 GMT", expected: 60_000 },
  { from: "a field as HTTP date", key: "Retry-After", text: "Wed, 21 Oct 2026 07:29:00 GMT", expected: 60_000 },
  {
    from: "a header in ISO form, whose year is no number of seconds",
    text: "retry-after: 2026-10-21T07:30:00Z",
    expected: 120_000,
  },
  {
    from: "a field in ISO form with an offset",
    key: "retry_after",
    text: "2026-10-21T09:29:00+02:00",
    expected: 60_000,
  },
  { from: "a moment that has passed: at once", key: "retry_after", text: "2020-01-01T00:00:00Z", expected: 0 },
  { from: "a date that is none", key: "retry_after", text: "2026-99-21T07:30:00Z", expected: undefined },
  { from: "words", key: "retry_after", text: "soon", expected: undefined },
  { from: "a date that is no wait", text: "since Wed, 21 Oct 2026 07:29:00 GMT", expected: undefined },
])("$from", ({ key = "", text, expected }) => {
  expect(readRetryAfterMs(key, text, NOW)).toBe(expected);
});
