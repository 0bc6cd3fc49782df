import { describe, expect, test } from "vitest";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import { drive, isRunning, play, start } from "../acp/drive.ts";
import { cpuMs } from "../cpu-time.ts";
import { MISBEHAVING, SPLIT_TEXT } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, hugeChunk, turns } from "../fixtures/agents/scenario.ts";
import { askAsText } from "./ask-case.ts";

const MIB = 1024 * 1024;
const frame = (text: string) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}}`;
const RESULT = '{"jsonrpc":"2.0","id":"$P","result":{"stopReason":"end_turn"}}';

describe("the text arrives exactly", () => {
  test.each<{ from: string; turn: readonly Action[]; text: string }>([
    { from: "C13 a, a write for every byte", turn: [{ pieces: `${frame(SPLIT_TEXT)}\n` }, end()], text: SPLIT_TEXT },
    { from: "pieces of two bytes", turn: [{ pieces: `${frame("汉字é")}\n`, pieceBytes: 2 }, end()], text: "汉字é" },
    {
      from: "pieces of three bytes, CRLF",
      turn: [{ pieces: `${frame("😀é汉")}\r\n`, pieceBytes: 3 }, end()],
      text: "😀é汉",
    },
    {
      from: "a pair written as escapes",
      turn: [{ raw: `${frame("\\ud83d\\ude00")}\n` }, end()],
      text: "😀",
    },
    {
      from: "C13 b, no line end before the end of the stream",
      turn: [chunk("works"), { raw: RESULT }, { exit: 0 }],
      text: "works",
    },
    {
      from: "the same with a carriage return",
      turn: [chunk("works"), { raw: `${RESULT}\r` }, { exit: 0 }],
      text: "works",
    },
    { from: "two frames in one write", turn: [{ raw: `${frame("wo")}\n${frame("rks")}\n${RESULT}\n` }], text: "works" },
    {
      from: "line separators inside a string",
      turn: [{ raw: `${frame("a\u2028b\u2029c\u0085d")}\n` }, end()],
      text: "a\u2028b\u2029c\u0085d",
    },
  ])("$from", async ({ turn, text }) => {
    const { outcome } = await drive(turns(turn));
    expect(outcome).toMatchObject({ kind: "completed", text });
  });
});

test("a byte that is no UTF-8 costs that character and nothing else", async () => {
  const [before = "", after = ""] = frame("a|b").split("|");
  const bytes = Buffer.concat([
    Buffer.from(before.replace('"$S"', '"s1"')),
    Buffer.from([0xff]),
    Buffer.from(`${after}\n`),
  ]);
  const { outcome } = await drive(turns([{ rawBase64: bytes.toString("base64") }, chunk("c"), end()]));
  expect(outcome).toMatchObject({ kind: "completed", text: "a\uFFFDbc" });
});

test("a chunk of 20 MiB is fine (C13 c)", async () => {
  const { outcome } = await drive(MISBEHAVING.hugeChunk);
  expect({ kind: outcome.kind, chars: outcome.text.length }).toEqual({ kind: "completed", chars: 20 * MIB });
});

describe("a line over the limit ends the agent, not Ostler", () => {
  test.each<{ from: string; turn: readonly Action[]; lineBytes?: number; says: string; text?: string }>([
    { from: "C13 e, 200 MiB without a line end, the usual limit", turn: [{ fill: 200 * MIB }, end()], says: "64 MiB" },
    { from: "C13 d, a frame, a smaller limit", turn: [...hugeChunk(2 * MIB), end()], lineBytes: MIB, says: "1 MiB" },
    {
      from: "after text",
      turn: [chunk("partial words"), { fill: 3 * MIB }, end()],
      lineBytes: MIB,
      says: "1 MiB",
      text: "partial words",
    },
  ])("$from", async ({ turn, lineBytes, says, text = "" }) => {
    await using agent = await start(turns(turn), lineBytes === undefined ? {} : { lineBytes });
    const session = await agent.open();
    const before = process.memoryUsage().rss;
    const { outcome } = await play(session, { retries: 3 });
    expect(process.memoryUsage().rss - before).toBeLessThan(3 * 64 * MIB);
    expect(outcome).toMatchObject({
      kind: "failed",
      attempts: 1,
      text,
      failure: { kind: "protocol", source: "framing", retry: "never", replaySafety: "unknown" },
    });
    expect(outcome.cause).toBeInstanceOf(AcpRuntimeError);
    expect(outcome.cause?.message).toContain(`a line longer than ${says}`);
    expect(agent.runtime.state).toBe("dead");
    await agent.runtime.stop();
    expect(isRunning(agent.runtime.pid)).toBe(false);
    const next = await play(session, { retries: 3 });
    expect(next.outcome).toMatchObject({ kind: "failed", failure: { kind: "protocol", replaySafety: "not_sent" } });
  });
});

test("a frame of 80 MiB: exit 9 in a sentence (C13 d)", async () => {
  const { exitCode, stdout, stderr } = await askAsText(MISBEHAVING.hugeFrame);
  expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: "" });
  expect(stderr).toContain("a line longer than 64 MiB");
});

test("10,000 frames in one write keep their order and do not block (C13 f)", async () => {
  const frames = Array.from({ length: 10_000 }, (_, index) => frame(`${index},`)).join("\n");
  await using agent = await start(turns([{ raw: `${frames}\n` }, end()]));
  const session = await agent.open();
  const longestMs = longestTurn();
  const { outcome } = await play(session);
  expect(outcome.kind).toBe("completed");
  expect(outcome.text).toBe(Array.from({ length: 10_000 }, (_, index) => `${index},`).join(""));
  expect(longestMs()).toBeLessThan(250);
});

/** Watches the event loop from now on; the longest time that it computed without a pause, when it is asked. */
function longestTurn(): () => number {
  let last = cpuMs();
  let longest = 0;
  const look = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  return () => {
    clearImmediate(next);
    return longest;
  };
}
