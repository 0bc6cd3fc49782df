/**
 * The tables of the store and how an older file becomes a current one. Migrations are only ever added at the end: the
 * number of those that ran stands in the file as `user_version`.
 */
import type { DatabaseSync } from "node:sqlite";

const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    name TEXT,
    cwd TEXT NOT NULL,
    backend TEXT NOT NULL,
    agent TEXT,
    profile TEXT,
    model TEXT,
    session_id TEXT,
    past_sessions TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    last_outcome TEXT,
    turn_id TEXT,
    turn_started_at INTEGER,
    cut_turn_id TEXT,
    cut_started_at INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    owner_pid INTEGER,
    owner_started_at TEXT,
    owner_system TEXT,
    owned_since INTEGER,
    owner_seen_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX conversations_by_name ON conversations (cwd, name) WHERE name IS NOT NULL;
  CREATE INDEX conversations_by_use ON conversations (used_at);
  CREATE INDEX conversations_by_folder ON conversations (cwd, used_at);
  CREATE TABLE tickets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    system TEXT NOT NULL,
    since INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX tickets_by_conversation ON tickets (conversation_id, id);
  `,
];

/** The version that this Ostler writes. */
export const STORE_VERSION = MIGRATIONS.length;

/** The version of the file; 0 = new. */
export function storeVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

/** Brings an older or new file to `STORE_VERSION`, as a whole or not at all. Needs a transaction that may write. */
export function migrate(db: DatabaseSync): void {
  for (const statements of MIGRATIONS.slice(storeVersion(db))) db.exec(statements);
  db.exec(`PRAGMA user_version = ${STORE_VERSION}`);
}
