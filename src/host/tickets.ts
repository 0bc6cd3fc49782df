/**
 * Who waits for a conversation, in order. A ticket counts while its process lives and shows it: one that was stopped, or
 * that another system lost, is passed over and gets its place back when it wakes.
 */
import { isLiving, isRecent } from "./conversation-records.ts";
import type { OwnerInfo, Row } from "./conversation-records.ts";
import { transaction } from "./store-file.ts";
import type { StoreContext } from "./store-file.ts";

/** How long a waiter counts without a sign of life; it gives one every two seconds. */
const SILENCE_MS = 10_000;

/** Places in the queue by number; the process that waits there, since when, and when it was last heard of. */
interface Ticket {
  readonly number: number;
  readonly waiter: OwnerInfo;
  readonly seenAt: number;
}

/** Takes a place at the end; `{ waiting }` when `limit` living ones wait already. */
export function takeTicket(
  context: StoreContext,
  id: string,
  limit: number,
): { readonly ticket: number } | { readonly waiting: number } {
  const { db, self, now } = context;
  return transaction(db, () => {
    const tickets = ticketsOf(context, id);
    for (const ticket of tickets) if (!lives(ticket, context)) dropTicket(context, ticket.number);
    const waiting = tickets.filter((ticket) => counts(ticket, context)).length;
    if (waiting >= limit) return { waiting };
    const { lastInsertRowid } = db
      .prepare(
        "INSERT INTO tickets (conversation_id, pid, started_at, system, since, seen_at) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(id, self.pid, self.startedAt, self.system, now(), now());
    return { ticket: Number(lastInsertRowid) };
  });
}

/** The living ones that wait before this ticket; without a ticket, all that wait. */
export function waitingBefore(context: StoreContext, id: string, ticket = Number.MAX_SAFE_INTEGER): OwnerInfo[] {
  return ticketsOf(context, id)
    .filter((other) => other.number < ticket && counts(other, context))
    .map(({ waiter }) => waiter);
}

/** Shows that the waiter lives. */
export function renewTicket({ db, now }: StoreContext, ticket: number): void {
  db.prepare("UPDATE tickets SET seen_at = ? WHERE id = ?").run(now(), ticket);
}

/** Leaves the queue. */
export function dropTicket({ db }: StoreContext, ticket: number): void {
  db.prepare("DELETE FROM tickets WHERE id = ?").run(ticket);
}

function ticketsOf({ db, self }: StoreContext, id: string): Ticket[] {
  const rows: Row[] = db.prepare("SELECT * FROM tickets WHERE conversation_id = ? ORDER BY id").all(id);
  return rows.map((row) => ({
    number: Number(row["id"]),
    waiter: {
      pid: Number(row["pid"]),
      startedAt: String(row["started_at"]),
      system: String(row["system"]),
      since: Number(row["since"]),
      elsewhere: row["system"] !== self.system,
    },
    seenAt: Number(row["seen_at"]),
  }));
}

function counts(ticket: Ticket, context: StoreContext): boolean {
  return isRecent(ticket.seenAt, context.now(), SILENCE_MS) && lives(ticket, context);
}

function lives({ waiter, seenAt }: Ticket, { self, now }: StoreContext): boolean {
  return isLiving(waiter, seenAt, self, now());
}
