/** What an agent asks and what goes back: permission for a tool, or a question to a person. Pure. */
import type { TurnEventBody } from "./events.ts";
import { rejectAnswer, toWire } from "./permissions.ts";
import type { QuestionAnswer, QuestionRequest } from "./questions.ts";
import type { PermissionAnswer, PermissionRequest } from "./types.ts";

export type AgentQuestion =
  | { readonly type: "permission"; readonly request: PermissionRequest }
  | { readonly type: "question"; readonly request: QuestionRequest };

/** A question with its answer: an event as it is told. */
export type AnsweredQuestion = TurnEventBody &
  (
    | { readonly type: "permission"; readonly answer: PermissionAnswer }
    | { readonly type: "question"; readonly answer: QuestionAnswer }
  );

/** A no, in the words of what was asked. */
export function refuse(asked: AgentQuestion, reason: string): AnsweredQuestion {
  if (asked.type === "permission") return { ...asked, answer: rejectAnswer(asked.request, reason) };
  return { ...asked, answer: { action: "cancel", reason } };
}

/** Nobody decides any more, and nothing was denied. */
export function cancel(asked: AgentQuestion, reason: string): AnsweredQuestion {
  if (asked.type === "permission") return { ...asked, answer: { action: "cancel", denied: false, reason } };
  return { ...asked, answer: { action: "cancel", reason } };
}

/** The answer as the protocol spells it. */
export function answerToWire(answered: AnsweredQuestion): unknown {
  if (answered.type === "permission") return toWire(answered.answer);
  const { answer } = answered;
  return answer.action === "accept" ? { action: "accept", content: answer.content } : { action: answer.action };
}

const TWIN = "Another request of the agent came under the same id";

/** Two questions under one id: what goes back, which is a no to whichever of the two it is taken for, and what each got. */
export interface RefusedTwins {
  readonly wire: unknown;
  readonly first: AnsweredQuestion;
  /** Undefined when the other request was no question. */
  readonly other: AnsweredQuestion | undefined;
}

export function refuseBoth(first: AgentQuestion, other: AgentQuestion | undefined): RefusedTwins {
  if (first.type === "permission" && (other === undefined || other.type === "permission")) {
    const answer = rejectBoth(first.request, other?.request);
    return { wire: toWire(answer), first: { ...first, answer }, other: other && { ...other, answer } };
  }
  const isMixed = first.type !== other?.type && other !== undefined;
  const wire = isMixed ? { action: "cancel", outcome: { outcome: "cancelled" } } : { action: "cancel" };
  return { wire, first: cancelled(first), other: other && cancelled(other) };
}

function cancelled(asked: AgentQuestion): AnsweredQuestion {
  if (asked.type === "permission") return { ...asked, answer: { action: "cancel", denied: true, reason: TWIN } };
  return { ...asked, answer: { action: "cancel", reason: TWIN } };
}

/** What rejects in the first may allow in the other: where it does not reject in both, the answer is `cancelled`. */
function rejectBoth(first: PermissionRequest, other: PermissionRequest | undefined): PermissionAnswer {
  const answer = rejectAnswer(first, TWIN);
  if (answer.action === "cancel" || other === undefined) return answer;
  const same = other.options.filter(({ optionId }) => optionId === answer.optionId);
  const isNo = same.length > 0 && same.every(({ kind }) => kind.startsWith("reject"));
  return isNo ? answer : { action: "cancel", denied: true, reason: TWIN };
}
