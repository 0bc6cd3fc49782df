/** The clocks of a turn and the cancel with its grace, against real children that are silent, stubborn or slow. */
import { describe, expect, test } from "vitest";
import { join } from "node:path";
import type { TurnTimeouts } from "../../src/acp/types.ts";
import type { Profile } from "../../src/errors/failure.ts";
import { AcpTimeoutError } from "../../src/errors/acp-error.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  chunk,
  end,
  err,
  logOf,
  processesIn,
  promptsIn,
  record,
  recordUpdate,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
  waitFor,
} from "../fixtures/agents/scenario.ts";
import { exitOf, inOneWrite, isRunning, play, start, textsOf } from "./drive.ts";

const MIB = 1024 * 1024;
const RECORDINGS = join(import.meta.dirname, "../fixtures/recordings");
const REPLAY = join(import.meta.dirname, "../fixtures/agents/replay.mjs");
/** Clocks that never strike in a test, but for the one that a row sets. */
const PATIENT: TurnTimeouts = {
  wallMs: 60_000,
  idleMs: 60_000,
  toolMs: 60_000,
  firstByteMs: 60_000,
  cancelGraceMs: 30,
};
/** For a clock that runs from the prompt and must not strike before the agent was heard, however busy the machine is. */
const HEARD_BEFORE_MS = 2000;
const silence: Action = { delayMs: 60_000 };
const reconnecting = recordUpdate(
  record({ id: "t1:error", severity: "warning", category: "connection", title: "Reconnecting... 1/5" }),
);

