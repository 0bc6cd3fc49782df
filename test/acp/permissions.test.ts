import { describe, expect, test } from "vitest";
import { readPermissionRequest, rejectAnswer } from "../../src/acp/permissions.ts";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import { ToolCalls } from "../../src/acp/tool-calls.ts";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PermissionOption, PermissionRequest } from "../../src/acp/types.ts";
import { AcpPermissionNeeded } from "../../src/errors/acp-error.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  logOf,
  permission,
  tool,
  turns,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, play, start } from "./drive.ts";

const allow: PermissionPolicy = ({ options }) =>
  Promise.resolve({ action: "select", optionId: options[0]?.optionId ?? "", denied: false });
const reject: PermissionPolicy = (request) => Promise.resolve(rejectAnswer(request, "no"));
const slowly: PermissionPolicy = (request, signal) =>
  new Promise((resolve) => {
    setTimeout(() => resolve(allow(request, signal)), 1900);
  });
/** A policy that looks at each question alone. */
const onlyOne: PermissionPolicy = (request, signal) => (request.title === "one" ? allow : reject)(request, signal);
/** Answers only when the question is closed, by whatever; then too late. */
const waits: PermissionPolicy = (_request, signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ action: "select", optionId: "a", denied: false }), { once: true });
  });

const SELECTED = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const CANCELLED = { outcome: { outcome: "cancelled" } };
const asked: readonly Action[] = [tool("t1"), permission("t1"), waitForAnswer("p1")];
const option = (optionId: string, kind: string): PermissionOption => ({ optionId, name: optionId, kind });
const permissionsIn = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "permission" ? [event] : []));

describe("the answer that goes back", () => {
  test("a yes is the exact option id", async () => {
    const { outcome, log, events } = await drive(turns([...asked, chunk("ran"), end()]), { permissions: allow });
    expect(answerTo(log, "p1")?.result).toEqual(SELECTED("a"));
    expect(outcome).toMatchObject({ kind: "completed", denied: [] });
    expect(permissionsIn(events)).toMatchObject([
      { request: { toolCallId: "t1", title: "rm -rf x" }, answer: { action: "select", optionId: "a" } },
    ]);
  });

  test("a no is the offered reject option, and is told by title", async () => {
    const { outcome, log } = await drive(turns([...asked, chunk("not run"), end()]), { permissions: reject });
    expect(answerTo(log, "p1")?.result).toEqual(SELECTED("r"));
    expect(outcome).toMatchObject({ kind: "completed", denied: ["rm -rf x"] });
  });

  test.each<{ from: string; permissions: PermissionPolicy }>([
    {
      from: "throws",
      permissions: () => {
        throw new Error("bug");
      },
    },
    { from: "rejects", permissions: () => Promise.reject(new Error("bug")) },
  ])("a policy that $from has not said yes", async ({ permissions }) => {
    const { outcome, log } = await drive(turns([...asked, chunk("not run"), end()]), { permissions });
    expect(answerTo(log, "p1")?.result).toEqual(SELECTED("r"));
    expect(outcome.denied).toEqual(["rm -rf x"]);
  });

  test("several questions are open at once, each with its own answer", async () => {
    const scenario = turns([
      permission("t1", { id: "p1", title: "one" }),
      permission("t2", { id: "p2", title: "two" }),
      waitForAnswer("p1"),
      waitForAnswer("p2"),
      chunk("ok"),
      end(),
    ]);
    const { log, outcome } = await drive(scenario, { permissions: onlyOne });
    expect([answerTo(log, "p1")?.result, answerTo(log, "p2")?.result]).toEqual([SELECTED("a"), SELECTED("r")]);
    expect(outcome.denied).toEqual(["two"]);
  });
});

