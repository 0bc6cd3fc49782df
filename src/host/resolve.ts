/**
 * Which program a backend is: its configured or built-in command, looked up in PATH and then among the adapters that
 * Ostler installed. A missing one is told with the folders that were searched and the command that installs it.
 */
import { accessSync, closeSync, constants, openSync, readSync, readlinkSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import { demoCommand } from "./demo-command.ts";
import { homeFolder, shortPath } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

const BUILT_IN_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  claude: ["claude-agent-acp"],
  codex: ["codex-acp"],
  kiro: ["kiro-cli", "acp"],
};
const INSTALL_COMMANDS: Readonly<Record<string, string>> = {
  claude: "ostler backends install claude",
  codex: "ostler backends install codex",
  kiro: "curl -fsSL https://cli.kiro.dev/install | bash",
};
/** Folders named in the sentence; a PATH of forty would bury the install command. */
const FOLDERS_NAMED = 3;
const ABSENT = "does not exist";
/** The fault that `chmod +x` mends. */
export const NOT_EXECUTABLE = "is not executable";

export interface MissingCommand {
  readonly program: string;
  /** Every folder that was searched, in order; the file itself for a program given as a path. */
  readonly searched: readonly string[];
  /** What was met under the name and cannot be started. */
  readonly faults: readonly FileFault[];
  readonly install?: string;
  /** Ready to print: what is missing, where it was looked for, how to install it. */
  readonly sentence: string;
  /** The folders that the sentence only counts. */
  readonly details?: string;
}

/** `why` is the end of a sentence that begins with the file. */
export interface FileFault {
  readonly file: string;
  readonly why: string;
}

export type Resolution = { readonly found: CommandLine; readonly at: string } | { readonly missing: MissingCommand };

/** How a person installs the backend; undefined for backends of the config. */
export function installCommand(backend: string): string | undefined {
  return Object.hasOwn(INSTALL_COMMANDS, backend) ? INSTALL_COMMANDS[backend] : undefined;
}

/** Finds the program of a backend in this one snapshot of the environment. */
export function resolveCommand(options: {
  readonly backend: string;
  /** Given as a command line, so that the name says nothing to the person. */
  readonly adHoc?: boolean;
  /** From the config or `--agent`; absent = the built-in command of the backend. */
  readonly command?: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly paths: Paths;
}): Resolution {
  const { backend, adHoc = false, cwd, env, paths } = options;
  if (backend === "demo" && options.command === undefined) {
    const found = demoCommand(paths);
    return { found, at: found.args[0] ?? found.file };
  }
  const builtIn = Object.hasOwn(BUILT_IN_COMMANDS, backend) ? BUILT_IN_COMMANDS[backend] : undefined;
  const [program = backend, ...args] = options.command ?? builtIn ?? [];
  const adapters = join(paths.adapters, "node_modules", ".bin");
  const isPath = program.includes("/");
  const folders = isPath ? [] : [...pathFolders(env, cwd), adapters];
  const candidates = isPath ? [absoluteProgram(program, cwd, env)] : folders.map((folder) => join(folder, program));

  const faults: FileFault[] = [];
  for (const file of candidates) {
    const fault = findFault(file);
    if (fault === undefined) {
      const isOwn = file.startsWith(adapters) && isNodeScript(file);
      // The node of the machine may be too old for the adapter, or missing: ours runs already.
      return { found: isOwn ? { file: process.execPath, args: [file, ...args] } : { file, args }, at: file };
    }
    if (fault !== ABSENT) faults.push({ file, why: fault });
  }
  const searched = isPath ? candidates : folders;
  const install = options.command === undefined || program === builtIn?.[0] ? installCommand(backend) : undefined;
  return {
    missing: {
      program,
      searched,
      faults,
      ...(install !== undefined && { install }),
      ...missingWords({ name: adHoc ? "" : ` ${backend}`, program, isPath, searched, faults, install, env }),
    },
  };
}

/** An empty entry of PATH means the working folder to a shell; a checkout must not bring its own `codex-acp` along. */
function pathFolders(env: NodeJS.ProcessEnv, cwd: string): string[] {
  const entries = (env["PATH"] ?? "").split(delimiter).filter((entry) => entry !== "");
  return [...new Set(entries.map((entry) => resolve(cwd, entry)))];
}

function absoluteProgram(program: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return program.startsWith("~/") ? join(homeFolder(env), program.slice(2)) : resolve(cwd, program);
}

/** Why the file cannot be started; undefined when it can. */
function findFault(file: string): string | undefined {
  try {
    if (statSync(file).isDirectory()) return "is a folder";
    accessSync(file, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return danglingLink(file) ?? ABSENT;
    return code === "EACCES" ? NOT_EXECUTABLE : `cannot be used (${code})`;
  }
}

function danglingLink(file: string): string | undefined {
  try {
    return `is a link to ${readlinkSync(file)}, which does not exist`;
  } catch {
    return undefined;
  }
}

/** A program that is met in the environment's PATH; undefined when there is none. */
export function findInPath(program: string, env: NodeJS.ProcessEnv, cwd: string): string | undefined {
  return pathFolders(env, cwd)
    .map((folder) => join(folder, program))
    .find((file) => findFault(file) === undefined);
}

function isNodeScript(file: string): boolean {
  const head = Buffer.alloc(64);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, head, 0, head.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return /^#!.*\bnode\b/.test(head.toString("latin1"));
}

/** The install command comes first: what follows may be long, and is cut where space is short. */
function missingWords(facts: {
  /** Behind "The agent". */
  name: string;
  program: string;
  isPath: boolean;
  searched: readonly string[];
  faults: readonly FileFault[];
  install: string | undefined;
  env: NodeJS.ProcessEnv;
}): Pick<MissingCommand, "sentence" | "details"> {
  const { name, program, isPath, searched, install, env } = facts;
  const faults = facts.faults.map(({ file, why }) => `${shortPath(file, env)} ${why}`);
  const hint = install === undefined ? "" : ` (install it with: ${install})`;
  const short = searched.map((place) => shortPath(place, env));
  if (isPath) return { sentence: `The agent${name} cannot be started${hint}: ${faults[0] ?? `${short[0]} ${ABSENT}`}` };
  const isLong = short.length > FOLDERS_NAMED;
  const named = isLong ? [...short.slice(0, FOLDERS_NAMED - 1), short.at(-1)!] : short;
  const others = isLong ? short.slice(FOLDERS_NAMED - 1, -1) : [];
  const count = others.length === 1 ? "one other folder" : `${others.length} other folders`;
  const folders = named.join(", ") + (isLong ? ` and ${count} of PATH` : "");
  const found = faults.length > 0 ? `; ${faults.join(", ")}` : "";
  const problem = name === "" ? "cannot be started" : "is not installed";
  return {
    sentence: `The agent${name} ${problem}${hint}: ${program} is not in ${folders}${found}`,
    ...(isLong && { details: `Also searched: ${others.join(", ")}` }),
  };
}
