/** A stop: soft, bounded, then hard. Against real children that acknowledge it, ignore it, race it or die of it. */
import { describe, expect, test } from "vitest";
import { AcpSession } from "../../src/acp/session.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { createRetryBudget } from "../../src/acp/retry-budget.ts";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { PromptOptions, Turn, TurnTimeouts } from "../../src/acp/types.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  answerTo,
  call,
  chunk,
  end,
  err,
  grandchildrenIn,
  logOf,
  permission,
  promptsIn,
  tool,
  turns,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { isRunning, play, start } from "./drive.ts";

/** Clocks that never strike, and a grace that no test could wait for. */
const PATIENT: TurnTimeouts = {
  wallMs: 60_000,
  idleMs: 60_000,
  toolMs: 60_000,
  firstByteMs: 60_000,
  cancelGraceMs: 60_000,
};
const SOON_MS = 10_000;
const ignoring: readonly Action[] = [chunk("half"), waitFor("session/cancel"), { untilFile: "go" }, end()];

/** Prompts, and calls `act` at the first event of a type. */
async function stopAt(
  session: Session,
  type: TurnEvent["type"],
  act: (turn: Turn) => void,
  options: PromptOptions = {},
) {
  const turn = session.prompt("hello", { backoffMs: 1, timeouts: PATIENT, ...options });
  const events: TurnEvent[] = [];
  for await (const event of turn.events) {
    if (event.type === type && !events.some((earlier) => earlier.type === type)) act(turn);
    events.push(event);
  }
  return { outcome: await turn.outcome, events };
}

const softly = (turn: Turn): void => turn.cancel();
const twice = (turn: Turn): void => {
  turn.cancel();
  turn.cancel();
};
const methodsIn = (log: string) => logOf(log).flatMap(({ frame }) => frame?.method ?? (frame ? [frame.id] : []));
const lateFramesOf = (session: Session) => (session instanceof AcpSession ? session.lateFrames : undefined);

describe("turn.cancel()", () => {
  test.concurrent("once: the agent is told and its answer waited for; the process is kept (case C19 e)", async () => {
    await using agent = await start(
      turns([chunk("half"), waitFor("session/cancel"), chunk(" way"), end("cancelled")], [chunk("next"), end()]),
    );
    const session = await agent.open();
    const { outcome } = await stopAt(session, "text", softly);
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half way", partial: true, warnings: [] });
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
  });

  test.concurrent.each<{ from: string; stop: (turn: Turn, abort: () => void) => void }>([
    { from: "twice", stop: twice },
    {
      from: "after the signal",
      stop: (turn, abort) => {
        abort();
        turn.cancel();
      },
    },
    {
      from: "before the signal",
      stop: (turn, abort) => {
        turn.cancel();
        abort();
      },
    },
  ])("$from: no grace, and the process is gone when the outcome is told", async ({ stop }) => {
    await using agent = await start(turns(ignoring));
    const session = await agent.open();
    const begun = performance.now();
    const controller = new AbortController();
    const { outcome } = await stopAt(session, "text", (turn) => stop(turn, () => controller.abort()), {
      signal: controller.signal,
    });
    expect(isRunning(agent.runtime.pid)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(SOON_MS);
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half", warnings: [] });
  });

  test.concurrent("in the same tick as the prompt, twice", async () => {
    await using agent = await start(turns([{ untilFile: "never" }]));
    const turn = (await agent.open()).prompt("hello", { timeouts: PATIENT });
    turn.cancel();
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "" });
    expect(isRunning(agent.runtime.pid)).toBe(false);
  });

  test.concurrent("after the outcome: nothing is sent, and the session goes on", async () => {
    await using agent = await start(turns([chunk("one"), end()], [chunk("two"), end()]));
    const session = await agent.open();
    const turn = session.prompt("hello");
    await turn.outcome;
    turn.cancel();
    turn.cancel();
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "two" });
    expect(methodsIn(agent.log)).not.toContain("session/cancel");
  });
});

describe("nobody is told that it stopped while it can still run", () => {
  test.concurrent("after the grace the whole tree is gone when the outcome is told (case C19 b)", async () => {
    await using agent = await start(
      turns([{ ignoreSignals: ["SIGTERM"] }, { grandchild: { detached: true, ignoresSigterm: true } }, ...ignoring]),
    );
    const { outcome } = await stopAt(await agent.open(), "text", softly, {
      timeouts: { ...PATIENT, cancelGraceMs: 30 },
    });
    const processes = [agent.runtime.pid, ...grandchildrenIn(agent.log)];
    expect(processes).toHaveLength(2);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half", warnings: [] });
  });

  test.concurrent("an agent that dies of the cancel leaves a child behind: that one is ended first", async () => {
    await using agent = await start(
      turns([
        { grandchild: { detached: true, ignoresSigterm: true } },
        chunk("half"),
        waitFor("session/cancel"),
        { exit: 3 },
      ]),
    );
    const { outcome } = await stopAt(await agent.open(), "text", softly);
    expect(grandchildrenIn(agent.log).filter(isRunning)).toEqual([]);
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "half" });
  });

  test.concurrent("others live in the process: the session is given up, and the outcome says that nobody confirmed", async () => {
    await using agent = await start(
      turns([...ignoring, call("fs/nothing", {}, "after")], [chunk("other"), { untilFile: "go on" }, end()]),
    );
    const [session, other] = [await agent.open(), await agent.open()];
    const { outcome, events } = await stopAt(session, "text", twice);
    const title =
      "The agent did not confirm that it stopped; the session was given up, and the turn may still be at work";
    expect(outcome).toMatchObject({
      kind: "cancelled",
      warnings: [{ title, severity: "warning", rule: "cancel-retired" }],
    });
    expect(events.filter(({ type }) => type === "warning")).toHaveLength(1);
    expect(agent.sunk.map((failure) => failure.title)).toEqual([title]);
    const running = play(other);
    agent.touch("go");
    // The answer to what the agent asked after its late answer.
    await agent.until(() => answerTo(agent.log, "after") !== undefined);
    agent.touch("go on");
    expect((await running).outcome).toMatchObject({ kind: "completed", text: "other" });
    expect(agent.runtime.state).toBe("ready");
    expect(lateFramesOf(session)).toBe(1);
    expect(lateFramesOf(other)).toBe(0);
  });
});

