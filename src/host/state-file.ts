/**
 * Small files in the state folder, read and appended to whatever stands in their place: a pipe would be waited for for
 * ever, and a file of hundreds of megabytes would be read on every start.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from "node:fs";

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The last `maxBytes` of a file of lines, from a whole line on. Throws the system's error, and EINVAL for no plain file. */
export function readLastLines(file: string, maxBytes: number): string {
  return withPlainFile(file, O_RDONLY, (fd, size) => {
    const from = Math.max(0, size - maxBytes);
    // One byte more tells whether the cut is between two lines.
    const text = readBytes(fd, Math.max(0, from - 1), Math.min(size, maxBytes + 1)).toString();
    return from === 0 ? text : text.slice(text.indexOf("\n") + 1 || text.length);
  });
}

/** The whole file. Throws the system's error, EINVAL for no plain file, and EFBIG for one of more than `maxBytes`. */
export function readSmallFile(file: string, maxBytes: number): string {
  return withPlainFile(file, O_RDONLY, (fd, size) => {
    if (size > maxBytes) throw systemError("EFBIG", `${file} has more than ${maxBytes} bytes`);
    return readBytes(fd, 0, size).toString();
  });
}

/** Appends a text to a file (0600) that it makes if need be. Throws as {@link readLastLines}. */
export function appendText(file: string, text: string): void {
  withPlainFile(file, O_WRONLY | O_APPEND | O_CREAT, (fd) => writeFileSync(fd, text));
}

function withPlainFile<T>(file: string, flags: number, act: (fd: number, size: number) => T): T {
  const fd = openSync(file, flags | O_NONBLOCK | O_NOCTTY, 0o600);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw systemError("EINVAL", `${file} is no plain file`);
    return act(fd, stat.size);
  } finally {
    closeSync(fd);
  }
}

function readBytes(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const part = readSync(fd, bytes, read, length - read, from + read);
    if (part === 0) break;
    read += part;
  }
  return bytes.subarray(0, read);
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
