/**
 * Which session was last used in which folder, for `--continue`: one line per plain `ask` whose agent can reopen its
 * sessions. A file that is appended to, because a database would cost every start more than the line is worth.
 */
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Profile } from "../errors/failure.ts";
import { storedVerbatim } from "./conversation-records.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { isProfile } from "./profile.ts";
import { appendText, readLastLines } from "./state-file.ts";

/** One session that an agent can reopen. */
export interface RecentSession {
  readonly cwd: string;
  /** Name of the backend; `agent` for an ad-hoc command line. */
  readonly backend: string;
  /** The command line, for an ad-hoc agent; kept without a secret that it held. */
  readonly agent?: string | undefined;
  readonly profile?: Profile | undefined;
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** It is not to be taken up again. */
  readonly closed?: true | undefined;
}

type ForgottenSession = Pick<RecentSession, "cwd" | "backend" | "sessionId">;

/** Above this the older half is dropped. */
const MAX_BYTES = 128 * 1024;
/** How much is read of a file that something else made larger. */
const MAX_READ_BYTES = 256 * 1024;
/** What is longer would drive the sessions of all other folders out. No agent names sessions so; a line may hold a long command. */
const MAX_SESSION_ID_CHARS = 1000;
const MAX_LINE_CHARS = 16 * 1024;

/** Remembers the session. Does not throw: what cannot be remembered costs a `--continue`, not a turn. */
export function noteRecentSession(paths: Paths, session: RecentSession): void {
  const file = fileOf(paths);
  const line = JSON.stringify({ ...session, agent: storedVerbatim(session.agent) ?? undefined });
  if (session.sessionId.length > MAX_SESSION_ID_CHARS || line.length > MAX_LINE_CHARS) return;
  try {
    ensureStateFolder(paths);
    appendText(file, `${line}\n`);
    if (statSync(file).size > MAX_BYTES) dropOlderHalf(file);
  } catch {
    // `--continue` will say that there is no earlier session.
  }
}

/** No `--continue` takes up this session any more. Does not throw. */
export function forgetRecentSession(paths: Paths, { cwd, backend, sessionId }: ForgottenSession): void {
  noteRecentSession(paths, { cwd, backend, sessionId, at: 0, closed: true });
}

/** The newest session of a folder, and of a backend where one is named. */
export function findRecentSession(
  paths: Paths,
  { cwd, backend }: { readonly cwd: string; readonly backend?: string | undefined },
): RecentSession | undefined {
  let text: string;
  try {
    text = readLastLines(fileOf(paths), MAX_READ_BYTES);
  } catch {
    return undefined;
  }
  const sessions = text.split("\n").flatMap((line) => readLine(line) ?? []);
  const inFolder = sessions.filter((session) => session.cwd === cwd);
  const closed = new Set(inFolder.flatMap(({ closed: isClosed, sessionId }) => (isClosed ? [sessionId] : [])));
  return inFolder.findLast(
    (session) => !closed.has(session.sessionId) && (backend === undefined || session.backend === backend),
  );
}

function fileOf(paths: Paths): string {
  return join(paths.state, "recent.jsonl");
}

/** A line that a crash or a full disk cut is no session. */
function readLine(line: string): RecentSession | undefined {
  try {
    const { cwd, backend, agent, profile, sessionId, at, closed }: Record<string, unknown> = JSON.parse(line);
    if (typeof cwd !== "string" || typeof backend !== "string" || typeof sessionId !== "string") return undefined;
    return {
      cwd,
      backend,
      sessionId,
      at: typeof at === "number" ? at : 0,
      ...(typeof agent === "string" && { agent }),
      ...(isProfile(profile) && { profile }),
      ...(closed === true && { closed }),
    };
  } catch {
    return undefined;
  }
}

function dropOlderHalf(file: string): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, readLastLines(file, MAX_BYTES / 2), { mode: 0o600 });
  renameSync(next, file);
}
