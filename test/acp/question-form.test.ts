import { describe, expect, test } from "vitest";
import { readQuestionRequest } from "../../src/acp/question-form.ts";
import type { QuestionField, QuestionRequest } from "../../src/acp/questions.ts";

const form = (properties: object, more: object = {}) => ({
  mode: "form",
  sessionId: "s1",
  message: "Which colour?",
  requestedSchema: { type: "object", properties, ...more },
});
const custom = (questionId: string) => ({
  type: "string",
  title: "Other",
  _meta: { jetbrains: { air: { version: 1, customAnswer: { questionId, isCustomAnswer: true } } } },
});
const COLOURS = { type: "string", oneOf: [{ const: "Red", title: "Red" }] };

function fieldsOf(params: object): readonly QuestionField[] {
  const read = readQuestionRequest("s1", { ...params });
  if (typeof read === "string") throw new Error(read);
  return read.fields;
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { type: "string" }]));

/** One field of that schema, without what is the same in every row. */
function fieldOf(property: object): object | undefined {
  const [field] = fieldsOf(form({ a: property }));
  if (field === undefined) return undefined;
  const { id: _id, ...rest } = field;
  return rest;
}

test("the question of Claude Code is one field with its own answer (recording claude-agent-acp 0.101.0 ask-question-accept)", () => {
  const read = readQuestionRequest("7b3f", {
    mode: "form",
    sessionId: "7b3f",
    toolCallId: "toolu_fake000768",
    message: "Which colour?",
    requestedSchema: {
      type: "object",
      properties: {
        question_0: {
          type: "string",
          title: "Colour",
          oneOf: [
            { const: "Red", title: "Red", description: "Warm" },
            { const: "Blue", title: "Blue", description: "Cold" },
          ],
        },
        question_0_custom: {
          type: "string",
          title: "Other",
          description: "Type your own answer, or add a note to the option you chose above (optional).",
          _meta: {
            _askUserQuestionCustomAnswer: { questionId: "question_0", isCustomAnswer: true },
            jetbrains: { air: { version: 1, customAnswer: { questionId: "question_0", isCustomAnswer: true } } },
          },
        },
      },
    },
  });
  expect(read).toEqual({
    sessionId: "7b3f",
    toolCallId: "toolu_fake000768",
    message: "Which colour?",
    fields: [
      {
        id: "question_0",
        label: "Colour",
        kind: "choice",
        choices: [
          { value: "Red", label: "Red", description: "Warm" },
          { value: "Blue", label: "Blue", description: "Cold" },
        ],
        required: false,
        customId: "question_0_custom",
      },
    ],
  } satisfies QuestionRequest);
});

describe("the kinds of fields (protocol section Elicitation)", () => {
  const plain = { label: "a", choices: [], required: false };
  test.each<{ from: string; property: object; field: object }>([
    { from: "a text", property: { type: "string" }, field: { ...plain, kind: "text" } },
    {
      from: "a text with every rule",
      property: { type: "string", minLength: 1, maxLength: 9, pattern: "^a", format: "email" },
      field: { ...plain, kind: "text", min: 1, max: 9, pattern: "^a", format: "email" },
    },
    {
      from: "rules that are null are none, and a format of the future is not known",
      property: { type: "string", minLength: null, maxLength: null, pattern: null, format: "ipv6", default: null },
      field: { ...plain, kind: "text" },
    },
    {
      from: "a number with bounds",
      property: { type: "number", minimum: 0.5, maximum: 2 },
      field: { ...plain, kind: "number", min: 0.5, max: 2 },
    },
    {
      from: "a whole number with a default",
      property: { type: "integer", minimum: 1, default: 3 },
      field: { ...plain, kind: "integer", min: 1, defaultValue: 3 },
    },
    {
      from: "a yes or no",
      property: { type: "boolean", default: false },
      field: { ...plain, kind: "boolean", defaultValue: false },
    },
    {
      from: "plain choices",
      property: { type: "string", enum: ["x", "y"], default: "y" },
      field: {
        ...plain,
        kind: "choice",
        choices: [
          { value: "x", label: "x" },
          { value: "y", label: "y" },
        ],
        defaultValue: "y",
      },
    },
    {
      from: "several titled choices",
      property: {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { anyOf: [{ const: "x", title: "X" }] },
        default: ["x"],
      },
      field: {
        ...plain,
        kind: "choices",
        choices: [{ value: "x", label: "X" }],
        min: 1,
        max: 2,
        defaultValue: ["x"],
      },
    },
    {
      from: "several plain choices",
      property: { type: "array", items: { type: "string", enum: ["x"] } },
      field: { ...plain, kind: "choices", choices: [{ value: "x", label: "x" }] },
    },
    {
      from: "a default that breaks the rules of its own field is not offered",
      property: { type: "integer", maximum: 2, default: 3 },
      field: { ...plain, kind: "integer", max: 2 },
    },
    {
      from: "title and description of a wrong type are none",
      property: { type: "string", title: 3, description: {} },
      field: { ...plain, kind: "text" },
    },
  ])("$from", ({ property, field }) => {
    expect(fieldOf(property)).toEqual(field);
  });

  test("what is required, and what a prototype would add", () => {
    const fields = fieldsOf(
      form(JSON.parse('{"__proto__":{"type":"string"},"toString":{"type":"string"}}'), { required: ["toString", 3] }),
    );
    expect(fields.map(({ id, required }) => ({ id, required }))).toEqual([
      { id: "__proto__", required: false },
      { id: "toString", required: true },
    ]);
  });
});