describe("a clock strikes", () => {
  test.concurrent.each<{
    from: string;
    turn: readonly Action[];
    timeouts: Partial<TurnTimeouts>;
    title: string;
    text?: string;
  }>([
    {
      from: "nothing was said",
      turn: [silence],
      timeouts: { firstByteMs: 60 },
      title: "The agent did not begin to answer within 0.06 s; last heard: nothing",
    },
    {
      from: "a harness that only says it tries again is silent (recording codex-acp 2.6.0 conn-refused)",
      turn: [reconnecting, silence],
      timeouts: { firstByteMs: HEARD_BEFORE_MS },
      title: "The agent did not begin to answer within 2 s; last heard: Reconnecting... 1/5",
    },
    {
      from: "silence after text",
      turn: [chunk("half"), silence],
      timeouts: { idleMs: 60 },
      title: "The agent was silent for 0.06 s; last heard: answer text",
      text: "half",
    },
    {
      from: "silence after a thought",
      turn: [thought("hm"), silence],
      timeouts: { idleMs: 60 },
      title: "The agent was silent for 0.06 s; last heard: a thought",
    },
    {
      from: "retry warnings do not feed it",
      turn: [inOneWrite(chunk("half"), reconnecting), silence],
      timeouts: { idleMs: 200 },
      title: "The agent was silent for 0.2 s; last heard: Reconnecting... 1/5",
      text: "half",
    },
    {
      from: "a tool that hangs; silence does not count meanwhile",
      turn: [inOneWrite(tool("t1", { title: "npm test" }), toolUpdate("t1", { status: "in_progress" })), silence],
      timeouts: { idleMs: 30, toolMs: 150 },
      title: 'A tool ran longer than 0.15 s; last heard: tool call "npm test" in_progress',
    },
    {
      from: "silence after a tool ended",
      turn: [tool("t1", { title: "npm test" }), toolUpdate("t1", { status: "failed" }), silence],
      timeouts: { idleMs: 60, toolMs: 60_000 },
      title: 'The agent was silent for 0.06 s; last heard: tool call "npm test" failed',
    },
    {
      from: "the whole turn",
      turn: [chunk("half"), silence],
      timeouts: { wallMs: HEARD_BEFORE_MS },
      title: "The turn took longer than 2 s; last heard: answer text",
      text: "half",
    },
  ])("$from", async ({ turn, timeouts, title, text = "" }) => {
    await using agent = await start(turns(turn));
    const { outcome } = await play(await agent.open(), { retries: 3, timeouts: { ...PATIENT, ...timeouts } });
    expect(outcome).toMatchObject({
      kind: "failed",
      text,
      partial: text !== "",
      stopReason: null,
      attempts: 1,
      failure: { kind: "timeout", source: "timeout", retry: "never", replaySafety: "unknown", title },
    });
    expect(exitOf(outcome)).toBe(3);
    expect(outcome.cause).toBeInstanceOf(AcpTimeoutError);
    expect(outcome.cause).toMatchObject({ partialOutput: text });
    expect(promptsIn(agent.log)).toHaveLength(1);
    expect(logOf(agent.log).filter(({ frame }) => frame?.method === "session/cancel")).toHaveLength(1);
    await agent.runtime.stop();
    expect(isRunning(agent.runtime.pid)).toBe(false);
  });

  test.concurrent("an agent that acknowledges the cancel is kept: the turn timed out, the next one works", async () => {
    await using agent = await start(
      turns([chunk("half"), waitFor("session/cancel"), end("cancelled")], [chunk("next"), end()]),
    );
    const session = await agent.open();
    const { outcome } = await play(session, { timeouts: { ...PATIENT, idleMs: 60, cancelGraceMs: 60_000 } });
    expect(outcome).toMatchObject({ kind: "failed", text: "half", failure: { kind: "timeout" } });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
    expect(processesIn(agent.log)).toEqual([agent.runtime.pid]);
  });

  test.concurrent("each attempt has its own first byte", async () => {
    await using agent = await start(turns([err(-32603, "HTTP 503")], [chunk("ok"), end()]));
    const { outcome } = await play(await agent.open(), { retries: 1, timeouts: { ...PATIENT, firstByteMs: 5000 } });
    expect(outcome).toMatchObject({ kind: "completed", text: "ok", attempts: 2 });
  });

  test.concurrent("a wait that does not fit into the turn is not begun", async () => {
    await using agent = await start(turns([err(-32603, "429 Too Many Requests, retry-after: 30")]));
    const { outcome, events } = await play(await agent.open(), {
      retries: 3,
      timeouts: { ...PATIENT, wallMs: 20_000 },
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      attempts: 1,
      failure: { kind: "rate_limit", retryAfterMs: 30_000 },
    });
    expect(events.filter(({ type }) => type === "retry")).toEqual([]);
  });

  test.concurrent("frames of a child session are activity of the turn", async () => {
    const busy = Array.from({ length: 20 }, () => [
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } }, "child-1"),
      { delayMs: 100 },
    ]).flat();
    await using agent = await start(turns([chunk("a"), ...busy, chunk("b"), end()]));
    const { outcome, events } = await play(await agent.open(), { timeouts: { ...PATIENT, idleMs: 1500 } });
    expect(outcome).toMatchObject({ kind: "completed", text: "ab" });
    expect(textsOf(events, "text").join("")).toBe("ab");
  });

  test.concurrent("a prompt that the agent does not take in: its beginning may have been read", async () => {
    await using agent = await start(turns([chunk("ok"), { pauseStdin: true }, end()]));
    const session = await agent.open();
    await play(session);
    const { outcome } = await play(session, { timeouts: { ...PATIENT, firstByteMs: 100 } }, "x".repeat(4 * MIB));
    expect(outcome).toMatchObject({
      kind: "failed",
      failure: { kind: "timeout", retry: "never", replaySafety: "unknown" },
    });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.concurrent("a prompt that stands behind another one which nobody takes in was not sent", async () => {
    await using agent = await start(turns([chunk("ok"), { pauseStdin: true }, end()]));
    const [session, other] = [await agent.open(), await agent.open()];
    await play(session);
    const first = play(session, { timeouts: { ...PATIENT, cancelGraceMs: 60_000 } }, "x".repeat(4 * MIB));
    const { outcome } = await play(other, { timeouts: { ...PATIENT, firstByteMs: 100 } });
    expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "timeout", replaySafety: "not_sent" } });
    agent.runtime.kill();
    expect((await first).outcome).toMatchObject({ failure: { kind: "agent_died", replaySafety: "unknown" } });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.concurrent("each tool call has its own time: one that ended gives none to the next", async () => {
    const step: Action = { delayMs: 900 };
    const done = { status: "completed" };
    await using agent = await start(
      turns([
        tool("t1", { title: "one" }),
        step,
        inOneWrite(toolUpdate("t1", done), tool("t2", { title: "two" })),
        step,
        inOneWrite(toolUpdate("t2", done), tool("t3", { title: "three" }), chunk("talks")),
        silence,
      ]),
    );
    const { outcome } = await play(await agent.open(), { timeouts: { ...PATIENT, toolMs: 1700, idleMs: 100 } });
    expect(outcome).toMatchObject({
      failure: { rule: "clock-tool", title: "A tool ran longer than 1.7 s; last heard: answer text" },
    });
    expect(outcome.durationMs).toBeGreaterThan(3400);
  });
});

