/** Events to what a person sees: where each stands, what it is joined to, what changes it. */
import { expect, test } from "vitest";
import type { SessionEvent, SessionEventBody } from "../../../src/acp/events.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import { linesOf } from "./describe.ts";
import {
  diff,
  ended,
  failure,
  late,
  prints,
  reduced,
  replayed,
  started,
  superseded,
  text,
  thought,
  told,
  tool,
  user,
} from "./told.ts";

const of = (...events: SessionEventBody[]): SessionEvent[] => events.map((event) => told(event));
const task = (state: "running" | "stopped" | "completed", showInTranscript: boolean): SessionEventBody => ({
  type: "task",
  taskId: "b1",
  name: "build",
  taskType: "shell",
  state,
  canStop: true,
  showInTranscript,
});
const retry = (attempt: number, by: "ostler" | "harness" = "harness"): SessionEventBody => ({
  type: "retry",
  by,
  attempt,
  of: 2,
  reason: `Reconnecting... ${attempt}/2`,
});
const permission = (answer: "open" | "yes", title = "rm x"): SessionEventBody => ({
  type: "permission",
  request: { sessionId: "s1", toolCallId: "c1", title, paths: [], options: [], isQuestion: false },
  answer: answer === "open" ? null : { action: "select", optionId: "yes", denied: false },
});
const question = (isOpen: boolean): SessionEventBody => ({
  type: "question",
  request: { sessionId: "s1", message: "Which colour?", fields: [] },
  answer: isOpen ? null : { action: "decline" },
});
const spawned = (subagentId: string, more: object = {}): SessionEventBody => ({
  type: "subagent",
  subagentId,
  state: "running",
  ...more,
});
const inside = (subagentId: string, event: SessionEventBody): SessionEventBody => {
  if (event.type === "user" || event.type === "turn") throw new Error("A subagent tells neither");
  return { type: "subagent", subagentId, event };
};

