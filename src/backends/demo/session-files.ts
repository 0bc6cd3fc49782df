/** Where the demo agent keeps what was said, so that a later process can go on: one file per session, scrubbed. */
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { redact } from "../../errors/redact.ts";
import { createSession } from "./session.ts";
import type { DemoSession } from "./session.ts";

/** The argument that names the folder; without it nothing outlives the process. */
const FOLDER_ARGUMENT = "--sessions=";
const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The oldest are dropped: a demonstration is not an archive. */
const MAX_SESSIONS = 50;
const MAX_MESSAGES = 200;

/** The folder that these arguments name. */
export function readSessionFolder(args: readonly string[]): string | undefined {
  return args.find((arg) => arg.startsWith(FOLDER_ARGUMENT))?.slice(FOLDER_ARGUMENT.length);
}

/** Keeps a session. What cannot be written is forgotten with the process. */
export function saveSession(folder: string, { id, cwd, history, goal, modeId, modelId }: DemoSession): void {
  const kept = history.slice(-MAX_MESSAGES).map((message) => ({ ...message, text: redact(message.text) }));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${id}.json`);
    const keptGoal = goal && { ...goal, objective: redact(goal.objective) };
    writeFileSync(file, JSON.stringify({ cwd, history: kept, goal: keptGoal, modeId, modelId }), { mode: 0o600 });
    dropOldest(folder);
  } catch {
    // The next process says that it does not know the session.
  }
}

/** A session of an earlier process; undefined when there is none that can be read. */
export function loadSession(folder: string, id: string): DemoSession | undefined {
  if (!SESSION_ID.test(id)) return undefined;
  try {
    const file = join(folder, `${id}.json`);
    const { cwd, history, goal = null, modeId, modelId }: DemoSession = JSON.parse(readFileSync(file, "utf8"));
    return { ...createSession(cwd), id, history: [...history], goal, modeId, modelId, updatedAt: statSync(file).mtime };
  } catch {
    return undefined;
  }
}

/** The sessions of all processes, the last used first. */
export function listSessions(folder: string): DemoSession[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // Nothing was kept yet.
  }
  return names
    .flatMap((name) => loadSession(folder, name.replace(/\.json$/, "")) ?? [])
    .toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
}

function dropOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MAX_SESSIONS) return;
  const byAge = files.toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
  for (const file of byAge.slice(0, files.length - MAX_SESSIONS)) rmSync(file, { force: true });
}
