/** The failure card: the same facts on every surface. Pure; all text of a {@link Failure} is scrubbed already. */
import type { Failure } from "../../errors/failure.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { AdviceContext } from "../../errors/wording.ts";
import { adviceFor, sentenceFor } from "../../errors/wording.ts";
import type { Card } from "./card.ts";

/** What only the surface and the backend know. */
export interface CardWords extends AdviceContext {
  /** How a new conversation is started on this surface, as a sentence. */
  readonly newConversation?: string;
}

/** Provider details can be a whole stack of text: the first lines tell, the journal keeps the rest. */
const MAX_DETAIL_LINES = 12;
const MAX_FIELD_CHARS = 600;

export function failureCard(failure: Failure, words: CardWords = {}): Card {
  const lead = sentenceFor(failure);
  const { newConversation } = words;
  return {
    tone: "failure",
    category: failure.category,
    lead,
    fields: [
      { name: "Details", value: detailLines(failure.details, lead) },
      { name: "Request", value: cleanLine(failure.requestId ?? "", MAX_FIELD_CHARS) },
    ].filter(({ value }) => value !== "" && !lead.includes(value)),
    advice: [adviceFor(failure, words), failure.needs === "new_session" ? newConversation : undefined].filter(
      (sentence): sentence is string => sentence !== undefined,
    ),
    actions: failure.actions,
  };
}

function detailLines(details: string | undefined, lead: string): string {
  return (details ?? "")
    .split("\n", MAX_DETAIL_LINES + 1)
    .map((line, index) => (index === MAX_DETAIL_LINES ? "…" : cleanLine(line, MAX_FIELD_CHARS)))
    .filter((line) => line !== "" && !lead.includes(line))
    .join("\n");
}
