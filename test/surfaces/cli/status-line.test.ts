import { expect, test } from "vitest";
import type { TurnEvent } from "../../../src/acp/events.ts";
import { renderStatus, statusAfter } from "../../../src/surfaces/cli/status-line.ts";
import type { StatusState } from "../../../src/surfaces/cli/status-line.ts";

const start: StatusState = { backend: "codex", startedAtMs: 1000, activity: "starting" };
const tool = (status: "pending" | "in_progress" | "completed"): TurnEvent => ({
  type: "tool",
  toolCallId: "t",
  title: "npm\ntest",
  kind: "execute",
  status,
  paths: [],
});

const answered = (denied: boolean): TurnEvent => ({
  type: "permission",
  request: { sessionId: "s", toolCallId: "t", title: "npm test", paths: [], options: [], isQuestion: false },
  answer: { action: "cancel", denied },
});

test.each<{ from: string; events: readonly TurnEvent[]; nowMs: number; line: string }>([
  { from: "before anything", events: [], nowMs: 1999, line: "codex · 0 s · starting" },
  { from: "thinking", events: [{ type: "thought", text: "hm" }], nowMs: 4000, line: "codex · 3 s · thinking" },
  {
    from: "answering for a minute",
    events: [{ type: "text", text: "a" }],
    nowMs: 66_000,
    line: "codex · 1 min 5 s · answering",
  },
  { from: "a tool in flight", events: [tool("in_progress")], nowMs: 2000, line: "codex · 1 s · runs npm test" },
  {
    from: "a tool that may have to be allowed",
    events: [tool("pending")],
    nowMs: 2000,
    line: "codex · 1 s · npm test",
  },
  {
    from: "a tool that ended",
    events: [tool("pending"), tool("completed")],
    nowMs: 2000,
    line: "codex · 1 s · waiting",
  },
  {
    from: "the countdown of a retry",
    events: [{ type: "retry", by: "ostler", attempt: 2, delayMs: 4000, reason: "x" }],
    nowMs: 3500,
    line: "codex · 2 s · next try in 2 s",
  },
  {
    from: "a retry that is due",
    events: [{ type: "retry", by: "harness", attempt: 2, reason: "x" }],
    nowMs: 3000,
    line: "codex · 2 s · tries again",
  },
  {
    from: "the session names the agent",
    events: [{ type: "session", sessionId: "s", backend: "claude" }],
    nowMs: 3000,
    line: "claude · 2 s · waiting",
  },
  {
    from: "a tool that was allowed",
    events: [tool("pending"), answered(false)],
    nowMs: 2000,
    line: "codex · 1 s · runs npm test",
  },
  {
    from: "a tool that was denied",
    events: [tool("pending"), answered(true)],
    nowMs: 2000,
    line: "codex · 1 s · waiting",
  },
  {
    from: "a late event changes nothing",
    events: [{ type: "text", text: "a", late: true }],
    nowMs: 3000,
    line: "codex · 2 s · starting",
  },
])("$from", ({ events, nowMs, line }) => {
  const state = events.reduce((state, event) => statusAfter(state, event, 2000 - 500), start);
  expect(renderStatus(state, nowMs, 80)).toBe(line);
});

test("what still arrives does not hide that the turn is being stopped", () => {
  const stopping: StatusState = { ...start, activity: { stopping: "Ctrl-C again ends it at once" } };
  const state = statusAfter(stopping, { type: "text", text: "a" }, 1000);
  expect(renderStatus(state, 4000, 80)).toBe("codex · 3 s · stopping; Ctrl-C again ends it at once");
});

test.each([
  { columns: 20, line: "codex · 0 s · st…" },
  { columns: 80, line: "codex · 0 s · starting" },
])("never as wide as $columns columns", ({ columns, line }) => {
  expect(renderStatus(start, 1000, columns)).toBe(line);
});

test("wide letters count as two cells", () => {
  const line = renderStatus({ ...start, activity: { tool: "漢字漢字漢字漢字漢字", runs: true } }, 1000, 30);
  expect(line).toBe("codex · 0 s · runs 漢字漢…");
});
