import { describe, expect, test } from "vitest";
import type { Decision } from "../../src/acp/outcome.ts";
import { ALLOWED_WAIT_MS, BACKOFF_MS, decideRetry, isSafeToResend, withRetries } from "../../src/acp/retry.ts";
import type { RetryHow, RetryOptions, RetryStep } from "../../src/acp/retry.ts";
import { createRetryBudget } from "../../src/acp/retry-budget.ts";
import type { Failure } from "../../src/errors/failure.ts";
import { COMPLETED, EMPTY, failed, failure } from "./failures.ts";
import { rejectionOf } from "./drive.ts";

const OPTIONS: Omit<RetryOptions, "budget"> = {
  retries: 3,
  allowedWaitMs: ALLOWED_WAIT_MS,
  continues: false,
  reopens: false,
  backoffMs: 1,
  signal: new AbortController().signal,
  retriesEmptyTurn: true,
  leftMs: () => 60_000,
  onRetry: () => {},
};

/** A conversation that has its whole budget. */
function fresh(options: Partial<RetryOptions> = {}): RetryOptions {
  return { ...OPTIONS, budget: createRetryBudget(3), ...options };
}

/** The wait before the second try, undefined when there is none. */
function waitAfter(decision: Decision, options: Partial<RetryOptions> = {}, attempts = 1): number | undefined {
  return decideRetry(decision, { attempts, empty: 0, continued: false }, fresh(options))?.delayMs;
}

/** Plays the decisions in order, the last one for ever. */
async function run(decisions: readonly Decision[], options: Partial<RetryOptions> = {}) {
  const attempts: number[] = [];
  const hows: (RetryHow | undefined)[] = [];
  const steps: RetryStep[] = [];
  const decision = await withRetries(
    (n, how) => {
      attempts.push(n);
      hows.push(how);
      return Promise.resolve(decisions[Math.min(n, decisions.length) - 1] ?? COMPLETED);
    },
    fresh({ onRetry: (step) => steps.push(step), ...options }),
  );
  return { decision, attempts, hows, steps };
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
    { how: "again", attempt: 2, of: 4, delayMs: 3, reason: "Too busy" },
    { how: "again", attempt: 3, of: 4, delayMs: 0, reason: "The agent ended its turn without an answer" },
  ]);
});

describe("after output the agent is asked to go on, once, where its backend allows it", () => {
  const cut = failed({ replaySafety: "output_seen", title: "Cut" });
  const refused: Decision = {
    kind: "refused",
    refusal: { category: "", explanation: "", recommendedModel: "" },
    warnings: [],
  };

  test.each<{
    from: string;
    decisions: readonly Decision[];
    options?: Partial<RetryOptions>;
    hows: readonly (RetryHow | undefined)[];
    expected: object;
  }>([
    { from: "it goes on", decisions: [cut, COMPLETED], hows: [undefined, "continue"], expected: { kind: "completed" } },
    {
      from: "a tool had started",
      decisions: [failed({ replaySafety: "tool_started" }), COMPLETED],
      hows: [undefined, "continue"],
      expected: { kind: "completed" },
    },
    {
      from: "after the same prompt was sent again",
      decisions: [failed(), cut, COMPLETED],
      hows: [undefined, "again", "continue"],
      expected: { kind: "completed" },
    },
    {
      from: "cut a second time",
      decisions: [cut, failed({ replaySafety: "output_seen", title: "Cut again" })],
      hows: [undefined, "continue"],
      expected: { kind: "failed", failure: { title: "Cut again", replaySafety: "output_seen" } },
    },
    {
      from: "refused by the service before it said anything: what was shown still forbids a resend",
      decisions: [failed({ replaySafety: "tool_started" }), failed({ title: "Too busy" })],
      hows: [undefined, "continue"],
      expected: { kind: "failed", failure: { title: "Too busy", replaySafety: "tool_started" } },
    },
    {
      from: "the agent died of it: what it did then is not known",
      decisions: [cut, failed({ kind: "agent_died", retry: "after_respawn", replaySafety: "unknown" })],
      hows: [undefined, "continue"],
      expected: { kind: "failed", failure: { kind: "agent_died", replaySafety: "unknown" } },
    },
    {
      from: "nothing more came: the first failure stands, and it is no empty turn",
      decisions: [cut, EMPTY],
      hows: [undefined, "continue"],
      expected: { kind: "failed", failure: { title: "Cut" } },
    },
    { from: "refused by the model", decisions: [cut, refused], hows: [undefined, "continue"], expected: refused },
    { from: "not this backend", decisions: [cut], options: { continues: false }, hows: [undefined], expected: cut },
    { from: "retries 0", decisions: [cut], options: { retries: 0 }, hows: [undefined], expected: cut },
    {
      from: "no budget left",
      decisions: [cut],
      options: { budget: createRetryBudget(0) },
      hows: [undefined],
      expected: cut,
    },
    {
      from: "a wait that is too long",
      decisions: [failed({ replaySafety: "output_seen", retryAfterMs: 120_001 })],
      options: { leftMs: () => Infinity },
      hows: [undefined],
      expected: { kind: "failed", failure: { retryAfterMs: 120_001 } },
    },
    ...(["after_respawn", "never"] as const).map((retry) => ({
      from: `a verdict of ${retry}`,
      decisions: [failed({ replaySafety: "output_seen", retry })],
      hows: [undefined],
      expected: { kind: "failed" },
    })),
    {
      from: "a stall: nobody knows what the agent did",
      decisions: [failed({ replaySafety: "unknown" })],
      hows: [undefined],
      expected: { kind: "failed" },
    },
    {
      from: "a cancelled turn",
      decisions: [{ kind: "cancelled", by: "harness", warnings: [] }],
      hows: [undefined],
      expected: { kind: "cancelled" },
    },
  ])("$from", async ({ decisions, options, hows, expected }) => {
    const ran = await run(decisions, { continues: true, ...options });
    expect(ran.hows).toEqual(hows);
    expect(ran.decision).toMatchObject(expected);
  });

  test("it is announced as such", async () => {
    const { steps } = await run(
      [failed({ replaySafety: "output_seen", title: "Too busy", retryAfterMs: 3 }), COMPLETED],
      {
        continues: true,
      },
    );
    expect(steps).toEqual([
      { how: "continue", attempt: 2, of: 4, delayMs: 3, reason: "The agent is asked to go on: Too busy" },
    ]);
  });
});

