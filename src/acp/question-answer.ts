/** Whether an answer keeps the rules of its question: what does not is never sent. Pure. */
import { runInNewContext } from "node:vm";
import { isObject } from "./frames.ts";
import type { LogSink } from "./ports.ts";
import type { QuestionAnswer, QuestionField, QuestionRequest, QuestionValue, TextFormat } from "./questions.ts";

/** A pasted file, not a flood. */
const MAX_TEXT_CHARS = 100_000;
/** The agent wrote the expression, and one that goes back and forth for ever must not hold up Ostler. */
const PATTERN_MS = 50;

/** One sentence per field that breaks a rule; none = the answer may be sent. */
export function questionProblems(
  { fields }: Pick<QuestionRequest, "fields">,
  content: Readonly<Record<string, QuestionValue>>,
): readonly string[] {
  const known = new Set(fields.flatMap(({ id, customId }) => (customId === undefined ? [id] : [id, customId])));
  const unknown = Object.keys(content).filter((key) => !known.has(key));
  const problems = fields.flatMap((field) => {
    const { id, customId, label } = field;
    const value = own(content, id);
    const custom = customId === undefined ? undefined : own(content, customId);
    if (value === undefined && custom === undefined) return field.required ? [`${label}: An answer is required`] : [];
    const problem = (value === undefined ? undefined : problemOf(field, value)) ?? problemOfCustom(custom);
    return problem === undefined ? [] : [`${label}: ${problem}`];
  });
  return [...problems, ...unknown.map((key) => `There is no field ${key}`)];
}

/** Why a value is no answer to a field, as a sentence; undefined = it is one. */
export function problemOf(field: QuestionField, value: QuestionValue): string | undefined {
  const { kind, choices } = field;
  switch (kind) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "It is a yes or a no";
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return "It is a number";
      if (kind === "integer" && !Number.isSafeInteger(value)) return "It is a whole number";
      return outside(field, value, (bound) => `${bound}`);
    case "choice":
      return choices.some((choice) => choice.value === value) ? undefined : "It is none of the choices";
    case "choices": {
      if (!Array.isArray(value)) return "It is a list of choices";
      if (new Set(value).size < value.length) return "A choice is made twice";
      if (value.some((entry) => choices.every((choice) => choice.value !== entry))) return "It is none of the choices";
      return outside(field, value.length, (bound) => `${bound} ${bound === 1 ? "choice" : "choices"}`);
    }
    case "text":
      return typeof value === "string" ? problemOfText(field, value) : "It is a text";
  }
}

/** The answer that goes back: what breaks a rule, or is no answer at all, is a cancel that says so. */
export function checkAnswer(request: QuestionRequest, answer: QuestionAnswer): QuestionAnswer {
  const given: unknown = answer;
  const action = isObject(given) ? given["action"] : undefined;
  if (action === "decline" || action === "cancel") return answer;
  if (!isObject(given) || action !== "accept" || !isObject(given["content"]) || answer.action !== "accept")
    return { action: "cancel", reason: "The answer was not sent: it is none" };
  const [problem] = questionProblems(request, answer.content);
  return problem === undefined ? answer : { action: "cancel", reason: `The answer was not sent. ${problem}` };
}

/** The audit record of one question; what the person wrote is not in it. */
export function logQuestion(log: LogSink | undefined, request: QuestionRequest, answer: QuestionAnswer): void {
  const { sessionId, toolCallId, message, fields } = request;
  log?.("info", "question.answered", {
    sessionId,
    toolCallId,
    title: message,
    fields: fields.length,
    answer: answer.action,
    ...(answer.action !== "accept" && answer.reason !== undefined && { reason: answer.reason }),
  });
}

function own(content: Readonly<Record<string, QuestionValue>>, key: string): QuestionValue | undefined {
  return Object.hasOwn(content, key) ? content[key] : undefined;
}

function problemOfCustom(custom: QuestionValue | undefined): string | undefined {
  if (custom === undefined) return undefined;
  if (typeof custom !== "string" || custom.trim() === "") return "An answer of one's own is a text";
  return custom.length > MAX_TEXT_CHARS ? `It is longer than ${MAX_TEXT_CHARS} characters` : undefined;
}

function problemOfText(field: QuestionField, text: string): string | undefined {
  const { format, pattern } = field;
  if (text.length > MAX_TEXT_CHARS) return `It is longer than ${MAX_TEXT_CHARS} characters`;
  // JSON Schema counts code points.
  const chars = text.replaceAll(/[\uD800-\uDBFF](?=[\uDC00-\uDFFF])/g, "").length;
  const bound = outside(field, chars, (count) => `${count} ${count === 1 ? "character" : "characters"}`);
  if (bound !== undefined) return bound;
  if (format !== undefined && !FITS[format](text)) return `It is not ${FORMAT_WORDS[format]}`;
  return pattern === undefined || holdsPattern(text, pattern) ? undefined : `It does not fit the pattern ${pattern}`;
}

function outside(
  { min, max }: Pick<QuestionField, "min" | "max">,
  value: number,
  say: (bound: number) => string,
): string | undefined {
  if (min !== undefined && value < min) return `It is less than ${say(min)}`;
  return max !== undefined && value > max ? `It is more than ${say(max)}` : undefined;
}

const FORMAT_WORDS: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "a URI with its scheme",
  date: "a date like 2026-11-30",
  "date-time": "a time like 2026-11-30T14:00:00Z",
};

const FITS: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => !/\s/.test(text) && URL.canParse(text),
  date: isDate,
  "date-time": (text) => {
    const [, date, time] = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))$/.exec(text) ?? [];
    return date !== undefined && isDate(date) && !Number.isNaN(Date.parse(`2000-01-01T${time?.toUpperCase()}`));
  },
};

/** A day that the calendar has: `Date` makes the 1st of March of the 30th of February. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** An expression that is none, or takes too long, is left to the agent. */
function holdsPattern(text: string, pattern: string): boolean {
  try {
    return runInNewContext("new RegExp(pattern, 'u').test(text)", { pattern, text }, { timeout: PATTERN_MS }) === true;
  } catch {
    return true;
  }
}
