/** When an agent that keeps dying is started again: pure arithmetic, time and chance given. */
import { describe, expect, test } from "vitest";
import { decideStart, isCrash, readPark } from "../../src/acp/restart-policy.ts";
import type { Crash } from "../../src/acp/restart-policy.ts";
import type { Failure, FailureKind } from "../../src/errors/failure.ts";
import { KINDS } from "../../src/errors/kinds.ts";

const S = 1000;
const NOON = 1_800_000_000_000;
const intensity = { burst: 5, periodMs: 60 * S };

/** Crashes so many seconds after noon; a pair says how many seconds the agent had lived. */
function crashes(...seconds: readonly (number | readonly [at: number, lived: number])[]): Crash[] {
  return seconds.map((entry, index) => {
    const [at, lived] = typeof entry === "number" ? [entry, 0] : entry;
    return { at: NOON + at * S, livedMs: lived * S, program: "p", title: `crash ${index + 1}`, stderr: "" };
  });
}

const decide = (history: readonly Crash[], atS: number, random = 1) =>
  decideStart(history, { now: NOON + atS * S, random, intensity });

describe("how long a start waits", () => {
  test.each([
    { from: "nothing happened", history: crashes(), delayMs: 0 },
    { from: "one crash", history: crashes(0), delayMs: 250 },
    { from: "two in the period", history: crashes(-10, 0), delayMs: 500 },
    { from: "three in the period", history: crashes(-20, -10, 0), delayMs: 1000 },
    { from: "four in the period", history: crashes(-30, -20, -10, 0), delayMs: 2000 },
    { from: "an older one does not count", history: crashes(-60, 0), delayMs: 250 },
    { from: "half the jitter", history: crashes(-10, 0), random: 0.5, delayMs: 250 },
    { from: "no jitter at all", history: crashes(-10, 0), random: 0, delayMs: 0 },
    { from: "asked 100 ms later", history: crashes(0), atS: 0.1, delayMs: 150 },
    { from: "asked when the delay is over", history: crashes(0), atS: 0.25, delayMs: 0 },
    { from: "asked a period later", history: crashes(0), atS: 60, delayMs: 0 },
    { from: "an agent that lived longer than the period counts anew", history: crashes(-9, -6, [0, 61]), delayMs: 250 },
    { from: "one that lived as long as the period does not", history: crashes(-9, -6, [0, 60]), delayMs: 1000 },
    { from: "lines of several processes, out of order", history: crashes(0, -20, -10), delayMs: 1000 },
    { from: "a clock that was set back a day", history: crashes(86_400), delayMs: 0 },
  ])("$from: $delayMs ms", ({ history, atS = 0, random = 1, delayMs }) => {
    const last = expect.objectContaining({ at: Math.max(...history.map(({ at }) => at)) });
    expect(decide(history, atS, random)).toEqual(
      delayMs === 0 ? { action: "start" } : { action: "wait", delayMs, last },
    );
  });

  test("it never grows over its cap", () => {
    const many = { burst: 100, periodMs: 600 * S };
    const history = crashes(...Array.from({ length: 50 }, (_, index) => index - 49));
    const facts = { now: NOON, random: 1 };
    expect(decideStart(history, { ...facts, intensity: many })).toMatchObject({ action: "wait", delayMs: 15_000 });
    const capped = { ...many, baseDelayMs: 10, maxDelayMs: 40 };
    expect(decideStart(history, { ...facts, intensity: capped })).toMatchObject({ action: "wait", delayMs: 40 });
  });
});

