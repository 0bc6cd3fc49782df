/** The goal of a session: what `_session/goal` and `/goal` do. Two rounds reach every goal. */
import { setTimeout as delay } from "node:timers/promises";
import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { airMeta, GOAL_ACTIONS, GOAL_METHOD, property } from "./client-features.ts";
import type { DemoSession } from "./session.ts";

const ROUNDS = 2;
const ROUND_MS = 200;

export type GoalRequest =
  | { readonly action: "set"; readonly objective: string }
  | { readonly action: "pause" | "resume" | "clear" };

/** Throws `invalidParams` for another action, and for an objective that is blank. */
export function readGoalRequest(params: unknown): GoalRequest {
  const action = GOAL_ACTIONS.find((known) => known === property(params, "action"));
  const objective = property(params, "objective");
  if (action === undefined) throw RequestError.invalidParams({ action: property(params, "action") }, "no such action");
  if (action !== "set") return { action };
  if (typeof objective === "string" && objective.trim() !== "") return { action, objective };
  throw RequestError.invalidParams({ objective }, "set needs an objective");
}

/** Where the goal is worked on. */
export interface GoalWork {
  readonly client: AgentContext;
  readonly session: DemoSession;
  /** Says what a round does. */
  readonly say: (text: string) => Promise<void>;
  /** Ends the work, and leaves the goal as it is. */
  readonly signal?: AbortSignal;
  /** The goal is another one than before. */
  readonly keep?: () => void;
}

/** Publishes every state; `set` and `resume` work until the goal is reached, paused or cleared. */
export async function pursueGoal(
  { client, session, say, signal, keep }: GoalWork,
  request: GoalRequest,
): Promise<void> {
  const publish = (): Promise<void> => {
    keep?.();
    return publishGoal(client, session);
  };
  if (request.action === "clear") session.goal = null;
  else if (request.action === "set")
    session.goal = {
      objective: request.objective,
      status: "active",
      createdAt: Date.now(),
      controlMethod: GOAL_METHOD,
    };
  else if (session.goal !== null)
    session.goal = { ...session.goal, status: request.action === "pause" ? "paused" : "active" };
  await publish();
  for (let round = 1; round <= ROUNDS && session.goal?.status === "active"; round += 1) {
    await say(`Round ${round} of ${ROUNDS}. `);
    await delay(ROUND_MS, undefined, { signal });
    if (session.goal?.status !== "active") return;
    const isReached = round === ROUNDS;
    session.goal = { ...session.goal, iterations: round, status: isReached ? "complete" : "active" };
    await publish();
  }
}

/** Tells the client of the goal as it is now. */
export function publishGoal(client: AgentContext, { id, goal }: DemoSession): Promise<void> {
  return client.notify("session/update", {
    sessionId: id,
    update: { sessionUpdate: "session_info_update", _meta: airMeta({ goal }) },
  });
}
