/** After output was seen the agent is asked to go on, once, on the same session; never a replay. */
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  chunk,
  end,
  err,
  permission,
  promptsIn,
  tool,
  toolUpdate,
  turns,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { drive, start, textsOf } from "./drive.ts";

const GO_ON = [{ type: "text", text: "Continue from where you stopped." }];
const HELLO = [{ type: "text", text: "hello" }];
const busy = err(-32603, "HTTP 503");
const retriesIn = (events: readonly TurnEvent[]) => events.filter(({ type }) => type === "retry");

describe("kiro, cut by the service", () => {
  test.concurrent.each<{
    from: string;
    turns: readonly (readonly Action[])[];
    prompts: readonly unknown[];
    expected: object;
  }>([
    {
      from: "after text: both parts are the answer",
      turns: [
        [chunk("half"), busy],
        [chunk(" way"), end()],
      ],
      prompts: [HELLO, GO_ON],
      expected: { kind: "completed", text: "half way", partial: false, attempts: 2 },
    },
    {
      from: "after a tool that had ended",
      turns: [
        [tool("t1"), toolUpdate("t1", { status: "completed" }), busy],
        [chunk("done"), end()],
      ],
      prompts: [HELLO, GO_ON],
      expected: { kind: "completed", text: "done", attempts: 2 },
    },
    {
      from: "before any output: the same prompt, and only then the request to go on",
      turns: [[busy], [chunk("half"), busy], [chunk(" way"), end()]],
      prompts: [HELLO, HELLO, GO_ON],
      expected: { kind: "completed", text: "half way", attempts: 3 },
    },
    {
      from: "cut again: not a third time",
      turns: [
        [chunk("half"), busy],
        [chunk(" way"), busy],
        [chunk("never"), end()],
      ],
      prompts: [HELLO, GO_ON],
      expected: {
        kind: "failed",
        text: "half way",
        partial: true,
        attempts: 2,
        failure: { replaySafety: "output_seen" },
      },
    },
    {
      from: "the request itself is turned away: the answer so far stays, and is no reason to send anything again",
      turns: [[tool("t1"), chunk("half"), busy], [busy], [chunk("never"), end()]],
      prompts: [HELLO, GO_ON],
      expected: { kind: "failed", text: "half", partial: true, attempts: 2, failure: { replaySafety: "tool_started" } },
    },
    {
      from: "nothing more comes: the cut answer is not passed off as a whole one",
      turns: [[chunk("half"), busy], [end()], [chunk("never"), end()]],
      prompts: [HELLO, GO_ON],
      expected: { kind: "failed", text: "half", partial: true, attempts: 2, failure: { kind: "service_error" } },
    },
    {
      from: "a limit is no reason to go on",
      turns: [
        [chunk("half"), err(-32603, "Monthly usage limit reached")],
        [chunk("never"), end()],
      ],
      prompts: [HELLO],
      expected: { kind: "failed", text: "half", attempts: 1 },
    },
    {
      from: "nor is its death",
      turns: [[chunk("half"), { exit: 1 }]],
      prompts: [HELLO],
      expected: { kind: "failed", text: "half", attempts: 1, failure: { replaySafety: "unknown" } },
    },
  ])("$from", async ({ turns: lists, prompts, expected }) => {
    const { outcome, log } = await drive(turns(...lists), { profile: "kiro", prompt: { retries: 3 } });
    expect(outcome).toMatchObject(expected);
    expect(promptsIn(log).map(({ params }) => params?.["prompt"])).toEqual(prompts);
  });

  test.concurrent("it is announced, and the text before it is not taken back", async () => {
    const { events } = await drive(turns([chunk("half"), busy], [chunk("half again"), end()]), { profile: "kiro" });
    expect(retriesIn(events)).toMatchObject([{ by: "ostler", how: "continue", attempt: 2, of: 4 }]);
    expect(retriesIn(events)[0]).toMatchObject({
      reason: expect.stringMatching(/^The agent is asked to go on: .*503/),
    });
    expect(textsOf(events, "text")).toEqual(["half", "half again"]);
  });

  test.concurrent("a no of the first part is still a no of the turn", async () => {
    const { outcome } = await drive(
      turns([tool("t1"), permission("t1", { title: "rm" }), waitForAnswer("p1"), busy], [chunk("done"), end()]),
      {
        profile: "kiro",
        permissions: () => Promise.resolve({ action: "select", optionId: "r", denied: true }),
      },
    );
    expect(outcome).toMatchObject({ kind: "completed", text: "done", denied: ["rm"], attempts: 2 });
  });

  test.concurrent("a stop during the wait: nothing more is sent", async () => {
    await using agent = await start(
      turns([chunk("half"), err(-32603, "HTTP 503, retry-after: 30")], [chunk("never"), end()]),
      { profile: "kiro" },
    );
    const turn = (await agent.open()).prompt("hello");
    for await (const event of turn.events) if (event.type === "retry") turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half", attempts: 1 });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });
});

test.each(["claude", "codex", "generic"] as const)("%s is never asked to go on", async (profile) => {
  const { outcome, prompts } = await drive(turns([chunk("half", { messageId: "m1" }), busy], [chunk("never"), end()]), {
    profile,
  });
  expect(outcome).toMatchObject({ kind: "failed", text: "half", attempts: 1 });
  expect(prompts).toBe(1);
});
