/**
 * The conversations of this user, in one SQLite file that every Ostler of the account shares. Loaded only where a
 * conversation is named or listed: opening it costs more than the rest of a one-shot.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { checkSessionName, readConversation, readOwner, storedVerbatim, storedText } from "./conversation-records.ts";
import type { ConversationRecord, NewConversation, OwnerInfo } from "./conversation-records.ts";
import { Owned, busyError, claim, noSuchConversation, rowOf } from "./ownership.ts";
import type { Paths } from "./paths.ts";
import { BUSY_TIMEOUT_MS, openStoreFile, storeError, transaction } from "./store-file.ts";
import { waitingBefore } from "./tickets.ts";
import type { StoreContext } from "./store-file.ts";
import { thisProcess } from "../acp/this-process.ts";
import type { OwnerIdentity } from "../acp/this-process.ts";

/** How often an owner shows that it lives, for those on other systems who cannot look. */
const HEARTBEAT_MS = 30_000;

export interface StoreOptions {
  /** Who owns what this store claims; default this process. */
  readonly self?: OwnerIdentity;
  /** Milliseconds since 1970; default the clock. */
  readonly now?: () => number;
  /** How long a statement waits for another process that writes; default 1000. */
  readonly busyTimeoutMs?: number;
}

/** Opens the store, or makes it. Throws `StoreError`: one sentence that says what is wrong with file or folder. */
export function openStore(paths: Paths, options: StoreOptions = {}): Store {
  return new Store(paths, options);
}

/** Its methods are synchronous and may throw `StoreError`. Nothing in it keeps the event loop alive. */
export class Store implements Disposable {
  /** For the person: the old file was damaged and set aside. */
  readonly notice: string | undefined;
  readonly paths: Paths;
  readonly #context: StoreContext;
  /** What this store owns, and what to do when it does no longer. */
  readonly #owned = new Map<string, PromiseWithResolvers<void>>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(paths: Paths, { self = thisProcess(), now = Date.now, busyTimeoutMs = BUSY_TIMEOUT_MS }: StoreOptions) {
    const { db, notice } = openStoreFile(paths, busyTimeoutMs);
    this.notice = notice;
    this.paths = paths;
    const file = join(paths.state, "store.sqlite");
    this.#context = { db, file, self, now, onReleased: (id) => this.#onReleased(id) };
  }

  /** Every conversation, the last used first. */
  list(): ConversationRecord[] {
    return this.#select("ORDER BY used_at DESC, rowid DESC");
  }

  /** The conversation of this name and folder. Throws `UsageError` for a name that none can have. */
  find({ name, cwd }: { readonly name: string; readonly cwd: string }): ConversationRecord | undefined {
    return this.#select("WHERE cwd = ? AND name = ?", cwd, checkSessionName(name))[0];
  }

  get(id: string): ConversationRecord | undefined {
    return this.#select("WHERE id = ?", id)[0];
  }

  /** The last used conversation of a folder that has a session, named or not. */
  latest(of: { readonly cwd: string; readonly backend?: string | undefined }): ConversationRecord | undefined {
    const newest = "ORDER BY used_at DESC, rowid DESC LIMIT 1";
    if (of.backend === undefined) return this.#select(`WHERE cwd = ? AND session_id IS NOT NULL ${newest}`, of.cwd)[0];
    return this.#select(`WHERE cwd = ? AND backend = ? AND session_id IS NOT NULL ${newest}`, of.cwd, of.backend)[0];
  }

  /** Makes a conversation, or finds the one that has this name, or without a name this session, already. */
  create(conversation: NewConversation): ConversationRecord {
    const { cwd, backend, agent, profile, model, sessionId = null } = conversation;
    const name = conversation.name === null ? null : checkSessionName(conversation.name);
    const texts = [storedVerbatim(agent), storedText(profile), storedVerbatim(model)];
    const now = this.#context.now();
    return this.#act((db) =>
      transaction(db, () => {
        const twin =
          name === null
            ? this.#select("WHERE cwd = ? AND backend = ? AND session_id = ?", cwd, backend, sessionId)[0]
            : this.find({ name, cwd });
        if (twin !== undefined) return twin;
        const row = db
          .prepare(
            `INSERT INTO conversations
               (id, name, cwd, backend, agent, profile, model, session_id, turns, created_at, used_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
          )
          .get(randomUUID(), name, cwd, backend, ...texts, sessionId, sessionId === null ? 0 : 1, now, now);
        if (row === undefined) throw noSuchConversation();
        return readConversation(row, this.#context.self, now);
      }),
    );
  }

  /** Forgets a conversation. False when it was gone; throws `AcpPromptBusy` while another process owns it or waits for it. */
  remove(id: string): boolean {
    return this.#act((db) =>
      transaction(db, () => {
        const row = rowOf(this.#context, id);
        if (row === undefined) return false;
        const owner = this.#owned.has(id) ? undefined : readOwner(row, this.#context.self, this.#context.now());
        const user = owner ?? waitingBefore(this.#context, id)[0];
        if (user !== undefined) throw busyError(user);
        db.prepare("DELETE FROM conversations WHERE id = ?").run(id);
        return true;
      }),
    );
  }

  /**
   * The right to write a conversation, or who has it (or is next in the queue) now. Throws an `AcpError` of kind
   * session_not_found when it is gone. `ticket` is for `waitForOwnership`.
   */
  claim(id: string, ticket?: number): Owned | { readonly busy: OwnerInfo } {
    const claimed = this.#act(() => claim(this.#context, id, ticket));
    if (claimed instanceof Owned) {
      this.#owned.set(id, Promise.withResolvers());
      this.#heartbeat ??= setInterval(() => this.#showLife(), HEARTBEAT_MS).unref();
    }
    return claimed;
  }

  /** The conversations that this process owns through this store. */
  ownedIds(): string[] {
    return [...this.#owned.keys()];
  }

  /** Resolves when this store owns it no longer; at once when it does not. */
  async released(id: string): Promise<void> {
    await this.#owned.get(id)?.promise;
  }

  /** Runs one step of ownership or queue in the store; what SQLite says becomes a `StoreError`. */
  use<T>(act: (context: StoreContext) => T): T {
    return this.#act(() => act(this.#context));
  }

  /** Closes the file. What is still owned is owned until this process ends. */
  close(): void {
    clearInterval(this.#heartbeat);
    if (this.#context.db.isOpen) this.#context.db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #onReleased(id: string): void {
    this.#owned.get(id)?.resolve();
    this.#owned.delete(id);
    if (this.#owned.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  #showLife(): void {
    const { db, self, now } = this.#context;
    try {
      db.prepare(
        "UPDATE conversations SET owner_seen_at = ? WHERE owner_pid = ? AND owner_started_at = ? AND owner_system = ?",
      ).run(now(), self.pid, self.startedAt, self.system);
    } catch {
      // The next one, or the next write, shows it.
    }
  }

  #select(clause: string, ...values: SQLInputValue[]): ConversationRecord[] {
    const { self, now } = this.#context;
    const rows = this.#act((db) => db.prepare(`SELECT * FROM conversations ${clause}`).all(...values));
    return rows.map((row) => readConversation(row, self, now()));
  }

  #act<T>(act: (db: DatabaseSync) => T): T {
    try {
      return act(this.#context.db);
    } catch (error) {
      throw storeError(error, this.#context.file);
    }
  }
}
