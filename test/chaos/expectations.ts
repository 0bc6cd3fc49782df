/** What must be true of a turn, whatever happened to it. Pure: facts in, sentences about what is wrong out. */
import type { Ending } from "./agent-turn.ts";
import type { Scene, TurnPlan } from "./scene.ts";

/** End of stdin, TERM and KILL with their graces, and the drain of a dead agent's pipes. */
const KILL_LADDER_MS = 6000;
/** A machine with two cores that runs four scenes at once is not always there. */
const SLACK_MS = 15_000;

/** Everything seen of one turn. */
export interface TurnFacts {
  readonly ending: Ending;
  readonly text: string;
  readonly attempts: number;
  /** `session/prompt` frames with its text, over all processes. */
  readonly prompts: number;
}

/** The longest that a turn may take, from the prompt. */
export function budgetMs({ timeouts }: TurnPlan): number {
  return timeouts.wallMs + timeouts.cancelGraceMs + KILL_LADDER_MS + SLACK_MS;
}

/** The longest that a whole run of the CLI may take. */
export function runBudgetMs({ start: { handshakeMs, sessionMs }, sessions }: Scene): number {
  return handshakeMs + sessionMs + sessions.flat().reduce((sum, turn) => sum + budgetMs(turn), 0);
}

/** How the turn may end. */
export function allowedEndings(turn: TurnPlan, scene: Scene): ReadonlySet<Ending> {
  const { disturbance, agent } = turn;
  const isCancelledFirst =
    disturbance.what === "cancel" && (disturbance.at === "early" || disturbance.at === "same tick");
  const own: readonly Ending[] = isCancelledFirst ? [] : (scene.start.endings ?? agent.endings);
  const stopped: readonly Ending[] = disturbance.what === "cancel" || disturbance.what === "leave" ? ["cancelled"] : [];
  const queue = scene.queue[scene.sessions.flat().indexOf(turn)];
  const busy: readonly Ending[] = scene.layer === "conversation" && queue?.noWait === true ? ["failed/busy"] : [];
  return new Set([...own, ...stopped, ...busy, ...strayEndings(scene, turn)]);
}

/** What the other turns of the process, or whoever ends it, may make of a turn. */
export function strayEndings({ sessions, layer }: Scene, turn?: TurnPlan): readonly Ending[] {
  return sessions.flat().flatMap((other): readonly Ending[] => {
    const { disturbance, agent } = other;
    // The runs of a conversation have a process each.
    const lethal = other === turn || layer === "conversation" ? [] : agent.lethal;
    const kills = disturbance.what === "kill" && (disturbance.victim === "agent" || disturbance.victim === "launcher");
    const ends = kills || disturbance.what === "stop" || disturbance.what === "end";
    // From the start of the CLI on, so that it may hit the handshake.
    const killed: readonly Ending[] =
      layer === "library" ? ["failed/agent_died"] : ["failed/agent_died", "failed/agent_spawn"];
    return [...lethal, ...(ends ? killed : [])];
  });
}

/** Sentences about a turn that has ended. */
export function findFaults(turn: TurnPlan, scene: Scene, facts: TurnFacts): string[] {
  const { agent, disturbance } = turn;
  const allowed = allowedEndings(turn, scene);
  const faults: string[] = [];
  if (!allowed.has(facts.ending)) faults.push(`ended ${facts.ending}, may end ${[...allowed].join(" or ")}`);
  if (facts.prompts > agent.prompts)
    faults.push(`${facts.prompts} prompts reached the agent, at most ${agent.prompts} may`);
  if (facts.attempts > agent.prompts) faults.push(`${facts.attempts} attempts, at most ${agent.prompts} may be`);
  const isUndisturbed = disturbance.what === "nothing" && strayEndings(scene, turn).length === 0;
  const isSent = scene.start.endings === undefined && facts.ending !== "failed/busy";
  if (isUndisturbed && isSent && !agent.silent && facts.prompts !== agent.prompts)
    faults.push(`${facts.prompts} prompts reached the agent instead of ${agent.prompts}`);
  if (facts.ending === "completed" && facts.text !== agent.texts.at(-1)) faults.push(`said ${brief(facts.text)}`);
  if (!agent.texts.some((text) => text.startsWith(facts.text))) faults.push(`never said ${brief(facts.text)}`);
  return faults;
}

function brief(text: string): string {
  return text.length > 120 ? `${JSON.stringify(text.slice(0, 120))}… (${text.length})` : JSON.stringify(text);
}
