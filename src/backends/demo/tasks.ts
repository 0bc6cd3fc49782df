/** Background tasks of a session: pretended work that a clock ends, or a person. */
import { randomUUID } from "node:crypto";
import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import type { DemoSession } from "./session.ts";

/** Announces a task and finishes it after `seconds`, unless it is stopped before. */
export function startTask(
  client: AgentContext,
  session: DemoSession,
  { toolCallId, name, seconds }: { readonly toolCallId: string; readonly name: string; readonly seconds: number },
): void {
  const asyncTaskId = randomUUID();
  const tell = (update: object): void =>
    void client.notify<object>("session/update", { sessionId: session.id, update: { asyncTaskId, ...update } });
  const end = (state: "completed" | "stopped"): void => {
    clearTimeout(timer);
    session.tasks.delete(asyncTaskId);
    tell({ sessionUpdate: "async_task_state_update", state });
  };
  const timer = setTimeout(() => end("completed"), seconds * 1000);
  session.tasks.set(asyncTaskId, () => end("stopped"));
  const task = { name, taskType: "shell", description: name, showInTranscript: false, canStop: true, toolCallId };
  tell({ sessionUpdate: "async_task_spawned", ...task });
}

/** False for a task that is unknown or over. */
export function stopTask(session: DemoSession, taskId: unknown): boolean {
  const stop = typeof taskId === "string" ? session.tasks.get(taskId) : undefined;
  stop?.();
  return stop !== undefined;
}
