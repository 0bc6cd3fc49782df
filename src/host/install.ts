/**
 * `ostler backends install`: the tested version of an adapter, from npm, into Ostler's data folder. All adapters share
 * one npm prefix, so that installing one keeps the others. What npm reports is not believed: the result is looked at.
 */
import { execa } from "execa";
import { mkdirSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import { inspectInstalled } from "./installed-adapter.ts";
import type { Paths } from "./paths.ts";
import { shortPath } from "./paths.ts";
import { resolveCommand } from "./resolve.ts";
import { systemCode } from "../errors/system-code.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";

export type InstallableBackend = keyof typeof TESTED_ADAPTERS;

/** Whether `ostler backends install` knows the name. */
export function isInstallable(name: string): name is InstallableBackend {
  return Object.hasOwn(TESTED_ADAPTERS, name);
}

export type InstallProblem = "no_npm" | "offline" | "no_space" | "no_access" | "failed" | "unusable";

/** The adapter could not be installed. The message is a sentence for the person; `details` the end of npm's own words. */
export class InstallError extends Error {
  readonly reason: InstallProblem;
  readonly details: string;
  constructor(reason: InstallProblem, message: string, details = "", options?: ErrorOptions) {
    super(message, options);
    this.name = "InstallError";
    this.reason = reason;
    this.details = details;
  }
}

export interface InstallOptions {
  readonly backend: InstallableBackend;
  readonly paths: Paths;
  readonly env: NodeJS.ProcessEnv;
  /** One line of what is going on, scrubbed. */
  readonly onProgress?: (line: string) => void;
  /** Ends npm; the promise then rejects. */
  readonly signal?: AbortSignal;
}

/** A registry that does not answer is given up after seconds instead of npm's minutes. */
const NETWORK_OPTIONS = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
const MAX_LINE_CHARS = 300;
const MAX_DETAILS_CHARS = 2000;
const NPM_ERROR = /^npm (?:error|ERR!)/;
/** The system's codes in npm's report (`npm error code ENOSPC`): the words around them change from version to version. */
const PROBLEMS: readonly { reason: InstallProblem; code: RegExp; sentence: (folder: string) => string }[] = [
  {
    reason: "no_space",
    code: /\b(?:ENOSPC|EDQUOT)\b/,
    sentence: (folder) => `There is no space left to install the adapter in ${folder}`,
  },
  {
    reason: "offline",
    code: /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/,
    sentence: () =>
      "The npm registry cannot be reached, so the adapter is not installed. Check the network and the proxy",
  },
  {
    reason: "no_access",
    code: /\b(?:EACCES|EPERM|EROFS)\b/,
    sentence: (folder) => `Installing into ${folder} is not permitted`,
  },
];

/** Installs the adapter unless the tested version is there and whole. Throws {@link InstallError}. */
export async function installAdapter(options: InstallOptions): Promise<{ version: string; at: string }> {
  const { backend, paths, onProgress = () => {} } = options;
  const adapter = TESTED_ADAPTERS[backend];
  const before = inspectInstalled(backend, paths);
  if ("at" in before) {
    onProgress(`${adapter.package} ${adapter.version} is already there`);
    return before;
  }
  const npm = findNpm(options);
  onProgress(`Installing ${adapter.package} ${adapter.version}; its programs are large, this can take minutes`);
  makeFolder(options);
  await runNpm(npm, options);
  const after = inspectInstalled(backend, paths);
  if ("at" in after) return after;
  throw new InstallError("unusable", `npm reported success, yet ${after.problem}`);
}

function makeFolder({ paths, env }: InstallOptions): void {
  try {
    mkdirSync(paths.adapters, { recursive: true });
  } catch (error) {
    const folder = shortPath(paths.adapters, env);
    const code = systemCode(error);
    const sentence = `The folder ${folder} cannot be made (${code})`;
    throw knownProblem(code, folder, { details: "", cause: error }) ?? new InstallError("failed", sentence);
  }
}

async function runNpm(file: string, { backend, paths, env, onProgress, signal }: InstallOptions): Promise<void> {
  const adapter = TESTED_ADAPTERS[backend];
  const folder = shortPath(paths.adapters, env);
  const npm = execa(
    file,
    [
      "install",
      `--prefix=${paths.adapters}`,
      // Settings of the user's that would leave out the native program, or put the adapter somewhere else.
      "--include=optional",
      "--no-global",
      "--save-exact",
      "--no-audit",
      "--no-fund",
      ...NETWORK_OPTIONS,
      `${adapter.package}@${adapter.version}`,
    ],
    {
      cwd: paths.adapters,
      // npm's own first line asks for a node; ours runs already, so it is there at least.
      env: { ...env, PATH: [env["PATH"], dirname(process.execPath)].filter(Boolean).join(delimiter) },
      extendEnv: false,
      stdin: "ignore",
      all: true,
      reject: false,
      ...(signal !== undefined && { cancelSignal: signal }),
    },
  );
  for await (const line of npm.iterable({ from: "all" })) {
    // npm's report of an error is a page with a stack: it is told in one sentence below.
    if (line.trim() !== "" && !NPM_ERROR.test(line)) onProgress?.(cleanLine(line, MAX_LINE_CHARS));
  }
  const result = await npm;
  if (!result.failed) return;
  if (result.isCanceled) throw new InstallError("failed", "The installation was stopped", "", { cause: result });
  throw npmError(result.all, folder, result);
}

function findNpm({ env, paths }: InstallOptions): string {
  const npm = resolveCommand({ backend: "npm", command: ["npm"], cwd: paths.adapters, env, paths });
  if ("found" in npm) return npm.found.file;
  const sentence =
    "npm is needed to install an adapter and is not in PATH. It comes with Node: install that, and try again";
  throw new InstallError("no_npm", sentence, npm.missing.searched.join("\n"));
}

function npmError(report: string, folder: string, cause: unknown): InstallError {
  const details = cleanBlock(report, MAX_DETAILS_CHARS);
  const known = knownProblem(report, folder, { details, cause });
  if (known !== undefined) return known;
  const said = report.split("\n").find((line) => /^npm (?:error|ERR!) (?!code\b|errno\b)\S/.test(line));
  const sentence = `npm could not install the adapter${said === undefined ? "" : `: ${said.replace(NPM_ERROR, "").trim()}`}`;
  return new InstallError("failed", cleanLine(sentence, MAX_LINE_CHARS), details, { cause });
}

function knownProblem(
  report: string,
  folder: string,
  { details, cause }: { details: string; cause: unknown },
): InstallError | undefined {
  const problem = PROBLEMS.find(({ code }) => code.test(report));
  return problem && new InstallError(problem.reason, problem.sentence(folder), details, { cause });
}
