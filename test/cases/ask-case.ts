/** Asks a scripted agent through `ostler ask --format json`, in process: what a case of the collection looks like to a script. */
import type { Profile } from "../../src/errors/failure.ts";
import type { ResultLine } from "../../src/surfaces/shared/result.ts";
import type { Scenario } from "../fixtures/agents/scenario.ts";
import { processesIn, promptsIn } from "../fixtures/agents/scenario.ts";
import { run } from "../surfaces/cli/run-main.ts";

export interface AskOptions {
  readonly profile?: Profile;
  /** Further arguments of `ask`. */
  readonly argv?: readonly string[];
  /** Fields of the configuration file. */
  readonly config?: object;
}

export interface Asked {
  readonly result: ResultLine;
  readonly exitCode: number;
  readonly stderr: string;
  /** Everything that was printed. */
  readonly printed: string;
  /** `session/prompt` frames that reached the agent. */
  readonly prompts: number;
  /** Agent processes that were started. */
  readonly processes: readonly number[];
  readonly log: string;
}

/** One `ostler ask` with one JSON result. */
export async function ask(scenario: Scenario, options: AskOptions = {}): Promise<Asked> {
  const { profile = "generic", argv = [], config } = options;
  const { exitCode, stdout, stderr, log } = await run(
    ["ask", "--profile", profile, "--format", "json", ...argv, "hello"],
    { scenario, ...(config === undefined ? {} : { config }) },
  );
  const result: ResultLine = JSON.parse(stdout);
  if (result.exitCode !== exitCode) throw new Error(`The result says exit ${result.exitCode}, main said ${exitCode}`);
  return {
    result,
    exitCode,
    stderr,
    printed: stdout + stderr,
    prompts: promptsIn(log).length,
    processes: processesIn(log),
    log,
  };
}

/** The same in the format for people. */
export async function askAsText(scenario: Scenario, { profile = "generic", argv = [] }: AskOptions = {}) {
  const { exitCode, stdout, stderr, log } = await run(["ask", "--profile", profile, ...argv, "hello"], { scenario });
  return { exitCode, stdout, stderr, prompts: promptsIn(log).length, log };
}

/** How often a text stands in another. */
export function countOf(part: string, whole: string): number {
  return whole.split(part).length - 1;
}
