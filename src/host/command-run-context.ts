/** What the parts of a supervisor share. Types only. */
import type { StopRequests } from "./command-run-end.ts";
import type { CommandLaunch, RunEnd } from "./command-run-launch.ts";
import type { CommandExit, CommandProcess } from "./command-run-process.ts";
import type { RunRecord } from "./command-run-record.ts";

/** One run while it goes on. */
export interface RunContext {
  readonly launch: CommandLaunch;
  readonly record: RunRecord;
  readonly requests: StopRequests;
  /** When its time is up, on the clock of `performance.now`. */
  readonly deadline: number | undefined;
  /** Starts the command and writes down that it runs. Throws `CommandUnstartable`. */
  readonly start: () => Promise<CommandProcess>;
  /** To be called after each change of what is known. */
  readonly look: () => void;
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: RunEnd;
  /** For `--wait`. */
  readonly exitCode: number;
  /** Of the newest process. */
  readonly exit?: CommandExit;
}
