/** Steering: a person's words for the work that runs, and what becomes of them when none does (seed document 002). */
import { AcpError } from "../errors/acp-error.ts";
import { cleanLine } from "../errors/redact.ts";
import { STEERING_METHOD, readSteeringAnswer, steeringParams } from "./air/steering.ts";
import type { SteeringAnswer } from "./air/steering.ts";
import type { RpcAnswer } from "./connection.ts";
import { requireSession } from "./require-session.ts";
import type { AcpSession } from "./session.ts";
import { toStartError } from "./start-error.ts";
import type { TurnOptions } from "./turn-options.ts";
import type { PromptBlock, Turn, TurnOutcome } from "./types.ts";

/** An agent answers at once: it only puts the words where its model finds them. */
const ANSWER_MS = 30_000;
const MAX_SAID_CHARS = 200;

export interface SteerOptions extends TurnOptions {
  /** What is done with words that no turn can take: `prompt` sends them as a prompt (default), `return` leaves that to the caller. */
  readonly whenIdle?: "prompt" | "return";
  /** A sentence that the turn which takes them tells its reader, who may be somebody else. */
  readonly notice?: string;
}

/** What became of the words. */
export type SteerResult =
  /** The work that runs has them. */
  | { readonly outcome: "injected" }
  /** Nothing ran, so they were sent as a prompt: this is its turn. */
  | { readonly outcome: "prompted"; readonly turn: Turn }
  /** Nothing ran, and nothing was sent; the reason is the agent's. Only with `whenIdle: "return"`. */
  | { readonly outcome: "promptRequired"; readonly reason: string }
  /** The agent began a turn of its own for them, told with `turnId: null`. Settles with undefined when a prompt took over. */
  | { readonly outcome: "startedNewTurn"; readonly work: Promise<TurnOutcome | undefined> };

/** Throws an `AcpError` of kind `request_rejected` when the agent takes no steering, and the typed error of its refusal or death. */
export async function steer(
  session: AcpSession,
  blocks: readonly PromptBlock[],
  { whenIdle = "prompt", notice, ...options }: SteerOptions = {},
): Promise<SteerResult> {
  const { label } = session.link.backend;
  if (!session.link.capabilities.air.steering) {
    throw rejected(`${label} takes no words while it works; wait until its turn is over and send a prompt`);
  }
  requireSession(session, blocks);
  const answer = await ask(session, blocks, notice);
  switch (answer.outcome) {
    case "injected":
    case "startedNewTurn":
      return answer;
    case "promptRequired":
      if (whenIdle === "return") return answer;
      // Its turn is over for the agent, and will be for us with the next frames.
      await session.turnOver();
      return { outcome: "prompted", turn: session.prompt(blocks, options) };
    case "unknown":
      throw rejected(`${label} did not take the words: it answered "${cleanLine(answer.said, MAX_SAID_CHARS)}"`);
  }
}

type Answered =
  | Exclude<SteeringAnswer, { outcome: "startedNewTurn" }>
  | Extract<SteerResult, { outcome: "startedNewTurn" }>;

/** Takes the answer as it arrives: frames right behind it belong to the work that it begins. */
function ask(session: AcpSession, blocks: readonly PromptBlock[], notice?: string): Promise<Answered> {
  const { link, work } = session;
  const settled = work.expect(false);
  const take = (answer: RpcAnswer): Answered => {
    if ("error" in answer) throw toStartError(answer.error, link, STEERING_METHOD);
    const read = readSteeringAnswer(answer.result);
    if (read.outcome === "startedNewTurn") return { ...read, work: work.steered(blocks) };
    if (read.outcome === "injected") {
      session.feed.steered(blocks, session.isTaken);
      session.attempt?.answer.steered();
      if (notice !== undefined) session.attempt?.notice(notice);
    }
    return read;
  };
  return new Promise((resolve, reject) => {
    link.connection.send(STEERING_METHOD, steeringParams(session.id, blocks), { deadlineMs: ANSWER_MS }, (answer) => {
      settled();
      try {
        resolve(take(answer));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function rejected(message: string): AcpError {
  return new AcpError(message, { kind: "request_rejected" });
}
