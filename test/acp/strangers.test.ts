/**
 * What was seen in agents that nobody here has met. The generic profile reads nothing but ACP; what cannot be known from
 * that is not guessed, and the row says so.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { PermissionRequest } from "../../src/acp/types.ts";
import type { FailureKind } from "../../src/errors/failure.ts";
import type { Action, Json, Scenario } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  err,
  logOf,
  permission,
  processesIn,
  promptsIn,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { failureOf, inOneWrite, isRunning, play, playEach, textsOf } from "./drive.ts";
import type { Played } from "./drive.ts";
import { meet } from "./stranger.ts";

const usual: Action = { default: true };
const REJECTED = { outcome: { outcome: "selected", optionId: "r" } };
const ALLOWED = { outcome: { outcome: "selected", optionId: "a" } };
const CANCELLED = { outcome: { outcome: "cancelled" } };

/** The order in which the client's words reached the agent: methods, and `answer p1` for answers. */
function heardBy(log: string): string[] {
  return logOf(log).flatMap(({ frame }) => (frame === undefined ? [] : [frame.method ?? `answer ${String(frame.id)}`]));
}

describe("requests and chunks before the session/new answer", () => {
  const early = (...actions: Action[]): Scenario => ({ on: { "session/new": [[...actions, usual]] } });

  test.concurrent.each<{ from: string; scenario: Scenario; answers?: Record<string, object>; denied?: string[] }>([
    { from: "answer text", scenario: early(chunk("early", {}, "s1")) },
    { from: "answer text of a message with an id", scenario: early(chunk("early", { messageId: "m1" }, "s1")) },
    { from: "in the same write as the answer", scenario: early(inOneWrite(chunk("early", {}, "s1"), thought("hm"))) },
    {
      from: "commands, a mode, usage, and what no protocol knows",
      scenario: early(
        update({ sessionUpdate: "available_commands_update", availableCommands: [] }, "s1"),
        update({ sessionUpdate: "current_mode_update", currentModeId: "code" }, "s1"),
        update({ sessionUpdate: "usage_update", used: 1, size: 2 }, "s1"),
        update({ sessionUpdate: "weather_update" }, "s1"),
        call("_x/hello", { sessionId: "s1" }),
      ),
    },
    {
      from: "a tool call that is never ended",
      scenario: early(
        update({ sessionUpdate: "tool_call", toolCallId: "t0", title: "Warm up", status: "in_progress" }, "s1"),
      ),
    },
    {
      from: "an update without a session",
      scenario: early(call("session/update", { update: { sessionUpdate: "agent_message_chunk" } })),
    },
    {
      from: "more of it than is kept",
      scenario: early(...Array.from({ length: 1200 }, (_, nth) => chunk(`early ${nth}`, {}, "s1"))),
    },
    {
      from: "a permission request",
      scenario: early(permission("t1", { sessionId: "s1" })),
      answers: { p1: { result: REJECTED } },
      denied: ["rm -rf x"],
    },
    {
      from: "a permission request that is waited for before the session opens",
      scenario: early(permission("t1", { sessionId: "s1" }), waitForAnswer("p1")),
      answers: { p1: { result: REJECTED } },
      denied: ["rm -rf x"],
    },
    {
      from: "requests that Ostler does not serve, waited for",
      scenario: early(
        call("fs/read_text_file", { sessionId: "s1", path: "/etc/hosts" }, "f1"),
        waitForAnswer("f1"),
        call("terminal/create", { sessionId: "s1", command: "id" }, 7),
        waitForAnswer(7),
        call("_x/config", {}, "q1"),
        waitForAnswer("q1"),
      ),
      answers: {
        f1: { error: expect.objectContaining({ code: -32601 }) },
        7: { error: expect.objectContaining({ code: -32601 }) },
        q1: { error: expect.objectContaining({ code: -32601 }) },
      },
    },
    {
      from: "even before the handshake",
      scenario: {
        on: {
          initialize: [
            [
              call("_x/config", {}, "q1"),
              waitForAnswer("q1"),
              chunk("early", {}, "s1"),
              permission("t1", { sessionId: "s1" }),
              usual,
            ],
          ],
        },
      },
      answers: { q1: { error: expect.objectContaining({ code: -32601 }) }, p1: { result: REJECTED } },
    },
  ])("$from: the session opens, and its first turn is its own", async ({ scenario, answers = {}, denied = [] }) => {
    await using agent = await meet(scenario);
    const { outcome, events } = await play(await agent.open(), { timeouts: { idleMs: 2000 } });
    expect(outcome).toMatchObject({ kind: "completed", text: "ok", denied, warnings: [] });
    expect(JSON.stringify(events)).not.toMatch(/early|Warm up/);
    for (const [id, answer] of Object.entries(answers)) {
      expect(answerTo(agent.log, /^\d+$/.test(id) ? Number(id) : id)).toMatchObject(answer);
    }
    expect(promptsIn(agent.log)).toHaveLength(1);
  });
});

