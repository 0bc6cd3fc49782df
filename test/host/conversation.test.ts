import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/acp/events.ts";
import type { TurnOutcome } from "../../src/acp/types.ts";
import { KINDS } from "../../src/errors/kinds.ts";
import { DEFAULT_CONFIG } from "../../src/host/config-defaults.ts";
import { createHost } from "../../src/host/host.ts";
import type { Host } from "../../src/host/host.ts";
import { recordOf, rejectionOf, untilLogged } from "../acp/drive.ts";
import {
  agentOption,
  chunk,
  end,
  logOf,
  processesIn,
  promptsIn,
  reply,
  tool,
  waitFor,
} from "../fixtures/agents/scenario.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";

let folder: string;
let host: Host;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ostler-conversation-"));
  host = await createHost({
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home"), AGENT_LOG: log() },
    cwd: folder,
  });
});
afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

const log = (): string => join(folder, "agent.log");

const LOADS = { agentCapabilities: { loadSession: true } };
const ANSWER = [chunk("Answer"), end()];

/** The first process plays `first`, every later one answers; all of them load. */
function agents(...first: readonly (readonly Action[])[]): Scenario {
  const loads = { initializeResult: LOADS, newResult: { sessionId: "kept" } };
  return {
    runs: [
      { ...loads, on: { "session/prompt": first } },
      { ...loads, on: { "session/load": [[chunk("Old", {}, "kept"), reply({})]], "session/prompt": [ANSWER] } },
    ],
  };
}

async function open(scenario: Scenario, retries?: number) {
  const { conversation } = await host.openConversation({ agent: agentOption(scenario, folder), retries });
  return conversation;
}

async function drain(turn: { events: AsyncIterable<TurnEvent>; outcome: Promise<TurnOutcome> }) {
  const events: TurnEvent[] = [];
  for await (const event of turn.events) events.push(event);
  return { events, outcome: await turn.outcome };
}

const methods = (): string[] => logOf(log()).flatMap(({ frame }) => frame?.method ?? []);

describe("a process that is gone before the prompt", () => {
  test("is replaced, the session is reopened, and the prompt is sent once", async () => {
    const conversation = await open(agents([...ANSWER, { exit: 3 }]));
    const first = await drain(conversation.prompt("one"));
    expect(first.outcome.kind).toBe("completed");
    await conversation.runtime.gone;
    const { outcome, events } = await drain(conversation.prompt("two"));
    expect(outcome).toMatchObject({ kind: "completed", text: "Answer", sessionId: "kept" });
    expect(methods().slice(3)).toEqual(["initialize", "session/load", "session/prompt"]);
    expect(promptsIn(log())).toHaveLength(2);
    expect(processesIn(log())).toHaveLength(2);
    expect(events.filter(({ type }) => type === "retry")).toEqual([]);
    expect(events.filter(({ type }) => type === "text")).toEqual([expect.objectContaining({ text: "Answer" })]);
  });

  test("costs no try, for nothing failed yet: also with retries 0, and as often as it happens", async () => {
    const dies = agents([...ANSWER, { exit: 3 }]).runs![0]!;
    const conversation = await open({ runs: [{ ...dies, on: { ...dies.on, "session/load": [[reply({})]] } }] }, 0);
    for (const prompt of ["one", "two", "three"]) {
      const { outcome } = await drain(conversation.prompt(prompt));
      expect(outcome).toMatchObject({ kind: "completed", attempts: 1 });
      await conversation.runtime.gone;
    }
    expect(promptsIn(log())).toHaveLength(3);
    expect(processesIn(log())).toHaveLength(3);
  });
});

test.each<{ from: string; last: readonly Action[]; safety: string }>([
  { from: "after the hand-over", last: [{ exit: 3 }], safety: "unknown" },
  { from: "after output", last: [chunk("Half"), { exit: 3 }], safety: "unknown" },
  { from: "after a tool began", last: [tool("t1"), { exit: 3 }], safety: "unknown" },
])("a death $from is never answered by a second prompt; the next one finds a new process", async ({ last, safety }) => {
  const conversation = await open(agents(last));
  const { outcome } = await drain(conversation.prompt("one"));
  expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "agent_died", replaySafety: safety } });
  expect(promptsIn(log())).toHaveLength(1);
  const next = await drain(conversation.prompt("two"));
  expect(next.outcome).toMatchObject({ kind: "completed", text: "Answer" });
  expect(promptsIn(log()).map(({ params }) => params?.["prompt"])).toEqual([
    [{ type: "text", text: "one" }],
    [{ type: "text", text: "two" }],
  ]);
});

