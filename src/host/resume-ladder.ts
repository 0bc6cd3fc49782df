/**
 * Back to a session of an earlier process: `session/load`, then `session/resume`, then a new session and a sentence that
 * says so (case C21; kiro wire notes, section 6). The decision is pure; {@link climb} carries it out.
 */
import { delay } from "../acp/abort.ts";
import type { Failure, FailureKind } from "../errors/failure.ts";

/** How a session may be reopened, in the words of ACP. */
export type ReopenWay = "load" | "resume";

/** One attempt that did not get the session back. */
export interface Refusal {
  readonly via: ReopenWay;
  readonly failure: Failure;
  /** Whether the process that is said to hold the session lives; undefined = none is named. */
  readonly ownerAlive?: boolean | undefined;
}

/** What to do next. */
export type LadderStep =
  | { readonly do: "reopen"; readonly via: ReopenWay; readonly afterMs: number; readonly respawn: boolean }
  /** The last rung; `why` completes "Context was lost: ". */
  | { readonly do: "open_new"; readonly why: string; readonly respawn: boolean }
  /** The session stays what it was, and the turn fails with this. */
  | { readonly do: "give_up"; readonly failure: Failure };

/** What the agent said it can do. */
export interface ReopenCapabilities {
  readonly load: boolean;
  readonly resume: boolean;
}

/** Waits before the second, third and fourth try of one way, in milliseconds (bridge semantics, section 3). */
export const REOPEN_WAITS_MS: readonly number[] = [1000, 2000, 4000];

type Reaction = "other_way" | "owner" | "wait_then_new" | "wait_then_give_up" | "respawn" | "give_up";

/** What a refusal of each kind asks for. A kind that says nothing about the session leaves it alone. */
const REACTIONS: Readonly<Record<FailureKind, Reaction>> = {
  session_not_found: "other_way",
  // A method that is advertised and then not known, or parameters that only this method does not take.
  request_rejected: "other_way",
  malformed_request: "other_way",
  busy: "owner",
  // A bare "Internal error" is what some agents say of a session that another process holds (case C21).
  unknown: "wait_then_new",
  overloaded: "wait_then_give_up",
  service_error: "wait_then_give_up",
  network: "wait_then_give_up",
  rate_limit: "wait_then_give_up",
  model_capacity: "wait_then_give_up",
  credentials_settling: "wait_then_give_up",
  // kiro 2.4 exits 0 instead of saying that it does not know the id.
  agent_died: "respawn",
  agent_spawn: "respawn",
  auth: "give_up",
  usage_limit: "give_up",
  context_overflow: "give_up",
  budget: "give_up",
  output_limit: "give_up",
  model_unavailable: "give_up",
  policy_denied: "give_up",
  protocol: "give_up",
  timeout: "give_up",
  gate: "give_up",
  configuration: "give_up",
  compaction: "give_up",
};

/** The next rung, from what the agent can do and what was refused so far. Pure. */
export function decideStep(
  can: ReopenCapabilities,
  refusals: readonly Refusal[],
  waitsMs: readonly number[] = REOPEN_WAITS_MS,
): LadderStep {
  const last = refusals.at(-1);
  if (last === undefined) {
    if (can.load || can.resume) return reopen(can.load ? "load" : "resume");
    return { do: "open_new", why: "the agent cannot reopen a session", respawn: false };
  }
  const { via, failure } = last;
  const tries = refusals.filter((refusal) => refusal.via === via).length;
  const openNew: LadderStep = { do: "open_new", why: failure.title, respawn: false };
  const giveUp: LadderStep = { do: "give_up", failure };
  const afterMs = waitsMs[tries - 1];
  switch (REACTIONS[failure.kind]) {
    case "other_way": {
      const other = via === "load" ? "resume" : "load";
      return can[other] && refusals.every((refusal) => refusal.via !== other) ? reopen(other) : openNew;
    }
    case "owner":
      if (last.ownerAlive === true) return giveUp;
      return afterMs === undefined ? openNew : reopen(via, { afterMs });
    case "wait_then_new":
      return afterMs === undefined ? openNew : reopen(via, { afterMs });
    case "wait_then_give_up":
      return afterMs === undefined ? giveUp : reopen(via, { afterMs });
    case "respawn":
      return tries === 1 ? reopen(via, { respawn: true }) : { ...openNew, respawn: true };
    case "give_up":
      return giveUp;
  }
}

/** What the ladder needs done. */
export interface Rungs<S> {
  readonly can: () => ReopenCapabilities;
  /** Throws what kept it; {@link Rungs.readRefusal} says what that means. */
  readonly reopen: (via: ReopenWay) => Promise<S>;
  /** Gets the sentence that says so to the person. */
  readonly open: (contextLost: string) => Promise<S>;
  /** A fresh process, because the one before is gone. */
  readonly respawn: () => Promise<void>;
  /** undefined = nothing of the ladder's: it is thrown on. */
  readonly readRefusal: (error: unknown, via: ReopenWay) => Refusal | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default {@link REOPEN_WAITS_MS}. */
  readonly waitsMs?: readonly number[] | undefined;
}

/** Where the ladder ended: in the session that was asked for, or in a new one, with the sentence for the person. */
export interface Climbed<S> {
  readonly session: S;
  readonly contextLost?: string;
}

/** Walks the ladder. Throws the error of the last refusal when the session must be left alone, and the signal's reason. */
export async function climb<S>(rungs: Rungs<S>): Promise<Climbed<S>> {
  const refusals: Refusal[] = [];
  let lastError: unknown;
  for (;;) {
    const step = decideStep(rungs.can(), refusals, rungs.waitsMs);
    if (step.do === "give_up") throw lastError;
    if (step.respawn) await rungs.respawn();
    if (step.do === "open_new") {
      const contextLost = lostSentence(step.why);
      return { session: await rungs.open(contextLost), contextLost };
    }
    if (step.afterMs > 0) await delay(step.afterMs, rungs.signal);
    rungs.signal?.throwIfAborted();
    try {
      return { session: await rungs.reopen(step.via) };
    } catch (error) {
      const refusal = rungs.readRefusal(error, step.via);
      rungs.signal?.throwIfAborted();
      if (refusal === undefined) throw error;
      refusals.push(refusal);
      lastError = error;
    }
  }
}

function lostSentence(why: string): string {
  return `Context was lost, this is a new session: the earlier one could not be reopened (${why})`;
}

function reopen(via: ReopenWay, { afterMs = 0, respawn = false } = {}): LadderStep {
  return { do: "reopen", via, afterMs, respawn };
}