describe("frames after the launcher exited, from a child that lives on", () => {
  const served = turns([chunk("served"), end()]);

  test.concurrent.each([
    { from: "at once", launcher: { leaves: "now" } },
    { from: "at once, and the child in a session of its own", launcher: { leaves: "now", detached: true } },
  ])("it left $from: the child is the agent, and it is ended with it", async ({ launcher }) => {
    const agent = await meet(served, { launcher });
    const session = await agent.open();
    const outcomes = [(await play(session)).outcome, (await play(session)).outcome];
    expect(outcomes.map(({ kind, text }) => `${kind}: ${text}`)).toEqual(["completed: served", "completed: served"]);
    const [pid] = processesIn(agent.log);
    expect(isRunning(pid!)).toBe(true);
    await agent.close();
    expect(isRunning(pid!)).toBe(false);
  });

  const midway = turns([
    chunk("before, "),
    { untilFile: "launcher-left" },
    // Longer than what is still in the pipes of an agent that died is waited for.
    { delayMs: 600 },
    chunk("after"),
    tool("t1", { kind: "read", status: "completed" }),
    chunk("."),
    end(),
  ]);

  test.concurrent.each([
    { from: "in a group of its own", launcher: { leaves: "go", detached: true } },
    { from: "in the launcher's group", launcher: { leaves: "go" } },
  ])("it leaves in the middle of a turn, the child $from: one whole answer", async ({ launcher }) => {
    await using agent = await meet(midway, { launcher });
    const turn = play(await agent.open());
    await agent.until(() => promptsIn(agent.log).length === 1);
    agent.touch("go");
    expect((await turn).outcome).toMatchObject({
      kind: "completed",
      text: "before, after.",
      partial: false,
      attempts: 1,
    });
  });

  test.concurrent.each([
    { from: "one that goes on", rest: [chunk("late"), end()] },
    { from: "one that hangs", rest: [{ wait: { method: "never" } }] },
  ] satisfies { from: string; rest: Action[] }[])(
    "it crashes, and leaves $from: nobody can know what that one does, and nothing is sent twice",
    async ({ rest }) => {
      const agent = await meet(
        turns([chunk("before"), { untilFile: "launcher-left" }, { untilFile: "told" }, ...rest]),
        {
          launcher: { leaves: "go", exit: 3 },
        },
      );
      const turn = play(await agent.open());
      await agent.until(() => promptsIn(agent.log).length === 1);
      agent.touch("go");
      const { outcome } = await turn;
      agent.touch("told");
      expect(outcome).toMatchObject({ kind: "failed", text: "before", partial: true });
      expect(failureOf(outcome)).toMatchObject({ kind: "agent_died", replaySafety: "unknown" });
      await agent.close();
      expect(processesIn(agent.log).filter((pid) => isRunning(pid))).toEqual([]);
      expect(promptsIn(agent.log)).toHaveLength(1);
    },
  );
});

