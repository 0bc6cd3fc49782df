/**
 * The configuration: the user's file, then project files from the root down to the working folder, then `--config`.
 * Without any file nothing is validated and zod is not loaded.
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { cleanLine } from "../errors/redact.ts";
import { DEFAULT_CONFIG } from "./config-defaults.ts";
import type { Config } from "./config-defaults.ts";
import { refuse } from "./config-fault.ts";
import type { ConfigFault, OnFault } from "./config-fault.ts";
import { ostlerPaths, shortPath } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

export { backendSettings } from "./config-defaults.ts";

export interface LoadedConfig {
  readonly config: Config;
  /** Sentences for the person, scrubbed, one per thing that was ignored or changed. */
  readonly warnings: readonly string[];
  /** The files that were read, lowest priority first. */
  readonly sources: readonly string[];
}

/** One file that takes part, and whether somebody else may have written it. */
export interface ConfigSource {
  readonly file: string;
  /** For warnings. */
  readonly where: string;
  readonly isProject: boolean;
  readonly text: string | undefined;
}

const PROJECT_FILE = ".ostler.json";
/** A config file is a page of text. What is larger is something else, and not worth the memory. */
const MAX_CONFIG_BYTES = 1024 * 1024;
/** A warning names folders and keys, which are somebody's text. */
const MAX_WARNING_CHARS = 1000;

/** A configuration of which the parts at fault are left out. */
export interface DiagnosedConfig extends LoadedConfig {
  readonly faults: readonly ConfigFault[];
}

interface LoadOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `--config`. */
  readonly configFile?: string;
  /** Gives up reading it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads and merges every config file. Throws UsageError when `configFile` cannot be read or when a backend's command or
 * profile is unusable.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  return load(options, refuse);
}

/** The same for somebody who wants to know what is wrong: with a fault nothing is approved by itself. */
export async function diagnoseConfig(options: LoadOptions): Promise<DiagnosedConfig> {
  const faults = new Map<string, ConfigFault>();
  const loaded = await load(options, (fault) => {
    const sentence = cleanLine(fault.sentence, MAX_WARNING_CHARS);
    faults.set(sentence, { ...fault, sentence });
  });
  const config: Config = faults.size === 0 ? loaded.config : { ...loaded.config, approve: "none" };
  return { ...loaded, config, faults: [...faults.values()] };
}

async function load(options: LoadOptions, onFault: OnFault): Promise<LoadedConfig> {
  const sources = await findSources(options, onFault);
  if (sources.length === 0) return { config: DEFAULT_CONFIG, warnings: [], sources: [] };
  const { mergeSources } = await import("./config-merge.ts");
  const { config, warnings } = mergeSources(sources, onFault);
  return {
    config,
    warnings: warnings.map((warning) => cleanLine(warning, MAX_WARNING_CHARS)),
    sources: sources.map(({ file }) => file),
  };
}

async function findSources({ cwd, env, configFile, signal }: LoadOptions, onFault: OnFault): Promise<ConfigSource[]> {
  const user = ostlerPaths(env).configFile;
  const source = (file: string, isProject: boolean) => ({
    file,
    where: shortPath(file, env),
    isProject,
    text: readText(file),
  });
  const found = [];
  if (exists(user)) found.push(source(user, false));
  for (const file of projectFiles(cwd)) if (file !== user) found.push(source(file, true));
  if (configFile === undefined) return found;
  const explicit = await readExplicit(resolve(cwd, configFile), env, { signal, onFault });
  return explicit === undefined ? found : [...found, explicit];
}

/** `.ostler.json` in the working folder and every folder above it, the outermost first. */
function projectFiles(cwd: string): string[] {
  const files: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, PROJECT_FILE);
    if (exists(file)) files.unshift(file);
    if (dirname(folder) === folder) return files;
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  ERR_FS_FILE_TOO_LARGE: "is larger than 1 MiB",
};

/** `--config` was asked for by name, so a file that is not there is a mistake, and a pipe (`<(...)`) is fine. */
async function readExplicit(
  file: string,
  env: NodeJS.ProcessEnv,
  { signal, onFault }: { readonly signal: AbortSignal | undefined; readonly onFault: OnFault },
): Promise<ConfigSource | undefined> {
  const where = shortPath(file, env);
  try {
    const { readBounded } = await import("./read-bounded.ts");
    const text = (await readBounded(file, { maxBytes: MAX_CONFIG_BYTES, signal })).toString();
    return { file, where, isProject: false, text };
  } catch (cause) {
    signal?.throwIfAborted();
    const code = systemCode(cause);
    const why = PROBLEMS[code] ?? `cannot be read (${code})`;
    const sentence = `The config file ${where} ${why}`;
    onFault({ where, sentence, fix: "Name a file that can be read: --config FILE", cause });
    return undefined;
  }
}

/** A file in a folder that is closed to us is there as far as we know: it may forbid something. */
function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Undefined when it is there and cannot be read; a named pipe would hold the start up for ever. */
function readText(file: string): string | undefined {
  try {
    const { size } = statSync(file);
    return statSync(file).isFile() && size <= MAX_CONFIG_BYTES ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
