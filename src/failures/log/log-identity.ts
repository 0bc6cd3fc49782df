/** Whether a log is still the one that was read: device, inode, size, and its first bytes. */
import { createHash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";
import { logHeadChanged, logReplaced, logTruncated } from "./log-gap.ts";
import type { LogGap } from "./log-gap.ts";

const HEAD_BYTES = 256;

export interface LogIdentity {
  readonly dev: number;
  /** 0 where a system has none: then the size and the head have to do. */
  readonly ino: number;
  readonly size: number;
  /** How many bytes `head` is of: 256, or all of a shorter log. */
  readonly headBytes: number;
  /** SHA-256, in hex. */
  readonly head: string;
}

/** Throws the system's error. */
export function readIdentity(fd: number): LogIdentity {
  const { dev, ino, size } = fstatSync(fd);
  const headBytes = Math.min(HEAD_BYTES, size);
  return { dev, ino, size, headBytes, head: hashOfHead(fd, headBytes) };
}

/** What happened to the log since it was `known`; undefined when it only grew. Throws the system's error. */
export function findChange(fd: number, known: LogIdentity, now: LogIdentity): LogGap | undefined {
  if (known.dev !== now.dev || known.ino !== now.ino) return logReplaced();
  if (now.size < known.size) return logTruncated(now.size);
  return hashOfHead(fd, known.headBytes) === known.head ? undefined : logHeadChanged();
}

function hashOfHead(fd: number, headBytes: number): string {
  const head = Buffer.alloc(headBytes);
  readSync(fd, head, 0, headBytes, 0);
  return createHash("sha256").update(head).digest("hex");
}
