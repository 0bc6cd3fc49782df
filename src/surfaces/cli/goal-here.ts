/** A goal of a session that this command opens itself: what happens until the agent has answered, or with `--wait` until it rests. */
import type { SessionEvent } from "../../acp/events.ts";
import type { RuntimeEnd } from "../../acp/runtime-link.ts";
import type { Session } from "../../acp/session-link.ts";
import type { TurnOutcome, TurnTimeouts } from "../../acp/types.ts";
import type { Failure } from "../../errors/failure.ts";
import { sentenceFor } from "../../errors/wording.ts";
import type { OwnerGoalRequest } from "../../host/owner-work.ts";
import { goalSentence } from "../shared/goal-sentence.ts";
import { openRun } from "./ask-turn.ts";
import type { Run } from "./ask-turn.ts";
import { failedWith, goalOutcome, joinedOutcome, shownGoal, stuckOutcome, uncancelled } from "./goal-outcome.ts";
import type { Presenter } from "./presenter.ts";

/** Some agents tell of the goal right after they opened the session (recording codex-acp 2.6.0 resume-after-failure). */
const FIRST_SNAPSHOT_MS = 2000;
const OWN_WORK = "The agent works for its goal, without a prompt";

export async function goalHere(
  run: Run,
  request: OwnerGoalRequest,
  { wait, name }: { readonly wait: boolean; readonly name: string },
): Promise<TurnOutcome> {
  const { interrupt, presenter } = run;
  const { signal } = interrupt;
  const startedAt = performance.now();
  const { opened, timeouts } = await openRun(run);
  const { session, hold } = opened;
  for (const note of session.notes) presenter.notice(note);
  void presenter.event({ type: "session", sessionId: session.id, backend: run.backend });
  const done = (): Pick<TurnOutcome, "sessionId" | "durationMs"> => ({
    sessionId: session.id,
    durationMs: Math.round(performance.now() - startedAt),
  });
  if (request.action === "show") {
    await untilKnown(session, AbortSignal.any([signal, AbortSignal.timeout(FIRST_SNAPSHOT_MS)]));
    if (session.goal !== undefined && run.request.format !== "text")
      void presenter.event({ type: "goal", goal: session.goal });
    await hold?.settled();
    const held = hold?.current;
    return goalOutcome({ ...done(), text: shownGoal(session.goal, held, name) });
  }
  // What becomes of a goal that is only paused or cleared is the answer, and not said twice.
  const isAnswer = run.request.format === "text" && (request.action === "pause" || request.action === "clear");
  using shown = new ShownWork(session, presenter, { hidesGoal: isAnswer });
  let late: string | undefined;
  try {
    await (hold ?? session).setGoal(request, { signal, timeouts });
    if (wait) late = await shown.untilAtRest(run, timeouts, startedAt);
    if (signal.aborted || late !== undefined) await session.stopWork();
  } finally {
    // Told in every case: whoever stopped this must know that the agent still has its goal.
    if (session.goal?.status === "active") presenter.notice(stillActive(session, name));
  }
  // Nobody here cancelled what the hold stopped: it is how the one turn ended.
  const isStoppedByHold = hold?.current !== undefined && !signal.aborted;
  const works = isStoppedByHold ? shown.outcomes.map(uncancelled) : shown.outcomes;
  for (const earlier of works.slice(0, -1))
    if (earlier.kind === "failed") presenter.notice(sentenceFor(earlier.failure));
  const said = works.length === 0 ? { text: goalSentence(session.goal) } : {};
  const outcome = await withoutTasks(run, session, joinedOutcome(works, { ...done(), ...said }));
  if (late !== undefined) return failedWith(outcome, "timeout", "goal-wait", late);
  // No work was under way that could have failed with it.
  const { died } = shown;
  if (died !== undefined && outcome.kind === "completed" && session.goal?.status === "active")
    return failedWith(outcome, died.kind, died.rule, died.title);
  return request.action === "set" || request.action === "resume" ? stuckOutcome(outcome, session.goal) : outcome;
}

/** What the work left in the background ends with this command. */
async function withoutTasks(run: Run, session: Session, outcome: TurnOutcome): Promise<TurnOutcome> {
  if (session.tasks.length === 0) return outcome;
  const { endTasks } = await import("./ask-tasks.ts");
  return endTasks(run, session, { id: session.id, outcome });
}

function stillActive(session: Session, name: string): string {
  return `${goalSentence(session.goal)}. It goes on only while the session is open: ostler ask -s ${name} "…", or --wait`;
}

/** Resolves when the agent has told of the goal, or with the signal. */
async function untilKnown(session: Session, signal: AbortSignal): Promise<void> {
  if (session.goal === undefined) await untilTold(session, signal, ({ event }) => event.type === "goal");
}

function untilTold(session: Session, signal: AbortSignal, fits: (event: SessionEvent) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      unsubscribe();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const unsubscribe = session.subscribe((event) => fits(event) && end());
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

/** Shows what the session tells, marked as work outside a prompt, and remembers how each piece of it ended. */
class ShownWork implements Disposable {
  readonly outcomes: TurnOutcome[] = [];
  /** The agent went away before the goal was at rest. */
  died: Failure | undefined;
  readonly #session: Session;
  readonly #presenter: Presenter;
  readonly #hidesGoal: boolean;
  readonly #unsubscribe: () => void;
  #isWorking = false;

  constructor(session: Session, presenter: Presenter, { hidesGoal }: { readonly hidesGoal: boolean }) {
    this.#hidesGoal = hidesGoal;
    this.#session = session;
    this.#presenter = presenter;
    this.#unsubscribe = session.subscribe((event) => this.#show(event));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  /**
   * Until the goal is no longer active and its last work is over, the agent is gone or the person stops it. A sentence when
   * that took too long.
   */
  async untilAtRest(run: Run, { wallMs, idleMs }: TurnTimeouts, startedAt: number): Promise<string | undefined> {
    const gone = new AbortController();
    void run.agent?.gone.then((end) => this.#agentEnded(end, gone));
    const ended = AbortSignal.any([run.interrupt.signal, gone.signal]);
    const wall = AbortSignal.timeout(Math.max(0, Math.round(startedAt + wallMs - performance.now())));
    while ((this.#session.goal?.status === "active" || this.#isWorking) && !ended.aborted) {
      if (wall.aborted) return `The goal is still active after ${wallMs / 1000} s`;
      // Work has clocks of its own: they know what runs.
      const silence = this.#isWorking ? [] : [AbortSignal.timeout(idleMs)];
      await untilTold(this.#session, AbortSignal.any([ended, wall, ...silence]), () => true);
      if (silence.some(({ aborted }) => aborted))
        return `The goal is active, and the agent has been silent for ${idleMs / 1000} s`;
    }
    return undefined;
  }

  #agentEnded({ failure, expected }: RuntimeEnd, gone: AbortController): void {
    if (!expected) this.died = failure;
    gone.abort();
  }

  #show({ turnId, event }: SessionEvent): void {
    if (event.type === "user" || (event.type === "goal" && this.#hidesGoal)) return;
    if (event.type !== "turn") {
      void this.#presenter.event({ ...event, ...(turnId === null && { outsidePrompt: true }) });
      return;
    }
    this.#isWorking = event.state === "started";
    if (event.state === "ended") this.outcomes.push(event.outcome);
    else void this.#presenter.event({ type: "notice", from: "ostler", text: OWN_WORK, outsidePrompt: true });
  }
}
