/** The refusal card: the model said no. Shown after an answered and after a wordless turn alike; trying again is never offered. */
import type { RefusalInfo } from "../../errors/failure.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { Card } from "./card.ts";

/** Lengths that readers of refusals agreed on (kirocrew semantics, section 14); scrubbed before they are cut. */
const MAX_CATEGORY_CHARS = 64;
const MAX_EXPLANATION_CHARS = 600;
const MAX_MODEL_CHARS = 128;

/**
 * @param shown the end of the answer that the person has already read: an explanation in it is not repeated.
 */
export function refusalCard(refusal: RefusalInfo, shown = ""): Card {
  const category = cleanLine(refusal.category, MAX_CATEGORY_CHARS).toLowerCase();
  const explanation = cleanLine(refusal.explanation, MAX_EXPLANATION_CHARS);
  const model = cleanLine(refusal.recommendedModel, MAX_MODEL_CHARS);
  return {
    tone: "refusal",
    category: "request",
    lead: "The model refused this request.",
    fields: [
      { name: "Filter", value: category },
      { name: "Explanation", value: isShown(explanation, shown) ? "" : explanation },
      { name: "Suggested model", value: model },
    ].filter(({ value }) => value !== ""),
    advice: [
      model === "" ? "Say it differently, or start over in a new conversation." : `Try it with the model ${model}.`,
    ],
    actions: [],
  };
}

function isShown(explanation: string, shown: string): boolean {
  return squeezeBlanks(shown).includes(squeezeBlanks(explanation));
}

/** The same sentence may be wrapped or joined differently. */
function squeezeBlanks(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
