/** The actions of `ostler sessions` that ask the agent: a fork, its own list, and the end of a transcript. */
import type { SessionEvent } from "../../acp/events.ts";
import { reduceTranscript } from "../../acp/transcript/reduce.ts";
import { emptyTranscript } from "../../acp/transcript/placement.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { ConversationRecord } from "../../host/conversation-records.ts";
import { agentOf } from "../../host/find-stored.ts";
import { forkStored } from "../../host/fork-stored.ts";
import { replayHistory } from "../../host/replayed-history.ts";
import type { Store } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { withAgent, withHost } from "./agent-command.ts";
import type { AgentRun } from "./agent-command.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Io } from "./io.ts";
import type { SESSIONS_OPTIONS, OptionValues } from "./options.ts";
import { alignedRows } from "./rows.ts";
import { ScrubbedEvents } from "./scrubbed-events.ts";
import { clockTime, shownSession } from "./shown-session.ts";
import { transcriptLines } from "./transcript-lines.ts";

type SessionsOptions = OptionValues<typeof SESSIONS_OPTIONS>;

const MAX_TITLE_CHARS = 60;
const MAX_SENTENCE_CHARS = 1000;

/** `sessions list --agent`: what the agent keeps for this folder, and what of it has a name here. */
export function listOfAgent(options: SessionsOptions, store: Store, io: Io): Promise<number> {
  const { backend, cwd, config, json } = options;
  return withAgent({ backend, cwd, config, json }, io, async ({ runtime, signal, ...agent }) => {
    const { sessions, isComplete } = await runtime.listSessions({ cwd: agent.cwd, signal });
    const names = new Map(store.list().map(({ sessionId, name }) => [sessionId, name]));
    if (json) {
      const listed = sessions.map(({ title, ...session }) => ({
        ...session,
        ...(title !== undefined && { title: cleanLine(title, MAX_SENTENCE_CHARS) }),
        name: names.get(session.sessionId) ?? null,
      }));
      return [harmlessJson({ backend: agent.backend, sessions: listed, isComplete })];
    }
    if (sessions.length === 0) return [`${runtime.backend.label} keeps no sessions for this folder`];
    const rows = sessions.map(({ sessionId, title = "", updatedAt }) => [
      cleanLine(sessionId, MAX_TITLE_CHARS),
      updatedAt === undefined ? "" : clockTime(Date.parse(updatedAt)),
      cleanLine(names.get(sessionId) ?? "", MAX_TITLE_CHARS),
      cleanLine(title, MAX_TITLE_CHARS),
    ]);
    return [...alignedRows(rows), ...(isComplete ? [] : ["(the agent has more, and does not say which)"])];
  });
}

/** `sessions fork NAME`. */
export function fork(record: ConversationRecord, options: SessionsOptions, store: Store, io: Io): Promise<number> {
  const { at, as, json } = options;
  return withHost(options, io, async (run) => {
    const { host, signal } = run;
    const made = await forkStored(record, { host, store, signal, at, as, start: () => startAgentOf(record, run) });
    const shown = shownSession(made);
    if (json) return [harmlessJson({ forked: shown })];
    const from = record.name === null ? "The session" : `"${record.name}"`;
    return [cleanLine(`${from} is forked as "${shown.name}" (session ${shown.sessionId})`, MAX_SENTENCE_CHARS)];
  });
}

/** `sessions show NAME --transcript`: the end of what the agent repeats when the session is loaded. */
export function showTranscript(
  record: ConversationRecord,
  options: SessionsOptions,
  store: Store,
  io: Io,
): Promise<number> {
  const { sessionId } = record;
  if (sessionId === null) throw new UsageError("Nothing was said in this session yet");
  return withHost(options, io, async (run) => {
    const { host, signal } = run;
    const runtime = await startAgentOf(record, run);
    let transcript = emptyTranscript();
    const scrubbed = new ScrubbedEvents();
    const hear = (told: SessionEvent): void => {
      const { event } = told;
      const isSaid = event.type === "user" || event.type === "turn";
      transcript = reduceTranscript(transcript, isSaid ? told : { ...told, event: scrubbed.of(event) });
    };
    await replayHistory({ ...record, sessionId }, hear, { host, store, runtime, signal });
    if (options.json) return [harmlessJson({ entries: transcript.entries, earlier: transcript.earlier })];
    const lines = transcriptLines(transcript);
    return lines.length === 0 ? [`${runtime.backend.label} repeats nothing of this session`] : lines;
  });
}

async function startAgentOf(record: ConversationRecord, { start }: AgentRun) {
  const { runtime } = await start({ ...agentOf(record, { which: { last: true } }), cwd: record.cwd });
  return runtime;
}
