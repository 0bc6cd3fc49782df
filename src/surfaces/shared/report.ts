/** How an outcome is told to a person, on any surface: nothing for a plain answer, else one card. Pure. */
import type { TurnOutcome } from "../../acp/types.ts";
import { cleanBlock } from "../../errors/redact.ts";
import type { Card } from "./card.ts";
import { type CardWords, failureCard } from "./failure-card.ts";
import { refusalCard } from "./refusal-card.ts";

export interface ReportContext extends CardWords {
  /** The end of the answer as the person has it before them. */
  readonly shown?: string;
}

/** The card of an outcome; undefined for a completed turn. */
export function reportOf(outcome: TurnOutcome, context: ReportContext = {}): Card | undefined {
  switch (outcome.kind) {
    case "completed":
      return undefined;
    case "refused":
      return refusalCard(outcome.refusal, context.shown);
    case "failed":
      return withLastWords(failureCard(outcome.failure, context), outcome.stderr);
    case "truncated":
      return outcome.failure === null
        ? note(
            `The answer was cut off (${outcome.stopReason ?? "no reason given"}).`,
            "Ask for the rest, or for a shorter answer.",
          )
        : { ...failureCard(outcome.failure, context), tone: "note" };
    case "empty":
      return outcome.failure === null
        ? withLastWords(note("The agent ended its turn without an answer."), outcome.stderr)
        : withLastWords({ ...failureCard(outcome.failure, context), tone: "note" }, outcome.stderr);
    case "cancelled":
      return note(outcome.by === "caller" ? "Cancelled." : "The agent cancelled the turn by itself.");
  }
}

/** What stands under text that is not the whole answer; undefined when nothing was cut. */
export function partialNote(outcome: TurnOutcome): string | undefined {
  // What stands before a refusal is the model's "no", not half an answer.
  return outcome.partial && outcome.kind !== "refused" ? "The answer above is partial." : undefined;
}

/** The end of stderr says why; a screen full of it hides the sentence above. */
const MAX_STDERR_CHARS = 1000;

function withLastWords(card: Card, stderr = ""): Card {
  const value = cleanBlock(stderr, MAX_STDERR_CHARS);
  const isKnown = [card.lead, ...card.fields.map((field) => field.value)].some((text) => text.includes(value));
  return isKnown ? card : { ...card, fields: [...card.fields, { name: "Its last words on stderr", value }] };
}

function note(lead: string, advice?: string): Card {
  return {
    tone: "note",
    category: "unknown",
    lead,
    fields: [],
    advice: advice === undefined ? [] : [advice],
    actions: [],
  };
}
