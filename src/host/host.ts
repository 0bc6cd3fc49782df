/**
 * The composition root: configuration and options in, running agents out. Picks the backend, finds its program, builds
 * its environment and its permission policy; what happens after that is the runtime's.
 */
import { resolve } from "node:path";
import { startError } from "../acp/death.ts";
import { plainVerdict } from "../acp/make-failure.ts";
import type { Approval, FailureSink, LogSink, WireTap } from "../acp/ports.ts";
import { createRuntime } from "../acp/runtime.ts";
import type { Runtime } from "../acp/runtime.ts";
import { backendFor } from "../backends/registry.ts";
import type { Profile } from "../errors/failure.ts";
import { checkBackendName, isBuiltIn } from "./backend-names.ts";
import { chooseBackend } from "./choose-backend.ts";
import { splitCommandLine } from "./command-line.ts";
import { backendSettings } from "./config-defaults.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import { loadConfig } from "./config.ts";
import type { LoadedConfig } from "./config.ts";
import { childEnvironment } from "./environment.ts";
import type { FlightRecorder } from "./flight-recorder.ts";
import { Leases } from "./leases.ts";
import { ostlerPaths } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { createPermissionPolicy } from "./permissions.ts";
import type { AskPerson } from "./permissions.ts";
import type { PolicyRules } from "./policy-rules.ts";
import { profileOfCommand } from "./profile.ts";
import { resolveCommand } from "./resolve.ts";
import { UsageError } from "./usage-error.ts";

/** Where the configuration and the environment come from. */
export interface HostOptions {
  /** Default: this process's. One snapshot serves the look-up of programs and the agents alike. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: this process's. Project files are looked for from here upward. */
  readonly cwd?: string;
  /** `--config`. */
  readonly configFile?: string;
  /** Gives up reading `configFile`, which may be a pipe. */
  readonly signal?: AbortSignal;
  /** Instead of reading files. */
  readonly loaded?: LoadedConfig;
  /** `serve` passes an allow-list of variables, `ask` (default) the user's own environment. */
  readonly surface?: "ask" | "serve";
  /** Told what happens in this host and in its agents. */
  readonly log?: LogSink;
  /** Keeps the last frames of every agent, for a crash report. */
  readonly recorder?: FlightRecorder;
}

/** Which agent to start, and what it may do. */
export interface OpenRuntimeOptions {
  /** A name; absent = the configuration's default, else the first one installed. */
  readonly backend?: string;
  /** Instead of a name: the command line of any ACP agent. */
  readonly agent?: string;
  /** Whose wire habits `agent` has. Default: by the name of its program, else `generic`. */
  readonly profile?: Profile;
  /** Default: the host's. */
  readonly cwd?: string;
  /** Default: the configuration's. */
  readonly approve?: Approval;
  /** Rules of a policy file, in place of `approve`. */
  readonly rules?: PolicyRules;
  /** Folders besides `cwd` in which reading is approved. */
  readonly additionalDirectories?: readonly string[];
  /** Asks a person about what is not approved by itself. */
  readonly ask?: AskPerson;
  /** A person is watching: with no agent installed the demo answers instead of an error. Default false. */
  readonly isTty?: boolean;
  readonly sink?: FailureSink;
  /** Hears the wire, see `openTrace`. */
  readonly tap?: WireTap;
  readonly signal?: AbortSignal;
}

/** A running agent, what was decided for it, and what the person should know about it, where there is something. */
export interface OpenedRuntime {
  readonly runtime: Runtime;
  readonly backend: string;
  readonly settings: BackendSettings;
  readonly notice?: string;
}

/** Owns every agent it started, and ends those that an Ostler which was killed left behind. */
export interface Host extends AsyncDisposable {
  readonly config: Config;
  /** What was ignored or changed while the configuration was read. */
  readonly warnings: readonly string[];
  readonly paths: Paths;
  /**
   * Starts an agent. Throws UsageError for an unknown backend or an unreadable command line, else an error with
   * `failure`: kind `agent_spawn` for a program that is not installed, and whatever `createRuntime` throws.
   */
  openRuntime(options?: OpenRuntimeOptions): Promise<OpenedRuntime>;
  /** Stops every agent, the last one first. Idempotent. */
  close(): Promise<void>;
}

interface HostFacts {
  readonly loaded: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly surface: "ask" | "serve";
  readonly log: LogSink | undefined;
  readonly recorder: FlightRecorder | undefined;
}

/** What an agent is, before anything is looked up or started. */
interface Selection {
  readonly backend: string;
  readonly settings: BackendSettings;
  readonly notice?: string;
}

/** The name of an agent that was given as a command line. */
const AD_HOC = "agent";

