/**
 * The file of the store: opened, checked, brought to the current version. A damaged file, or one with tables of
 * another program, is set aside, never deleted; one that a newer Ostler wrote is not touched. Whatever the disk refuses becomes one sentence.
 */
import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { STORE_VERSION, hasOwnTables, migrate, storeVersion } from "./store-schema.ts";
import { systemCode } from "../errors/system-code.ts";
import type { OwnerIdentity } from "../acp/this-process.ts";

/** How long a statement waits for another process that writes, in milliseconds. Nothing else runs meanwhile. */
export const BUSY_TIMEOUT_MS = 1000;
const LOCK_RETRY_MS = 20;
const UNHURRIED_TRIES = 10;
const UNHURRIED_PAUSE_MS = 100;

/** SQLite takes 512 bytes, and appends to the name. */
const MAX_PATH_BYTES = 500;

/** Less than this, and SQLite cannot make its files beside the store. */
const FULL_BELOW_BYTES = 128 * 1024;

/** Result codes of SQLite (its documentation, "Result and Error Codes"). */
const GENERIC = 1;
const BUSY = 5;
const READONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** The store cannot be used; the message says why and what to do. */
export class StoreError extends AcpRuntimeError {
  override readonly name = "StoreError";

  /** `transient`: the same command works in a while, with nothing to correct. */
  constructor(message: string, cause?: unknown, { transient = false } = {}) {
    super(message, { kind: transient ? "busy" : "configuration", cause });
  }
}

/** An open store, and a sentence for the person when the old file had to be set aside. */
export interface StoreFile {
  readonly db: DatabaseSync;
  readonly notice?: string;
}

/** What ownership and queue need of an open store. */
export interface StoreContext {
  readonly db: DatabaseSync;
  readonly file: string;
  /** Who owns what is claimed. */
  readonly self: OwnerIdentity;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when this process owns a conversation no longer. */
  readonly onReleased: (id: string) => void;
}

/** Opens `store.sqlite` in the state folder, or makes it. Throws `StoreError`. */
export function openStoreFile(paths: Paths, busyTimeoutMs: number): StoreFile {
  const file = join(paths.state, "store.sqlite");
  try {
    ensureStateFolder(paths);
    makePrivate(file);
    const db = openChecked(file, busyTimeoutMs);
    return typeof db === "string" ? replace(file, busyTimeoutMs) : { db };
  } catch (error) {
    throw storeError(error, file);
  }
}

/** Runs `act` in one transaction that may write; what it throws undoes everything. */
export function transaction<T>(db: DatabaseSync, act: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = act();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk has rolled back by itself.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * A write that nobody waits for in a hurry: a few tries over a second, between which everything else runs. Throws what the
 * last one throws.
 */
export async function writeUnhurried(db: DatabaseSync, write: () => void): Promise<void> {
  for (let triesLeft = UNHURRIED_TRIES; ; triesLeft -= 1) {
    try {
      withoutWaiting(db, write);
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.transient) || triesLeft <= 1) throw error;
    }
    await sleep(UNHURRIED_PAUSE_MS);
  }
}

function withoutWaiting(db: DatabaseSync, act: () => void): void {
  const timeoutMs = Number(db.prepare("PRAGMA busy_timeout").get()?.["timeout"]);
  db.exec("PRAGMA busy_timeout = 0");
  try {
    act();
  } finally {
    if (db.isOpen) db.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  }
}

/** The sentence for what SQLite or the disk said; other errors stay as they are. */
export function storeError(error: unknown, file: string): unknown {
  const where = `The session store ${file}`;
  switch (resultCode(error)) {
    case undefined:
      return systemCode(error) === "" ? error : new StoreError(`${where} cannot be used: ${blame(error, file)}`, error);
    case BUSY:
      return new StoreError(`${where} is locked by another program; try again`, error, { transient: true });
    case GENERIC:
      return new StoreError(`${where} was changed by another program (${messageOf(error)}); start again`, error);
    case FULL:
      return new StoreError(`${where} cannot be written: the disk is full`, error);
    case CORRUPT:
    case NOT_A_DATABASE:
      return new StoreError(`${where} is damaged; the next start sets it aside and begins a new one`, error);
    case READONLY:
    case IO_ERROR:
    case CANNOT_OPEN:
      if (isFull(file)) return new StoreError(`${where} cannot be written: the disk is full`, error);
      return new StoreError(`${where} cannot be used: ${blame(error, file)}`, error);
    default:
      return error;
  }
}

