/** From the start of a command to its end, whichever comes first: its own, that of its time, or a stop. */
import { constants } from "node:os";
import { EXIT } from "../errors/kinds.ts";
import type { CommandExit, CommandProcess } from "./command-run-process.ts";

/** How a command ended. */
export interface CommandEnd extends CommandExit {
  /** `timeout` and `stop`: it was ended. */
  readonly by: "itself" | "timeout" | "stop";
}

/** Who wants a run to stop. Both may fire at any time. */
export interface StopRequests {
  /** TERM, then KILL. */
  readonly stop: AbortSignal;
  /** KILL at once. */
  readonly kill: AbortSignal;
}

/** Waits for the end. `deadline`: when its time is up, on the clock of `performance.now`. */
export async function endOf(
  process: CommandProcess,
  { stop, kill }: StopRequests,
  deadline?: number,
): Promise<CommandEnd> {
  const { promise: wanted, resolve } = Promise.withResolvers<"timeout" | "stop">();
  const onStop = (): void => resolve("stop");
  const onKill = (): void => process.kill();
  const timer = deadline === undefined ? undefined : setTimeout(resolve, deadline - performance.now(), "timeout");
  stop.addEventListener("abort", onStop, { once: true });
  kill.addEventListener("abort", onKill, { once: true });
  if (stop.aborted) onStop();
  try {
    const first = await Promise.race([process.closed, wanted]);
    if (typeof first !== "string") return { ...first, by: "itself" };
    return { ...(await process.end()), by: first };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
    kill.removeEventListener("abort", onKill);
  }
}

/** What a shell would say of it; 3 when its time was up. */
export function exitCodeOf({ by, code, signal }: CommandEnd): number {
  if (by === "timeout") return EXIT.timeout;
  if (by === "stop") return EXIT.sigterm;
  return code ?? 128 + signalNumber(signal);
}

function signalNumber(signal: string | null): number {
  return Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
}
