import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLastAnswer } from "../../../src/failures/log/last-answer.ts";
import type { RunEntry } from "../../../src/failures/run-lines.ts";

function began(sessionId: string): RunEntry {
  return { d: "ev", ev: { type: "turn", state: "started", turnId: "t", sessionId } };
}

function said(text: string, sessionId = "s", sessionUpdate = "agent_message_chunk"): RunEntry {
  const update = { sessionUpdate, content: { type: "text", text } };
  return { d: "in", frame: { jsonrpc: "2.0", method: "session/update", params: { sessionId, update } } };
}

function logOf(entries: readonly RunEntry[], end = ""): string {
  const file = join(mkdtempSync(join(tmpdir(), "ostler-answer-")), "output.log");
  const lines = entries.map((entry, index) => `${JSON.stringify({ t: index, n: index + 1, ...entry })}\n`);
  writeFileSync(file, lines.join("") + end);
  return file;
}

test.each<{ from: string; entries: readonly RunEntry[]; end?: string; text: string }>([
  { from: "no turn", entries: [], text: "" },
  {
    from: "the newest of two turns",
    entries: [began("s"), said("old"), began("s"), said("ne"), said("w")],
    text: "new",
  },
  { from: "a turn that said nothing", entries: [began("s"), said("old"), began("s")], text: "" },
  { from: "child sessions beside it", entries: [began("s"), said("a"), said("b", "child"), said("c")], text: "ac" },
  {
    from: "thoughts, and what the person said",
    entries: [began("s"), said("a", "s", "agent_thought_chunk"), said("b", "s", "user_message_chunk"), said("c")],
    text: "c",
  },
  {
    from: "an answer that quotes the log",
    entries: [began("s"), said('"ev":{"type":"turn","state":"started"'), said(" and more")],
    text: '"ev":{"type":"turn","state":"started" and more',
  },
  {
    from: "an image in the answer",
    entries: [
      began("s"),
      {
        d: "in",
        frame: {
          params: {
            sessionId: "s",
            update: { sessionUpdate: "agent_message_chunk", content: { type: "image", data: "x" } },
          },
        },
      },
      said("a"),
    ],
    text: "a",
  },
  {
    from: "half a line at the end",
    entries: [began("s"), said("a")],
    end: '{"t":1,"n":9,"d":"in","frame":{"params":{"update":{"sessionUpdate":"agent_message_chunk"',
    text: "a",
  },
  { from: "a log from before its turns were written", entries: [said("a"), said("b", "child")], text: "ab" },
])("the answer in a log with $from", ({ entries, end, text }) => {
  expect(readLastAnswer(logOf(entries, end))).toEqual({ text, isCut: false });
});

test("a turn that is longer than what is read is told from there on, and said to be cut", () => {
  const file = logOf([began("s"), ...Array.from({ length: 10 }, (_, index) => said(`${index}`))]);
  const { text, isCut } = readLastAnswer(file, 600);
  expect(isCut).toBe(true);
  expect(text).toMatch(/^\d*89$/);
  expect(text.length).toBeLessThan(10);
});

test("a log that is not there said nothing", () => {
  expect(readLastAnswer(join(tmpdir(), "no-such-run", "output.log"))).toEqual({ text: "", isCut: false });
});
