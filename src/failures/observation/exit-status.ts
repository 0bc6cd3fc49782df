/**
 * How a tool call says that its command ended: only structured fields count, never a text (failure observations, section
 * 5.2). Pure.
 */
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import { readExitCode } from "../../acp/tool-merge.ts";
import { cleanLine } from "../../errors/redact.ts";

/** Neither is there when the harness does not know. */
export interface ExitStatus {
  readonly code?: number;
  readonly signal?: string;
}

/** A record holds no other codes; codex-acp 2.6.0 sends -1 for a command that it ended itself (recording async-task-stop). */
const MAX_CODE = 0xffffffff;
const MAX_SIGNAL_CHARS = 16;
/** What kiro v2 writes under `rawOutput.items[].Json.exit_status` (kiro wire notes, section 7). */
const KIRO_CODE = /^exit status: (\d{1,10})$/;
const KIRO_SIGNAL = /^signal: (\S.*)$/;

/** What one frame says of the end; undefined when it says nothing. */
export function readExitStatus(update: Frame): ExitStatus | undefined {
  const code = readExitCode(update);
  const signal = readSignal(update["_meta"]);
  if (code === undefined && signal === undefined) return readKiro(update["rawOutput"]);
  return { ...(code !== undefined && isCode(code) && { code }), ...(signal !== undefined && { signal }) };
}

function readSignal(meta: unknown): string | undefined {
  const exit = isObject(meta) ? meta["terminal_exit"] : undefined;
  const signal = isObject(exit) ? exit["signal"] : undefined;
  return typeof signal === "string" && signal !== "" ? cleanLine(signal, MAX_SIGNAL_CHARS) : undefined;
}

function readKiro(rawOutput: unknown): ExitStatus | undefined {
  const items = isObject(rawOutput) ? rawOutput["items"] : undefined;
  if (!Array.isArray(items)) return undefined;
  const said = items
    .map((item: unknown) => (isObject(item) && isObject(item["Json"]) ? item["Json"]["exit_status"] : undefined))
    .find((status) => status !== undefined);
  if (typeof said !== "string") return undefined;
  const code = Number(KIRO_CODE.exec(said)?.[1] ?? Number.NaN);
  if (isCode(code)) return { code };
  const signal = KIRO_SIGNAL.exec(said)?.[1];
  return signal === undefined ? undefined : { signal: cleanLine(signal, MAX_SIGNAL_CHARS) };
}

function isCode(code: number): boolean {
  return Number.isInteger(code) && code >= 0 && code <= MAX_CODE;
}
