/** Case C19: a cancel in the same tick, one that is ignored, one that is answered late, one beside an open question. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHost } from "../../src/host/host.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  agentOption,
  answerTo,
  chunk,
  end,
  permission,
  processesIn,
  promptsIn,
  tool,
  turns,
  waitFor,
  waitForAnswer,
} from "../fixtures/agents/scenario.ts";
import { isRunning } from "../acp/drive.ts";

const CANCELLED = { outcome: { outcome: "cancelled" } };
const never: Action = { untilFile: "never" };
const next = [chunk("next"), end()];

test.concurrent.each<{
  from: string;
  turn: readonly Action[];
  /** The stop comes when the agent said this, or at once. */
  at: "prompt" | "text" | "permission";
  text: string;
  /** What the agent got for its question, if it lived to read it. */
  answered?: object;
  /** Agents that were started in the end: one when the first confirmed that it stopped. */
  processes: 1 | 2;
}>([
  { from: "(a) in the same tick as the prompt, and ignored", turn: [never], at: "prompt", text: "", processes: 2 },
  { from: "(b) ignored", turn: [chunk("half"), never], at: "text", text: "half", processes: 2 },
  {
    from: "(c) answered long after the grace",
    turn: [chunk("half"), waitFor("session/cancel"), { delayMs: 5000 }, end()],
    at: "text",
    text: "half",
    processes: 2,
  },
  {
    from: "(d) while a question is open, answered properly",
    turn: [tool("t1"), permission("t1"), waitForAnswer("p1"), waitFor("session/cancel"), end("cancelled")],
    at: "permission",
    text: "",
    answered: CANCELLED,
    processes: 1,
  },
  {
    from: "(d) while a question is open, and then ignored",
    turn: [tool("t1"), permission("t1"), never],
    at: "permission",
    text: "",
    answered: CANCELLED,
    processes: 2,
  },
  {
    from: "(e) answered properly",
    turn: [chunk("half"), waitFor("session/cancel"), end("cancelled")],
    at: "text",
    text: "half",
    processes: 1,
  },
])(
  "$from: cancelled once, and the next prompt of the conversation is answered",
  async ({ turn, at, text, answered, processes }) => {
    const cwd = mkdtempSync(join(tmpdir(), "ostler-c19-"));
    const log = join(cwd, "agent.log");
    writeFileSync(log, "");
    await using host = await createHost({ cwd, env: { PATH: process.env["PATH"], OSTLER_HOME: join(cwd, "home") } });
    const asked = Promise.withResolvers<void>();
    const open = async () => {
      const { conversation } = await host.openConversation({
        agent: agentOption({ log, runs: [turns(turn, next), turns(next)] }),
        cwd,
        ask: () => {
          asked.resolve();
          return new Promise(() => {});
        },
      });
      return conversation;
    };
    await using conversation = await open();
    // Who answers has all the time of a busy machine for it.
    const running = conversation.prompt("hello", { timeouts: { cancelGraceMs: processes === 1 ? 60_000 : 200 } });
    if (at === "permission") await asked.promise;
    if (at === "text") for await (const event of running.events) if (event.type === "text") break;
    running.cancel();
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({ kind: "cancelled", by: "caller", text, attempts: 1, denied: [] });
    expect(processesIn(log).filter(isRunning)).toHaveLength(2 - processes);
    expect(answerTo(log, "p1")?.result).toEqual(answered);
    const again = conversation.runtime.state === "ready" ? conversation : await open();
    expect(await again.prompt("go on").outcome).toMatchObject({ kind: "completed", text: "next" });
    expect(processesIn(log)).toHaveLength(processes);
    expect(promptsIn(log).map(({ params }) => params?.["prompt"])).toEqual([
      [{ type: "text", text: "hello" }],
      [{ type: "text", text: "go on" }],
    ]);
  },
);