describe("a wait that nobody waits for says when it would be over", () => {
  test.each<{
    from: string;
    fields: Partial<Failure>;
    options?: Partial<RetryOptions>;
    resetsInMs: number | undefined;
  }>([
    {
      from: "longer than allowed",
      fields: { retryAfterMs: 600_000 },
      options: { leftMs: () => Infinity },
      resetsInMs: 600_000,
    },
    { from: "longer than the turn has", fields: { retryAfterMs: 90_000 }, resetsInMs: 90_000 },
    {
      from: "a wait that was short enough, and the tries are spent",
      fields: { retryAfterMs: 1 },
      resetsInMs: undefined,
    },
    { from: "no wait", fields: {}, resetsInMs: undefined },
  ])("$from", async ({ fields, options, resetsInMs }) => {
    const before = Date.now();
    const { decision } = await run([failed({ kind: "rate_limit", ...fields })], options);
    const resetAt = decision.kind === "failed" ? decision.failure.resetAt : "";
    const resetsIn = resetAt === undefined ? undefined : Math.round((Date.parse(resetAt) - before) / 10_000) * 10_000;
    expect(resetsIn).toBe(resetsInMs);
    expect(decision).toMatchObject({ kind: "failed", failure: { kind: "rate_limit", ...fields } });
  });

  test("the provider's own words stay", async () => {
    const fields = { kind: "rate_limit", retryAfterMs: 600_000, resetAt: "3pm" } as const;
    const { decision } = await run([failed(fields)], { leftMs: () => Infinity });
    expect(decision).toMatchObject({ failure: fields });
  });
});

