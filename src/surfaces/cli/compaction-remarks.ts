/** A compaction of the context as lines beside the answer. One that failed is told by its warning, or as the failure. */
import type { Compaction } from "../../acp/events.ts";
import type { Remark } from "./remarks.ts";

/** Compactions of which something was said; a session has few. */
const MAX_REMEMBERED = 1000;

export class CompactionRemarks {
  /** What was last said about each. */
  readonly #said = new Map<string, string>();

  of(compaction: Compaction): readonly Remark[] {
    const { compactionId } = compaction;
    const before = this.#said.get(compactionId);
    const text = lineFor(compaction, before !== undefined);
    if (text === undefined || text === before) return [];
    this.#said.set(compactionId, text);
    if (this.#said.size > MAX_REMEMBERED) this.#said.delete(this.#said.keys().next().value!);
    return [{ text, tone: "dim" }];
  }
}

/** The sizes come after the end is told (recording claude-agent-acp 0.101.0 compact-ok). */
function lineFor({ state, trigger, preTokens, postTokens }: Compaction, isKnown: boolean): string | undefined {
  const who = trigger === "automatic" ? ", as the agent decided" : "";
  switch (state) {
    case "running":
      return "▸ Compacting the conversation";
    case "completed":
      return preTokens === undefined || postTokens === undefined
        ? "✓ Conversation compacted"
        : `✓ Conversation compacted from ${inThousands(preTokens)} to ${inThousands(postTokens)} tokens${who}`;
    case "cancelled":
      return isKnown ? "✗ Compaction cancelled" : undefined;
    case "failed":
      return undefined;
  }
}

function inThousands(tokens: number): string {
  return String(Math.round(tokens)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
