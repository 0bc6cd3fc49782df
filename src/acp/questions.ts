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

/** What one field is answered with: text or the value of a choice, a number, yes or no, the values of several choices. */
export type QuestionValue = string | number | boolean | readonly string[];

/** Rules that a text may have to keep. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

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
  /** What to offer; it keeps the rules of the field. */
  readonly defaultValue?: QuestionValue;
  /** Bounds, both allowed themselves: of the length of a text, of a number, of how many choices. */
  readonly min?: number;
  readonly max?: number;
  /** Of `text`: a regular expression that it must hold. */
  readonly pattern?: string;
  /** Of `text`. */
  readonly format?: TextFormat;
}

export interface QuestionRequest {
  readonly sessionId: string;
  readonly toolCallId?: string;
  readonly message: string;
  /** May be empty: then accepting is the whole answer. */
  readonly fields: readonly QuestionField[];
}

/** `decline`: the person does not want to answer; `cancel`: nobody decided, and `reason` may say why. */
export type QuestionAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, QuestionValue>> }
  | { readonly action: "decline"; readonly reason?: string }
  | { readonly action: "cancel"; readonly reason?: string };

/**
 * Asks a person. The signal fires when the question is withdrawn, expires, or the turn is cancelled. An answer that does
 * not keep the rules of its fields is not sent: `questionProblems` says what they are.
 */
export type AskQuestion = (request: QuestionRequest, signal: AbortSignal) => Promise<QuestionAnswer>;
