/**
 * Failures of the protocol and of a prompt. A family of its own, beside `runtime-error.ts` (seed document 003): a caller
 * that handles a dead transport must not catch a refused model with it. A class exists where a caller acts differently,
 * so that a fact which a respawn reads again is never retried as if it were a transport fault.
 */
import type { Failure, FailureKind } from "./failure.ts";
import { KINDS } from "./kinds.ts";

/** What every class of both families takes; `cause` keeps the source. */
export interface ErrorFacts {
  readonly kind?: FailureKind;
  /** The record behind it; its kind and verdict win. */
  readonly failure?: Failure | undefined;
  readonly cause?: unknown;
}

/** Base of all protocol and prompt failures. */
export class AcpError extends Error {
  override readonly name: string = "AcpError";
  readonly kind: FailureKind;
  /** The retry verdict; whether a prompt may be sent again also depends on `failure.replaySafety`. */
  readonly transient: boolean;
  readonly failure: Failure | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.failure = facts.failure;
    this.kind = facts.failure?.kind ?? facts.kind ?? "unknown";
    this.transient = facts.failure?.transient ?? KINDS[this.kind].retry !== "never";
  }
}

/** A prompt had no answer within its time. Never retried: what the agent did with the prompt is not known. */
export class AcpTimeoutError extends AcpError {
  override readonly name = "AcpTimeoutError";
  /** What had been streamed until then; not a complete answer. */
  readonly partialOutput: string;

  constructor(message: string, facts: ErrorFacts & { readonly partialOutput?: string | undefined } = {}) {
    super(message, { kind: "timeout", ...facts });
    this.partialOutput = facts.partialOutput ?? "";
  }
}

/** The agent asks for a permission and the caller gave no callback that could answer. */
export class AcpPermissionNeeded extends AcpError {
  override readonly name = "AcpPermissionNeeded";
  /** What was to be permitted, in the agent's words. */
  readonly requestTitle: string;
  /** What had been streamed until then. */
  readonly responseSoFar: string;

  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly requestTitle?: string | undefined;
      readonly responseSoFar?: string | undefined;
    } = {},
  ) {
    super(message, { kind: "gate", ...facts });
    this.requestTitle = facts.requestTitle ?? "";
    this.responseSoFar = facts.responseSoFar ?? "";
  }
}

/** The agent process ended, or stopped reading, while a prompt was with it. */
export class AcpProcessDied extends AcpError {
  override readonly name = "AcpProcessDied";
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The prompt may have been acted upon: it must not be sent again by itself, even though a fresh process would help. */
  readonly ambiguousDelivery: boolean;

  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly exitCode?: number | null | undefined;
      readonly signal?: string | null | undefined;
      readonly ambiguousDelivery?: boolean | undefined;
    } = {},
  ) {
    super(message, { kind: "agent_died", ...facts });
    this.exitCode = facts.exitCode ?? null;
    this.signal = facts.signal ?? null;
    this.ambiguousDelivery = facts.ambiguousDelivery ?? facts.failure?.replaySafety !== "not_sent";
  }
}

/** The harness is not signed in. Never retried: a respawn reads the same account. */
export class AcpAuthRequired extends AcpError {
  override readonly name = "AcpAuthRequired";

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { kind: "auth", ...facts });
  }
}

/** Tool calls would bypass the permission gate. Never retried: a respawn reads the same configuration. `cause` is the leaf. */
export class AcpToolGateUnroutable extends AcpError {
  override readonly name = "AcpToolGateUnroutable";

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { kind: "gate", ...facts });
  }
}

/** The account does not have the model that was asked for. Never retried, and never answered by a silent other model. */
export class AcpModelUnavailable extends AcpError {
  override readonly name = "AcpModelUnavailable";
  /** Empty when the provider did not name it. */
  readonly modelId: string;
  /** What the harness advertises for this account; empty = not known. */
  readonly advertised: readonly string[];

  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly modelId?: string | undefined;
      readonly advertised?: readonly string[] | undefined;
    } = {},
  ) {
    super(message, { kind: "model_unavailable", ...facts });
    this.modelId = facts.modelId ?? "";
    this.advertised = facts.advertised ?? [];
  }
}

/** A prompt is already in flight on this session. */
export class AcpPromptBusy extends AcpError {
  override readonly name = "AcpPromptBusy";

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { kind: "busy", ...facts });
  }
}
