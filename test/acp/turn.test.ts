import { describe, expect, test } from "vitest";
import { TurnChannel } from "../../src/acp/turn.ts";
import type { ToolStatus, TurnEvent } from "../../src/acp/events.ts";
import type { TurnOutcome } from "../../src/acp/types.ts";
import { chunk, end, promptsIn, turns, waitFor } from "../fixtures/agents/scenario.ts";
import { AcpPromptBusy } from "../../src/errors/acp-error.ts";
import { play, start } from "./drive.ts";

const OUTCOME: TurnOutcome = {
  kind: "completed",
  text: "done",
  partial: false,
  sessionId: "s1",
  stopReason: "end_turn",
  warnings: [],
  attempts: 1,
  usage: null,
  durationMs: 1,
  denied: [],
};

function channel(whenUnread: "join" | "pause" = "join") {
  const pauses: boolean[] = [];
  return {
    channel: new TurnChannel({ id: "t1", whenUnread, onPause: (paused) => pauses.push(paused), onCancel: () => {} }),
    pauses,
  };
}
const text = (words: string, messageId?: string): TurnEvent => ({
  type: "text",
  text: words,
  ...(messageId === undefined ? {} : { messageId }),
});
const tool = (toolCallId: string, status: ToolStatus): TurnEvent => ({
  type: "tool",
  toolCallId,
  title: "T",
  kind: "other",
  status,
  paths: [],
});

