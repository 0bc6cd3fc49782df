/** Case C17: requests and updates of sessions that nobody here opened. Each is answered, and none stops a turn. */
import { describe, expect, test } from "vitest";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import type { PermissionRequest } from "../../src/acp/types.ts";
import { play, start, textsOf } from "../acp/drive.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  err,
  logOf,
  permission,
  tool,
  turns,
  update,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";

const allowed = { outcome: { outcome: "selected", optionId: "a" } };
const rejected = { outcome: { outcome: "selected", optionId: "r" } };
const allowOnce: PermissionPolicy = async () => ({ action: "select", optionId: "a", denied: false });
const never: PermissionPolicy = async () => ({ action: "cancel", denied: true });
const child = { sessionId: "child-99" };

/** A prompt that ends when the other turn has played its part. */
const waiting: readonly Action[] = [chunk("waits"), { untilFile: "go" }, end()];

describe("one turn runs", () => {
  test("the case as it stands: question routed, unknown method refused, notification dropped", async () => {
    const asked: PermissionRequest[] = [];
    const turn = [
      permission("t9", { ...child }),
      call("_foo/bar", child, "q1"),
      call("_foo/baz", child),
      chunk("of the child", {}, child.sessionId),
      waitForAnswer("p1"),
      waitForAnswer("q1"),
      chunk("done"),
      end(),
    ];
    await using agent = await start(turns(turn), {
      permissions: async (request) => {
        asked.push(request);
        return { action: "select", optionId: "r", denied: true };
      },
    });
    const { outcome, events } = await play(await agent.open());
    expect(outcome).toMatchObject({ kind: "completed", text: "done", denied: ["rm -rf x"] });
    expect(textsOf(events, "text")).toEqual(["done"]);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    expect(answerTo(agent.log, "q1")?.error).toMatchObject({ code: -32601 });
    // Never announced: what the question says of itself is no evidence.
    expect(asked).toMatchObject([{ sessionId: "child-99", paths: [] }]);
    expect(asked[0]).not.toHaveProperty("kind");
  });

  test("the evidence of a child's question is the child's own tool call, not one of the same id elsewhere", async () => {
    const asked: PermissionRequest[] = [];
    const call1 = { sessionUpdate: "tool_call", toolCallId: "t1", kind: "read", title: "Read" };
    const turn = [
      tool("t1", { kind: "edit", rawInput: { of: "parent" } }),
      permission("t1", { ...child, id: "before" }),
      waitForAnswer("before"),
      update({ ...call1, rawInput: { of: "child" } }, child.sessionId),
      permission("t1", { ...child, id: "after" }),
      waitForAnswer("after"),
      end(),
    ];
    await using agent = await start(turns(turn), {
      permissions: (request, signal) => {
        asked.push(request);
        return allowOnce(request, signal);
      },
    });
    await play(await agent.open());
    expect(asked.map(({ kind, rawInput }) => ({ kind, rawInput }))).toEqual([
      { kind: undefined, rawInput: undefined },
      { kind: "read", rawInput: { of: "child" } },
    ]);
  });

  test("a tool of a child has run: the prompt is not sent again", async () => {
    const ran = update({ sessionUpdate: "tool_call", toolCallId: "t1", kind: "execute", title: "x" }, "child-99");
    const turn = [ran, call("x", {}, "q"), waitForAnswer("q"), err(-32603, "overloaded_error")];
    await using agent = await start(turns(turn));
    const { outcome } = await play(await agent.open());
    expect(outcome).toMatchObject({ kind: "failed", attempts: 1, failure: { replaySafety: "tool_started" } });
  });

  test.each<{ readonly from: string; readonly params: { readonly [key: string]: Json } }>([
    { from: "no session id at all", params: {} },
    { from: "a session id that is no text", params: { sessionId: 7 } },
    { from: "no options: cancelled is the only no", params: { options: [] } },
  ])("$from: exactly one answer", async ({ params }) => {
    const options = [{ optionId: "r", name: "No", kind: "reject_once" }];
    const ask = call("session/request_permission", { toolCall: { toolCallId: "t" }, options, ...params }, "p1");
    await using agent = await start(turns([ask, waitForAnswer("p1"), end()]), {
      permissions: async (request) => {
        const option = request.options[0];
        if (option === undefined) return { action: "cancel", denied: true };
        return { action: "select", optionId: option.optionId, denied: true };
      },
    });
    await play(await agent.open(), { retries: 0 });
    expect(answersTo(agent.log, "p1")).toHaveLength(1);
  });
});

