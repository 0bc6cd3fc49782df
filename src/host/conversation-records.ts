/** The rows of the store as a person's conversations, and what may be written into them. */
import type { SQLOutputValue } from "node:sqlite";
import { isAlive } from "../acp/processes.ts";
import { cleanLine, redact, stripControls } from "../errors/redact.ts";
import type { OwnerIdentity } from "../acp/this-process.ts";
import { UsageError } from "./usage-error.ts";

/** Longest name of a conversation, in characters. */
const MAX_NAME_CHARS = 100;
/** Longest kept form of other texts, in characters. */
const MAX_TEXT_CHARS = 1000;
/** How many earlier sessions a conversation remembers. */
const MAX_PAST_SESSIONS = 50;
/**
 * How long an owner of another system (container, machine, boot) is believed without a sign of life. Its process cannot
 * be looked at from here; it renews its claim four times in that time.
 */
export const FOREIGN_SILENCE_MS = 120_000;

/** Clocks of two systems differ by less; what shows itself later than this was written before a clock was set back. */
const CLOCK_DIFFERENCE_MS = 60_000;

/** One turn of a conversation. Time in milliseconds since 1970. */
export interface StartedTurn {
  readonly turnId: string;
  readonly startedAt: number;
}

/** The living process that owns a conversation. Times in milliseconds since 1970. */
export interface OwnerInfo extends OwnerIdentity {
  readonly since: number;
  /** It runs in another container or on another machine: it cannot be signalled or looked at from here. */
  readonly elsewhere: boolean;
}

/** What a person sees as one conversation. Times in milliseconds since 1970. */
export interface ConversationRecord {
  readonly id: string;
  /** Null for one that nobody named. */
  readonly name: string | null;
  readonly cwd: string;
  readonly backend: string;
  /** Command line of an ad-hoc agent. One that held a secret is kept without it, with `[redacted]` in its place. */
  readonly agent?: string;
  readonly profile?: string;
  readonly model?: string;
  /** The ACP session it is bound to. */
  readonly sessionId: string | null;
  /** Sessions it was bound to before, oldest first, and why each was left. */
  readonly pastSessionIds: readonly { readonly sessionId: string; readonly at: number; readonly why: string }[];
  /** The run that its failures are kept in; absent before its first prompt. */
  readonly runId?: string;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly turns: number;
  /** Kind of the last outcome. */
  readonly lastOutcome?: string;
  /** The turn that its living owner runs now. */
  readonly running?: StartedTurn;
  /** The turn that was running when its owner went away; until the next turn begins. */
  readonly cut?: StartedTurn;
  readonly owner?: OwnerInfo;
}

/** What a new conversation is made of. */
export type NewConversation = Pick<ConversationRecord, "name" | "cwd" | "backend"> &
  ConversationSettings & {
    /** One that exists already; without a name it says which conversation it is. */
    readonly sessionId?: string | undefined;
  };

/** What may change later; undefined leaves it as it is. */
export interface ConversationSettings {
  readonly agent?: string | undefined;
  readonly profile?: string | undefined;
  readonly model?: string | undefined;
}

/** A row of the store. */
export type Row = Record<string, SQLOutputValue>;

/** The name without blanks around it. Throws `UsageError` for one that no conversation can have. */
export function checkSessionName(name: string): string {
  const trimmed = name.trim();
  const length = Array.from(trimmed).length;
  if (length === 0) throw new UsageError("A session name must not be empty");
  if (length > MAX_NAME_CHARS)
    throw new UsageError(`A session name has at most ${MAX_NAME_CHARS} characters; this one has ${length}`);
  if (/\s/.test(trimmed.replaceAll(" ", "")) || stripControls(trimmed) !== trimmed || !trimmed.isWellFormed()) {
    throw new UsageError("A session name must not hold line breaks, tabs or invisible characters");
  }
  if (redact(trimmed) !== trimmed) {
    throw new UsageError("A session name must not hold a secret or a private path; it is shown in lists and logs");
  }
  return trimmed;
}

/** A text that is stored to be shown: one line, scrubbed; null for none. */
export function storedText(text: string | undefined): string | null {
  return text === undefined ? null : cleanLine(text, MAX_TEXT_CHARS);
}

/** A text that is used again (a command line, a model) keeps its paths, which it is nothing without, and loses its secrets. */
export function storedVerbatim(text: string | undefined): string | null {
  if (text === undefined) return null;
  const scrubbed = redact(text);
  return isWhole(scrubbed) ? text : scrubbed;
}

