/** Scenes that do not end well: refusal, limits, errors, silence, death. */
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import type { DemoTurn, SceneEnd } from "../turn.ts";

const CRASH_EXIT_CODE = 3;

/** The model says no, with a sentence. */
export async function refuse(turn: DemoTurn): Promise<SceneEnd> {
  await turn.stream("I will not help with that.");
  return "refusal";
}

/** The answer is cut by the limit of the model. */
export async function truncate(turn: DemoTurn): Promise<SceneEnd> {
  await turn.stream("This answer is longer than the model may write, so it stops in the");
  return "max_tokens";
}

/** Ends well, and says nothing at all. */
export async function empty(): Promise<void> {}

/** The allowance is spent: nothing to try again before the reset. */
export async function limit(turn: DemoTurn): Promise<SceneEnd> {
  return turn.fail({
    category: "limit",
    title: "You've hit your usage limit of the demo plan · resets 8pm (Europe/Berlin)",
    errorKind: "billing_error",
  });
}

/** Too many requests: waiting helps. */
export async function rateLimit(turn: DemoTurn): Promise<SceneEnd> {
  return turn.fail({
    category: "limit",
    title: "429 Too Many Requests, retry-after: 1",
    actions: ["retry"],
    errorKind: "rate_limit",
  });
}

/** Warns while it tries again by itself, then gives up. */
export async function overloaded(turn: DemoTurn): Promise<SceneEnd> {
  for (const attempt of [1, 2]) {
    await turn.warn({ category: "service", title: `Retrying the demo model, attempt ${attempt} of 2` });
  }
  return turn.fail({
    category: "service",
    title: "API Error: Repeated 529 Overloaded errors. The demo model is at its limit, try again in a moment",
    actions: ["retry"],
    errorKind: "server_error",
  });
}

/** A filter in front of the model said no. */
export async function policy(turn: DemoTurn): Promise<SceneEnd> {
  return turn.fail({
    category: "request",
    title: "Invalid prompt: your prompt was flagged as potentially violating our usage policy",
    errorKind: "invalid_request",
  });
}

/** Nobody is signed in. */
export async function auth(): Promise<SceneEnd> {
  throw RequestError.authRequired();
}

/** Half an answer, then the service fails: nothing may be sent twice. */
export async function partialThenFail(turn: DemoTurn): Promise<SceneEnd> {
  await turn.stream("The answer begins well, and then");
  return turn.fail({
    category: "service",
    title: "API Error: 500 Internal server error",
    actions: ["retry"],
    errorKind: "server_error",
  });
}

/** Half an answer, a last word on stderr, then the process is gone. */
export async function crash(turn: DemoTurn): Promise<SceneEnd> {
  await turn.stream("The answer begins well, and then the process dies");
  process.stderr.write("demo agent: crashed on request\n");
  process.exit(CRASH_EXIT_CODE);
}

/** Never answers; a cancel ends it. */
export async function hang(turn: DemoTurn): Promise<SceneEnd> {
  const { signal } = turn.options;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  return "cancelled";
}

/** Never answers, and ignores the cancel too: only the end of the process ends it. */
export function hangHard(): Promise<SceneEnd> {
  return new Promise(() => {});
}
