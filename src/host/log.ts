/**
 * The log of Ostler: JSON lines in `logs/ostler.log` of the state folder. What is not written costs nothing: the library
 * that formats and the file itself are loaded with the first record that is wanted, and records wait until then.
 */
import { join } from "node:path";
import type { LogLevel, LogSink } from "../acp/ports.ts";
import type { LogWriter } from "./log-writer.ts";
import type { Paths } from "./paths.ts";
import { systemCode } from "../errors/system-code.ts";

export type LogThreshold = LogLevel | "silent";

/** From nothing to everything. */
export const LOG_THRESHOLDS = ["silent", "error", "warn", "info", "debug", "trace"] as const satisfies LogThreshold[];
export const DEFAULT_LOG_THRESHOLD: LogThreshold = "warn";

/** Records that wait for the file; more than a start can produce. */
const MAX_WAITING = 1000;

export interface LogRecord {
  readonly atMs: number;
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A threshold by its name, as `--log-level` and `OSTLER_LOG` give it. */
export function readLogThreshold(name: string | undefined): LogThreshold | undefined {
  return LOG_THRESHOLDS.find((threshold) => threshold === name);
}

export class Log {
  /** Records above it are dropped. May be changed at any time. */
  threshold: LogThreshold;
  /** Called once, with a sentence, when the log cannot be written; nothing is logged from then on. */
  onBroken: (sentence: string) => void = () => {};
  readonly #folder: string;
  #waiting: LogRecord[] = [];
  #writer: LogWriter | undefined;
  #loading: Promise<void> | undefined;
  #isBroken = false;

  constructor(paths: Paths, threshold: LogThreshold = DEFAULT_LOG_THRESHOLD) {
    this.#folder = join(paths.state, "logs");
    this.threshold = threshold;
  }

  /** Never throws. Fields are scrubbed, and bounded in depth and size. */
  readonly write: LogSink = (level, event, fields = {}) => {
    if (LOG_THRESHOLDS.indexOf(level) > LOG_THRESHOLDS.indexOf(this.threshold) || this.#isBroken) return;
    const record = { atMs: Date.now(), level, event, fields };
    if (this.#writer !== undefined) {
      this.#attempt(this.#writer, record);
      return;
    }
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(record);
    this.#loading ??= this.#load();
  };

  /** Resolves when everything has been written, or cannot be. */
  async flush(): Promise<void> {
    await this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { LogWriter } = await import("./log-writer.ts");
      this.#writer = new LogWriter(this.#folder);
    } catch (error) {
      this.#break(error);
      return;
    }
    for (const record of this.#waiting.splice(0)) this.#attempt(this.#writer, record);
  }

  #attempt(writer: LogWriter, record: LogRecord): void {
    if (this.#isBroken) return;
    try {
      writer.write(record);
    } catch (error) {
      this.#break(error);
    }
  }

  #break(error: unknown): void {
    this.#isBroken = true;
    this.#waiting = [];
    this.onBroken(
      `The log in ${this.#folder} cannot be written (${systemCode(error) || "unknown reason"}); --log-level silent does without it`,
    );
  }
}
