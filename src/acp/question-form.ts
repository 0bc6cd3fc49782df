/**
 * Reads an `elicitation/create` of mode `form` (protocol section "Elicitation") into fields that can be asked one by one.
 * What cannot be asked honestly, all of it, is not asked. Pure.
 */
import { readAirField } from "./air/namespace.ts";
import type { Frame } from "./frames.ts";
import { isObject } from "./frames.ts";
import { str } from "./normalize.ts";
import { problemOf } from "./question-answer.ts";
import type { QuestionChoice, QuestionField, QuestionRequest, QuestionValue, TextFormat } from "./questions.ts";

/** Longer forms and lists are not for one person at one prompt. */
const MAX_FIELDS = 64;
const MAX_CHOICES = 256;
const FORMATS: ReadonlySet<unknown> = new Set<TextFormat>(["email", "uri", "date", "date-time"]);

/** The question, or a sentence that says why it cannot be asked. `sessionId` is empty where the request names none. */
export function readQuestionRequest(sessionId: string, params: Frame): QuestionRequest | string {
  const { mode, message, toolCallId, requestedSchema: schema } = params;
  if (mode === "url") return `It wants a web page opened${hostOf(params["url"])}, which is not declared`;
  if (mode !== "form" && mode !== undefined) return "Its mode is neither of the protocol's, and only form is declared";
  if (!isObject(schema)) return "It has no form";
  const properties = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {});
  if (properties.length > MAX_FIELDS) return `Its form has more than ${MAX_FIELDS} fields`;
  const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  const read = properties.map(([id, property]) => ({
    id,
    questionId: readQuestionId(property),
    field: isObject(property) ? readField(id, property, required.has(id)) : undefined,
  }));
  const unread = read.find(({ id, field }) => field === undefined && required.has(id));
  if (unread !== undefined) return "A field that it requires is of a kind that is not known here";
  const fields = read.flatMap(({ field, questionId }) => (field === undefined ? [] : [{ field, questionId }]));
  if (fields.length === 0 && properties.length > 0) return "No field of its form is of a kind that is known here";
  return {
    sessionId,
    ...(str(toolCallId) === undefined ? {} : { toolCallId: str(toolCallId) ?? "" }),
    message: str(message) ?? str(schema["title"]) ?? "",
    fields: mergeCustomAnswers(fields),
  };
}

function hostOf(url: unknown): string {
  const host = typeof url === "string" && URL.canParse(url) ? new URL(url).host : "";
  return host === "" ? "" : ` (${host})`;
}

/** The question that a property is the free answer of (seed document 002, Question custom answers). */
function readQuestionId(property: unknown): string | undefined {
  const custom = isObject(property) ? readAirField(property["_meta"], "customAnswer") : undefined;
  return isObject(custom) && custom["isCustomAnswer"] === true ? str(custom["questionId"]) : undefined;
}

/** A companion that names no question with choices, or one that has its companion, is a field of its own. */
function mergeCustomAnswers(
  read: readonly { readonly field: QuestionField; readonly questionId: string | undefined }[],
): readonly QuestionField[] {
  const customIds = new Map<string, string>();
  const merged = new Set<string>();
  for (const { field, questionId } of read) {
    const question = read.find((other) => other.field.id === questionId && other !== undefined)?.field;
    if (question === undefined || question.choices.length === 0 || field.kind !== "text") continue;
    if (customIds.has(question.id)) continue;
    customIds.set(question.id, field.id);
    merged.add(field.id);
  }
  return read.flatMap(({ field }) => {
    if (merged.has(field.id)) return [];
    const customId = customIds.get(field.id);
    return [customId === undefined ? field : { ...field, customId }];
  });
}

function readField(id: string, property: Frame, required: boolean): QuestionField | undefined {
  const shape = readShape(property);
  if (shape === undefined) return undefined;
  const description = str(property["description"]);
  const field: QuestionField = {
    id,
    label: str(property["title"]) ?? id,
    ...(description === undefined ? {} : { description }),
    ...shape,
    required,
  };
  const defaultValue = readValue(property["default"]);
  const isOffered = defaultValue !== undefined && problemOf(field, defaultValue) === undefined;
  return isOffered ? { ...field, defaultValue } : field;
}

type Shape = Pick<QuestionField, "kind" | "choices" | "min" | "max" | "pattern" | "format">;

function readShape(property: Frame): Shape | undefined {
  switch (property["type"]) {
    case "string": {
      const listed = property["oneOf"] ?? property["enum"];
      if (listed != null) return ofChoices("choice", listed);
      const pattern = str(property["pattern"]);
      const { format } = property;
      return {
        kind: "text",
        choices: [],
        ...bounds(property, "minLength", "maxLength"),
        ...(pattern === undefined ? {} : { pattern }),
        ...(isFormat(format) ? { format } : {}),
      };
    }
    case "number":
    case "integer":
      return { kind: property["type"], choices: [], ...bounds(property, "minimum", "maximum") };
    case "boolean":
      return { kind: "boolean", choices: [] };
    case "array": {
      const items = isObject(property["items"]) ? property["items"] : {};
      const shape = ofChoices("choices", items["anyOf"] ?? items["oneOf"] ?? items["enum"]);
      return shape && { ...shape, ...bounds(property, "minItems", "maxItems") };
    }
    default:
      return undefined;
  }
}

function isFormat(value: unknown): value is TextFormat {
  return FORMATS.has(value);
}

function ofChoices(kind: "choice" | "choices", listed: unknown): Shape | undefined {
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_CHOICES) return undefined;
  const choices = listed.map(readChoice).filter((choice) => choice !== undefined);
  // A choice that cannot be shown is one that cannot be made: half a question is not asked.
  return choices.length === listed.length ? { kind, choices } : undefined;
}

function readChoice(listed: unknown): QuestionChoice | undefined {
  if (typeof listed === "string") return { value: listed, label: listed };
  const value = isObject(listed) ? str(listed["const"]) : undefined;
  if (!isObject(listed) || value === undefined) return undefined;
  const description = str(listed["description"]);
  return { value, label: str(listed["title"]) ?? value, ...(description === undefined ? {} : { description }) };
}

function bounds(property: Frame, low: string, high: string): { readonly min?: number; readonly max?: number } {
  const min = property[low];
  const max = property[high];
  return {
    ...(Number.isFinite(min) ? { min: Number(min) } : {}),
    ...(Number.isFinite(max) ? { max: Number(max) } : {}),
  };
}

function readValue(value: unknown): QuestionValue | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return isStrings(value) ? value : undefined;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
