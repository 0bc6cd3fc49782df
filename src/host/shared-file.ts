/**
 * A file of lines that several Ostler processes append to at once, with rotation by size and count. Every line is one
 * write in append mode, so that lines of two processes never mix (local disks promise it, network ones may not). A full
 * file is renamed, never copied or emptied: whoever still has it open writes into the renamed one and looks again before
 * the next line (docs/adr/0010-log.md).
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { fchmodSync, writeSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** Without waiting for a reader, should the name be a pipe. */
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK;

export interface Rotation {
  /** A file that has reached this size gets no further line. */
  readonly maxBytes: number;
  /** Full files that are kept besides the one being written. */
  readonly keptFiles: number;
}

export class SharedFile {
  readonly #file: string;
  readonly #rotation: Rotation;
  #fd: number | undefined;
  #inode = 0;
  #setAsides = 0;

  /** Makes the folder (0700) and opens the file (0600). Throws the system's error. */
  constructor(file: string, rotation: Rotation) {
    this.#file = file;
    this.#rotation = rotation;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#open();
  }

  /** Appends one line. Throws the system's error. */
  append(line: string): void {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    if (stat !== undefined && stat.size >= this.#rotation.maxBytes) this.#setAside(stat.ino);
    if (stat?.ino !== this.#inode || stat.size >= this.#rotation.maxBytes) this.#open();
    const bytes = Buffer.from(line);
    const written = writeSync(this.#fd ?? -1, bytes);
    // A disk that has just run full takes a part; what it does not take now throws.
    if (written < bytes.length) writeSync(this.#fd ?? -1, bytes, written);
  }

  /** The name tells when; nobody else makes the same one, so that no full file is renamed over another. */
  #setAside(inode: number): void {
    const extension = extname(this.#file);
    const stem = basename(this.#file, extension);
    const folder = dirname(this.#file);
    const time = new Date().toISOString().replaceAll(/[-:.]/g, "");
    // Two in one millisecond are told apart, in their order.
    const count = String((this.#setAsides += 1)).padStart(6, "0");
    try {
      renameSync(this.#file, join(folder, `${stem}.${time}-${process.pid}-${count}-${inode}${extension}`));
    } catch {
      // Another process was faster.
    }
    const full = readdirSync(folder).filter((name) => name.startsWith(`${stem}.`) && name !== basename(this.#file));
    for (const name of full.toSorted().slice(0, -this.#rotation.keptFiles)) rmSync(join(folder, name), { force: true });
  }

  #open(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#fd = openSync(this.#file, FLAGS, 0o600);
    const stat = fstatSync(this.#fd);
    if (!stat.isFile()) throw Object.assign(new Error(`${this.#file} is not a plain file`), { code: "EINVAL" });
    fchmodSync(this.#fd, 0o600);
    this.#inode = stat.ino;
  }
}
