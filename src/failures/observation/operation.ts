/**
 * The key that the failures of one operation are grouped by (failure observations, sections 4.1 to 4.3). It is made of what
 * is in the log: scrubbed values. Scrubbing them once more changes nothing, so that a rescan finds the same key.
 */
import { isAbsolute } from "node:path";
import { isObject } from "../../acp/frames.ts";
import type { Frame } from "../../acp/frames.ts";
import { scrubJson } from "../../errors/scrub-json.ts";
import { keyOf } from "../keys.ts";
import type { Attempt } from "./attempt.ts";
import { INTENT_FIELDS } from "./intent-rules.ts";

export interface OperationRules {
  readonly trusted: boolean;
  /** Arguments that only describe a call for a person count too. */
  readonly strict: boolean;
  /** The client declared `_meta.jetbrains.air`. */
  readonly air: boolean;
}

/** Reworded by models at every try. */
const PURPOSE = /^_*tool_?use_?purpose$/i;
const DESCRIPTION = "description";
/** claude-agent-acp 0.101.0 leaves the texts of these out of the input for an AIR client: they are in the diffs. */
const INPUT_IN_DIFFS: ReadonlySet<string> = new Set(["Edit", "Write"]);
const INTENT: ReadonlySet<string> = new Set(INTENT_FIELDS);

/** The operation of an attempt, with the folder of its session. Costs a hash: only for attempts that matter. */
export function operationOf(attempt: Attempt, sessionCwd: string, rules: OperationRules): string {
  const { intent, input } = attempt;
  const tool = toolOf(attempt);
  const cwd = cwdOf(input, sessionCwd);
  if (intent?.operationId !== undefined) return scrubbedKey("operation", tool, intent.operationId, cwd);
  const lacksTexts = rules.air && attempt.isClaude && INPUT_IN_DIFFS.has(tool);
  if (nameOf(attempt) === undefined || input === undefined || (lacksTexts && attempt.diffs === undefined))
    return anonymousOperation(attempt);
  const args = isObject(input) ? argumentsOf(input, { ...rules, isShell: isShell(attempt) }) : input;
  return scrubbedKey("tool", tool, lacksTexts ? [args, attempt.diffs] : args, cwd);
}

/** Of an attempt without a tool or without arguments to compare: nothing recovers it, and it piles up no strikes. */
export function anonymousOperation({ session, toolCallId, reuse }: Attempt): string {
  return scrubbedKey("anonymous", session.id, toolCallId, ...(reuse === 0 ? [] : [reuse]));
}

/**
 * The name of the tool, never its title: the model writes titles. A command's `name` does not count, because codex-acp
 * 2.6.0 tells it with the end alone, and of a refused one never (recordings shell-approval-allow, shell-approval-reject).
 */
export function toolOf(attempt: Attempt): string {
  return nameOf(attempt) ?? "tool";
}

function nameOf(attempt: Attempt): string | undefined {
  const { harnessName, name, kind, input } = attempt;
  return harnessName ?? (isShell(attempt) ? kind : undefined) ?? name ?? mcpToolOf(input) ?? kind;
}

/** Whether it is the harness's own shell, whose arguments may hold an intent and a description. */
export function isShell({ kind, isMcp, harnessName, name, input }: Attempt): boolean {
  if (kind !== "execute" || isMcp) return false;
  return !(harnessName ?? name ?? mcpToolOf(input) ?? "").startsWith("mcp__");
}

function mcpToolOf(input: unknown): string | undefined {
  if (!isObject(input) || typeof input["server"] !== "string" || typeof input["tool"] !== "string") return undefined;
  return `mcp__${input["server"]}__${input["tool"]}`;
}

/** In the log a home folder is `~`: such a path is absolute too. */
function cwdOf(input: unknown, sessionCwd: string): string {
  const own = isObject(input) ? input["cwd"] : undefined;
  return typeof own === "string" && (isAbsolute(own) || own.startsWith("~")) ? own : sessionCwd;
}

/** The arguments as far as they make the operation. An intent field that is null is as one that is not there. */
export function argumentsOf(input: Frame, rules: Omit<OperationRules, "air"> & { readonly isShell: boolean }): Frame {
  const { trusted, strict, isShell: fromShell } = rules;
  const counts = ([name, value]: readonly [string, unknown]): boolean => {
    if (INTENT.has(name) && value === null) return false;
    if (trusted && fromShell && (name === "attemptId" || (INTENT.has(name) && value === ""))) return false;
    return strict || !(PURPOSE.test(name) || (fromShell && name === DESCRIPTION));
  };
  return Object.fromEntries(Object.entries(input).filter(counts));
}

/** The key of the parts as they stand in the log. */
export function scrubbedKey(...parts: readonly unknown[]): string {
  return keyOf(...parts.map((part) => scrubJson(part)));
}
