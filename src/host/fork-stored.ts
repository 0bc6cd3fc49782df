/** `ostler sessions fork`: a stored conversation that begins with the history of another one, which stays what it is. */
import { startError } from "../acp/death.ts";
import type { ForkPoint } from "../acp/fork-session.ts";
import { plainVerdict } from "../acp/make-failure.ts";
import type { Runtime } from "../acp/runtime.ts";
import { checkSessionName } from "./conversation-records.ts";
import type { ConversationRecord } from "./conversation-records.ts";
import type { Host } from "./host-options.ts";
import { ReplayedMessages, replayHistory } from "./replayed-history.ts";
import type { Store } from "./store.ts";
import { UsageError } from "./usage-error.ts";

export interface ForkStoredOptions {
  readonly host: Host;
  readonly store: Store;
  readonly signal: AbortSignal;
  /** Starts the agent of the conversation in its folder. */
  readonly start: () => Promise<Runtime>;
  /** The message of the agent that the fork ends with. Default: the whole history. */
  readonly at?: string | undefined;
  /** What the fork is called. Default: the name with the first free number behind it. */
  readonly as?: string | undefined;
}

/**
 * Returns the new conversation. Throws UsageError for a name that is taken, kind `session_not_found` for a conversation
 * without a session, `busy` when a message is named while another Ostler has the conversation, and what the agent says.
 */
export async function forkStored(record: ConversationRecord, options: ForkStoredOptions): Promise<ConversationRecord> {
  const { store, signal, at } = options;
  const { cwd, backend, agent, profile, model, sessionId } = record;
  if (sessionId === null) throw noSession();
  const name = freeName(record, options);
  const runtime = await options.start();
  const point = at === undefined ? undefined : await pointOf(at, { ...record, sessionId }, { ...options, runtime });
  const forked = await runtime.forkSession({ sessionId, cwd, signal, ...(point !== undefined && { at: point }) });
  await forked.close();
  return store.create({ name, cwd, backend, agent, profile, model, sessionId: forked.id });
}

/** The agent finds a message by its text where it does not know the id; only a replay tells the text. */
async function pointOf(
  messageId: string,
  record: ConversationRecord & { readonly sessionId: string },
  place: ForkStoredOptions & { readonly runtime: Runtime },
): Promise<ForkPoint> {
  const { load, fork } = place.runtime.capabilities;
  if (!load || !fork) return { messageId };
  const messages = new ReplayedMessages();
  await replayHistory(record, (event) => messages.hear(event), place);
  return { messageId, ...messages.find(messageId) };
}

function freeName({ name, id, cwd }: ConversationRecord, { store, as }: ForkStoredOptions): string {
  if (as !== undefined) {
    const wanted = checkSessionName(as);
    if (store.find({ name: wanted, cwd }) === undefined) return wanted;
    throw new UsageError(`There is a session called "${wanted}" in this folder already; take another name with --as`);
  }
  const base = name ?? id.slice(0, 8);
  for (let number = 2; ; number += 1) {
    const free = `${base}-${number}`;
    if (store.find({ name: free, cwd }) === undefined) return free;
  }
}

function noSession(): Error {
  const title = "This session has no history yet: nothing was said in it";
  return startError(
    { verdict: plainVerdict("session_not_found", "no-stored-session"), source: "spawn", title },
    undefined,
  );
}
