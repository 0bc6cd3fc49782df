/** `ostler runs stop RUN`: asks whoever supervises it, and ends what nobody does. */
import type { RunRegistry } from "../../failures/runs/registry.ts";
import { stopRun } from "../../failures/runs/stop.ts";
import type { StopResult } from "../../failures/runs/stop.ts";
import { readToTheEnd } from "../../host/settle-runs.ts";
import { findRun } from "./find-run.ts";
import type { Told } from "./incidents-command.ts";

/** Throws an error of kind `session_not_found` (exit 4) for a run that is not there. */
export async function stop(word: string, registry: RunRegistry): Promise<Told> {
  const { id, meta } = findRun(registry, word);
  if (meta === "unreadable") {
    const problem = `The metadata of run ${id} cannot be read: which processes it has is not known`;
    return { text: "", json: { id, stopped: false, problem }, problem };
  }
  const result = await stopRun(registry, meta, { rescan: (lost) => readToTheEnd(registry, lost) });
  const problem = problemOf(id, result);
  const json = { id, stopped: result.result === "stopped", ...result };
  if (problem !== undefined) return { text: "", json: { ...json, problem }, problem };
  return { text: textOf(id, result), json };
}

function textOf(id: string, result: StopResult): string {
  if (result.result === "over") return `Run ${id} is over already: ${result.status}`;
  const status = result.result === "stopped" ? result.status : "cancelled";
  return status === "cancelled" ? `Stopped ${id}` : `Stopped ${id}, which says: ${status}`;
}

/** What keeps it from being stopped; undefined when it is. */
function problemOf(id: string, result: StopResult): string | undefined {
  switch (result.result) {
    case "stopped":
    case "over":
      return undefined;
    case "asked":
      return `The Ostler of run ${id} (process ${result.pid}) was asked and is at it; the same command again ends the agent at once`;
    case "resists":
      return `Run ${id} is not over: process ${result.pid} is still there, or belongs to somebody else`;
    case "inside":
      return `This command is part of run ${id}; stop the run from outside of it`;
    case "elsewhere":
      return `Run ${id} is on another machine or in another container, where its processes can be reached; stop it there`;
  }
}
