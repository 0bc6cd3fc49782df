/**
 * The goal of a session: snapshots that the agent publishes, and what `_session/goal` may be asked for (seed document 002,
 * Goal). A goal belongs to the session and not to a turn: its status says whether it can drive more work, not whether any
 * runs now. Pure but for {@link GoalState}, which keeps the newest snapshot.
 */
import { AcpError } from "../../errors/acp-error.ts";
import type { Goal, TurnEventBody } from "../events.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { num, str } from "../normalize.ts";
import { readAirField } from "./namespace.ts";

export const GOAL_METHOD = "_session/goal";

/** What may be asked of a goal; agents advertise which of them they take. */
export const GOAL_ACTIONS = ["set", "pause", "resume", "clear"] as const;
export type GoalAction = (typeof GOAL_ACTIONS)[number];

/** What the person wants of the goal. */
export type GoalRequest =
  | { readonly action: "set"; readonly objective: string }
  | { readonly action: "pause" | "resume" | "clear" };

const STATUSES: readonly Goal["status"][] = ["active", "paused", "blocked", "limited", "complete"];
/** An objective is a sentence or a page; codex takes 4,000 characters. */
const MAX_TEXT_CHARS = 32_768;

export function isGoalAction(word: string): word is GoalAction {
  return GOAL_ACTIONS.some((action) => action === word);
}

/** The snapshot of an update: null = the goal was cleared, undefined = none that this version can read. */
export function readGoalUpdate(update: Frame): Goal | null | undefined {
  const value = readAirField(update["_meta"], "goal");
  return value === null ? null : readGoal(value);
}

/** A goal; undefined for what is none, or has a status that this version does not know. */
export function readGoal(value: unknown): Goal | undefined {
  if (!isObject(value)) return undefined;
  const objective = str(value["objective"])?.slice(0, MAX_TEXT_CHARS);
  const status = STATUSES.find((known) => known === value["status"]);
  if (objective === undefined || objective.trim() === "" || status === undefined) return undefined;
  const { tokenBudget } = value;
  return {
    objective,
    status,
    ...given("lastReason", str(value["lastReason"])?.slice(0, MAX_TEXT_CHARS)),
    ...given("iterations", num(value["iterations"])),
    ...given("createdAt", num(value["createdAt"])),
    ...given("updatedAt", num(value["updatedAt"])),
    ...given("tokenBudget", tokenBudget === null ? null : num(tokenBudget)),
    ...given("tokensUsed", num(value["tokensUsed"])),
    ...given("timeUsedSeconds", num(value["timeUsedSeconds"])),
  };
}

/** The newest snapshot of one session. */
export class GoalState {
  /** null = cleared, undefined = the agent has not said whether there is one. */
  current: Goal | null | undefined;

  constructor(current?: Goal | null) {
    this.current = current;
  }

  /** Takes a `session_info_update` in; an event when it holds a snapshot. */
  apply(update: Frame): TurnEventBody[] {
    const goal = readGoalUpdate(update);
    if (goal === undefined) return [];
    this.current = goal;
    return [{ type: "goal", goal }];
  }
}

/**
 * The parameters of `_session/goal` for a request that the agent takes. Throws an `AcpError` of kind `request_rejected`
 * that says what the agent can do, and for an objective that is blank.
 */
export function goalParams(
  sessionId: string,
  request: GoalRequest,
  agent: { readonly label: string; readonly goalActions: ReadonlySet<string> },
): { readonly sessionId: string; readonly action: GoalAction; readonly objective?: string } {
  const { action } = request;
  if (!agent.goalActions.has(action)) throw refused(cannot(action, agent));
  if (action !== "set") return { sessionId, action };
  const objective = request.objective.trim();
  if (objective === "") throw refused("A goal needs an objective: say what is to be reached");
  return { sessionId, action, objective };
}

/** Whether the newest snapshot shows what was asked for. */
export function isReached(request: GoalRequest, goal: Goal | null | undefined): boolean {
  switch (request.action) {
    case "set":
      return goal?.objective.trim() === request.objective.trim();
    case "pause":
      return goal?.status === "paused";
    case "resume":
      return goal?.status === "active";
    case "clear":
      return goal === null;
  }
}

function cannot(
  action: GoalAction,
  { label, goalActions }: { label: string; goalActions: ReadonlySet<string> },
): string {
  const known = GOAL_ACTIONS.filter((word) => goalActions.has(word));
  if (known.length === 0) return `${label} has no goals`;
  const list = known.length === 1 ? known[0] : `${known.slice(0, -1).join(", ")} and ${known.at(-1)}`;
  return `${label} cannot ${action} a goal; it can ${list}`;
}

function refused(message: string): AcpError {
  return new AcpError(message, { kind: "request_rejected" });
}

function given<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one key, of the type that the caller names
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value });
}
