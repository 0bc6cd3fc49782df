/** What a surface shows about a turn that did not simply answer: facts, no markup. Every surface renders the same card. */
import type { FailureAction } from "../../errors/failure.ts";

export interface Card {
  /** The outcome it explains; with `category` it drives icon and accessible label, nothing else. */
  readonly tone: "failure" | "refusal" | "note";
  readonly category: string;
  /** The sentence that says it all when there is room for one. */
  readonly lead: string;
  /** One line per non-empty fact, in order. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** What to do, as sentences. */
  readonly advice: readonly string[];
  /** Buttons a surface may offer; it shows those that it can do. */
  readonly actions: readonly FailureAction[];
}

/** The card as plain lines: lead, facts, advice. A fact of several lines keeps them, indented. */
export function renderCard(card: Card): string[] {
  const facts = card.fields.map(({ name, value }) => `  ${name}: ${value.replaceAll("\n", "\n    ")}`);
  return [card.lead, ...facts, ...card.advice.map((sentence) => `  ${sentence}`)];
}
