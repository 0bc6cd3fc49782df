/**
 * Keyed runtimes: whoever needs an agent gets a running one that fits, or a new one if the restart budget allows it. It
 * starts nothing that nobody asked for, and one backend never waits for another.
 */
import { AcpWorkspaceBindingError } from "../errors/runtime-error.ts";
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { RestartBudget } from "./restart-budget.ts";
import type { Parked, RestartBudgetOptions, StartDelay } from "./restart-budget.ts";
import { checkBinding } from "./runtime-binding.ts";
import type { RuntimeSpec } from "./runtime-binding.ts";
import type { Runtime } from "./runtime.ts";
import { SupervisedRuntime } from "./supervised-runtime.ts";

export interface SupervisorOptions extends RestartBudgetOptions {
  /** Starts one agent and shakes hands; throws what `createRuntime` throws. */
  readonly start: (spec: RuntimeSpec, signal: AbortSignal) => Promise<Runtime>;
  /** How long an agent that nobody uses is kept for the next need. Default: it is stopped at once. */
  readonly keepAliveMs?: number | undefined;
}

export interface AcquireOptions {
  /** Gives up; the agent is started on only if somebody else waits for it. */
  readonly signal?: AbortSignal | undefined;
  /** Told when the start has to wait because the agent crashed lately. */
  readonly onDelay?: ((delay: StartDelay) => void) | undefined;
  /** An agent of its own, that no other need is given. Default false. */
  readonly dedicated?: boolean | undefined;
}

/** A running agent, for one session. */
export interface RuntimeLease extends AsyncDisposable {
  readonly runtime: Runtime;
  /** The last release stops the agent, unless it is kept alive. Idempotent; never throws. */
  release(): Promise<void>;
}

export interface Supervisor extends AsyncDisposable {
  /**
   * A running agent that fits and has room, else a new one. Throws what `start` throws, the reason of the signal, or an
   * `AcpRuntimeError` of kind `agent_spawn`: rule `parked` when the backend is left down, `supervisor-stopped` after
   * {@link stop}.
   */
  acquire(spec: RuntimeSpec, options?: AcquireOptions): Promise<RuntimeLease>;
  /** Forgets the crashes of a backend, so that it is started again; true when it was left down. */
  resume(backend: string): boolean;
  /** What is left down, as far as this supervisor was asked for it. */
  parked(): readonly Parked[];
  /** Stops every agent, the last one first, and waits for starts that are under way. Idempotent. */
  stop(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new RuntimeSupervisor(options);
}

class RuntimeSupervisor implements Supervisor {
  readonly #options: SupervisorOptions;
  readonly #budget: RestartBudget;
  /** In the order of their starts. */
  readonly #runtimes = new Set<SupervisedRuntime>();
  readonly #ending = new Set<Promise<void>>();
  #stopping: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#budget = new RestartBudget(options);
  }

  async acquire(spec: RuntimeSpec, options: AcquireOptions = {}): Promise<RuntimeLease> {
    options.signal?.throwIfAborted();
    if (this.#stopping !== undefined) throw stopped();
    const shared = options.dedicated === true ? undefined : this.#find(spec);
    return (shared ?? this.#begin(spec, options.dedicated)).lease(options);
  }

  resume(backend: string): boolean {
    return this.#budget.resume(backend);
  }

  parked(): readonly Parked[] {
    return this.#budget.parked();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stopAll(): Promise<void> {
    for (const running of [...this.#runtimes].toReversed()) void running.end(stopped());
    await Promise.all(this.#ending);
  }

  #find(spec: RuntimeSpec): SupervisedRuntime | undefined {
    return [...this.#runtimes].find((running) => running.hasRoom && fits(running.spec, spec));
  }

  #begin(spec: RuntimeSpec, dedicated = false): SupervisedRuntime {
    const { start, keepAliveMs, now = Date.now } = this.#options;
    const running: SupervisedRuntime = new SupervisedRuntime(spec, {
      start,
      keepAliveMs,
      dedicated,
      now,
      budget: this.#budget,
      onEnd: (ended) => {
        this.#runtimes.delete(running);
        this.#ending.add(ended);
        void ended.then(() => this.#ending.delete(ended));
      },
    });
    this.#runtimes.add(running);
    return running;
  }
}

function fits(have: RuntimeSpec, need: RuntimeSpec): boolean {
  try {
    checkBinding(have, need);
    return true;
  } catch (error) {
    if (error instanceof AcpWorkspaceBindingError) return false;
    throw error;
  }
}

function stopped(): Error {
  const title = "Ostler is stopping and starts no agent any more";
  return startError({ verdict: plainVerdict("agent_spawn", "supervisor-stopped"), source: "spawn", title }, undefined);
}
