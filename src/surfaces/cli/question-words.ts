/** A field of a question as it is shown at the terminal, and what was typed as its answer. Pure. */
import { problemOf } from "../../acp/question-answer.ts";
import type { QuestionField, QuestionValue, TextFormat } from "../../acp/questions.ts";
import { cleanLine } from "../../errors/redact.ts";

const MAX_LINE_CHARS = 500;

/** What one line means. `other` asks for words of one's own, beside the choices that were made with it. */
export type Typed =
  | { readonly kind: "value"; readonly value: QuestionValue }
  | { readonly kind: "custom"; readonly text: string }
  | { readonly kind: "other"; readonly picked: readonly string[] }
  | { readonly kind: "empty" }
  | { readonly kind: "problem"; readonly problem: string };

/** The lines of one field; the last says how to answer it. */
export function renderField(field: QuestionField): string {
  const { label, description, choices, customId } = field;
  const title = description === undefined ? label : `${label}: ${description}`;
  const listed = choices.map((choice, index) => {
    const more = choice.description === undefined ? "" : `: ${choice.description}`;
    return `  ${index + 1}) ${line(choice.label + more)}`;
  });
  const other = customId === undefined ? [] : [`  ${choices.length + 1}) Other: in your own words`];
  return [`  ${line(title)}`, ...listed, ...other, `${howTo(field)}; ${whatEnterDoes(field)}.`].join("\n");
}

/** One answer in a review. */
export function renderAnswer(
  { choices }: QuestionField,
  value: QuestionValue | undefined,
  custom: string | undefined,
): string {
  const named = (given: string): string => choices.find((choice) => choice.value === given)?.label ?? given;
  const parts = [...(value === undefined ? [] : [wordsOf(value, named)]), ...(custom === undefined ? [] : [custom])];
  return parts.length === 0 ? "(no answer)" : line(parts.join("; "));
}

/** Reads one line as the answer to a field, by its rules. */
export function readTyped(field: QuestionField, typed: string): Typed {
  const text = typed.trim();
  if (text === "") return { kind: "empty" };
  switch (field.kind) {
    case "boolean": {
      const yes = /^(?:y|yes|true)$/i.test(text);
      if (!yes && !/^(?:n|no|false)$/i.test(text)) return { kind: "problem", problem: "Type y or n" };
      return { kind: "value", value: yes };
    }
    case "number":
    case "integer":
      if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return { kind: "problem", problem: "Type a number" };
      return checked(field, Number(text));
    case "text":
      return checked(field, typed);
    case "choice":
    case "choices":
      return readChoice(field, text);
  }
}

/** Words of one's own that look like the number of a choice are taken for one: they need `Other` first. */
function readChoice(field: QuestionField, text: string): Typed {
  const { choices, customId, kind } = field;
  const last = choices.length + (customId === undefined ? 0 : 1);
  const numbers = /^\d+(?:[\s,]+\d+)*,?$/.test(text)
    ? text
        .split(/[\s,]+/)
        .filter(Boolean)
        .map(Number)
    : undefined;
  if (numbers === undefined) {
    const same = choices.filter(({ label, value }) => [label, value].some((name) => isSame(name, text)));
    const [only] = same;
    if (only !== undefined && same.length === 1) return checked(field, kind === "choice" ? only.value : [only.value]);
    if (customId !== undefined) return { kind: "custom", text };
  }
  const isOne = kind === "choices" || numbers?.length === 1;
  if (numbers === undefined || !isOne || numbers.some((number) => number < 1 || number > last))
    return { kind: "problem", problem: `Type ${kind === "choice" ? "a number" : "numbers"} from 1 to ${last}` };
  const picked = [...new Set(numbers)].flatMap((number) => choices[number - 1]?.value ?? []);
  if (numbers.includes(choices.length + 1)) return { kind: "other", picked };
  return checked(field, kind === "choice" ? (picked[0] ?? "") : picked);
}

function checked(field: QuestionField, value: QuestionValue): Typed {
  const problem = problemOf(field, value);
  return problem === undefined ? { kind: "value", value } : { kind: "problem", problem };
}

const FORMAT_HINTS: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "a URI",
  date: "a date like 2026-11-30",
  "date-time": "a time like 2026-11-30T14:00:00Z",
};

function howTo({ kind, format, customId }: QuestionField): string {
  const own = customId === undefined ? "" : " or in your own words";
  switch (kind) {
    case "choice":
      return `Answer with a number${own}`;
    case "choices":
      return `Answer with numbers (1,3)${own}`;
    case "boolean":
      return "Answer with y or n";
    case "number":
      return "Type a number";
    case "integer":
      return "Type a whole number";
    case "text":
      return `Type ${format === undefined ? "your answer" : FORMAT_HINTS[format]}`;
  }
}

function whatEnterDoes(field: QuestionField): string {
  const { defaultValue, required } = field;
  if (defaultValue !== undefined) return `Enter takes ${renderAnswer(field, defaultValue, undefined)}`;
  return required ? "an answer is required" : "Enter skips it";
}

function wordsOf(value: QuestionValue, named: (given: string) => string): string {
  switch (typeof value) {
    case "boolean":
      return value ? "yes" : "no";
    case "number":
      return `${value}`;
    case "string":
      return named(value);
    default:
      return value.map(named).join(", ");
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function line(text: string): string {
  return cleanLine(text, MAX_LINE_CHARS);
}