describe("when a backend is parked", () => {
  test.each([
    { from: "four crashes in 60 s", history: crashes(0, 1, 2, 3) },
    { from: "five, the first 60 s ago", history: crashes(0, 15, 30, 45, 60) },
    { from: "five in 60 s, of which the last was stable", history: crashes(0, 1, 2, 3, [10, 61]) },
    {
      from: "ten stable ones at once (a machine out of memory)",
      history: crashes(...Array.from({ length: 10 }, () => [0, 61] as const)),
    },
    { from: "four from a stable one on, others before it", history: crashes(0, 1, [50, 61], 51, 52, 53) },
  ])("not: $from", ({ history }) => {
    expect(readPark(history, intensity)).toBeUndefined();
    expect(decide(history, 61).action).not.toBe("park");
  });

  test.each([
    { from: "five in 59 s", history: crashes(0, 15, 30, 45, 59), sinceS: 59, last: "crash 5" },
    { from: "five at once", history: crashes(0, 0, 0, 0, 0), sinceS: 0, last: "crash 5" },
    { from: "a late one of a stable agent", history: crashes(0, 1, 2, 3, 4, [900, 800]), sinceS: 4, last: "crash 5" },
    { from: "one more that was under way", history: crashes(0, 1, 2, 3, 4, 5), sinceS: 4, last: "crash 5" },
    { from: "old ones before", history: crashes(-900, -300, 0, 1, 2, 3, 4), sinceS: 4, last: "crash 7" },
  ])("$from", ({ history, sinceS, last }) => {
    const park = { since: NOON + sinceS * S, last: expect.objectContaining({ title: last }) };
    expect(readPark(history, intensity)).toEqual(park);
    // No time brings it back.
    expect(decide(history, 0)).toEqual({ action: "park", ...park });
    expect(decide(history, 30 * 86_400)).toEqual({ action: "park", ...park });
  });

  test("a burst of one parks at the first crash", () => {
    expect(readPark(crashes(0), { burst: 1, periodMs: S })).toMatchObject({ since: NOON });
  });
});

describe("what spends budget", () => {
  type Evidence = Pick<Failure, "kind" | "source" | "rule">;

  test.each<{ from: string; failure: Evidence }>([
    { from: "it ended by itself", failure: { kind: "agent_died", source: "exit", rule: "exit" } },
    { from: "it closed its input", failure: { kind: "agent_died", source: "exit", rule: "input-closed" } },
    { from: "it ended during the handshake", failure: { kind: "agent_spawn", source: "exit", rule: "exit" } },
    { from: "it refused the handshake", failure: { kind: "agent_spawn", source: "rpc_error", rule: "unknown" } },
    { from: "no handshake in time", failure: { kind: "protocol", source: "timeout", rule: "request-deadline" } },
    { from: "it echoed our lines", failure: { kind: "protocol", source: "framing", rule: "echo" } },
    { from: "an endless line", failure: { kind: "protocol", source: "framing", rule: "line-too-long" } },
    { from: "no process was left", failure: { kind: "agent_spawn", source: "spawn", rule: "spawn-EAGAIN" } },
    { from: "its file was being written", failure: { kind: "agent_spawn", source: "spawn", rule: "spawn-ETXTBSY" } },
  ])("$from", ({ failure }) => {
    expect(isCrash(failure)).toBe(true);
  });

  test.each<{ from: string; failure: Evidence }>([
    { from: "a missing program", failure: { kind: "agent_spawn", source: "spawn", rule: "spawn-ENOENT" } },
    { from: "a forbidden program", failure: { kind: "agent_spawn", source: "spawn", rule: "spawn-EACCES" } },
    { from: "not installed", failure: { kind: "agent_spawn", source: "spawn", rule: "not-installed" } },
    { from: "parked", failure: { kind: "agent_spawn", source: "spawn", rule: "parked" } },
    { from: "a missing library", failure: { kind: "agent_spawn", source: "exit", rule: "stderr-would-not-start" } },
    { from: "another ACP", failure: { kind: "protocol", source: "framing", rule: "protocol-version" } },
    { from: "a login, said in stderr", failure: { kind: "auth", source: "exit", rule: "stderr-signed-out" } },
    { from: "a full disk", failure: { kind: "configuration", source: "exit", rule: "stderr-no-space" } },
    { from: "a limit", failure: { kind: "rate_limit", source: "exit", rule: "stderr-registration-throttled" } },
    { from: "the gate", failure: { kind: "gate", source: "rpc_error", rule: "tool-gate" } },
    { from: "a record of the harness's child", failure: { kind: "agent_died", source: "session_failure", rule: "r" } },
    { from: "an error about that child", failure: { kind: "agent_died", source: "rpc_error", rule: "codex-1001" } },
    { from: "a slow request", failure: { kind: "timeout", source: "timeout", rule: "request-deadline" } },
  ])("not: $from", ({ failure }) => {
    expect(isCrash(failure)).toBe(false);
  });

  test("of all kinds, only the three of the process can", () => {
    const sources = ["session_failure", "rpc_error", "exit", "timeout", "framing", "spawn", "thread_status"] as const;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record of all kinds
    const kinds = Object.keys(KINDS) as FailureKind[];
    const able = kinds.filter((kind) => sources.some((source) => isCrash({ kind, source, rule: "spawn-EAGAIN" })));
    expect(able).toEqual(["agent_died", "agent_spawn", "protocol"]);
  });
});
