/**
 * What the journal of a run holds, and what is made of it. Types and limits only; the words are those of
 * docs/failures.md. Lifecycle, observed failures, whether somebody must act and who was told are four separate facts:
 * none of them is derived from another.
 */

/** What failed. `observation-incomplete`: evidence is missing, so that something may have failed unseen. */
export type ObservationCategory =
  | "tool"
  | "rejected-intent"
  | "exit"
  | "model"
  | "session"
  | "auth"
  | "supervision"
  | "watch"
  | "storage"
  | "observation-incomplete";

export type Disposition = "recovered" | "superseded" | "expected" | "open";

/** Who disposed: the agent itself, the program that runs it, or a person. */
export type DisposedBy = "child" | "parent" | "human";

/** What a permission blocker is about. Never a path, a command or an output. */
export type PermissionResource =
  | "credential-files"
  | "process-inspection"
  | "project-files"
  | "outside-project-files"
  | "runtime-control-files"
  | "command-execution"
  | "network-access"
  | "unknown";

/** A report that a permission keeps work from going on. A closed schema: no other key, no path, no prose. */
export interface PermissionBlocker {
  readonly version: 1;
  readonly kind: "permission-blocker";
  readonly context: "worker" | "foreground";
  readonly resource: PermissionResource;
  /** `agent-reported` proves nothing; `policy-refusal`: Ostler itself said no. */
  readonly basis: "agent-reported" | "policy-refusal" | "os-permission-error";
  /** 1 to 64 of `[A-Za-z0-9._:-]`, the first alphanumeric. */
  readonly operation: string;
  readonly remoteOutcome: "unknown" | "not-started";
  readonly incidentId: string;
  readonly runId?: string;
  readonly policySnapshotId?: string;
}

/** One execution of an operation: which call it was, and where it stands in output.log (ordinals of lines). */
export interface AttemptRef {
  readonly toolCallId?: string;
  readonly attemptId?: string;
  readonly operationId?: string;
  readonly startN: number;
  readonly endN: number;
}

interface EventBase {
  /** 1 to 256 bytes without control characters; the same whenever the same thing is observed again. */
  readonly id: string;
  /** 32 hex characters, see `keys.ts`; what incidents are grouped by. */
  readonly operation: string;
  /** When it happened, ms since 1970; absent when that is not known. */
  readonly at?: number;
}

/** Something failed, or could not be observed. */
export interface FailureEvent extends EventBase {
  readonly kind: "failure" | "incomplete";
  readonly category: ObservationCategory;
  readonly tool?: string;
  /** Cleaned and scrubbed, at most 400 characters. */
  readonly summary: string;
  /** `output.log#byte=N`: the line that ended the attempt. */
  readonly evidence?: string;
  /** The exit was declared before the command ran. */
  readonly expected?: boolean;
  readonly exitCode?: number | null;
  readonly signal?: string;
  readonly attempt?: AttemptRef;
  readonly permissionBlockers?: readonly PermissionBlocker[];
  /** The record of the harness that it came from: a higher revision is the same failure told anew. */
  readonly sf?: { readonly id: string; readonly revision: number };
}

/** An operation succeeded after it failed. */
export interface RecoveredEvent extends EventBase {
  readonly kind: "recovered";
  readonly incidents: readonly string[];
  readonly attempt?: AttemptRef;
}

/** A surface took a notification. */
export interface DeliveredEvent extends EventBase {
  readonly kind: "delivered";
  readonly incidents: readonly string[];
}

export interface DispositionEvent extends EventBase {
  readonly kind: "disposition";
  readonly incidents: readonly string[];
  readonly disposition: Disposition;
  /** 1 to 400 characters. */
  readonly reason: string;
  readonly by: DisposedBy;
  /** What proves it, in words. */
  readonly evidence?: string;
  /** The attempt that proves it: it must have started after the last failure of every incident. */
  readonly proof?: AttemptRef & { readonly operation: string };
  readonly permissionBlockers?: readonly PermissionBlocker[];
}

export type JournalEvent = FailureEvent | RecoveredEvent | DeliveredEvent | DispositionEvent;

/** One line of `failures.jsonl`. */
export interface JournalRecord {
  readonly v: 1;
  /** The process that wrote it: 8 hex characters. */
  readonly w: string;
  /** From 1, per writer: a hole is lost evidence. */
  readonly seq: number;
  /** When the supervisor saw it, ms since 1970. */
  readonly observedAt: number;
  /** So many lines before it are its own beginning, cut off by a disk that took no more: nothing was lost with them. */
  readonly torn?: number;
  readonly event: JournalEvent;
  /** CRC-32 of the JSON text of `event`, 8 hex characters. */
  readonly crc?: string;
}

export type IncidentStatus = "unresolved" | "expected" | "resolved" | "superseded";

/** The failures of one operation from the first one until it is closed. */
export interface Incident {
  /** The id of the event that opened it. */
  readonly id: string;
  readonly operation: string;
  readonly status: IncidentStatus;
  readonly category: ObservationCategory;
  readonly tool?: string;
  readonly summary: string;
  readonly evidence?: string;
  /** Of the newest occurrence, when it is known. */
  readonly at?: number;
  readonly exitCode?: number | null;
  readonly signal?: string;
  readonly firstObservedAt: number;
  readonly lastObservedAt: number;
  /** Position in the journal of the newest record about it (1 = the first record): the order of lists. */
  readonly lastSeq: number;
  /** When it first needed somebody; the grace before a notification counts from here. */
  readonly actionableSince?: number;
  /** Every failure counts here. */
  readonly occurrences: number;
  /** Failures that nobody had declared: three of a tool operation need somebody. */
  readonly strikes: number;
  readonly disposition?: { readonly word: Disposition; readonly reason: string; readonly by: DisposedBy };
  readonly resolvedAt?: number;
  /** The newest failed attempt. */
  readonly attempt?: AttemptRef;
  readonly permissionBlockers?: readonly PermissionBlocker[];
  readonly sf?: { readonly id: string; readonly revision: number };
}

/** What a fold over a journal knows. Handed out as it is: whoever folds on makes the next one. */
export interface IncidentState {
  /** By id, in the order of their opening; every incident there ever was. */
  readonly incidents: ReadonlyMap<string, Incident>;
  /** The newest incident of each operation, by operation. */
  readonly current: ReadonlyMap<string, string>;
  /**
   * When a notification with the incident was handed over, by incident id: the first one since the incident needs
   * somebody, or while it needs nobody the first one that counted it.
   */
  readonly delivered: ReadonlyMap<string, number>;
  /** Every event taken, by its id, with the incident that a failure counts to; undefined for all other events. */
  readonly incidentOfEvent: ReadonlyMap<string, string | undefined>;
  /** Changes with everything a person may see; a receipt does not change it. */
  readonly revision: number;
}

/** One line of the journal, its newline included. */
export const MAX_RECORD_BYTES = 8192;
export const MAX_SUMMARY_CHARS = 400;
export const MAX_REASON_CHARS = 400;
export const MAX_EVIDENCE_CHARS = 400;
/** Unexpected failures of one tool operation without a success between them. */
export const STRIKES = 3;
