/**
 * Small files that are there whole or not at all, whenever the machine stops: written beside their place, synced, and put
 * there in one step (failure observations, sections 1 and 10).
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/** The text of a plain file. Throws the system's error, EINVAL for no plain file (a pipe would be waited for), EFBIG over `maxBytes`. */
export function readWhole(file: string, maxBytes: number): string {
  const fd = openSync(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw systemError("EINVAL", `${file} is no plain file`);
    if (stat.size > maxBytes) throw systemError("EFBIG", `${file} has more than ${maxBytes} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Puts a text (0600) in the place of what stands there. Throws the system's error; what stood there stands then. */
export function replaceWhole(file: string, text: string): void {
  placeWhole(file, text, (written) => renameSync(written, file));
}

/** Puts a text (0600) where nothing stands. Throws the system's error, EEXIST when something does. */
export function createWhole(file: string, text: string): void {
  placeWhole(file, text, (written) => {
    linkSync(written, file);
    rmSync(written);
  });
}

/** Makes the names in a folder last. Not every file system can; nothing is lost but the newest name. */
export function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {}
}

function placeWhole(file: string, text: string, place: (written: string) => void): void {
  const written = `${file}.${process.pid}.new`;
  try {
    writeFileSync(written, text, { mode: 0o600, flush: true });
    place(written);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  }
  syncFolder(dirname(file));
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
