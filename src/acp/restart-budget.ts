/**
 * The history of crashes per backend, and what it allows: a start at once, a start after a delay, or none until somebody
 * resumes the backend. Nothing here starts an agent, and no timer outlives the person who waits for it.
 */
import type { Failure } from "../errors/failure.ts";
import { cleanLine } from "../errors/redact.ts";
import { delay } from "./abort.ts";
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import { decideStart, isCrash, readPark } from "./restart-policy.ts";
import type { Crash, Intensity, Park } from "./restart-policy.ts";
import type { RuntimeSpec } from "./runtime-binding.ts";

/** Where crashes are written down, oldest first. Must not throw. */
export interface CrashLedger {
  read(backend: string): readonly Crash[];
  add(backend: string, crash: Crash): void;
  /** Forgets all crashes of the backend; false when there were none. */
  clear(backend: string): boolean;
}

/** A backend that is left down until somebody resumes it. */
export interface Parked extends Park {
  readonly backend: string;
}

/** Why somebody waits: the title of the last crash, and how long in milliseconds. */
export interface StartDelay {
  readonly delayMs: number;
  readonly title: string;
}

export interface RestartBudgetOptions {
  readonly intensity: Intensity;
  /** Default: the memory of this process. */
  readonly ledger?: CrashLedger | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** More crashes than any burst that the configuration allows. */
const MAX_REMEMBERED = 100;
const MAX_REASON_CHARS = 200;

/** Spent by crashes, one budget per backend and program. */
export class RestartBudget {
  readonly #options: RestartBudgetOptions;
  readonly #own = createMemoryLedger();
  /** What crashed, or was found left down, by {@link keyOf}. */
  readonly #suspects = new Map<string, RuntimeSpec>();

  constructor(options: RestartBudgetOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the agent may be started. Throws the reason of the signal, or at once an `AcpRuntimeError` of kind
   * `agent_spawn`, rule `parked`, when the backend is left down.
   */
  async admit(
    spec: RuntimeSpec,
    options: { readonly signal: AbortSignal; readonly onDelay: (delay: StartDelay) => void },
  ): Promise<void> {
    const { now = Date.now, random = Math.random, intensity } = this.#options;
    const decision = decideStart(this.#historyOf(spec), { now: now(), random: random(), intensity });
    if (decision.action === "start") return;
    if (decision.action === "park") throw this.#parkedError(spec, decision);
    const { delayMs, last } = decision;
    options.onDelay({ delayMs, title: last.title });
    await delay(delayMs, options.signal);
    options.signal.throwIfAborted();
    // Others may have crashed in the meantime.
    const park = readPark(this.#historyOf(spec), intensity);
    if (park !== undefined) throw this.#parkedError(spec, park);
  }

  /** Writes a failed start (`livedMs` 0) or an unexpected end down, if it is a crash. */
  record(spec: RuntimeSpec, failure: Failure, livedMs: number): void {
    if (!isCrash(failure)) return;
    const { now = Date.now } = this.#options;
    this.#suspects.set(keyOf(spec), spec);
    this.#ledgerOf(spec).add(spec.backend.id, {
      at: now(),
      livedMs,
      program: spec.program,
      title: failure.title,
      stderr: failure.details ?? "",
    });
  }

  /** Forgets the crashes of a backend; true when it was left down. */
  resume(backend: string): boolean {
    const wasParked = this.parked().some((parked) => parked.backend === backend);
    this.#own.clear(backend);
    this.#options.ledger?.clear(backend);
    for (const [key, spec] of this.#suspects) if (spec.backend.id === backend) this.#suspects.delete(key);
    return wasParked;
  }

  /** What is left down, as far as this process asked for it. */
  parked(): readonly Parked[] {
    return [...this.#suspects.values()].flatMap((spec) => {
      const park = readPark(this.#historyOf(spec), this.#options.intensity);
      return park === undefined ? [] : [{ backend: spec.backend.id, ...park }];
    });
  }

  #historyOf(spec: RuntimeSpec): readonly Crash[] {
    return this.#ledgerOf(spec)
      .read(spec.backend.id)
      .filter((crash) => crash.program === spec.program);
  }

  #ledgerOf({ adHoc = false }: RuntimeSpec): CrashLedger {
    return adHoc ? this.#own : (this.#options.ledger ?? this.#own);
  }

  #parkedError(spec: RuntimeSpec, { last }: Park): Error {
    this.#suspects.set(keyOf(spec), spec);
    const { backend, adHoc = false } = spec;
    const { burst, periodMs } = this.#options.intensity;
    const reason = cleanLine(last.title, MAX_REASON_CHARS);
    const hint = adHoc ? "" : `; to start it again: ostler backends resume ${backend.id}`;
    const title = `${backend.label} is parked after ${burst} crashes within ${periodMs / 1000} s (${reason})${hint}`;
    return startError(
      { verdict: plainVerdict("agent_spawn", "parked"), source: "spawn", title, details: last.stderr },
      undefined,
    );
  }
}

/** Remembers as long as the process lives. */
export function createMemoryLedger(): CrashLedger {
  const crashes = new Map<string, readonly Crash[]>();
  return {
    read: (backend) => crashes.get(backend) ?? [],
    add: (backend, crash) => {
      crashes.set(backend, [...(crashes.get(backend) ?? []), crash].slice(-MAX_REMEMBERED));
    },
    clear: (backend) => crashes.delete(backend),
  };
}

function keyOf({ backend, program }: RuntimeSpec): string {
  return JSON.stringify([backend.id, program]);
}
