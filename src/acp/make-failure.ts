/** Builds the one failure shape from a verdict and from where the evidence stood. All text is scrubbed here. */
import { classifyRecord } from "../errors/classify.ts";
import type { Failure, FailureAction, FailureSource, ReplaySafety } from "../errors/failure.ts";
import { KINDS } from "../errors/kinds.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import type { ClassifyContext, Verdict } from "../errors/verdict.ts";
import { titleFor } from "../errors/wording.ts";
import type { TypedSessionFailure } from "./air/session-failure.ts";

/** Longest title and details that are shown (typed failures, section 3.2). */
const MAX_TITLE_CHARS = 400;
const MAX_DETAILS_CHARS = 4000;

export interface FailureParts {
  readonly verdict: Verdict;
  readonly source: FailureSource;
  readonly id: string;
  readonly revision: number;
  readonly replaySafety: ReplaySafety;
  /** The provider's own words; empty = the fixed sentence of the kind. */
  readonly title: string;
  readonly details?: string | undefined;
  readonly category?: string;
  readonly severity?: Failure["severity"];
  readonly actions?: readonly FailureAction[];
}

export function makeFailure(parts: FailureParts): Failure {
  const { verdict } = parts;
  const title = cleanLine(parts.title, MAX_TITLE_CHARS);
  const details = parts.details === undefined ? "" : cleanBlock(parts.details, MAX_DETAILS_CHARS);
  return Object.freeze({
    id: parts.id,
    revision: parts.revision,
    kind: verdict.kind,
    source: parts.source,
    category: parts.category ?? KINDS[verdict.kind].category,
    severity: parts.severity ?? "error",
    title: title === "" ? titleFor(verdict.kind) : title,
    ...(details === "" ? {} : { details }),
    actions: parts.actions ?? [],
    retry: verdict.retry,
    transient: verdict.retry !== "never",
    ...(verdict.needs === undefined ? {} : { needs: verdict.needs }),
    ...(verdict.resetAt === undefined ? {} : { resetAt: cleanLine(verdict.resetAt, MAX_TITLE_CHARS) }),
    ...(verdict.retryAfterMs === undefined ? {} : { retryAfterMs: verdict.retryAfterMs }),
    ...(verdict.requestId === undefined ? {} : { requestId: verdict.requestId }),
    replaySafety: parts.replaySafety,
    rule: verdict.rule,
  });
}

/** A failure that a kind alone describes: a deadline, a death, a refusal to start. */
export function plainVerdict(kind: Failure["kind"], rule: string): Verdict {
  const { retry, needs } = KINDS[kind];
  return { kind, retry, rule, ...(needs === undefined ? {} : { needs }) };
}

/** A record of the harness as a failure or a warning. */
export function failureFromRecord(
  record: TypedSessionFailure,
  context: ClassifyContext,
  replaySafety: ReplaySafety,
): Failure {
  const verdict = classifyRecord(record, context);
  // "Reconnecting... 1/2" (category connection, no action) is the network, not a dead child: nothing died yet.
  const isProgress = record.severity === "warning" && verdict.kind === "agent_died";
  return makeFailure({
    verdict: isProgress ? { ...verdict, ...plainVerdict("network", verdict.rule) } : verdict,
    source: "session_failure",
    id: record.id,
    revision: record.revision,
    replaySafety: verdict.childDied === true && !isProgress ? "unknown" : replaySafety,
    title: record.title,
    details: record.details,
    category: record.category,
    severity: record.severity,
    actions: record.actions,
  });
}
