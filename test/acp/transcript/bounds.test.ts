/** How much of a session is kept, and of what one event may hold. */
import { expect, test } from "vitest";
import type { SessionEvent, SessionEventBody, TurnEventBody } from "../../../src/acp/events.ts";
import { MAX_TERMINAL_CHARS, MAX_TEXT_CHARS, sizeOf } from "../../../src/acp/transcript/bounded.ts";
import { SESSION_LIMITS, SUBAGENT_LIMITS, emptyTranscript } from "../../../src/acp/transcript/placement.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import type { Transcript } from "../../../src/acp/transcript/transcript.ts";
import { linesOf } from "./describe.ts";
import { diff, failure, late, prints, reduced, text, told, tool } from "./told.ts";

const inside = (subagentId: string, event: TurnEventBody): SessionEventBody => ({
  type: "subagent",
  subagentId,
  event,
});
/** Everything that a transcript holds, counted anew. */
const counted = ({ entries }: Transcript): number => [...entries].reduce((sum, { size }) => sum + size, 0);

function grown(count: number, events: (index: number) => readonly SessionEventBody[]): Transcript {
  let transcript = emptyTranscript();
  for (let index = 0; index < count; index += 1) {
    for (const event of events(index)) transcript = reduceTranscript(transcript, told(event));
  }
  return transcript;
}

test("100,000 tool calls: the newest are kept, the others are counted", () => {
  const output = "x".repeat(20_000);
  const transcript = grown(100_000, (index) => [
    tool(`c${index}`, { status: "completed", rawInput: { command: `ls ${index}` } }),
    prints(`c${index}`, output),
  ]);
  expect(transcript.entries.length + transcript.earlier).toBe(100_000);
  expect(transcript.entries.length).toBeLessThanOrEqual(SESSION_LIMITS.entries);
  expect(transcript.book.size).toBeLessThanOrEqual(SESSION_LIMITS.chars);
  expect(transcript.book.size).toBe(counted(transcript));
  expect(sizeOf(transcript.entries.toArray())).toBeLessThan(SESSION_LIMITS.chars * 1.5);
  expect(transcript.entries.last).toMatchObject({ toolCallId: "c99999", status: "completed" });
});

test("what is not over is kept, so that its end finds it", () => {
  const first = tool("first", { title: "long" });
  const events = [first, ...Array.from({ length: 30 }, (_, index) => tool(`c${index}`, { status: "completed" }))];
  const transcript = reduced([...events.map((event) => told(event)), late({ ...first, status: "completed" })], {
    entries: 10,
    chars: 1_000_000,
  });
  const lines = linesOf(transcript);
  expect(lines.slice(0, 3)).toEqual(["21 earlier", "tool other long completed late", "tool other call c21 completed"]);
  expect(transcript.entries.length).toBe(10);
});

test("calls that never end are not kept for ever", () => {
  const transcript = grown(5000, (index) => [tool(`c${index}`)]);
  expect(transcript.entries.length).toBe(SESSION_LIMITS.entries);
  expect(transcript.earlier).toBe(3000);
});

test("a failure that was dropped does not come back as an old one", () => {
  const words = Array.from({ length: 10 }, (_, index) => told(text(`${index}`, `m${index}`)));
  const transcript = reduced([told(failure("f", 1)), ...words], { entries: 5, chars: 1_000_000 });
  expect(linesOf(transcript)).toEqual(["6 earlier", ...[5, 6, 7, 8, 9].map((index) => `message: ${index}`)]);
});

test("a message of any length: its end is kept, and what is missing is counted", () => {
  const transcript = grown(50, () => [text("0123456789".repeat(10_000), "m")]);
  const { last } = transcript.entries;
  if (last?.type !== "message") throw new Error("No message");
  expect(last.text.length).toBeLessThanOrEqual(MAX_TEXT_CHARS);
  expect(last.text.length).toBeGreaterThan(MAX_TEXT_CHARS / 2);
  expect(last.cutChars + last.text.length).toBe(5_000_000);
  expect(last.text.endsWith("789")).toBe(true);
});

const printed = (events: readonly SessionEvent[]) => reduced([told(tool("c")), ...events]).entries.toArray();

test.each([1, 7001, 100_000])("where the front is cut does not depend on the pieces: of %i characters", (length) => {
  const whole = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join("");
  const pieces = Array.from({ length: Math.ceil(whole.length / length) }, (_, index) =>
    told(prints("c", whole.slice(index * length, (index + 1) * length))),
  );
  expect(printed(pieces)).toEqual(printed([told(prints("c", whole))]));
});

test("output of any length", () => {
  const line = "\u001b[32mok\u001b[0m\n".repeat(100);
  const transcript = grown(1000, (index) => (index === 0 ? [tool("c")] : [prints("c", line)]));
  const { last } = transcript.entries;
  if (last?.type !== "tool" || last.terminal === undefined) throw new Error("No output");
  expect(last.terminal.text.length).toBeLessThanOrEqual(MAX_TERMINAL_CHARS);
  expect(last.terminal.cutChars + last.terminal.text.length).toBe(999 * line.length);
});

