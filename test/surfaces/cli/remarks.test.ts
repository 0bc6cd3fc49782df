import { expect, test } from "vitest";
import type { Compaction, FileChange, PlanDocument, TurnEvent } from "../../../src/acp/events.ts";
import type { QuestionAnswer } from "../../../src/acp/questions.ts";
import type { Failure } from "../../../src/errors/failure.ts";
import { Remarks } from "../../../src/surfaces/cli/remarks.ts";

const tool = (
  status: "pending" | "in_progress" | "completed" | "failed",
  more: { title?: string; exitCode?: number; commandTitle?: string; isBackgrounded?: true } = {},
): TurnEvent => ({
  type: "tool",
  toolCallId: "t1",
  title: "npm test",
  kind: "execute",
  status,
  paths: [],
  ...more,
});
const compaction = (news: Omit<Compaction, "compactionId">): TurnEvent => ({
  type: "compaction",
  compactionId: "c1",
  ...news,
});
const diff = (change: FileChange, path = "/w/a.ts"): TurnEvent => ({ type: "diff", toolCallId: "t1", path, change });
const plan = (document: PlanDocument | null): TurnEvent => ({ type: "plan", toolCallId: "t1", document });
const failure: Failure = {
  id: "w1",
  revision: 1,
  kind: "network",
  source: "session_failure",
  category: "connection",
  severity: "warning",
  title: "Reconnecting... 1/5",
  actions: [],
  retry: "backoff",
  transient: true,
  replaySafety: "no_output",
  rule: "test",
};
const request = { sessionId: "s1", toolCallId: "t1", title: "rm -rf x", paths: [], options: [], isQuestion: false };

const question = (answer: QuestionAnswer | null): TurnEvent => ({
  type: "question",
  request: { sessionId: "s1", message: "Which\ncolour?", fields: [] },
  answer,
});

