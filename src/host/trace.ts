/**
 * `--trace FILE`: the wire of one run, one JSON object a line in the format of the recordings, so that it can be attached
 * to a report and played again. Every string is scrubbed; values of environments and headers are masked whatever they
 * are. What goes wrong with the file while a turn runs ends the trace, never the turn.
 */
import { closeSync, fchmodSync, ftruncateSync, openSync, statSync, writeFileSync } from "node:fs";
import type { WireEntry, WireTap } from "../acp/ports.ts";
import { redactKept } from "../errors/redact.ts";
import { scrubJson } from "../errors/scrub-json.ts";
import { systemCode } from "../errors/system-code.ts";
import { UsageError } from "./usage-error.ts";

/** An open trace. Disposing of it closes the file. */
export interface Trace extends Disposable {
  readonly tap: WireTap;
}

/**
 * Opens the file for its owner alone (0600), emptying it. Throws {@link UsageError} when that cannot be done. `onBroken`
 * is called once, with a sentence, when the file can no longer be written.
 */
export function openTrace(file: string, onBroken: (sentence: string) => void): Trace {
  const fd = openPrivately(file);
  const startedAt = performance.now();
  let writtenBytes = 0;
  let isOpen = true;
  const stop = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  const tap: WireTap = (entry) => {
    if (!isOpen) return;
    try {
      const line = `${JSON.stringify(scrubEntry(entry, Math.round(performance.now() - startedAt)))}\n`;
      writeFileSync(fd, line);
      writtenBytes += Buffer.byteLength(line);
    } catch (error) {
      cutTo(fd, writtenBytes);
      stop();
      onBroken(`The trace ends here: its file cannot be written any more (${systemCode(error) || "unknown reason"})`);
    }
  };
  return { tap, [Symbol.dispose]: stop };
}

/** The entry as it stands in the file. */
export function scrubEntry(entry: WireEntry, ms: number): object {
  if (entry.dir === "exit") return { dir: entry.dir, ms, code: entry.code, signal: entry.signal };
  if (entry.dir === "stderr") return { dir: entry.dir, ms, line: redactKept(entry.line) };
  return { dir: entry.dir, ms, frame: scrubJson(entry.frame) };
}

/** A pipe would hold the start up until somebody reads it, and a device keeps nothing. */
function openPrivately(file: string): number {
  let fd: number | undefined;
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw new UsageError(`Cannot write the trace to ${file}: it is not a plain file`);
    fd = openSync(file, "w", 0o600);
    fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot write the trace to ${file} (${systemCode(error) || "unknown reason"})`, {
      cause: error,
    });
  }
}

/** Takes back half a line, so that what is there can be read. */
function cutTo(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes);
  } catch {
    // The disk is past helping; a reader has to skip the last line.
  }
}
