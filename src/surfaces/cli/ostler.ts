/**
 * Wires {@link main} to the process: the one file of the CLI that touches globals. `process.stdin` is left alone until
 * somebody reads it, and `node:process` is not imported: both cost milliseconds of every start.
 */
import { resolve } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import { installCrashHandler } from "../../host/crash.ts";
import { FlightRecorder } from "../../host/flight-recorder.ts";
import { Log, readLogThreshold } from "../../host/log.ts";
import { ostlerPaths, shortPath } from "../../host/paths.ts";
import type { StopSignal } from "../shared/exit-code.ts";
import { withoutPrompt } from "./argv-report.ts";
import { crashSentence, describeCauses } from "./boundary.ts";
import type { Io } from "./io.ts";
import { main } from "./main.ts";
import { describeStdin } from "./stdin.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

const argv = process.argv.slice(2);
const paths = ostlerPaths(process.env);
const log = new Log(paths, readLogThreshold(process.env["OSTLER_LOG"]));
log.onBroken = say;
const recorder = new FlightRecorder();
const crashListeners = new Set<(bug: Error) => void>();

const io: Io = {
  stdin: describeStdin(),
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: currentFolder(),
  onSignal: (listener) => {
    let isHeard = true;
    for (const signal of STOP_SIGNALS) {
      process.on(signal, () => {
        // What comes after the result, on the way to the exit, must not make another exit code of it.
        if (isHeard) listener(signal);
      });
    }
    return () => {
      isHeard = false;
    };
  },
  log,
  recorder,
  onCrash: (listener) => {
    crashListeners.add(listener);
    return () => crashListeners.delete(listener);
  },
};

if (process.platform === "win32") {
  say("Windows is not supported; Ostler runs on Linux and macOS, and under WSL.");
  process.exit(EXIT.usage);
}
// A program that runs out of things to wait for before it knows the outcome has failed.
process.exitCode = EXIT.failed;
let done: Promise<number> | undefined;
const crash = installCrashHandler({
  paths,
  log,
  recorder,
  argv: () => withoutPrompt(argv),
  end: (bug) => {
    for (const listener of crashListeners) listener(bug);
    return done ?? Promise.resolve();
  },
  leave: (bug, report) => {
    const lines = argv.includes("--verbose") ? describeCauses(bug) : [];
    const place = "file" in report ? { file: shortPath(report.file, process.env) } : report;
    say([crashSentence(bug, place), ...lines].join("\n"));
    process.exit(EXIT.failed);
  },
});
done = main(argv, io);
void leave(done);

/** Nothing of ours is left to wait for, but an open stdin would keep the process. */
async function leave(ended: Promise<number>): Promise<void> {
  const exitCode = await ended;
  await log.flush();
  if (!crash.isCrashing) process.exit(exitCode);
}

function say(text: string): void {
  process.stderr.write(`ostler: ${text}\n`);
}

/** A folder that was removed under us has no path any more; the shell remembers which it was. Whoever else asks (yargs does) gets the root. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.chdir("/");
    return resolve("/", process.env["PWD"] ?? "");
  }
}
