import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { UNOBSERVED_UPDATES, UnobservedLines } from "../../../src/failures/log/unobserved.ts";
import { EMPTY_STATE } from "../../../src/failures/incidents/fold.ts";
import { Observer } from "../../../src/failures/observation/observer.ts";
import type { RunLine } from "../../../src/failures/run-lines.ts";

const isUnobserved = (text: string): boolean => {
  const bytes = Buffer.from(`${text}\n`);
  return new UnobservedLines(bytes).endOfProof(0, bytes.length) >= 0;
};
const update = (kind: string, more = ""): string =>
  `{"t":1,"n":2,"d":"in","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"${kind}"${more}}}}}`;

test.each(UNOBSERVED_UPDATES)("%s is passed over, and an observer says nothing to it", (kind) => {
  expect(isUnobserved(update(kind))).toBe(true);
  const observer = new Observer({ runId: "ag_abcdef_1", conversationId: "c", trusted: true });
  const line: RunLine = JSON.parse(update(kind, ',"status":"failed","toolCallId":"t"'));
  expect(observer.observe(line, 0, EMPTY_STATE)).toEqual([]);
  expect(observer.runOver()).toEqual([]);
});

test.each([
  { from: "a tool call", line: update("tool_call") },
  { from: "its update", line: update("tool_call_update") },
  { from: "a record of the session", line: update("session_info_update") },
  { from: "an update that nobody knows", line: update("agent_message_chunk_2") },
  { from: "another order of keys", line: update("agent_message_chunk").replace('"jsonrpc":"2.0",', "") },
  { from: "another direction", line: update("agent_message_chunk").replace('"in"', '"out"') },
  {
    from: "an event",
    line: '{"t":1,"n":2,"d":"ev","ev":{"type":"exited","n":1,"code":1,"signal":null,"expected":false}}',
  },
  {
    from: "an answer",
    line: '{"t":1,"n":2,"d":"in","frame":{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}}',
  },
  {
    from: "a permission question",
    line: '{"t":1,"n":2,"d":"in","frame":{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{}}}',
  },
  {
    from: "the words in an id",
    line: update("tool_call").replace('"s"', '"s\\",\\"update\\":{\\"sessionUpdate\\":\\"plan\\""'),
  },
  { from: "half a line", line: update("agent_message_chunk").slice(0, 110) },
  { from: "no line of a log", line: '{"t":,"n":2}' },
])("$from is parsed", ({ line }) => {
  expect(isUnobserved(line)).toBe(false);
});

test("what looks like the line before, up to its last bytes, is looked at again", () => {
  const texts = [
    update("agent_message_chunk"),
    update("agent_message_chunk"),
    update("tool_call"),
    update("plan"),
    update("tool_call_update"),
  ];
  const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
  const lines = new UnobservedLines(bytes);
  let at = 0;
  const found = texts.map((text) => {
    const start = at;
    at += text.length + 1;
    return lines.endOfProof(start, bytes.length) >= 0;
  });
  expect(found).toEqual([true, true, false, true, false]);
});

const files = globSync("test/fixtures/recordings/**/*.jsonl");
test("of every recording an observer says the same, whether or not it hears what is passed over", () => {
  let passedOver = 0;
  for (const file of files) {
    const [every, needed] = [0, 1].map(
      () => new Observer({ runId: "ag_abcdef_1", conversationId: "c", trusted: false }),
    );
    const events: unknown[][] = [[], []];
    readFileSync(file, "utf8")
      .split("\n")
      .filter((text) => /^\{"dir":"(?:in|out)"/.test(text))
      .forEach((text, index) => {
        const { dir, ms, frame }: { dir: "in" | "out"; ms: number; frame: unknown } = JSON.parse(text);
        const line: RunLine = { t: ms, n: index + 1, d: dir, frame };
        events[0]!.push(...every!.observe(line, index, EMPTY_STATE));
        if (isUnobserved(JSON.stringify(line))) passedOver += 1;
        else events[1]!.push(...needed!.observe(line, index, EMPTY_STATE));
      });
    events[0]!.push(...every!.runOver());
    events[1]!.push(...needed!.runOver());
    expect(events[1]).toEqual(events[0]);
  }
  expect(passedOver).toBeGreaterThan(1000);
});
