/**
 * Subagents with sessions of their own: that they began and how they ended. Two forms on the wire, `subagent_spawned`
 * with `subagent_state_update` (seed document 002, Native subagent sessions) and the protocol's draft `subagent_update`.
 * What happens inside is told by the frames of the child session.
 */
import type { SessionEventBody, SubagentEvent, SubagentState, TurnEventBody } from "../events.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { str } from "../normalize.ts";

/** What a subagent's events repeat; its prompt is in the first one alone. */
type Known = Extract<SubagentEvent, { readonly state: unknown }>;

const MAX_KNOWN = 1000;
const MAX_ID_CHARS = 1000;
const MAX_TEXT_CHARS = 4000;

/** Both forms' words. A child whose connection was lost did not do its work; an idle one has. */
const STATES: ReadonlyMap<unknown, SubagentState> = new Map([
  ["running", "running"],
  ["requires_action", "running"],
  ["completed", "completed"],
  ["idle", "completed"],
  ["failed", "failed"],
  ["disconnected", "failed"],
  ["cancelled", "cancelled"],
]);

/** The session id of the subagent that an update is about; undefined when it is about none. */
export function readSubagentId(update: Frame): string | undefined {
  const id = str(update["subagentSessionId"] ?? (isDraft(update) ? update["sessionId"] : undefined));
  return id === undefined || id === "" || id.length > MAX_ID_CHARS ? undefined : id;
}

/**
 * The call whose subagent an update is from, where the subagent is told in its parent's session; undefined for the
 * session's own, and for tool calls, which belong to the session whoever makes them.
 */
export function readParentCall(update: Frame): string | undefined {
  const { _meta: meta, sessionUpdate } = update;
  if (sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update" || !isObject(meta)) return undefined;
  return isObject(meta["claudeCode"]) ? str(meta["claudeCode"]["parentToolUseId"]) : undefined;
}

/** An event of a subagent as its parent's news of it. Its parent's words to it are in the event that began it. */
export function toSubagent(subagentId: string): (event: SessionEventBody) => TurnEventBody[] {
  return (event) => {
    if (event.type === "user" || event.type === "turn") return [];
    // A subagent of a subagent is known by its own id.
    if (event.type === "subagent") return ["state" in event ? { ...event, parentId: subagentId } : event];
    return [{ type: "subagent", subagentId, event }];
  };
}

/** The subagents of one session, merged from deltas. */
export class Subagents {
  readonly #known = new Map<string, Known>();

  /** Takes in an update about a subagent; nothing when it says nothing new. */
  apply(update: Frame): TurnEventBody[] {
    const subagentId = readSubagentId(update);
    if (subagentId === undefined) return [];
    const known = this.#known.get(subagentId);
    const state = readState(update) ?? known?.state ?? (isDraft(update) ? "running" : undefined);
    if (state === undefined) return [];
    const name = text(update["name"]) ?? text(update["title"]);
    const task = text(update["task"]) ?? text(update["description"]);
    const now: Known = {
      type: "subagent",
      ...known,
      subagentId,
      state,
      ...(name === undefined ? {} : { name }),
      ...(task === undefined ? {} : { task }),
    };
    if (known !== undefined && isSame(known, now)) return [];
    this.#remember(now);
    const prompt = str(update["prompt"]);
    return [prompt === undefined ? now : { ...now, prompt }];
  }

  #remember(subagent: Known): void {
    this.#known.set(subagent.subagentId, subagent);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** One that ended may be sent on: it is spawned again, and runs. */
function readState(update: Frame): SubagentState | undefined {
  const state = isObject(update["state"]) ? update["state"]["state"] : update["state"];
  const isSpawn = update["sessionUpdate"] === "subagent_spawned";
  return STATES.get(state) ?? (isSpawn ? "running" : undefined);
}

function isDraft(update: Frame): boolean {
  return update["sessionUpdate"] === "subagent_update";
}

function text(value: unknown): string | undefined {
  const found = str(value);
  return found === undefined || found.trim() === "" ? undefined : found.slice(0, MAX_TEXT_CHARS);
}

function isSame(one: Known, other: Known): boolean {
  return one.state === other.state && one.name === other.name && one.task === other.task;
}
