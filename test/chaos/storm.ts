/** Plays scenes, a few at a time, until so many turns have been played, and collects what was wrong. */
import { setTimeout as delay } from "node:timers/promises";
import type { Ending } from "./agent-turn.ts";
import { playCliScene } from "./cli-scene.ts";
import { playConversationScene } from "./conversation-scene.ts";
import { playLibraryScene } from "./library-scene.ts";
import { drawScene } from "./scene.ts";
import type { Scene } from "./scene.ts";
import { Stage } from "./stage.ts";

/** What a scene tells while it is played. */
export interface Told {
  ended(ending: Ending | "killed" | "unread" | "told as text"): void;
  fault(sentence: string): void;
}

export interface StormOptions {
  readonly seed: number;
  /** At least so many turns. */
  readonly turns: number;
  /** Only this scene. */
  readonly scene?: number;
}

export interface Storm {
  readonly scenes: number;
  readonly turns: number;
  readonly seconds: number;
  /** How many turns ended how. */
  readonly endings: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  /** Processes and leases that outlived their scene. */
  readonly leftovers: readonly string[];
}

const PLAY = { library: playLibraryScene, cli: playCliScene, conversation: playConversationScene };
const AT_A_TIME = 4;
/** What ends by itself takes a moment; what was killed takes as long as the kernel takes to bury it. */
const LEAVE_MS = 1000;
const BURIAL_MS = 30_000;
const LOOK_MS = 20;

/** Resolves when every scene was played. */
export async function playStorm({ seed, turns, scene }: StormOptions): Promise<Storm> {
  const startedAt = performance.now();
  const scenes = scene === undefined ? drawScenes(seed, turns) : [drawScene(seed, scene)];
  const endings = new Map<string, number>();
  const faults: string[] = [];
  const leftovers: string[] = [];
  const queue = scenes.values();
  const playNext = async (): Promise<void> => {
    for (const next of queue) {
      const found = await playScene(next, (ending) => endings.set(ending, (endings.get(ending) ?? 0) + 1));
      const where = `seed ${seed}, scene ${next.number}`;
      faults.push(...found.faults.map((fault) => `${where}: ${fault}`));
      leftovers.push(...found.leftovers.map((left) => `${where}: ${left}`));
      if (found.faults.length + found.leftovers.length > 0) console.error(describe(seed, next, found));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, playNext));
  const played = scenes.reduce((sum, { sessions }) => sum + sessions.flat().length, 0);
  return {
    scenes: scenes.length,
    turns: played,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    endings,
    faults,
    leftovers,
  };
}

function drawScenes(seed: number, turns: number): Scene[] {
  const scenes: Scene[] = [];
  for (let left = turns; left > 0;) {
    const scene = drawScene(seed, scenes.length);
    scenes.push(scene);
    left -= scene.sessions.flat().length;
  }
  return scenes;
}

interface Found {
  readonly faults: readonly string[];
  readonly leftovers: readonly string[];
  readonly folder: string;
}

async function playScene(scene: Scene, ended: Told["ended"]): Promise<Found> {
  const stage = new Stage();
  const faults: string[] = [];
  const told: Told = { ended, fault: (sentence) => void faults.push(sentence) };
  try {
    await PLAY[scene.layer](scene, stage, told);
  } catch (error) {
    faults.push(`threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  const leftovers = await leftoversOf(stage);
  stage.clear({ keep: faults.length + leftovers.length > 0 });
  return { faults, leftovers, folder: stage.folder };
}

async function leftoversOf(stage: Stage): Promise<readonly string[]> {
  const since = performance.now();
  let left = stage.leftovers();
  while (left.length > 0 && performance.now() - since < (stage.isBurying ? BURIAL_MS : LEAVE_MS)) {
    await delay(LOOK_MS);
    left = stage.leftovers();
  }
  return left;
}

/** Everything that it takes to play the scene again and to understand it. */
function describe(seed: number, { number, layer, start, sessions, format, queue }: Scene, found: Found): string {
  const turns = sessions.flatMap((session, index) =>
    session.map(({ prompt, agent, disturbance, reader, retries, timeouts }) =>
      [
        `  session ${index}: ${prompt}: ${agent.story}`,
        `    disturbed by ${JSON.stringify(disturbance)}, ${reader}, ${retries} retries`,
        `    ${agent.silent ? JSON.stringify(timeouts) : "patient"}, ends ${agent.endings.join()}`,
      ].join("\n"),
    ),
  );
  return [
    `\nCHAOS_SEED=${seed} CHAOS_SCENE=${number} npm run test:chaos`,
    `  ${layer} ${layer === "library" ? "" : format} ${start.story} ${start.endings?.join() ?? ""}`,
    ...turns,
    ...(layer === "conversation" ? [`  queue ${JSON.stringify(queue)}`] : []),
    ...found.faults.map((fault) => `  WRONG ${fault}`),
    ...found.leftovers.map((left) => `  LEFT ${left}`),
    `  agents' log: ${found.folder}/agent.log`,
  ].join("\n");
}