const big = "y".repeat(1_000_000);
const deep = (depth: number): unknown => {
  let value: unknown = "end";
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

test.each<{ from: string; events: SessionEventBody[] }>([
  { from: "a title", events: [tool("c", { title: big })] },
  { from: "an input", events: [tool("c", { rawInput: { command: big, files: [big, big] } })] },
  { from: "an output", events: [tool("c", { rawOutput: big })] },
  {
    from: "an input of a million fields",
    events: [tool("c", { rawInput: Array.from({ length: 1_000_000 }, () => 1) })],
  },
  {
    from: "an input of many keys",
    events: [
      tool("c", { rawInput: Object.fromEntries(Array.from({ length: 200_000 }, (_, key) => [`k${key}`, key])) }),
    ],
  },
  { from: "an input without a floor", events: [tool("c", { rawInput: deep(50_000) })] },
  {
    from: "texts",
    events: [tool("c", { content: Array.from({ length: 5000 }, () => ({ type: "text", text: big })) })],
  },
  { from: "paths", events: [tool("c", { paths: Array.from({ length: 100_000 }, (_, index) => `/w/${index}`) })] },
  { from: "a change", events: [tool("c"), diff("c", "/w/a", big + big)] },
  {
    from: "changes",
    events: [tool("c"), ...Array.from({ length: 1500 }, (_, index) => diff("c", `/w/${index}`, big.slice(0, 2000)))],
  },
])("one event may hold more than is kept: $from", ({ events }) => {
  const transcript = reduced(events.map((event) => told(event)));
  expect(transcript.entries.length).toBe(1);
  expect(sizeOf(transcript.entries.toArray())).toBeLessThan(2_500_000);
});

test("what is cut says so, and what is small enough is as it came", () => {
  const rawInput = { command: "ls", env: { A: "1" } };
  const small = reduced([told(tool("c", { rawInput }))]).entries.last;
  expect(small).toMatchObject({ rawInput });
  const large = reduced([told(tool("c", { rawInput: { command: big } }))]).entries.last;
  expect(JSON.stringify(large)).toContain(`more characters)`);
});

test("a subagent is bounded as its parent is, and so are all of them together", () => {
  let transcript = emptyTranscript();
  for (let index = 0; index < 3000; index += 1) {
    const call: TurnEventBody = { ...tool(`c${index}`, { status: "completed" }) };
    transcript = reduceTranscript(transcript, told(inside("s1", call)));
  }
  const { last } = transcript.entries;
  if (last?.type !== "subagent") throw new Error("No subagent");
  expect(last.work.entries.length).toBe(SUBAGENT_LIMITS.entries);
  expect(last.work.earlier).toBe(2500);
  for (let index = 0; index < 1000; index += 1) {
    transcript = reduceTranscript(transcript, told(inside(`t${index}`, { type: "text", text: "z".repeat(100_000) })));
    transcript = reduceTranscript(transcript, told({ type: "subagent", subagentId: `t${index}`, state: "completed" }));
  }
  expect(transcript.book.size).toBeLessThanOrEqual(SESSION_LIMITS.chars);
  expect(transcript.book.size).toBe(counted(transcript));
});

test("subagents of subagents without end", () => {
  const events: SessionEvent[] = [];
  for (let index = 1; index < 200; index += 1) {
    events.push(told(tool(`c${index}`, { parentToolCallId: `c${index - 1}` })));
    events.push(told({ type: "subagent", subagentId: `s${index}`, parentId: `s${index - 1}`, state: "running" }));
  }
  const lines = linesOf(reduced(events));
  expect(lines).toHaveLength(398);
  expect(Math.max(...lines.map((line) => line.search(/\S/)))).toBeLessThanOrEqual(14);
});

test("keys of an agent are no words of JavaScript", () => {
  const ids = ["__proto__", "constructor", "toString", ""];
  const transcript = reduced(ids.flatMap((id) => [told(tool(id, { title: `<${id}>` })), told(prints(id, "x"))]));
  expect(linesOf(transcript)).toEqual(ids.flatMap((id) => [`tool other <${id}> pending`, "  prints: x"]));
});

const task = (index: number): SessionEventBody => ({
  type: "task",
  taskId: `b${index}`,
  name: "n",
  taskType: "shell",
  state: index === 0 ? "running" : "completed",
  canStop: true,
  showInTranscript: false,
});

test("tasks are bounded, those that run are kept", () => {
  const { state } = reduced(Array.from({ length: 1000 }, (_, index) => told(task(index))));
  expect(state.tasks.size).toBeLessThanOrEqual(200);
  expect(state.tasks.has("b0")).toBe(true);
  expect(state.tasks.has("b999")).toBe(true);
});