test("a stop while the process is replaced cancels the turn, and nothing is sent", async () => {
  const hangs: Scenario = {
    runs: [
      {
        initializeResult: LOADS,
        newResult: { sessionId: "kept" },
        on: { "session/prompt": [[...ANSWER, { exit: 3 }]] },
      },
      { initializeResult: LOADS, on: { "session/load": [[{ delayMs: 600_000 }]] } },
    ],
  };
  const conversation = await open(hangs);
  await drain(conversation.prompt("one"));
  await conversation.runtime.gone;
  const turn = conversation.prompt("two");
  await untilLogged(log(), () => methods().includes("session/load"));
  turn.cancel();
  expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller" });
  expect(promptsIn(log())).toHaveLength(1);
});

test("a session that the agent does not know any more is begun anew, and the turn says so", async () => {
  const forgets = agents([...ANSWER, { exit: 3 }]);
  const [first, later] = forgets.runs!;
  const scenario: Scenario = {
    runs: [
      first!,
      {
        ...later!,
        newResult: { sessionId: "fresh" },
        on: {
          "session/load": [[{ send: { jsonrpc: "2.0", id: "$P", error: { code: -32002, message: "gone" } } }]],
          "session/prompt": [ANSWER],
        },
      },
    ],
  };
  const conversation = await open(scenario);
  await drain(conversation.prompt("one"));
  await conversation.runtime.gone;
  const { outcome, events } = await drain(conversation.prompt("two"));
  expect(outcome).toMatchObject({ kind: "completed", sessionId: "fresh" });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "notice", text: expect.stringContaining("Context was lost") }),
  );
  expect(conversation.session.id).toBe("fresh");
});

test("two conversations of one need share a process where the agent can; the last one ends it", async () => {
  const first = await host.openConversation({ backend: "demo" });
  const second = await host.openConversation({ backend: "demo" });
  expect(second.conversation.runtime).toBe(first.conversation.runtime);
  const [one, two] = await Promise.all([
    drain(first.conversation.prompt("one")),
    drain(second.conversation.prompt("two")),
  ]);
  expect(one.outcome.text).toContain('"one"');
  expect(two.outcome.text).toContain('"two"');
  const { runtime } = first.conversation;
  await first.conversation.close();
  expect(runtime.state).toBe("ready");
  expect((await drain(second.conversation.prompt("three"))).outcome.kind).toBe("completed");
  await second.conversation.close();
  expect(runtime.state).toBe("dead");
});

test("a session is not opened a second time: its owner lives, so nothing is tried again and nothing begun anew", async () => {
  const { conversation } = await host.openConversation({ backend: "demo" });
  const { runtime, session } = conversation;
  const seen: unknown[] = [];
  const onRuntime = (found: unknown): unknown => seen.push(found);
  const second = host.openConversation({ backend: "demo", sessionId: session.id, onRuntime });
  expect(recordOf(await rejectionOf(second))).toMatchObject({ kind: "busy", rule: "open-here" });
  expect(KINDS.busy.exit).toBe(10);
  expect(seen).toEqual([runtime]);
  expect(runtime).toMatchObject({ state: "ready", sessionCount: 1 });
  expect((await drain(conversation.prompt("one"))).outcome).toMatchObject({ kind: "completed", sessionId: session.id });
});

test("the configuration's deadlines hold for turns of the library too", async () => {
  const config = { ...DEFAULT_CONFIG, timeouts: { ...DEFAULT_CONFIG.timeouts, firstByteS: 0.2 } };
  await using own = await createHost({
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home") },
    cwd: folder,
    loaded: { config, warnings: [], sources: [] },
  });
  const silent: Scenario = { on: { "session/prompt": [[waitFor("session/cancel"), end("cancelled")]] } };
  const { conversation } = await own.openConversation({ agent: agentOption(silent, folder) });
  const { outcome } = await drain(conversation.prompt("one"));
  expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "timeout", rule: "clock-first_byte" } });
});
