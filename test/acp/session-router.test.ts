/** Whose a frame or a question is, and what is not sent again when nobody can say (case C17, case C05). */
import { describe, expect, test } from "vitest";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { answerTo, chunk, end, err, permission, promptsIn, turns, waitForAnswer } from "../fixtures/agents/scenario.ts";
import { drive, play, start } from "./drive.ts";

const allowOnce: PermissionPolicy = async () => ({ action: "select", optionId: "a", denied: false });
const rejectOnce: PermissionPolicy = async () => ({ action: "select", optionId: "r", denied: true });
const allowed = { outcome: { outcome: "selected", optionId: "a" } };
const rejected = { outcome: { outcome: "selected", optionId: "r" } };
/** The usual question, answered. */
const asks = (sessionId = "$S"): readonly Action[] => [permission("t1", { sessionId }), waitForAnswer("p1")];
const overloaded = err(-32603, "overloaded_error");

describe("a tool that was allowed may have run: the prompt is not sent again", () => {
  test.each<{ from: string; turn: readonly Action[]; outcome: object }>([
    {
      from: "a call that was never announced, then an error",
      turn: [...asks(), overloaded],
      outcome: { kind: "failed", attempts: 1, failure: { kind: "overloaded", replaySafety: "tool_started" } },
    },
    {
      from: "a call of a child session, then an error",
      turn: [...asks("child-99"), overloaded],
      outcome: { kind: "failed", attempts: 1, failure: { kind: "overloaded", replaySafety: "tool_started" } },
    },
    {
      from: "a call that was never announced, then an empty end",
      turn: [...asks(), end()],
      outcome: { kind: "empty", attempts: 1, failure: null },
    },
    {
      from: "a call of a child session, then an empty end",
      turn: [...asks("child-99"), end()],
      outcome: { kind: "empty", attempts: 1, failure: null },
    },
  ])("$from", async ({ turn, outcome }) => {
    const driven = await drive(turns(turn, [chunk("again"), end()]), { permissions: allowOnce });
    expect(driven.outcome).toMatchObject(outcome);
    expect(driven.prompts).toBe(1);
    expect(answerTo(driven.log, "p1")?.result).toEqual(allowed);
  });

  test.each([
    { from: "an error", last: overloaded },
    { from: "an empty end", last: end() },
  ])("one that was refused has not run: after $from it is sent again", async ({ last }) => {
    const driven = await drive(turns([...asks(), last], [chunk("again"), end()]), { permissions: rejectOnce });
    expect(driven.outcome).toMatchObject({ kind: "completed", text: "again", attempts: 2 });
  });

  test("a yes that comes when the prompt has failed and is out again is not given", async () => {
    const asked = Promise.withResolvers<void>();
    const turn = [permission("t1"), overloaded];
    await using agent = await start(turns(turn, [chunk("again"), waitForAnswer("p1"), end()]), {
      permissions: async () => {
        await asked.promise;
        return { action: "select", optionId: "a", denied: false };
      },
    });
    const played = play(await agent.open());
    await agent.until(() => promptsIn(agent.log).length === 2);
    asked.resolve();
    expect((await played).outcome).toMatchObject({ kind: "completed", text: "again", attempts: 2 });
    expect(answerTo(agent.log, "p1")?.result).toEqual(rejected);
  });
});