/** Reads the configuration and makes a host. Throws UsageError, see `loadConfig`. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const { env = process.env, cwd = process.cwd(), configFile, signal, surface = "ask", log, recorder } = options;
  const loaded =
    options.loaded ?? (await loadConfig({ cwd, env, signal, ...(configFile !== undefined && { configFile }) }));
  for (const warning of loaded.warnings) log?.("warn", "config.warning", { warning });
  return new ComposedHost({ loaded, env, cwd, surface, log, recorder });
}

class ComposedHost implements Host {
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly paths: Paths;
  readonly #env: NodeJS.ProcessEnv;
  readonly #cwd: string;
  readonly #surface: "ask" | "serve";
  readonly #log: LogSink | undefined;
  readonly #recorder: FlightRecorder | undefined;
  readonly #leases: Leases;
  readonly #runtimes = new AsyncDisposableStack();
  #closing: Promise<void> | undefined;

  constructor(facts: HostFacts) {
    this.config = facts.loaded.config;
    this.warnings = facts.loaded.warnings;
    this.paths = ostlerPaths(facts.env);
    this.#env = facts.env;
    this.#cwd = facts.cwd;
    this.#surface = facts.surface;
    this.#log = facts.log;
    this.#recorder = facts.recorder;
    this.#leases = new Leases(this.paths);
    const reaped = this.#leases.reap();
    this.#runtimes.defer(() => reaped);
  }

  async openRuntime(options: OpenRuntimeOptions = {}): Promise<OpenedRuntime> {
    const selection = this.#select(options);
    const { settings } = selection;
    const cwd = resolve(this.#cwd, options.cwd ?? ".");
    const resolution = this.#find(selection.backend, settings.command);
    if ("missing" in resolution) {
      const { sentence, searched } = resolution.missing;
      throw notInstalled(sentence, `Searched:\n${searched.join("\n")}`);
    }
    const backend = backendFor(selection.backend, settings);
    // Under rules the agent has to ask about everything, for only they know what is harmless.
    const approve = options.rules === undefined ? (options.approve ?? this.config.approve) : "reads";
    const { timeouts, limits } = this.config;
    const runtime = await createRuntime({
      backend,
      command: resolution.found,
      cwd,
      env: childEnvironment({ env: this.#env, surface: this.#surface, profile: backend.profile, settings }),
      approval: approve,
      gate: options.rules?.gate ?? this.config.gate,
      permissions: createPermissionPolicy({ ...options, approve, workspace: cwd }),
      timeouts: {
        handshakeMs: timeouts.handshakeS * 1000,
        sessionMs: timeouts.sessionS * 1000,
        permissionMs: timeouts.permissionS * 1000,
      },
      lineBytes: limits.lineBytes,
      ledger: this.#leases,
      ...(options.sink !== undefined && { sink: options.sink }),
      ...(options.tap !== undefined && { tap: options.tap }),
      ...(options.signal !== undefined && { signal: options.signal }),
      ...(this.#log !== undefined && { log: this.#log }),
      ...(this.#recorder !== undefined && { onFrame: this.#recorder.listen(backend.id) }),
    });
    if (this.#runtimes.disposed) {
      await runtime.stop();
      throw new UsageError("The host was closed while the agent started");
    }
    this.#runtimes.use(runtime);
    const unwritten = this.#leases.takeProblem();
    if (unwritten !== undefined) this.#log?.("warn", "leases.unwritable", { problem: unwritten });
    const notices = [selection.notice, unwritten].filter((sentence) => sentence !== undefined);
    return { runtime, ...selection, ...(notices.length > 0 && { notice: notices.join(". ") }) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#runtimes.disposeAsync();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #select({ backend, agent, profile, isTty = false }: OpenRuntimeOptions): Selection {
    if (agent !== undefined) {
      if (backend !== undefined) throw new UsageError("Either a backend or the command line of an agent, not both");
      return { backend: AD_HOC, settings: this.#settings(AD_HOC, splitCommandLine(agent), profile) };
    }
    if (backend !== undefined) {
      checkBackendName(this.config, backend);
      return { backend, settings: this.#settings(backend, undefined, profile) };
    }
    const isInstalled = (name: string) => "found" in this.#find(name, backendSettings(this.config, name).command);
    const choice = chooseBackend({ config: this.config, isTty, isInstalled });
    if ("none" in choice) throw notInstalled(choice.none);
    return { ...choice, settings: this.#settings(choice.backend, undefined, profile) };
  }

  #settings(name: string, command: readonly string[] | undefined, profile: Profile | undefined): BackendSettings {
    const settings = backendSettings(this.config, command === undefined ? name : "");
    const started = command ?? settings.command;
    const habits = profile ?? settings.profile ?? (isBuiltIn(name) ? undefined : profileOfCommand(started ?? []));
    return {
      ...settings,
      ...(started !== undefined && { command: started }),
      ...(habits !== undefined && { profile: habits }),
    };
  }

  #find(backend: string, command: readonly string[] | undefined) {
    const where = { cwd: this.#cwd, env: this.#env, paths: this.paths };
    return resolveCommand({ backend, ...(command !== undefined && { command }), ...where });
  }
}

/** The failure of a program that is not there: the same kind, and so the same exit code, as one that will not start. */
function notInstalled(title: string, details?: string): Error {
  const verdict = plainVerdict("agent_spawn", "not-installed");
  return startError({ verdict, source: "spawn", title, ...(details !== undefined && { details }) }, undefined);
}