test.each<{ from: string; events: readonly TurnEvent[]; lines: readonly string[] }>([
  {
    from: "questions that were answered, declined or cancelled without a word",
    events: [
      question({ action: "accept", content: { a: "Red" } }),
      question({ action: "decline" }),
      question({ action: "cancel" }),
      question(null),
    ],
    lines: [],
  },
  {
    from: "a question that nobody decided",
    events: [question({ action: "cancel", reason: "Nobody answered within 300 s" })],
    lines: ["Not answered: Which colour? (Nobody answered within 300 s)"],
  },
  {
    from: "a permission that the agent took back",
    events: [
      {
        type: "permission",
        request,
        answer: { action: "cancel", denied: false, reason: "The agent took the question back" },
      },
      { type: "permission", request, answer: { action: "cancel", denied: false } },
    ],
    lines: ["Not answered: rm -rf x (The agent took the question back)"],
  },
  {
    from: "a tool that runs and ends",
    events: [tool("pending"), tool("in_progress"), tool("completed")],
    lines: ["▸ npm test", "✓ npm test"],
  },
  {
    from: "a command that goes on in the background is not said to be done",
    events: [tool("in_progress"), tool("completed", { exitCode: 0, isBackgrounded: true })],
    lines: ["▸ npm test", "▸ npm test (goes on in the background)"],
  },
  {
    from: "a tool whose title becomes known",
    events: [tool("pending", { title: "Terminal" }), tool("pending")],
    lines: ["▸ Terminal", "▸ npm test"],
  },
  {
    from: "a command whose purpose becomes known, and is said once",
    events: [
      tool("pending"),
      tool("pending", { commandTitle: "Run the\ntests" }),
      tool("completed", { commandTitle: "Run the\ntests" }),
    ],
    lines: ["▸ npm test", "  Run the tests", "✓ npm test"],
  },
  {
    from: "a compaction that was asked for: its sizes come after its end",
    events: [
      compaction({ state: "running" }),
      compaction({ state: "running", trigger: "manual" }),
      compaction({ state: "completed", summary: "We spoke of tests." }),
      compaction({ state: "completed", trigger: "manual", preTokens: 985_004, postTokens: 2562, durationMs: 1198 }),
    ],
    lines: [
      "▸ Compacting the conversation",
      "✓ Conversation compacted",
      "✓ Conversation compacted from 985,004 to 2,562 tokens",
    ],
  },
  {
    from: "a compaction of the agent's own",
    events: [compaction({ state: "completed", trigger: "automatic", preTokens: 900, postTokens: 90 })],
    lines: ["✓ Conversation compacted from 900 to 90 tokens, as the agent decided"],
  },
  {
    from: "a compaction that failed is told by its warning or as the failure",
    events: [compaction({ state: "running" }), compaction({ state: "failed", error: "too_few_groups" })],
    lines: ["▸ Compacting the conversation"],
  },
  {
    from: "a compaction that was cancelled",
    events: [compaction({ state: "running" }), compaction({ state: "cancelled" })],
    lines: ["▸ Compacting the conversation", "✗ Compaction cancelled"],
  },
  {
    from: "the address of a sign-in, whole",
    events: [{ type: "notice", from: "adapter", text: `Sign in: https://id.example/?a=${"x".repeat(2000)}` }],
    lines: [`· Sign in: https://id.example/?a=${"x".repeat(2000)}`],
  },
  {
    from: "a tool that fails with a code",
    events: [tool("in_progress"), tool("failed", { exitCode: 2 })],
    lines: ["▸ npm test", "✗ npm test (exit 2)"],
  },
  {
    from: "a command that ends with a code",
    events: [tool("completed", { exitCode: 1 })],
    lines: ["✓ npm test (exit 1)"],
  },
  { from: "a tool without a title", events: [tool("pending", { title: "" })], lines: ["▸ execute"] },
  {
    from: "a title with control characters and a secret",
    events: [tool("pending", { title: `a\u001b[31m\nb TOKEN=ghp_${"A".repeat(36)}` })],
    lines: ["▸ a b TOKEN=[redacted]"],
  },
  {
    from: "a diff",
    events: [
      { type: "diff", toolCallId: "t1", path: "/w/a.ts", change: { form: "texts", oldText: null, newText: "x" } },
    ],
    lines: ["  ± /w/a.ts"],
  },
  {
    from: "a snippet, then the exact change of the file, told twice",
    events: [
      diff({ form: "texts", oldText: "a", newText: "b" }),
      diff({ form: "patch", patch: "x", kind: "modified", addedLines: 3, removedLines: 1 }),
      diff({ form: "patch", patch: "y", kind: "modified", addedLines: 3, removedLines: 1 }),
    ],
    lines: ["  ± /w/a.ts", "  ± /w/a.ts (+3 -1)"],
  },
  {
    from: "a new, a deleted and a renamed file, and a change that cannot be shown",
    events: [
      diff({ form: "patch", patch: "x", kind: "added", addedLines: 2, removedLines: 0 }, "/w/new"),
      diff({ form: "patch", patch: "x", kind: "deleted", addedLines: 0, removedLines: 4 }, "/w/gone"),
      diff({ form: "patch", patch: "x", kind: "renamed", fromPath: "/w/old", addedLines: 1, removedLines: 0 }, "/w/b"),
      diff({ form: "unavailable", why: "The agent sent a patch that cannot be read" }, "/w/c"),
    ],
    lines: [
      "  ± /w/new (new, +2)",
      "  ± /w/gone (deleted, -4)",
      "  ± /w/b (renamed from /w/old, +1 -0)",
      "  ± /w/c (change unavailable: The agent sent a patch that cannot be read)",
    ],
  },
  {
    from: "a plan in a file, approved and closed",
    events: [
      plan({ text: "# Plan\n\n1. Do it\n", path: "/w/plan.md" }),
      tool("completed", { title: "Exited Plan Mode" }),
      plan(null),
    ],
    lines: ["The plan (/w/plan.md):", "  # Plan\n\n  1. Do it", "✓ Exited Plan Mode", "  · the plan is closed"],
  },
  {
    from: "a plan that grows: each line once, and the last one when it is whole",
    events: "# Plan\n- one"
      .split("")
      .map((_, n, all) => plan({ text: all.slice(0, n + 1).join(""), grows: true }))
      .concat(tool("pending")),
    lines: ["The plan:", "  # Plan", "  - one", "▸ npm test"],
  },
  {
    from: "a plan that is whole, and then asked about",
    events: [plan({ text: "# Plan\n- one" }), tool("pending")],
    lines: ["The plan:", "  # Plan\n  - one", "▸ npm test"],
  },
  {
    from: "a plan that changes",
    events: [plan({ text: "# A\n" }), plan({ text: "# B\n" })],
    lines: ["The plan:", "  # A", "The plan, changed:", "  # B"],
  },
  {
    from: "a plan whose file is missing",
    events: [
      plan({ text: null, path: "/w/gone.md", problem: "The plan in /w/gone.md is not shown: there is no such file" }),
    ],
    lines: ["The plan in /w/gone.md is not shown: there is no such file"],
  },
  {
    from: "a plan of long ago",
    events: [plan({ text: null, path: "/w/plan.md" })],
    lines: ["The plan is in /w/plan.md"],
  },
  {
    from: "a plan with a secret and control characters",
    events: [plan({ text: `key=ghp_${"A".repeat(36)}\u001b[2J\n` })],
    lines: ["The plan:", "  key=[redacted]"],
  },
  {
    from: "a plan of more lines than anybody reads here",
    events: [plan({ text: "x\n".repeat(500) }), plan({ text: "x\n".repeat(600) })],
    lines: ["The plan:", `${"  x\n".repeat(200)}  …`],
  },
  {
    from: "a plan, then the step that changed",
    events: [
      {
        type: "plan",
        entries: [
          { content: "A", status: "in_progress" },
          { content: "B", status: "pending" },
        ],
      },
      {
        type: "plan",
        entries: [
          { content: "A", status: "completed" },
          { content: "B", status: "pending" },
        ],
      },
    ],
    lines: ["  ▸ A", "  · B", "  ✓ A"],
  },
  {
    from: "a denial with its reason",
    events: [
      {
        type: "permission",
        request,
        answer: { action: "select", optionId: "r", denied: true, reason: "Only reading is approved" },
      },
    ],
    lines: ["Denied: rm -rf x (Only reading is approved)"],
  },
  {
    from: "a grant",
    events: [{ type: "permission", request, answer: { action: "select", optionId: "a", denied: false } }],
    lines: [],
  },
  {
    from: "a warning and its repetition",
    events: [
      { type: "warning", failure },
      { type: "warning", failure },
    ],
    lines: ["Warning: Reconnecting... 1/5"],
  },
  {
    from: "a warning with a new revision",
    events: [
      { type: "warning", failure },
      { type: "warning", failure: { ...failure, revision: 2, title: "Reconnecting... 2/5" } },
    ],
    lines: ["Warning: Reconnecting... 1/5", "Warning: Reconnecting... 2/5"],
  },
  {
    from: "a harness that tries again says so once",
    events: [
      { type: "retry", by: "harness", attempt: 1, reason: failure.title },
      { type: "warning", failure },
    ],
    lines: ["The agent tries again by itself: Reconnecting... 1/5"],
  },
  {
    from: "our own retry",
    events: [{ type: "retry", by: "ostler", attempt: 2, of: 4, delayMs: 2100, reason: "HTTP 503" }],
    lines: ["Trying again in 2 s (try 2 of 4): HTTP 503"],
  },
  {
    from: "words of the adapter",
    events: [{ type: "notice", from: "adapter", text: "Compacting\nnow" }],
    lines: ["· Compacting now"],
  },
  { from: "text after the end", events: [{ type: "text", text: "late", late: true }], lines: ["After the end: late"] },
  {
    from: "what only programs need",
    events: [
      { type: "session", sessionId: "s", backend: "b" },
      { type: "thought", text: "hm" },
      { type: "terminal", toolCallId: "t", data: "x" },
      { type: "failure", failure },
      { type: "usage" },
      { type: "commands", commands: [] },
    ],
    lines: [],
  },
])("$from", ({ events, lines }) => {
  const remarks = new Remarks();
  expect(events.flatMap((event) => remarks.of(event)).map(({ text }) => text)).toEqual(lines);
});
