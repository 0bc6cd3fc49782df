/**
 * How a turn ended: a pure decision over what was seen (typed failures, section 5.2, with the order of evidence of the
 * error layer). First match wins; a row says why it stands where it stands.
 */
import { classifyError, classifyText } from "../errors/classify.ts";
import type { Failure, FailureSource, RefusalInfo, ReplaySafety } from "../errors/failure.ts";
import { readRawError } from "../errors/raw.ts";
import type { ClassifyContext, Verdict } from "../errors/verdict.ts";
import type { SessionFailureReading, TypedSessionFailure } from "./air/session-failure.ts";
import { readSessionFailure } from "./air/session-failure.ts";
import type { RpcError } from "./connection.ts";
import { isObject } from "./frames.ts";
import { failureFromRecord, makeFailure, plainVerdict } from "./make-failure.ts";

/** What ended the attempt. */
export type Ending =
  | { readonly type: "result"; readonly stopReason: string | undefined; readonly terminal: SessionFailureReading }
  | { readonly type: "rpc_error"; readonly error: RpcError }
  /** Ostler's own knowledge: a death, a deadline, a missing permission callback. */
  | {
      readonly type: "fact";
      readonly verdict: Verdict;
      readonly source: FailureSource;
      readonly title: string;
      readonly details?: string;
      /** What made it known, for the typed error. */
      readonly cause?: Error;
    }
  | { readonly type: "aborted" }
  /** kiro's fixed interrupted-tools text: the result will never come. */
  | { readonly type: "interrupted" };

/** What was seen in the attempt. */
export interface AttemptFacts {
  readonly turnId: string;
  /** Attempt number, from 1: the revision of a failure that Ostler mints. */
  readonly attempt: number;
  readonly handedOver: boolean;
  /** Non-blank answer text, a tool call, a plan or a diff. */
  readonly output: boolean;
  /** A tool has run, or was allowed to. */
  readonly toolStarted: boolean;
  /** The active error record raised in this turn. */
  readonly raisedError: TypedSessionFailure | undefined;
  /** Why a record that came beside the turn could not be read. */
  readonly unreadable?: string | undefined;
  /** The adapter itself said something. */
  readonly adapterWords: boolean;
  /** codex `threadStatus: systemError`, with the plain client's sentence and the structured error that refine it. */
  readonly systemError: { readonly text: string; readonly codexError: unknown } | undefined;
  /** kiro's filtered metadata. */
  readonly refusal: RefusalInfo | undefined;
  /** We answered a permission request with `cancelled`, and this harness reports that as a refusal. */
  readonly refusalIsOurs: boolean;
  /** The compaction that the prompt asked for failed. */
  readonly failedCompaction?: { readonly rule: string; readonly title: string } | undefined;
  readonly context: ClassifyContext;
}

/** The outcome without what the session adds (text, usage, time). */
export type Decision =
  | { readonly kind: "completed"; readonly warnings: readonly Failure[] }
  | { readonly kind: "refused"; readonly refusal: RefusalInfo; readonly warnings: readonly Failure[] }
  | {
      readonly kind: "truncated" | "empty";
      readonly failure: Failure | null;
      readonly unreadable: boolean;
      /** A tool may have run: an empty turn is not tried again. */
      readonly toolStarted?: true;
      readonly warnings: readonly Failure[];
    }
  | { readonly kind: "cancelled"; readonly by: "caller" | "harness"; readonly warnings: readonly Failure[] }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly cause?: Error;
      readonly warnings: readonly Failure[];
    };

const BARE_REFUSAL: RefusalInfo = { category: "", explanation: "", recommendedModel: "" };
const TRUNCATING: ReadonlySet<string> = new Set(["max_tokens", "max_turn_requests"]);
const ADAPTER_WORDS = "The model said nothing: the text is the adapter's own";
const UNREADABLE = "The backend reported a failure in a form this version cannot read";

export function decideOutcome(ending: Ending, facts: AttemptFacts): Decision {
  switch (ending.type) {
    case "aborted":
      return { kind: "cancelled", by: "caller", warnings: [] };
    case "interrupted":
      return { kind: "cancelled", by: "harness", warnings: [] };
    case "fact":
      return causedBy(
        ending.cause,
        settle(minted(facts, ending.verdict, ending.source, ending.title, ending.details), []),
      );
    case "rpc_error":
      return decideRejection(ending.error, facts);
    case "result":
      return decideResult(ending.stopReason, ending.terminal, facts);
  }
}

