/**
 * A disk that runs full when it is told to, for one process: a tmpfs of its own where that may be mounted, and a limit on
 * the size of files everywhere on Linux. Both take a part of the write that meets the limit, as real disks do.
 */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly folder: string;
  /** What the system says then. */
  readonly code: string;
  /** What the process writes next to this file finds room for a part of it at most. */
  fill(pid: number, file: string): void;
  free(pid: number): void;
  remove(): void;
}

export const SMALL_DISKS: readonly { readonly from: string; readonly make: () => SmallDisk }[] = [
  { from: "a file that may not grow", make: limitedFiles },
  ...(process.getuid?.() === 0 ? [{ from: "a small tmpfs", make: smallTmpfs }] : []),
];

function limitedFiles(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "ostler-small-files-"));
  return {
    folder,
    code: "EFBIG",
    fill: (pid, file) => limit(pid, `${(statSync(file, { throwIfNoEntry: false })?.size ?? 0) + 300}:unlimited`),
    free: (pid) => limit(pid, "unlimited:unlimited"),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function limit(pid: number, bytes: string): void {
  execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}`]);
}

function smallTmpfs(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "ostler-small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]);
  const filler = join(folder, "filler");
  return {
    folder,
    code: "ENOSPC",
    fill: () => writeUntilFull(filler),
    free: () => rmSync(filler),
    remove: () => {
      execFileSync("umount", [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

function writeUntilFull(file: string): void {
  const page = Buffer.alloc(4096);
  const fd = openSync(file, "a");
  try {
    for (;;) writeSync(fd, page);
  } catch {
    // Full.
  } finally {
    closeSync(fd);
  }
}
