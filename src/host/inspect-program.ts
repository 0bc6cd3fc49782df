/** Whether the program of a backend is there and can be run by this system. */
import { NOT_EXECUTABLE } from "./resolve.ts";
import type { MissingCommand } from "./resolve.ts";
import { fine, remark, shellLine, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { inspectExecutable } from "./inspect-executable.ts";
import type { Interpreter } from "./inspect-executable.ts";
import { shortPath } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

/** Why the program is missing. One that nobody asked about is only a remark. */
export function inspectMissing(
  missing: MissingCommand,
  {
    isAskedFor,
    setting,
    env,
  }: { readonly isAskedFor: boolean; readonly setting: string; readonly env: NodeJS.ProcessEnv },
): Finding {
  const { program, searched, faults, install } = missing;
  const [fault] = faults;
  const problem = fault === undefined ? absence(program, searched, env) : `${shortPath(fault.file, env)} ${fault.why}`;
  const fix =
    fault?.why === NOT_EXECUTABLE
      ? shellLine(["chmod", "+x", fault.file], env)
      : (install ?? `Correct ${setting}: it names the program to start`);
  return isAskedFor ? wrong("program", problem, fix) : remark("program", problem, fix);
}

function absence(program: string, searched: readonly string[], env: NodeJS.ProcessEnv): string {
  const [only = program] = searched;
  if (only.endsWith(`/${program}`) || program.includes("/")) return `${shortPath(only, env)} does not exist`;
  const folders = searched.length === 1 ? shortPath(only, env) : `any of the ${searched.length} folders searched`;
  return `${program} is not in ${folders}`;
}

/** Whether the system can run the file; with what, where it is a script. */
export function inspectFound(
  file: string,
  facts: {
    /** Ends with a program that was just removed being there again; undefined for programs of somebody's own. */
    readonly install: string | undefined;
    readonly setting: string;
    readonly env: NodeJS.ProcessEnv;
  },
): { readonly finding: Finding; readonly interpreter?: Interpreter } {
  const { install, setting, env } = facts;
  const name = shortPath(file, env);
  try {
    const executable = inspectExecutable(file);
    if (!("problem" in executable)) return { finding: fine("program", name), ...executable };
    const mend = executable.isLineEnds
      ? shellLine(["sed", "-i", "s/\\r$//", file], env)
      : install === undefined
        ? `Replace ${name}, or correct ${setting}`
        : `${shellLine(["rm", file], env)} && ${install}`;
    return { finding: wrong("program", `${name} ${executable.problem}`, mend) };
  } catch (error) {
    // A program that may be run and not read is fine.
    if (systemCode(error) === "EACCES") return { finding: fine("program", name) };
    throw error;
  }
}
