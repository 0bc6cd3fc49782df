/**
 * The lines of a run's `output.log`: what went over the wire, and what the supervisor itself knows and did. Types only.
 * The supervisor alone writes them, scrubbed; whatever is observed is observed from them, live and on a rescan alike.
 */
import type { Failure } from "../errors/failure.ts";
import type { RunIntent } from "./intent.ts";

/** What the supervisor writes between the frames. */
export type RunEvent =
  /** A process of the run was started; `n` counts them from 1. `resumed`: an earlier process of Ostler had the run. */
  | {
      readonly type: "started";
      readonly n: number;
      readonly pid: number;
      readonly cwd: string;
      readonly resumed?: true;
    }
  /** That process ended. `expected`: Ostler stopped it. */
  | {
      readonly type: "exited";
      readonly n: number;
      readonly code: number | null;
      readonly signal: string | null;
      readonly expected: boolean;
      /** Why, when it was not expected. */
      readonly title?: string;
    }
  /** A failure that the supervisor judged (severity error): a record, an error answer, a deadline, a failed start. */
  | {
      readonly type: "failure";
      readonly failure: Failure;
      readonly sessionId: string | null;
      readonly turnId: string | null;
    }
  | { readonly type: "turn"; readonly state: "started"; readonly turnId: string; readonly sessionId: string }
  /** How a turn ended; `hasOutput`: it said or did something. */
  | {
      readonly type: "turn";
      readonly state: "ended";
      readonly turnId: string;
      readonly sessionId: string | null;
      readonly outcome: string;
      readonly hasOutput: boolean;
    }
  /** A call of Ostler's own `run` tool, seen first-hand. `refused`: why it did not run. */
  | {
      readonly type: "call";
      readonly state: "started";
      readonly callId: string;
      readonly tool: "run";
      readonly input: { readonly command: string; readonly cwd: string; readonly timeout?: number } & RunIntent;
    }
  | {
      readonly type: "call";
      readonly state: "refused";
      readonly callId: string;
      readonly tool: "run";
      readonly input: unknown;
      /** `intent`: malformed fields or a reused attemptId; `permission`: policy or a person said no. */
      readonly by: "intent" | "permission";
      readonly reason: string;
      /** The id that the call named, well-formed or not accepted: naming it spends it. */
      readonly attemptId?: string;
    }
  | {
      readonly type: "call";
      readonly state: "ended";
      readonly callId: string;
      readonly tool: "run";
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly timedOut: boolean;
      /** It was stopped with its turn or its run. */
      readonly cancelled: boolean;
      /** It could not be started at all. */
      readonly problem?: string;
    }
  /** So many lines before this one never reached the file: the disk took nothing for too long. */
  | { readonly type: "lost"; readonly lines: number }
  /** The agent called `failure_disposition`; `accepted` is what the supervisor answered. */
  | {
      readonly type: "disposition";
      readonly callId: string;
      readonly sessionId: string;
      readonly request: unknown;
      readonly accepted: boolean;
    };

/** One line of `output.log` of an agent's run, without its place. */
export type RunEntry =
  | { readonly d: "in" | "out"; readonly frame: unknown }
  | { readonly d: "err"; readonly text: string }
  | { readonly d: "ev"; readonly ev: RunEvent };

/** One line of `output.log` of an agent's run. */
export type RunLine = RunEntry & {
  /** When it was written, ms since 1970. */
  readonly t: number;
  /** From 1, one more per line of the run, whichever process wrote it. */
  readonly n: number;
};

/** Where a line begins: byte offset in `output.log`. */
export type ByteOf = (n: number) => number | undefined;