describe("a launcher that ignores SIGTERM", () => {
  const stubborn: Action[] = [{ ignoreSignals: ["SIGTERM"] }, { ignoreStdinEnd: true }];

  test.concurrent.each<{ from: string; launcher?: object; start?: readonly Action[] }>([
    { from: "the launcher alone", launcher: { ignoresSigterm: true } },
    { from: "the launcher and its child", launcher: { ignoresSigterm: true }, start: stubborn },
    {
      from: "the child, in a session of its own, whose launcher left",
      launcher: { leaves: "now", detached: true },
      start: stubborn,
    },
    { from: "an agent without a launcher", start: stubborn },
  ])("$from: nothing of it is left", async ({ launcher, start = [] }) => {
    const agent = await meet({ start, ...turns([chunk("ok"), end()]) }, launcher === undefined ? {} : { launcher });
    expect((await play(await agent.open())).outcome.kind).toBe("completed");
    const { pid } = agent.runtime;
    await agent.close();
    expect([pid, ...processesIn(agent.log)].filter((each) => isRunning(each))).toEqual([]);
  });

  test("a cancel that it does not answer ends it all the same", async () => {
    await using agent = await meet(
      { start: stubborn, ...turns([chunk("half"), waitFor("never")]) },
      { launcher: { ignoresSigterm: true } },
    );
    const session = await agent.open();
    const turn = session.prompt("hello", { timeouts: { cancelGraceMs: 100 } });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half" });
    expect(processesIn(agent.log).filter((pid) => isRunning(pid))).toEqual([]);
  });
});

describe("permission asked after our cancel", () => {
  const cancelAtFirstText = { timeouts: { cancelGraceMs: 60_000 } };

  test.concurrent.each<{ from: string; asks: readonly Action[]; ids: readonly string[] }>([
    { from: "one", asks: [permission("t1"), waitForAnswer("p1")], ids: ["p1"] },
    {
      from: "two at once",
      asks: [permission("t1"), permission("t2", { id: "p2" }), waitForAnswer("p1"), waitForAnswer("p2")],
      ids: ["p1", "p2"],
    },
    {
      from: "one of a child session",
      asks: [permission("t1", { sessionId: "child-1" }), waitForAnswer("p1")],
      ids: ["p1"],
    },
    {
      from: "one without options",
      asks: [
        call("session/request_permission", { sessionId: "$S", toolCall: { toolCallId: "t1" }, options: [] }, "p1"),
        waitForAnswer("p1"),
      ],
      ids: ["p1"],
    },
  ])("$from: answered as cancelled, and no denial", async ({ asks, ids }) => {
    await using agent = await meet(turns([chunk("half"), waitFor("session/cancel"), ...asks, end("cancelled")]), {
      approve: "all",
    });
    const turn = (await agent.open()).prompt("hello", cancelAtFirstText);
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half", denied: [] });
    for (const id of ids) expect(answerTo(agent.log, id)?.result).toEqual(CANCELLED);
    expect(agent.runtime.state).toBe("ready");
  });

  test("asked after the turn: rejected, and the next turn does not hear of it", async () => {
    await using agent = await meet(
      turns([chunk("one"), end(), permission("t1"), waitForAnswer("p1")], [chunk("two"), end()]),
      { approve: "all" },
    );
    const session = await agent.open();
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "one" });
    await agent.until(() => answerTo(agent.log, "p1") !== undefined);
    expect(answerTo(agent.log, "p1")?.result).toEqual(REJECTED);
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "two", denied: [] });
  });
});

