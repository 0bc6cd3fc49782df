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

/** A terminal that can hand out single keys (raw mode). */
export type Keyboard = Readable & { setRawMode(isRaw: boolean): unknown };

export function isKeyboard(input: Readable): input is Keyboard {
  return "isTTY" in input && input.isTTY === true && "setRawMode" in input && typeof input.setRawMode === "function";
}

/** Lines as they are typed; undefined when the input has ended or the signal has fired. */
export interface TypedLines extends AsyncDisposable {
  next(): Promise<string | undefined>;
}

/** Begins to read lines. Not in terminal mode: Ctrl-C stays a signal for the whole run. */
export async function readTypedLines(input: Readable, signal: AbortSignal): Promise<TypedLines> {
  // A line that is only begun is handed out by no other mode.
  if (isKeyboard(input)) input.setRawMode(true);
  await discardTyped(input);
  if (isKeyboard(input)) input.setRawMode(false);
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

/** What was typed ahead at a terminal answers nothing: nobody had read the question. */
export async function discardTyped(input: Readable): Promise<void> {
  if (!("isTTY" in input) || input.isTTY !== true) return;
  let heard = true;
  const drop = (): void => {
    heard = true;
  };
  input.on("data", drop).resume();
  while (heard) {
    heard = false;
    // The loop reads the terminal between one immediate and the next; before the first it may not have looked yet.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  input.off("data", drop).pause();
}
