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
  `ALTER TABLE conversations ADD COLUMN run_id TEXT;`,
];

/** What the statements of this version rely on. */
const COLUMNS: Readonly<Record<string, string>> = {
  conversations: `id name cwd backend agent profile model session_id past_sessions created_at used_at turns last_outcome turn_id
    turn_started_at cut_turn_id cut_started_at fence run_id owner_pid owner_started_at owner_system owned_since owner_seen_at`,
  tickets: "id conversation_id pid started_at system since seen_at",
};

/** The version that this Ostler writes. */
export const STORE_VERSION = MIGRATIONS.length;

/** The version of the file; 0 = new. */
export function storeVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

/**
 * Whether the tables are Ostler's: a file of version 0 has none yet, one of this version has every column that is used.
 * Throws what SQLite says of a file that cannot be read.
 */
export function hasOwnTables(db: DatabaseSync): boolean {
  const version = storeVersion(db);
  if (version === 0) return db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (version !== STORE_VERSION) return true;
  const columnsOf = db.prepare("SELECT name FROM pragma_table_info(?)");
  return Object.entries(COLUMNS).every(([table, columns]) => {
    const found = new Set(columnsOf.all(table).map(({ name }) => name));
    return columns.split(/\s+/).every((column) => found.has(column));
  });
}

/** Brings an older or new file to `STORE_VERSION`, as a whole or not at all. Needs a transaction that may write. */
export function migrate(db: DatabaseSync): void {
  for (const statements of MIGRATIONS.slice(storeVersion(db))) db.exec(statements);
  db.exec(`PRAGMA user_version = ${STORE_VERSION}`);
}
