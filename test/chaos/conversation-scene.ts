/** Plays a scene in one named session: several runs of `ostler ask -s` that queue for it, some of them killed. */
import { setTimeout as delay } from "node:timers/promises";
import { playRun, startNext } from "./cli-scene.ts";
import type { Ran } from "./cli-scene.ts";
import type { Scene, TurnPlan } from "./scene.ts";
import type { Stage } from "./stage.ts";
import type { Told } from "./storm.ts";

interface Run {
  readonly turn: TurnPlan;
  readonly ran: Ran | undefined;
}

/** Plays it; every outcome and everything that was wrong is told. */
export async function playConversationScene(scene: Scene, stage: Stage, told: Told): Promise<void> {
  const runs: Promise<Run>[] = [];
  for (const [index, turn] of scene.sessions.flat().entries()) {
    const { gapMs = 0, noWait = false } = scene.queue[index] ?? {};
    await delay(gapMs);
    const argv = ["-s", "chat", ...(noWait ? ["--no-wait"] : [])];
    const onStdout = watchOwner(turn, stage, told);
    runs.push(playRun(scene, turn, stage, told, { argv, onStdout }).then((ran) => ({ turn, ran })));
  }
  const played = await Promise.all(runs);
  if (played.some(({ ran }) => ran?.signal === "SIGKILL")) await startNext(stage, told);
  for (const fault of findCuts(scene, played, stage)) told.fault(fault);
}

/** When the first word of an answer arrives, the agent of whoever had the conversation before is gone. */
function watchOwner({ prompt }: TurnPlan, stage: Stage, told: Told): (stdout: string) => void {
  let seen = false;
  return (stdout) => {
    if (seen || !stdout.includes(prompt)) return;
    seen = true;
    const { agents } = stage;
    if (agents > 1) told.fault(`${prompt}: ${agents} agents have the conversation`);
  };
}

/** A turn that was cut by a kill is told by the next owner, and nobody tells of one otherwise. */
function findCuts({ start }: Scene, runs: readonly Run[], stage: Stage): string[] {
  if (start.endings !== undefined) return [];
  const isKilled = ({ ran }: Run): boolean => ran?.signal === "SIGKILL";
  const tellsCut = ({ ran }: Run): boolean =>
    ran !== undefined && `${ran.stdout}${ran.stderr}`.includes("was cut when its Ostler ended");
  // In ndjson it is an event: whoever does not read stdout to its end may not hear of it.
  const left = ({ turn }: Run): boolean => turn.disturbance.what === "leave";
  if (!runs.some(isKilled)) return runs.filter(tellsCut).map(({ turn }) => `${turn.prompt}: tells of a cut turn`);
  const inOrder = stage.prompts.flatMap((text) => runs.find(({ turn }) => turn.prompt === text) ?? []);
  return inOrder.flatMap((run, index) => {
    const next = inOrder[index + 1];
    if (!isKilled(run) || next === undefined || isKilled(next) || left(next) || tellsCut(next)) return [];
    return [`${next.turn.prompt}: does not say that ${run.turn.prompt} was cut`];
  });
}
