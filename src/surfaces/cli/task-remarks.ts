/** Background tasks and subagents as remarks: one line when one begins and one when it ends. Pure but for what was said before. */
import type { AsyncTask, SubagentEvent, TurnEvent } from "../../acp/events.ts";
import { cleanLine } from "../../errors/redact.ts";
import { sentenceFor } from "../../errors/wording.ts";
import type { Remark } from "./remarks.ts";

const MAX_NAME_CHARS = 200;
/** Whose last state is remembered, so that the same is not said twice. */
const MAX_REMEMBERED = 1000;

const TASK_LEAD: Readonly<Record<AsyncTask["state"], string>> = {
  running: "▸ In the background",
  paused: "▸ Paused in the background",
  completed: "✓ Done in the background",
  failed: "✗ Failed in the background",
  stopped: "■ Stopped in the background",
};
const SUBAGENT_LEAD = {
  running: "▸ Subagent",
  completed: "✓ Subagent done",
  failed: "✗ Subagent failed",
  cancelled: "■ Subagent cancelled",
} as const;

export class TaskRemarks {
  readonly #states = new Map<string, string>();

  task({ taskId, name, state, summary }: TurnEvent & { readonly type: "task" }): readonly Remark[] {
    if (!this.#isNews(`task ${taskId}`, state)) return [];
    const more = state === "running" || summary === undefined ? "" : `: ${cleanLine(summary, MAX_NAME_CHARS)}`;
    return [dim(`${TASK_LEAD[state]}: ${cleanLine(name, MAX_NAME_CHARS)}${more}`)];
  }

  /** Of what a subagent does, only what is left running and what went wrong. */
  subagent(event: SubagentEvent): readonly Remark[] {
    if ("event" in event) {
      if (event.event.type === "task") return this.task(event.event);
      if (event.event.type !== "failure") return [];
      return [{ text: `✗ Subagent: ${sentenceFor(event.event.failure)}`, tone: "warning" }];
    }
    const { subagentId, state, name, task } = event;
    if (!this.#isNews(`subagent ${subagentId}`, state)) return [];
    return [dim(`${SUBAGENT_LEAD[state]}: ${cleanLine(name ?? task ?? subagentId, MAX_NAME_CHARS)}`)];
  }

  #isNews(key: string, state: string): boolean {
    if (this.#states.get(key) === state) return false;
    this.#states.delete(key);
    this.#states.set(key, state);
    if (this.#states.size > MAX_REMEMBERED) this.#states.delete(this.#states.keys().next().value!);
    return true;
  }
}

function dim(text: string): Remark {
  return { text, tone: "dim" };
}
