import { describe, expect, test } from "vitest";
import type { Decision } from "../../src/acp/outcome.ts";
import { BACKOFF_MS, decideRetry, isSafeToResend, withRetries } from "../../src/acp/retry.ts";
import type { RetryOptions, RetryStep } from "../../src/acp/retry.ts";
import type { Failure } from "../../src/errors/failure.ts";
import { COMPLETED, EMPTY, failed, failure } from "./failures.ts";
import { rejectionOf } from "./drive.ts";

const OPTIONS: RetryOptions = {
  retries: 3,
  backoffMs: 1,
  signal: new AbortController().signal,
  retriesEmptyTurn: true,
  leftMs: () => 60_000,
  onRetry: () => {},
};

/** Plays the decisions in order, the last one for ever. */
async function run(decisions: readonly Decision[], options: Partial<RetryOptions> = {}) {
  const attempts: number[] = [];
  const steps: RetryStep[] = [];
  const decision = await withRetries(
    (n) => {
      attempts.push(n);
      return Promise.resolve(decisions[Math.min(n, decisions.length) - 1] ?? COMPLETED);
    },
    { ...OPTIONS, onRetry: (step) => steps.push(step), ...options },
  );
  return { decision, attempts, steps };
}

describe("how often a prompt is handed over", () => {
  test.each<{
    from: string;
    decisions: readonly Decision[];
    options?: Partial<RetryOptions>;
    attempts: number;
    kind: string;
  }>([
    { from: "completed", decisions: [COMPLETED], attempts: 1, kind: "completed" },
    { from: "transient for ever", decisions: [failed()], attempts: 4, kind: "failed" },
    { from: "transient, then an answer", decisions: [failed(), failed(), COMPLETED], attempts: 3, kind: "completed" },
    { from: "not sent", decisions: [failed({ replaySafety: "not_sent" })], attempts: 4, kind: "failed" },
    { from: "retries 0", decisions: [failed()], options: { retries: 0 }, attempts: 1, kind: "failed" },
    { from: "retries 1", decisions: [failed()], options: { retries: 1 }, attempts: 2, kind: "failed" },
    { from: "output was seen", decisions: [failed({ replaySafety: "output_seen" })], attempts: 1, kind: "failed" },
    { from: "a tool was started", decisions: [failed({ replaySafety: "tool_started" })], attempts: 1, kind: "failed" },
    {
      from: "nobody knows what happened",
      decisions: [failed({ replaySafety: "unknown" })],
      attempts: 1,
      kind: "failed",
    },
    { from: "never", decisions: [failed({ retry: "never", transient: false })], attempts: 1, kind: "failed" },
    {
      from: "needs a fresh process: not ours to give",
      decisions: [failed({ retry: "after_respawn" })],
      attempts: 1,
      kind: "failed",
    },
    { from: "transient, then final", decisions: [failed(), failed({ retry: "never" })], attempts: 2, kind: "failed" },
    { from: "empty: one more try", decisions: [EMPTY], attempts: 2, kind: "empty" },
    { from: "empty, then an answer", decisions: [EMPTY, COMPLETED], attempts: 2, kind: "completed" },
    { from: "empty with retries 0", decisions: [EMPTY], options: { retries: 0 }, attempts: 1, kind: "empty" },
    {
      from: "empty where the backend repeats it (codex)",
      decisions: [EMPTY],
      options: { retriesEmptyTurn: false },
      attempts: 1,
      kind: "empty",
    },
    {
      from: "empty beside a record that could not be read",
      decisions: [{ kind: "empty", failure: null, unreadable: true, warnings: [] }],
      attempts: 1,
      kind: "empty",
    },
    {
      from: "empty for a known reason",
      decisions: [{ kind: "empty", failure: failure(), unreadable: false, warnings: [] }],
      attempts: 1,
      kind: "empty",
    },
    {
      from: "a second empty turn after a transient failure",
      decisions: [EMPTY, failed(), EMPTY],
      attempts: 3,
      kind: "empty",
    },
    {
      from: "refused",
      decisions: [{ kind: "refused", refusal: { category: "", explanation: "", recommendedModel: "" }, warnings: [] }],
      options: { retries: 9 },
      attempts: 1,
      kind: "refused",
    },
    {
      from: "truncated",
      decisions: [{ kind: "truncated", failure: null, unreadable: false, warnings: [] }],
      attempts: 1,
      kind: "truncated",
    },
    {
      from: "cancelled by the harness",
      decisions: [{ kind: "cancelled", by: "harness", warnings: [] }],
      attempts: 1,
      kind: "cancelled",
    },
  ])("$from: $attempts", async ({ decisions, options = {}, attempts, kind }) => {
    const ran = await run(decisions, options);
    expect(ran.decision.kind).toBe(kind);
    expect(ran.attempts).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
    expect(ran.steps).toHaveLength(attempts - 1);
  });
});

test("each try is announced with its number, its wait and the reason", async () => {
  const { steps } = await run([failed({ title: "Too busy", retryAfterMs: 3 }), EMPTY, COMPLETED]);
  expect(steps).toEqual([
    { attempt: 2, of: 4, delayMs: 3, reason: "Too busy" },
    { attempt: 3, of: 4, delayMs: 0, reason: "The agent ended its turn without an answer" },
  ]);
});

