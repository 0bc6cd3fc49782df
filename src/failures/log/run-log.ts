/**
 * `output.log` of an agent's run: every frame, line of stderr and event of the supervisor, scrubbed, one JSON object a
 * line (failure observations, section 1). Nothing here throws: a log that cannot be written must not end a turn.
 */
import { join } from "node:path";
import type { RunEntry, RunLine } from "../run-lines.ts";
import { HeldLines } from "./held-lines.ts";
import { LogFile } from "./log-file.ts";
import { EntryScrubber } from "./scrub-entry.ts";

/** Name of the log in the folder of its run. */
export const LOG_NAME = "output.log";

export interface AppendOptions {
  /** When it came, ms since 1970; now by default. */
  readonly t?: number;
  /** Length of its source line; 0 or absent where nobody knows. */
  readonly chars?: number;
}

export interface Appended {
  /**
   * Scrubbed as it is written. In memory it is as it came: whoever names something by its content scrubs that first
   * (`scrubJson` changes nothing the second time), so that the name is the same when the log is read again.
   */
  readonly line: RunLine;
  /** Where it begins in the file; undefined in memory, and when it is lost. */
  readonly byte: number | undefined;
}

export class RunLog {
  #file: LogFile | undefined;
  readonly #held = new HeldLines<RunLine>();
  /** Of the lines that were kept in memory first. */
  readonly #bytes = new Map<number, number>();
  readonly #scrubber = new EntryScrubber();
  #n = 0;

  private constructor(folder: string | undefined) {
    if (folder !== undefined) this.#open(folder);
  }

  /** Goes on behind what is there, in a folder that is there. */
  static open(folder: string): RunLog {
    return new RunLog(folder);
  }

  /** Keeps the newest 2,000 lines, at most 1 MiB of source, until {@link persist}. */
  static inMemory(): RunLog {
    return new RunLog(undefined);
  }

  append(entry: RunEntry, { t = Date.now(), chars = 0 }: AppendOptions = {}): Appended {
    if (this.#file === undefined) {
      this.#n += 1;
      const line: RunLine = { t, n: this.#n, ...entry };
      this.#held.push(line, chars);
      return { line, byte: undefined };
    }
    const lost = this.#file.takeLost();
    if (lost > 0) this.#write(this.#file, { d: "ev", ev: { type: "lost", lines: lost } }, t);
    return this.#write(this.#file, entry, t);
  }

  /** Writes what memory holds and goes on in the file. */
  persist(folder: string): void {
    if (this.#file !== undefined) return;
    const lines = this.#held.takeAll();
    this.#open(folder);
    for (const { t, n, ...entry } of lines) {
      const byte = this.#file!.append(lineOf(t, n, this.#scrubber.scrub(entry).json));
      if (byte !== undefined) this.#bytes.set(n, byte);
    }
  }

  /** Where a line begins that was in memory before the log had its file. */
  byteOf(n: number): number | undefined {
    return this.#bytes.get(n);
  }

  /** Lines that memory could not keep: too many, or too long. */
  get dropped(): number {
    return this.#held.dropped;
  }

  /** Why the file cannot be written at the moment, in a sentence. */
  get problem(): string | undefined {
    return this.#file?.problem;
  }

  /** Hands everything to the system: a line is there before whatever refers to it. */
  flush(): void {
    this.#file?.flush();
  }

  close(): void {
    this.#file?.close();
  }

  #open(folder: string): void {
    this.#file = new LogFile(join(folder, LOG_NAME));
  }

  #write(file: LogFile, entry: RunEntry, t: number): Appended {
    this.#n = Math.max(this.#n, file.lastN) + 1;
    const { entry: scrubbed, json } = this.#scrubber.scrub(entry);
    return { line: { t, n: this.#n, ...scrubbed }, byte: file.append(lineOf(t, this.#n, json)) };
  }
}

function lineOf(t: number, n: number, json: string): string {
  return `{"t":${t},"n":${n},${json}\n`;
}
