/** What an agent repeats of a stored conversation (`session/load`), without a prompt: for showing it, and for forks. */
import type { SessionEvent } from "../acp/events.ts";
import type { Runtime } from "../acp/runtime.ts";
import type { ConversationRecord } from "./conversation-records.ts";
import type { Host } from "./host-options.ts";
import { waitForOwnership } from "./session-queue.ts";
import type { Store } from "./store.ts";

/**
 * Loads the session and closes it again; `onEvent` hears the replay, which ends with the answer of the agent. Throws
 * `AcpPromptBusy` while another Ostler has the conversation, and what `resumeSession` throws.
 */
export async function replayHistory(
  { id, cwd, sessionId }: Pick<ConversationRecord, "id" | "cwd"> & { readonly sessionId: string },
  onEvent: (event: SessionEvent) => void,
  place: { readonly host: Host; readonly store: Store; readonly runtime: Runtime; readonly signal: AbortSignal },
): Promise<void> {
  const { host, store, runtime, signal } = place;
  using _owned = await waitForOwnership(store, id, { noWait: true, signal });
  // The owner before may have been killed: its agent must not go on in a session that another one opens.
  await host.endOrphans();
  const listener = (event: SessionEvent): void => {
    if (event.replayed === true) onEvent(event);
  };
  const session = await runtime.resumeSession({ sessionId, via: "load", cwd, signal, onEvent: listener });
  await session.close();
}

/** The messages of the agent in what it repeats, in order. */
export class ReplayedMessages {
  readonly #texts = new Map<string, string>();

  hear({ event }: SessionEvent): void {
    if (event.type !== "text" || event.messageId === undefined) return;
    this.#texts.set(event.messageId, (this.#texts.get(event.messageId) ?? "") + event.text);
  }

  /** The text of a message, and the how many-eth one with this text it is, from 1. */
  find(messageId: string): { readonly text: string; readonly occurrence: number } | undefined {
    const text = this.#texts.get(messageId);
    if (text === undefined) return undefined;
    const ids = [...this.#texts].flatMap(([id, other]) => (other === text ? [id] : []));
    return { text, occurrence: ids.indexOf(messageId) + 1 };
  }
}