test.each<{ from: string; events: SessionEvent[]; lines: string[] }>([
  {
    from: "a turn: what was asked, said and how it ended",
    events: of(started, user("Hi"), text("Hel"), text("lo"), ended()),
    lines: ["user: Hi", "message: Hello", "end: completed"],
  },
  {
    from: "words of another message, and of another kind, stand apart",
    events: of(thought("a"), thought("b"), text("x", "m1"), text("y", "m1"), text("z", "m2"), text("w")),
    lines: ["thought: ab", "message: xy", "message: z", "message: w"],
  },
  {
    from: "what says nothing does not part them; empty words are none",
    events: of(text("a"), { type: "usage", contextUsed: 1 }, { type: "commands", commands: [] }, text(""), text("b")),
    lines: ["message: ab"],
  },
  {
    from: "a call that goes on meanwhile does not part them either, one that begins does",
    events: of(tool("c1"), text("a"), tool("c1", { status: "completed" }), text("b"), tool("c2"), text("c")),
    lines: ["tool other call c1 completed", "message: ab", "tool other call c2 pending", "message: c"],
  },
  {
    from: "a message that was said again is marked, and no other one",
    events: of(text("Half", "m1"), text("Half an answer", "m2"), superseded("m1")),
    lines: ["superseded message: Half", "message: Half an answer"],
  },
  {
    from: "an agent that counts its messages anew: only the message of this turn is meant",
    events: [told(text("one", "m1")), told(text("two", "m1"), "t2"), told(superseded("m1"), "t2")],
    lines: ["message: one", "superseded message: two"],
  },
  {
    from: "late words belong to their turn and are marked",
    events: [...of(text("Yes"), ended()), late(text(", but"))],
    lines: ["message: Yes", "end: completed", "message: , but late"],
  },
  {
    from: "a call that ends late stays where it began",
    events: [...of(tool("c1"), text("Done"), ended()), late(tool("c1", { status: "completed", exitCode: 0 }))],
    lines: ["tool other call c1 completed, exit 0 late", "message: Done", "end: completed"],
  },
  {
    from: "a call: every field is the newest, what is not said again stays, output is appended",
    events: of(
      tool("c1", { title: "ls", kind: "execute", rawInput: { command: "ls" }, name: "Bash" }),
      prints("c1", "a\n"),
      prints("c1", "\u001b[1mb"),
      {
        type: "tool",
        toolCallId: "c1",
        title: "ls -l",
        kind: "execute",
        status: "completed",
        paths: ["/w"],
        exitCode: 0,
      },
    ),
    lines: ["tool execute ls -l completed, name Bash, exit 0, at /w", '  in: {"command":"ls"}', "  prints: a⏎␛[1mb"],
  },
  {
    from: "a change replaces what was said of the same file",
    events: of(tool("c1"), diff("c1", "/w/a", "1"), diff("c1", "/w/b", "2"), diff("c1", "/w/a", "3")),
    lines: [
      "tool other call c1 pending",
      '  changes /w/a texts: {"oldText":null,"newText":"3"}',
      '  changes /w/b texts: {"oldText":null,"newText":"2"}',
    ],
  },
  {
    from: "recording claude-agent-acp 0.101.0 edit-no-match: an error takes the place of the change, which did not happen",
    events: of(
      tool("c1", { content: [{ type: "diff", path: "/w/a" }] }),
      diff("c1", "/w/a", "1"),
      tool("c1", { status: "failed", content: [{ type: "text", text: "No match" }] }),
    ),
    lines: ["tool other call c1 failed", "  shows text: No match"],
  },
  {
    from: "a content that names the change again keeps it",
    events: of(
      tool("c1", { content: [{ type: "diff", path: "/w/a" }] }),
      diff("c1", "/w/a", "1"),
      tool("c1", {
        content: [
          { type: "text", text: "Edited" },
          { type: "diff", path: "/w/a" },
        ],
      }),
    ),
    lines: [
      "tool other call c1 pending",
      '  changes /w/a texts: {"oldText":null,"newText":"1"}',
      "  shows text: Edited",
    ],
  },
  {
    from: "output and changes of a call that nobody told of are not shown",
    events: of(prints("c9", "x"), diff("c9", "/w/a", "1"), text("a")),
    lines: ["message: a"],
  },
  {
    from: "an agent that counts its calls anew in every turn: another call",
    events: [
      told(tool("1", { title: "one", status: "completed" })),
      told(tool("1", { title: "two" }), "t2"),
      told(prints("1", "x"), "t2"),
    ],
    lines: ["tool other one completed", "tool other two pending", "  prints: x"],
  },
  {
    from: "the calls of a subagent without a session stand under the call that started it, whatever its depth",
    events: of(
      tool("a1", { title: "Look", isSubagent: true }),
      tool("r1", { title: "Read", parentToolCallId: "a1" }),
      tool("a2", { title: "Look deeper", parentToolCallId: "a1" }),
      tool("r2", { title: "Grep", parentToolCallId: "a2" }),
      prints("r2", "hit"),
      tool("r1", { title: "Read", parentToolCallId: "a1", status: "completed" }),
      text("Found"),
    ),
    lines: [
      "tool other Look pending, subagent",
      "  tool other Read completed",
      "  tool other Look deeper pending",
      "    tool other Grep pending",
      "      prints: hit",
      "message: Found",
    ],
  },
  {
    from: "a call whose parent is not known stands by itself",
    events: of(tool("r1", { parentToolCallId: "gone" })),
    lines: ["tool other call r1 pending"],
  },
  {
    from: "what such a subagent says stands there too, and how it ended is the call's",
    events: of(
      tool("a1", { title: "Look" }),
      inside("a1", text("Looking")),
      spawned("a1", { state: "completed" }),
      inside("a1", text(" around")),
    ),
    lines: ["tool other Look pending, its subagent completed", "  message: Looking around"],
  },
  {
    from: "a subagent with a session: its own transcript, its failures its own",
    events: of(
      spawned("s2", { name: "Small check" }),
      inside("s2", text("One")),
      text("Meanwhile"),
      inside("s2", tool("c1")),
      inside("s2", failure("f", 1)),
      spawned("s2", { state: "failed" }),
      text(", this"),
    ),
    lines: [
      "subagent Small check failed",
      "  message: One",
      "  tool other call c1 pending",
      "  error service_error r1: f 1",
      "message: Meanwhile, this",
    ],
  },
  {
    from: "a subagent and its parent may use the same ids",
    events: of(
      tool("c1", { title: "mine" }),
      spawned("s2"),
      inside("s2", tool("c1", { title: "its" })),
      prints("c1", "x"),
    ),
    lines: ["tool other mine pending", "  prints: x", "subagent s2 running", "  tool other its pending"],
  },
  {
    from: "a subagent of a subagent, told of by its parent and by itself",
    events: of(
      spawned("s2"),
      inside("s2", spawned("s3", { name: "inner" })),
      inside("s3", text("deep")),
      inside("s2", inside("s3", text("er"))),
      spawned("s3", { state: "completed" }),
    ),
    lines: ["subagent s2 running", "  subagent inner completed", "    message: deeper"],
  },
  {
    from: "a subagent that names its parent",
    events: of(spawned("s2"), spawned("s3", { parentId: "s2" }), spawned("s4", { parentId: "gone" })),
    lines: ["subagent s2 running", "  subagent s3 running", "subagent s4 running"],
  },
  {
    from: "a subagent that nobody announced",
    events: of(inside("s2", text("Hello"))),
    lines: ["subagent s2 running", "  message: Hello"],
  },
  {
    from: "its background work goes on in the next turn",
    events: [
      told(spawned("s2")),
      told(inside("s2", tool("c1"))),
      told(inside("s2", tool("c1", { status: "completed" })), "t2"),
    ],
    lines: ["subagent s2 running", "  tool other call c1 completed"],
  },
  {
    from: "a failure: a higher revision where the first stood, the same and a lower one are nothing",
    events: of(
      failure("f", 1, { severity: "warning" }),
      text("a"),
      failure("f", 3),
      failure("f", 3, { title: "again" }),
      failure("f", 2),
      failure("g", 1),
    ),
    lines: ["error service_error r3: f 3", "message: a", "error service_error r1: g 1"],
  },
  {
    from: "two failures with the same words are two",
    events: of(failure("f", 1, { title: "Same" }), failure("g", 1, { title: "Same" })),
    lines: ["error service_error r1: Same", "error service_error r1: Same"],
  },
  {
    from: "a failure late: a new one at the end, a known one where it stands",
    events: [...of(failure("f", 1), text("a"), ended()), late(failure("f", 2)), late(failure("g", 1))],
    lines: ["error service_error r2: f 2 late", "message: a", "end: completed", "error service_error r1: g 1 late"],
  },
  {
    from: "a harness's own tries: one entry until something else is said",
    events: of(retry(1), retry(2), text("a"), retry(3)),
    lines: ["retry by harness 2/2: Reconnecting... 2/2", "message: a", "retry by harness 3/2: Reconnecting... 3/2"],
  },
  {
    from: "recording codex-acp 2.6.0 stream-cut-never: the record of a try says the same as its event",
    events: of(
      retry(1),
      failure("f", 1, { severity: "warning", title: "Reconnecting... 1/2" }),
      retry(2),
      failure("f", 2, { severity: "warning", title: "Reconnecting... 2/2" }),
    ),
    lines: ["warning service_error r2: Reconnecting... 2/2"],
  },
  {
    from: "Ostler's own tries are told one by one",
    events: of(retry(1, "ostler"), retry(2, "ostler")),
    lines: ["retry by ostler 1/2: Reconnecting... 1/2", "retry by ostler 2/2: Reconnecting... 2/2"],
  },
  {
    from: "a plan: one a turn, where it first stood",
    events: [
      ...of({ type: "plan", entries: [{ content: "a", status: "pending" }] }, text("x"), {
        type: "plan",
        entries: [{ content: "a", status: "completed" }],
      }),
      told({ type: "plan", entries: [{ content: "b", status: "pending" }] }, "t2"),
      late({ type: "plan", entries: [{ content: "c", status: "pending" }] }),
    ],
    lines: ["plan: pending c late", "message: x", "plan: pending b"],
  },
  {
    from: "a plan that is cleared, and an empty one that never was there",
    events: [
      ...of({ type: "plan", entries: [{ content: "a", status: "pending" }] }, { type: "plan", entries: [] }),
      told({ type: "plan", entries: [] }, "t2"),
    ],
    lines: ["plan: "],
  },
  {
    from: "the plans of a replay, which has no turns",
    events: [
      replayed(user("one")),
      replayed({ type: "plan", entries: [{ content: "a", status: "completed" }] }),
      replayed(user("two")),
      replayed({ type: "plan", entries: [{ content: "b", status: "completed" }] }),
    ],
    lines: ["user: one replayed", "plan: completed a replayed", "user: two replayed", "plan: completed b replayed"],
  },
  {
    from: "a proposed plan: updated and taken back where it stands",
    events: of(
      { type: "plan", toolCallId: "p1", document: { text: "One" } },
      text("x"),
      { type: "plan", toolCallId: "p1", document: { text: "Two", path: "/p.md" } },
      { type: "plan", toolCallId: "p2", document: { text: "Other" } },
      { type: "plan", toolCallId: "p2", document: null },
      { type: "plan", toolCallId: "p3", document: null },
    ),
    lines: ["plan p1: /p.md Two", "message: x", "plan p2: taken back"],
  },
  {
    from: "a permission: answered where it was asked, the next one with the same words is another",
    events: of(permission("open"), text("x"), permission("yes"), permission("yes"), permission("yes", "rm y")),
    lines: ["permission rm x: yes", "message: x", "permission rm x: yes", "permission rm y: yes"],
  },
  {
    from: "a question",
    events: of(question(true), text("x"), question(false)),
    lines: ['question Which colour?: {"action":"decline"}', "message: x"],
  },
  {
    from: "a task that is to be shown: where it began; stopped may become completed",
    events: of(task("running", true), text("x"), task("stopped", true), task("completed", true)),
    lines: ["task build completed", "message: x"],
  },
  { from: "a task that is not to be shown", events: of(task("running", false)), lines: [] },
  {
    from: "a compaction: one entry, its facts as they come",
    events: of(
      { type: "compaction", compactionId: "k", state: "running" },
      text("x"),
      { type: "compaction", compactionId: "k", state: "completed" },
      { type: "compaction", compactionId: "k", state: "completed", trigger: "manual", preTokens: 9, postTokens: 3 },
    ),
    lines: ["compaction completed manual 9 to 3", "message: x"],
  },
  {
    from: "a report of changed files: one a turn",
    events: of(
      { type: "changes", report: { status: "unavailable", reason: "timeout" } },
      { type: "changes", report: { status: "unavailable", reason: "cancelled" } },
    ),
    lines: ['changes: {"status":"unavailable","reason":"cancelled"}'],
  },
  {
    from: "notices of both, one by one",
    events: of(
      { type: "notice", from: "adapter", text: "a" },
      { type: "notice", from: "ostler", text: "b" },
      { type: "notice", from: "adapter", text: "" },
    ),
    lines: ["notice from adapter: a", "notice from ostler: b"],
  },
  {
    from: "a replay, then a turn",
    events: [replayed(user("Go")), replayed(text("Gone", "m1")), ...of(started, user("Again"), text("Went"))],
    lines: ["user: Go replayed", "message: Gone replayed", "user: Again", "message: Went"],
  },
  {
    from: "what is repeated when a session that stands here is reopened is not said twice",
    events: [
      ...of(user("Go"), text("Gone", "m1")),
      replayed(user("Go")),
      replayed(text("Gone", "m1")),
      replayed(tool("c1")),
    ],
    lines: ["user: Go", "message: Gone"],
  },
  {
    from: "recording codex-acp 2.6.0 load-after-failure: a warning about this start is not repeated, a known one is",
    events: [
      ...of(user("Go"), failure("turn:error", 1), failure("old", 1, { severity: "warning" })),
      replayed(user("Go")),
      replayed(failure("history:error", 1)),
      replayed(failure("old", 1, { severity: "warning" })),
      replayed(failure("new", 1, { severity: "warning" })),
    ],
    lines: [
      "user: Go",
      "error service_error r1: turn:error 1",
      "warning service_error r1: old 1",
      "warning service_error r1: new 1 replayed",
    ],
  },
  {
    from: "work that no prompt started",
    events: [told(started, null), told(text("a"), null), told(text("b"), null), told(ended(), null)],
    lines: ["message: ab", "end: completed"],
  },
])("$from", ({ events, lines }) => {
  expect(linesOf(reduced(events))).toEqual(lines);
});

