/** Questions of an agent to a person, from the wire to the answer that goes back (protocol section "Elicitation"). */
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import type { AskQuestion, QuestionAnswer, QuestionRequest } from "../../src/acp/questions.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  logOf,
  permission,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, inOneWrite, play, start, textsOf } from "./drive.ts";

const COLOUR: Json = { type: "string", title: "Colour", oneOf: [{ const: "red", title: "Red" }] };
const question = (
  id = "q1",
  { sessionId = "$S", ...more }: { readonly [key: string]: Json | undefined; readonly sessionId?: string } = {},
): Action =>
  call(
    "elicitation/create",
    {
      mode: "form",
      sessionId,
      message: "Which colour?",
      requestedSchema: { type: "object", properties: { colour: COLOUR } },
      ...more,
    },
    id,
  );
const asked: readonly Action[] = [question(), waitForAnswer("q1")];
const answering =
  (answer: QuestionAnswer): AskQuestion =>
  () =>
    Promise.resolve(answer);
const red = answering({ action: "accept", content: { colour: "red" } });
/** Answers only when the question is closed, by whatever; then too late. */
const waits: AskQuestion = (_request, signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ action: "accept", content: { colour: "red" } }), { once: true });
  });
const slowly: AskQuestion = (request, signal) =>
  new Promise((resolve) => {
    setTimeout(() => resolve(red(request, signal)), 1900);
  });
const deny: PermissionPolicy = async () => ({ action: "select", optionId: "r", denied: true });

const questionsIn = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "question" ? [event] : []));

describe("what is declared", () => {
  test.each<{ from: string; questions: AskQuestion | undefined; declared: unknown }>([
    { from: "somebody can answer", questions: red, declared: { form: {} } },
    { from: "nobody can", questions: undefined, declared: undefined },
  ])("$from", async ({ questions, declared }) => {
    const { log } = await drive(turns([end()]), { ...(questions && { questions }), prompt: { retries: 0 } });
    const [first] = logOf(log).flatMap(({ frame }) => (frame?.method === "initialize" ? [frame.params] : []));
    expect(first).toMatchObject({ clientCapabilities: { fs: {}, terminal: false } });
    const { clientCapabilities = {} }: { clientCapabilities?: { elicitation?: unknown } } = first ?? {};
    expect(clientCapabilities.elicitation).toEqual(declared);
  });

  test("what was not declared is not served", async () => {
    const { outcome, log, events } = await drive(turns([...asked, chunk("went on"), end()]));
    expect(answerTo(log, "q1")?.error).toEqual({ code: -32601, message: "Method not found: elicitation/create" });
    expect(outcome).toMatchObject({ kind: "completed", text: "went on", denied: [] });
    expect(questionsIn(events)).toEqual([]);
  });
});

