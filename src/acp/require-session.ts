/** What a request outside of a prompt needs: a session that is still there and takes what is sent. */
import { startError } from "./death.ts";
import type { AcpSession } from "./session.ts";
import type { PromptBlock } from "./types.ts";

/** Throws the typed error of what keeps these blocks from being sent: kind `session_not_found` or `request_rejected`. */
export function requireSession(session: AcpSession, blocks: readonly PromptBlock[] = []): void {
  const refusal = session.refusal(blocks);
  if (refusal?.type === "fact") throw startError(refusal, undefined);
}
