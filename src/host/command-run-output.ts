/** `output.log` of a command: what its pipes say, line by line as it comes. The lines of two pipes never mix. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import { systemCode } from "../errors/system-code.ts";
import { ScrubbedLines } from "./command-run-lines.ts";

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_WRONLY } = constants;
const LINE_FEED = 10;

/** One pipe of the command. */
export interface OutputPipe {
  write(chunk: Buffer): void;
  /** Writes a last line without an end. */
  end(): void;
}

export class CommandOutput {
  readonly #fd: number;
  /** In the file. */
  #bytes: number;
  #lastLineAt: number;
  #isWithinLine = false;
  #lost = 0;
  #lostBy = "";

  /** Makes the file (0600) or goes on behind what is there. Throws the system's error. */
  constructor(file: string) {
    this.#fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o600);
    fchmodSync(this.#fd, 0o600);
    this.#bytes = fstatSync(this.#fd).size;
    this.#lastLineAt = this.#bytes;
  }

  /** Offset of the first byte of the last line: where the end of the command is to be read. */
  get lastLineAt(): number {
    return this.#lastLineAt;
  }

  /** What could not be written, in words; undefined while all of it was. */
  get problem(): string | undefined {
    return this.#lost === 0 ? undefined : `${this.#lost} bytes of the output could not be written (${this.#lostBy})`;
  }

  pipe(): OutputPipe {
    const lines = new ScrubbedLines();
    return { write: (chunk) => this.#append(lines.push(chunk)), end: () => this.#append(lines.end()) };
  }

  /** Writes a line of Ostler's own, on a line of its own. */
  header(text: string): void {
    this.#append(Buffer.from(`${this.#isWithinLine ? "\n" : ""}${text}\n`));
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A full disk costs output, not the command: it is drained, and what is lost is counted. */
  #append(bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
    } catch (error) {
      this.#lost += bytes.length - written;
      this.#lostBy = systemCode(error) || "unknown";
    }
    this.#follow(bytes.subarray(0, written));
  }

  #follow(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const before = bytes.lastIndexOf(LINE_FEED, -2);
    if (before >= 0) this.#lastLineAt = this.#bytes + before + 1;
    else if (!this.#isWithinLine) this.#lastLineAt = this.#bytes;
    this.#isWithinLine = bytes.at(-1) !== LINE_FEED;
    this.#bytes += bytes.length;
  }
}
