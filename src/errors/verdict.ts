/** What a classifier says about one piece of evidence: the kind, and whatever the evidence itself told. Types only. */
import type { FailureAction, FailureCategory, FailureKind, FailureNeed, Profile, RetryVerdict } from "./failure.ts";

export interface Verdict {
  readonly kind: FailureKind;
  /** From the kind's row, or stricter: text may turn a retry into `never`, never the reverse. */
  readonly retry: RetryVerdict;
  readonly needs?: FailureNeed;
  /** The row that decided. */
  readonly rule: string;
  readonly resetAt?: string;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  /** The evidence reports the death of the harness's own child: what the turn had done is then unknown. */
  readonly childDied?: boolean;
}

/** The part of a session failure record that decides; `acp/air/session-failure.ts` reads it off the wire. */
export interface FailureRecord {
  readonly category: FailureCategory | (string & {});
  readonly actions: readonly FailureAction[];
  readonly title: string;
  readonly details?: string;
  readonly reason?: string;
}

/** What the classifier may know besides the evidence. */
export interface ClassifyContext {
  readonly profile?: Profile;
  /** Model ids that the harness advertised for this account; absent or empty = unknown. */
  readonly advertisedModels?: readonly string[];
  /**
   * For a rejected prompt: a record in `error.data`, or one raised in the same turn. It decides after structured data
   * and the code, and before text (typed failures, section 5.3).
   */
  readonly record?: FailureRecord;
}