describe("questions that close by themselves", () => {
  test("withdrawn by the agent: answered cancelled, nothing was denied", async () => {
    const scenario = turns([
      permission("t1"),
      call("$/cancel_request", { requestId: "p1" }),
      waitForAnswer("p1"),
      chunk("went on"),
      end(),
    ]);
    const { outcome, log } = await drive(scenario, { permissions: waits });
    expect(answerTo(log, "p1")?.result).toEqual(CANCELLED);
    expect(outcome).toMatchObject({ kind: "completed", denied: [] });
  });

  test("withdrawn with the other spelling; another id changes nothing", async () => {
    const scenario = turns([
      permission("t1"),
      call("$/cancel_request", { id: "p9" }),
      call("$/cancel_request", { id: "p1" }),
      waitForAnswer("p1"),
      end(),
    ]);
    const { log } = await drive(scenario, { permissions: waits });
    expect(answerTo(log, "p1")?.result).toEqual(CANCELLED);
  });

  test("expired: a no, which says so", async () => {
    const { outcome, log, events } = await drive(turns([...asked, chunk("ok"), end()]), {
      permissions: waits,
      timeouts: { permissionMs: 20 },
    });
    expect(answerTo(log, "p1")?.result).toEqual(SELECTED("r"));
    expect(outcome.denied).toEqual(["rm -rf x"]);
    expect(permissionsIn(events)[0]?.answer).toMatchObject({ reason: "Nobody answered within 0.02 s" });
  });

  test("each question is answered exactly once, whoever comes later", async () => {
    const { log } = await drive(turns([...asked, chunk("ok"), end()]), {
      permissions: waits,
      timeouts: { permissionMs: 20 },
    });
    const answers = logOf(log).filter(({ frame }) => frame?.id === "p1" && frame.method === undefined);
    expect(answers).toHaveLength(1);
  });

  test("the caller's abort: answered cancelled before the cancel goes out (case C19 d)", async () => {
    const scenario = turns([permission("t1"), waitFor("session/cancel"), end("cancelled")]);
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const policy: PermissionPolicy = (request, signal) => {
      open();
      return waits(request, signal);
    };
    await using agent = await start(scenario, { permissions: policy });
    const stop = new AbortController();
    const turn = (await agent.open()).prompt("hello", { signal: stop.signal });
    await opened;
    stop.abort();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", denied: [] });
    const order = logOf(agent.log).flatMap(({ frame }) =>
      frame?.id === "p1" || frame?.method === "session/cancel" ? [frame.method ?? "answer"] : [],
    );
    expect(order).toEqual(["answer", "session/cancel"]);
    expect(answerTo(agent.log, "p1")?.result).toEqual(CANCELLED);
  });
});

describe("nobody can answer", () => {
  test("no policy: the turn ends and says what was asked", async () => {
    const { outcome, log, prompts } = await drive(
      turns([chunk("I will"), ...asked, waitFor("session/cancel"), end("cancelled")]),
      { prompt: { retries: 3 } },
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      text: "I will",
      failure: { kind: "gate", retry: "never", needs: "human" },
    });
    expect(outcome.cause).toBeInstanceOf(AcpPermissionNeeded);
    expect(outcome.cause).toMatchObject({ responseSoFar: "I will" });
    expect(outcome.cause?.message).toContain("rm -rf x");
    expect(answerTo(log, "p1")?.result).not.toEqual(SELECTED("a"));
    expect(answerTo(log, "p1")).toBeDefined();
    expect(prompts).toBe(1);
  });

  test("a question between turns is denied at once", async () => {
    await using agent = await start(turns([chunk("ok"), end(), permission("t1"), waitForAnswer("p1")], [end()]), {
      permissions: allow,
    });
    const session = await agent.open();
    await play(session);
    await agent.until(() => answerTo(agent.log, "p1") !== undefined);
    expect(answerTo(agent.log, "p1")?.result).toEqual(SELECTED("r"));
  });

  test("sessions nobody opened, and methods nobody knows: all are answered (case C17)", async () => {
    const { outcome, log } = await drive(MISBEHAVING.unknownRequests, { permissions: reject });
    expect(outcome).toMatchObject({ kind: "completed", text: "works" });
    expect(answerTo(log, "q1")?.error?.code).toBe(-32601);
    expect(answerTo(log, "q2")?.error?.code).toBe(-32601);
    expect(answerTo(log, "p1")?.result).toEqual(SELECTED("r"));
  });

  test("a child session's question is shown with its own session id", async () => {
    const { events } = await drive(MISBEHAVING.unknownRequests, { permissions: reject });
    expect(permissionsIn(events)).toMatchObject([{ request: { sessionId: "child-99", toolCallId: "t9" } }]);
  });
});

test.concurrent.each<{ from: string; turn: readonly Action[] }>([
  { from: "a call that was announced", turn: asked },
  { from: "a question before anything else", turn: [permission("t1"), waitForAnswer("p1")] },
])("a person may take longer than the agent, and its tool, may: $from", async ({ turn }) => {
  const { outcome } = await drive(turns([...turn, chunk("ran"), end()]), {
    permissions: slowly,
    prompt: { timeouts: { idleMs: 1500, firstByteMs: 1500, toolMs: 1500 } },
  });
  expect(outcome).toMatchObject({ kind: "completed", text: "ran" });
});

