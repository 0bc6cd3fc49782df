/**
 * Wires {@link main} to the process: the one file of the CLI that touches globals. `process.stdin` is left alone until
 * somebody reads it, and `node:process` is not imported: both cost milliseconds of every start.
 */
import { fstatSync, readlinkSync } from "node:fs";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { EXIT } from "../../errors/kinds.ts";
import type { StopSignal } from "../shared/exit-code.ts";
import { describeCauses, sentenceOf } from "./boundary.ts";
import type { Input, Io } from "./io.ts";
import { main } from "./main.ts";

const STOP_SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

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
};

if (process.platform === "win32") {
  process.stderr.write("ostler: Windows is not supported; Ostler runs on Linux and macOS, and under WSL.\n");
  process.exit(EXIT.usage);
}
// A bug that nothing caught is a sentence too; what an agent left is ended by the closed stdin or by the next start.
process.on("uncaughtException", (error) => {
  const causes = process.argv.includes("--verbose") ? describeCauses(error) : [];
  process.stderr.write([`ostler: ${sentenceOf(error)}`, ...causes, ""].join("\n"));
  process.exit(EXIT.failed);
});
// A program that runs out of things to wait for before it knows the outcome has failed.
process.exitCode = EXIT.failed;
void main(process.argv.slice(2), io).then((exitCode) => {
  // Nothing of ours is left to wait for, but an open stdin would keep the process.
  process.exit(exitCode);
});

/** A folder that was removed under us has no path any more; the shell remembers which it was. Whoever else asks (yargs does) gets the root. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.chdir("/");
    return resolve("/", process.env["PWD"] ?? "");
  }
}

function describeStdin(): Input {
  let kind: Input["kind"] = "other";
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO() || stat.isSocket()) kind = "pipe";
    else if (isatty(0)) kind = "terminal";
  } catch {
    // Closed: an empty input.
  }
  return { kind, shared: kind === "pipe" && parentReadsIt(), open: () => process.stdin };
}

/** `cmd | while read line; do ostler ask "$line"; done`: the shell still needs the rest of the pipe (Linux only). */
function parentReadsIt(): boolean {
  try {
    return readlinkSync("/proc/self/fd/0") === readlinkSync(`/proc/${process.ppid}/fd/0`);
  } catch {
    return false;
  }
}
