/**
 * Sessions that nobody here opened: subagents of the harness. Whose they are is read from what frames name, and is not
 * guessed (recordings claude-agent-acp 0.101.0 subagent-ok; kiro-cli 2.18.1 subagent-crew names none).
 */
import { readSubagentId } from "./air/subagents.ts";
import { isObject } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { str } from "./normalize.ts";

/** A turn that starts more children than this has forgotten the first. */
const MAX_CHILDREN = 1000;

/** What a frame of a child says of its parent. */
export interface ParentClue {
  readonly sessionId?: string | undefined;
  /** The call of the parent that started the child. */
  readonly toolCallId?: string | undefined;
}

/** Which session each child belongs to. */
export class ChildSessions {
  readonly #parents = new Map<string, string>();
  /** Children that name nobody, with the session that had the only running turn when they were first heard. */
  readonly #heardBeside = new Map<string, string>();

  /** The id of the session that the child was found to belong to. */
  parentOf(childId: string): string | undefined {
    return this.#parents.get(childId);
  }

  learn(childId: string, parentId: string): void {
    if (childId !== parentId) remember(this.#parents, childId, parentId);
  }

  /** A frame of the parent, or of a child of it, may name another child. */
  learnFrom(params: Frame, parentId: string): void {
    const childId = readChildId(params);
    if (childId !== undefined) this.learn(childId, parentId);
  }

  /** Whether a child that names nobody may be one of this session, whose turn is the only one that runs. */
  mayBelongTo(sessionId: string, childId: string): boolean {
    remember(this.#heardBeside, childId, sessionId);
    return this.#heardBeside.get(childId) === sessionId;
  }

  /** The session is gone: returns its children, and what may have been some. */
  forget(parentId: string): string[] {
    const gone = [...this.#parents, ...this.#heardBeside]
      .filter(([child, parent]) => parent === parentId && (this.#parents.get(child) ?? parentId) === parentId)
      .map(([child]) => child);
    for (const map of [this.#parents, this.#heardBeside]) for (const child of gone) map.delete(child);
    return gone;
  }
}

/** What was found first stays. */
function remember(map: Map<string, string>, childId: string, parentId: string): void {
  if (map.has(childId)) return;
  map.set(childId, parentId);
  const [oldest] = map.keys();
  if (map.size > MAX_CHILDREN && oldest !== undefined) map.delete(oldest);
}

/** The child that an update of its parent names. */
export function readChildId(params: Frame): string | undefined {
  const { update } = params;
  return isObject(update) ? readSubagentId(update) : undefined;
}

/** What a frame of an unknown session says of its parent: in the update, in the tool call that it asks for, or beside them. */
export function readParentClue(params: Frame): ParentClue {
  const metas = [params, params["update"], params["toolCall"]].flatMap((part) =>
    isObject(part) ? [part["_meta"]] : [],
  );
  const fields = [params, ...metas.filter(isObject).flatMap((meta) => [meta["claudeCode"], meta["kiro"]])].filter(
    isObject,
  );
  const first = (key: string): string | undefined =>
    fields.map((field) => str(field[key])).find((value) => value !== undefined);
  return { sessionId: first("parentSessionId"), toolCallId: first("parentToolUseId") };
}

/** Whether a `session/update` tells of a tool call. */
export function isToolFrame({ update }: Frame): boolean {
  if (!isObject(update)) return false;
  return update["sessionUpdate"] === "tool_call" || update["sessionUpdate"] === "tool_call_update";
}
