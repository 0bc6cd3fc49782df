/** One backend, from its program to a session: the checks in the order in which they fail, and one cause told once. */
import { basename, resolve } from "node:path";
import type { Backend, CommandLine } from "../acp/ports.ts";
import { VERSION } from "../acp/version.ts";
import { backendFor } from "../backends/registry.ts";
import { isBuiltIn } from "./backend-names.ts";
import { backendSettings } from "./config-defaults.ts";
import type { BackendSettings } from "./config-defaults.ts";
import { isSpoilt } from "./config-fault.ts";
import type { ConfigFault } from "./config-fault.ts";
import type { LoadedConfig } from "./config.ts";
import { findCodexAllowance } from "./codex-allowances.ts";
import { childEnvironment } from "./environment.ts";
import { fine, remark } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { inspectAdapter } from "./inspect-adapter.ts";
import { inspectGate } from "./inspect-gate.ts";
import { inspectLogin, loginCommand } from "./inspect-login.ts";
import { inspectAgentNode, isNodeProgram } from "./inspect-node.ts";
import { inspectFound, inspectMissing } from "./inspect-program.ts";
import { inspectPark } from "./inspect-restarts.ts";
import { inspectStart, startOnce } from "./inspect-start.ts";
import { packageOf } from "./installed-adapter.ts";
import { isInstallable } from "./install.ts";
import { readLoginHints } from "./login-hints.ts";
import { ostlerPaths, shortPath } from "./paths.ts";
import { profileOfCommand } from "./profile.ts";
import { installCommand, resolveCommand } from "./resolve.ts";
import { runBriefly } from "./run-briefly.ts";
import { TESTED_ADAPTERS } from "./tested-adapters.ts";

