/**
 * The arguments of a call of `run`, read strictly: nothing is coerced, and one mistake refuses the whole call before
 * anything runs (failure observations, section 9.1). Pure.
 */
import { resolve } from "node:path";
import { isObject } from "../../acp/frames.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import type { RunIntent } from "../../failures/intent.ts";
import { INTENT_FIELDS, readIntent } from "../../failures/observation/intent-rules.ts";
import { DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S } from "./tool-list.ts";

/** Longer ones belong into a file; the kernel takes 128 KiB in one argument. */
const MAX_COMMAND_BYTES = 100_000;
const MAX_PATH_CHARS = 4096;
const MAX_NAME_CHARS = 80;
const FIELDS: readonly string[] = ["command", "cwd", "timeout", ...INTENT_FIELDS];

/** A call that may run. */
export interface RunCall {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly timeoutS: number;
  readonly intent: RunIntent;
}

export type RunReading =
  | { readonly ok: true; readonly call: RunCall }
  /** `reason`: a sentence without a full stop. */
  | { readonly ok: false; readonly reason: string };

/** Reads the arguments; relative folders start at `base`. */
export function readRunCall(input: unknown, base: string): RunReading {
  const read = readCall(input, base);
  return typeof read === "string" ? { ok: false, reason: read } : { ok: true, call: read };
}

/** The attemptId that a call names, accepted or not: naming it spends it. */
export function readNamedAttempt(input: unknown): string | undefined {
  const named = isObject(input) ? input["attemptId"] : undefined;
  return typeof named === "string" && named !== "" ? named.slice(0, MAX_NAME_CHARS) : undefined;
}

function readCall(input: unknown, base: string): RunCall | string {
  if (!isObject(input)) return "The arguments are not an object with a command";
  const unknown = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, FIELDS);
    const hint = nearest === undefined ? `; the fields are ${FIELDS.join(", ")}` : `; did you mean ${nearest}?`;
    return `There is no field ${JSON.stringify(unknown.slice(0, MAX_NAME_CHARS))}${hint}`;
  }
  const { command, cwd = null, timeout = null } = input;
  if (typeof command !== "string" || command.trim() === "" || Buffer.byteLength(command) > MAX_COMMAND_BYTES)
    return `command must be a text of 1 to ${MAX_COMMAND_BYTES} bytes, not blank`;
  if (command.includes("\0")) return "command must not hold a zero byte";
  if (cwd !== null && (typeof cwd !== "string" || cwd === "" || cwd.length > MAX_PATH_CHARS || cwd.includes("\0")))
    return `cwd must be the path of a folder, of 1 to ${MAX_PATH_CHARS} characters`;
  if (timeout !== null && (typeof timeout !== "number" || !(timeout > 0) || timeout > MAX_TIMEOUT_S))
    return `timeout must be a number of seconds above 0 and up to ${MAX_TIMEOUT_S}`;
  const read = readIntent(input);
  if (!read.ok) return read.reason;
  return { command, cwd: resolve(base, cwd ?? "."), timeoutS: timeout ?? DEFAULT_TIMEOUT_S, intent: read.intent };
}
