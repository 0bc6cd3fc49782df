/**
 * The file of a proposed plan, read at once: what comes after the plan, first of all the question whether to carry it out,
 * must find it there. An agent names the file, so only a regular file is read, no link is followed, and nothing is waited for.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { cleanLine } from "../errors/redact.ts";
import { MAX_PLAN_CHARS } from "./air/plan-file.ts";
import type { PlanDocument } from "./events.ts";

const MAX_PATH_CHARS = 4096;
/** More than fits the bound, whatever the plan is written in: a UTF-16 unit takes at most 3 bytes of UTF-8. */
const MAX_BYTES = 3 * MAX_PLAN_CHARS + 1;
/** Every plan that was recorded is Markdown; a key or a password file is no plan, whatever an agent says. */
const PLAN_FILE = /\.(?:md|markdown|txt)$/i;
/** A pipe that nobody writes to is opened without waiting. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The plan, or one sentence why it cannot be shown; null = the path is of no regular file that holds something. Never throws. */
export function readPlanFile(path: string): PlanDocument | null {
  if (path.length > MAX_PATH_CHARS || path.includes("\0")) return null;
  try {
    return readRegularFile(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (code === "ELOOP" || code === "ENXIO") return null;
    const why = code === "ENOENT" || code === "ENOTDIR" ? "there is no such file" : `it cannot be read (${code})`;
    return { text: null, path, problem: notShown(path, why) };
  }
}

function readRegularFile(path: string): PlanDocument | null {
  const file = openSync(path, FLAGS);
  try {
    const stat = fstatSync(file);
    // The kernel's own files have no size; what they hold (our environment in `/proc/self/environ`) is no plan.
    if (!stat.isFile() || stat.size === 0) return null;
    if (!PLAN_FILE.test(path)) return { text: null, path, problem: notShown(path, "a plan is a Markdown file (.md)") };
    const bytes = Buffer.alloc(Math.min(stat.size, MAX_BYTES));
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return { text: bytes.toString("utf8", 0, length), path };
  } finally {
    closeSync(file);
  }
}

function notShown(path: string, why: string): string {
  return `The plan in ${cleanLine(path, 500)} is not shown: ${why}`;
}
