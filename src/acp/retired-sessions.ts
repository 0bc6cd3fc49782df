/**
 * Sessions that are over, and their children with them. Such a session may go on talking for hours: what it says is
 * counted and dropped, and it is nobody's child (bridge semantics, section 11).
 */
import type { ParentClue } from "./child-sessions.ts";

/** The newest of each are remembered. */
const MAX_SESSIONS = 1000;
const MAX_CALLS = 1000;

/** How a session left: `given_up` = its last turn may still be at work in the agent. */
export type Retired = "closed" | "given_up";

export class RetiredSessions {
  readonly #sessions = new Map<string, Retired>();
  /** Whose tool call it was, for children that name nothing else. */
  readonly #calls = new Map<string, string>();

  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** Whether its last turn may still be at work. */
  isAtWork(sessionId: string): boolean {
    return this.#sessions.get(sessionId) === "given_up";
  }

  /** A session that was given up stays so. */
  add(sessionId: string, how: Retired, toolCallIds: Iterable<string> = []): void {
    if (!this.isAtWork(sessionId)) remember(this.#sessions, sessionId, how, MAX_SESSIONS);
    for (const id of toolCallIds) this.learnCall(id, sessionId);
  }

  learnCall(toolCallId: string, sessionId: string): void {
    remember(this.#calls, toolCallId, sessionId, MAX_CALLS);
  }

  /** Whether the last turn of any session may still be at work: its children may name nobody. */
  get anyAtWork(): boolean {
    return [...this.#sessions.values()].includes("given_up");
  }

  /** `childId` is over as well when what it says of its parent names one that is; returns whether it is. */
  adopt(childId: string, { sessionId = "", toolCallId = "" }: ParentClue): boolean {
    const how = this.#sessions.get(sessionId) ?? this.#sessions.get(this.#calls.get(toolCallId) ?? "");
    if (how !== undefined) this.add(childId, how);
    return how !== undefined;
  }

  /** The session was opened again. */
  delete(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
