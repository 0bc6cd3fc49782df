/** When a run is over, and when Ostler is done with it. Pure. */
import type { RunMeta, RunStatus } from "./meta.ts";

/** Which callback tells of a state; a run in any other state is not over. */
const CALLBACKS = {
  completed: "completion",
  failed: "completion",
  cancelled: "completion",
  lost: "lost",
} as const;

export type EndStatus = keyof typeof CALLBACKS;

/** Nothing of it goes on: an orphaned run has a process that lives. */
export function isEnded(status: RunStatus): status is EndStatus {
  return Object.hasOwn(CALLBACKS, status);
}

/** It ended, and its end was told or is not to be: nobody has to look at it again. */
export function isSettled({ status, callback, told }: Pick<RunMeta, "status" | "callback" | "told">): boolean {
  return isEnded(status) && (!callback || told.includes(CALLBACKS[status]));
}

/** The callback that is due for this state and was not handed over yet. */
export function dueCallback({ status, callback, told }: Pick<RunMeta, "status" | "callback" | "told">) {
  const due = isEnded(status) ? CALLBACKS[status] : status === "orphaned" ? "orphaned" : undefined;
  return due === undefined || !callback || told.includes(due) ? undefined : due;
}
