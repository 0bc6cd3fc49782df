/**
 * How a background command ended, as an event of its journal (failure observations, section 5.7). Ostler itself started it,
 * so what was declared before it ran is believed. Pure.
 */
import { keyOf } from "../keys.ts";
import type { FailureEvent } from "../records.ts";
import type { RunMeta } from "../runs/meta.ts";

/** What is known of a run of a command. */
export type CommandFacts = Pick<RunMeta, "id" | "kind" | "cwd" | "operationId" | "expectedExitCodes">;

/** The end of its process. */
export interface CommandEnding {
  readonly code: number | null;
  readonly signal: string | null;
  /** Its time was up, whatever code it then ended with. */
  readonly timedOut: boolean;
  /** It could not be started, for this reason; one sentence, scrubbed. */
  readonly problem?: string;
}

/**
 * The key of the operation that a command is a try of: the declared one, the same in every run of that kind and folder,
 * else one that no other run has.
 */
export function operationOfCommand({ id, kind, operationId, cwd }: CommandFacts): string {
  if (operationId === undefined) return keyOf("task-exit", id);
  const remoteTarget = null;
  return keyOf("task-operation", kind, operationId, cwd, remoteTarget);
}

/** Undefined for success. A declared code is an expected failure; a signal, a timeout and a failed start never are. */
export function eventOfExit(
  command: CommandFacts,
  { code, signal, timedOut, problem }: CommandEnding,
  { at, evidence }: { readonly at: number; readonly evidence: string },
): FailureEvent | undefined {
  if (problem === undefined && code === 0 && !timedOut) return undefined;
  const isOrdinary = problem === undefined && !timedOut && signal === null && code !== null;
  return {
    id: `exit:${command.id}:1`,
    operation: operationOfCommand(command),
    kind: "failure",
    category: problem === undefined ? "exit" : "supervision",
    at,
    summary:
      problem ??
      `The command ${timedOut ? "timed out" : signal === null ? `exited with ${code}` : `was ended by ${signal}`}`,
    evidence,
    expected: isOrdinary && (command.expectedExitCodes ?? []).includes(code),
    exitCode: code,
    ...(signal !== null && { signal }),
  };
}
