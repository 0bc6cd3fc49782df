/** Everything `main` may touch of the world outside, so that a test can run it in process. Types only. */
import type { Readable, Writable } from "node:stream";
import type { FlightRecorder } from "../../host/flight-recorder.ts";
import type { Log } from "../../host/log.ts";
import type { StopSignal } from "../shared/exit-code.ts";

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute. */
  readonly cwd: string;
  /** Calls back for every stop signal until the returned function is called; outside of that a signal ends the process. */
  readonly onSignal: (listener: (signal: StopSignal) => void) => () => void;
  readonly log: Log;
  /** Keeps the last frames of every agent. */
  readonly recorder?: FlightRecorder;
  /** Calls back when a bug ends the process: whoever listens ends what it runs. */
  readonly onCrash?: (listener: (bug: Error) => void) => () => void;
}

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Input {
  /** `pipe` is a pipe or a socket; `other` a file or /dev/null, which end by themselves. */
  readonly kind: "terminal" | "pipe" | "other";
  /** Another process reads the same pipe (a shell loop over lines): nothing may be taken from it unasked. */
  readonly shared: boolean;
  /** The stream itself; touched only when it is needed. */
  readonly open: () => Readable;
}
