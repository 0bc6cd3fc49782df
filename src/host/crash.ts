/**
 * The last resort of the command line: what nothing caught. A pipe that failed after its end is no reason to stop; for
 * everything else there is a report, the turns end as failed, the agents are ended, and the process with them.
 */
import type { FlightRecorder } from "./flight-recorder.ts";
import type { Log } from "./log.ts";
import type { Paths } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

/** Where the report is, or the system's code for why there is none. */
export type CrashReportPlace = { readonly file: string } | { readonly problem: string };

export interface CrashOptions {
  readonly paths: Paths;
  readonly log: Log;
  readonly recorder: FlightRecorder;
  /** The command line without the prompt. */
  readonly argv: () => readonly string[];
  /** Ends every turn as failed and every agent; resolves when that is done and said. */
  readonly end: (error: Error) => Promise<unknown>;
  /** The last word, when all is ended: where the report is, or why there is none. */
  readonly leave: (error: Error, report: CrashReportPlace) => void;
  /** How long `end` may take, in milliseconds. Default 15,000: the stop ladder of an agent and some. */
  readonly graceMs?: number;
}

/** Codes of a pipe that is no more. */
const PIPE_ENDED = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]);
const GRACE_MS = 15_000;
/** For the log to load and be written. */
const FLUSH_MS = 1000;

/** Somebody left while we wrote, or we wrote after the end: whoever needed the pipe has been told by its own reader. */
export function isLatePipeError(error: unknown): boolean {
  return PIPE_ENDED.has(systemCode(error));
}

/** Watches this process until it ends. A library must not: only a program that owns its process calls it, once. */
export function installCrashHandler(options: CrashOptions): { readonly isCrashing: boolean } {
  const { log } = options;
  const state = { isCrashing: false };
  const handle = (thrown: unknown): void => {
    if (isLatePipeError(thrown)) {
      log.write("warn", "pipe.late_error", { error: thrown });
      return;
    }
    log.write("error", "ostler.crashed", { error: thrown });
    if (state.isCrashing) return;
    state.isCrashing = true;
    const error =
      thrown instanceof Error ? thrown : new Error("Something was thrown that is no error", { cause: thrown });
    void crash(error, options);
  };
  process.on("uncaughtException", handle);
  process.on("unhandledRejection", handle);
  return state;
}

async function crash(error: Error, options: CrashOptions): Promise<void> {
  const { log, end, leave, graceMs = GRACE_MS } = options;
  const report = await writeReport(error, options);
  await within(graceMs, () => end(error));
  await within(FLUSH_MS, () => log.flush());
  leave(error, report);
}

async function writeReport(error: Error, { paths, argv, recorder }: CrashOptions): Promise<CrashReportPlace> {
  try {
    const { writeCrashReport } = await import("./crash-report.ts");
    return { file: writeCrashReport(paths, { error, argv: argv(), recorder }) };
  } catch (problem) {
    return { problem: systemCode(problem) || "unknown reason" };
  }
}

/** Nothing that goes wrong on the way out may keep the process. */
async function within(ms: number, act: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([act(), timeout]);
  } catch {
    // Was to be ended, and is.
  } finally {
    clearTimeout(timer);
  }
}
