/** What was last heard of a harness, in words, for the sentence of a deadline. Pure. */
import type { TurnEventBody } from "./events.ts";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["plan", "a plan"],
  ["usage", "a usage report"],
  ["notice", "a notice"],
  ["task", "a background task"],
  ["subagent", "a subagent"],
  ["compaction", "a compaction of the context"],
]);
/** Said of the session, not of the turn: no sign of life (recording codex-acp 2.6.0 conn-refused begins with commands). */
const SETTINGS: ReadonlySet<string> = new Set(["commands", "mode", "session"]);

/** Undefined for an event that is no sign of life. */
export function wordsFor({ type }: TurnEventBody): string | undefined {
  return SETTINGS.has(type) ? undefined : (WORDS.get(type) ?? `news of type ${type}`);
}
