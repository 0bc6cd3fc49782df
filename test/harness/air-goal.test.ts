/** Goals and steering with the real adapters, through the library. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SessionEvent } from "../../src/acp/events.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { AcpSession } from "../../src/acp/session.ts";
import { STEERING_METHOD, readSteeringAnswer } from "../../src/acp/air/steering.ts";
import { heard, inShort } from "../acp/goals.ts";
import { openAiError } from "../model-service/openai.ts";
import { heldText, httpError, text, toolCall } from "../model-service/steps.ts";
import type { Answers, World } from "./live.ts";
import { lastRequest, openWorld } from "./live.ts";

/** codex asks its model to go on until that says with a tool that the goal is reached. */
const CODEX: Answers = {
  PLUM: [toolCall("update_goal", { status: "complete" }), text("The goal is complete.")],
  FIG: [heldText("Working ", "on it."), text("Still.")],
  PEAR: [heldText("First part ", "of the answer.")],
  LEMON: [text("Steered answer.")],
  BAD: [httpError(400, openAiError("invalid_request_error", "invalid_value", "Bad value."))],
};

const CLAUDE: Answers = {
  PLUM: [text("Working on the goal.")],
  PEAR: [heldText("First part ", "of the answer.")],
  LEMON: [text("Steered answer.")],
};

describe.each([
  { name: "codex", answers: CODEX },
  { name: "claude", answers: CLAUDE },
] as const)("$name", ({ name, answers }) => {
  let world: World;
  let session: Session;

  beforeAll(async () => {
    world = await openWorld(name, answers);
    const { runtime } = await world.start();
    session = await runtime.openSession({ cwd: world.home.workspace });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** What the session tells from now on. */
  function listen(): { readonly session: Session; readonly told: SessionEvent[] } {
    const told: SessionEvent[] = [];
    onTestFinished(session.subscribe((event) => told.push(event)));
    return { session, told };
  }

  test("a goal is set and cleared; its work is told as work that no prompt started", async () => {
    const { told } = listen();
    const { goal, work } = await session.setGoal({ action: "set", objective: "Reach the PLUM" });
    expect(goal).toMatchObject({ objective: "Reach the PLUM", status: name === "codex" ? "complete" : "active" });
    expect(work).toMatchObject({
      kind: "completed",
      text: expect.stringContaining(name === "codex" ? "The goal is complete." : "Working on the goal."),
    });
    expect(told.filter(({ turnId }) => turnId !== null)).toEqual([]);
    expect(inShort(told).filter((line) => /(started|ended)/.test(line))).toEqual([
      "none started",
      "none ended completed",
    ]);
    expect(await session.setGoal({ action: "clear" })).toMatchObject({ goal: null });
  });

  test("words reach a running turn, whose answer follows them", async () => {
    const listening = listen();
    const { told } = listening;
    const turn = session.prompt("PEAR", { retries: 0 });
    await heard(listening, ({ event }) => event.type === "text");
    expect(await session.steer("LEMON instead")).toEqual({ outcome: "injected" });
    world.service.release();
    const outcome = await turn.outcome;
    expect(outcome).toMatchObject({
      kind: "completed",
      text: expect.stringMatching(/^First part .*Steered answer\.$/s),
    });
    expect(inShort(told)).toContain("turn user LEMON instead");
    expect(lastRequest(world)).toContain("LEMON instead");
  });

  test("words for an idle session become a prompt", async () => {
    const answer = await session.steer("LEMON");
    if (answer.outcome !== "prompted") throw new Error(`It was ${answer.outcome}`);
    expect(await answer.turn.outcome).toMatchObject({ kind: "completed", text: "Steered answer." });
  });

  // claude-agent-acp knows neither.
  if (name !== "codex") return;

  test("a goal is paused and resumed", async () => {
    const listening = listen();
    const set = session.setGoal({ action: "set", objective: "Reach the FIG" });
    await heard(listening, ({ event }) => event.type === "text");
    expect(await session.setGoal({ action: "pause" })).toMatchObject({ goal: { status: "paused" } });
    world.service.release();
    await set;
    expect(session.goal).toMatchObject({ objective: "Reach the FIG", status: "paused" });
    const resumed = await session.setGoal({ action: "resume" }, { until: "reached" });
    expect(resumed).toMatchObject({ goal: { status: "active" } });
    await session.setGoal({ action: "clear" });
    await session.stopWork();
  });

  test("a turn that a steering began in an idle session fails: it is reported", async () => {
    const { told } = listen();
    const inside = session;
    if (!(inside instanceof AcpSession)) throw new Error("A session of this library was expected");
    const prompt = [{ type: "text", text: "BAD" }] as const;
    // Ostler has its words given back; the adapter begins a turn for a client that does not ask for that.
    const outcome = await new Promise((resolve, reject) => {
      inside.link.connection.send(STEERING_METHOD, { sessionId: session.id, prompt }, {}, (answer) => {
        if ("error" in answer) reject(answer.error);
        else if (readSteeringAnswer(answer.result).outcome !== "startedNewTurn") reject(new Error("No turn was begun"));
        else resolve(inside.work.steered(prompt));
      });
    });
    expect(outcome).toMatchObject({ kind: "failed", failure: { source: "thread_status" } });
    expect(inShort(told).slice(-1)).toEqual(["none ended failed"]);
  });
});