/** Whether a stored text lost nothing, so that it can be used again. */
export function isWhole(stored: string): boolean {
  return !stored.includes("[redacted]");
}

/** The earlier sessions of a row with one more, as the store keeps them. */
export function withPastSession(record: ConversationRecord, at: number, why: string): string {
  const left = record.sessionId === null ? [] : [{ sessionId: record.sessionId, at, why: storedText(why) }];
  return JSON.stringify([...record.pastSessionIds, ...left].slice(-MAX_PAST_SESSIONS));
}

/** A row as a record. A turn without a living owner was cut. */
export function readConversation(row: Row, self: OwnerIdentity, now: number): ConversationRecord {
  const owner = readOwner(row, self, now);
  const turn = readTurn(row["turn_id"], row["turn_started_at"]);
  const cut = (owner === undefined ? turn : undefined) ?? readTurn(row["cut_turn_id"], row["cut_started_at"]);
  const [agent, profile, model, lastOutcome, runId] = ["agent", "profile", "model", "last_outcome", "run_id"].map(
    (column) => optional(row[column]),
  );
  return {
    id: string(row["id"]),
    name: optional(row["name"]) ?? null,
    cwd: string(row["cwd"]),
    backend: string(row["backend"]),
    ...(agent === undefined ? {} : { agent }),
    ...(profile === undefined ? {} : { profile }),
    ...(model === undefined ? {} : { model }),
    sessionId: optional(row["session_id"]) ?? null,
    pastSessionIds: readPastSessions(row["past_sessions"]),
    createdAt: Number(row["created_at"]),
    usedAt: Number(row["used_at"]),
    turns: Number(row["turns"]),
    ...(lastOutcome === undefined ? {} : { lastOutcome }),
    ...(runId === undefined ? {} : { runId }),
    ...(owner === undefined ? {} : { owner }),
    ...(owner === undefined || turn === undefined ? {} : { running: turn }),
    ...(cut === undefined ? {} : { cut }),
  };
}

/** The owner of a row while it lives. */
export function readOwner(row: Row, self: OwnerIdentity, now: number): OwnerInfo | undefined {
  if (typeof row["owner_pid"] !== "number") return undefined;
  const identity = {
    pid: row["owner_pid"],
    startedAt: string(row["owner_started_at"]),
    system: string(row["owner_system"]),
  };
  if (!isLiving(identity, Number(row["owner_seen_at"]), self, now)) return undefined;
  return { ...identity, since: Number(row["owned_since"]), elsewhere: identity.system !== self.system };
}

/** Whether a process that wrote itself down still runs; `seenAt` is its last sign of life. */
export function isLiving(process_: OwnerIdentity, seenAt: number, self: OwnerIdentity, now: number): boolean {
  if (process_.system !== self.system) return isRecent(seenAt, now, FOREIGN_SILENCE_MS);
  if (process_.pid === self.pid && process_.startedAt === self.startedAt) return true;
  return process_.startedAt === "" ? hasNumber(process_.pid) : isAlive(process_);
}

/** Whether a sign of life is younger than `silenceMs`, and not from the future. */
export function isRecent(seenAt: number, now: number, silenceMs: number): boolean {
  return now - seenAt < silenceMs && seenAt - now <= CLOCK_DIFFERENCE_MS;
}

function hasNumber(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readTurn(turnId: SQLOutputValue | undefined, startedAt: SQLOutputValue | undefined): StartedTurn | undefined {
  return typeof turnId === "string" ? { turnId, startedAt: Number(startedAt) } : undefined;
}

function readPastSessions(json: SQLOutputValue | undefined): ConversationRecord["pastSessionIds"] {
  if (json === "[]") return [];
  try {
    const past: unknown = JSON.parse(string(json));
    return Array.isArray(past) ? past.flatMap(readPastSession) : [];
  } catch {
    return [];
  }
}

function readPastSession(past: unknown): ConversationRecord["pastSessionIds"] {
  if (typeof past !== "object" || past === null) return [];
  const { sessionId, at, why }: Partial<Record<string, unknown>> = { ...past };
  if (typeof sessionId !== "string") return [];
  return [{ sessionId, at: typeof at === "number" ? at : Number.NaN, why: typeof why === "string" ? why : "" }];
}

function string(value: SQLOutputValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function optional(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
