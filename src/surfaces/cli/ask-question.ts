/**
 * A question of the agent at the terminal: its fields one by one, each answer checked before the next, and the whole
 * form once more before it is sent. Enter skips; who answers nothing has declined. Ctrl-C stops the turn, which cancels.
 */
import { problemOf } from "../../acp/question-answer.ts";
import type { AskQuestion, QuestionAnswer, QuestionField, QuestionValue } from "../../acp/questions.ts";
import { cleanBlock, cleanLine } from "../../errors/redact.ts";
import type { Io } from "./io.ts";
import { readTypedLines } from "./person-input.ts";
import type { PersonQueue, TypedLines } from "./person-input.ts";
import { readTyped, renderAnswer, renderField } from "./question-words.ts";
import type { Question, Terminal } from "./terminal.ts";

const MAX_MESSAGE_CHARS = 4000;
const NOBODY: QuestionAnswer = { action: "cancel", reason: "Nobody answered" };

/** What the person has said so far, by the key that it goes back under. */
type Content = Map<string, QuestionValue>;

export interface AskQuestionOptions {
  /** Shared by everything that reads this terminal. */
  readonly queue: PersonQueue;
  /** Who asks: the name of the agent. */
  readonly agent: () => string;
}

/** Asks until the form is answered, declined or closed. */
export function createAskQuestion(
  { stdin }: Pick<Io, "stdin">,
  terminal: Terminal,
  { queue, agent }: AskQuestionOptions,
): AskQuestion {
  return (request, signal) =>
    queue.next(async () => {
      const input = stdin.open();
      if (signal.aborted || input.readableEnded) return NOBODY;
      const message = cleanBlock(request.message, MAX_MESSAGE_CHARS);
      using question = terminal.ask(`${cleanLine(agent(), 100) || "The agent"} asks: ${message}`);
      await using lines = await readTypedLines(input, signal);
      const answer = await new Form(request.fields, lines, question).answer();
      if (signal.aborted) question.add("The question is closed.");
      return answer;
    });
}

class Form {
  readonly #fields: readonly QuestionField[];
  readonly #lines: TypedLines;
  readonly #question: Question;
  readonly #content: Content = new Map();

  constructor(fields: readonly QuestionField[], lines: TypedLines, question: Question) {
    this.#fields = fields;
    this.#lines = lines;
    this.#question = question;
  }

  async answer(): Promise<QuestionAnswer> {
    if (this.#fields.length === 0) return this.#consent();
    for (const [index, field] of this.#fields.entries()) {
      if (this.#fields.length > 1) this.#question.add(`Question ${index + 1} of ${this.#fields.length}`);
      const stop = await this.#ask(field);
      if (stop !== undefined) return stop;
    }
    return this.#fields.length === 1 ? this.#done() : this.#review();
  }

  /** A form without fields: accepting it is the answer. */
  async #consent(): Promise<QuestionAnswer> {
    this.#question.add("Answer with yes or no; Enter means no.");
    for (;;) {
      const typed = (await this.#lines.next())?.trim().toLowerCase();
      if (typed === undefined) return NOBODY;
      if (typed === "yes" || typed === "y") return { action: "accept", content: {} };
      if (typed === "" || typed === "no" || typed === "n") return { action: "decline" };
      this.#question.add("Type yes or no.");
    }
  }

  /** Until the field has an answer or is skipped; what it resolves with ends the form. */
  async #ask(field: QuestionField): Promise<QuestionAnswer | undefined> {
    const { id, customId, defaultValue, required } = field;
    this.#content.delete(id);
    if (customId !== undefined) this.#content.delete(customId);
    this.#question.add(renderField(field));
    let emptyLines = 0;
    for (;;) {
      const line = await this.#lines.next();
      if (line === undefined) return NOBODY;
      const typed = readTyped(field, line);
      switch (typed.kind) {
        case "value":
          this.#content.set(id, typed.value);
          return undefined;
        case "custom":
          if (customId !== undefined) this.#content.set(customId, typed.text);
          return undefined;
        case "other":
          return this.#askOther(field, typed.picked);
        case "problem":
          this.#question.add(`${typed.problem}.`);
          break;
        case "empty":
          if (defaultValue !== undefined) this.#content.set(id, defaultValue);
          if (defaultValue !== undefined || !required) return undefined;
          emptyLines += 1;
          if (emptyLines > 1) return { action: "decline" };
          this.#question.add("An answer is required; Enter once more declines to answer.");
      }
    }
  }

  async #askOther(field: QuestionField, picked: readonly string[]): Promise<QuestionAnswer | undefined> {
    this.#question.add("Type your answer; Enter goes back to the choices.");
    const line = await this.#lines.next();
    if (line === undefined) return NOBODY;
    if (line.trim() === "") return this.#ask(field);
    const problem = picked.length === 0 ? undefined : problemOf(field, picked);
    if (problem !== undefined) {
      this.#question.add(`${problem}.`);
      return this.#ask(field);
    }
    if (picked.length > 0) this.#content.set(field.id, picked);
    if (field.customId !== undefined) this.#content.set(field.customId, line.trim());
    return undefined;
  }

  /** The answers as they would be sent; each can be changed. */
  async #review(): Promise<QuestionAnswer> {
    while (this.#content.size > 0) {
      const answers = this.#fields.map(
        (field, index) => `  ${index + 1}) ${cleanLine(field.label, 200)}: ${this.#said(field)}`,
      );
      this.#question.add(
        ["Your answers:", ...answers, "Enter sends them; a number changes one; - declines to answer."].join("\n"),
      );
      const typed = (await this.#lines.next())?.trim();
      if (typed === undefined) return NOBODY;
      if (typed === "") return this.#done();
      if (typed === "-") return { action: "decline" };
      const field = /^\d+$/.test(typed) ? this.#fields[Number(typed) - 1] : undefined;
      const stop = field === undefined ? undefined : await this.#ask(field);
      if (stop !== undefined) return stop;
    }
    return { action: "decline" };
  }

  #said(field: QuestionField): string {
    const custom = field.customId === undefined ? undefined : this.#content.get(field.customId);
    return renderAnswer(field, this.#content.get(field.id), typeof custom === "string" ? custom : undefined);
  }

  #done(): QuestionAnswer {
    if (this.#content.size === 0) return { action: "decline" };
    return { action: "accept", content: Object.fromEntries(this.#content) };
  }
}
