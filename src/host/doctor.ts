/** What keeps an agent from working: data for `ostler doctor` and `ostler backends`. It names variables, never values. */
import { execa } from "execa";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { VERSION } from "../acp/version.ts";
import { backendFor } from "../backends/registry.ts";
import { AcpError } from "../errors/acp-error.ts";
import type { Failure } from "../errors/failure.ts";
import { cleanLine } from "../errors/redact.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { backendNames, checkBackendName } from "./backend-names.ts";
import { backendSettings } from "./config-defaults.ts";
import type { LoadedConfig } from "./config.ts";
import { childEnvironment } from "./environment.ts";
import { createHost } from "./host.ts";
import { isInstallable } from "./install.ts";
import { packageVersionOf } from "./installed-adapter.ts";
import { inspectLogin } from "./login-hints.ts";
import type { LoginState } from "./login-hints.ts";
import { ostlerPaths } from "./paths.ts";
import { resolveCommand } from "./resolve.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";

export interface SmokeTest {
  readonly ok: boolean;
  /** What happened, for a person. */
  readonly sentence: string;
  readonly failure?: Failure;
}

export interface BackendReport {
  readonly backend: string;
  readonly label: string;
  readonly status: "found" | "missing";
  /** The program that was found. */
  readonly at?: string;
  /** What is started. */
  readonly command?: readonly string[];
  readonly version?: string;
  /** The version that Ostler was tested with, for adapters that it can install. */
  readonly testedVersion?: string;
  /** Why it is missing, as a sentence. */
  readonly missing?: string;
  readonly install?: string;
  /** Names of the variables that the agent gets under `ask`. */
  readonly environment: readonly string[];
  readonly login: LoginState;
  /** What was found, or what to do. */
  readonly loginHints: readonly string[];
  /** Only when it was asked for and the program was found. */
  readonly smoke?: SmokeTest;
}

export interface DoctorReport {
  readonly node: { readonly version: string; readonly ok: boolean };
  readonly state: { readonly path: string; readonly writable: boolean; readonly problem?: string };
  readonly config: { readonly sources: readonly string[]; readonly warnings: readonly string[] };
  readonly backends: readonly BackendReport[];
  /** Everything that was asked about works: the named backend, else at least one besides the demo. */
  readonly ok: boolean;
}

interface DoctorOptions {
  readonly loaded: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** One backend instead of all. */
  readonly only?: string;
  /** Also start every agent that was found and open a session, without a prompt. */
  readonly smoke?: boolean;
  readonly signal?: AbortSignal;
}

const OLDEST_NODE = 24;
const VERSION_TIMEOUT_MS = 5000;
const MAX_SENTENCE_CHARS = 400;

/** Looks at everything that can be looked at without a prompt. Throws UsageError for an unknown `only`. */
export async function inspectBackends(options: DoctorOptions): Promise<DoctorReport> {
  const { loaded, env, only } = options;
  if (only !== undefined) checkBackendName(loaded.config, only);
  const names = only === undefined ? backendNames(loaded.config) : [only];
  const node = { version: process.versions.node, ok: Number.parseInt(process.versions.node, 10) >= OLDEST_NODE };
  const state = inspectStateFolder(ostlerPaths(env).state);
  const backends: BackendReport[] = [];
  // One after the other: agents are heavy, and a report in which two starve each other says nothing.
  for (const name of names) backends.push(await inspectBackend(name, options));
  const isThere = backends.some(({ status, backend }) => status === "found" && (backend !== "demo" || only === "demo"));
  const works = backends.every(({ smoke }) => smoke?.ok ?? true);
  return {
    node,
    state,
    config: { sources: loaded.sources, warnings: loaded.warnings },
    backends,
    ok: node.ok && state.writable && isThere && works,
  };
}

async function inspectBackend(name: string, options: DoctorOptions): Promise<BackendReport> {
  const { loaded, env, cwd, smoke = false } = options;
  const settings = backendSettings(loaded.config, name);
  const backend = backendFor(name, settings);
  const environment = {
    ...childEnvironment({ env, surface: "ask", profile: backend.profile, settings }),
    ...backend.env(loaded.config.approve),
  };
  const known = {
    backend: name,
    label: backend.label,
    ...(isInstallable(name) && { testedVersion: TESTED_ADAPTERS[name].version }),
    environment: Object.keys(environment).sort(),
    ...inspectLogin(backend.profile, environment, backend.loginHint),
  };
  const command = settings.command === undefined ? {} : { command: settings.command };
  const resolution = resolveCommand({ backend: name, ...command, cwd, env, paths: ostlerPaths(env) });
  if ("missing" in resolution) {
    const { sentence, install } = resolution.missing;
    return { ...known, status: "missing", missing: sentence, ...(install !== undefined && { install }) };
  }
  const { at, found } = resolution;
  const version = name === "demo" ? VERSION : await versionOf(at, environment);
  return {
    ...known,
    status: "found",
    at,
    command: [found.file, ...found.args],
    ...(version !== undefined && { version }),
    ...(smoke && { smoke: await smokeTest(name, options) }),
  };
}

/** From its package; kiro, which is no package, is asked. Other programs might take `--version` for a prompt. */
async function versionOf(program: string, env: Record<string, string>): Promise<string | undefined> {
  if (basename(program) !== "kiro-cli") return packageVersionOf(program);
  const result = await execa(program, ["--version"], {
    env,
    extendEnv: false,
    stdin: "ignore",
    reject: false,
    timeout: VERSION_TIMEOUT_MS,
  });
  return /\d+(?:\.\d+)+\S*/.exec(result.stdout)?.[0];
}

async function smokeTest(backend: string, { loaded, env, cwd, signal }: DoctorOptions): Promise<SmokeTest> {
  const host = await createHost({ loaded, env, cwd });
  const signals = signal === undefined ? {} : { signal };
  try {
    const { runtime, settings } = await host.openRuntime({ backend, ...signals });
    const { model, mode } = settings;
    const wishes = { ...(model !== undefined && { model }), ...(mode !== undefined && { mode }) };
    await runtime.openSession({ cwd, ...wishes, ...signals });
    return { ok: true, sentence: "It starts and opens a session" };
  } catch (error) {
    const sentence = cleanLine(error instanceof Error ? error.message : String(error), MAX_SENTENCE_CHARS);
    return { ok: false, sentence, ...readFailure(error) };
  } finally {
    await host.close();
  }
}

function readFailure(error: unknown): { failure?: Failure } {
  if (!(error instanceof AcpError || error instanceof AcpRuntimeError)) return {};
  return error.failure === undefined ? {} : { failure: error.failure };
}

/** Looks, and makes nothing: the nearest folder that exists must let us in. */
function inspectStateFolder(path: string): DoctorReport["state"] {
  let nearest = path;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) return { path, writable: false, problem: `${nearest} is not a folder` };
  try {
    accessSync(nearest, constants.W_OK);
    return { path, writable: true };
  } catch {
    return { path, writable: false, problem: `${nearest} is not writable` };
  }
}
