/**
 * What a replayed recording must come to. One row per recording, air and plain side by side; every value was decided by
 * reading the frames. The verdict of a kind is pinned here as a literal, so that a change in the product shows up.
 */
import type { QuestionAnswer } from "../../src/acp/questions.ts";
import type {
  FailureKind,
  FailureNeed,
  FailureSource,
  RefusalInfo,
  ReplaySafety,
  RetryVerdict,
} from "../../src/errors/failure.ts";

/** One recording and its two true endings. */
export interface RecordingRow {
  /** File name without `.jsonl`. */
  readonly case: string;
  readonly air: Expectation;
  readonly plain: Expectation;
  /** A few words: which frames decide. */
  readonly why: string;
  readonly drive?: Drive;
  /** What the recording goes on with after the prompts that are driven here. */
  readonly rest?: Needs;
}

/** One entry per prompt driven, in order; a start that fails is one turn that handed over no prompt. */
export type Expectation = readonly ExpectedTurn[] | Needs;

/** A recording whose recorded client did what a later letter of the plan brings; it cannot be driven yet. */
export interface Needs {
  readonly letter: "B" | "C" | "D";
  readonly why: string;
}

/** How a row is driven where the default (`--approve reads`, no deadline; `--retries 0` where a resend would be right, 3 where it would be wrong) is not what the recorded client did. */
export interface Drive {
  readonly approve?: "all" | "reads" | "none";
  readonly retries?: number;
  /** `--timeout` in seconds, for recordings in which nothing ends the turn. */
  readonly timeoutS?: number;
  /** The turn (counted from 1) that the caller aborts once the agent waits for what ended it in the recording. */
  readonly abortTurn?: number;
  /** The permission question stays open: the caller cancels the turn when it is asked. */
  readonly holdPermission?: true;
  /** What a person answers to the questions of the agent; absent = nobody is here. */
  readonly question?: QuestionAnswer;
  /** Two sessions in one runtime, one prompt in each, both in flight. */
  readonly twoSessions?: true;
}

/** How one prompt ends, in the words of the result line. */
export interface ExpectedTurn {
  readonly outcome: "completed" | "refused" | "truncated" | "empty" | "cancelled" | "failed";
  readonly exitCode: number;
  readonly stopReason: string | null;
  readonly text: string;
  readonly partial: boolean;
  readonly failure: ExpectedFailure | null;
  readonly refusal: RefusalInfo | null;
  /** Titles of the warnings in order; without it warnings are not looked at. */
  readonly warnings?: readonly string[];
  /** `session/prompt` frames that reached the agent for this turn. */
  readonly prompts: number;
  /** What the permission questions of the turn were answered with, in order: an option id, or `cancelled`. */
  readonly answers?: readonly string[];
  /** Must not stand anywhere in what the run prints. */
  readonly mustNotAppear?: readonly string[];
}

/** The deciding part of a failure; a field left out is not looked at, except `needs`, which is then absent. */
export interface ExpectedFailure {
  readonly kind: FailureKind;
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
  readonly source?: FailureSource;
  readonly replaySafety?: ReplaySafety;
  /** Whole title, or a part of it. */
  readonly title?: string | RegExp;
  readonly category?: string;
  readonly actions?: readonly string[];
  readonly resetAt?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
}

/** What the tables may say beside the kind: parts of the failure and parts of the turn, flat. */
type More = Partial<Omit<ExpectedFailure, "kind">> & Partial<Omit<ExpectedTurn, "outcome" | "failure" | "refusal">>;

