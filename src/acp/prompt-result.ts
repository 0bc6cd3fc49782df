/** The answer to `session/prompt`, read leniently (protocol section "Prompt Turn"; kiro leaves the field out at times). */
import { cleanLine } from "../errors/redact.ts";
import { readSessionFailure } from "./air.ts";
import type { SessionFailureReading } from "./air.ts";
import { isObject } from "./frames.ts";
import { readUsage, str } from "./normalize.ts";
import type { Usage } from "./types.ts";

/** The longest word of the protocol is `max_turn_requests`. */
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
    stopReason: stopReason === undefined ? null : cleanLine(stopReason, MAX_STOP_REASON_CHARS),
    usage: readUsage(result),
    terminal: readSessionFailure(result["_meta"]),
  };
}
