/** `ostler watch`: one command, run again in the background until its exit code says that it is done. */
import type { CommandLaunch } from "../../host/command-run-launch.ts";
import { UsageError } from "../../host/usage-error.ts";
import { runInBackground } from "./run-background.ts";
import type { Io } from "./io.ts";
import { readCode, readLaunch, splitCommand } from "./run-launch.ts";
import { WATCH_OPTIONS } from "./run-options.ts";

const DEFAULT_EVERY_S = 60;
const MS_PER_S = 1000;

/** Returns 0 once it polls; with `--wait` 0 when it is done, else as docs/runs.md says. Throws as `ostler run` does. */
export async function watch(argv: readonly string[], io: Io): Promise<number> {
  const { options, command } = splitCommand("watch", argv, WATCH_OPTIONS);
  const untilExit = options["until-exit"] ?? 0;
  const failExits = options["fail-exit"].map((text) => readCode("fail-exit", text));
  const { launch, warnings } = await readLaunch({ kind: "watch", command, options }, io);
  const twice = [...failExits, ...(launch.expectedExitCodes ?? [])].find(
    (code, at, all) => code === untilExit || all.indexOf(code) !== at,
  );
  if (twice !== undefined) throw new UsageError(`Exit code ${twice} is given two meanings`);
  const maxPolls = options["max-polls"];
  const plan: CommandLaunch["watch"] = {
    everyMs: (options.every ?? DEFAULT_EVERY_S) * MS_PER_S,
    untilExit,
    failExits,
    ...(maxPolls !== undefined && { maxPolls }),
  };
  return runInBackground({ ...launch, watch: plan }, { json: options.json, warnings }, io);
}