test("the state of a session stands beside its entries", () => {
  const events: SessionEvent[] = [
    told(started),
    told({ type: "session", sessionId: "s1", backend: "codex", agent: "Codex 2", model: "gpt", mode: "read-only" }),
    told({ type: "mode", modeId: "plan" }),
    told({ type: "commands", commands: [{ name: "compact", description: "Compact" }] }),
    told({ type: "goal", goal: { objective: "Ship", status: "active" } }),
    told({ type: "usage", contextUsed: 10, contextSize: 100 }),
    told({ type: "usage", contextUsed: 20, cost: { amount: 1, currency: "USD" } }),
    told(task("running", false)),
  ];
  const { state } = reduced(events);
  expect(state).toMatchObject({
    sessionId: "s1",
    backend: "codex",
    agent: "Codex 2",
    model: "gpt",
    mode: "plan",
    isWorking: true,
    turnId: "t1",
    commands: [{ name: "compact", description: "Compact" }],
    goal: { objective: "Ship", status: "active" },
    context: { used: 20, size: 100, cost: { amount: 1, currency: "USD" } },
    tokens: null,
  });
  expect([...state.tasks.values()]).toMatchObject([{ taskId: "b1", state: "running" }]);
});

test("what a session event does not say is as it was; a goal that is cleared is none", () => {
  const { state } = reduced([
    told({ type: "session", sessionId: "s1", backend: "codex", model: "gpt", mode: "plan" }),
    told({ type: "session", sessionId: "s1", backend: "codex", model: "other" }),
    told({ type: "goal", goal: { objective: "Ship", status: "active" } }),
    told({ type: "goal", goal: null }),
  ]);
  expect(state).toMatchObject({ model: "other", mode: "plan", goal: null });
});