describe("a question that is open when the stop comes", () => {
  test.concurrent("is answered `cancelled` on the wire before the agent hears of the cancel (case C19 d)", async () => {
    const asked = Promise.withResolvers<void>();
    await using agent = await start(
      turns([tool("t1"), permission("t1"), waitForAnswer("p1"), waitFor("session/cancel"), end("cancelled")]),
      {
        permissions: () => {
          asked.resolve();
          return new Promise(() => {});
        },
      },
    );
    const turn = (await agent.open()).prompt("hello", { timeouts: PATIENT });
    await asked.promise;
    turn.cancel();
    const outcome = await turn.outcome;
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", denied: [] });
    const heard = logOf(agent.log).flatMap(({ frame }) => (frame === undefined ? [] : [frame]));
    const answered = heard.findIndex(({ id, method }) => id === "p1" && method === undefined);
    expect(heard.slice(answered).map(({ method }) => method)).toEqual([undefined, "session/cancel"]);
    expect(heard[answered]?.result).toEqual({ outcome: { outcome: "cancelled" } });
    expect(agent.runtime.state).toBe("ready");
  });

  test.concurrent("a policy that never returns does not stop the clocks for the rest of the turn", async () => {
    await using agent = await start(turns([permission("t1"), waitForAnswer("p1"), { untilFile: "never" }]), {
      permissions: () => new Promise(() => {}),
      timeouts: { permissionMs: 20 },
    });
    const { outcome } = await play(await agent.open(), {
      timeouts: { ...PATIENT, idleMs: 100, cancelGraceMs: 20 },
    });
    expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "timeout", rule: "clock-idle" } });
  });
});

describe("a cancelled turn is neither a success nor a failure", () => {
  test.concurrent.each<{ from: string; answer: readonly Action[]; text: string }>([
    { from: "end_turn that races it", answer: [chunk(" done"), end()], text: "half done" },
    { from: "an error that the service would have us repeat", answer: [err(-32603, "HTTP 503")], text: "half" },
    { from: "a refusal", answer: [end("refusal")], text: "half" },
  ])("$from: cancelled, once, and nothing is sent again", async ({ answer, text }) => {
    await using agent = await start(
      turns([chunk("half"), waitFor("session/cancel"), ...answer], [chunk("next"), end()]),
      { profile: "kiro" },
    );
    const session = await agent.open();
    const { outcome, events } = await stopAt(session, "text", softly, { retries: 3 });
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text, attempts: 1 });
    expect(events.filter(({ type }) => type === "retry" || type === "failure")).toEqual([]);
    expect(promptsIn(agent.log)).toHaveLength(1);
    expect((await play(session)).outcome).toMatchObject({ kind: "completed", text: "next" });
  });

  test.concurrent("nothing was said yet: no second try of an empty turn", async () => {
    await using agent = await start(turns([waitFor("session/cancel"), end()]));
    const turn = (await agent.open()).prompt("hello", { retries: 3, timeouts: PATIENT });
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "cancelled", attempts: 1 });
    expect(promptsIn(agent.log)).toHaveLength(1);
  });

  test.concurrent("it returns no tries, and hands back the one that it stopped", async () => {
    await using agent = await start(turns([err(-32603, "429 Too Many Requests, retry-after: 30")]));
    const budget = createRetryBudget(3);
    budget.take();
    const { outcome } = await stopAt(await agent.open(), "retry", softly, { retries: 3, budget });
    expect(outcome).toMatchObject({ kind: "cancelled", attempts: 1 });
    expect(promptsIn(agent.log)).toHaveLength(1);
    expect(budget.left).toBe(2);
  });

  test.concurrent("a clock that strikes in the grace does not make it a timeout", async () => {
    await using agent = await start(turns(ignoring));
    const { outcome } = await stopAt(await agent.open(), "text", softly, {
      timeouts: { ...PATIENT, idleMs: 50, cancelGraceMs: 300 },
    });
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller" });
  });

  test.concurrent("nor does a stop in the grace of a deadline make it cancelled", async () => {
    await using agent = await start(turns(ignoring));
    const session = await agent.open();
    const turn = session.prompt("hello", { timeouts: { ...PATIENT, idleMs: 50 } });
    await agent.until(() => methodsIn(agent.log).includes("session/cancel"));
    turn.cancel();
    turn.cancel();
    expect(await turn.outcome).toMatchObject({ kind: "failed", failure: { kind: "timeout", rule: "clock-idle" } });
  });
});