describe("a service that is not there, or says nothing: it ends by policy, and the sentence says what was last heard", () => {
  test.concurrent.each<{ from: string; recording: string; profile: Profile; clock: string; lastHeard: string }>([
    {
      from: "codex without a network warns for ever",
      recording: "codex-acp/2.6.0/air/conn-refused",
      profile: "codex",
      clock: "clock-first_byte",
      lastHeard: "Reconnecting... waiting for network",
    },
    {
      from: "the same without records",
      recording: "codex-acp/2.6.0/plain/conn-refused",
      profile: "codex",
      clock: "clock-first_byte",
      lastHeard: "Reconnecting... waiting for network",
    },
    {
      from: "codex and a service that accepts and sends nothing",
      recording: "codex-acp/2.6.0/air/hang-no-bytes",
      profile: "codex",
      clock: "clock-first_byte",
      lastHeard: "a status update",
    },
    {
      from: "claude and a service that accepts and sends nothing",
      recording: "claude-agent-acp/0.101.0/air/hang-no-bytes-cancel",
      profile: "claude",
      clock: "clock-first_byte",
      lastHeard: "nothing",
    },
  ])("$from ($recording)", async ({ recording, profile, clock, lastHeard }) => {
    const file = join(RECORDINGS, `${recording}.jsonl`);
    await using agent = await start({}, { profile, command: { file: process.execPath, args: [REPLAY, file] } });
    const { outcome } = await play(await agent.open(), {
      retries: 3,
      timeouts: { ...PATIENT, firstByteMs: HEARD_BEFORE_MS, idleMs: HEARD_BEFORE_MS, cancelGraceMs: 500 },
    });
    expect(outcome).toMatchObject({ kind: "failed", attempts: 1, failure: { kind: "timeout", rule: clock } });
    expect(outcome.kind === "failed" && outcome.failure.title).toMatch(new RegExp(`; last heard: ${lastHeard}`));
    expect(outcome.cause).toBeInstanceOf(AcpTimeoutError);
  });
});

describe("the caller's abort (case C19)", () => {
  test.concurrent("an agent that ignores it is ended after the grace, and says so (C19 b)", async () => {
    const agent = await start(MISBEHAVING.ignoresCancel);
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { signal: stop.signal, timeouts: PATIENT });
    for await (const event of turn.events) if (event.type === "text") stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "partial words", partial: true });
    expect(agent.runtime.state).toBe("dead");
    const next = await play(session);
    expect(next.outcome).toMatchObject({ kind: "failed", failure: { kind: "agent_died", replaySafety: "not_sent" } });
    await agent.runtime.stop();
    expect(processesIn(agent.log).filter(isRunning)).toEqual([]);
  });

  test.concurrent("another session of that process lives on; the late answer is nobody's (C19 c)", async () => {
    await using agent = await start(
      turns(
        [chunk("half"), waitFor("session/cancel"), { untilFile: "go" }, end()],
        [chunk("other"), { untilFile: "go" }, end()],
      ),
    );
    const [session, other] = [await agent.open(), await agent.open()];
    const stop = new AbortController();
    const turn = session.prompt("hello", { signal: stop.signal, timeouts: PATIENT });
    for await (const event of turn.events) {
      if (event.type !== "text") continue;
      stop.abort();
    }
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
    const running = play(other);
    agent.touch("go");
    expect((await running).outcome).toMatchObject({ kind: "completed", text: "other" });
    expect(agent.runtime.state).toBe("ready");
  });

  test.concurrent("during the wait before a second try: no second prompt", async () => {
    await using agent = await start(turns([err(-32603, "429 Too Many Requests, retry-after: 30")]));
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { retries: 3, signal: stop.signal });
    for await (const event of turn.events) if (event.type === "retry") stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", attempts: 1 });
    expect(promptsIn(agent.log)).toHaveLength(1);
    expect(agent.runtime.state).toBe("ready");
  });

  test.concurrent("what the agent still answers does not change that it was cancelled", async () => {
    await using agent = await start(turns([chunk("half"), waitFor("session/cancel"), err(-32603, "HTTP 503")]));
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { retries: 3, signal: stop.signal });
    for await (const event of turn.events) if (event.type === "text") stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", attempts: 1 });
  });

  test.concurrent("an agent that dies of it", async () => {
    await using agent = await start(turns([chunk("half"), waitFor("session/cancel"), { exit: 3 }]));
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { signal: stop.signal });
    for await (const event of turn.events) if (event.type === "text") stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half" });
    expect(agent.runtime.state).toBe("dead");
  });
});

test("an agent that cancels by itself is told from the caller's abort", async () => {
  await using agent = await start(turns([chunk("half"), end("cancelled")]));
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "cancelled", by: "harness", text: "half", partial: true });
});
