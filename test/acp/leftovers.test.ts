/** Commands that a cancel leaves running (recording codex-acp 2.6.0 cancel-mid-command), with real processes. */
import { describe, expect, test } from "vitest";
import { readCommand } from "../../src/acp/open-commands.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { Turn } from "../../src/acp/types.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, grandchildrenIn, tool, toolUpdate, turns, waitFor } from "../fixtures/agents/scenario.ts";
import { isRunning, start, textsOf } from "./drive.ts";
import type { TurnEvent } from "../../src/acp/events.ts";

/** What the scripted agent's children run, as their command lines say it. */
const RUNS_ON = 'process.send?.("up");setInterval(() => {}, 1e6);';
const IGNORES_TERM = `process.on("SIGTERM", () => {});${RUNS_ON}`;
const child: Action = { grandchild: {} };
const stubborn: Action = { grandchild: { ignoresSigterm: true, detached: true } };
/** codex leaves its tool call open and ends the turn. */
const ackCancel: readonly Action[] = [waitFor("session/cancel"), end("cancelled")];
const execute = (command: string, more: Record<string, string> = {}): Action =>
  tool("t1", { status: "in_progress", rawInput: { command, cwd: "/" }, ...more });

/** Prompts, and cancels once the agent said `ready`. */
async function cancelWhenReady(session: Session, then: (turn: Turn) => void = () => {}) {
  const turn = session.prompt("hello", { timeouts: { cancelGraceMs: 60_000 } });
  const events: TurnEvent[] = [];
  for await (const event of turn.events) {
    if (event.type === "text") {
      turn.cancel();
      then(turn);
    }
    events.push(event);
  }
  return { outcome: await turn.outcome, notices: textsOf(events, "notice") };
}

const ENDED = "A command went on after the cancel and was ended: node";

