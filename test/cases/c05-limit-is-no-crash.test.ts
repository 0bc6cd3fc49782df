import { describe, expect, test } from "vitest";
import type { Profile } from "../../src/errors/failure.ts";
import { play, start } from "../acp/drive.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { air, chunk, end, err, processesIn, promptsIn, record, turns } from "../fixtures/agents/scenario.ts";
import { ask, askAsText } from "./ask-case.ts";

const RESETS_IN =
  '{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":13872}}';

describe("a spent limit ends the turn: one prompt, one process, no other", () => {
  test.concurrent.each<{
    from: string;
    turn: Action;
    kind?: string;
    resetAt?: string;
    profile?: Profile;
    needs?: string;
  }>([
    {
      from: "C05 a",
      turn: err(-32603, "Internal error: rate limit", {
        errorKind: "rate_limit",
        details: "resets 8pm (Europe/Berlin)",
      }),
      resetAt: "8pm (Europe/Berlin)",
    },
    {
      from: "C05 b",
      turn: err(-32603, "You've hit your session limit · resets 8pm"),
      resetAt: "8pm",
    },
    {
      from: "C05 c, the body alone",
      turn: err(-32603, '{"type":"usage_limit_reached","resets_in_seconds":13872}'),
      resetAt: "in 13872 seconds",
    },
    { from: "C05 c, the body behind words", turn: err(-32603, `429 ${RESETS_IN}`), resetAt: "in 13872 seconds" },
    { from: "C05 c, the body in data", turn: err(-32603, "Internal error", RESETS_IN), resetAt: "in 13872 seconds" },
    {
      from: "a curly apostrophe",
      turn: err(-32603, "You\u2019ve hit your weekly limit \u00B7 resets Mon 9am"),
      resetAt: "Mon 9am",
    },
    {
      from: "the same in data.details",
      turn: err(-32603, "Internal error", { details: "You've reached your monthly usage limit" }),
    },
    { from: "a typed word", turn: err(-32603, "Internal error", { codexErrorInfo: "usageLimitExceeded" }) },
    { from: "a quota code of the service", turn: err(-32603, "Internal error", { code: "insufficient_quota" }) },
    { from: "HTTP 402", turn: err(-32603, "unexpected status 402 Payment Required: add credits") },
    { from: "an empty balance", turn: err(-32603, "Internal error", { message: "Your credit balance is too low" }) },
    {
      from: "kiro, the month is spent",
      turn: err(-32603, "Internal error", "The monthly usage limit has been reached (request_id: 7a7b)"),
      profile: "kiro",
    },
    {
      from: "a record that recommends a retry beside words of a spent limit",
      turn: end(
        "end_turn",
        air(record({ category: "limit", actions: ["retry"], title: "You've hit your usage limit." })),
      ),
    },
    {
      from: "a limit of the session",
      turn: end("end_turn", air(record({ category: "limit", actions: ["new_session"], title: "T" }))),
      kind: "context_overflow",
      needs: "new_session",
    },
  ])("$from", async ({ turn, kind = "usage_limit", resetAt, profile = "generic", needs = "quota" }) => {
    const { result, exitCode, prompts, processes } = await ask(turns([turn]), { profile, argv: ["--retries", "3"] });
    expect(result).toMatchObject({
      outcome: "failed",
      attempts: 1,
      failure: { kind, retry: "never", transient: false, needs },
    });
    expect(result.failure?.resetAt).toBe(resetAt);
    expect({ exitCode, prompts, processes: processes.length }).toEqual({ exitCode: 8, prompts: 1, processes: 1 });
  });
});

test.concurrent("the time of the reset is shown as received, and the process is the same afterwards", async () => {
  const limit = err(-32603, "Internal error: rate limit", {
    errorKind: "rate_limit",
    details: "resets 8pm (Europe/Berlin)",
  });
  await using agent = await start(turns([limit], [chunk("ok"), end()]));
  const session = await agent.open();
  await play(session, { retries: 3 });
  const next = await play(session, { retries: 3 });
  expect(next.outcome).toMatchObject({ kind: "completed", text: "ok" });
  expect(processesIn(agent.log)).toEqual([agent.runtime.pid]);
  const { stderr } = await askAsText(turns([limit]));
  expect(stderr).toContain("8pm (Europe/Berlin)");
});

describe("a rate limit passes by itself", () => {
  test.concurrent("the provider's wait is honoured and the budget respected (C05 d)", async () => {
    await using agent = await start(turns([err(-32603, "429 Too Many Requests, retry-after: 2")]));
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { retries: 3, backoffMs: 1, signal: stop.signal });
    const waits: (number | undefined)[] = [];
    for await (const event of turn.events) {
      if (event.type !== "retry") continue;
      waits.push(event.delayMs);
      stop.abort();
    }
    expect(waits).toEqual([2000]);
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", attempts: 1 });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.concurrent.each<{ from: string; turn: Action; delayMs: number }>([
    { from: "C05 d", turn: err(-32603, "429 Too Many Requests, retry-after: 0.02"), delayMs: 20 },
    { from: "a field", turn: err(-32603, "Internal error", { status: 429, retry_after_ms: 15 }), delayMs: 15 },
    { from: "words", turn: err(-32603, "Rate limited, please try again in 30ms"), delayMs: 30 },
    {
      from: "a record",
      turn: end("end_turn", air(record({ category: "limit", actions: ["retry"], title: "Try again in 0.01s" }))),
      delayMs: 10,
    },
  ])("one wait for each try, at least as long as asked: $from", async ({ turn, delayMs }) => {
    await using agent = await start(turns([turn]));
    const startedAt = performance.now();
    const { outcome, events } = await play(await agent.open(), { retries: 3, backoffMs: 60_000 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(3 * (delayMs - 1));
    expect(events.flatMap((event) => (event.type === "retry" ? [event.delayMs] : []))).toEqual([
      delayMs,
      delayMs,
      delayMs,
    ]);
    expect(outcome).toMatchObject({
      kind: "failed",
      attempts: 4,
      failure: { kind: "rate_limit", retry: "backoff" },
    });
    expect(promptsIn(agent.log)).toHaveLength(4);
    expect(processesIn(agent.log)).toHaveLength(1);
  });

  test.concurrent("after the budget exit 8, as every limit", async () => {
    const { result, exitCode, prompts } = await ask(turns([err(-32603, "429 Too Many Requests")]), {
      argv: ["--retries", "0"],
    });
    expect(result.failure).toMatchObject({ kind: "rate_limit", retry: "backoff", transient: true });
    expect({ exitCode, prompts }).toEqual({ exitCode: 8, prompts: 1 });
  });
});
