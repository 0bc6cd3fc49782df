/**
 * Background work of a session: commands, workflows, monitors, and turns that claude starts by itself (seed document
 * 002, Async tasks). Merged from deltas: an update carries only what changed.
 */
import type { AsyncTask, TurnEventBody } from "../events.ts";
import { isObject } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { num, str } from "../normalize.ts";

/** The newest of those that run, and of those that ended: an ended one may still be corrected. */
const MAX_RUNNING = 1000;
const MAX_ENDED = 1000;
/** A longer id is no id; longer texts are cut. */
const MAX_ID_CHARS = 1000;
const MAX_TEXT_CHARS = 4000;

const STATES: ReadonlySet<unknown> = new Set<AsyncTask["state"]>([
  "running",
  "paused",
  "completed",
  "failed",
  "stopped",
]);

/** The tasks of one session and of its subagents, whose tasks one request of the session stops. */
export class AsyncTasks {
  readonly #running = new Map<string, AsyncTask>();
  readonly #ended = new Map<string, AsyncTask>();

  /** Those that have not ended, paused ones too, in the order in which they began. */
  get running(): readonly AsyncTask[] {
    return [...this.#running.values()];
  }

  /** Takes in an `async_task_*` update; nothing when it names no known task, or says nothing new. */
  apply(update: Frame): TurnEventBody[] {
    const taskId = str(update["asyncTaskId"]);
    if (taskId === undefined || taskId === "" || taskId.length > MAX_ID_CHARS) return [];
    const known = this.#running.get(taskId) ?? this.#ended.get(taskId);
    const before = known ?? (update["sessionUpdate"] === "async_task_spawned" ? newTask(taskId, update) : undefined);
    if (before === undefined) return [];
    const task = { ...before, ...readFields(update), state: nextState(before.state, update["state"]) };
    if (known !== undefined && isSame(known, task)) return [];
    this.#keep(task);
    return [{ type: "task", ...task }];
  }

  #keep(task: AsyncTask): void {
    const { taskId, state } = task;
    const runs = state === "running" || state === "paused";
    (runs ? this.#ended : this.#running).delete(taskId);
    keepNewest(runs ? this.#running : this.#ended, task, runs ? MAX_RUNNING : MAX_ENDED);
  }
}

/** A task that the agent stopped may turn out to have ended by itself; any other end is final. */
function nextState(before: AsyncTask["state"], wanted: unknown): AsyncTask["state"] {
  if (!isState(wanted) || before === "completed" || before === "failed") return before;
  return before === "stopped" && wanted !== "completed" && wanted !== "failed" ? before : wanted;
}

function isState(value: unknown): value is AsyncTask["state"] {
  return STATES.has(value);
}

function newTask(taskId: string, update: Frame): AsyncTask {
  return {
    taskId,
    name: text(update["name"]) ?? text(update["description"]) ?? taskId,
    taskType: text(update["taskType"]) ?? "task",
    state: "running",
    canStop: update["canStop"] !== false,
    showInTranscript: update["showInTranscript"] !== false,
  };
}

/** What any update of a task may carry, the tool call and the output file also later than the task. */
function readFields(update: Frame): Partial<AsyncTask> {
  const description = text(update["description"]);
  const summary = text(update["summary"]);
  const outputFile = text(update["outputFilePath"]);
  const toolCallId = text(update["toolCallId"]);
  const lastToolName = text(update["lastToolName"]);
  const usage = readUsage(update["usage"]);
  return {
    ...(description === undefined ? {} : { description }),
    ...(summary === undefined ? {} : { summary }),
    ...(outputFile === undefined ? {} : { outputFile }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(lastToolName === undefined ? {} : { lastToolName }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function readUsage(usage: unknown): AsyncTask["usage"] {
  if (!isObject(usage)) return undefined;
  const totalTokens = num(usage["totalTokens"]);
  const toolUses = num(usage["toolUses"]);
  const durationMs = num(usage["durationMs"]);
  return totalTokens === undefined || toolUses === undefined || durationMs === undefined
    ? undefined
    : { totalTokens, toolUses, durationMs };
}

function text(value: unknown): string | undefined {
  const found = str(value);
  return found === undefined || found.trim() === "" ? undefined : found.slice(0, MAX_TEXT_CHARS);
}

function isSame(one: AsyncTask, other: AsyncTask): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function keepNewest(tasks: Map<string, AsyncTask>, task: AsyncTask, max: number): void {
  tasks.set(task.taskId, task);
  const [oldest] = tasks.keys();
  if (tasks.size > max && oldest !== undefined) tasks.delete(oldest);
}
