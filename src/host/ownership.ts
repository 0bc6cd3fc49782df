/**
 * One owner of a conversation at a time, across processes. A claim raises the fence of the row; every write of an owner
 * names its fence, so that one who was asleep while another took over changes nothing when it wakes.
 */
import type { SQLInputValue } from "node:sqlite";
import { AcpError, AcpPromptBusy } from "../errors/acp-error.ts";
import { readConversation, readOwner, storedVerbatim, storedText, withPastSession } from "./conversation-records.ts";
import type { ConversationRecord, ConversationSettings, OwnerInfo, Row } from "./conversation-records.ts";
import { storeError, transaction, writeUnhurried } from "./store-file.ts";
import type { StoreContext } from "./store-file.ts";
import { dropTicket, waitingBefore } from "./tickets.ts";

/** The writer owns the conversation no longer: another Ostler took over, or it was closed. Nothing was written. */
export class LeaseLost extends AcpError {
  override readonly name = "LeaseLost";

  constructor(message: string) {
    super(message, { kind: "busy" });
  }
}

/** The error for a conversation that is not there. */
export function noSuchConversation(): AcpError {
  return new AcpError("This session does not exist any more", { kind: "session_not_found" });
}

/** The error for a conversation that somebody else owns (exit 10). `waiting` = how many wait for it. */
export function busyError({ pid, since, elsewhere }: OwnerInfo, waiting = 0): AcpPromptBusy {
  const place = elsewhere ? " in another container or on another machine" : "";
  const who = pid === process.pid && !elsewhere ? "another prompt of this Ostler" : `another Ostler${place}`;
  const queue =
    waiting === 0 ? "" : `, and ${waiting} ${waiting === 1 ? "prompt waits" : "prompts wait"} for it already`;
  return new AcpPromptBusy(`This session is in use by ${who} (process ${pid}, since ${clockTime(since)})${queue}`);
}

function clockTime(ms: number): string {
  const time = new Date(ms);
  const clock = time.toTimeString().slice(0, 8);
  return time.toDateString() === new Date().toDateString() ? clock : `${time.toDateString().slice(4)} ${clock}`;
}

/** The right to write one conversation, until it is released or lost. */
export class Owned implements Disposable {
  /** How often the conversation had been claimed. */
  readonly fence: number;
  readonly #context: StoreContext;
  #record: ConversationRecord;
  #released = false;

  constructor(context: StoreContext, row: Row) {
    this.#context = context;
    this.fence = Number(row["fence"]);
    this.#record = readConversation(row, context.self, context.now());
  }

  /** As last written by this owner. */
  get record(): ConversationRecord {
    return this.#record;
  }

  /** Binds it to a session, or to none; the one before is remembered with `why` it was left. Throws `LeaseLost`. */
  bindSession(sessionId: string | null, why = "replaced"): void {
    if (sessionId === this.#record.sessionId) return;
    this.#write(
      "session_id = ?, past_sessions = ?",
      sessionId,
      withPastSession(this.#record, this.#context.now(), why),
    );
  }

  /** Notes the run that its failures are kept in. Throws `LeaseLost`. */
  keepRun(runId: string): void {
    if (runId !== this.#record.runId) this.#write("run_id = ?", runId);
  }

  /** Notes other settings than before. Throws `LeaseLost`. */
  configure({ agent, profile, model }: ConversationSettings): void {
    this.#write(
      "agent = coalesce(?, agent), profile = coalesce(?, profile), model = coalesce(?, model)",
      storedVerbatim(agent),
      storedText(profile),
      storedVerbatim(model),
    );
  }

  /** Notes that a turn runs, before its prompt is sent; an older cut turn is forgotten. Throws `LeaseLost`. */
  beginTurn(turnId: string): void {
    const now = this.#context.now();
    this.#write(
      "turn_id = ?, turn_started_at = ?, cut_turn_id = NULL, cut_started_at = NULL, turns = turns + 1, used_at = ?",
      turnId,
      now,
      now,
    );
  }