/** A question about this call, whatever it is, and then the end of the turn. */
const asked = (toolCall: Json): Scenario =>
  turns([
    call(
      "session/request_permission",
      {
        sessionId: "$S",
        toolCall,
        options: [
          { optionId: "a", name: "Yes", kind: "allow_once" },
          { optionId: "r", name: "No", kind: "reject_once" },
        ],
      },
      "p1",
    ),
    waitForAnswer("p1"),
    chunk("done"),
    end(),
  ]);

describe("permission for a call that was never announced", () => {
  test.concurrent.each<{
    from: string;
    toolCall: Json;
    approve: "reads" | "all" | "none";
    answer: unknown;
    denied: readonly string[];
  }>([
    {
      from: "it says that it only reads",
      toolCall: { toolCallId: "t9", title: "Read a.txt", kind: "read", locations: [{ path: "a.txt" }] },
      approve: "reads",
      answer: REJECTED,
      denied: ["Read a.txt"],
    },
    {
      from: "a title alone",
      toolCall: { toolCallId: "t9", title: "Search" },
      approve: "reads",
      answer: REJECTED,
      denied: ["Search"],
    },
    { from: "no id and no title", toolCall: {}, approve: "reads", answer: REJECTED, denied: [""] },
    { from: "nothing at all", toolCall: null, approve: "reads", answer: REJECTED, denied: [""] },
    {
      from: "everything is approved",
      toolCall: { toolCallId: "t9", title: "rm -rf x", kind: "execute" },
      approve: "all",
      answer: ALLOWED,
      denied: [],
    },
    {
      from: "nothing is approved",
      toolCall: { toolCallId: "t9", title: "Read a.txt", kind: "read" },
      approve: "none",
      answer: REJECTED,
      denied: ["Read a.txt"],
    },
  ])("$from, --approve $approve", async ({ toolCall, approve, answer, denied }) => {
    await using agent = await meet(asked(toolCall), { approve });
    const { outcome, events } = await play(await agent.open());
    expect(answerTo(agent.log, "p1")?.result).toEqual(answer);
    expect(outcome).toMatchObject({ kind: "completed", text: "done", denied });
    const requests: PermissionRequest[] = events.flatMap((event) =>
      event.type === "permission" ? [event.request] : [],
    );
    // The call's kind is what its frames said: nothing.
    expect(requests.map(({ kind, rawInput }) => [kind, rawInput])).toEqual([[undefined, undefined]]);
  });
});

describe("a cancel that is never answered while a permission is open", () => {
  const forever = waitFor("never");

  test.concurrent.each<{ from: string; asks: readonly Action[]; ids: readonly string[] }>([
    { from: "one question", asks: [permission("t1")], ids: ["p1"] },
    { from: "one of an announced call", asks: [tool("t1"), permission("t1")], ids: ["p1"] },
    {
      from: "three questions",
      asks: [permission("t1"), permission("t2", { id: "p2" }), permission("t3", { id: "p3" })],
      ids: ["p1", "p2", "p3"],
    },
    { from: "a question of a child session", asks: [permission("t1", { sessionId: "child-1" })], ids: ["p1"] },
  ])("$from: answered first, then the grace, then the tree is ended", async ({ asks, ids }) => {
    const last = ids.at(-1)!;
    await using agent = await meet(turns([...asks, chunk("asking"), forever]), { silentPerson: true });
    const turn = (await agent.open()).prompt("hello", { timeouts: { cancelGraceMs: 300 } });
    for await (const event of turn.events) if (event.type === "text") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "asking" });
    const heard = heardBy(agent.log).slice(heardBy(agent.log).indexOf("session/prompt") + 1);
    expect(heard).toEqual([...ids.map((id) => `answer ${id}`), "session/cancel"]);
    expect(answerTo(agent.log, last)?.result).toEqual(CANCELLED);
    expect(processesIn(agent.log).filter((pid) => isRunning(pid))).toEqual([]);
  });
});

