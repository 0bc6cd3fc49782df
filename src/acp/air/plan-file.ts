/**
 * Proposed plans as documents (seed document 002, "Plan file"): of the tool call that asks whether to carry one out, its
 * text inline or in a file, and the streamed ones of codex (`plan_update` with `contentDelta`). What reads files is given
 * from outside. One of these a session.
 */
import type { PlanDocument, TurnEventBody } from "../events.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { readPlan, str } from "../normalize.ts";
import { readAirField } from "./namespace.ts";

/** More is no plan that a person reads; the rest is left out. */
export const MAX_PLAN_CHARS = 256 * 1024;
/** Plans that may still change, the newest. */
const MAX_KEPT = 16;
const CUT = "\n\n(The plan is longer than what is shown here.)\n";
/** The approved plan of a call, as claude-agent-acp names it for clients that take `plan_update`. */
const APPROVED_PREFIX = /^plan-mode:(?=.)/;

/** The call that claude-agent-acp makes when an approved plan is closed (recording 0.101.0 exit-plan-approve). */
const CLEARING = /^(.+):plan-file-clear$/;

/** The call whose plan this one takes back, when it does nothing else; undefined for any other. */
export function readClearedCall({ sessionUpdate, toolCallId }: Frame): string | undefined {
  return sessionUpdate === "tool_call" ? CLEARING.exec(str(toolCallId) ?? "")?.[1] : undefined;
}

/** Reads the plan in a file; null = the path names no file that could hold one. Must not throw. */
export type ReadPlanFile = (path: string) => PlanDocument | null;

/** Names the file without reading it: for what happened earlier, when it held something else. */
export function namePlanFile(path: string): PlanDocument {
  return { text: null, path };
}

export class PlanDocuments {
  /** Given when the agent advertises `planFile`: no other agent's path is looked at. */
  readFile: ReadPlanFile | undefined;
  /** Proposals that were not taken back, the newest last. */
  readonly #standing = new Map<string, PlanDocument>();
  /** Text so far, by the plan's id. */
  readonly #growing = new Map<string, string>();

  /** Takes in a `tool_call` or `tool_call_update` of a call of this kind. */
  ofCall(kind: string | undefined, update: Frame): TurnEventBody[] {
    const { toolCallId, rawInput } = update;
    if (kind !== "switch_mode" || typeof toolCallId !== "string" || !isObject(rawInput)) return [];
    const inline = str(rawInput["plan"]) ?? "";
    const path = this.readFile === undefined ? undefined : own(rawInput, "planFilePath");
    if (path === undefined) return inline.trim() === "" ? [] : this.#propose(toolCallId, { text: bounded(inline) });
    const filed = typeof path === "string" && isAbsolute(path) ? this.readFile?.(path) : null;
    if (typeof filed?.text === "string") return this.#propose(toolCallId, { ...filed, text: bounded(filed.text) });
    if (inline.trim() !== "") return this.#propose(toolCallId, { text: bounded(inline) });
    return filed == null ? this.#takeBack(toolCallId) : this.#propose(toolCallId, filed);
  }

  /** Takes in a `plan_update` or `plan_removed` of an agent that tells plans by themselves. */
  ofPlan(update: Frame): TurnEventBody[] {
    const plan = isObject(update["plan"]) ? update["plan"] : update;
    if (plan["type"] === "items") return [{ type: "plan", entries: readPlan(plan) }];
    const planId = str(plan["planId"]);
    if (planId === undefined) return [];
    const id = planId.replace(APPROVED_PREFIX, "");
    if (update["sessionUpdate"] === "plan_removed") {
      this.#growing.delete(id);
      return this.#takeBack(id);
    }
    const content = str(plan["content"]);
    if (plan["type"] !== "markdown" || content === undefined) return [];
    const delta = str(readAirField(update["_meta"], "contentDelta"));
    const before = delta === undefined ? undefined : this.#growing.get(id);
    // It is full: to cut the same text again for every word would take the time of all of it.
    if (before !== undefined && before.length >= MAX_PLAN_CHARS) return [];
    const text = bounded(delta === undefined ? content : (before ?? "") + delta);
    keepNewest(this.#growing, id, text);
    return text.trim() === "" ? [] : this.#propose(id, { text, grows: true });
  }

  #propose(id: string, document: PlanDocument): TurnEventBody[] {
    const before = this.#standing.get(id);
    if (before?.text === document.text && before.path === document.path) return [];
    keepNewest(this.#standing, id, document);
    return [{ type: "plan", toolCallId: id, document }];
  }

  /**
   * The proposal of this call; else of the one that it is named after, because the agent takes a plan back by a call of its
   * own (recording claude-agent-acp 0.101.0 exit-plan-approve: `<id>:plan-file-clear`); else the newest.
   */
  #takeBack(id: string): TurnEventBody[] {
    const ids = [...this.#standing.keys()];
    const toolCallId = ids.find((one) => one === id || id.startsWith(`${one}:`)) ?? ids.at(-1);
    if (toolCallId === undefined) return [];
    this.#standing.delete(toolCallId);
    return [{ type: "plan", toolCallId, document: null }];
  }
}

function keepNewest<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.delete(id);
  map.set(id, value);
  if (map.size > MAX_KEPT) map.delete(map.keys().next().value!);
}

function bounded(text: string): string {
  return text.length <= MAX_PLAN_CHARS ? text : text.slice(0, MAX_PLAN_CHARS - CUT.length) + CUT;
}

function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}

function own(value: Frame, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
