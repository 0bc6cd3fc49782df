/** How a person at the terminal is read: one question at a time, and nothing that was typed before it was on the screen. */
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Puts questions in a row: what is typed answers the question on the screen and no other. */
export class PersonQueue {
  #before: Promise<unknown> = Promise.resolve();

  /** Asks when everything before it is answered. */
  next<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#before.then(ask);
    // What the answer led to is shown before the next question.
    this.#before = answer.catch(() => {}).then(() => new Promise(setImmediate));
    return answer;
  }
}

/** Lines as they are typed; undefined when the input has ended or the signal has fired. */
export interface TypedLines extends AsyncDisposable {
  next(): Promise<string | undefined>;
}

/** Begins to read lines. Not in terminal mode: Ctrl-C stays a signal for the whole run. */
export async function readTypedLines(input: Readable, signal: AbortSignal): Promise<TypedLines> {
  await discardTyped(input);
  const lines = createInterface({ input, terminal: false });
  const close = (): void => lines.close();
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await iterator.next();
      return done === true ? undefined : value;
    },
    [Symbol.asyncDispose]: async () => {
      signal.removeEventListener("abort", close);
      close();
      await iterator.return?.();
    },
  };
}

const drop = (): void => {};

/** What was typed ahead at a terminal answers nothing: nobody had read the question. */
export async function discardTyped(input: Readable): Promise<void> {
  if (!("isTTY" in input) || input.isTTY !== true) return;
  input.on("data", drop).resume();
  // Once round the loop: what the terminal holds is read by then.
  await new Promise(setImmediate);
  input.off("data", drop).pause();
}
