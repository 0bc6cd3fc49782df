/**
 * `--trace FILE`: the wire of one run, one JSON object a line in the format of the recordings, so that it can be attached
 * to a report and played again. Every string is scrubbed; values of environments and headers are masked whatever they
 * are. What goes wrong with the file while a turn runs ends the trace, never the turn.
 */
import { closeSync, fchmodSync, ftruncateSync, openSync, statSync, writeFileSync } from "node:fs";
import type { WireEntry, WireTap } from "../acp/ports.ts";
import { redact } from "../errors/redact.ts";
import { systemCode } from "./system-code.ts";
import { UsageError } from "./usage-error.ts";

/** An open trace. Disposing of it closes the file. */
export interface Trace extends Disposable {
  readonly tap: WireTap;
}

const HIDDEN = "[redacted]";
/** Deeper than any frame of the recordings (12 levels); what is below could not be scrubbed without risking the stack. */
const MAX_DEPTH = 64;
/** Names under which every value is masked: environments of MCP servers and agents, headers of MCP servers. */
const MASKED_NAME = /^(?:env|environment|headers?|http_?headers)$/i;

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
  if (entry.dir === "stderr") return { dir: entry.dir, ms, line: redact(entry.line) };
  return { dir: entry.dir, ms, frame: scrub(entry.frame, "", 0) };
}

function scrub(value: unknown, name: string, depth: number): unknown {
  if (typeof value === "string") return scrubText(value, name);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return HIDDEN;
  if (MASKED_NAME.test(name)) return mask(value, depth);
  // ACP writes the choices of a setting as {name, value} too; those are needed to play the trace.
  if (Array.isArray(value) && name !== "options" && value.length > 0 && value.every(isPair)) return mask(value, depth);
  if (Array.isArray(value)) return value.map((element) => scrub(element, name, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redact(key), scrub(inner, key, depth + 1)]));
}

/** A text whose name says that it is a secret need not look like one. */
function scrubText(text: string, name: string): string {
  const scrubbed = redact(text);
  return name !== "" && redact(`${name}=${text}`) !== `${name}=${scrubbed}` ? HIDDEN : scrubbed;
}

/** Everything below is hidden, names aside. */
function mask(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return value.map((element) => mask(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      redact(key),
      key === "name" && typeof inner === "string" ? redact(inner) : mask(inner, depth + 1),
    ]),
  );
}

function isPair(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).toSorted().join() === "name,value";
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
