/**
 * What a scripted model service answers to one request of a turn, in words that both APIs know. A script is a list of
 * steps: request n gets step n, and the last step answers everything after it.
 */

/** An answer that the Responses API and the Messages API can both give. */
export type CommonStep =
  /** A whole answer. Empty text = a well-formed answer without any content. */
  | { readonly answer: "text"; readonly text: string; readonly pieces: number; readonly inputTokens?: number }
  /** A whole answer, of which `rest` is sent only when the test releases it. */
  | { readonly answer: "heldText"; readonly first: string; readonly rest: string }
  /** The model asks the harness to run one of its tools. */
  | { readonly answer: "toolCall"; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  /** An HTTP error instead of a stream. A string body is sent as it is, anything else as JSON. */
  | {
      readonly answer: "httpError";
      readonly status: number;
      readonly body: unknown;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** The stream begins, says `text`, and the socket is destroyed when the test releases it. */
  | { readonly answer: "cut"; readonly text: string }
  /** The stream begins, says `text`, and then nothing more comes. `null` = not even the response headers. */
  | { readonly answer: "hang"; readonly text: string | null };

/** A whole answer in `pieces` deltas (default 3). */
export function text(text: string, pieces = 3): CommonStep {
  return { answer: "text", text, pieces };
}

/** A whole answer to a request that is said to be so long: enough of it makes a harness compact by itself. */
export function longContext(text: string, inputTokens: number): CommonStep {
  return { answer: "text", text, pieces: 1, inputTokens };
}

/** A well-formed answer that says nothing. */
export function emptyAnswer(): CommonStep {
  return text("");
}

/** Says `first`, waits for `release()` of the service, and only then says `rest` and ends. */
export function heldText(first: string, rest: string): CommonStep {
  return { answer: "heldText", first, rest };
}

/** A call of one of the harness's tools, by the harness's own name and schema. */
export function toolCall(name: string, input: Readonly<Record<string, unknown>>): CommonStep {
  return { answer: "toolCall", name, input };
}

/** An HTTP error; see `openAiError` and `anthropicError` for the bodies the two services send. */
export function httpError(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): CommonStep {
  return { answer: "httpError", status, body, headers };
}

/** Says `text`, waits for `release()` of the service, then loses the connection. */
export function cut(text: string): CommonStep {
  return { answer: "cut", text };
}

/** Says `text`, then falls silent with the connection open; without a text not even the response headers come. */
export function hang(text: string | null = null): CommonStep {
  return { answer: "hang", text };
}

/** `text` in at most `pieces` parts of equal length; no part for an empty text. */
export function splitText(text: string, pieces: number): string[] {
  const length = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}
