/** What stdin is, found out without reading from it. */
import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import { isatty } from "node:tty";
import type { Input } from "./io.ts";

/** Of the process itself; `process.stdin` is opened only when it is read. */
export function describeStdin(): Input {
  let kind: Input["kind"] = "other";
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO() || stat.isSocket()) kind = "pipe";
    else if (isatty(0)) kind = "terminal";
  } catch {
    // Closed: an empty input.
  }
  return { kind, shared: kind === "pipe" && callerReadsIt(), open: () => process.stdin };
}

/** `cmd | while read line; do ostler ask "$line"; done`: the shell still needs the rest of the pipe (Linux only). */
function callerReadsIt(): boolean {
  try {
    return readlinkSync("/proc/self/fd/0") === readlinkSync(`/proc/${findCaller()}/fd/0`);
  } catch {
    return false;
  }
}

/** Who called: the parent, or who called the npx that is in between and hands its stdin on without reading it. */
function findCaller(): number {
  const { npm_lifecycle_event: event, npm_config_call: script = "" } = process.env;
  // With `npx -c` there is a shell script of somebody's own in between.
  if (event !== "npx" || script !== "") return process.ppid;
  const npx = [process.ppid, parentOf(process.ppid)].find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("npm exec "),
  );
  return npx === undefined ? process.ppid : parentOf(npx);
}

/** The second number behind the name, which may hold blanks and brackets (proc_pid_stat). */
function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
