/** `ostler run`: one command in the background, under the same rules of failure as an agent. */
import type { CommandLaunch } from "../../host/command-run-launch.ts";
import { runInBackground } from "./run-background.ts";
import type { Io } from "./io.ts";
import { readLaunch, splitCommand } from "./run-launch.ts";
import { RUN_OPTIONS } from "./run-options.ts";

/** Returns 0 once it runs; with `--wait` its own exit code. Throws UsageError, and what {@link readLaunch} throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const { options, command } = splitCommand("run", argv, RUN_OPTIONS);
  const given = { kind: "command" as const, command, options, operationId: options["operation-id"] };
  const { launch, warnings, confines } = await readLaunch(given, io);
  const confined: CommandLaunch = { ...launch, confined: options.confined || confines };
  return runInBackground(confined, { json: options.json, warnings }, io);
}
