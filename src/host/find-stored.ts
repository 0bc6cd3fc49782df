/** Which stored conversation a call means: the one of a name, the last of a folder, or a new one. */
import { startError } from "../acp/death.ts";
import { plainVerdict } from "../acp/make-failure.ts";
import { isWhole, storedVerbatim } from "./conversation-records.ts";
import type { ConversationRecord } from "./conversation-records.ts";
import type { Host, OpenConversationOptions, OpenStoredOptions } from "./host-options.ts";
import { shortPath } from "./paths.ts";
import { isProfile } from "./profile.ts";
import { findRecentSession } from "./recent-sessions.ts";
import type { Store } from "./store.ts";
import { UsageError } from "./usage-error.ts";

/** Where a conversation is looked for. */
export interface StoredPlace {
  /** Absolute path. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Throws UsageError when it belongs to another agent, kind `session_not_found` when there is no last one. */
export function findOrCreate(
  store: Store,
  host: Host,
  options: OpenStoredOptions,
  { cwd, env }: StoredPlace,
): ConversationRecord {
  const { which, backend, agent, profile } = options;
  if (!("name" in which)) {
    const last = findLast(store, host, { cwd, backend });
    if (last === undefined) throw noLastSession(backend, shortPath(cwd, env));
    checkAgent(last, options);
    return last;
  }
  const { name } = which;
  const found = store.find({ name, cwd });
  // A name whose first call came to no session is free for another agent.
  if (found !== undefined && found.sessionId === null && !belongsTo(found, options)) store.remove(found.id);
  else if (found !== undefined) {
    checkAgent(found, options);
    return found;
  }
  return store.create({ name, cwd, backend: host.select(options).backend, agent, profile });
}

/** What starts its agent: as stored, unless the call says it anew. Throws UsageError when neither is whole. */
export function agentOf(
  record: ConversationRecord,
  options: OpenStoredOptions,
): Pick<OpenConversationOptions, "backend" | "agent" | "profile"> {
  if (record.agent === undefined) return { backend: record.backend };
  const agent = options.agent ?? record.agent;
  const profile = options.profile ?? (isProfile(record.profile) ? record.profile : undefined);
  if (isWhole(agent)) return { backend: undefined, agent, profile };
  throw new UsageError(
    "The command line of this session's agent held a secret and was not kept; give it again with --agent",
  );
}

/** The last one of the folder, from the store or from a plain `ask`, whichever is newer. */
function findLast(
  store: Store,
  host: Host,
  { cwd, backend }: { readonly cwd: string; readonly backend: string | undefined },
): ConversationRecord | undefined {
  const stored = store.latest({ cwd, backend });
  const recent = findRecentSession(host.paths, { cwd, backend });
  if (recent === undefined || recent.at <= (stored?.usedAt ?? 0)) return stored;
  const { agent, profile, sessionId } = recent;
  return store.create({ name: null, cwd, backend: recent.backend, agent, profile, sessionId });
}

/** Whether the agent that the call names, if it names one, is that of the conversation. */
function belongsTo(record: ConversationRecord, { backend, agent }: OpenStoredOptions): boolean {
  if (agent === undefined) return backend === undefined || backend === record.backend;
  return storedVerbatim(agent) === record.agent;
}

function checkAgent(record: ConversationRecord, options: OpenStoredOptions): void {
  if (belongsTo(record, options)) return;
  const what = record.name === null ? "The last session here" : `The session "${record.name}"`;
  const owner = record.agent ?? record.backend;
  const asked = options.agent ?? options.backend;
  throw new UsageError(`${what} belongs to ${owner}, not to ${asked}; take another name, or leave out the agent`);
}

function noLastSession(backend: string | undefined, folder: string): Error {
  const title = `There is no earlier session${backend === undefined ? "" : ` of ${backend}`} in ${folder}`;
  const verdict = plainVerdict("session_not_found", "no-last-session");
  return startError({ verdict, source: "spawn", title }, undefined);
}
