/**
 * Waiting for a conversation that somebody else owns, first come first served. What a waiter waits for is the owner's
 * socket: it answers when the conversation is released and closes when the process ends. The slow look is for owners
 * whose socket cannot be reached.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { OwnerInfo } from "./conversation-records.ts";
import { OwnerCallError, callOwner } from "./owner-client.ts";
import { socketPathOf } from "./owner-socket.ts";
import { Owned, busyError } from "./ownership.ts";
import type { Store } from "./store.ts";
import { dropTicket, renewTicket, takeTicket, waitingBefore } from "./tickets.ts";

/** How often a waiter looks without having heard anything. */
const SLOW_LOOK_MS = 500;
/** How often it shows that it lives. */
const RENEW_MS = 2000;
/** The least time between two looks. */
const SHORT_LOOK_MS = 50;
const DEFAULT_QUEUE_LIMIT = 20;

/** A place in the queue: 1 = next. `owner` has the conversation now. */
export interface Waiting {
  readonly position: number;
  readonly owner: OwnerInfo;
}

export interface WaitOptions {
  /** Leaves the queue at once; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Called first when waiting begins, then whenever the position or the owner changed. */
  readonly onWaiting?: ((waiting: Waiting) => void) | undefined;
  /** Throw instead of waiting. */
  readonly noWait?: boolean | undefined;
  /** Most prompts that may wait for one conversation (config `limits.queue`); default 20. */
  readonly queueLimit?: number | undefined;
}

/** The right to write a conversation, as soon as it is our turn. Throws `AcpPromptBusy` (exit 10), or as `Store.claim`. */
export async function waitForOwnership(store: Store, id: string, options: WaitOptions = {}): Promise<Owned> {
  const { signal, noWait = false, queueLimit = DEFAULT_QUEUE_LIMIT } = options;
  signal?.throwIfAborted();
  const claimed = store.claim(id);
  if (claimed instanceof Owned) return claimed;
  if (noWait) throw busyError(claimed.busy);
  const place = store.use((context) => takeTicket(context, id, queueLimit));
  if ("waiting" in place) throw busyError(claimed.busy, place.waiting);
  try {
    return await untilOurTurn(store, id, place.ticket, options);
  } finally {
    quietlyDrop(store, place.ticket);
  }
}

async function untilOurTurn(store: Store, id: string, ticket: number, options: WaitOptions): Promise<Owned> {
  const { signal, onWaiting } = options;
  let told = "";
  let renewedAt = performance.now();
  for (;;) {
    const claimed = store.claim(id, ticket);
    if (claimed instanceof Owned) return claimed;
    const { busy: owner } = claimed;
    if (performance.now() - renewedAt > RENEW_MS) {
      store.use((context) => renewTicket(context, ticket));
      renewedAt = performance.now();
    }
    const before = store.use((context) => waitingBefore(context, id, ticket).length);
    const news = `${before} ${owner.pid} ${owner.since}`;
    if (news !== told) onWaiting?.({ position: before + 1, owner });
    told = news;
    await untilChange(socketPathOf(store.paths, owner), id, signal);
  }
}

/** Until the owner lets go or its process ends, at most until the next look. Throws the signal's reason. */
async function untilChange(path: string, conversation: string, signal: AbortSignal | undefined): Promise<void> {
  const startedAt = performance.now();
  let heard = true;
  try {
    await callOwner(path, "wait", { conversation }, { timeoutMs: SLOW_LOOK_MS, signal });
  } catch (error) {
    signal?.throwIfAborted();
    heard = error instanceof OwnerCallError && error.reason === "closed";
  }
  // Who answers at once is not the owner but the next in the queue, and will be in a moment.
  const pauseMs = (heard ? SHORT_LOOK_MS : SLOW_LOOK_MS) - (performance.now() - startedAt);
  try {
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

function quietlyDrop(store: Store, ticket: number): void {
  try {
    store.use((context) => dropTicket(context, ticket));
  } catch {
    // It counts no longer when this process gives no sign of life for it.
  }
}
