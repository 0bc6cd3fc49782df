/** A goal of a session that another Ostler runs: asked over its socket. */
import type { TurnOutcome } from "../../acp/types.ts";
import { goalOfOwner } from "../../host/owner-work.ts";
import type { OwnerGoalRequest } from "../../host/owner-work.ts";
import { retrySentence } from "../../host/permission-hold-words.ts";
import { goalSentence } from "../shared/goal-sentence.ts";
import type { Run } from "./ask-turn.ts";
import { answered } from "./session-owner.ts";
import { goalOutcome, shownGoal } from "./goal-outcome.ts";

/** The goal shows what was asked for long before the agent has reached it. */
const ANSWER_MS = 60_000;

export async function goalOfOtherOstler(
  run: Run,
  request: OwnerGoalRequest,
  {
    wait,
    name,
    owner,
  }: {
    readonly wait: boolean;
    readonly name: string;
    readonly owner: { path: string; id: string; backend: string };
  },
): Promise<TurnOutcome> {
  const { interrupt, presenter } = run;
  const startedAt = performance.now();
  run.backend = owner.backend;
  if (wait) presenter.notice("Another Ostler runs this session and goes on with the goal: --wait does nothing here");
  const { goal, held } = await answered(
    goalOfOwner(owner.path, owner.id, request, { timeoutMs: ANSWER_MS, signal: interrupt.signal }),
  );
  if (held !== undefined && request.action === "resume") presenter.notice(retrySentence(held));
  if (goal !== undefined && run.request.format !== "text") void presenter.event({ type: "goal", goal });
  const text = request.action === "show" ? shownGoal(goal, held, name) : goalSentence(goal);
  return goalOutcome({ text, durationMs: performance.now() - startedAt });
}
