/** How an outcome is told to a person, on any surface: nothing for a plain answer, else one card. Pure. */
import type { TurnOutcome } from "../../acp/types.ts";
import type { Card } from "./card.ts";
import { type CardWords, failureCard } from "./failure-card.ts";
import { refusalCard } from "./refusal-card.ts";

export interface ReportContext extends CardWords {
  /** The end of the answer as shown so far. */
  readonly shown?: string;
  /** The last words of the agent on stderr, scrubbed: all there is to go by when it said nothing else. */
  readonly stderrTail?: string;
}

/** The card of an outcome; undefined for a completed turn. */
export function reportOf(outcome: TurnOutcome, context: ReportContext = {}): Card | undefined {
  switch (outcome.kind) {
    case "completed":
      return undefined;
    case "refused":
      return refusalCard(outcome.refusal, context.shown);
    case "failed":
      return failureCard(outcome.failure, context);
    case "truncated":
      return outcome.failure === null
        ? note(`The answer was cut off (${outcome.stopReason ?? "no reason given"}).`, [
            "Ask for the rest, or for a shorter answer.",
          ])
        : { ...failureCard(outcome.failure, context), tone: "note" };
    case "empty":
      return outcome.failure === null
        ? emptyCard(context.stderrTail)
        : { ...failureCard(outcome.failure, context), tone: "note" };
    case "cancelled":
      return note(outcome.by === "caller" ? "Cancelled." : "The agent cancelled the turn by itself.", []);
  }
}

/** What stands under text that is not the whole answer; undefined when nothing was cut. */
export function partialNote(outcome: TurnOutcome): string | undefined {
  return outcome.partial ? "The answer above is partial." : undefined;
}

const STDERR_LINES = 8;

function emptyCard(stderrTail = ""): Card {
  const lines = stderrTail.trim().split("\n").slice(-STDERR_LINES).join("\n");
  return {
    ...note("The agent ended its turn without an answer.", []),
    fields: lines === "" ? [] : [{ name: "Its last words on stderr", value: lines }],
  };
}

function note(lead: string, advice: readonly string[]): Card {
  return { tone: "note", category: "unknown", lead, fields: [], advice, actions: [] };
}
