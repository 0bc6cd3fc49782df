/** What an agent asks while its session is being opened: refused at once, and told by the first turn. */
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { answerTo, call, chunk, end, err, permission, reply, waitForAnswer } from "../fixtures/agents/scenario.ts";
import { drive, play, rejectionOf, start } from "./drive.ts";

const allow: PermissionPolicy = async () => ({ action: "select", optionId: "a", denied: false });
const rejected = { outcome: { outcome: "selected", optionId: "r" } };
const titles = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "permission" ? [event.request.title] : []));

const asksOf = (id: string, sessionId: string): Action => permission("t1", { id, sessionId, title: `of ${sessionId}` });

/** An agent that asks before it answers the request that opens its session. */
const asksFirst = (method: string, questions: readonly Action[], last: Action = { default: true }): Scenario => ({
  initializeResult: { agentCapabilities: { loadSession: true } },
  on: { [method]: [[...questions, last]], "session/prompt": [[chunk("ok"), end()]] },
});

describe("a permission asked while a session opens", () => {
  test.each<{ from: string; sessionId: string }>([
    { from: "of the session that the answer names later", sessionId: "s1" },
    { from: "of a session that nobody names: of the one that opens", sessionId: "s9" },
  ])("$from", async ({ sessionId }) => {
    const question = [permission("t1", { sessionId }), waitForAnswer("p1")];
    await using agent = await start(asksFirst("session/new", question), { permissions: allow });
    const session = await agent.open();
    const first = await play(session);
    const second = await play(session);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    expect(first.outcome).toMatchObject({ kind: "completed", denied: ["rm -rf x"] });
    expect(first.events.find(({ type }) => type === "permission")).toMatchObject({
      request: { sessionId, title: "rm -rf x" },
      answer: { action: "select", optionId: "r", denied: true, reason: "The session is not open yet" },
    });
    expect({ denied: second.outcome.denied, told: titles(second.events) }).toEqual({ denied: [], told: [] });
  });

  test("while an earlier session is loaded", async () => {
    const question = [permission("t1", { sessionId: "old" }), waitForAnswer("p1")];
    await using agent = await start(asksFirst("session/load", question, reply({})), { permissions: allow });
    const session = await agent.runtime.resumeSession({ cwd: dirname(agent.log), sessionId: "old", via: "load" });
    const { outcome } = await play(session);
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
    expect(outcome.denied).toEqual(["rm -rf x"]);
  });

  test("it is a denial also of a turn whose first try fails", async () => {
    const question = [permission("t1", { sessionId: "s1" }), waitForAnswer("p1")];
    const scenario = asksFirst("session/new", question);
    const { outcome } = await drive(
      {
        ...scenario,
        on: { ...scenario.on, "session/prompt": [[err(-32603, "overloaded_error")], [chunk("ok"), end()]] },
      },
      { permissions: allow },
    );
    expect(outcome).toMatchObject({ kind: "completed", attempts: 2, denied: ["rm -rf x"] });
  });

  test("a session that does not open leaves nothing to the next", async () => {
    const question = [permission("t1", { sessionId: "s1" }), waitForAnswer("p1")];
    await using agent = await start(
      {
        on: {
          "session/new": [[...question, err(-32603, "no")], [{ default: true }]],
          "session/prompt": [[chunk("ok"), end()]],
        },
      },
      { permissions: allow },
    );
    expect(await rejectionOf(agent.open())).toBeInstanceOf(AcpRuntimeError);
    const { outcome } = await play(await agent.open());
    expect(outcome.denied).toEqual([]);
  });

  test("of two sessions that open at once each is told its own", async () => {
    await using agent = await start(
      {
        on: {
          "session/new": [
            [asksOf("p1", "s1"), waitForAnswer("p1"), { untilFile: "go" }, reply({ sessionId: "s1" })],
            [asksOf("p2", "s2"), waitForAnswer("p2"), { untilFile: "go" }, reply({ sessionId: "s2" })],
          ],
          "session/prompt": [[chunk("ok"), end()]],
        },
      },
      { permissions: allow },
    );
    const opening = [agent.open(), agent.open()];
    await agent.until(() => answerTo(agent.log, "p1") !== undefined && answerTo(agent.log, "p2") !== undefined);
    agent.touch("go");
    const played = await Promise.all((await Promise.all(opening)).map((session) => play(session)));
    expect(played.map(({ outcome }) => outcome.denied)).toEqual([["of s1"], ["of s2"]]);
  });

  test("a question to a person is cancelled and told as well", async () => {
    const form = { mode: "form", sessionId: "s1", message: "Name?", requestedSchema: { properties: {} } };
    const question = [call("elicitation/create", form, "q1"), waitForAnswer("q1")];
    const { events, log, outcome } = await drive(asksFirst("session/new", question), {
      questions: async () => ({ action: "accept", content: {} }),
    });
    expect(answerTo(log, "q1")?.result).toEqual({ action: "cancel" });
    expect(events.find(({ type }) => type === "question")).toMatchObject({
      request: { message: "Name?" },
      answer: { action: "cancel", reason: "The session is not open yet" },
    });
    expect(outcome.denied).toEqual([]);
  });
});
