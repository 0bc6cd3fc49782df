/** The parameters of `session/prompt` (protocol section "Prompt turn"). */
import type { AcpSession } from "./session.ts";
import type { PromptBlock } from "./types.ts";

/** With a `reportId` the agent is asked for the files that it changes, where it can tell them. */
export function promptParams(
  session: AcpSession,
  prompt: readonly PromptBlock[],
  reportId: string | undefined,
): object {
  const params = { sessionId: session.id, prompt };
  if (reportId === undefined) return params;
  const { changes } = session.feed.reader;
  const isAsked = session.link.capabilities.air.capabilities.has("agentFileChangeReport");
  if (isAsked) return { ...params, _meta: changes.request(reportId) };
  changes.cannotRequest();
  return params;
}