describe("a first prompt that is cancelled because a second arrived", () => {
  test("Ostler sends no second prompt while one runs", async () => {
    await using agent = await meet(turns([chunk("first"), { untilFile: "go" }, end()]));
    const session = await agent.open();
    const first = play(session);
    await agent.until(() => promptsIn(agent.log).length === 1);
    expect(() => session.prompt("second")).toThrow("A prompt is already running");
    agent.touch("go");
    expect((await first).outcome).toMatchObject({ kind: "completed", text: "first" });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.concurrent.each<{ from: string; turn: readonly Action[]; text: string }>([
    { from: "without a word", turn: [end("cancelled")], text: "" },
    { from: "after half an answer", turn: [chunk("half"), end("cancelled")], text: "half" },
    { from: "while a tool runs", turn: [tool("t1", { status: "in_progress" }), end("cancelled")], text: "" },
    { from: "while a permission is open", turn: [chunk("half"), end("cancelled")], text: "half" },
  ])("cancelled by the agent itself, $from: said, and not sent again", async ({ turn, text }) => {
    await using agent = await meet(turns(turn, [chunk("next"), end()]));
    const session = await agent.open();
    expect((await play(session)).outcome).toMatchObject({ kind: "cancelled", by: "harness", text, attempts: 1 });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
  });
});

interface Failing {
  readonly from: string;
  readonly error: readonly [code: number, message: string, data?: Json];
  readonly kind: FailureKind;
  /** What people read. */
  readonly title: string;
}

/** Every error is the answer to a prompt of its own, in one agent. */
function tellErrors(rows: readonly Failing[]): void {
  let played: (row: Failing) => Played;
  beforeAll(async () => {
    played = await playEach(rows.map(({ from, error }) => ({ from, turn: [err(...error)] })));
  });
  test.each(rows)("$from: $kind", (row) => {
    const { kind, title } = row;
    const { outcome } = played(row);
    expect(outcome).toMatchObject({ kind: "failed", text: "" });
    expect(failureOf(outcome)).toMatchObject({ kind, title, source: "rpc_error", replaySafety: "no_output" });
  });
}

describe("HTTP statuses as JSON-RPC codes and JSON as the message", () => {
  tellErrors([
    {
      from: "429 and a body",
      error: [
        429,
        '{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}',
      ],
      kind: "rate_limit",
      title: "Resource has been exhausted (e.g. check quota).",
    },
    {
      from: "a body in a body",
      error: [
        429,
        JSON.stringify({
          error: {
            message: JSON.stringify({ error: { code: 429, message: "Slow down", status: "RESOURCE_EXHAUSTED" } }),
            code: 429,
            status: "Too Many Requests",
          },
        }),
      ],
      kind: "rate_limit",
      title: "Slow down",
    },
    {
      from: "a list of one body",
      error: [503, '[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]'],
      kind: "overloaded",
      title: "The model is overloaded.",
    },
    {
      from: "500 and words before the body",
      error: [
        500,
        'got status: INTERNAL. {"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}',
      ],
      kind: "service_error",
      title: "got status: INTERNAL.: An internal error has occurred.",
    },
    { from: "401", error: [401, '{"error":{"message":"Invalid token"}}'], kind: "auth", title: "Invalid token" },
    {
      from: "403",
      error: [403, '{"message":"Not allowed for this project"}'],
      kind: "auth",
      title: "Not allowed for this project",
    },
    {
      from: "402",
      error: [402, '{"error":{"message":"Add credits to go on"}}'],
      kind: "usage_limit",
      title: "Add credits to go on",
    },
    {
      from: "404 of a model",
      error: [
        404,
        '{"error":{"code":404,"message":"models/big-9 is not found for API version v1beta","status":"NOT_FOUND"}}',
      ],
      kind: "model_unavailable",
      title: "models/big-9 is not found for API version v1beta",
    },
    {
      from: "413",
      error: [413, '{"error":{"message":"Request too large"}}'],
      kind: "request_rejected",
      title: "Request too large",
    },
    {
      from: "400",
      error: [400, '{"error":{"message":"Field x is missing"}}'],
      kind: "request_rejected",
      title: "Field x is missing",
    },
    {
      from: "529",
      error: [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
      kind: "overloaded",
      title: "Overloaded",
    },
    {
      from: "502 and a page",
      error: [502, "<html><title>502 Bad Gateway</title></html>"],
      kind: "service_error",
      title: "<html><title>502 Bad Gateway</title></html>",
    },
    { from: "503 and no words", error: [503, ""], kind: "service_error", title: "The service had an internal failure" },
    {
      from: "a status inside the JSON alone",
      error: [-32603, '{"status":429,"message":"Wait a moment"}'],
      kind: "rate_limit",
      title: "Wait a moment",
    },
    {
      from: "a number that is no status",
      error: [299, "It was not meant to be"],
      kind: "unknown",
      title: "It was not meant to be",
    },
    {
      from: "a JSON message that says nothing known",
      error: [-32603, '{"oops":true}'],
      kind: "unknown",
      title: '{"oops":true}',
    },
  ]);
});

const details = (text: string): Failing["error"] => [-32603, "Internal error", { details: text }];

describe("the status as the first word of data.details", () => {
  tellErrors([
    {
      from: "429 and a sentence",
      error: details("429 You exceeded your current quota, please check your plan"),
      kind: "usage_limit",
      title: "429 You exceeded your current quota, please check your plan",
    },
    {
      from: "429 and a plain sentence",
      error: details("429 Please slow down"),
      kind: "rate_limit",
      title: "429 Please slow down",
    },
    {
      from: "429 in lower case",
      error: details("429 slow down please"),
      kind: "rate_limit",
      title: "429 slow down please",
    },
    {
      from: "a proxy's lower-case words",
      error: details("503 upstream connect error or disconnect/reset before headers"),
      kind: "service_error",
      title: "503 upstream connect error or disconnect/reset before headers",
    },
    {
      from: "401 and a sentence",
      error: details("401 Incorrect API key provided"),
      kind: "auth",
      title: "401 Incorrect API key provided",
    },
    {
      from: "402 and a body",
      error: details('402 {"error":{"message":"Not enough credits"}}'),
      kind: "usage_limit",
      title: "Not enough credits",
    },
    {
      from: "a status without a body",
      error: details("503 status code (no body)"),
      kind: "service_error",
      title: "503 status code (no body)",
    },
    {
      from: "500 and a request id",
      error: details("500 Something broke (request id: r-1)"),
      kind: "service_error",
      title: "500 Something broke (request id: r-1)",
    },
    { from: "the status alone", error: details("529"), kind: "overloaded", title: "529" },
    {
      from: "data is the text itself",
      error: [-32603, "Internal error", "404 Model not found"],
      kind: "model_unavailable",
      title: "404 Model not found",
    },
    {
      from: "a count that looks like one",
      error: details("500 files were read before it failed"),
      kind: "unknown",
      title: "500 files were read before it failed",
    },
    {
      from: "a port",
      error: details("Connection to 127.0.0.1:429 was odd"),
      kind: "unknown",
      title: "Connection to 127.0.0.1:429 was odd",
    },
  ]);
});

describe("silence while it retries by itself", () => {
  const QUIET = { idleMs: 1500, firstByteMs: 1500, toolMs: 60_000, cancelGraceMs: 60_000 };
  const pause: Action = { delayMs: 200 };
  const stopped = [waitFor("session/cancel"), end("cancelled")];

  test.concurrent.each<{ from: string; turn: readonly Action[]; text: string; heard: string; partial: boolean }>([
    { from: "from the beginning", turn: stopped, text: "", heard: "nothing", partial: false },
    {
      from: "after half an answer",
      turn: [chunk("half"), ...stopped],
      text: "half",
      heard: "answer text",
      partial: true,
    },
    {
      from: "after a tool",
      turn: [tool("t1", { status: "completed" }), ...stopped],
      text: "",
      heard: 'tool call "Run tests" completed',
      partial: false,
    },
    {
      from: "with commands and modes only, which are no sign of life",
      turn: [
        update({ sessionUpdate: "available_commands_update", availableCommands: [] }),
        update({ sessionUpdate: "current_mode_update", currentModeId: "m" }),
        ...stopped,
      ],
      text: "",
      heard: "nothing",
      partial: false,
    },
  ])(
    "$from: a timeout that says what was last heard, and the agent stays usable",
    async ({ turn, text, heard, partial }) => {
      await using agent = await meet(turns(turn, [chunk("next"), end()]));
      const session = await agent.open();
      const { outcome } = await play(session, { timeouts: QUIET });
      expect(outcome).toMatchObject({ kind: "failed", text, partial, attempts: 1 });
      expect(failureOf(outcome)).toMatchObject({
        kind: "timeout",
        retry: "never",
        title: expect.stringContaining(`last heard: ${heard}`),
      });
      expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
      expect(processesIn(agent.log)).toHaveLength(1);
    },
  );

  test.concurrent.each<{ from: string; turn: readonly Action[]; text: string }>([
    {
      from: "a tool runs meanwhile",
      turn: [
        tool("t1", { status: "in_progress" }),
        { delayMs: 1800 },
        toolUpdate("t1", { status: "completed" }),
        chunk("done"),
        end(),
      ],
      text: "done",
    },
    {
      from: "it is shorter than allowed, again and again",
      turn: [...Array.from("abcdefghi", (letter) => [pause, chunk(letter)]).flat(), end()],
      text: "abcdefghi",
    },
    {
      from: "it tells of usage meanwhile",
      turn: [
        chunk("a"),
        ...Array.from({ length: 9 }, (_, n) => [
          pause,
          update({ sessionUpdate: "usage_update", used: n, size: 9 }),
        ]).flat(),
        chunk("b"),
        end(),
      ],
      text: "ab",
    },
  ])("$from: that is no failure", async ({ turn, text }) => {
    await using agent = await meet(turns(turn));
    expect((await play(await agent.open(), { timeouts: QUIET })).outcome).toMatchObject({ kind: "completed", text });
  });
});

describe("a service failure told only as answer text or as an empty end_turn", () => {
  const PROSE = [
    {
      from: "an API error",
      text: 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    },
    { from: "a limit", text: "You've hit your usage limit. Try again at 8pm." },
    { from: "a missing login", text: "Authentication required. Please run /login." },
    { from: "a refusal in words", text: "I can't help with that." },
    { from: "a question about errors", text: "HTTP 503 means that a service is unavailable." },
  ].map((row) => ({ ...row, turn: [chunk(row.text), end()] }));
  let played: (row: { from: string }) => Played;
  beforeAll(async () => {
    played = await playEach(PROSE, { prompt: { retries: 3 } });
  });

  test.each(PROSE)("text, $from: the prose of an answer is never judged", (row) => {
    const { outcome, events } = played(row);
    expect(outcome).toMatchObject({ kind: "completed", text: row.text, warnings: [], attempts: 1 });
    expect(events.map(({ type }) => type)).toEqual(["session", "text"]);
  });

  test.concurrent.each<{ from: string; turn: readonly Action[]; stderr: string }>([
    { from: "nothing at all", turn: [end()], stderr: "" },
    { from: "a thought alone", turn: [thought("The service said 503"), end()], stderr: "" },
    { from: "blank text", turn: [chunk(" \n"), end()], stderr: "" },
    {
      from: "the reason on stderr",
      turn: [{ stderr: "error: 402 Payment Required for sk-proj-abcdefghijklmnop\n" }, end()],
      stderr: "error: 402 Payment Required for [redacted]",
    },
    {
      from: "usage of zero tokens",
      turn: [update({ sessionUpdate: "usage_update", used: 0, size: 1 }), end()],
      stderr: "",
    },
  ])("empty, $from: one more try, then said as empty with the end of stderr", async ({ turn, stderr }) => {
    await using agent = await meet(turns(turn));
    const { outcome } = await play(await agent.open());
    expect(outcome).toMatchObject({ kind: "empty", failure: null, attempts: 2 });
    expect("stderr" in outcome ? outcome.stderr : "").toContain(stderr);
    expect(JSON.stringify(outcome)).not.toContain("sk-proj");
    expect(promptsIn(agent.log)).toHaveLength(2);
  });

  test("an empty end after a tool is not repeated: the tool has run", async () => {
    await using agent = await meet(turns([tool("t1", { status: "failed" }), end()]));
    expect((await play(await agent.open())).outcome).toMatchObject({ kind: "completed", text: "", attempts: 1 });
  });

  test("the second try answers", async () => {
    await using agent = await meet(turns([end()], [chunk("here"), end()]));
    expect((await play(await agent.open())).outcome).toMatchObject({ kind: "completed", text: "here", attempts: 2 });
  });
});

describe("answer text glued on from cut attempts without any id", () => {
  const GLUED: { from: string; turn: readonly Action[]; text: string }[] = [
    {
      from: "the same beginning twice",
      turn: [chunk("Hello wor"), chunk("Hello world"), end()],
      text: "Hello worHello world",
    },
    {
      from: "three times",
      turn: [chunk("He"), chunk("Hello"), chunk("Hello world"), end()],
      text: "HeHelloHello world",
    },
    { from: "the whole answer twice", turn: [chunk("Done."), chunk("Done."), end()], text: "Done.Done." },
    {
      from: "with a pause between",
      turn: [chunk("Hello wor"), { delayMs: 50 }, chunk("Hello world"), end()],
      text: "Hello worHello world",
    },
    {
      from: "with a thought between",
      turn: [chunk("Hello wor"), thought("again"), chunk("Hello world"), end()],
      text: "Hello worHello world",
    },
    {
      from: "with a notice between",
      turn: [
        chunk("Hello wor"),
        update({ sessionUpdate: "notice", content: { type: "text", text: "Retrying" } }),
        chunk("Hello world"),
        end(),
      ],
      text: "Hello worHello world",
    },
    {
      from: "with an id on the second attempt alone",
      turn: [chunk("Hello wor"), chunk("Hello world", { messageId: "m2" }), end()],
      text: "Hello worHello world",
    },
    {
      from: "with the same id on both",
      turn: [chunk("Hello wor", { messageId: "m1" }), chunk("Hello world", { messageId: "m1" }), end()],
      text: "Hello worHello world",
    },
    {
      from: "the word that really is said twice",
      turn: [chunk("very "), chunk("very "), chunk("good"), end()],
      text: "very very good",
    },
  ];
  let played: (row: { from: string }) => Played;
  beforeAll(async () => {
    played = await playEach(GLUED);
  });

  test.each(GLUED)("$from: nobody can tell where one ends, so it is shown as it came", (row) => {
    const { outcome, events } = played(row);
    expect(outcome).toMatchObject({ kind: "completed", text: row.text, warnings: [] });
    expect(textsOf(events, "text").join("")).toBe(row.text);
    expect(events.filter((event) => event.type === "text" && event.superseded)).toEqual([]);
  });

  test("with an id of its own on each attempt it can be told", async () => {
    await using agent = await meet(
      turns([chunk("Hello wor", { messageId: "m1" }), chunk("Hello world", { messageId: "m2" }), end()]),
    );
    const { outcome, events } = await play(await agent.open());
    expect(outcome).toMatchObject({ kind: "completed", text: "Hello world" });
    expect(events).toContainEqual({ type: "text", text: "", messageId: "m1", superseded: true });
  });
});
