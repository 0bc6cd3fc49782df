/** What an agent leaves behind, with real processes: found by its mark, ended, and never mistaken for somebody else. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { isMark, markEnvironment, markedProcesses, newMark } from "../../src/acp/process-mark.ts";
import { ProcessTree } from "../../src/acp/process-tree.ts";
import { startTimeOf } from "../../src/acp/processes.ts";
import { MISBEHAVING } from "../fixtures/agents/misbehaving.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";
import { chunk, end, grandchildrenIn, processesIn, turns } from "../fixtures/agents/scenario.ts";
import { play, start } from "./drive.ts";

/** A process of this test alone, in a group of its own. */
async function bystander(env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn(process.execPath, ["-e", 'console.log("up");setInterval(() => {}, 1e6)'], {
    detached: true,
    env: { ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

const alive = (pids: readonly number[]): readonly number[] => pids.filter((pid) => startTimeOf(pid) !== undefined);

const crash = { grandchild: { detached: true } } as const;

test.each<{ from: string; scenario: Scenario }>([
  {
    from: "an agent that crashes in a turn, kiro wire notes, section 14: helpers may call setsid",
    scenario: turns([crash, chunk("partial words"), { exit: 3 }]),
  },
  {
    from: "an agent that was killed in a turn, recording claude-agent-acp: the child lives on",
    scenario: turns([crash, crash, chunk("partial words"), { kill: "SIGKILL" }]),
  },
  { from: "the same with stdout in the hands of the child", scenario: MISBEHAVING.leavesStdoutOpen },
])("what left the group of a dead agent is ended with it: $from", async ({ scenario }) => {
  await using agent = await start(scenario);
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "agent_died" } });
  await agent.runtime.stop();
  expect(grandchildrenIn(agent.log).length).toBeGreaterThan(0);
  expect(alive([...processesIn(agent.log), ...grandchildrenIn(agent.log)])).toEqual([]);
});

test("what an agent that ends with its stdin leaves behind is ended by a stop, and not before", async () => {
  await using agent = await start(turns([crash, chunk("works"), end()]));
  const { outcome } = await play(await agent.open());
  expect(outcome).toMatchObject({ kind: "completed", text: "works" });
  expect(alive(grandchildrenIn(agent.log))).toHaveLength(1);
  await agent.runtime.stop();
  expect(alive([...processesIn(agent.log), ...grandchildrenIn(agent.log)])).toEqual([]);
});

test("nothing is ended that carries another mark, or only part of this one", async () => {
  const mark = newMark();
  const [own, other, longer, none] = await Promise.all([
    bystander(markEnvironment(mark)),
    bystander(markEnvironment(newMark())),
    bystander(markEnvironment(`${mark}0`)),
    bystander({ NOT_OSTLER_RUN: mark, NOTE: `OSTLER_RUN=${mark}` }),
  ]);
  expect(markedProcesses(mark, new Set()).map(({ pid }) => pid)).toEqual([own]);
  const tree = new ProcessTree(other, { mark, leaderIsAlive: () => false, ownsGroup: false });
  expect(await tree.end()).toBe(true);
  expect(alive([own, other, longer, none])).toEqual([other, longer, none]);
});

test("marks differ and are recognised", () => {
  expect(new Set(Array.from({ length: 100 }, newMark)).size).toBe(100);
  expect(isMark(newMark())).toBe(true);
  expect(["", "1", "1-abcdef", `${newMark()}\0`, `${newMark()} `].filter(isMark)).toEqual([]);
});