describe("answers of one's own (seed document 002, Question custom answers)", () => {
  test.each<{ from: string; properties: object; expected: readonly object[] }>([
    {
      from: "the companion before its question",
      properties: { b: custom("a"), a: COLOURS },
      expected: [{ id: "a", customId: "b" }],
    },
    {
      from: "of several choices",
      properties: { a: { type: "array", items: { enum: ["x"] } }, b: custom("a") },
      expected: [{ id: "a", customId: "b" }],
    },
    {
      from: "a second companion is a field of its own",
      properties: { a: COLOURS, b: custom("a"), c: custom("a") },
      expected: [{ id: "a", customId: "b" }, { id: "c" }],
    },
    {
      from: "of a question that is not there, of a text, and of itself",
      properties: { a: { type: "string" }, b: custom("a"), c: custom("gone"), d: custom("d") },
      expected: [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }],
    },
    {
      from: "a companion that is no text is a field of its own",
      properties: { a: COLOURS, b: { ...custom("a"), type: "boolean" } },
      expected: [{ id: "a" }, { id: "b" }],
    },
    {
      from: "marked by a newer version, or not marked (a client without AIR)",
      properties: {
        a: COLOURS,
        b: {
          ...custom("a"),
          _meta: { jetbrains: { air: { version: 2, customAnswer: { questionId: "a", isCustomAnswer: true } } } },
        },
        c: { type: "string", title: "Other" },
      },
      expected: [{ id: "a" }, { id: "b" }, { id: "c" }],
    },
  ])("$from", ({ properties, expected }) => {
    const fields = fieldsOf(form(properties));
    expect(fields.map(({ id, customId }) => (customId === undefined ? { id } : { id, customId }))).toEqual(expected);
  });
});

describe("what cannot be asked whole is not asked", () => {
  test.each<{ from: string; params: object; why: string }>([
    {
      from: "a web page",
      params: { mode: "url", url: "https://login.example/path?token=x", elicitationId: "e" },
      why: "It wants a web page opened (login.example), which is not declared",
    },
    {
      from: "a web page without an address",
      params: { mode: "url" },
      why: "It wants a web page opened, which is not declared",
    },
    {
      from: "a mode of the future",
      params: { mode: "_voice" },
      why: "Its mode is neither of the protocol's, and only form is declared",
    },
    { from: "no form", params: { mode: "form" }, why: "It has no form" },
    { from: "a form that is none", params: { mode: "form", requestedSchema: [] }, why: "It has no form" },
    { from: "a flood of fields", params: form(many(65)), why: "Its form has more than 64 fields" },
    {
      from: "a required field of an unknown kind",
      params: form({ a: { type: "string" }, b: { type: "_colour" } }, { required: ["b"] }),
      why: "A field that it requires is of a kind that is not known here",
    },
    {
      from: "fields of unknown kinds alone",
      params: form({ a: { type: "_colour" }, b: 3, c: null }),
      why: "No field of its form is of a kind that is known here",
    },
    {
      from: "a choice that cannot be shown",
      params: form({ a: { type: "string", oneOf: [{ const: "x", title: "X" }, { const: 3 }] } }),
      why: "No field of its form is of a kind that is known here",
    },
    {
      from: "a flood of choices",
      params: form({ a: { type: "string", enum: Array.from({ length: 257 }, (_, n) => `${n}`) } }),
      why: "No field of its form is of a kind that is known here",
    },
  ])("$from", ({ params, why }) => {
    expect(readQuestionRequest("s1", { ...params })).toBe(why);
  });

  test("an optional field of an unknown kind is left out", () => {
    expect(fieldsOf(form({ a: { type: "string" }, b: { type: "_colour" } })).map(({ id }) => id)).toEqual(["a"]);
  });

  test("a form without fields asks for a yes", () => {
    expect(fieldsOf(form({}))).toEqual([]);
    expect(fieldsOf({ ...form({}), requestedSchema: {} })).toEqual([]);
  });

  test("a request without a mode that has a form is one", () => {
    const { mode: _mode, ...params } = form({ a: { type: "string" } });
    expect(fieldsOf(params)).toHaveLength(1);
  });
});
