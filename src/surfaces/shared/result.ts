/** The result line of `ostler ask`: what every machine-readable format closes with. Pure. */
import type { Failure, RefusalInfo } from "../../errors/failure.ts";
import type { ChangeReport } from "../../acp/events.ts";
import type { TurnOutcome, Usage } from "../../acp/types.ts";
import { scrubReport } from "./change-report.ts";

/** One JSON object, the same words as the library's outcome. Every field is always there. */
export interface ResultLine {
  readonly type: "result";
  readonly outcome: TurnOutcome["kind"];
  readonly backend: string;
  readonly sessionId: string | null;
  readonly text: string;
  readonly partial: boolean;
  readonly stopReason: string | null;
  readonly exitCode: number;
  /** For failed, and for truncated or empty when a record or an error said why. */
  readonly failure: Failure | null;
  /** For refused. */
  readonly refusal: RefusalInfo | null;
  readonly warnings: readonly Failure[];
  readonly attempts: number;
  readonly usage: Usage | null;
  /** Which files the agent says it changed; null when `--changes` did not ask, or the prompt never left. */
  readonly changes: ChangeReport | null;
  readonly durationMs: number;
}

/** The result line of a turn that was started. */
export function resultOf(
  outcome: TurnOutcome,
  run: { readonly backend: string; readonly exitCode: number },
): ResultLine {
  return {
    type: "result",
    outcome: outcome.kind,
    backend: run.backend,
    sessionId: outcome.sessionId,
    text: outcome.text,
    partial: outcome.partial,
    stopReason: outcome.stopReason,
    exitCode: run.exitCode,
    failure:
      outcome.kind === "failed" || outcome.kind === "truncated" || outcome.kind === "empty" ? outcome.failure : null,
    refusal: outcome.kind === "refused" ? outcome.refusal : null,
    warnings: outcome.warnings,
    attempts: outcome.attempts,
    usage: outcome.usage,
    changes: outcome.changes === undefined ? null : scrubReport(outcome.changes),
    durationMs: outcome.durationMs,
  };
}

/** The outcome of a run that ended before its prompt was handed over: failed for a reason, or cancelled by the caller. */
export function outcomeWithoutTurn(reason: Failure | "cancelled", durationMs: number, cause?: unknown): TurnOutcome {
  const nothing = {
    text: "",
    partial: false,
    sessionId: null,
    stopReason: null,
    warnings: [],
    attempts: 0,
    usage: null,
    durationMs,
    denied: [],
    ...(cause instanceof Error ? { cause } : {}),
  };
  return reason === "cancelled"
    ? { ...nothing, kind: "cancelled", by: "caller" }
    : { ...nothing, kind: "failed", failure: reason };
}
