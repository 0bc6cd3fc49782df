/** Agents under confinement, with real processes: they work as ever, and whoever ends them ends all of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { CommandLine } from "../../src/acp/ports.ts";
import { descendantsOf, isAlive } from "../../src/acp/processes.ts";
import type { ProcessIdentity } from "../../src/acp/processes.ts";
import { backendFor } from "../../src/backends/registry.ts";
import { demoCommand } from "../../src/host/demo-command.ts";
import { play, start } from "../acp/drive.ts";
import { agentCommand, chunk, end, logOf, turns, waitFor } from "../fixtures/agents/scenario.ts";
import type { Action, Scenario } from "../fixtures/agents/scenario.ts";
import { ConfinedHome } from "./confined-home.ts";

const ACTOR = fileURLToPath(new URL("confined-actor.ts", import.meta.url));
const DETACHED: Action = { grandchild: { detached: true, ignoresSigterm: true } };

async function confined(scenario: Scenario): Promise<CommandLine> {
  return (await new ConfinedHome().confine())(agentCommand(scenario));
}

/** Starts the agent confined; `tree` are the processes that it consists of, seen from outside. */
async function startConfined(scenario: Scenario) {
  const pids: number[] = [];
  const ledger = { started: ({ pid }: ProcessIdentity) => void pids.push(pid), ended: () => {} };
  const agent = await start(scenario, { command: await confined(scenario), ledger });
  return { agent, tree: () => descendantsOf(pids[0] ?? 0) };
}

test("a prompt is answered", async () => {
  const { agent } = await startConfined(turns([chunk("Hi"), end()]));
  await using _ = agent;
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "completed", text: "Hi" });
});

test("the demo agent answers too", async () => {
  const home = new ConfinedHome();
  const command = (await home.confine())(demoCommand(home.paths));
  await using agent = await start({}, { command, backend: backendFor("demo") });
  const { outcome } = await play(await agent.open());
  expect(outcome.kind).toBe("completed");
});

test("a cancel reaches it", async () => {
  const { agent } = await startConfined(turns([chunk("Working"), waitFor("session/cancel"), end("cancelled")]));
  await using _ = agent;
  const turn = (await agent.open()).prompt("hello");
  for await (const event of turn.events) if (event.type === "text") turn.cancel();
  expect(await turn.outcome).toMatchObject({ kind: "cancelled", by: "caller", text: "Working" });
});

test("a stop ends everything that it started, also what left its group", async () => {
  const { agent, tree } = await startConfined(turns([DETACHED, chunk("Hi"), end()]));
  await play(await agent.open());
  const processes = tree();
  // bubblewrap's own inside, the agent, its grandchild.
  expect(processes.filter(isAlive)).toHaveLength(3);
  await agent.runtime.stop();
  expect(processes.filter(isAlive)).toEqual([]);
});

test("one that does not hear the end of its input is asked to end before it is ended", async () => {
  const listening: Action[] = [{ ignoreStdinEnd: true }, { ignoreSignals: ["SIGTERM"] }];
  const { agent, tree } = await startConfined({ ...turns([chunk("Hi"), end()]), start: listening });
  await play(await agent.open());
  const processes = tree();
  await agent.runtime.stop();
  expect(logOf(agent.log).filter(({ signal }) => signal === "SIGTERM")).toHaveLength(1);
  expect(processes.filter(isAlive)).toEqual([]);
});

test("an Ostler that is killed leaves nothing", async () => {
  const home = new ConfinedHome();
  const scenario = turns([DETACHED, chunk("Hi"), { delayMs: 60_000 }]);
  const order = { command: (await home.confine())(agentCommand(scenario)), cwd: home.work };
  const actor = spawn(process.execPath, ["--no-warnings", ACTOR, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void actor.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: actor.stdout }), "line");
  const processes: readonly ProcessIdentity[] = JSON.parse(String(line));
  expect(processes.filter(isAlive)).toHaveLength(4);
  actor.kill("SIGKILL");
  await once(actor, "exit");
  while (processes.some(isAlive)) await delay(5);
});
