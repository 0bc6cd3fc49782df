/**
 * The failure records of one session, newest state per id. One slot would let a duplicate of an older incident come
 * back after another one; warnings are kept too, so that a late older error cannot override a newer warning (typed
 * failures, section 4). Nothing here is ever "cleared" by the harness: success with output ends what is active.
 */
import type { TypedSessionFailure } from "./air/session-failure.ts";

/** Ids kept per session; the ids of the running turn are never evicted. */
const MAX_IDS = 256;

export class RecordLatch {
  readonly #byId = new Map<string, TypedSessionFailure>();
  #raised = new Map<string, TypedSessionFailure>();
  #activeId: string | undefined;

  /** The newest accepted error, undefined when it was downgraded or cleared. */
  get active(): TypedSessionFailure | undefined {
    return this.#activeId === undefined ? undefined : this.#byId.get(this.#activeId);
  }

  /** Records accepted since `beginTurn`, newest state per id, in order of first arrival. */
  get raised(): readonly TypedSessionFailure[] {
    return [...this.#raised.values()];
  }

  /** The active error if it was raised in this turn. */
  get raisedError(): TypedSessionFailure | undefined {
    const { active } = this;
    return active !== undefined && this.#raised.has(active.id) ? active : undefined;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** What is known so far can no longer fail the turn that begins. */
  beginTurn(): void {
    this.#raised = new Map();
  }

  /** Takes a record in; a revision at or below the known one is stale and ignored entirely. */
  accept(record: TypedSessionFailure): "new" | "updated" | "stale" {
    const known = this.#byId.get(record.id);
    if (known !== undefined && record.revision <= known.revision) return "stale";
    this.#byId.delete(record.id);
    this.#byId.set(record.id, record);
    this.#raised.set(record.id, record);
    if (record.severity === "error") this.#activeId = record.id;
    else if (this.#activeId === record.id) this.#activeId = undefined;
    this.#evict();
    return known === undefined ? "new" : "updated";
  }

  /** A turn succeeded with output: that proves recovery, except from a missing login. */
  succeed(): void {
    if (this.active?.category !== "access") this.#activeId = undefined;
  }

  #evict(): void {
    if (this.#byId.size <= MAX_IDS) return;
    for (const id of this.#byId.keys()) {
      if (this.#raised.has(id) && this.#raised.size < MAX_IDS) continue;
      if (id === this.#activeId) continue;
      this.#byId.delete(id);
      this.#raised.delete(id);
      if (this.#byId.size <= MAX_IDS) return;
    }
  }
}
