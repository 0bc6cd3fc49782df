/**
 * Files that a person named on the command line, read to their end and no further than a bound. A pipe, a terminal or a
 * device is read by a process of its own: a read that waits for ever inside this one would keep it from ending.
 */
import { spawn } from "node:child_process";
import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";

/** There is more than fits the bound. Has the code that Node gives files that are too large. */
export class FileTooLarge extends Error {
  readonly code = "ERR_FS_FILE_TOO_LARGE";
  constructor(file: string, maxBytes: number) {
    super(`${file} has more than ${maxBytes} bytes`);
    this.name = "FileTooLarge";
  }
}

export interface ReadBoundedOptions {
  readonly maxBytes: number;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
}

/** The whole content. Throws the system's error, {@link FileTooLarge}, or the reason of the signal. */
export async function readBounded(file: string, { maxBytes, signal }: ReadBoundedOptions): Promise<Buffer> {
  const found = await stat(file);
  if (found.isDirectory()) throw Object.assign(new Error(`${file} is a folder`), { code: "EISDIR" });
  await access(file, constants.R_OK);
  using source = found.isFile() ? fileSource(file, maxBytes) : processSource(file);
  const giveUp = (): void => source.stream.destroy(abortReason(signal));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of source.stream) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > maxBytes) throw new FileTooLarge(file, maxBytes);
      chunks.push(part);
    }
    return Buffer.concat(chunks);
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

interface Source extends Disposable {
  readonly stream: NodeJS.ReadableStream & { destroy: (error?: Error) => void };
}

function fileSource(file: string, maxBytes: number): Source {
  const stream = createReadStream(file, { end: maxBytes });
  return { stream, [Symbol.dispose]: () => void stream.destroy() };
}

const COPY = 'require("node:fs").createReadStream(process.argv[1]).pipe(process.stdout)';

/** With this process's stdin, so that `/dev/stdin` is the same in both. */
function processSource(file: string): Source {
  const child = spawn(process.execPath, ["-e", COPY, file], { stdio: ["inherit", "pipe", "ignore"] });
  child.on("error", (error) => child.stdout.destroy(error));
  return { stream: child.stdout, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("Given up", { cause: reason });
}