/** DESIGN section 2, the table of kinds: verdict, need, exit code. Literals on purpose. */
const PINNED: Readonly<Record<FailureKind, readonly [RetryVerdict, FailureNeed | undefined, number]>> = {
  auth: ["never", "login", 6],
  credentials_settling: ["backoff", "login", 6],
  usage_limit: ["never", "quota", 8],
  rate_limit: ["backoff", undefined, 8],
  context_overflow: ["never", "new_session", 8],
  budget: ["never", "new_session", 8],
  output_limit: ["never", undefined, 11],
  model_unavailable: ["never", "human", 1],
  model_capacity: ["backoff", undefined, 1],
  malformed_request: ["never", "new_session", 1],
  request_rejected: ["never", undefined, 1],
  policy_denied: ["never", undefined, 7],
  overloaded: ["backoff", undefined, 1],
  service_error: ["backoff", undefined, 1],
  network: ["backoff", undefined, 1],
  agent_died: ["after_respawn", undefined, 9],
  agent_spawn: ["never", "human", 9],
  protocol: ["never", "human", 9],
  timeout: ["never", undefined, 3],
  busy: ["backoff", undefined, 10],
  session_not_found: ["never", "new_session", 4],
  gate: ["never", "human", 5],
  configuration: ["never", "human", 1],
  compaction: ["never", undefined, 1],
  unknown: ["never", undefined, 1],
};

/** A turn that ended well: `end_turn`, exit 0. */
export function completed(text: string, more: Partial<ExpectedTurn> = {}): ExpectedTurn {
  return {
    outcome: "completed",
    exitCode: 0,
    stopReason: "end_turn",
    text,
    partial: false,
    failure: null,
    refusal: null,
    prompts: 1,
    ...more,
  };
}

/** A failed turn that showed no text; a record on `end_turn` unless `more` says otherwise. */
export function failed(kind: FailureKind, more: More = {}): ExpectedTurn {
  return withFailure("failed", kind, more);
}

/** Cut by an output limit, with or without a record that says so. */
export function truncated(kind: "output_limit" | null, text: string, more: More = {}): ExpectedTurn {
  if (kind !== null) return withFailure("truncated", kind, { text, ...more });
  return { ...completed(text), outcome: "truncated", exitCode: 11, partial: true, stopReason: more.stopReason ?? null };
}

/** The model or a filter said no: exit 7, whatever else the harness said. */
export function refused(refusal: Partial<RefusalInfo>, more: Partial<ExpectedTurn> = {}): ExpectedTurn {
  const text = more.text ?? "";
  return {
    ...completed(text),
    outcome: "refused",
    exitCode: 7,
    partial: text !== "",
    refusal: { category: "", explanation: "", recommendedModel: "", ...refusal },
    ...more,
  };
}

/** `end_turn` and nothing to show for it: exit 11. */
export function empty(more: Partial<ExpectedTurn> = {}): ExpectedTurn {
  return { ...completed(""), outcome: "empty", exitCode: 11, ...more };
}

/** Ended by a cancel; `exitCode` 1 is the harness's own, 130 a caller's, 5 our own "no" to a permission. */
export function cancelled(exitCode: 1 | 5 | 130, more: Partial<ExpectedTurn> = {}): ExpectedTurn {
  const text = more.text ?? "";
  return {
    ...completed(text),
    outcome: "cancelled",
    exitCode,
    stopReason: "cancelled",
    partial: text !== "",
    ...more,
  };
}

/** A harness that never got as far as a prompt. */
export function failedToStart(kind: FailureKind, more: More = {}): ExpectedTurn {
  return failed(kind, { stopReason: null, prompts: 0, replaySafety: "not_sent", ...more });
}

/** A prompt answered by a JSON-RPC error, a death or a deadline: there is no stop reason. */
export function rejected(kind: FailureKind, more: More = {}): ExpectedTurn {
  return failed(kind, { stopReason: null, ...more });
}

/** Names the letter that brings what the recording is about. */
export function needs(letter: Needs["letter"], why: string): Needs {
  return { letter, why };
}

function withFailure(outcome: "failed" | "truncated", kind: FailureKind, more: More): ExpectedTurn {
  const [retry, need, exitCode] = PINNED[kind];
  const {
    exitCode: ownExitCode,
    stopReason,
    text = "",
    partial,
    prompts,
    warnings,
    answers,
    mustNotAppear,
    ...facts
  } = more;
  return {
    outcome,
    exitCode: ownExitCode ?? exitCode,
    stopReason: stopReason === undefined ? "end_turn" : stopReason,
    text,
    partial: partial ?? text !== "",
    failure: { kind, retry, ...(need && { needs: need }), ...facts },
    refusal: null,
    prompts: prompts ?? 1,
    ...(warnings && { warnings }),
    ...(answers && { answers }),
    ...(mustNotAppear && { mustNotAppear }),
  };
}
