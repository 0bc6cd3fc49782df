/** `ostler incidents`: what failed in any run, and what a person says of it. */
import { EXIT } from "../../errors/kinds.ts";
import { RunRegistry } from "../../failures/runs/registry.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findRun, seeRuns } from "./find-run.ts";
import { harmlessJson } from "./harmless-json.ts";
import { listIncidents } from "./incidents-list.ts";
import type { Io } from "./io.ts";
import type { OptionValues } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { INCIDENTS_OPTIONS } from "./runs-options.ts";
import { checkCursor } from "./runs-page.ts";
import { unknownAction } from "./unknown-action.ts";

const ACTIONS: readonly string[] = ["list", "show", "dispose"];
const USAGE = "write: ostler incidents, or ostler incidents show or dispose with an INCIDENT";
type IncidentsOption = keyof typeof INCIDENTS_OPTIONS;
/** Options of one action or two; all others mean the same everywhere. */
const ACTIONS_OF_OPTION: readonly (readonly [option: IncidentsOption, actions: readonly string[]])[] = [
  ["history", ["list"]],
  ["raw", ["list"]],
  ["cursor", ["list"]],
  ["bytes", ["list", "show"]],
  ["as", ["dispose"]],
  ["reason", ["dispose"]],
  ["evidence", ["dispose"]],
];

/** For a person and for a program, and how it ended. */
export interface Told {
  readonly text: string;
  readonly json: object;
  /** What was not done: the exit code is 1. */
  readonly problem?: string;
  /** What came of looking; said beside the answer. */
  readonly remark?: string;
}

/** Throws an error of kind `session_not_found` (exit 4) for a run or an incident that is not there. */
export async function incidents(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, INCIDENTS_OPTIONS);
  const [action = "list", word, ...more] = words;
  const isUsable = action === "list" ? word === undefined : word !== undefined && more.length === 0;
  if (!ACTIONS.includes(action) || !isUsable)
    throw unknownAction("incidents", words, { actions: ACTIONS, usage: USAGE });
  checkOptions(action, options);
  const registry = new RunRegistry(ostlerPaths(io.env).state);
  const seen = options.run === undefined ? seeRuns(registry) : [findRun(registry, options.run)];
  const { text, json, problem, remark } = await tell(action, word, { seen, registry, options, io });
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  if (options.json) stdout.write(`${harmlessJson(json)}\n`);
  else if (text !== "") stdout.write(`${text}\n`);
  if (remark !== undefined) stderr.write(`ostler: ${remark}\n`);
  if (problem !== undefined) stderr.write(`ostler: ${problem}\n`);
  await Promise.all([stdout.finish(), stderr.finish()]);
  return problem === undefined ? EXIT.completed : EXIT.failed;
}

/** What an action has to go by. */
export interface IncidentsRequest {
  readonly seen: ReturnType<typeof seeRuns>;
  readonly registry: RunRegistry;
  readonly options: OptionValues<typeof INCIDENTS_OPTIONS>;
  readonly io: Io;
}

async function tell(action: string, word: string | undefined, request: IncidentsRequest): Promise<Told> {
  if (word === undefined) {
    checkCursor(request.options.cursor);
    return listIncidents(request);
  }
  if (action === "show") return (await import("./incidents-show.ts")).showIncident(word, request);
  return (await import("./incidents-dispose.ts")).disposeIncident(word, request);
}

/** Throws UsageError for an option that means nothing for this action. */
function checkOptions(action: string, options: OptionValues<typeof INCIDENTS_OPTIONS>): void {
  for (const [option, actions] of ACTIONS_OF_OPTION) {
    const isGiven = options[option] !== undefined && options[option] !== false;
    if (isGiven && !actions.includes(action))
      throw new UsageError(`--${option} belongs to ostler incidents ${actions.join(" and ")}`);
  }
}
