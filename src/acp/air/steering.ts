/**
 * `_session/steering`: a person's words for the turn that runs (seed document 002, JetBrains shared keys; recordings
 * codex-acp and claude-agent-acp steer*). Pure.
 */
import { isObject } from "../frames.ts";
import { str } from "../normalize.ts";
import type { PromptBlock } from "../types.ts";

export const STEERING_METHOD = "_session/steering";

/** What became of the words. `failed` and what no version knows are `unknown`. */
export type SteeringAnswer =
  /** The running turn has them. */
  | { readonly outcome: "injected" }
  /** No turn runs, and none was begun: they are to be sent as a prompt. */
  | { readonly outcome: "promptRequired"; readonly reason: string }
  /** The agent began a turn that no prompt of ours started. */
  | { readonly outcome: "startedNewTurn" }
  | { readonly outcome: "unknown"; readonly said: string };

/** An idle session must not begin a turn that nobody watches, so the agent is asked to give the words back. */
export function steeringParams(sessionId: string, prompt: readonly PromptBlock[]): object {
  return { sessionId, prompt, _meta: { steering: { idleBehavior: "promptRequired" } } };
}

export function readSteeringAnswer(result: unknown): SteeringAnswer {
  const outcome = isObject(result) ? str(result["outcome"]) : undefined;
  switch (outcome) {
    case "injected":
    case "startedNewTurn":
      return { outcome };
    case "promptRequired":
      return { outcome, reason: (isObject(result) ? str(result["reason"]) : undefined) ?? "" };
    default:
      return { outcome: "unknown", said: outcome ?? "nothing" };
  }
}