/** Why a file is set aside. */
type Unusable = "damaged" | "foreign";

function openChecked(file: string, timeout: number): DatabaseSync | Unusable {
  // SQLite would wait for whoever writes into a pipe.
  if (!statSync(file).isFile()) throw Object.assign(new Error(`${file} is no plain file`), { code: "EINVAL" });
  const db = new DatabaseSync(file, { timeout });
  const unusable = (why: Unusable): Unusable => {
    db.close();
    return why;
  };
  try {
    if (db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"] !== "ok") return unusable("damaged");
    const version = storeVersion(db);
    if (version > STORE_VERSION) {
      throw new StoreError(
        `The session store ${file} was written by a newer Ostler (version ${version}, this one knows ${STORE_VERSION}); update Ostler, or set OSTLER_HOME to another folder`,
      );
    }
    // Before anything is changed in it, and not while somebody writes: it may be another Ostler that makes the tables.
    if (!hasOwnTables(db) && !transaction(db, () => hasOwnTables(db))) return unusable("foreign");
    retryLocked(() => db.exec("PRAGMA journal_mode = WAL"), timeout);
    db.exec("PRAGMA synchronous = NORMAL");
    if (version < STORE_VERSION) transaction(db, () => migrate(db));
    return db;
  } catch (error) {
    db.close();
    if (resultCode(error) === CORRUPT || resultCode(error) === NOT_A_DATABASE) return "damaged";
    throw error;
  }
}

/** Sets a file that cannot be used aside and begins a new one. One process at a time: the second would set the new one aside. */
function replace(file: string, timeout: number): StoreFile {
  using lock = new DatabaseSync(`${file}-lock`, { timeout });
  chmodSync(`${file}-lock`, 0o600);
  lock.exec("BEGIN EXCLUSIVE");
  const mended = openChecked(file, timeout);
  if (typeof mended !== "string") return { db: mended };
  const [ending, what] =
    mended === "damaged" ? ["corrupt", "was damaged"] : ["foreign", "has tables that are not Ostler's"];
  const aside = `${file}.${ending}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const end of ["", "-wal", "-shm"]) if (existsSync(file + end)) renameSync(file + end, aside + end);
  makePrivate(file);
  const db = openChecked(file, timeout);
  if (typeof db === "string")
    throw new StoreError(`The session store ${file} cannot be used: a new file is damaged at once`);
  return { db, notice: `The session store ${what} and is kept as ${aside}; a new one was begun` };
}

/** SQLite gives its own files (-wal, -shm) the mode of this one. An existing file is not opened: closing it would drop locks. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    if (statSync(file).isFile()) chmodSync(file, 0o600);
  }
}

/** Changing the journal mode does not wait for other processes, whatever the timeout. */
function retryLocked(act: () => void, timeoutMs: number): void {
  for (const end = Date.now() + timeoutMs; ;) {
    try {
      return act();
    } catch (error) {
      if (resultCode(error) !== BUSY || Date.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS);
    }
  }
}

/** The primary result code; the extended ones are in the upper bytes. */
function resultCode(error: unknown): number | undefined {
  if (systemCode(error) !== "ERR_SQLITE_ERROR" || !(error instanceof Error)) return undefined;
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** What is wrong with the file or its folder. */
function blame(error: unknown, file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) return "a folder is in its place; move it away";
  if (found?.isFile() === false) return "something that is no file is in its place; move it away";
  if (found !== undefined && found.uid !== process.getuid?.())
    return "it belongs to another user; set OSTLER_HOME to a folder of yours";
  if (Buffer.byteLength(file) > MAX_PATH_BYTES) return "its path is too long; set OSTLER_HOME to a shorter one";
  const code = systemCode(error);
  if (code === "ENOSPC") return "the disk is full";
  const why = code === "ERR_SQLITE_ERROR" ? messageOf(error) : code;
  return `the folder or the file cannot be written (${why}); make it writable, or set OSTLER_HOME to another folder`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** SQLite calls a full disk an I/O error where it maps a file instead of writing it. */
function isFull(file: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dirname(file));
    return bavail * bsize < FULL_BELOW_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
