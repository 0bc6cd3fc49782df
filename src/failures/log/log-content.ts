/** The log of a run as the content of a page: its bytes as they are, read where a page wants them. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Content } from "../pages/content.ts";

/** As much of it as there is now; empty when there is no log. A read of one that is gone gives nothing. */
export function logContent(logFile: string): Content {
  return {
    name: "output",
    bytes: statSync(logFile, { throwIfNoEntry: false })?.size ?? 0,
    read: (fromByte, maxBytes) => readLogBytes(logFile, fromByte, maxBytes),
  };
}

/** At most so many bytes from an offset on; fewer at the end, none where nothing can be read. */
export function readLogBytes(logFile: string, fromByte: number, maxBytes: number): Uint8Array {
  try {
    const fd = openSync(logFile, "r");
    try {
      const bytes = Buffer.alloc(maxBytes);
      return bytes.subarray(0, readSync(fd, bytes, 0, maxBytes, fromByte));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}
