/**
 * `ostler run-supervisor`, which no help lists: the process that owns a background command. It is started by `ostler run`
 * and `ostler watch`, which tell it over their channel what to run.
 */
import { EXIT } from "../../errors/kinds.ts";
import { pruneIfDue } from "../../failures/runs/prune.ts";
import { RunRegistry } from "../../failures/runs/registry.ts";
import { isLaunch } from "../../host/command-run-launch.ts";
import type { CommandLaunch, RunNews } from "../../host/command-run-launch.ts";
import { superviseRun } from "../../host/command-run.ts";
import { ostlerPaths } from "../../host/paths.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { Io } from "./io.ts";

/** Resolves when the run is over. Throws UsageError when it was not started by Ostler itself. */
export async function runSupervisor(io: Io): Promise<number> {
  const stop = new AbortController();
  const kill = new AbortController();
  const unsubscribe = io.onSignal((signal) => {
    // It outlives the terminal that it was started from.
    if (signal === "SIGHUP") return;
    if (stop.signal.aborted) kill.abort();
    stop.abort();
  });
  const forget = io.onCrash?.(() => kill.abort());
  try {
    const launch = await receiveLaunch();
    const requests = { stop: stop.signal, kill: kill.signal };
    const paths = ostlerPaths(io.env);
    await superviseRun(launch, { paths, env: io.env, tell, requests });
    if (launch.retention !== undefined) pruneIfDue(new RunRegistry(paths.state), launch.retention);
    return EXIT.completed;
  } finally {
    unsubscribe();
    forget?.();
  }
}

function receiveLaunch(): Promise<CommandLaunch> {
  if (process.send === undefined) {
    throw new UsageError("run-supervisor is started by Ostler itself; to run a command, write: ostler run -- CMD");
  }
  return new Promise((resolve, reject) => {
    process.once("message", (message) => {
      // What runs goes on when the caller leaves, and ends when it is over: nobody waits for words on the channel.
      process.channel?.unref();
      if (isLaunch(message)) resolve(message);
      else reject(new UsageError("run-supervisor was told something that is no command"));
    });
  });
}

/** Resolves with false when the caller has left. */
function tell(news: RunNews): Promise<boolean> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve(false);
    else process.send(news, (error: Error | null) => resolve(error === null));
  });
}
