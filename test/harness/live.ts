/** The real adapters through the library: one private world, agents started in it one after the other or side by side. */
import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";
import type { Runtime } from "../../src/acp/runtime.ts";
import { createHost } from "../../src/host/host.ts";
import type { Host, OpenRuntimeOptions } from "../../src/host/host.ts";
import { startAnthropic } from "../model-service/anthropic.ts";
import { startOpenAi } from "../model-service/openai.ts";
import type { LoggedRequest, ModelService } from "../model-service/server.ts";
import type { CommonStep } from "../model-service/steps.ts";
import { leftovers } from "./ask.ts";
import { startOutboundGuard } from "./outbound-guard.ts";
import { killAll, processesOf } from "./processes.ts";
import { codexConfigFile } from "./scenario-files.ts";
import { codexConfig, createScenarioHome, scenarioEnv } from "./scenario-home.ts";
import type { HarnessName, ScenarioHome } from "./scenario-home.ts";

/** A running agent, and the host that owns it. */
export interface LiveAgent {
  readonly host: Host;
  readonly runtime: Runtime;
}

/** A home, a scripted service, and whatever was started with them. */
export interface World extends AsyncDisposable {
  readonly harness: HarnessName;
  readonly home: ScenarioHome;
  readonly env: Readonly<Record<string, string>>;
  readonly service: ModelService;
  /** Starts an agent of its own. */
  start(options?: OpenRuntimeOptions): Promise<LiveAgent>;
  /** Ends all agents; the command lines of what outlived that. */
  end(): Promise<readonly string[]>;
}

/**
 * What the model answers, by a word in the prompt: the word that stands last in the request decides, so that a history
 * does not; the n-th request of a word gets its n-th step.
 */
export type Answers = Readonly<Record<string, readonly [CommonStep, ...CommonStep[]]>>;

/** Makes a world. */
export async function openWorld(harness: HarnessName, answers: Answers): Promise<World> {
  const home = createScenarioHome();
  const guard = await startOutboundGuard();
  const script = answering(answers);
  const service = await (harness === "codex" ? startOpenAi(script) : startAnthropic(script));
  codexConfigFile(home, codexConfig(service.url));
  const places = { serviceUrl: service.url, proxyUrl: guard.url, adaptersHome: inject("adaptersHome") };
  const env = { ...scenarioEnv(home, places), CLAUDE_CODE_MAX_RETRIES: "10" };
  const hosts: Host[] = [];
  const end = async (): Promise<readonly string[]> => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    return leftovers(home.root);
  };
  return {
    harness,
    home,
    env,
    service,
    start: async (options = {}) => {
      const host = await createHost({ env, cwd: home.workspace });
      hosts.push(host);
      const { runtime } = await host.openRuntime({ backend: harness, ...options });
      return { host, runtime };
    },
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      await Promise.all([service.close(), guard[Symbol.asyncDispose]()]);
      home.remove();
    },
  };
}

function answering(answers: Answers): (request: LoggedRequest) => CommonStep {
  const asked = new Map<string, number>();
  return ({ body }) => {
    const said = JSON.stringify(body);
    const [word, steps] = Object.entries(answers).reduce((one, other) =>
      said.lastIndexOf(other[0]) > said.lastIndexOf(one[0]) ? other : one,
    );
    const turn = asked.get(word) ?? 0;
    asked.set(word, turn + 1);
    return steps[turn] ?? steps.at(-1) ?? steps[0];
  };
}

/** Kills the process that the adapter started, or the adapter itself. */
export function killDashNine({ home, harness }: World, target: "adapter" | "harness", { runtime }: LiveAgent): void {
  const mark = harness === "codex" ? "app-server" : "stream-json";
  killAll(
    processesOf(home.root).filter(({ pid, command }) =>
      target === "adapter" ? pid === runtime.pid : command.includes(mark),
    ),
  );
}

/** The body of the last turn request, as text. */
export function lastRequest({ service }: World): string {
  return JSON.stringify(service.requests.findLast(({ role }) => role === "turn")?.body);
}

/** How long a command may take to end that its harness has told to; nobody announces it. */
const GONE_LIMIT_MS = 10_000;

/** Whether a command below the world's folder has ended, or does so soon. */
export async function ends(world: World, command: string): Promise<boolean> {
  const deadline = performance.now() + GONE_LIMIT_MS;
  while (runs(world, command) && performance.now() < deadline) await delay(50);
  return !runs(world, command);
}

/** Whether a command below the world's folder runs. */
export function runs({ home }: World, command: string): boolean {
  return processesOf(home.root).some((process) => process.command === command);
}
