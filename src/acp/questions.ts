/**
 * Questions of the agent to a person: an ACP form elicitation (protocol section "Elicitation") as fields that can be asked
 * one by one. Types only.
 */

/** One choice of a question. */
export interface QuestionChoice {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

/** One field of the form. */
export interface QuestionField {
  /** The key of the answer. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  /** Of `choice` and `choices`. */
  readonly choices: readonly QuestionChoice[];
  readonly required: boolean;
  /** The key under which a free answer to this question goes back (AIR `customAnswer`); absent = only the choices. */
  readonly customId?: string;
}

export interface QuestionRequest {
  readonly sessionId: string;
  readonly toolCallId?: string;
  readonly message: string;
  readonly fields: readonly QuestionField[];
}

/** `decline`: the person does not want to answer; `cancel`: nobody decided. */
export type QuestionAnswer =
  | {
      readonly action: "accept";
      readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>>;
    }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** Asks a person. The signal fires when the question is withdrawn, expires, or the turn is cancelled. */
export type AskQuestion = (request: QuestionRequest, signal: AbortSignal) => Promise<QuestionAnswer>;
