/** One line of `output.log` as it was written. */
import { isObject } from "../../acp/frames.ts";
import type { RunLine } from "../run-lines.ts";

/** Undefined for what no writer of the log wrote whole. What stands in a frame or an event is its reader's to judge. */
export function readRunLine(text: string): RunLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRunLine(line) ? line : undefined;
}

function isRunLine(line: unknown): line is RunLine {
  if (!isObject(line)) return false;
  const { t, n, d, frame, text, ev } = line;
  if (!Number.isSafeInteger(t) || !Number.isSafeInteger(n)) return false;
  if (d === "in" || d === "out") return frame !== undefined;
  return d === "err" ? typeof text === "string" : d === "ev" && isObject(ev) && typeof ev["type"] === "string";
}
