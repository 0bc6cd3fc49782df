/**
 * The composition root: configuration and options in, running agents and conversations out. What happens to them after
 * that is the supervisor's and the runtime's.
 */
import { resolve } from "node:path";
import type { Approval, FailureSink, LogSink, PermissionPolicy, WireTap } from "../acp/ports.ts";
import type { AskQuestion } from "../acp/questions.ts";
import type { OpenSessionOptions } from "../acp/open-session.ts";
import type { StartDelay } from "../acp/restart-budget.ts";
import type { RuntimeSpec } from "../acp/runtime-binding.ts";
import { createRuntime } from "../acp/runtime.ts";
import type { Runtime } from "../acp/runtime.ts";
import { createSupervisor } from "../acp/supervisor.ts";
import type { RuntimeLease, Supervisor } from "../acp/supervisor.ts";
import { backendFor } from "../backends/registry.ts";
import { findProgram, selectAgent } from "./agent-selection.ts";
import type { AgentPlace, AgentWish, SelectedAgent } from "./agent-selection.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import { loadConfig } from "./config.ts";
import type { LoadedConfig } from "./config.ts";
import { Conversation } from "./conversation.ts";
import { CrashFiles, identifyProgram } from "./crash-ledger.ts";
import { childEnvironment } from "./environment.ts";
import { withTerminalLogin } from "./terminal-login.ts";
import type { FlightRecorder } from "./flight-recorder.ts";
import type {
  Host,
  HostOptions,
  OpenConversationOptions,
  OpenRuntimeOptions,
  OpenStoredOptions,
  OpenedConversation,
  OpenedRuntime,
} from "./host-options.ts";
import { Leases } from "./leases.ts";
import { ostlerPaths } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { createPermissionPolicy } from "./permissions.ts";
import type { StoredConversation } from "./stored-conversation.ts";

interface HostFacts {
  readonly loaded: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly surface: "ask" | "serve";
  readonly log: LogSink | undefined;
  readonly recorder: FlightRecorder | undefined;
  readonly countsCrashes: boolean;
}

export type { Host, HostOptions, OpenConversationOptions, OpenRuntimeOptions, OpenedConversation, OpenedRuntime };

/** A need for an agent, with what only its process can be given. */
interface HostSpec extends RuntimeSpec {
  readonly permissions: PermissionPolicy;
  readonly questions: AskQuestion | undefined;
  readonly sink: FailureSink | undefined;
  readonly tap: WireTap | undefined;
}

