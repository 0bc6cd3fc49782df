/**
 * Which processes a scenario has running, as Linux tells it. A process belongs to a scenario when its environment or its
 * working directory names the scenario's folder: no adapter or tool can leave it by changing its parent or its group.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface LiveProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The live processes (no zombies) of the scenario in `folder`, the calling process aside. */
export function processesOf(folder: string): LiveProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => readProcess(Number(name), folder) ?? []);
}

/** A process that went while it was being read, a zombie, or somebody else's: undefined. */
function readProcess(pid: number, folder: string): LiveProcess | undefined {
  try {
    // The name in brackets may hold spaces and brackets of its own; the fields count from the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return undefined;
    const belongs =
      readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder) ||
      readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    if (!belongs) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, parent: Number(parent), command };
  } catch {
    return undefined;
  }
}
