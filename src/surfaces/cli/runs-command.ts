/** `ostler runs`: what was run, what failed in it, and what it said. */
import { EXIT } from "../../errors/kinds.ts";
import { RunRegistry } from "../../failures/runs/registry.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import { findRun, seeRuns } from "./find-run.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Io } from "./io.ts";
import type { OptionValues } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { listLines } from "./runs-list.ts";
import { RUNS_OPTIONS } from "./runs-options.ts";
import { showRun } from "./runs-page.ts";
import { shownRun } from "./shown-run.ts";
import { unknownAction } from "./unknown-action.ts";

const ACTIONS: readonly string[] = ["list", "show", "output", "result"];
const USAGE = "write: ostler runs, or ostler runs show, output or result with the id of a RUN";

/** Throws an error of kind `session_not_found` (exit 4) for a run that is not there. */
export async function runs(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, RUNS_OPTIONS);
  const [action = "list", word, ...more] = words;
  const isUsable = action === "list" ? word === undefined : word !== undefined && more.length === 0;
  if (!ACTIONS.includes(action) || !isUsable) throw unknownAction("runs", words, { actions: ACTIONS, usage: USAGE });
  const registry = new RunRegistry(ostlerPaths(io.env).state);
  const stdout = new BatchedOutput(io.stdout);
  if (word === undefined) {
    checkListOptions(options);
    const seen = seeRuns(registry);
    const lines = options.json
      ? [harmlessJson({ runs: seen.map(shownRun) })]
      : listLines(seen, { env: io.env, maxBytes: options.bytes });
    stdout.write(`${lines.join("\n")}\n`);
  } else {
    const { text, json } = showRun(action, findRun(registry, word), { ...options, registry });
    stdout.write(`${options.json ? harmlessJson(json) : text}\n`);
  }
  await stdout.finish();
  return EXIT.completed;
}

/** Throws UsageError for an option that means nothing for a list of runs. */
function checkListOptions(options: OptionValues<typeof RUNS_OPTIONS>): void {
  for (const name of ["history", "raw", "cursor"] as const)
    if (options[name])
      throw new UsageError(`--${name} belongs to ostler runs show, output and result with a RUN`);
}
