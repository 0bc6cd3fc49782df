/** What runs beside the calls of a turn, and what it means for the turn: subagents and background tasks. */
import type { TurnClocks } from "./clocks.ts";
import type { TurnEventBody } from "./events.ts";

/**
 * A subagent counts as a tool that runs: it may be silent as long as one. Returns whether the event says that something
 * was started, so that nothing may be sent again.
 */
export function followSideWork(event: TurnEventBody, clocks: TurnClocks): boolean {
  if (event.type === "task") return true;
  if (event.type !== "subagent" || !("state" in event)) return false;
  if (event.state === "running") clocks.toolStarted(`subagent ${event.subagentId}`);
  else clocks.toolEnded(`subagent ${event.subagentId}`);
  return true;
}
