/** One runtime of a supervisor, from the first need to its end: counts who uses it, and is forgotten at once when it dies. */
import { AcpError } from "../errors/acp-error.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { toError } from "../errors/typed.ts";
import { abortable } from "./abort.ts";
import type { RestartBudget, StartDelay } from "./restart-budget.ts";
import type { RuntimeSpec } from "./runtime-binding.ts";
import type { Runtime } from "./runtime.ts";
import type { AcquireOptions, RuntimeLease } from "./supervisor.ts";

export interface SupervisedRuntimeOptions {
  readonly start: (spec: RuntimeSpec, signal: AbortSignal) => Promise<Runtime>;
  readonly budget: RestartBudget;
  readonly keepAliveMs: number | undefined;
  /** Serves the one need it was started for. */
  readonly dedicated: boolean;
  readonly now: () => number;
  /** Called once, before anything is awaited, with the promise that nothing of it is left. */
  readonly onEnd: (ended: Promise<void>) => void;
}

/** A runtime that is being started, runs, or is ending. */
export class SupervisedRuntime {
  readonly spec: RuntimeSpec;
  readonly #options: SupervisedRuntimeOptions;
  readonly #starting = new AbortController();
  readonly #started: Promise<Runtime>;
  #runtime: Runtime | undefined;
  #leases = 0;
  #delay: { readonly until: number; readonly title: string } | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ended: Promise<void> | undefined;

  constructor(spec: RuntimeSpec, options: SupervisedRuntimeOptions) {
    this.spec = spec;
    this.#options = options;
    this.#started = this.#start();
    // Whoever leases it hears of a failed start.
    this.#started.catch(() => {});
  }

  /** Whether one more session may be served. */
  get hasRoom(): boolean {
    const alive = this.#ended === undefined && this.#runtime?.state !== "dead";
    return alive && !this.#options.dedicated && this.#leases < this.spec.backend.sessionsPerRuntime;
  }

  /** Throws what the start threw, or the reason of the signal. */
  async lease({ signal, onDelay }: AcquireOptions): Promise<RuntimeLease> {
    this.#leases += 1;
    clearTimeout(this.#idle);
    if (this.#delay !== undefined) {
      onDelay?.({ delayMs: Math.max(0, this.#delay.until - this.#options.now()), title: this.#delay.title });
    }
    try {
      const runtime = await abortable(this.#started, signal);
      if (runtime.state === "dead") throw toError((await runtime.gone).failure);
      let released: Promise<void> | undefined;
      const release = (): Promise<void> => (released ??= this.#release(undefined));
      return { runtime, release, [Symbol.asyncDispose]: release };
    } catch (error) {
      await this.#release(error);
      throw error;
    }
  }

  /** Stops it, or gives up its start with this reason. Idempotent. */
  end(reason?: unknown): Promise<void> {
    if (this.#ended === undefined) {
      clearTimeout(this.#idle);
      this.#ended = this.#stop(reason);
      this.#options.onEnd(this.#ended);
    }
    return this.#ended;
  }

  async #start(): Promise<Runtime> {
    const { start, budget, now } = this.#options;
    const { signal } = this.#starting;
    const onDelay = ({ delayMs, title }: StartDelay): void => {
      this.#delay = { until: now() + delayMs, title };
    };
    await budget.admit(this.spec, { signal, onDelay });
    this.#delay = undefined;
    try {
      this.#runtime = await start(this.spec, signal);
    } catch (error) {
      const failure = error instanceof AcpError || error instanceof AcpRuntimeError ? error.failure : undefined;
      if (failure !== undefined) budget.record(this.spec, failure, 0);
      throw error;
    }
    const readyAt = now();
    void this.#runtime.gone.then((end) => {
      if (!end.expected) budget.record(this.spec, end.failure, now() - readyAt);
      return this.end();
    });
    return this.#runtime;
  }

  async #release(reason: unknown): Promise<void> {
    this.#leases -= 1;
    if (this.#leases > 0) return;
    const { keepAliveMs, dedicated } = this.#options;
    if (keepAliveMs === undefined || dedicated || this.#runtime?.state !== "ready") await this.end(reason);
    else this.#idle = setTimeout(() => void this.end(), keepAliveMs).unref();
  }

  async #stop(reason: unknown): Promise<void> {
    this.#starting.abort(reason);
    const runtime = await this.#started.catch(() => undefined);
    await runtime?.stop();
  }
}
