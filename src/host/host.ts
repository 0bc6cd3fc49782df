/**
 * The composition root: configuration and options in, running agents and conversations out. What happens to them after
 * that is the supervisor's and the runtime's.
 */
import { resolve } from "node:path";
import type { Approval, LogSink, PermissionPolicy } from "../acp/ports.ts";
import type { OpenSessionOptions } from "../acp/open-session.ts";
import type { StartDelay } from "../acp/restart-budget.ts";
import type { Runtime } from "../acp/runtime.ts";
import { createSupervisor } from "../acp/supervisor.ts";
import type { RuntimeLease, Supervisor } from "../acp/supervisor.ts";
import { backendFor } from "../backends/registry.ts";
import { findProgram, selectAgent } from "./agent-selection.ts";
import type { AgentPlace, AgentWish, SelectedAgent } from "./agent-selection.ts";
import type { BackendSettings, Config } from "./config-defaults.ts";
import { loadConfig } from "./config.ts";
import type { LoadedConfig } from "./config.ts";
import type { ConfinedAgentOptions, ConfinedTools } from "./confined-agent.ts";
import type { Confinement } from "./confinement.ts";
import { ConversationRun } from "./conversation-run.ts";
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
import { delaySentence, startAgent } from "./start-agent.ts";
import type { HostSpec } from "./start-agent.ts";
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

/** Reads the configuration and makes a host. Throws UsageError, see `loadConfig`. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const { env = process.env, cwd = process.cwd(), configFile, signal, surface = "ask" } = options;
  const { log, recorder, countsCrashes = true } = options;
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
    const { onNotice, onRuntime, onSession, onBound, notes, retries = this.config.retry.retries } = options;
    options.onSelected?.(backend);
    if (notice !== undefined) onNotice?.(notice);
    const onDelay = (delay: StartDelay): void => onNotice?.(delaySentence(backend, delay));
    const confinement = await this.#confine(options);
    const isObserved = options.run !== undefined || confinement !== undefined;
    const run = isObserved ? this.#runOf(selected, options, confinement) : undefined;
    const sink = run === undefined ? options.sink : run.sink(options.sink);
    if (options.run?.kept !== undefined) await run?.keep();
    let opened: Conversation | undefined;
    const tools =
      confinement?.trusted && run !== undefined
        ? await this.#toolsOf(selected, options, { run, confinement, conversation: () => opened })
        : undefined;
    const permissions = tools?.allowing(this.#permissions(options)) ?? this.#permissions(options);
    const conversation = await Conversation.open({
      acquire: async (signal) => {
        const how = { onDelay, run, confinement, permissions };
        const lease = await this.#acquire(selected, { ...options, sink, signal }, how);
        onRuntime?.(lease.runtime);
        return lease;
      },
      run,
      tools,
      session: { ...this.#sessionOptions(settings, { ...options, sink }), permissions },
      notes,
      sessionId: options.sessionId,
      retries,
      onBound,
      onSession,
    });
    opened = conversation;
    this.#unwritten().forEach((problem) => onNotice?.(problem));
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
    how: {
      readonly onDelay?: (delay: StartDelay) => void;
      readonly dedicated?: true;
      readonly run?: ConversationRun | undefined;
      readonly confinement?: Confinement | undefined;
      readonly permissions?: PermissionPolicy;
    },
  ): Promise<RuntimeLease> {
    const { command, at } = findProgram(selected, this.#place);
    const { settings } = selected;
    const habits = backendFor(selected.backend, settings);
    const backend = options.takesLogins === true ? withTerminalLogin(habits) : habits;
    const cwd = this.#workspace(options);
    const gate = options.rules?.gate ?? this.config.gate;
    const spec: HostSpec = {
      backend,
      binding: {
        command: how.confinement?.trusted ? how.confinement.confine(command) : command,
        cwd,
        env: this.#environment(selected),
        // The mode that asks about everything; the policy says yes where everything is approved.
        approval: gate === "required" ? "reads" : this.#approval(options),
        gate,
        takesQuestions: options.askQuestion !== undefined,
      },
      program: identifyProgram(at, command, cwd),
      adHoc: selected.isAdHoc,
      permissions: how.permissions ?? this.#permissions(options),
      questions: options.askQuestion,
      sink: options.sink,
      tap: options.tap,
      run: how.run,
    };
    // A tap and a run hear the whole process, so what they hear must be of one need alone.
    const dedicated = how.dedicated === true || options.tap !== undefined || how.run !== undefined;
    return this.supervisor.acquire(spec, { signal: options.signal, onDelay: how.onDelay, dedicated });
  }

  #start(spec: HostSpec, signal: AbortSignal): Promise<Runtime> {
    const { log, recorder } = this.#facts;
    return startAgent(spec, { config: this.config, ledger: this.#leases, log, recorder, signal });
  }

  /** Kept from the start, or as soon as something of the conversation fails. */
  #runOf(
    { backend }: SelectedAgent,
    options: OpenConversationOptions,
    confinement: Confinement | undefined,
  ): ConversationRun {
    const { paths, config } = this;
    const { log } = this.#facts;
    return new ConversationRun(async () => {
      const { openAgentRun } = await import("./agent-run.ts");
      const facts = { backend, cwd: this.#workspace(options), confinement, onNotice: options.onNotice };
      return openAgentRun({ paths, config, log, ...facts, ...options.run });
    }, log);
  }

  /** Undefined when nobody asked for it; what cannot be confined runs all the same, untrusted, and that is said. */
  async #confine(options: OpenConversationOptions): Promise<Confinement | undefined> {
    if (options.confined !== true && !this.config.confined) return undefined;
    const { proveOrSay } = await import("./confined-agent.ts");
    return proveOrSay(
      { paths: this.paths, workspace: this.#workspace(options), env: this.#facts.env },
      options.onNotice,
    );
  }

  async #toolsOf(
    selected: SelectedAgent,
    options: OpenConversationOptions,
    of: Pick<ConfinedAgentOptions, "run" | "confinement" | "conversation">,
  ): Promise<ConfinedTools> {
    const { openAgentTools } = await import("./confined-agent.ts");
    const facts = { cwd: this.#workspace(options), env: this.#environment(selected), paths: this.paths };
    const own = { mcpServers: options.mcpServers ?? [], permissions: this.#permissions(options) };
    return openAgentTools({ ...of, ...facts, ...own });
  }

  #environment({ backend, settings }: SelectedAgent): Readonly<Record<string, string>> {
    const { env, surface } = this.#facts;
    return childEnvironment({ env, surface, profile: backendFor(backend, settings).profile, settings });
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