/** Reads the configuration and makes a host. Throws UsageError, see `loadConfig`. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const { env = process.env, cwd = process.cwd(), configFile, signal, surface = "ask", log, recorder } = options;
  const { countsCrashes = true } = options;
  const loaded =
    options.loaded ?? (await loadConfig({ cwd, env, signal, ...(configFile !== undefined && { configFile }) }));
  for (const warning of loaded.warnings) log?.("warn", "config.warning", { warning });
  return new ComposedHost({ loaded, env, cwd, surface, log, recorder, countsCrashes });
}

class ComposedHost implements Host {
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly paths: Paths;
  readonly supervisor: Supervisor;
  readonly #facts: HostFacts;
  readonly #place: AgentPlace;
  readonly #leases: Leases;
  readonly #crashes: CrashFiles;
  #reaped: Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(facts: HostFacts) {
    const { config, warnings } = facts.loaded;
    this.config = config;
    this.warnings = warnings;
    this.paths = ostlerPaths(facts.env);
    this.#facts = facts;
    this.#place = { config, cwd: facts.cwd, env: facts.env, paths: this.paths };
    this.#leases = new Leases(this.paths);
    this.#reaped = this.#leases.reap();
    this.#crashes = new CrashFiles(this.paths);
    this.supervisor = createSupervisor({
      intensity: { burst: config.restart.burst, periodMs: config.restart.periodS * 1000 },
      ledger: facts.countsCrashes ? this.#crashes : undefined,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this host makes all of its needs below
      start: (spec, signal) => this.#start(spec as HostSpec, signal),
    });
  }

  select(wish: AgentWish): SelectedAgent {
    return selectAgent(wish, this.#place);
  }

  async openRuntime(options: OpenRuntimeOptions = {}): Promise<OpenedRuntime> {
    const selected = this.select(options);
    const { runtime } = await this.#acquire(selected, options, { dedicated: true });
    const { notice: choice, ...opened } = selected;
    const notices = [...(choice === undefined ? [] : [choice]), ...this.#unwritten()];
    return { runtime, ...opened, ...(notices.length > 0 && { notice: notices.join(". ") }) };
  }

  async openConversation(options: OpenConversationOptions = {}): Promise<OpenedConversation> {
    const selected = this.select(options);
    const { backend, settings, notice } = selected;
    const { onNotice, onRuntime, sessionId, onBound, notes, retries = this.config.retry.retries } = options;
    options.onSelected?.(backend);
    if (notice !== undefined) onNotice?.(notice);
    const onDelay = (delay: StartDelay): void => onNotice?.(delaySentence(backend, delay));
    const conversation = await Conversation.open({
      acquire: async (signal) => {
        const lease = await this.#acquire(selected, { ...options, signal }, { onDelay });
        onRuntime?.(lease.runtime);
        return lease;
      },
      session: this.#sessionOptions(settings, options),
      notes,
      sessionId,
      retries,
      onBound,
    });
    for (const problem of this.#unwritten()) onNotice?.(problem);
    return { conversation, backend, settings };
  }

  endOrphans(): Promise<void> {
    this.#reaped = this.#reaped.then(() => this.#leases.reap());
    return this.#reaped;
  }

  async openStored(options: OpenStoredOptions): Promise<StoredConversation> {
    // The store costs more to load than the rest of a one-shot.
    const stored = await import("./stored-conversation.ts");
    return stored.StoredConversation.open(this, options, { cwd: this.#workspace(options), env: this.#facts.env });
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    await Promise.all([this.supervisor.stop(), this.#reaped]);
  }

  #acquire(
    selected: SelectedAgent,
    options: OpenRuntimeOptions,
    { onDelay, dedicated }: { readonly onDelay?: (delay: StartDelay) => void; readonly dedicated?: boolean },
  ): Promise<RuntimeLease> {
    const { env, surface } = this.#facts;
    const { command, at } = findProgram(selected, this.#place);
    const { settings } = selected;
    const habits = backendFor(selected.backend, settings);
    const backend = options.takesLogins === true ? withTerminalLogin(habits) : habits;
    const cwd = this.#workspace(options);
    const gate = options.rules?.gate ?? this.config.gate;
    const spec: HostSpec = {
      backend,
      binding: {
        command,
        cwd,
        env: childEnvironment({ env, surface, profile: backend.profile, settings }),
        // The mode that asks about everything; the policy says yes where everything is approved.
        approval: gate === "required" ? "reads" : this.#approval(options),
        gate,
        takesQuestions: options.askQuestion !== undefined,
      },
      program: identifyProgram(at, command, cwd),
      adHoc: selected.isAdHoc,
      permissions: this.#permissions(options),
      questions: options.askQuestion,
      sink: options.sink,
      tap: options.tap,
    };
    // A tap hears the whole process, so what it hears must be of one need alone.
    return this.supervisor.acquire(spec, {
      signal: options.signal,
      onDelay,
      dedicated: dedicated === true || options.tap !== undefined,
    });
  }

  async #start(
    { backend, binding, permissions, questions, sink, tap }: HostSpec,
    signal: AbortSignal,
  ): Promise<Runtime> {
    const { log, recorder } = this.#facts;
    const { timeouts, limits } = this.config;
    if (binding.gate === "required" && backend.profile === "codex") {
      const { requireAskingSettings } = await import("./codex-allowances.ts");
      requireAskingSettings(binding);
    }
    return createRuntime({
      backend,
      ...binding,
      permissions,
      signal,
      timeouts: {
        handshakeMs: timeouts.handshakeS * 1000,
        sessionMs: timeouts.sessionS * 1000,
        permissionMs: timeouts.permissionS * 1000,
        turn: {
          wallMs: timeouts.turnS * 1000,
          idleMs: timeouts.idleS * 1000,
          toolMs: timeouts.toolS * 1000,
          firstByteMs: timeouts.firstByteS * 1000,
          cancelGraceMs: timeouts.cancelGraceS * 1000,
        },
      },
      lineBytes: limits.lineBytes,
      ledger: this.#leases,
      ...(questions !== undefined && { questions }),
      ...(sink !== undefined && { sink }),
      ...(tap !== undefined && { tap }),
      ...(log !== undefined && { log }),
      ...(recorder !== undefined && { onFrame: recorder.listen(backend.id) }),
    });
  }

  #sessionOptions(settings: BackendSettings, options: OpenConversationOptions): OpenSessionOptions {
    const { model = settings.model, mode = settings.mode } = options;
    const { configOptions, mcpServers, additionalDirectories, askQuestion, sink, signal } = options;
    return {
      cwd: this.#workspace(options),
      permissions: this.#permissions(options),
      ...(askQuestion !== undefined && { questions: askQuestion }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
      ...(configOptions !== undefined && { configOptions }),
      ...(mcpServers !== undefined && { mcpServers }),
      ...(additionalDirectories !== undefined && { additionalDirectories }),
      ...(sink !== undefined && { sink }),
      ...(signal !== undefined && { signal }),
    };
  }

  #permissions({ rules, additionalDirectories, ask, ...options }: OpenRuntimeOptions): PermissionPolicy {
    return createPermissionPolicy({
      approve: this.#approval({ rules, ...options }),
      workspace: this.#workspace(options),
      ...(rules !== undefined && { rules }),
      ...(additionalDirectories !== undefined && { additionalDirectories }),
      ...(ask !== undefined && { ask }),
    });
  }

  /** Under rules the agent has to ask about everything, for only they know what is harmless. */
  #approval({ rules, approve = this.config.approve }: OpenRuntimeOptions): Approval {
    return rules === undefined ? approve : "reads";
  }

  #workspace({ cwd = "." }: OpenRuntimeOptions): string {
    return resolve(this.#facts.cwd, cwd);
  }

  /** Sentences, once each, about what cannot be written down. */
  #unwritten(): string[] {
    const problems = [this.#leases.takeProblem(), this.#crashes.takeProblem()].filter((found) => found !== undefined);
    for (const problem of problems) this.#facts.log?.("warn", "state.unwritable", { problem });
    return problems;
  }
}

function delaySentence(backend: string, { delayMs, title }: StartDelay): string {
  return `${backend} crashed a moment ago (${title}); it is started again in ${(delayMs / 1000).toFixed(1)} s`;
}
