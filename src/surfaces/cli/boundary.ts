/** The edge of the CLI: whatever was thrown becomes a sentence or a failure; stacks are for `--verbose`, scrubbed. */
import { AcpError } from "../../errors/acp-error.ts";
import type { Failure, FailureKind } from "../../errors/failure.ts";
import { KINDS } from "../../errors/kinds.ts";
import { cleanBlock, cleanLine } from "../../errors/redact.ts";
import { AcpRuntimeError } from "../../errors/runtime-error.ts";
import type { CrashReportPlace } from "../../host/crash.ts";
import { UsageError } from "../../host/usage-error.ts";

const MAX_SENTENCE_CHARS = 600;
/** Causes of causes; more is a loop. */
const MAX_CAUSES = 8;
const MAX_CAUSE_CHARS = 8000;

/** The failure of an error that did not come with one: an unusable request, or a bug of ours. */
export function failureFor(error: unknown): Failure {
  if (error instanceof Error && "failure" in error && isFailure(error.failure)) return error.failure;
  const kind = kindOf(error);
  const { retry, needs, category } = KINDS[kind];
  return {
    id: "ask:error",
    revision: 1,
    kind,
    source: "spawn",
    category,
    severity: "error",
    title: sentenceOf(error),
    actions: [],
    retry,
    transient: retry !== "never",
    ...(needs === undefined ? {} : { needs }),
    replaySafety: "not_sent",
    rule: error instanceof UsageError ? "usage" : isTyped(error) ? "typed" : "internal",
  };
}

/** The exit code of a command that threw. */
export function exitCodeFor(error: unknown): number {
  return error instanceof UsageError ? error.exitCode : KINDS[kindOf(error)].exit;
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof UsageError) return "configuration";
  return isTyped(error) ? error.kind : "unknown";
}

function isTyped(error: unknown): error is AcpError | AcpRuntimeError {
  return error instanceof AcpError || error instanceof AcpRuntimeError;
}

/** One sentence for a person; never a stack. */
export function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return cleanLine(error.message, MAX_SENTENCE_CHARS);
  if (error instanceof Error && "failure" in error) return cleanLine(error.message, MAX_SENTENCE_CHARS);
  const what = error instanceof Error ? error.name : "an unknown error";
  return `Something in Ostler itself went wrong (${what}); the same command with --verbose shows where`;
}

/** The last sentence of a process that a bug ended. */
export function crashSentence(bug: Error, report: CrashReportPlace): string {
  const what = `Something in Ostler itself went wrong (${cleanLine(bug.name, MAX_SENTENCE_CHARS)})`;
  if ("file" in report) return `${what}; a report without your prompt is in ${report.file}`;
  return `${what}, and no report could be written (${report.problem}); the same command with --verbose shows where`;
}

/** The error and its causes, scrubbed, for `--verbose`: one line each, with stacks when it is a bug of ours. */
export function describeCauses(error: unknown): string[] {
  const isBug = ["internal", "internal-error"].includes(failureFor(error).rule);
  const lines: string[] = [];
  let current = error;
  for (let depth = 0; current instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const text = (isBug ? current.stack : undefined) ?? `${current.name}: ${current.message}`;
    lines.push(...`${depth === 0 ? "" : "caused by "}${cleanBlock(text, MAX_CAUSE_CHARS)}`.split("\n"));
    current = current.cause;
  }
  return lines;
}

function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && "kind" in value && "replaySafety" in value;
}
