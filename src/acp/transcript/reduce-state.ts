/** What is true of the session and not said at one place: settings, goal, tasks, how full it is. Pure. */
import type { AsyncTask, TurnEventBody } from "../events.ts";
import type { Usage } from "../types.ts";
import { sizeOf } from "./bounded.ts";
import { findEntry, putEntry, withState } from "./placement.ts";
import type { EventSource } from "./placement.ts";
import type { Transcript } from "./transcript.ts";

/** Tasks that are known; the first that ended is forgotten first. */
const MAX_TASKS = 200;

type StateEvent = Extract<
  TurnEventBody,
  { readonly type: "session" | "mode" | "commands" | "goal" | "usage" | "task" }
>;

export function reduceState(transcript: Transcript, source: EventSource, event: StateEvent): Transcript {
  switch (event.type) {
    case "session": {
      const { sessionId, backend, agent, model, mode } = event;
      const known = transcript.state;
      return withState(transcript, {
        sessionId,
        backend,
        agent: agent ?? known.agent,
        model: model ?? known.model,
        mode: mode ?? known.mode,
      });
    }
    case "mode":
      return withState(transcript, { mode: event.modeId });
    case "commands":
      return withState(transcript, { commands: event.commands });
    case "goal":
      return withState(transcript, { goal: event.goal });
    case "usage": {
      const { contextUsed: used, contextSize: size, cost } = event;
      const news = { ...(used !== undefined && { used }), ...(size !== undefined && { size }), ...(cost && { cost }) };
      return withState(transcript, { context: { ...transcript.state.context, ...news } });
    }
    case "task":
      return reduceTask(transcript, source, event);
  }
}

/** Every task is known; among the messages stands what the agent wants there. */
function reduceTask(
  transcript: Transcript,
  source: EventSource,
  event: Extract<StateEvent, { readonly type: "task" }>,
): Transcript {
  const { type: _, ...task } = event;
  const tasks = new Map(transcript.state.tasks).set(task.taskId, task);
  if (tasks.size > MAX_TASKS) tasks.delete(firstToForget(tasks));
  const next = withState(transcript, { tasks });
  const key = `task:${task.taskId}`;
  if (!task.showInTranscript && findEntry(transcript, key) === undefined) return next;
  return putEntry(next, source, { type: "task", task }, sizeOf(task), key);
}

function firstToForget(tasks: ReadonlyMap<string, AsyncTask>): string {
  const [first = ""] = tasks.keys();
  const ended = [...tasks.values()].find(({ state }) => state !== "running" && state !== "paused");
  return ended?.taskId ?? first;
}

/** The tokens of another turn on top. */
export function addUsage(sum: Usage | null, more: Usage): Usage {
  if (sum === null) return more;
  const models = new Map(sum.byModel.map((row) => [row.model, row]));
  for (const row of more.byModel) models.set(row.model, { ...row, ...added(models.get(row.model), row) });
  return { ...added(sum, more), byModel: [...models.values()].slice(0, MAX_MODELS) };
}

type Tokens = Omit<Usage, "byModel">;

const MAX_MODELS = 100;

function added(sum: Tokens | undefined, more: Tokens): Tokens {
  return {
    inputTokens: (sum?.inputTokens ?? 0) + more.inputTokens,
    outputTokens: (sum?.outputTokens ?? 0) + more.outputTokens,
    cachedTokens: (sum?.cachedTokens ?? 0) + more.cachedTokens,
  };
}