describe("the answer that goes back", () => {
  test.each<{ from: string; questions: AskQuestion; wire: object; answer: object }>([
    {
      from: "accepted",
      questions: red,
      wire: { action: "accept", content: { colour: "red" } },
      answer: { action: "accept", content: { colour: "red" } },
    },
    {
      from: "declined",
      questions: answering({ action: "decline" }),
      wire: { action: "decline" },
      answer: { action: "decline" },
    },
    {
      from: "cancelled",
      questions: answering({ action: "cancel", reason: "no idea" }),
      wire: { action: "cancel" },
      answer: { action: "cancel", reason: "no idea" },
    },
    {
      from: "a wrong one is never sent",
      questions: answering({ action: "accept", content: { colour: "blue" } }),
      wire: { action: "cancel" },
      answer: { action: "cancel", reason: "The answer was not sent. Colour: It is none of the choices" },
    },
    {
      from: "who throws has not answered",
      questions: () => {
        throw new Error("bug");
      },
      wire: { action: "cancel" },
      answer: { action: "cancel", reason: "Asking failed" },
    },
    {
      from: "who rejects has not answered",
      questions: () => Promise.reject(new Error("bug")),
      wire: { action: "cancel" },
      answer: { action: "cancel", reason: "Asking failed" },
    },
  ])("$from", async ({ questions, wire, answer }) => {
    const { outcome, log, events } = await drive(turns([...asked, chunk("thanks"), end()]), { questions });
    expect(answerTo(log, "q1")?.result).toEqual(wire);
    expect(questionsIn(events)).toMatchObject([{ request: { message: "Which colour?" }, answer }]);
    expect(outcome).toMatchObject({ kind: "completed", text: "thanks", denied: [] });
  });

  test("the question as it was asked", async () => {
    const seen: QuestionRequest[] = [];
    await drive(turns([question("q1", { toolCallId: "t1" }), waitForAnswer("q1"), chunk("ok"), end()]), {
      questions: (request, signal) => {
        seen.push(request);
        return red(request, signal);
      },
    });
    expect(seen).toEqual([
      {
        sessionId: "s1",
        toolCallId: "t1",
        message: "Which colour?",
        fields: [
          {
            id: "colour",
            label: "Colour",
            kind: "choice",
            choices: [{ value: "red", label: "Red" }],
            required: false,
          },
        ],
      },
    ]);
  });

  test("a session may have somebody of its own", async () => {
    const { log } = await drive(turns([...asked, chunk("ok"), end()]), {
      questions: answering({ action: "decline" }),
      open: { questions: red },
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "accept", content: { colour: "red" } });
  });

  test.each<{ from: string; turn: readonly Action[] }>([
    {
      from: "of a subagent that its frames name",
      turn: [
        update({ sessionUpdate: "subagent_spawned", subagentSessionId: "child-1" }),
        question("q1", { sessionId: "child-1" }),
      ],
    },
    { from: "of a session that nobody opened, beside the only turn", turn: [question("q1", { sessionId: "child-9" })] },
    { from: "bound to a request and not to a session", turn: [question("q1", { requestId: "$P" })] },
  ])("a question $from", async ({ turn }) => {
    const { log, events } = await drive(turns([...turn, waitForAnswer("q1"), chunk("ok"), end()]), { questions: red });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "accept", content: { colour: "red" } });
    expect(questionsIn(events)).toHaveLength(1);
  });

  test("an answered question has had its effect: the prompt is not sent again", async () => {
    const failed = { send: { jsonrpc: "2.0", id: "$P", error: { code: -32603, message: "overloaded_error" } } };
    const { outcome, prompts } = await drive(turns([...asked, failed], [chunk("again"), end()]), { questions: red });
    expect(outcome).toMatchObject({ kind: "failed", failure: { replaySafety: "tool_started" } });
    expect(prompts).toBe(1);
  });
});

