/**
 * The session failure record of the JetBrains AIR namespace: the only place that knows its wire shape (seed documents
 * 000 and 001). Malformed means absent, but never silently: `unusable` is a third answer, because a record that is
 * there and cannot be read must not turn a failed turn into a silent success.
 */
import type { FailureAction, FailureCategory, FailureSeverity } from "../../errors/failure.ts";

export type TypedSessionFailureCategory = FailureCategory;
export type TypedSessionFailureSeverity = FailureSeverity;
export type TypedSessionFailureAction = FailureAction;

/** One session failure record as the harness sent it, validated and frozen; texts are raw, scrub before showing. */
export interface TypedSessionFailure {
  /** 1-256 UTF-16 units, no control characters: names one occurrence. */
  readonly id: string;
  /** From 1; orders the states of one occurrence. */
  readonly revision: number;
  /** Verbatim, known or not. */
  readonly category: TypedSessionFailureCategory | (string & {});
  /** Anything but `warning` is an error. */
  readonly severity: TypedSessionFailureSeverity;
  /** May be empty. */
  readonly title: string;
  readonly details?: string;
  /** Field of claude-agent-acp's code, never recorded; carried through. */
  readonly reason?: string;
  /** Known actions, first occurrence each, in the harness's order. */
  readonly actions: readonly TypedSessionFailureAction[];
  /** Up to 8 actions this version does not know, for logs. */
  readonly unknownActions: readonly string[];
}

/** What a `_meta` holds: no record, a record, or one that this version cannot read. */
export type SessionFailureReading =
  | { readonly kind: "none" }
  | { readonly kind: "ok"; readonly record: TypedSessionFailure }
  | { readonly kind: "unusable"; readonly why: string };

/** Advertised, and the highest version that is read. */
const MAX_AIR_VERSION = 1;
const MAX_ID_CHARS = 256;
const MAX_CATEGORY_CHARS = 64;
const MAX_REASON_CHARS = 128;
const MAX_UNKNOWN_ACTIONS = 8;
const KNOWN_ACTIONS: ReadonlySet<string> = new Set<FailureAction>(["retry", "login", "new_session"]);
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;
const NONE: SessionFailureReading = Object.freeze({ kind: "none" });

/** The `_meta` block of `initialize.clientCapabilities` that turns the records on. */
export const TYPED_SESSION_FAILURE_CLIENT_CAPABILITY: Readonly<Record<string, unknown>> = Object.freeze({
  jetbrains: Object.freeze({
    air: Object.freeze({ version: MAX_AIR_VERSION, capabilities: Object.freeze(["sessionFailure"]) }),
  }),
});

/** The record in any ACP `_meta`, or undefined when there is none that can be read. Never throws. */
export function readTypedSessionFailure(meta: unknown): TypedSessionFailure | undefined {
  const reading = readSessionFailure(meta);
  return reading.kind === "ok" ? reading.record : undefined;
}

/** Whether `incoming` is newer than `latched`: nothing latched, another id, or a strictly higher revision of the same. */
export function supersedesTypedSessionFailure(
  latched: TypedSessionFailure | undefined,
  incoming: TypedSessionFailure,
): boolean {
  return latched === undefined || latched.id !== incoming.id || incoming.revision > latched.revision;
}

/** Reads the record of a `_meta` with the reason when it cannot be read. Own properties only; never throws. */
export function readSessionFailure(meta: unknown): SessionFailureReading {
  try {
    const air = own(own(meta, "jetbrains"), "air");
    const value = own(air, "sessionFailure");
    if (!isPlainObject(air) || value === undefined || value === null) return NONE;
    return readVersioned(own(air, "version"), value);
  } catch (error) {
    return unusable(`reading it threw ${error instanceof Error ? error.name : "an error"}`);
  }
}

function readVersioned(version: unknown, value: unknown): SessionFailureReading {
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1)
    return unusable("version is not usable");
  if (version > MAX_AIR_VERSION) return unusable(`version ${version} is newer than ${MAX_AIR_VERSION}`);
  if (!isPlainObject(value)) return unusable("the record is not an object");
  const id = own(value, "id");
  const revision = own(value, "revision");
  const category = own(value, "category");
  const title = own(value, "title");
  const details = own(value, "details") ?? undefined;
  const reason = own(value, "reason");
  const actions = own(value, "actions");
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_CHARS || CONTROL_CHARACTER.test(id))
    return unusable("id is not usable");
  if (typeof revision !== "number" || !Number.isSafeInteger(revision) || revision < 1)
    return unusable("revision is not usable");
  if (typeof category !== "string" || category === "" || category.length > MAX_CATEGORY_CHARS)
    return unusable("category is not usable");
  if (typeof title !== "string") return unusable("title is not a string");
  if (details !== undefined && typeof details !== "string") return unusable("details is not a string");
  if (!Array.isArray(actions)) return unusable("actions is not a list");
  const words = [...new Set(actions.filter((action): action is string => typeof action === "string"))];
  return {
    kind: "ok",
    record: Object.freeze({
      id,
      revision,
      category,
      severity: own(value, "severity") === "warning" ? "warning" : "error",
      title,
      ...(details === undefined ? {} : { details }),
      ...(typeof reason === "string" && reason.length <= MAX_REASON_CHARS ? { reason } : {}),
      actions: Object.freeze(words.filter((word): word is FailureAction => KNOWN_ACTIONS.has(word))),
      unknownActions: Object.freeze(words.filter((word) => !KNOWN_ACTIONS.has(word)).slice(0, MAX_UNKNOWN_ACTIONS)),
    }),
  };
}

function unusable(why: string): SessionFailureReading {
  return { kind: "unusable", why };
}

function own(value: unknown, key: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