describe("how a request is read", () => {
  const KNOWN = {
    toolCallId: "t1",
    title: "npm test",
    kind: "execute",
    rawInput: { command: "npm test" },
    locations: [{ path: "/w/a" }],
  };
  const read = (params: object, announced: object | undefined = KNOWN): PermissionRequest => {
    const tools = new ToolCalls();
    if (announced !== undefined) tools.apply({ ...announced });
    return readPermissionRequest("s1", { ...params }, tools);
  };

  test.each<{ from: string; params: object; announced?: object | undefined; expected: object }>([
    {
      from: "evidence comes from the frames before it, words from the request",
      params: {
        toolCall: { toolCallId: "t1", title: "A friendly title", kind: "read", rawInput: { command: "ls" } },
        options: [],
      },
      expected: { title: "A friendly title", kind: "execute", rawInput: { command: "npm test" }, paths: ["/w/a"] },
    },
    {
      from: "no title: that of the call",
      params: { toolCall: { toolCallId: "t1" } },
      expected: { title: "npm test", options: [] },
    },
    {
      from: "a call that was never announced has no kind",
      params: { toolCall: { toolCallId: "t9", title: "x", kind: "read" } },
      expected: { title: "x", paths: [] },
    },
    { from: "no tool call at all", params: {}, expected: { toolCallId: "", title: "", paths: [], options: [] } },
    {
      from: "option ids as they are, in their order",
      params: {
        options: [
          { optionId: "2", name: "No", kind: "reject_once" },
          { optionId: "yes-always", name: "Always", kind: "allow_always" },
        ],
      },
      expected: {
        options: [
          { optionId: "2", name: "No", kind: "reject_once" },
          { optionId: "yes-always", name: "Always", kind: "allow_always" },
        ],
      },
    },
    {
      from: "id and label (kiro)",
      params: { options: [{ id: "a", label: "Yes", kind: "allow_once" }] },
      expected: { options: [{ optionId: "a", name: "Yes", kind: "allow_once" }] },
    },
    {
      from: "options without a name, a kind or an id",
      params: { options: [{ optionId: "a" }, { name: "nameless" }, null, "x"] },
      expected: { options: [{ optionId: "a", name: "a", kind: "" }] },
    },
    {
      from: "the words of AIR's own block",
      params: {
        toolCall: { toolCallId: "t1", title: "raw" },
        _meta: {
          jetbrains: { air: { version: 1, permission: { version: 1, title: "Run tests?", description: "In /w" } } },
        },
      },
      expected: { title: "Run tests?", description: "In /w" },
    },
  ])("$from", ({ params, announced, expected }) => {
    expect(read(params, announced)).toMatchObject({ sessionId: "s1", ...expected });
  });

  test("an unannounced kind is absent, not guessed from the request", () => {
    expect("kind" in read({ toolCall: { toolCallId: "t9", kind: "read" } })).toBe(false);
  });

  const questions = [option("t1-option-0", "allow_once"), option("t1-option-1", "allow_once")];
  test.each<{ from: string; params: object; isQuestion: boolean }>([
    { from: "kiro V3's question", params: { toolCall: { toolCallId: "t1" }, options: questions }, isQuestion: true },
    {
      from: "the same with kiro's own block",
      params: { toolCall: { toolCallId: "t1" }, options: questions, _meta: { kiro: {} } },
      isQuestion: true,
    },
    {
      from: "a permission",
      params: { toolCall: { toolCallId: "t1" }, options: [option("a", "allow_once"), option("r", "reject_once")] },
      isQuestion: false,
    },
    { from: "no options", params: { toolCall: { toolCallId: "t1" }, options: [] }, isQuestion: false },
    {
      from: "ids of another call",
      params: { toolCall: { toolCallId: "t2" }, options: questions },
      isQuestion: true,
    },
    {
      from: "a question that can be turned down",
      params: { toolCall: { toolCallId: "t1" }, options: [...questions, option("no", "reject_once")] },
      isQuestion: true,
    },
    {
      from: "choices under ids of their own",
      params: {
        toolCall: { toolCallId: "t1" },
        options: [option("red", "allow_once"), option("blue", "allow_once")],
        _meta: { kiro: { toolId: "user_input" } },
      },
      isQuestion: true,
    },
    {
      from: "one answer and no other",
      params: { toolCall: { toolCallId: "t1" }, options: [option("a", "allow_once")] },
      isQuestion: true,
    },
    {
      from: "kiro V3's permission",
      params: {
        toolCall: { toolCallId: "t1" },
        options: [
          option("accept", "allow_once"),
          option("always-accept", "allow_always"),
          option("reject", "reject_once"),
        ],
        _meta: { kiro: { toolId: "shell" } },
      },
      isQuestion: false,
    },
  ])("$from is a question: $isQuestion", ({ params, isQuestion }) => {
    expect(read(params).isQuestion).toBe(isQuestion);
  });

  test.each<{ from: string; options: readonly PermissionOption[]; expected: object }>([
    {
      from: "once before always, whatever the order",
      options: [option("ra", "reject_always"), option("ro", "reject_once"), option("a", "allow_once")],
      expected: { action: "select", optionId: "ro", denied: true },
    },
    {
      from: "always when there is nothing else",
      options: [option("a", "allow_once"), option("ra", "reject_always")],
      expected: { action: "select", optionId: "ra", denied: true },
    },
    {
      from: "a kind of its own that begins with reject",
      options: [option("rs", "reject_session")],
      expected: { action: "select", optionId: "rs", denied: true },
    },
    {
      from: "only a yes: cancelled",
      options: [option("a", "allow_once")],
      expected: { action: "cancel", denied: true },
    },
    {
      from: "an id that sounds like no is no kind",
      options: [option("reject", "")],
      expected: { action: "cancel", denied: true },
    },
    { from: "no options", options: [], expected: { action: "cancel", denied: true } },
  ])("a no: $from", ({ options, expected }) => {
    expect(rejectAnswer({ ...read({}), options }, "why")).toEqual({ ...expected, reason: "why" });
  });
});