describe("codex, cancelled while a command runs", () => {
  test.concurrent.each<{ from: string; turn: readonly Action[]; notices: readonly string[]; living: number }>([
    {
      from: "it is ended, and said by the name of its program alone",
      turn: [execute(RUNS_ON), child, chunk("ready"), ...ackCancel],
      notices: [ENDED],
      living: 0,
    },
    {
      from: "it ignores TERM and has left the group",
      turn: [execute(IGNORES_TERM), stubborn, chunk("ready"), ...ackCancel],
      notices: [ENDED],
      living: 0,
    },
    {
      from: "announced a moment after it was started",
      turn: [child, execute(RUNS_ON), chunk("ready"), ...ackCancel],
      notices: [ENDED],
      living: 0,
    },
    {
      from: "a tool call that has ended left nothing of its own",
      turn: [execute(RUNS_ON), child, toolUpdate("t1", { status: "completed" }), chunk("ready"), ...ackCancel],
      notices: [],
      living: 1,
    },
    {
      from: "ended by the cancel itself, before its answer",
      turn: [
        execute(RUNS_ON),
        child,
        chunk("ready"),
        waitFor("session/cancel"),
        toolUpdate("t1", { status: "failed" }),
        end("cancelled"),
      ],
      notices: [],
      living: 1,
    },
    {
      from: "a tool that is no command",
      turn: [
        tool("t1", { kind: "fetch", rawInput: { url: "https://example.org" } }),
        child,
        chunk("ready"),
        ...ackCancel,
      ],
      notices: [],
      living: 1,
    },
    {
      from: "young, and of a program that the agent itself runs: perhaps a helper, so it is only said",
      turn: [execute("make all"), child, chunk("ready"), ...ackCancel],
      notices: ["Something goes on after the cancel that may be a command of this turn: node"],
      living: 1,
    },
  ])("$from", async ({ turn, notices, living }) => {
    await using agent = await start(turns(turn), { profile: "codex" });
    const ran = await cancelWhenReady(await agent.open());
    expect(ran.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
    expect(ran.notices).toEqual(notices);
    expect(grandchildrenIn(agent.log)).toHaveLength(1);
    expect(grandchildrenIn(agent.log).filter(isRunning)).toHaveLength(living);
    expect(isRunning(agent.runtime.pid)).toBe(true);
  });

  test.concurrent("what the agent started before the prompt is its own", async () => {
    await using agent = await start(
      { start: [child], ...turns([execute(IGNORES_TERM), stubborn, chunk("ready"), ...ackCancel]) },
      { profile: "codex" },
    );
    const session = await agent.open();
    const [helper = 0] = grandchildrenIn(agent.log);
    const { notices } = await cancelWhenReady(session);
    expect(notices).toEqual([ENDED]);
    expect(grandchildrenIn(agent.log).filter(isRunning)).toEqual([helper]);
  });

  test.concurrent("one that ends by itself is not spoken of", async () => {
    await using agent = await start(turns([execute(RUNS_ON), child, chunk("ready"), ...ackCancel]), {
      profile: "codex",
    });
    const { notices } = await cancelWhenReady(await agent.open(), () => {
      for (const pid of grandchildrenIn(agent.log)) process.kill(pid, "SIGKILL");
    });
    expect(notices).toEqual([]);
  });

  test.concurrent("the work of another session is not touched", async () => {
    await using agent = await start(
      turns(
        [execute(RUNS_ON.slice(0, -1)), child, chunk("other"), { untilFile: "go" }, end()],
        [execute(IGNORES_TERM), stubborn, chunk("ready"), ...ackCancel],
      ),
      { profile: "codex" },
    );
    const [other, session] = [await agent.open(), await agent.open()];
    const running = other.prompt("hello");
    for await (const event of running.events) if (event.type === "text") break;
    const [foreign = 0] = grandchildrenIn(agent.log);
    const { notices } = await cancelWhenReady(session);
    expect(notices).toEqual([ENDED]);
    expect(grandchildrenIn(agent.log).filter(isRunning)).toEqual([foreign]);
    agent.touch("go");
    expect(await running.outcome).toMatchObject({ kind: "completed", text: "other" });
  });

  test.concurrent("a deadline ends it as well", async () => {
    await using agent = await start(turns([execute(RUNS_ON), child, chunk("ready"), ...ackCancel]), {
      profile: "codex",
    });
    const turn = (await agent.open()).prompt("hello", { timeouts: { toolMs: 300, cancelGraceMs: 60_000 } });
    const outcome = await turn.outcome;
    expect(outcome).toMatchObject({ kind: "failed", failure: { rule: "clock-tool" } });
    expect(grandchildrenIn(agent.log).filter(isRunning)).toEqual([]);
  });
});

test("an agent that ends its commands itself is left alone", async () => {
  await using agent = await start(turns([execute(RUNS_ON), child, chunk("ready"), ...ackCancel]));
  const { notices } = await cancelWhenReady(await agent.open());
  expect(notices).toEqual([]);
  expect(grandchildrenIn(agent.log).filter(isRunning)).toHaveLength(1);
});

test.each<{ from: string; rawInput: unknown; expected: string | undefined }>([
  { from: "codex-acp 2.6.0", rawInput: { command: "sleep 20", cwd: "/workspace" }, expected: "sleep 20" },
  { from: "a list of arguments", rawInput: { command: ["bash", "-lc", "sleep 20"] }, expected: "bash -lc sleep 20" },
  { from: "no command", rawInput: { path: "/a" }, expected: undefined },
  { from: "an empty one, which every command line would hold", rawInput: { command: "" }, expected: undefined },
  { from: "an empty list", rawInput: { command: [] }, expected: undefined },
  { from: "something else", rawInput: { command: 7 }, expected: undefined },
  { from: "nothing", rawInput: undefined, expected: undefined },
])("the command of $from", ({ rawInput, expected }) => {
  expect(readCommand(rawInput)).toBe(expected);
});
