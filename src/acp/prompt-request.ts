/** The parameters of `session/prompt` (protocol section "Prompt turn"). Pure. */
import type { AcpSession } from "./session.ts";
import type { PromptBlock } from "./types.ts";

export function promptParams(session: AcpSession, prompt: readonly PromptBlock[]): object {
  return { sessionId: session.id, prompt };
}
