/** The answer to `session/prompt`, read leniently (protocol section "Prompt Turn"; kiro leaves the field out at times). */
import { cleanLine } from "../errors/redact.ts";
import { readSessionFailure } from "./air/session-failure.ts";
import type { SessionFailureReading } from "./air/session-failure.ts";
import { isObject } from "./frames.ts";
import { readUsage, str } from "./normalize.ts";
import type { Usage } from "./types.ts";

/** The words of the protocol hide nothing, and the first scrubbing of a text costs as much as a handshake. */
const STOP_REASONS: ReadonlySet<string> = new Set([
  "end_turn",
  "cancelled",
  "refusal",
  "max_tokens",
  "max_turn_requests",
]);
const MAX_STOP_REASON_CHARS = 100;

export interface PromptResult {
  /** As the harness said it; null = not said. */
  readonly stopReason: string | null;
  readonly usage: Usage | null;
  /** The failure record of a turn that ended "well" (AIR). */
  readonly terminal: SessionFailureReading;
}

export function readPromptResult(value: unknown): PromptResult {
  const result = isObject(value) ? value : {};
  const stopReason = str(result["stopReason"]);
  return {
    stopReason: stopReason === undefined ? null : cleanStopReason(stopReason),
    usage: readUsage(result),
    terminal: readSessionFailure(result["_meta"]),
  };
}

function cleanStopReason(word: string): string {
  return STOP_REASONS.has(word) ? word : cleanLine(word, MAX_STOP_REASON_CHARS);
}