describe("the wait", () => {
  test.each([
    { from: "the first, 2 s", attempt: 1, upTo: 2000 },
    { from: "the second, 4 s", attempt: 2, upTo: 4000 },
    { from: "the third, 8 s", attempt: 3, upTo: 8000 },
  ])("$from: full jitter below", ({ attempt, upTo }) => {
    const waits = Array.from({ length: 200 }, () =>
      decideRetry(failed(), attempt, 0, { ...OPTIONS, backoffMs: BACKOFF_MS }),
    );
    expect(waits.filter((wait) => wait === undefined || wait < 0 || wait >= upTo)).toEqual([]);
    expect(Math.max(...waits.map((wait) => wait ?? 0))).toBeGreaterThan(upTo / 2);
    expect(Math.min(...waits.map((wait) => wait ?? 0))).toBeLessThan(upTo / 2);
  });

  test.each<{ from: string; fields: Partial<Failure>; leftMs?: number; expected: number | undefined }>([
    { from: "the provider's own", fields: { retryAfterMs: 2000 }, expected: 2000 },
    { from: "the provider says at once", fields: { retryAfterMs: 0 }, expected: 0 },
    {
      from: "the provider's own, as long as is taken",
      fields: { retryAfterMs: 120_000 },
      leftMs: 200_000,
      expected: 120_000,
    },
    {
      from: "the provider's own, longer than that",
      fields: { retryAfterMs: 120_001 },
      leftMs: 200_000,
      expected: undefined,
    },
    { from: "longer than what is left of the turn", fields: { retryAfterMs: 2000 }, leftMs: 1999, expected: undefined },
    { from: "exactly what is left", fields: { retryAfterMs: 2000 }, leftMs: 2000, expected: undefined },
    {
      from: "a wait does not make a final failure transient",
      fields: { retryAfterMs: 1, retry: "never" },
      expected: undefined,
    },
    { from: "nor an unsafe one safe", fields: { retryAfterMs: 1, replaySafety: "output_seen" }, expected: undefined },
  ])("$from", ({ fields, leftMs = 60_000, expected }) => {
    expect(decideRetry(failed(fields), 1, 0, { ...OPTIONS, leftMs: () => leftMs })).toBe(expected);
  });

  test("none is begun once the turn was aborted", () => {
    expect(decideRetry(failed(), 1, 0, { ...OPTIONS, signal: AbortSignal.abort() })).toBeUndefined();
    expect(decideRetry(EMPTY, 1, 0, { ...OPTIONS, signal: AbortSignal.abort() })).toBeUndefined();
  });
});

test("an abort during the wait ends it at once: cancelled, no further try", async () => {
  const stop = new AbortController();
  const startedAt = performance.now();
  const { decision, attempts } = await run([failed({ retryAfterMs: 60_000 })], {
    signal: stop.signal,
    leftMs: () => 120_000,
    onRetry: () => queueMicrotask(() => stop.abort()),
  });
  expect(decision).toEqual({ kind: "cancelled", by: "caller", warnings: [] });
  expect(attempts).toEqual([1]);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

test.each([
  { from: "an Error", error: new Error("bug") },
  { from: "a TypeError, which p-retry treats in its own way", error: new TypeError("bug") },
])("a bug in an attempt is not tried again: $from", async ({ error }) => {
  const attempts: number[] = [];
  const rejection = await rejectionOf(
    withRetries((n) => {
      attempts.push(n);
      return Promise.reject(error);
    }, OPTIONS),
  );
  expect(rejection).toBe(error);
  expect(attempts).toEqual([1]);
});

test.each<{ fields: Partial<Failure>; expected: boolean }>([
  { fields: { retry: "backoff", replaySafety: "no_output" }, expected: true },
  { fields: { retry: "backoff", replaySafety: "not_sent" }, expected: true },
  { fields: { retry: "backoff", replaySafety: "output_seen" }, expected: false },
  { fields: { retry: "backoff", replaySafety: "tool_started" }, expected: false },
  { fields: { retry: "backoff", replaySafety: "unknown" }, expected: false },
  { fields: { retry: "after_respawn", replaySafety: "not_sent" }, expected: false },
  { fields: { retry: "never", replaySafety: "not_sent" }, expected: false },
  { fields: { retry: "never", replaySafety: "no_output", actions: ["retry"] }, expected: false },
])("$fields may be sent again by itself: $expected", ({ fields, expected }) => {
  expect(isSafeToResend(failure(fields))).toBe(expected);
});

test.each<{ from: string; decision: Decision }>([
  { from: "a missing permission callback", decision: failed({ kind: "gate", retry: "never" }) },
  { from: "a deadline", decision: failed({ kind: "timeout", retry: "never" }) },
  { from: "a transient failure", decision: failed() },
  { from: "the caller's own abort", decision: { kind: "cancelled", by: "caller", warnings: [] } },
])("an abort during the attempt: what the attempt says stands ($from)", async ({ decision }) => {
  const stop = new AbortController();
  const ended = await withRetries(
    () => {
      stop.abort();
      return Promise.resolve(decision);
    },
    { ...OPTIONS, signal: stop.signal },
  );
  expect(ended).toBe(decision);
});
