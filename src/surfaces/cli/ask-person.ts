/** A permission question on the terminal: the offered answers in their order, one of them or no. */
import { createInterface } from "node:readline";
import type { PermissionRequest } from "../../acp/types.ts";
import type { AskPerson } from "../../host/permissions.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { Io } from "./io.ts";
import type { Terminal } from "./terminal.ts";

const MAX_LINE_CHARS = 500;

/**
 * Asks until a listed answer is given. Resolves with its option id, null for no (an empty line), or undefined when nobody
 * answered: the input ended, or a signal says that the question is over. `onNo` is called when the person chose a no.
 * One question at a time: a line that is typed answers the question on the screen and no other.
 */
export function createAskPerson({ stdin }: Pick<Io, "stdin">, terminal: Terminal, onNo: () => void): AskPerson {
  const ask: AskPerson = async (request, signal) => {
    const input = stdin.open();
    // An input that has ended would be waited for until the question expires.
    if (signal.aborted || input.readableEnded) return undefined;
    using question = terminal.ask(renderQuestion(request));
    // Not in terminal mode: Ctrl-C stays a signal for the whole run.
    const lines = createInterface({ input, terminal: false });
    const close = () => lines.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      for await (const line of lines) {
        const answer = readAnswer(line, request);
        if (answer !== undefined) {
          if (isNo(answer, request)) onNo();
          return answer;
        }
        question.add(`Type a number from 1 to ${request.options.length}, or nothing for no.`);
      }
      if (signal.aborted) question.add("The question is closed; it counts as no.");
      return undefined;
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  };
  let before: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = before.then(() => ask(request, signal));
    // What the answer led to is shown before the next question.
    before = answer.catch(() => {}).then(() => new Promise(setImmediate));
    return answer;
  };
}

/** The question with its numbered answers. The words may be the model's own, so they are cleaned. */
export function renderQuestion({ title, description, paths, options }: PermissionRequest): string {
  const facts = [description ?? "", ...paths]
    .filter((fact) => fact !== "")
    .map((fact) => `  ${cleanLine(fact, MAX_LINE_CHARS)}`);
  const answers = options.map(({ name }, index) => `  ${index + 1}) ${cleanLine(name, MAX_LINE_CHARS)}`);
  return [
    `The agent asks: ${cleanLine(title, MAX_LINE_CHARS)}`,
    ...facts,
    ...answers,
    "Answer with a number; nothing means no.",
  ].join("\n");
}

/** The option id, null for no, undefined for what is no answer. */
export function readAnswer(line: string, { options }: PermissionRequest): string | null | undefined {
  const typed = line.trim();
  if (typed === "") return null;
  return /^\d+$/.test(typed) ? options[Number(typed) - 1]?.optionId : undefined;
}

function isNo(answer: string | null, { options }: PermissionRequest): boolean {
  return options.find(({ optionId }) => optionId === answer)?.kind.startsWith("reject") ?? true;
}
