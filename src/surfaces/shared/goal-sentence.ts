/** A goal in one line, the same on every surface. Pure; its words are scrubbed here. */
import type { Goal } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";

const MAX_TEXT_CHARS = 300;

/**
 * `Goal active: Ship it (round 3; Tests still need work)`. null = no goal, undefined = the agent has not said. One that a
 * permission holds is `held(permission)`, whatever its agent says.
 */
export function goalSentence(goal: Goal | null | undefined, isHeld = false): string {
  if (goal === undefined) return "The agent has not said whether there is a goal";
  if (goal === null) return "No goal";
  const { objective, status, iterations, lastReason = "" } = goal;
  const reason = cleanLine(lastReason, MAX_TEXT_CHARS);
  const more = [...(iterations ? [`round ${iterations}`] : []), ...(reason === "" ? [] : [reason])].join("; ");
  return `Goal ${isHeld ? "held(permission)" : status}: ${cleanLine(objective, MAX_TEXT_CHARS)}${more === "" ? "" : ` (${more})`}`;
}