const usage = (inputTokens: number, model: string) => ({
  inputTokens,
  outputTokens: 1,
  cachedTokens: 0,
  byModel: [{ model, inputTokens, outputTokens: 1, cachedTokens: 0 }],
});

test("tokens are those of all turns", () => {
  const { state } = reduced([
    told(ended({ usage: usage(10, "a") })),
    told(ended({ usage: null }), "t2"),
    told(ended({ usage: usage(5, "a") }), "t3"),
    told(ended({ usage: usage(1, "b") }), "t4"),
  ]);
  expect(state.tokens).toEqual({
    inputTokens: 16,
    outputTokens: 3,
    cachedTokens: 0,
    byModel: [
      { model: "a", inputTokens: 15, outputTokens: 2, cachedTokens: 0 },
      { model: "b", inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
    ],
  });
});

test("a turn that ended does not end the one that runs", () => {
  expect(reduced([told(started, "t2"), told(ended(), "t1")]).state).toMatchObject({ isWorking: true, turnId: "t2" });
  expect(reduced([told(started, "t2"), told(ended(), "t2")]).state).toMatchObject({ isWorking: false, turnId: null });
});

test("how a turn ended is told without its text and its error", () => {
  const cause = new Error("secret");
  const outcome = { ...ended({ text: "long answer", stderr: "secret" }), cause };
  const transcript = reduced([told(outcome)]);
  expect(transcript.entries.last).toMatchObject({
    type: "end",
    outcome: { kind: "completed", stopReason: "end_turn" },
  });
  expect(JSON.stringify(transcript.entries)).not.toMatch(/long answer|secret/);
});

test("a transcript that was given out never changes, whatever grows out of it", () => {
  const base = reduced(of(user("Hi"), tool("c1"), failure("f", 1), text("a", "m1")));
  const before = JSON.stringify(base);
  const one = of(tool("c2"), prints("c1", "one"), failure("f", 2), text("b", "m1")).reduce(reduceTranscript, base);
  const other = of(text("other", "m1"), tool("c3"), tool("c2", { title: "its own" }), prints("c2", "x")).reduce(
    reduceTranscript,
    base,
  );
  expect(JSON.stringify(base)).toBe(before);
  expect(linesOf(one)).toEqual([
    "user: Hi",
    "tool other call c1 pending",
    "  prints: one",
    "error service_error r2: f 2",
    "message: a",
    "tool other call c2 pending",
    "message: b",
  ]);
  expect(linesOf(other)).toEqual([
    "user: Hi",
    "tool other call c1 pending",
    "error service_error r1: f 1",
    "message: aother",
    "tool other call c3 pending",
    "tool other its own pending",
    "  prints: x",
  ]);
  // Grown later, and found all the same.
  expect(linesOf(of(prints("c2", "late")).reduce(reduceTranscript, one))).toContain("  prints: late");
});