export interface InspectOptions {
  readonly loaded: LoadedConfig;
  /** What was left out of it; a backend whose settings that may have been is not started. */
  readonly faults?: readonly ConfigFault[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** One backend instead of all. */
  readonly only?: string;
  /** Also write to the state folder, start every agent that was found and open a session, without a prompt. */
  readonly smoke?: boolean;
  /** Seconds an agent may take to answer; see `startOnce`. */
  readonly timeoutS?: number;
  readonly signal?: AbortSignal;
}

export interface BackendReport {
  readonly backend: string;
  readonly label: string;
  readonly status: "found" | "missing";
  /** Nothing keeps it from working, or nobody asked about it and it is not installed. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** The program that was found. */
  readonly at?: string;
  /** What is started. */
  readonly command?: readonly string[];
  readonly version?: string;
  /** The version that Ostler was tested with, for adapters that it can install. */
  readonly testedVersion?: string;
  /** Where a missing program was looked for. */
  readonly searched?: readonly string[];
  readonly install?: string;
  /** Names of the variables that the agent gets under `ask`. */
  readonly environment: readonly string[];
}

/** A backend as it would be started. */
interface Target {
  readonly name: string;
  readonly backend: Backend;
  readonly settings: BackendSettings;
  readonly environments: Readonly<Record<"ask" | "serve", Readonly<Record<string, string>>>>;
  /** A key of its settings and the file that holds them, for sentences. */
  readonly where: (key: string) => string;
}

/** A target whose program is there. */
interface FoundTarget extends Target {
  readonly found: CommandLine;
  readonly at: string;
  /** What `found` runs: the script, where `found` is Node. */
  readonly program: string;
}

const PROJECT_FILE = ".ostler.json";
const VERSION_TIMEOUT_MS = 5000;

/** Rejects with the reason of the signal. */
export async function inspectBackend(name: string, options: InspectOptions): Promise<BackendReport> {
  const { loaded, env, cwd, only } = options;
  const target = targetOf(name, options);
  const { backend, settings, environments, where } = target;
  const { command } = settings;
  const known = {
    backend: name,
    label: backend.label,
    ...(isInstallable(name) && { testedVersion: TESTED_ADAPTERS[name].version }),
    environment: Object.keys(environments.ask).sort(),
  };
  const paths = ostlerPaths(env);
  const resolution = resolveCommand({ backend: name, ...(command !== undefined && { command }), cwd, env, paths });
  if ("missing" in resolution) {
    const { missing } = resolution;
    const isAskedFor = only !== undefined || command !== undefined || loaded.config.defaultBackend === name;
    const finding = inspectMissing(missing, { isAskedFor, setting: where("command"), env });
    const install = missing.install === undefined ? {} : { install: missing.install };
    return { ...known, status: "missing", ok: finding.ok, findings: [finding], searched: missing.searched, ...install };
  }
  const { at, found } = resolution;
  const [script] = found.args;
  const program = isNodeProgram(found.file) && script !== undefined ? resolve(cwd, script) : found.file;
  const { findings, version } = await inspectTarget({ ...target, at, found, program }, options);
  return {
    ...known,
    status: "found",
    ok: findings.every(({ ok }) => ok),
    findings,
    at,
    command: [found.file, ...found.args],
    ...(version !== undefined && { version }),
  };
}

function targetOf(name: string, options: InspectOptions): Target {
  const { config } = options.loaded;
  const configured = backendSettings(config, name);
  const profile = configured.profile ?? (isBuiltIn(name) ? undefined : profileOfCommand(configured.command ?? []));
  const settings = profile === undefined ? configured : { ...configured, profile };
  const backend = backendFor(name, settings);
  const environmentFor = (surface: "ask" | "serve") => ({
    ...childEnvironment({ env: options.env, surface, profile: backend.profile, settings }),
    ...backend.env(config.approve),
  });
  const environments = { ask: environmentFor("ask"), serve: environmentFor("serve") };
  const file = configFileOf(options);
  return { name, backend, settings, environments, where: (key) => `backends.${name}.${key} in ${file}` };
}

/** What cannot run is not looked into any further: everything else would complain about the same thing. */
async function inspectTarget(
  target: FoundTarget,
  options: InspectOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly version?: string }> {
  const { name, backend, settings, environments, where, found, at, program } = target;
  const { loaded, faults = [], env, cwd, smoke = false, signal } = options;
  const paths = ostlerPaths(env);
  const whenStopped = signal === undefined ? {} : { signal };
  const install = installCommand(name);
  const { finding, interpreter } = inspectFound(found.file, { install, setting: where("command"), env });
  if (!finding.ok) return { findings: [finding] };

  const adapter = packageOf(program);
  const isOurNode = found.file === process.execPath;
  const node = isOurNode
    ? []
    : await inspectAgentNode({
        interpreter: isNodeProgram(found.file) ? { file: found.file } : interpreter,
        program,
        range: adapter?.engines?.node,
        environments,
        cwd,
        ...whenStopped,
      });
  const isRunnable = node.every(({ ok }) => ok);
  const version = await versionOf(target, isRunnable ? whenStopped : undefined);
  const findings = [fine("program", shortPath(at, env)), ...node];
  if (adapter !== undefined) {
    findings.push(...inspectAdapter({ adapter, program, environment: environments.ask, paths, env }));
  } else if (version !== undefined) findings.push(fine("version", version));
  const known = version === undefined ? {} : { version };
  if (!isRunnable) return { findings, ...known };

  const { profile, label } = backend;
  const { gate: required } = loaded.config;
  const { mode, command } = settings;
  const allowance = profile === "codex" ? findCodexAllowance({ env: environments.ask, cwd }) : undefined;
  const gate = inspectGate({
    backend,
    args: found.args,
    mode,
    isRequired: required === "required",
    allowance,
    where,
  });
  const parks = inspectPark(name, { restart: loaded.config.restart, at, found, cwd, paths });
  // A trial start is no crash that counts, so a repair can be tried before the backend is resumed.
  const spoilt = isSpoilt(name, faults);
  const isStarted = smoke && gate.ok && !spoilt;
  const start = isStarted
    ? await startOnce(name, { loaded, env, cwd, label, ...whenStopped, ...timeoutOf(options) })
    : undefined;
  const loginFix = loginCommand(profile, found, { env, cwd }) ?? backend.loginHint;
  const hints = readLoginHints(profile, environments.ask);
  if (name !== "demo") findings.push(...inspectLogin({ profile, label, hints, start, fix: loginFix }));
  const isGateTold = start?.failure?.kind === "gate";
  if (!isGateTold) findings.push(gate);
  if (start !== undefined) {
    const started = [found.file, ...found.args];
    findings.push(
      ...inspectStart(start, {
        name,
        isConfigured: command !== undefined,
        isParked: parks.length > 0,
        where,
        command: started,
        loginFix,
        env,
      }),
    );
  }
  if (smoke && spoilt) findings.push(remark("start", "Not started: its settings cannot be used as they are"));
  // Last, for a backend is resumed when everything else is mended.
  findings.push(...parks);
  return { findings, ...known };
}

/** From its package; kiro, which is no package, is asked. Other programs might take `--version` for a prompt. */
async function versionOf(
  { name, program, environments }: FoundTarget,
  run: { readonly signal?: AbortSignal } | undefined,
): Promise<string | undefined> {
  if (name === "demo") return VERSION;
  if (basename(program) !== "kiro-cli" || run === undefined) return packageOf(program)?.version;
  const { stdout } = await runBriefly(program, ["--version"], {
    env: environments.ask,
    timeoutMs: VERSION_TIMEOUT_MS,
    ...run,
  });
  return /\d+(?:\.\d+)+\S*/.exec(stdout)?.[0];
}

function timeoutOf({ timeoutS }: InspectOptions): { timeoutS?: number } {
  return timeoutS === undefined ? {} : { timeoutS };
}

/** Where commands, profiles and gates are set; a project's file has no say in them. */
function configFileOf({ loaded, env }: InspectOptions): string {
  const own = loaded.sources.findLast((file) => basename(file) !== PROJECT_FILE);
  return shortPath(own ?? ostlerPaths(env).configFile, env);
}
