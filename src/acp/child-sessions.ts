/**
 * Sessions that nobody here opened: subagents of the harness. Whose they are is read from what frames name, and is not
 * guessed (recordings claude-agent-acp 0.101.0 subagent-ok; kiro-cli 2.18.1 subagent-crew names none).
 */
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

  /** The id of the session that the child was found to belong to. */
  parentOf(childId: string): string | undefined {
    return this.#parents.get(childId);
  }

  learn(childId: string, parentId: string): void {
    if (childId === parentId || this.#parents.has(childId)) return;
    this.#parents.set(childId, parentId);
    if (this.#parents.size > MAX_CHILDREN) this.#parents.delete(this.#parents.keys().next().value!);
  }

  /** The session is gone, and with it its children. */
  forget(parentId: string): void {
    for (const [child, parent] of this.#parents) if (parent === parentId) this.#parents.delete(child);
  }
}

/** The child that an update of its parent names. */
export function readChildId(params: Frame): string | undefined {
  const { update } = params;
  return isObject(update) ? str(update["subagentSessionId"]) : undefined;
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
