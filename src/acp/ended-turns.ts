/**
 * What is known of the turns of a session that have ended. ACP does not say to which prompt an update belongs, so once
 * the next prompt is out a late frame is told by the tool call or the message it names, and by nothing else: what names
 * neither is taken for the running turn's.
 */
import type { Frame } from "./frames.ts";

/** The newest of each are remembered. */
const MAX_IDS = 1000;
/** Ids that cannot come twice by themselves; an agent that counts its messages may begin anew with each turn. */
const UNIQUE_ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|msg_\w{8,})$/i;

export class EndedTurns {
  readonly #toolCalls = new Set<string>();
  readonly #messages = new Set<string>();

  /** Whether an update belongs to an earlier turn. A call that is announced again is a new one. */
  claims(update: Frame): boolean {
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#messages.size > 0 && has(this.#messages, update["messageId"]);
      case "tool_call":
        if (this.#toolCalls.size > 0 && typeof update["toolCallId"] === "string")
          this.#toolCalls.delete(update["toolCallId"]);
        return false;
      case "tool_call_update":
        return this.#toolCalls.size > 0 && has(this.#toolCalls, update["toolCallId"]);
      default:
        return false;
    }
  }

  /** A frame that came after its turn: more may follow. */
  add(update: Frame): void {
    this.addIds([update["toolCallId"]], [update["messageId"]]);
  }

  /** A turn ended that had these tool calls and messages. */
  addIds(toolCallIds: Iterable<unknown>, messageIds: Iterable<unknown>): void {
    for (const id of toolCallIds) if (typeof id === "string") remember(this.#toolCalls, id);
    for (const id of messageIds) if (typeof id === "string" && UNIQUE_ID.test(id)) remember(this.#messages, id);
  }
}

/** The newest messages of a turn. */
export class MessageIds {
  readonly #ids = new Set<string>();
  #last: unknown;

  /** A chunk named this message; chunk after chunk names the same. */
  saw(id: unknown): void {
    if (id === this.#last) return;
    this.#last = id;
    if (typeof id === "string") remember(this.#ids, id);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#ids.values();
  }
}

function has(ids: ReadonlySet<string>, id: unknown): boolean {
  return typeof id === "string" && ids.has(id);
}

function remember(ids: Set<string>, id: string): void {
  ids.delete(id);
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_IDS && oldest !== undefined) ids.delete(oldest);
}
