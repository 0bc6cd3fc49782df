/** A kept conversation as it may be shown: what it holds came from agents, from arguments, and from a file of the disk. */
import { cleanLine, stripControls } from "../../errors/redact.ts";
import type { ConversationRecord } from "../../host/conversation-records.ts";
import { isWhole } from "../../host/conversation-records.ts";

/** Longest text of a record, in characters. */
const MAX_TEXT_CHARS = 1000;
/** Longest path of Linux. */
const MAX_PATH_CHARS = 4096;

/** The record with every text on one line, scrubbed, and shortened. What is used again keeps its private paths. */
export function shownSession(record: ConversationRecord): ConversationRecord {
  const { name, agent, profile, model, sessionId, pastSessionIds, lastOutcome, running, cut, owner } = record;
  return {
    ...record,
    id: line(record.id),
    name: name === null ? null : line(name),
    cwd: verbatim(record.cwd),
    backend: line(record.backend),
    ...(agent !== undefined && { agent: verbatim(agent) }),
    ...(profile !== undefined && { profile: line(profile) }),
    ...(model !== undefined && { model: verbatim(model) }),
    sessionId: sessionId === null ? null : line(sessionId),
    pastSessionIds: pastSessionIds.map((past) => ({ ...past, sessionId: line(past.sessionId), why: line(past.why) })),
    ...(lastOutcome !== undefined && { lastOutcome: line(lastOutcome) }),
    ...(running !== undefined && { running: { ...running, turnId: line(running.turnId) } }),
    ...(cut !== undefined && { cut: { ...cut, turnId: line(cut.turnId) } }),
    ...(owner !== undefined && { owner: { ...owner, startedAt: line(owner.startedAt), system: line(owner.system) } }),
  };
}

/** `2026-11-30 14:05`, in the time zone of the person; "unknown" for what is no time. */
export function clockTime(ms: number): string {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return "unknown";
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** `2 turns`. */
export function turnCount(turns: number): string {
  if (!Number.isSafeInteger(turns) || turns < 0) return "unknown turns";
  return `${turns} ${turns === 1 ? "turn" : "turns"}`;
}

function line(text: string): string {
  return cleanLine(text, MAX_TEXT_CHARS);
}

function verbatim(text: string): string {
  const scrubbed = cleanLine(text, MAX_PATH_CHARS);
  if (!isWhole(scrubbed) || text.length > MAX_PATH_CHARS) return scrubbed;
  return stripControls(text).replace(/[\t\n\u2028\u2029]/g, " ");
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