function decideResult(stopReason: string | undefined, terminal: SessionFailureReading, facts: AttemptFacts): Decision {
  const record = terminal.kind === "ok" && terminal.record.severity === "error" ? terminal.record : undefined;
  const unreadable = terminal.kind === "unusable" ? terminal.why : facts.unreadable;
  const warnings = unreadable === undefined ? [] : [ownWarning(facts, `record-unreadable: ${unreadable}`, UNREADABLE)];
  // A record beside a cancel or a refusal is shown, never thrown.
  const beside = record === undefined ? warnings : [asWarning(fromRecord(record, facts))];
  if (stopReason === "cancelled") return { kind: "cancelled", by: "harness", warnings: beside };
  if (facts.refusal !== undefined || stopReason === "refusal") {
    if (facts.refusalIsOurs) return { kind: "cancelled", by: "harness", warnings: beside };
    return { kind: "refused", refusal: facts.refusal ?? BARE_REFUSAL, warnings: beside };
  }
  if (record !== undefined) return settle(fromRecord(record, facts), []);
  if (facts.systemError !== undefined) return settle(fromSystemError(facts, facts.systemError), warnings);
  if (stopReason !== undefined && TRUNCATING.has(stopReason))
    return { kind: "truncated", failure: null, unreadable: false, warnings };
  if (stopReason !== undefined && stopReason !== "end_turn") {
    return settle(
      minted(
        facts,
        plainVerdict("unknown", "stop-reason"),
        "rpc_error",
        `The agent ended the turn with "${stopReason}"`,
      ),
      warnings,
    );
  }
  if (facts.failedCompaction !== undefined) {
    const { rule, title } = facts.failedCompaction;
    return settle(minted(facts, plainVerdict("compaction", rule), "rpc_error", title), warnings);
  }
  if (facts.output) return { kind: "completed", warnings };
  if (terminal.kind === "unusable") return { kind: "empty", failure: null, unreadable: true, warnings };
  if (facts.raisedError !== undefined) return settle(fromRecord(facts.raisedError, facts), warnings);
  if (facts.adapterWords)
    return { kind: "completed", warnings: [...warnings, ownWarning(facts, "adapter-words", ADAPTER_WORDS)] };
  return {
    kind: "empty",
    failure: null,
    unreadable: unreadable !== undefined,
    ...(facts.toolStarted && { toolStarted: true }),
    warnings,
  };
}

function decideRejection(error: RpcError, facts: AttemptFacts): Decision {
  const raw = readRawError(error);
  // kiro ends a filtered turn with a bare -32603; one that carries data keeps its own class.
  if (facts.refusal !== undefined && error.data === undefined)
    return { kind: "refused", refusal: facts.refusal, warnings: [] };
  const carried = readSessionFailure(isObject(error.data) ? error.data["_meta"] : undefined);
  const record = carried.kind === "ok" ? carried.record : facts.raisedError;
  const verdict = classifyError(raw, record === undefined ? facts.context : { ...facts.context, record });
  const failure = makeFailure({
    verdict,
    source: "rpc_error",
    id: `${facts.turnId}:error`,
    revision: facts.attempt,
    replaySafety: verdict.childDied === true ? "unknown" : replaySafetyOf(facts),
    title: raw.text,
    ...(record === undefined ? {} : { actions: record.actions, category: record.category }),
  });
  return causedBy(error, settle(failure, []));
}

function causedBy(cause: Error | undefined, decision: Decision): Decision {
  return decision.kind === "failed" && cause !== undefined ? { ...decision, cause } : decision;
}

/** A filter's "no" is a refusal and an output limit a truncation, whatever carried them. */
function settle(failure: Failure, warnings: readonly Failure[]): Decision {
  switch (failure.kind) {
    case "policy_denied":
      return { kind: "refused", refusal: { ...BARE_REFUSAL, explanation: failure.title }, warnings };
    case "output_limit":
      return { kind: "truncated", failure, unreadable: false, warnings };
    default:
      return { kind: "failed", failure, warnings };
  }
}

/** What the harness's own answer leaves open: it answered, so only what was shown forbids a resend. */
export function replaySafetyOf(facts: Pick<AttemptFacts, "handedOver" | "toolStarted" | "output">): ReplaySafety {
  if (!facts.handedOver) return "not_sent";
  if (facts.toolStarted) return "tool_started";
  return facts.output ? "output_seen" : "no_output";
}

function fromRecord(record: TypedSessionFailure, facts: AttemptFacts): Failure {
  return failureFromRecord(record, facts.context, replaySafetyOf(facts));
}

function fromSystemError(facts: AttemptFacts, { text, codexError }: NonNullable<AttemptFacts["systemError"]>): Failure {
  const byText = classifyText(text, facts.context);
  const structured =
    codexError === undefined ? undefined : classifyError(readRawError({ data: codexError }), facts.context);
  const verdict = structured !== undefined && byText.kind === "unknown" ? structured : byText;
  return makeFailure({
    verdict,
    source: "thread_status",
    id: `${facts.turnId}:error`,
    revision: facts.attempt,
    replaySafety: verdict.childDied === true ? "unknown" : replaySafetyOf(facts),
    title: text,
  });
}

/** A failure of Ostler's own knowledge: after the hand-over nobody can say what the harness did with the prompt. */
function minted(
  facts: AttemptFacts,
  verdict: Verdict,
  source: FailureSource,
  title: string,
  details?: string,
): Failure {
  const answered = source === "rpc_error";
  return makeFailure({
    verdict,
    source,
    id: `${facts.turnId}:error`,
    revision: facts.attempt,
    replaySafety: !facts.handedOver ? "not_sent" : answered ? replaySafetyOf(facts) : "unknown",
    title,
    details,
  });
}

/** A warning of Ostler's own about the turn. */
export function ownWarning(facts: AttemptFacts, rule: string, title: string): Failure {
  return makeFailure({
    verdict: plainVerdict("unknown", rule),
    source: "session_failure",
    id: `${facts.turnId}:warning`,
    revision: facts.attempt,
    replaySafety: replaySafetyOf(facts),
    title,
    severity: "warning",
  });
}

function asWarning(failure: Failure): Failure {
  return { ...failure, severity: "warning" };
}
