/** Frames of an ended turn that come once the next prompt is out: what names that turn is late, the rest is the next one's. */
import { describe, expect, test } from "vitest";
import { EndedTurns } from "../../src/acp/ended-turns.ts";
import { AcpSession } from "../../src/acp/session.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, thought, tool, toolUpdate, turns } from "../fixtures/agents/scenario.ts";
import { play, start, textsOf } from "./drive.ts";

const M1 = { messageId: "6888dfbe-6628-4337-ab3a-48065fe6631d" };
const M2 = { messageId: "6888dfbe-6628-4337-ab3a-48065fe6632e" };

describe("after the next prompt", () => {
  test.concurrent.each<{
    from: string;
    first: readonly Action[];
    second: readonly Action[];
    text: string;
    tools: readonly string[];
    late: number;
  }>([
    {
      from: "text of a message of the earlier turn",
      first: [chunk("one", M1), end()],
      second: [chunk(" late", M1), chunk("two", M2), end()],
      text: "two",
      tools: [],
      late: 1,
    },
    {
      from: "an update of a tool call of the earlier turn (recording codex-acp 2.6.0 cancel-mid-command)",
      first: [tool("t1"), chunk("one"), end()],
      second: [toolUpdate("t1", { status: "completed" }), chunk("two"), end()],
      text: "two",
      tools: [],
      late: 1,
    },
    {
      from: "an agent that counts its calls anew announces them",
      first: [tool("t1"), toolUpdate("t1", { status: "completed" }), chunk("one"), end()],
      second: [tool("t1"), toolUpdate("t1", { status: "completed" }), chunk("two"), end()],
      text: "two",
      tools: ["pending", "completed"],
      late: 0,
    },
    {
      from: "an agent that counts its messages anew is not cut short",
      first: [chunk("one", { messageId: "message-1" }), end()],
      second: [chunk("two", { messageId: "message-1" }), end()],
      text: "two",
      tools: [],
      late: 0,
    },
    {
      from: "a call that nobody announced is the running turn's (kiro V3)",
      first: [chunk("one"), end()],
      second: [toolUpdate("t9", { status: "completed" }), chunk("two"), end()],
      text: "two",
      tools: ["completed"],
      late: 0,
    },
    {
      from: "what names nothing cannot be told apart, and is not guessed",
      first: [chunk("one"), end()],
      second: [thought("hm"), chunk("two"), end()],
      text: "two",
      tools: [],
      late: 0,
    },
  ])("$from", async ({ first, second, text, tools, late }) => {
    await using agent = await start(turns(first, second));
    const session = await agent.open();
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "one" });
    const { outcome, events } = await play(session);
    expect(outcome).toMatchObject({ kind: "completed", text });
    expect(textsOf(events, "text").join("")).toBe(text);
    expect(events.flatMap((event) => (event.type === "tool" ? [event.status] : []))).toEqual(tools);
    expect(session instanceof AcpSession && session.lateFrames).toBe(late);
  });

  test.concurrent("a late frame is no output: a turn with nothing else is empty", async () => {
    await using agent = await start(
      turns([tool("t1"), chunk("one"), end()], [toolUpdate("t1", { status: "failed" }), end()]),
    );
    const session = await agent.open();
    await play(session);
    expect((await play(session, { retries: 0 })).outcome).toMatchObject({ kind: "empty", text: "" });
  });
});

test("the newest thousand of each are remembered", () => {
  const ended = new EndedTurns();
  ended.addIds(
    Array.from({ length: 1500 }, (_, n) => `t${n}`),
    [],
  );
  const claims = (toolCallId: string) => ended.claims({ sessionUpdate: "tool_call_update", toolCallId });
  expect(["t0", "t499", "t500", "t1499"].map(claims)).toEqual([false, false, true, true]);
});
