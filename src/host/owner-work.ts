/**
 * Goal and steering of a conversation that another Ostler runs, over its socket. Methods: `session/goal` {conversation,
 * action, objective?}, where the action `show` only looks, `session/hold` {conversation}, to look whether something holds
 * its goal, and `session/steer` {conversation, text}. Both sides.
 */
import { GOAL_ACTIONS, readGoal } from "../acp/air/goal.ts";
import type { GoalRequest } from "../acp/air/goal.ts";
import type { Goal } from "../acp/events.ts";
import type { Session } from "../acp/session-link.ts";
import { AcpError } from "../errors/acp-error.ts";
import { KINDS } from "../errors/kinds.ts";
import type { FailureKind } from "../errors/failure.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { callOwner } from "./owner-client.ts";
import type { OwnerCallOptions } from "./owner-client.ts";
import { InvalidParams, MAX_LINE_CHARS, isJsonObject, requiredText } from "./owner-protocol.ts";
import type { Json } from "./owner-protocol.ts";
import type { OwnerServer } from "./owner-server.ts";
import { readGoalHold } from "./permission-hold-file.ts";
import type { GoalHold } from "./permission-hold-file.ts";
import type { PermissionHold } from "./permission-hold.ts";

/** What is left of a line for everything but the text in it. */
const ENVELOPE_CHARS = 4096;

/** Lets others ask for the goal and steer the work of this conversation. */
export function serveWork(
  server: OwnerServer,
  conversation: string,
  { session, hold }: { readonly session: () => Session; readonly hold: PermissionHold },
): void {
  const serve = (method: string, handle: (params: Json, signal: AbortSignal) => Promise<object>): void =>
    server.handle(method, async (params, { signal }) => {
      if (requiredText(params, "conversation") !== conversation)
        throw new InvalidParams("That session is not run here");
      try {
        return await handle(params, signal);
      } catch (error) {
        if (error instanceof AcpError || error instanceof AcpRuntimeError)
          return { refused: { kind: error.kind, message: error.message } };
        throw error;
      }
    });
  serve("session/goal", async (params) => {
    const request = readGoalRequest(params);
    if (request !== "show") await hold.setGoal(request, { until: "reached" });
    const { goal } = session();
    return { known: goal !== undefined, goal: goal ?? null, held: hold.current ?? null };
  });
  serve("session/hold", async () => {
    hold.look();
    await hold.settled();
    return {};
  });
  serve("session/steer", async (params) => {
    const text = requiredText(params, "text");
    const notice = `Steered from another terminal: ${text}`;
    const answer = await session().steer(text, { whenIdle: "return", notice });
    return { outcome: answer.outcome };
  });
}

/** What an owner may be asked of a goal. */
export type OwnerGoalRequest = GoalRequest | { readonly action: "show" };

/** What an owner knows of a goal. */
export interface OwnersGoal {
  /** null = there is none, undefined = its agent has not said. */
  readonly goal: Goal | null | undefined;
  /** What keeps it from being worked on. */
  readonly held: GoalHold | undefined;
}

/** Asks the owner at `path`. Throws the owner's refusal, or `OwnerCallError`. */
export async function goalOfOwner(
  path: string,
  conversation: string,
  request: OwnerGoalRequest,
  options: OwnerCallOptions = {},
): Promise<OwnersGoal> {
  const answer = await ask(path, "session/goal", { conversation, ...request }, options);
  const goal = answer["known"] === true ? (readGoal(answer["goal"]) ?? null) : undefined;
  return { goal, held: readGoalHold(answer["held"]) };
}

/** Has the owner at `path` look whether a permission holds the goal. Throws as {@link goalOfOwner}. */
export async function holdAtOwner(path: string, conversation: string, options: OwnerCallOptions = {}): Promise<void> {
  await ask(path, "session/hold", { conversation }, options);
}

/** Gives the owner at `path` a person's words for the work that it runs. Throws as {@link goalOfOwner}. */
export async function steerOwner(
  path: string,
  conversation: string,
  text: string,
  options: OwnerCallOptions = {},
): Promise<"injected" | "promptRequired" | "startedNewTurn"> {
  const { outcome } = await ask(path, "session/steer", { conversation, text }, options);
  return outcome === "injected" || outcome === "startedNewTurn" ? outcome : "promptRequired";
}

/** Whether a text fits into one line of the socket. */
export function fitsOwnerLine(text: string): boolean {
  return JSON.stringify(text).length <= MAX_LINE_CHARS - ENVELOPE_CHARS;
}

async function ask(path: string, method: string, params: Json, options: OwnerCallOptions): Promise<Json> {
  const answer = await callOwner(path, method, params, options);
  if (!isJsonObject(answer)) return {};
  const { refused } = answer;
  if (!isJsonObject(refused)) return answer;
  const kind = isKind(refused["kind"]) ? refused["kind"] : "unknown";
  throw new AcpError(String(refused["message"]), { kind });
}

function readGoalRequest(params: Json): GoalRequest | "show" {
  const action = requiredText(params, "action");
  if (action === "show") return action;
  if (action === "set") return { action, objective: requiredText(params, "objective") };
  if (action === "pause" || action === "resume" || action === "clear") return { action };
  throw new InvalidParams(`"action" is one of ${GOAL_ACTIONS.join(", ")}, show`);
}

function isKind(value: unknown): value is FailureKind {
  return typeof value === "string" && Object.hasOwn(KINDS, value);
}