describe("two turns run", () => {
  test("nobody knows whose child it is: refused at once, and both are told", async () => {
    const turn = [chunk("asks"), permission("t9", { ...child }), waitForAnswer("p1"), end()];
    await using agent = await start(turns(waiting, turn), { permissions: allowOnce });
    const first = await agent.open();
    const second = await agent.open();
    const waits = play(first);
    const { outcome, events } = await play(second);
    agent.touch("go");
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    const told = [expect.stringContaining("did not say to which it belongs")];
    expect(textsOf(events, "notice")).toEqual(told);
    expect(textsOf((await waits).events, "notice")).toEqual(told);
    expect(outcome).toMatchObject({ kind: "completed", denied: [] });
  });

  test.each<{ readonly from: string; readonly names: readonly Action[]; readonly meta?: Json }>([
    {
      from: "recording claude-agent-acp 0.101.0 subagent-ok: subagent_spawned names it",
      names: [update({ sessionUpdate: "subagent_spawned", subagentSessionId: "child-99", name: "Small check" })],
    },
    {
      from: "recording claude-agent-acp 0.101.0 subagent-ok: its frames name the tool call of the parent",
      names: [tool("toolu_1"), childChunk({ claudeCode: { parentToolUseId: "toolu_1" } })],
    },
    {
      from: "the question itself names the tool call",
      names: [tool("toolu_1")],
      meta: { claudeCode: { parentToolUseId: "toolu_1" } },
    },
    { from: "the question names the parent session", names: [], meta: { kiro: { parentSessionId: "s2" } } },
  ])("$from: the parent's policy decides", async ({ names, meta }) => {
    const ask = call(
      "session/request_permission",
      {
        ...child,
        toolCall: { toolCallId: "t9", title: "x" },
        options: [
          { optionId: "a", name: "Yes", kind: "allow_once" },
          { optionId: "r", name: "No", kind: "reject_once" },
        ],
        ...(meta === undefined ? {} : { _meta: meta }),
      },
      "p1",
    );
    await using agent = await start(turns(waiting, [chunk("asks"), ...names, ask, waitForAnswer("p1"), end()]));
    const waits = play(await agent.open({ permissions: never }));
    const { outcome, events } = await play(await agent.open({ permissions: allowOnce }));
    agent.touch("go");
    expect(answerTo(agent.log, "p1")?.result).toEqual(allowed);
    expect(outcome.text).toBe("asks");
    expect(events.filter(({ type }) => type === "permission")).toHaveLength(1);
    expect((await waits).events.filter(({ type }) => type === "permission" || type === "notice")).toEqual([]);
  });

  test("a tool call of the other turn does not make it the parent", async () => {
    const ask = call(
      "session/request_permission",
      {
        ...child,
        toolCall: { toolCallId: "t9" },
        options: [{ optionId: "r", name: "No", kind: "reject_once" }],
        _meta: { claudeCode: { parentToolUseId: "toolu_unknown" } },
      },
      "p1",
    );
    await using agent = await start(turns(waiting, [tool("toolu_1"), ask, waitForAnswer("p1"), end()]), {
      permissions: allowOnce,
    });
    const waits = play(await agent.open());
    await play(await agent.open());
    agent.touch("go");
    await waits;
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
  });
});

test("no turn runs: the question is refused", async () => {
  const ask = permission("t9", { ...child, id: "idle" });
  await using agent = await start({ on: { "session/prompt": [[end(), ask]] } }, { permissions: allowOnce });
  await play(await agent.open(), { retries: 0 });
  await agent.until(() => answerTo(agent.log, "idle") !== undefined);
  expect(answerTo(agent.log, "idle")?.result).toEqual(rejected);
});

function childChunk(meta: Json): Action {
  return update(
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "of the child" }, _meta: meta },
    "child-99",
  );
}

function answersTo(log: string, id: string): readonly unknown[] {
  return logOf(log).filter(({ frame }) => frame !== undefined && frame.method === undefined && frame.id === id);
}
