/** Plays a scene through the library: one host, one agent at a time, several sessions side by side. */
import type { Runtime } from "../../src/acp/runtime.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { AcpError } from "../../src/errors/acp-error.ts";
import { AcpRuntimeError } from "../../src/errors/runtime-error.ts";
import { DEFAULT_CONFIG } from "../../src/host/config-defaults.ts";
import { createHost } from "../../src/host/host.ts";
import type { Host } from "../../src/host/host.ts";
import type { AskPerson } from "../../src/host/permissions.ts";
import { logOf } from "../fixtures/agents/scenario.ts";
import type { Ending } from "./agent-turn.ts";
import { budgetMs, findFaults, strayEndings } from "./expectations.ts";
import { LINE_BYTES } from "./scene.ts";
import type { Scene, TurnPlan } from "./scene.ts";
import { within } from "./stage.ts";
import type { Stage } from "./stage.ts";
import type { Told } from "./storm.ts";

/** A host ends its agents side by side, each on its own ladder. */
const CLOSE_MS = 20_000;
/** A start that the scene's own kills hit is tried again so often. */
const MAX_STARTS = 6;

/** Plays it; every outcome and everything that was wrong is told. */
export async function playLibraryScene(scene: Scene, stage: Stage, told: Told): Promise<void> {
  const { handshakeMs, sessionMs } = scene.start;
  const timeouts = { ...DEFAULT_CONFIG.timeouts, handshakeS: handshakeMs / 1000, sessionS: sessionMs / 1000 };
  // The agents die because they are told to: none of them is left down for that.
  const restart = { burst: 100, periodS: 1 };
  const config = { ...DEFAULT_CONFIG, timeouts, restart, limits: { ...DEFAULT_CONFIG.limits, lineBytes: LINE_BYTES } };
  const host = await createHost({ env: stage.env, cwd: stage.folder, loaded: { config, warnings: [], sources: [] } });
  const agents = new Agents(host, stage.agentOption(scene), stage);
  await Promise.all(scene.sessions.map((turns) => playSession(turns, { scene, stage, agents, told })));
  if (
    (await within(
      CLOSE_MS,
      host.close().then(() => true),
    )) === undefined
  )
    told.fault("the host does not close");
}

/** The agent of the scene, started anew when it is gone. */
class Agents {
  readonly #host: Host;
  readonly #agent: string;
  readonly #stage: Stage;
  #current: Promise<Runtime> | undefined;

  constructor(host: Host, agent: string, stage: Stage) {
    this.#host = host;
    this.#agent = agent;
    this.#stage = stage;
  }

