/** `ostler sessions`: the conversations that `ostler ask -s` can go on in. */
import { EXIT } from "../../errors/kinds.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { ConversationRecord } from "../../host/conversation-records.ts";
import { ostlerPaths, shortPath } from "../../host/paths.ts";
import { GoalHolds } from "../../host/permission-hold-file.ts";
import { forgetRecentSession } from "../../host/recent-sessions.ts";
import { openStore } from "../../host/store.ts";
import { UsageError } from "../../host/usage-error.ts";
import { ID_CHARS, findSession, readFolder } from "./find-session.ts";
import { harmlessJson } from "./harmless-json.ts";
import type { Io } from "./io.ts";
import { SESSIONS_OPTIONS } from "./options.ts";
import type { OptionValues } from "./options.ts";
import { BatchedOutput } from "./output.ts";
import { parseArguments } from "./parse.ts";
import { alignedRows } from "./rows.ts";
import { clockTime, shownSession, turnCount } from "./shown-session.ts";
import { unknownAction } from "./unknown-action.ts";

/** Longest word of the list, and longest sentence, in characters. */
const MAX_CELL_CHARS = 200;
const MAX_SENTENCE_CHARS = 1000;
const ACTIONS: readonly string[] = ["list", "show", "fork", "close"];
const USAGE = "write: ostler sessions, or ostler sessions show, fork or close with a NAME";
/** The one action that takes the option. */
const ACTION_OF_OPTION: Readonly<Record<string, string>> = {
  agent: "list",
  backend: "list",
  at: "fork",
  as: "fork",
  transcript: "show",
};

/** Throws an error of kind `session_not_found` (exit 4) or `busy` (exit 10: one that should be closed is in use). */
export async function sessions(argv: readonly string[], io: Io): Promise<number> {
  const { words, options } = parseArguments(argv, SESSIONS_OPTIONS);
  const [action = "list", name, ...more] = words;
  const isUsable = action === "list" ? name === undefined : name !== undefined && more.length === 0;
  if (!ACTIONS.includes(action) || !isUsable)
    throw unknownAction("sessions", words, { actions: ACTIONS, usage: USAGE });
  checkOptions(action, options);
  const cwd = readFolder(options.cwd, io);
  using store = openStore(ostlerPaths(io.env));
  const lines: string[] = [];
  if (options.agent || options.transcript || action === "fork") {
    const ofAgent = await import("./sessions-of-agent.ts");
    if (name === undefined) return await ofAgent.listOfAgent(options, store, io);
    const record = findSession(store, name, cwd, io.env);
    return await (action === "fork" ? ofAgent.fork : ofAgent.showTranscript)(record, options, store, io);
  }
  if (name === undefined) {
    const records = store.list().map(shownSession);
    lines.push(...(options.json ? [harmlessJson(records)] : listLines(records, io.env)));
  } else {
    const record = findSession(store, name, cwd, io.env);
    const shown = shownSession(record);
    if (action === "show") lines.push(...(options.json ? [harmlessJson(shown)] : showLines(shown, io.env)));
    else {
      store.remove(record.id);
      new GoalHolds(store.paths.state).remove(record.id);
      const { cwd: folder, backend, sessionId } = record;
      if (sessionId !== null) forgetRecentSession(store.paths, { cwd: folder, backend, sessionId });
      lines.push(options.json ? harmlessJson({ closed: shown }) : closedLine(shown));
    }
  }
  const stdout = new BatchedOutput(io.stdout);
  const stderr = new BatchedOutput(io.stderr);
  if (store.notice !== undefined) stderr.write(`${cleanLine(store.notice, MAX_SENTENCE_CHARS)}\n`);
  for (const line of lines) stdout.write(`${line}\n`);
  await Promise.all([stdout.finish(), stderr.finish()]);
  return EXIT.completed;
}

/** Throws UsageError for an option that means nothing for this action. */
function checkOptions(action: string, options: OptionValues<typeof SESSIONS_OPTIONS>): void {
  for (const [option, only] of Object.entries(ACTION_OF_OPTION)) {
    const isGiven = Object.entries(options).some(([name, value]) => name === option && Boolean(value));
    if (isGiven && only !== action) throw new UsageError(`--${option} belongs to ostler sessions ${only}`);
  }
  if (options.backend !== undefined && !options.agent)
    throw new UsageError("--backend says whose own sessions --agent lists; it means nothing without --agent");
}

/** Enough of an id to tell one from another. */
function shortId({ id }: ConversationRecord): string {
  return id.slice(0, ID_CHARS);
}

function listLines(records: readonly ConversationRecord[], env: NodeJS.ProcessEnv): string[] {
  if (records.length === 0) return ['No sessions yet; ostler ask -s NAME "…" makes one'];
  const rows = records.map((record) =>
    [
      record.name ?? shortId(record),
      record.backend,
      shortPath(record.cwd, env),
      turnCount(record.turns),
      clockTime(record.usedAt),
      stateOf(record),
    ].map((cell) => cleanLine(cell, MAX_CELL_CHARS)),
  );
  return alignedRows(rows);
}

function showLines(record: ConversationRecord, env: NodeJS.ProcessEnv): string[] {
  const facts: readonly (readonly [what: string, value: string | undefined])[] = [
    ["name", record.name ?? "(unnamed)"],
    ["id", record.id],
    ["agent", record.agent === undefined ? record.backend : record.agent],
    ["model", record.model],
    ["folder", shortPath(record.cwd, env)],
    ["session", record.sessionId ?? "(none yet)"],
    ["made", clockTime(record.createdAt)],
    ["last used", clockTime(record.usedAt)],
    ["turns", turnCount(record.turns).replace(/ turns?$/, "")],
    ["state", stateOf(record)],
    ...record.pastSessionIds.map(
      ({ sessionId, at, why }) => ["earlier session", `${sessionId}, left ${clockTime(at)}: ${why}`] as const,
    ),
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([what]) => what.length));
  return known.map(([what, value]) => `${what.padEnd(width)}  ${cleanLine(value ?? "", MAX_SENTENCE_CHARS)}`);
}

/** What it does now, or how its last turn ended. */
function stateOf({ owner, running, cut, lastOutcome }: ConversationRecord): string {
  if (owner !== undefined) return `${running === undefined ? "in use" : "running"} (process ${owner.pid})`;
  if (cut !== undefined) return `cut at ${clockTime(cut.startedAt)}`;
  return lastOutcome ?? "no turn yet";
}

function closedLine({ name, sessionId, backend }: ConversationRecord): string {
  const rest = sessionId === null ? "" : `; ${backend} itself may still keep session ${sessionId}`;
  return cleanLine(`Closed ${name === null ? "the unnamed session" : `"${name}"`}${rest}`, MAX_SENTENCE_CHARS);
}
