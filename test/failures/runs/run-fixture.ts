import { thisProcess } from "../../../src/acp/this-process.ts";
import { newRunId } from "../../../src/failures/runs/ids.ts";
import type { RunMeta } from "../../../src/failures/runs/meta.ts";

/** A process of this system that is not there: no number is as high. */
export const GONE = { pid: 999_999_999, startedAt: "1" };

/** A run that goes on under this very process. */
export function aRun(over: Partial<RunMeta> = {}): RunMeta {
  const kind = over.kind ?? "agent";
  return {
    version: 1,
    id: newRunId(kind),
    kind,
    status: "running",
    createdAt: 1_700_000_000_000,
    title: "demo",
    cwd: "/project",
    supervisor: thisProcess(),
    taskRuntime: false,
    callback: true,
    told: [],
    ...over,
  };
}
