/** How `ostler goal` ended, in the words of a turn. Pure. */
import { makeFailure, plainVerdict } from "../../acp/make-failure.ts";
import type { Goal } from "../../acp/events.ts";
import type { TurnOutcome } from "../../acp/types.ts";
import type { FailureKind } from "../../errors/failure.ts";
import type { GoalHold } from "../../host/permission-hold-file.ts";
import { howToGoOn } from "../../host/permission-hold-words.ts";
import { goalSentence } from "../shared/goal-sentence.ts";

type Base = Omit<Extract<TurnOutcome, { kind: "completed" }>, "kind">;

const NOTHING: Base = {
  text: "",
  partial: false,
  sessionId: null,
  stopReason: null,
  warnings: [],
  attempts: 0,
  usage: null,
  durationMs: 0,
  denied: [],
};

/** The request was carried out. */
export function goalOutcome(base: Partial<Base>): TurnOutcome {
  return { ...NOTHING, ...base, durationMs: Math.round(base.durationMs ?? 0), kind: "completed" };
}

/** What `show` answers; of a goal that is held, how to go on. `name`: of the session, as `-s` takes it. */
export function shownGoal(goal: Goal | null | undefined, held: GoalHold | undefined, name: string): string {
  return held === undefined ? goalSentence(goal) : `${goalSentence(goal, true)}\n${howToGoOn(held, name)}`;
}

/** What was done for a goal, as one outcome: the texts of all of it, and the last word on how it ended. */
export function joinedOutcome(works: readonly TurnOutcome[], base: Partial<Base>): TurnOutcome {
  const last = works.at(-1);
  if (last === undefined) return goalOutcome(base);
  return {
    ...last,
    text: works
      .map(({ text }) => text)
      .filter((text) => text !== "")
      .join("\n\n"),
    warnings: works.flatMap(({ warnings }) => warnings),
    denied: works.flatMap(({ denied }) => denied),
    durationMs: Math.round(base.durationMs ?? last.durationMs),
  };
}

/** Work that Ostler itself stopped ended as it was to end. */
export function uncancelled(outcome: TurnOutcome): TurnOutcome {
  return outcome.kind === "cancelled" && outcome.by === "caller"
    ? { ...outcome, kind: "completed", partial: false }
    : outcome;
}

/** A goal that cannot be worked on any more, although its work did not fail: blocked (exit 1) or at a limit (exit 8). */
export function stuckOutcome(outcome: TurnOutcome, goal: Goal | null | undefined): TurnOutcome {
  if (outcome.kind !== "completed" || (goal?.status !== "blocked" && goal?.status !== "limited")) return outcome;
  const [kind, rule]: readonly [FailureKind, string] =
    goal.status === "limited" ? ["budget", "goal-limited"] : ["unknown", "goal-blocked"];
  return failedWith(outcome, kind, rule, goalSentence(goal));
}

/** The outcome with what Ostler itself knows against it. */
export function failedWith(outcome: TurnOutcome, kind: FailureKind, rule: string, title: string): TurnOutcome {
  const failure = makeFailure({
    verdict: plainVerdict(kind, rule),
    source: kind === "timeout" ? "timeout" : "session_failure",
    id: "goal:error",
    revision: 1,
    replaySafety: "unknown",
    title,
  });
  const { kind: _, ...base } = { ...outcome, partial: outcome.text !== "" };
  return { ...base, kind: "failed", failure };
}