  /** The agent that runs, or the next one: whoever finds it dead first starts that. */
  async #ready(): Promise<Runtime> {
    const seen = this.#current;
    const runtime = await seen?.catch(() => undefined);
    if (runtime?.state === "ready") return runtime;
    if (this.#current === seen) this.#current = undefined;
    return (this.#current ??= this.#start());
  }

  async #start(): Promise<Runtime> {
    const { runtime } = await this.#host.openRuntime({
      agent: this.#agent,
      profile: "generic",
      ask: personOf(this.#stage),
    });
    return runtime;
  }

  async openSession(): Promise<{ runtime: Runtime; session: Session }> {
    const runtime = await this.#ready();
    return { runtime, session: await runtime.openSession({ cwd: this.#stage.folder }) };
  }
}

/** "hold" is answered by the cancel alone. */
function personOf(stage: Stage): AskPerson {
  return ({ title, toolCallId }, signal) => {
    if (title !== "hold" || signal.aborted) return Promise.resolve(null);
    stage.openQuestions.add(toolCallId);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  };
}

interface Cast {
  readonly scene: Scene;
  readonly stage: Stage;
  readonly agents: Agents;
  readonly told: Told;
}

async function playSession(turns: readonly TurnPlan[], cast: Cast): Promise<void> {
  let opened: { runtime: Runtime; session: Session } | undefined;
  for (const turn of turns) {
    if (opened === undefined || opened.session.retired || opened.runtime.state === "dead") {
      const started = await open(turn, cast);
      if (started === undefined) continue;
      opened = started;
    }
    await playTurn(turn, opened, cast);
  }
}

/** Undefined when the agent is one that never gets as far as a session. */
async function open(
  turn: TurnPlan,
  { scene, agents, told }: Cast,
): Promise<{ runtime: Runtime; session: Session } | undefined> {
  for (let start = 1; ; start += 1) {
    try {
      return await agents.openSession();
    } catch (error) {
      const ending = endingOfError(error);
      if (scene.start.endings?.includes(ending) === true) {
        told.ended(ending);
        return undefined;
      }
      const mayHit = strayEndings(scene);
      if (start < MAX_STARTS && (mayHit.includes(ending) || (mayHit.length > 0 && ending === "failed/agent_spawn")))
        continue;
      told.fault(`${turn.prompt}: no session: ${String(error)}`);
      return undefined;
    }
  }
}

function endingOfError(error: unknown): Ending {
  const typed = error instanceof AcpError || error instanceof AcpRuntimeError ? error.failure?.kind : undefined;
  return `failed/${typed ?? "unknown"}`;
}

async function playTurn(
  plan: TurnPlan,
  { runtime, session }: { runtime: Runtime; session: Session },
  { scene, stage, told }: Cast,
): Promise<void> {
  const { disturbance, agent, reader, prompt } = plan;
  const controller = new AbortController();
  if (disturbance.what === "cancel" && disturbance.at === "early") controller.abort();
  const turn = session.prompt(prompt, {
    signal: controller.signal,
    retries: plan.retries,
    timeouts: plan.timeouts,
    backoffMs: 20,
  });
  const strike =
    disturbance.what === "nothing" || disturbance.at === "early"
      ? undefined
      : stage.at(disturbance.at, () => {
          switch (disturbance.what) {
            case "cancel":
              if (disturbance.by === "signal") controller.abort();
              else turn.cancel();
              if (disturbance.againMs !== undefined) stage.after(disturbance.againMs, () => turn.cancel());
              return;
            case "kill":
              stage.kill(disturbance.victim);
              return;
            case "stop":
              void runtime.stop();
              return;
            case "end":
              runtime.kill();
              return;
            default:
          }
        });
  const settled = (async () => {
    let events = 0;
    if (reader !== "never") {
      for await (const _ of turn.events) {
        events += 1;
        strike?.events(events);
        if (reader === "leaves") break;
      }
    }
    return turn.outcome;
  })();
  const outcome = await within(budgetMs(plan), settled);
  if (outcome === undefined) {
    told.fault(`${prompt}: has not settled within ${budgetMs(plan)} ms`);
    return;
  }
  const ending: Ending = outcome.kind === "failed" ? `failed/${outcome.failure.kind}` : outcome.kind;
  const prompts = stage.prompts.filter((text) => text === prompt).length;
  told.ended(ending);
  for (const fault of findFaults(plan, scene, { ending, text: outcome.text, attempts: outcome.attempts, prompts }))
    told.fault(`${prompt}: ${fault}`);
  if (stage.openQuestions.has(agent.holds ?? "") && isCancelledBeforeAnswer(plan, stage))
    told.fault(`${prompt}: the cancel was sent before the open question was answered`);
}

/** A harness that waits for an answer to its question does not hear the cancel. */
function isCancelledBeforeAnswer({ prompt, agent }: TurnPlan, { log }: Stage): boolean {
  const entries = logOf(log);
  const start = entries.findIndex(({ frame }) => JSON.stringify(frame?.params)?.includes(`"text":"${prompt}"`));
  const after = entries.slice(start).filter(({ pid }) => pid === entries[start]?.pid);
  const sessionId = after[0]?.frame?.params?.["sessionId"];
  const answered = after.findIndex(({ frame }) => frame?.method === undefined && frame?.id === agent.holds);
  const cancelled = after.findIndex(
    ({ frame }) => frame?.method === "session/cancel" && frame.params?.["sessionId"] === sessionId,
  );
  return start >= 0 && answered >= 0 && cancelled >= 0 && answered > cancelled;
}
