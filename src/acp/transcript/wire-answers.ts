/** What the two sides of a log said to one another, where only its words are left of it. Pure. */
import type { AgentQuestion, AnsweredQuestion } from "../agent-question.ts";
import { readAirField } from "../air/namespace.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { readHandshake } from "../negotiate.ts";
import { str } from "../normalize.ts";
import type { QuestionAnswer, QuestionValue } from "../questions.ts";
import type { PermissionAnswer, PermissionRequest } from "../types.ts";
import type { ReplayedPrompt } from "./replayed-session.ts";

/** Of a prompt a transcript shows the text. */
export function readPrompt({ prompt, _meta: meta }: Frame): ReplayedPrompt {
  const blocks = Array.isArray(prompt) ? prompt.filter(isObject) : [];
  const report = readAirField(meta, "agentFileChangeReportRequest");
  return {
    blocks: blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [{ type, text }] : [])),
    reportId: isObject(report) ? str(report["requestId"]) : undefined,
  };
}

/** What a session needs to know of its agent. */
export interface ReplayedAgent {
  /** Name and version, as a session names it. */
  readonly name: string | undefined;
  readonly namesPlanFiles: boolean;
}

/** Reads the result of `initialize`. */
export function readAgent(result: unknown): ReplayedAgent {
  const { agent, capabilities } = readHandshake(result);
  return {
    name: agent === null ? undefined : `${agent.name} ${agent.version}`.trim(),
    namesPlanFiles: capabilities.air.capabilities.has("planFile"),
  };
}

/** A question with the answer that went over the wire. An answer that cannot be read decided nothing. */
export function withAnswer(asked: AgentQuestion, result: unknown): AnsweredQuestion {
  const answer = isObject(result) ? result : {};
  return asked.type === "permission"
    ? { ...asked, answer: readPermissionAnswer(asked.request, answer["outcome"]) }
    : { ...asked, answer: readQuestionAnswer(answer) };
}

function readPermissionAnswer({ options }: PermissionRequest, outcome: unknown): PermissionAnswer {
  const optionId = isObject(outcome) && outcome["outcome"] === "selected" ? str(outcome["optionId"]) : undefined;
  if (optionId === undefined) return { action: "cancel", denied: false };
  const kind = options.find((option) => option.optionId === optionId)?.kind ?? "";
  return { action: "select", optionId, denied: kind.startsWith("reject") };
}

function readQuestionAnswer({ action, content }: { readonly [key: string]: unknown }): QuestionAnswer {
  if (action === "decline") return { action };
  if (action !== "accept") return { action: "cancel" };
  const fields = Object.entries(isObject(content) ? content : {});
  return {
    action,
    content: Object.fromEntries(fields.flatMap(([id, value]) => (isValue(value) ? [[id, value]] : []))),
  };
}

function isValue(value: unknown): value is QuestionValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
