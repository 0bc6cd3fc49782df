/** Ends background work of a session (`_session/async_task/stop`, seed document 002, Async tasks). */
import { cleanLine } from "../errors/redact.ts";
import { isObject } from "./frames.ts";
import type { AcpSession } from "./session.ts";

export interface StopTaskOptions {
  /** Milliseconds that the agent may take; default 5000. */
  readonly timeoutMs?: number;
}

/** Whether the agent stopped a task. It says no for one that it does not know, that ended, or that it is stopping already. */
export interface StopTaskAnswer {
  readonly stopped: boolean;
  /** Why it was not asked, or did not answer: one sentence. */
  readonly problem?: string;
}

const TIMEOUT_MS = 5000;
const MAX_PROBLEM_CHARS = 400;

/** Never throws. That the task is stopped is told as a `task` event as well. */
export async function stopTask(
  { id, link, tasks }: AcpSession,
  taskId: string,
  { timeoutMs = TIMEOUT_MS }: StopTaskOptions = {},
): Promise<StopTaskAnswer> {
  const task = tasks.find((running) => running.taskId === taskId);
  if (task?.canStop === false) return { stopped: false, problem: `${link.backend.label} cannot stop it` };
  try {
    const params = { sessionId: id, asyncTaskId: taskId };
    const result = await link.connection.request("_session/async_task/stop", params, { deadlineMs: timeoutMs });
    return { stopped: isObject(result) && result["stopped"] === true };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { stopped: false, problem: cleanLine(why, MAX_PROBLEM_CHARS) };
  }
}
