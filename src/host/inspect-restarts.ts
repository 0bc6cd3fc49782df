/** What crashes left behind: a backend that is not started any more, and agents of an Ostler that was killed. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import { readPark } from "../acp/restart-policy.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import type { Config } from "./config-defaults.ts";
import { CrashFiles, identifyProgram } from "./crash-ledger.ts";
import { remark, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { Paths } from "./paths.ts";
import { currentOwnerName, thisSystem } from "../acp/this-process.ts";

const MAX_TITLE_CHARS = 400;
const MAX_STDERR_CHARS = 2000;

/** Nothing unless the backend is parked. */
export function inspectPark(
  name: string,
  facts: {
    readonly restart: Config["restart"];
    readonly at: string;
    readonly found: CommandLine;
    readonly cwd: string;
    readonly paths: Paths;
  },
): Finding[] {
  const { restart, at, found, cwd, paths } = facts;
  const program = identifyProgram(at, found, cwd);
  const crashes = new CrashFiles(paths).read(name).filter((crash) => crash.program === program);
  const park = readPark(crashes, { burst: restart.burst, periodMs: restart.periodS * 1000 });
  if (park === undefined) return [];
  // The file is only a file: somebody else may have written into it.
  const title = cleanLine(park.last.title, MAX_TITLE_CHARS);
  const stderr = cleanBlock(park.last.stderr, MAX_STDERR_CHARS, "end");
  const problem = `Parked after ${restart.burst} crashes within ${restart.periodS} s: ${title}`;
  const finding = wrong("restarts", problem, shellLine(["ostler", "backends", "resume", name], {}));
  return [stderr === "" ? finding : { ...finding, said: stderr }];
}

/** Agents that an Ostler which was killed left running, as far as it wrote them down. */
export function inspectLeftovers({ state }: Pick<Paths, "state">): Finding[] {
  const folder = join(state, "leases", thisSystem());
  const dead = namesIn(folder).filter(
    (owner) => /^\d+-/.test(owner) && owner !== currentOwnerName(Number.parseInt(owner, 10)),
  );
  const count = dead.reduce((sum, owner) => sum + namesIn(join(folder, owner)).length, 0);
  if (count === 0) return [];
  const agents = count === 1 ? "An agent was" : `${count} agents were`;
  return [remark("leftovers", `${agents} left by an Ostler that was killed; the next ask ends what is left`)];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