async function collect(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("text is joined while nobody looks", () => {
  test.each<{ from: string; emitted: readonly TurnEvent[]; read: readonly TurnEvent[] }>([
    { from: "one message", emitted: [text("a"), text("b"), text("c")], read: [text("abc")] },
    {
      from: "two messages",
      emitted: [text("a", "m1"), text("b", "m1"), text("c", "m2")],
      read: [text("ab", "m1"), text("c", "m2")],
    },
    {
      from: "thoughts and text keep their order",
      emitted: [text("a"), { type: "thought", text: "h" }, { type: "thought", text: "m" }, text("b")],
      read: [text("a"), { type: "thought", text: "hm" }, text("b")],
    },
    {
      from: "anything between ends it",
      emitted: [text("a"), tool("t1", "pending"), text("b")],
      read: [text("a"), tool("t1", "pending"), text("b")],
    },
    {
      from: "a superseded message is told between",
      emitted: [text("a", "m1"), { type: "text", text: "", messageId: "m1", superseded: true }, text("b", "m2")],
      read: [text("a", "m1"), { type: "text", text: "", messageId: "m1", superseded: true }, text("b", "m2")],
    },
    {
      from: "late text is not joined to text",
      emitted: [text("a"), { ...text("b"), late: true }],
      read: [text("a"), { ...text("b"), late: true }],
    },
    { from: "nothing", emitted: [], read: [] },
  ])("$from", async ({ emitted, read }) => {
    const { channel: written } = channel();
    for (const event of emitted) written.emit(event);
    written.finish(OUTCOME);
    expect(await collect(written.turn.events)).toEqual(read);
  });

  test("in portions: an event does not grow without end", async () => {
    const { channel: written } = channel();
    for (let n = 0; n < 300; n += 1) written.emit(text("x".repeat(1024)));
    written.finish(OUTCOME);
    const read = await collect(written.turn.events);
    const lengths = read.map((event) => (event.type === "text" ? event.text.length : 0));
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(300 * 1024);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(65 * 1024);
  });

  test("a reader that waits gets each piece as it comes", async () => {
    const { channel: written } = channel();
    const read: string[] = [];
    const reading = (async () => {
      for await (const event of written.turn.events) {
        if (event.type !== "text") continue;
        read.push(event.text);
        if (event.text === "a") written.emit(text("b"));
        else written.finish(OUTCOME);
      }
    })();
    written.emit(text("a"));
    await reading;
    expect(read).toEqual(["a", "b"]);
  });
});

describe("a queue nobody reads stays bounded", () => {
  test("only the newest state of a tool call, of the plan and of the usage is kept; the rest in order", async () => {
    const { channel: written } = channel();
    const warning: TurnEvent = { type: "notice", from: "ostler", text: "kept" };
    written.emit(warning);
    for (let n = 0; n < 5000; n += 1) {
      written.emit(tool(`t${n % 3}`, "in_progress"));
      written.emit({ type: "plan", entries: [{ content: `${n}`, status: "pending" }] });
      written.emit({ type: "usage", contextUsed: n });
    }
    for (const id of ["t0", "t1", "t2"]) written.emit(tool(id, "completed"));
    written.finish(OUTCOME);
    const read = await collect(written.turn.events);
    expect(read.length).toBeLessThan(2500);
    expect(read[0]).toEqual(warning);
    expect(read.findLast((event) => event.type === "plan")).toMatchObject({ entries: [{ content: "4999" }] });
    expect(read.findLast((event) => event.type === "usage")).toEqual({ type: "usage", contextUsed: 4999 });
    expect(read.slice(-3)).toEqual([tool("t0", "completed"), tool("t1", "completed"), tool("t2", "completed")]);
  });

  test("failures and permissions are never dropped", async () => {
    const { channel: written } = channel();
    for (let n = 0; n < 3000; n += 1) {
      written.emit({ type: "retry", by: "harness", attempt: n, reason: "again" });
      written.emit(tool("t1", "in_progress"));
    }
    written.finish(OUTCOME);
    const read = await collect(written.turn.events);
    expect(read.filter(({ type }) => type === "retry")).toHaveLength(3000);
  });
});

describe("pausing instead", () => {
  test("the child is paused above 256 KiB of unread text and goes on when it was read", async () => {
    const { channel: written, pauses } = channel("pause");
    written.emit(text("x".repeat(256 * 1024)));
    expect(pauses).toEqual([]);
    written.emit(text("x"));
    expect(pauses).toEqual([true]);
    written.emit(text("x"));
    expect(pauses).toEqual([true]);
    const reading = collect(written.turn.events);
    await Promise.resolve();
    written.finish(OUTCOME);
    await reading;
    expect(pauses).toEqual([true, false]);
  });

  test("many other events pause it too, and none is dropped", async () => {
    const { channel: written, pauses } = channel("pause");
    for (let n = 0; n < 1500; n += 1) written.emit(tool("t1", "in_progress"));
    expect(pauses).toEqual([true]);
    written.finish(OUTCOME);
    expect(pauses).toEqual([true, false]);
    expect(await collect(written.turn.events)).toHaveLength(1500);
  });

  test("joining never pauses", () => {
    const { channel: written, pauses } = channel("join");
    written.emit(text("x".repeat(1024 * 1024)));
    for (let n = 0; n < 5000; n += 1) written.emit(tool("t1", "in_progress"));
    expect(pauses).toEqual([]);
  });

  test("a reader that leaves lets it go on", async () => {
    const { channel: written, pauses } = channel("pause");
    written.emit(text("x".repeat(257 * 1024)));
    for await (const _ of written.turn.events) break;
    expect(pauses).toEqual([true, false]);
    written.emit(text("x".repeat(257 * 1024)));
    expect(pauses).toEqual([true, false]);
  });
});

describe("the outcome", () => {
  test("settles without a reader, once", async () => {
    const { channel: written } = channel();
    written.emit(text("unread"));
    written.finish(OUTCOME);
    written.finish({ ...OUTCOME, kind: "cancelled", by: "caller" });
    expect(await written.turn.outcome).toBe(OUTCOME);
  });

  test("settles while a reader is slow, and what was emitted can still be read", async () => {
    const { channel: written } = channel();
    written.emit(text("a"));
    written.finish(OUTCOME);
    written.emit(text("too late"));
    await written.turn.outcome;
    expect(await collect(written.turn.events)).toEqual([text("a")]);
  });

  test("a reader that left gets nothing more, and the turn goes on", async () => {
    const { channel: written } = channel();
    written.emit(text("a"));
    for await (const event of written.turn.events) {
      expect(event).toEqual(text("a"));
      break;
    }
    written.emit(text("b"));
    written.finish(OUTCOME);
    expect(await written.turn.outcome).toBe(OUTCOME);
    expect(await collect(written.turn.events)).toEqual([]);
  });
});

describe("a turn of a real agent", () => {
  test("needs no reader", async () => {
    await using agent = await start(turns([chunk("a"), chunk("b"), end()]));
    const session = await agent.open();
    const { outcome } = session.prompt("hello");
    expect(await outcome).toMatchObject({ kind: "completed", text: "ab" });
  });

  test("goes on when its reader leaves", async () => {
    await using agent = await start(turns([chunk("a"), { untilFile: "go" }, chunk("b"), end()], [chunk("c"), end()]));
    const session = await agent.open();
    const turn = session.prompt("hello");
    for await (const event of turn.events) if (event.type === "text") break;
    agent.touch("go");
    expect(await turn.outcome).toMatchObject({ kind: "completed", text: "ab" });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "c" });
  });

  test("one prompt at a time; free again as soon as the outcome settled", async () => {
    await using agent = await start(turns([chunk("a"), { untilFile: "go" }, end()], [chunk("b"), end()]));
    const session = await agent.open();
    const first = session.prompt("one");
    expect(() => session.prompt("two")).toThrow(AcpPromptBusy);
    agent.touch("go");
    await first.outcome;
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "b" });
    expect(promptsIn(agent.log)).toHaveLength(2);
  });

  test("two sessions of one agent run side by side", async () => {
    await using agent = await start(
      turns([chunk("one"), { untilFile: "go" }, end()], [chunk("two"), { untilFile: "go" }, end()]),
    );
    const [first, second] = [await agent.open(), await agent.open()];
    const running = [play(first), play(second)];
    agent.touch("go");
    const outcomes = (await Promise.all(running)).map(({ outcome }) => outcome);
    expect(outcomes.map((outcome) => [outcome.sessionId, outcome.text])).toEqual([
      [first.id, "one"],
      [second.id, "two"],
    ]);
  });

  test("output that nobody reads pauses the agent instead of growing memory", async () => {
    const many = {
      send: {
        jsonrpc: "2.0",
        method: "session/update",
        params: {
          sessionId: "$S",
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x".repeat(1024) } },
        },
      },
      times: 8 * 1024,
    };
    await using agent = await start(turns([many, end()]));
    const session = await agent.open();
    const turn = session.prompt("hello", { whenUnread: "pause", keepText: false });
    let chars = 0;
    for await (const event of turn.events) if (event.type === "text") chars += event.text.length;
    expect(chars).toBe(8 * 1024 * 1024);
    expect(await turn.outcome).toMatchObject({ kind: "completed", text: "" });
  });

  test("the caller's abort: told to the agent, its answer waited for, its process kept (case C19 e)", async () => {
    await using agent = await start(
      turns([chunk("half"), waitFor("session/cancel"), chunk(" way"), end("cancelled")], [chunk("next"), end()]),
    );
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { signal: stop.signal });
    for await (const event of turn.events) if (event.type === "text") stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half way", partial: true });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
  });

  test("an abort before the prompt sends nothing", async () => {
    await using agent = await start(turns([chunk("a"), end()]));
    const session = await agent.open();
    const { outcome } = await play(session, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", attempts: 0, text: "" });
    expect(promptsIn(agent.log)).toEqual([]);
    expect((await play(session)).outcome.kind).toBe("completed");
  });

  test("an abort in the same tick as the prompt (case C19 a)", async () => {
    await using agent = await start(turns([waitFor("session/cancel"), end("cancelled")]));
    const session = await agent.open();
    const stop = new AbortController();
    const turn = session.prompt("hello", { signal: stop.signal });
    stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
    expect(agent.runtime.state).toBe("ready");
  });
});
