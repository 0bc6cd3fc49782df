/** `_session/goal`: asks for a change of the goal, and follows the work that comes of it (seed document 002, Goal). */
import { GOAL_METHOD, goalParams, isReached } from "./air/goal.ts";
import type { GoalRequest } from "./air/goal.ts";
import { DEFAULT_TURN_TIMEOUTS } from "./clocks.ts";
import { RpcError } from "./connection.ts";
import type { Goal } from "./events.ts";
import { requireSession } from "./require-session.ts";
import type { AcpSession } from "./session.ts";
import { toStartError } from "./start-error.ts";
import type { TurnOutcome, TurnTimeouts } from "./types.ts";

export interface GoalOptions {
  /** Aborting it stops the work that the request started, softly; the goal stays. */
  readonly signal?: AbortSignal | undefined;
  /** Of that work, and of what the agent does for the goal by itself afterwards. Default: the runtime's. */
  readonly timeouts?: Partial<TurnTimeouts> | undefined;
  /**
   * `answered`: the agent has answered, which codex does when the turn that the goal started is over. `reached`: the goal
   * shows what was asked for. Default `answered`, and `reached` while a turn runs.
   */
  readonly until?: "answered" | "reached" | undefined;
}

/** The newest snapshot (null = no goal, undefined = the agent has not said), and how the work ended, if there was any. */
export interface GoalAnswer {
  readonly goal: Goal | null | undefined;
  readonly work?: TurnOutcome;
}

/**
 * Throws an `AcpError` of kind `request_rejected` for what the agent does not take, the typed error of its refusal or
 * death where no work tells of it, and the signal's reason before there was any work.
 */
export async function setGoal(
  session: AcpSession,
  request: GoalRequest,
  { signal, timeouts, until }: GoalOptions = {},
): Promise<GoalAnswer> {
  const { link, work } = session;
  const { label } = link.backend;
  const params = goalParams(session.id, request, { label, goalActions: link.capabilities.air.goalActions });
  requireSession(session);
  signal?.throwIfAborted();
  const isInTurn = session.isTaken;
  const begins = (request.action === "set" || request.action === "resume") && !isInTurn;
  const settled = work.expect(begins, timeouts);
  const run = begins ? work.run : undefined;
  const asked = Promise.withResolvers<void>();
  const onAbort = (): void => (run === undefined ? asked.reject(signal?.reason) : run.stop.request());
  signal?.addEventListener("abort", onAbort, { once: true });
  const unsubscribe = session.subscribe(({ event }) => {
    if ((until ?? (isInTurn ? "reached" : "answered")) === "answered") return;
    if (event.type === "goal" && isReached(request, event.goal)) asked.resolve();
  });
  const { firstByteMs } = { ...DEFAULT_TURN_TIMEOUTS, ...link.turnTimeouts, ...timeouts };
  // What starts work is bounded by the clocks of the work, and in a turn the answer may come with its end.
  const deadline = begins || isInTurn ? {} : { deadlineMs: firstByteMs };
  link.connection.send(GOAL_METHOD, params, deadline, (answer) => {
    if ("error" in answer) {
      if (run?.isTold === true && answer.error instanceof RpcError)
        run.fail({ type: "rpc_error", error: answer.error });
      asked.reject(toStartError(answer.error, link, GOAL_METHOD));
    } else asked.resolve();
    settled();
  });
  try {
    // Work that was stopped is over, whether or not the agent still answers.
    await Promise.race([asked.promise, ...(run === undefined ? [] : [run.outcome])]);
  } catch (error) {
    if (run?.isTold !== true) throw error;
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", onAbort);
  }
  const outcome = run?.isOver === true ? await run.outcome : undefined;
  if (outcome === undefined) signal?.throwIfAborted();
  return { goal: session.goal, ...(outcome !== undefined && { work: outcome }) };
}
