/** `ostler runs`: what was run, what failed in it, and what it said. */
import { EXIT } from "../../errors/kinds.ts";
import { RunRegistry } from "../../failures/runs/registry.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findRun, seeRuns } from "./find-run.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Told } from "./incidents-command.ts";
import { withHold } from "./inspected-hold.ts";
import type { Io } from "./io.ts";
import type { OptionValues } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { listLines } from "./runs-list.ts";
import { RUNS_OPTIONS } from "./runs-options.ts";
import { showRun } from "./runs-page.ts";
import { shownRun } from "./shown-run.ts";
import { unknownAction } from "./unknown-action.ts";

const ACTIONS: readonly string[] = ["list", "show", "output", "result", "stop", "prune"];
const USAGE =
  "write: ostler runs, or ostler runs show, output, result or stop with the id of a RUN, or ostler runs prune";
type RunsOption = keyof typeof RUNS_OPTIONS;
const PAGES: readonly string[] = ["show", "output", "result"];
const OF_PAGES = "show, output and result with a RUN";
/** Options of one action or some, and how those are called; all others mean the same everywhere. */
const ACTIONS_OF_OPTION: readonly (readonly [option: RunsOption, actions: readonly string[], called: string])[] = [
  ["history", PAGES, OF_PAGES],
  ["raw", PAGES, OF_PAGES],
  ["cursor", PAGES, OF_PAGES],
  ["bytes", ["list", ...PAGES], "list, show, output and result"],
  ["older-than", ["prune"], "prune"],
  ["keep", ["prune"], "prune"],
  ["dry-run", ["prune"], "prune"],
];

/** Throws an error of kind `session_not_found` (exit 4) for a run that is not there. */
export async function runs(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, RUNS_OPTIONS);
  const [action = "list", ...named] = words;
  const isUsable = action === "list" ? named.length === 0 : action === "prune" || named.length === 1;
  if (!ACTIONS.includes(action) || !isUsable) throw unknownAction("runs", words, { actions: ACTIONS, usage: USAGE });
  checkOptions(action, options);
  const { text, json, problem, remark } = await tell(action, named, options, io);
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  if (options.json) stdout.write(`${harmlessJson(json)}\n`);
  else if (text !== "") stdout.write(`${text}\n`);
  if (remark !== undefined) stderr.write(`ostler: ${remark}\n`);
  if (problem !== undefined) stderr.write(`ostler: ${problem}\n`);
  await Promise.all([stdout.finish(), stderr.finish()]);
  return problem === undefined ? EXIT.completed : EXIT.failed;
}

async function tell(
  action: string,
  named: readonly string[],
  options: OptionValues<typeof RUNS_OPTIONS>,
  io: Io,
): Promise<Told> {
  const registry = new RunRegistry(ostlerPaths(io.env).state);
  if (action === "prune") return (await import("./runs-prune.ts")).prune(named, options, { registry, io });
  const [word] = named;
  if (word === undefined) {
    const seen = seeRuns(registry);
    const lines = listLines(seen, { env: io.env, maxBytes: options.bytes });
    return { text: lines.join("\n"), json: { runs: seen.map(shownRun) } };
  }
  if (action === "stop") return (await import("./runs-stop.ts")).stop(word, registry);
  const run = findRun(registry, word);
  return withHold(showRun(action, run, { ...options, registry }), run, run.state.incidents.values(), io);
}

/** Throws UsageError for an option that means nothing for this action. */
function checkOptions(action: string, options: OptionValues<typeof RUNS_OPTIONS>): void {
  for (const [option, actions, called] of ACTIONS_OF_OPTION) {
    const isGiven = options[option] !== undefined && options[option] !== false;
    if (isGiven && !actions.includes(action)) throw new UsageError(`--${option} belongs to ostler runs ${called}`);
  }
}
