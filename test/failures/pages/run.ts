/** A run for pages and notifications, and how their lines are read back. */
import type { RunMeta } from "../../../src/failures/runs/meta.ts";
import { STARTED_AT } from "../incidents/records.ts";

/** A completed run of an agent; it lasted 125 seconds. */
export function metaOf(more: Partial<RunMeta> = {}): RunMeta {
  return {
    version: 1,
    id: "ag_0m1k2j_17",
    kind: "agent",
    status: "completed",
    createdAt: STARTED_AT,
    endedAt: STARTED_AT + 125_000,
    title: "codex",
    cwd: "/project",
    supervisor: { pid: 1, startedAt: "1", system: "test" },
    exit: { code: 0, signal: null },
    taskRuntime: false,
    callback: true,
    told: [],
    ...more,
  };
}

/** While it runs. */
export function runningMeta(more: Partial<RunMeta> = {}): RunMeta {
  const { endedAt: _endedAt, exit: _exit, ...meta } = metaOf({ status: "running", ...more });
  return meta;
}

/** When `STARTED_AT` was, as rows say it. */
export const STARTED_ISO = "2023-11-14T22:13:20.000Z";

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
