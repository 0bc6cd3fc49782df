import { keyOf } from "../failures/keys.ts";
import type { FailureEvent } from "../failures/records.ts";
import type { RunMeta } from "../failures/runs/meta.ts";

export function operationOfCommand({
  id,
  kind,
  operationId,
  cwd,
}: Pick<RunMeta, "id" | "kind" | "operationId" | "cwd">): string {
  return operationId === undefined ? keyOf("task-exit", id) : keyOf("task-operation", kind, operationId, cwd, null);
}

export function eventOfExit(
  meta: Pick<RunMeta, "id" | "kind" | "operationId" | "cwd" | "expectedExitCodes">,
  end: { code: number | null; signal: string | null; timedOut: boolean; problem?: string },
  { at, evidence }: { at: number; evidence: string },
): FailureEvent | undefined {
  if (end.code === 0 && !end.timedOut && end.problem === undefined) return undefined;
  const expected =
    end.code !== null &&
    end.signal === null &&
    !end.timedOut &&
    end.problem === undefined &&
    (meta.expectedExitCodes ?? []).includes(end.code);
  return {
    kind: "failure",
    category: end.problem === undefined ? "exit" : "supervision",
    id: `exit:${meta.id}:1`,
    operation: end.problem === undefined ? operationOfCommand(meta) : keyOf("supervision", meta.id, "start"),
    at,
    summary:
      end.problem ??
      (end.timedOut
        ? "The command timed out"
        : end.signal === null
          ? `The command exited with ${end.code}`
          : `The command was ended by ${end.signal}`),
    evidence,
    expected,
    exitCode: end.code,
    ...(end.signal !== null && { signal: end.signal }),
  };
}
