import { describe, expect, test } from "vitest";
import { Subagents, readParentCall, readSubagentId, toSubagent } from "../../../src/acp/air/subagents.ts";
import type { SessionEventBody } from "../../../src/acp/events.ts";
import type { Frame } from "../../../src/acp/frames.ts";

type Fields = Readonly<Record<string, unknown>>;

/** As in the recording claude-agent-acp 0.101.0 subagent-ok. */
const spawned = (fields: Fields = {}): Frame => ({
  sessionUpdate: "subagent_spawned",
  subagentSessionId: "child-1",
  name: "Small check",
  task: "look around",
  capabilities: {},
  ...fields,
});
const ended = (state: unknown): Frame => ({
  sessionUpdate: "subagent_state_update",
  subagentSessionId: "child-1",
  state,
});
/** The protocol's draft form, as claude-agent-acp writes it for clients without AIR. */
const draft = (fields: Fields): Frame => ({ sessionUpdate: "subagent_update", sessionId: "child-1", ...fields });

const RUNNING = { type: "subagent", subagentId: "child-1", state: "running", name: "Small check", task: "look around" };

describe("what an update says", () => {
  test.each<{ readonly from: string; readonly updates: Frame[]; readonly last: unknown }>([
    { from: "begun", updates: [spawned()], last: RUNNING },
    {
      from: "contract: with the exact prompt of the child",
      updates: [spawned({ prompt: "look around\nand tell" })],
      last: { ...RUNNING, prompt: "look around\nand tell" },
    },
    { from: "completed", updates: [spawned(), ended("completed")], last: { ...RUNNING, state: "completed" } },
    { from: "failed", updates: [spawned(), ended("failed")], last: { ...RUNNING, state: "failed" } },
    { from: "cancelled", updates: [spawned(), ended("cancelled")], last: { ...RUNNING, state: "cancelled" } },
    {
      from: "its connection was lost",
      updates: [spawned(), ended("disconnected")],
      last: { ...RUNNING, state: "failed" },
    },
    {
      from: "contract: resumed with another message",
      updates: [spawned(), ended("completed"), spawned({ prompt: "go on" })],
      last: { ...RUNNING, prompt: "go on" },
    },
    {
      from: "an end without a beginning",
      updates: [ended("completed")],
      last: { type: "subagent", subagentId: "child-1", state: "completed" },
    },
    { from: "a word that no version knows", updates: [spawned(), ended("pondering")], last: RUNNING },
    {
      from: "draft form: begun, then a title alone, then done",
      updates: [
        draft({ title: "Small", description: "look around", state: { state: "running" } }),
        draft({ title: "Small check" }),
        draft({ state: { state: "idle" } }),
      ],
      last: { ...RUNNING, state: "completed" },
    },
    {
      from: "draft form: announced without a state",
      updates: [draft({ title: "Small check", description: "look around" })],
      last: RUNNING,
    },
    {
      from: "fields of other types say nothing",
      updates: [spawned({ name: 7, task: null, prompt: {} })],
      last: { type: "subagent", subagentId: "child-1", state: "running" },
    },
  ])("$from", ({ updates, last }) => {
    const subagents = new Subagents();
    expect(updates.flatMap((update) => subagents.apply(update)).at(-1)).toEqual(last);
  });

  test.each<{ readonly from: string; readonly update: Frame }>([
    { from: "no id", update: spawned({ subagentSessionId: undefined }) },
    { from: "an empty id", update: spawned({ subagentSessionId: "" }) },
    { from: "an id that is no text", update: spawned({ subagentSessionId: 7 }) },
    { from: "an id without end", update: spawned({ subagentSessionId: "x".repeat(1001) }) },
    { from: "a state without a word, of one that is not known", update: ended({}) },
  ])("nothing: $from", ({ update }) => {
    expect(new Subagents().apply(update)).toEqual([]);
  });

  test("the same again is no news, and a hundred thousand are forgotten", () => {
    const subagents = new Subagents();
    expect([subagents.apply(spawned()), subagents.apply(spawned())].map(({ length }) => length)).toEqual([1, 0]);
    for (let n = 0; n < 100_000; n += 1) subagents.apply(spawned({ subagentSessionId: `c${n}` }));
    expect(subagents.apply(ended("completed"))).toEqual([
      { type: "subagent", subagentId: "child-1", state: "completed" },
    ]);
  });
});

test.each<{ readonly from: string; readonly update: Frame; readonly id: string | undefined }>([
  { from: "AIR", update: spawned(), id: "child-1" },
  { from: "draft", update: draft({}), id: "child-1" },
  { from: "a session id of any other update", update: { sessionUpdate: "plan", sessionId: "child-1" }, id: undefined },
])("the id of a subagent: $from", ({ update, id }) => {
  expect(readSubagentId(update)).toBe(id);
});

test.each<{ readonly from: string; readonly update: Frame; readonly id: string | undefined }>([
  {
    from: "text of a subagent in its parent's session",
    update: { sessionUpdate: "agent_message_chunk", _meta: { claudeCode: { parentToolUseId: "toolu_1" } } },
    id: "toolu_1",
  },
  {
    from: "a tool call belongs to the session, whoever makes it",
    update: { sessionUpdate: "tool_call", _meta: { claudeCode: { parentToolUseId: "toolu_1" } } },
    id: undefined,
  },
  {
    from: "a change of one too",
    update: { sessionUpdate: "tool_call_update", _meta: { claudeCode: { parentToolUseId: "toolu_1" } } },
    id: undefined,
  },
  {
    from: "the session's own text",
    update: { sessionUpdate: "agent_message_chunk", _meta: { claudeCode: { parentToolUseId: null } } },
    id: undefined,
  },
  { from: "no metadata", update: { sessionUpdate: "agent_message_chunk", _meta: "claudeCode" }, id: undefined },
])("the call of a subagent: $from", ({ update, id }) => {
  expect(readParentCall(update)).toBe(id);
});

test.each<{ readonly from: string; readonly event: SessionEventBody; readonly told: unknown }>([
  {
    from: "text",
    event: { type: "text", text: "Report" },
    told: [{ type: "subagent", subagentId: "child-1", event: { type: "text", text: "Report" } }],
  },
  { from: "its parent's words to it", event: { type: "user", text: "look around" }, told: [] },
  {
    from: "a subagent of its own",
    event: { type: "subagent", subagentId: "child-2", state: "running" },
    told: [{ type: "subagent", subagentId: "child-2", state: "running", parentId: "child-1" }],
  },
  {
    from: "news of that one",
    event: { type: "subagent", subagentId: "child-2", event: { type: "text", text: "deep" } },
    told: [{ type: "subagent", subagentId: "child-2", event: { type: "text", text: "deep" } }],
  },
])("an event of a subagent: $from", ({ event, told }) => {
  expect(toSubagent("child-1")(event)).toEqual(told);
});