describe("the budget of the conversation", () => {
  test.each<{ from: string; decisions: readonly Decision[]; left: number; attempts: number; leftAfter: number }>([
    { from: "two are left", decisions: [failed()], left: 2, attempts: 3, leftAfter: 0 },
    { from: "none is left", decisions: [failed()], left: 0, attempts: 1, leftAfter: 0 },
    { from: "none is left for an empty turn either", decisions: [EMPTY], left: 0, attempts: 1, leftAfter: 0 },
    { from: "an empty turn spends one", decisions: [EMPTY], left: 2, attempts: 2, leftAfter: 1 },
    { from: "a turn that lands returns it", decisions: [failed(), COMPLETED], left: 2, attempts: 2, leftAfter: 3 },
    {
      from: "a refusal has landed too",
      decisions: [
        failed(),
        { kind: "refused", refusal: { category: "", explanation: "", recommendedModel: "" }, warnings: [] },
      ],
      left: 1,
      attempts: 2,
      leftAfter: 3,
    },
    {
      from: "a failure has not",
      decisions: [failed(), failed({ retry: "never" })],
      left: 2,
      attempts: 2,
      leftAfter: 1,
    },
    {
      from: "a try that could not be sent, because the session is gone",
      decisions: [failed(), failed({ kind: "agent_died", retry: "after_respawn", replaySafety: "not_sent" })],
      left: 2,
      attempts: 2,
      leftAfter: 2,
    },
    {
      from: "a first prompt that could not be sent was no try",
      decisions: [failed({ kind: "agent_died", retry: "after_respawn", replaySafety: "not_sent" })],
      left: 2,
      attempts: 1,
      leftAfter: 2,
    },
    {
      from: "a wait that does not fit into the turn was never begun",
      decisions: [failed({ retryAfterMs: 90_000 })],
      left: 2,
      attempts: 1,
      leftAfter: 2,
    },
  ])("$from", async ({ decisions, left, attempts, leftAfter }) => {
    const budget = createRetryBudget(3);
    for (let taken = 3; taken > left; taken -= 1) budget.take();
    const ran = await run(decisions, { budget });
    expect(ran.attempts).toHaveLength(attempts);
    expect(ran.steps.map(({ of }) => of)).toEqual(Array.from({ length: attempts - 1 }, () => left + 1));
    expect(budget.left).toBe(leftAfter);
  });

  test("a try that was stopped while it waited is handed back", async () => {
    const stop = new AbortController();
    const budget = createRetryBudget(3);
    const { decision } = await run([failed({ retryAfterMs: 30_000 })], {
      budget,
      signal: stop.signal,
      onRetry: () => queueMicrotask(() => stop.abort()),
    });
    expect(decision.kind).toBe("cancelled");
    expect(budget.left).toBe(3);
  });

  test("it does not make more tries than the turn has", async () => {
    const { attempts } = await run([failed()], { retries: 1, budget: createRetryBudget(9) });
    expect(attempts).toEqual([1, 2]);
  });
});

describe("the wait", () => {
  test.each([
    { from: "the first, 2 s", attempt: 1, upTo: 2000 },
    { from: "the second, 4 s", attempt: 2, upTo: 4000 },
    { from: "the third, 8 s", attempt: 3, upTo: 8000 },
  ])("$from: full jitter below", ({ attempt, upTo }) => {
    const waits = Array.from({ length: 200 }, () => waitAfter(failed(), { backoffMs: BACKOFF_MS }, attempt));
    expect(waits.filter((wait) => wait === undefined || wait < 0 || wait >= upTo)).toEqual([]);
    expect(Math.max(...waits.map((wait) => wait ?? 0))).toBeGreaterThan(upTo / 2);
    expect(Math.min(...waits.map((wait) => wait ?? 0))).toBeLessThan(upTo / 2);
  });

  test.each<{
    from: string;
    fields: Partial<Failure>;
    leftMs?: number;
    allowedWaitMs?: number;
    expected: number | undefined;
  }>([
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
    {
      from: "longer than the caller allows",
      fields: { retryAfterMs: 2001 },
      allowedWaitMs: 2000,
      expected: undefined,
    },
    { from: "as long as the caller allows", fields: { retryAfterMs: 2000 }, allowedWaitMs: 2000, expected: 2000 },
    {
      from: "longer than a timer can be, whatever the caller allows",
      fields: { retryAfterMs: 2 ** 31 },
      leftMs: Infinity,
      allowedWaitMs: Infinity,
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
  ])("$from", ({ fields, leftMs = 60_000, allowedWaitMs = ALLOWED_WAIT_MS, expected }) => {
    expect(waitAfter(failed(fields), { leftMs: () => leftMs, allowedWaitMs })).toBe(expected);
  });

  test("none is begun once the turn was aborted", () => {
    expect(waitAfter(failed(), { signal: AbortSignal.abort() })).toBeUndefined();
    expect(waitAfter(EMPTY, { signal: AbortSignal.abort() })).toBeUndefined();
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
    }, fresh()),
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
    fresh({ signal: stop.signal }),
  );
  expect(ended).toBe(decision);
});
