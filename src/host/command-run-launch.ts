/** What a supervisor of a background command is told, and what it tells back. Types and their reading. */
import { isObject } from "./config-layer.ts";

/** One background command, as it was asked for; everything is validated. */
export interface CommandLaunch {
  readonly kind: "command" | "watch";
  /** The program and its arguments, for no shell. */
  readonly command: readonly [string, ...string[]];
  /** Absolute. */
  readonly cwd: string;
  /** Whose run it is: only runs of one owner recover each other. */
  readonly owner: string;
  readonly operationId?: string;
  /** Exit codes that are no failure, 1 to 255. */
  readonly expectedExitCodes?: readonly number[];
  /** For all of it. */
  readonly timeoutMs?: number;
  /** False: no notification is sent. */
  readonly callback: boolean;
  /** Takes notifications on its stdin. */
  readonly notifyCommand?: readonly [string, ...string[]];
  readonly confined: boolean;
  /** Somebody waits for the end, and shows the notifications. */
  readonly awaited: boolean;
  readonly watch?: WatchPlan;
  /** How long runs are kept, as `Config.retention`; applied when this one is over. */
  readonly retention?: { readonly days: number; readonly mib: number };
}

/** When a command is run again, and when no more. */
export interface WatchPlan {
  /** From the end of one poll to the start of the next. */
  readonly everyMs: number;
  /** The exit code that is waited for. */
  readonly untilExit: number;
  /** Exit codes that end the watch as failed. */
  readonly failExits: readonly number[];
  readonly maxPolls?: number;
}

/** What a supervisor tells, in this order; each at most once but notices. */
export type RunNews =
  /** Nothing was started or written down, for this reason. */
  | { readonly type: "refused"; readonly sentence: string }
  /** It is not confined as was asked, for this reason. */
  | { readonly type: "unconfined"; readonly because: string }
  | { readonly type: "started"; readonly runId: string }
  /** It could not be started; the run is written down as failed. */
  | { readonly type: "unstarted"; readonly runId: string; readonly sentence: string }
  /** The words of a notification; whoever reads this has taken it. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "ended"; readonly status: RunEnd; readonly exitCode: number };

export type RunEnd = "completed" | "failed" | "cancelled";

/** Whether a message is a launch; only the Ostler that started the supervisor can send it one. */
export function isLaunch(message: unknown): message is CommandLaunch {
  return isObject(message) && (message["kind"] === "command" || message["kind"] === "watch");
}

/** Whether a message is news; only a supervisor of ours can send it. */
export function isNews(message: unknown): message is RunNews {
  return isObject(message) && typeof message["type"] === "string";
}