describe("questions that close by themselves", () => {
  test.each<{ from: string; turn: readonly Action[]; reason: string; ms?: number }>([
    {
      from: "withdrawn by the agent",
      turn: [question(), call("$/cancel_request", { requestId: "q1" }), waitForAnswer("q1"), chunk("ok"), end()],
      reason: "The agent took the question back",
    },
    {
      from: "nobody answers in time",
      turn: [...asked, chunk("ok"), end()],
      reason: "Nobody answered within 0.02 s",
      ms: 20,
    },
  ])("$from: cancelled, and the person is told", async ({ turn, reason, ms = 60_000 }) => {
    const told: unknown[] = [];
    const { outcome, log, events } = await drive(turns(turn), {
      questions: (request, signal) => {
        signal.addEventListener("abort", () => told.push(signal.reason));
        return waits(request, signal);
      },
      timeouts: { permissionMs: ms },
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(questionsIn(events)).toMatchObject([{ answer: { action: "cancel", reason } }]);
    expect(told).toEqual([reason]);
    expect(outcome).toMatchObject({ kind: "completed", denied: [] });
  });

  test("the turn ends while it is open", async () => {
    await using agent = await start(turns([question(), chunk("ok"), end()]), { questions: waits });
    await play(await agent.open());
    await agent.until(() => answerTo(agent.log, "q1") !== undefined);
    expect(answerTo(agent.log, "q1")?.result).toEqual({ action: "cancel" });
  });

  test("the turn is stopped: cancelled on the wire before the agent hears of it", async () => {
    const opened = Promise.withResolvers<void>();
    await using agent = await start(turns([question(), waitFor("session/cancel"), end("cancelled")]), {
      questions: (request, signal) => {
        opened.resolve();
        return waits(request, signal);
      },
    });
    const turn = (await agent.open()).prompt("hello");
    await opened.promise;
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
    const order = logOf(agent.log).flatMap(({ frame }) =>
      frame?.id === "q1" || frame?.method === "session/cancel" ? [frame.method ?? "answer"] : [],
    );
    expect(order).toEqual(["answer", "session/cancel"]);
    expect(answerTo(agent.log, "q1")?.result).toEqual({ action: "cancel" });
  });

  test("no turn runs", async () => {
    await using agent = await start(turns([chunk("ok"), end(), question(), waitForAnswer("q1")]), { questions: red });
    await play(await agent.open());
    await agent.until(() => answerTo(agent.log, "q1") !== undefined);
    expect(answerTo(agent.log, "q1")?.result).toEqual({ action: "cancel" });
  });

  test("a person may take longer than the agent may", async () => {
    const { outcome } = await drive(turns([...asked, chunk("ok"), end()]), {
      questions: slowly,
      prompt: { timeouts: { idleMs: 1500, firstByteMs: 1500 } },
    });
    expect(outcome).toMatchObject({ kind: "completed", text: "ok" });
  });
});

describe("modes that are not declared", () => {
  test.each<{ from: string; params: { readonly [key: string]: Json }; why: string }>([
    {
      from: "a web page",
      params: { mode: "url", url: "https://login.example/x?token=abc", elicitationId: "e1" },
      why: "It wants a web page opened (login.example), which is not declared",
    },
    {
      from: "a mode of the future",
      params: { mode: "_voice" },
      why: "Its mode is neither of the protocol's, and only form is declared",
    },
  ])("$from: refused as invalid parameters, and said", async ({ params, why }) => {
    const scenario = turns([question("q1", params), waitForAnswer("q1"), chunk("ok"), end()]);
    const { log, events } = await drive(scenario, { questions: red });
    expect(answerTo(log, "q1")?.error).toEqual({ code: -32602, message: why });
    expect(textsOf(events, "notice")).toEqual([`A question of the agent was not asked: ${why}`]);
    expect(questionsIn(events)).toEqual([]);
  });
});

describe("hostile agents", () => {
  test("two questions under one id are both cancelled, with one answer", async () => {
    const scenario = turns([inOneWrite(question(), question()), waitForAnswer("q1"), chunk("ok"), end()]);
    const { log, events } = await drive(scenario, { questions: waits });
    expect(logOf(log).filter(({ frame }) => frame?.id === "q1" && frame.method === undefined)).toHaveLength(1);
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(questionsIn(events).map(({ answer }) => answer?.action)).toEqual(["cancel", "cancel"]);
  });

  test.each<{ from: string; frames: readonly Action[] }>([
    { from: "a question, then a permission", frames: [question("x"), permission("t1", { id: "x" })] },
    { from: "a permission, then a question", frames: [permission("t1", { id: "x" }), question("x")] },
  ])("$from under one id: one answer, which is a no to either", async ({ frames }) => {
    const { log, outcome } = await drive(turns([inOneWrite(...frames), waitForAnswer("x"), chunk("ok"), end()]), {
      questions: waits,
      permissions: (request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(deny(request, signal)), { once: true });
        }),
    });
    expect(answerTo(log, "x")?.result).toEqual({ action: "cancel", outcome: { outcome: "cancelled" } });
    expect(logOf(log).filter(({ frame }) => frame?.id === "x" && frame.method === undefined)).toHaveLength(1);
    expect(outcome.denied).toEqual(["rm -rf x"]);
  });

  test("a flood: what nobody can read is cancelled at once", async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `q${n}`);
    const scenario = turns([inOneWrite(...ids.map((id) => question(id))), waitForAnswer("q299"), chunk("ok"), end()]);
    let open = 0;
    const { log, events } = await drive(scenario, {
      questions: (request, signal) => {
        open += 1;
        return waits(request, signal);
      },
    });
    expect(open).toBe(200);
    expect(ids.every((id) => answerTo(log, id) !== undefined)).toBe(true);
    expect(questionsIn(events)[0]?.answer).toEqual({
      action: "cancel",
      reason: "More than 200 questions of the agent are open",
    });
  });
});
