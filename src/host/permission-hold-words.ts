/** What a person reads of a held goal. Pure. */
import type { GoalHold } from "./permission-hold-file.ts";

/** Said when the goal is paused. `name`: of the session, as `-s` takes it. */
export function heldSentence(hold: GoalHold, name: string): string {
  return `The goal is held(permission): ${howToGoOn(hold, name)}`;
}

/** What is missing, and the two commands that go on from there. */
export function howToGoOn(hold: GoalHold, name: string): string {
  return `${missing(hold)}. ostler goal resume ${session(name)} gives the agent one turn to try that again and allows nothing more; ostler goal clear ${session(name)} drops the goal`;
}

/** Said where nobody runs the session, so that its goal is not known. */
export function dueSentence(name: string): string {
  return `If the session has an active goal, it is held(permission) when it is opened next; ostler goal show ${session(name)} says more`;
}

/** Said before the one turn. */
export function retrySentence(hold: GoalHold): string {
  return `The goal is held(permission): ${missing(hold)}. The agent gets one turn to try that again; what it may do stays as it is`;
}

/** Nothing is sent for a goal that is to take the place of a held one. */
export function setRefusal(hold: GoalHold, name: string): string {
  return `The goal is held(permission), and other words do not release it: ${howToGoOn(hold, name)}`;
}

/** Said when the turn brought what was missing. */
export const RELEASED = "The operation succeeded: the goal is not held any more";

function missing({ resource, operation, runId, incidentId }: GoalHold): string {
  return `permission ${resource} is missing for operation ${operation} (run ${runId}, incident ${incidentId})`;
}

function session(name: string): string {
  return `-s ${/^[\w.@-]+$/.test(name) ? name : JSON.stringify(name)}`;
}
