/**
 * Whether an agent that keeps dying is started once more: intensity and period as in OTP, a growing jittered delay as in
 * systemd. Pure: time and chance are arguments. It never starts anything, and knows no timer: somebody has to ask.
 */
import type { Failure, FailureKind, FailureSource } from "../errors/failure.ts";

/** One end of an agent that nobody wanted. */
export interface Crash {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How long the agent had been ready, in milliseconds; 0 when it never was. */
  readonly livedMs: number;
  /** What was started, see `RuntimeSpec.program`. */
  readonly program: string;
  /** The title of the failure, scrubbed. */
  readonly title: string;
  /** The end of stderr, scrubbed; empty when it said nothing. */
  readonly stderr: string;
}

/** So many crashes within the period leave a backend down. */
export interface Intensity {
  /** Default of the configuration: 5. */
  readonly burst: number;
  /** Default of the configuration: 60,000. */
  readonly periodMs: number;
  /** The first delay; it doubles with every further crash of the period. Default 250. */
  readonly baseDelayMs?: number | undefined;
  /** Default 15,000. */
  readonly maxDelayMs?: number | undefined;
}

/** A backend that is left down, and the crash that was one too many. */
export interface Park {
  readonly since: number;
  readonly last: Crash;
}

/** What to do when somebody needs an agent. `wait` = start it after `delayMs`, because of `last`. */
export type StartDecision =
  | { readonly action: "start" }
  | { readonly action: "wait"; readonly delayMs: number; readonly last: Crash }
  | ({ readonly action: "park" } & Park);

const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;

/**
 * `park` for good once `burst` crashes fell into one period, until the history is cleared. Before that a start may have to
 * wait: the delay has full jitter (`random` is from 0 to 1) and counts from the last crash, so that whoever asks late
 * does not wait.
 */
export function decideStart(
  history: readonly Crash[],
  facts: { readonly now: number; readonly random: number; readonly intensity: Intensity },
): StartDecision {
  const { now, random, intensity } = facts;
  const { baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS } = intensity;
  const { park, recent } = countCrashes(history, intensity);
  if (park !== undefined) return { action: "park", ...park };
  const last = recent.at(-1);
  if (last === undefined) return { action: "start" };
  // A clock that was set back must not make anybody wait for the future.
  const agoMs = Math.abs(now - last.at);
  const fullMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (recent.length - 1));
  const delayMs = Math.round(random * fullMs - agoMs);
  return delayMs <= 0 || agoMs >= intensity.periodMs ? { action: "start" } : { action: "wait", delayMs, last };
}

/** Since when and by which crash a backend is left down; undefined when it is not. */
export function readPark(history: readonly Crash[], intensity: Intensity): Park | undefined {
  return countCrashes(history, intensity).park;
}

/**
 * The crashes of the last period, and the park they led to. An agent that had lived longer than the period was stable:
 * its end counts anew, so that the death of many stable ones at once (a machine out of memory) is no loop.
 */
function countCrashes(history: readonly Crash[], { burst, periodMs }: Intensity): { recent: Crash[]; park?: Park } {
  let recent: Crash[] = [];
  for (const crash of history.toSorted((a, b) => a.at - b.at)) {
    const stable = crash.livedMs > periodMs;
    recent = [...(stable ? [] : recent.filter(({ at }) => crash.at - at < periodMs)), crash];
    if (recent.length >= burst) return { recent, park: { since: crash.at, last: crash } };
  }
  return { recent };
}

/**
 * Which evidence makes a failure of each kind a crash. Everything else is a fact that a restart re-reads as it was (a
 * login, a model, a limit, a setting), or the word of an agent that lives, and spends no budget (bridge semantics,
 * section 1; case C05).
 */
const CRASH_SOURCES: Readonly<Record<FailureKind, readonly FailureSource[]>> = {
  // The process ended. A record or an error that tells of the harness's own child comes from an agent that lives.
  agent_died: ["exit"],
  // It ended, or refused, before the handshake was done; or the system had no room for it.
  agent_spawn: ["exit", "rpc_error", "spawn"],
  // Garbage, an endless line, an echo, no handshake in time.
  protocol: ["exit", "framing", "timeout"],
  // The account: somebody has to sign in, pay, or wait.
  auth: [],
  credentials_settling: [],
  usage_limit: [],
  rate_limit: [],
  // The conversation: another process meets the same history.
  context_overflow: [],
  budget: [],
  output_limit: [],
  malformed_request: [],
  request_rejected: [],
  policy_denied: [],
  compaction: [],
  session_not_found: [],
  busy: [],
  // The service: the agent lived to tell.
  model_unavailable: [],
  model_capacity: [],
  overloaded: [],
  service_error: [],
  network: [],
  // One request took too long; the agent lives.
  timeout: [],
  // Settings: a person has to change them.
  gate: [],
  configuration: [],
  // Nobody knows, so nobody is to blame.
  unknown: [],
};

/** System codes of a failed spawn that another try may mend; the others mean a missing or forbidden program. */
const PASSING_SPAWN_CODES: readonly string[] = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"];
/** What is installed will be the same at the next start: a program or library that is missing, another ACP version. */
const INSTALLATION_RULES: ReadonlySet<string> = new Set([
  "not-installed",
  "stderr-would-not-start",
  "protocol-version",
]);

/** Whether a failed start, or the unexpected end of an agent, spends restart budget. */
export function isCrash({ kind, source, rule }: Pick<Failure, "kind" | "source" | "rule">): boolean {
  if (!CRASH_SOURCES[kind].includes(source) || INSTALLATION_RULES.has(rule)) return false;
  return source !== "spawn" || PASSING_SPAWN_CODES.some((code) => rule === `spawn-${code}`);
}