  /** Notes how the running turn ended; `outcome` is its kind. Throws `LeaseLost`. */
  endTurn(turnId: string, outcome: string): void {
    if (turnId !== this.#record.running?.turnId) return;
    this.#write(
      "turn_id = NULL, turn_started_at = NULL, last_outcome = ?, used_at = ?",
      storedText(outcome),
      this.#context.now(),
    );
  }

  /** As {@link endTurn}, without keeping anything waiting while another process has the store locked. */
  async endTurnUnhurried(turnId: string, outcome: string): Promise<void> {
    await writeUnhurried(this.#context.db, () => this.endTurn(turnId, outcome));
  }

  /** Gives the conversation to whoever waits for it; a turn that still runs is cut. Does not throw. */
  release(): void {
    if (this.#released) return;
    try {
      const cut = this.#record.running === undefined ? "" : ", cut_turn_id = turn_id, cut_started_at = turn_started_at";
      this.#write(
        `turn_id = NULL, turn_started_at = NULL, owner_pid = NULL, owner_started_at = NULL, owner_system = NULL, owned_since = NULL${cut}`,
      );
    } catch {
      // Lost already, or the disk is gone: the end of this process gives it away.
    }
    this.#released = true;
    this.#context.onReleased(this.#record.id);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  #write(assignments: string, ...values: SQLInputValue[]): void {
    const { db, file, self, now } = this.#context;
    const { id } = this.#record;
    if (this.#released) throw new LeaseLost("This session was given away by this Ostler");
    let row: Row | undefined;
    try {
      row = db
        .prepare(`UPDATE conversations SET ${assignments}, owner_seen_at = ? WHERE id = ? AND fence = ? RETURNING *`)
        .get(...values, now(), id, this.fence);
    } catch (error) {
      throw storeError(error, file);
    }
    if (row === undefined) throw new LeaseLost(whoTookIt(this.#context, id));
    this.#record = readConversation(row, self, now());
  }
}

/**
 * Claims a conversation that nobody living owns, and that nobody living waits for before this `ticket`; the ticket is
 * spent by it. Otherwise who has it, or is next. Throws an `AcpError` (session_not_found) when it is gone.
 */
export function claim(context: StoreContext, id: string, ticket?: number): Owned | { readonly busy: OwnerInfo } {
  const { db, self, now } = context;
  // A look costs nobody anything; a transaction that writes keeps all others out.
  const taken = ownerOrNext(context, id, ticket);
  if (taken !== undefined) return { busy: taken };
  return transaction(db, () => {
    const busy = ownerOrNext(context, id, ticket);
    if (busy !== undefined) return { busy };
    if (ticket !== undefined) dropTicket(context, ticket);
    const claimed = db
      .prepare(
        `UPDATE conversations SET fence = fence + 1, turn_id = NULL, turn_started_at = NULL,
           cut_turn_id = coalesce(turn_id, cut_turn_id), cut_started_at = coalesce(turn_started_at, cut_started_at),
           owner_pid = ?, owner_started_at = ?, owner_system = ?, owned_since = ?, owner_seen_at = ?
         WHERE id = ? RETURNING *`,
      )
      .get(self.pid, self.startedAt, self.system, now(), now(), id);
    if (claimed === undefined) throw noSuchConversation();
    return new Owned(context, claimed);
  });
}

function ownerOrNext(context: StoreContext, id: string, ticket: number | undefined): OwnerInfo | undefined {
  const row = rowOf(context, id);
  if (row === undefined) throw noSuchConversation();
  return readOwner(row, context.self, context.now()) ?? waitingBefore(context, id, ticket)[0];
}

/** The row of a conversation, with its owner's columns. */
export function rowOf({ db }: StoreContext, id: string): Row | undefined {
  return db.prepare("SELECT * FROM conversations WHERE id = ?").get(id);
}

function whoTookIt(context: StoreContext, id: string): string {
  const row = rowOf(context, id);
  if (row === undefined) return "This session was closed by another Ostler";
  const owner = readOwner(row, context.self, context.now());
  return owner === undefined
    ? "This session was taken over by another Ostler"
    : `This session was taken over by another Ostler (process ${owner.pid})`;
}
