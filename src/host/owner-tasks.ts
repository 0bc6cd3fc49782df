/**
 * Background work of a conversation that another Ostler runs, over its socket. Methods: `session/tasks` {conversation}
 * and `session/stop_task` {conversation, task}. Both sides.
 */
import type { AsyncTask } from "../acp/events.ts";
import type { Session } from "../acp/session-link.ts";
import type { StopTaskAnswer } from "../acp/session-tasks.ts";
import { callOwner } from "./owner-client.ts";
import type { OwnerCallOptions } from "./owner-client.ts";
import { InvalidParams, isJsonObject, requiredText } from "./owner-protocol.ts";
import type { Json } from "./owner-protocol.ts";
import type { OwnerServer } from "./owner-server.ts";

/** What fits into one line of the socket whatever the texts are. */
const MAX_TASKS = 200;
const MAX_TEXT_CHARS = 400;
/** The agent has 5 s to stop a task, its owner a moment more to say so. */
const STOP_TIMEOUT_MS = 8000;

/** One task as another terminal sees it. */
export type ListedTask = Pick<AsyncTask, "taskId" | "name" | "taskType" | "state" | "canStop"> &
  Partial<Pick<AsyncTask, "summary" | "outputFile">>;

/** Lets others see and stop the background work of this conversation. */
export function serveTasks(server: OwnerServer, conversation: string, session: () => Session): void {
  const check = (params: Json): void => {
    if (requiredText(params, "conversation") !== conversation) throw new InvalidParams("That session is not run here");
  };
  server.handle("session/tasks", (params) => {
    check(params);
    return { tasks: session().tasks.slice(-MAX_TASKS).map(listed) };
  });
  server.handle("session/stop_task", (params) => {
    check(params);
    return session().stopTask(requiredText(params, "task"));
  });
}

/** The background work that the owner at `path` runs in a conversation. Throws `OwnerCallError`. */
export async function tasksOfOwner(
  path: string,
  conversation: string,
  options: OwnerCallOptions = {},
): Promise<readonly ListedTask[]> {
  const answer = await callOwner(path, "session/tasks", { conversation }, options);
  const tasks = isJsonObject(answer) && Array.isArray(answer["tasks"]) ? answer["tasks"] : [];
  return tasks.filter(isListed);
}

/** Has the owner at `path` ask its agent to stop a task. Throws `OwnerCallError`. */
export async function stopTaskOfOwner(
  path: string,
  conversation: string,
  task: string,
  options: OwnerCallOptions = {},
): Promise<StopTaskAnswer> {
  const how = { timeoutMs: STOP_TIMEOUT_MS, ...options };
  const answer = await callOwner(path, "session/stop_task", { conversation, task }, how);
  if (!isJsonObject(answer)) return { stopped: false };
  const { stopped, problem } = answer;
  return { stopped: stopped === true, ...(typeof problem === "string" && { problem }) };
}

function listed({ taskId, name, taskType, state, canStop, summary, outputFile }: AsyncTask): ListedTask {
  return {
    taskId,
    name: name.slice(0, MAX_TEXT_CHARS),
    taskType: taskType.slice(0, MAX_TEXT_CHARS),
    state,
    canStop,
    ...(summary === undefined ? {} : { summary: summary.slice(0, MAX_TEXT_CHARS) }),
    ...(outputFile === undefined ? {} : { outputFile: outputFile.slice(0, MAX_TEXT_CHARS) }),
  };
}

function isListed(value: unknown): value is ListedTask {
  return isJsonObject(value) && typeof value["taskId"] === "string" && typeof value["name"] === "string";
}
