/**
 * Failures of the process and of the request transport underneath the protocol. Independent of `acp-error.ts`: the two
 * families share no base (seed document 003), only their fields.
 */
import type { ErrorFacts } from "./acp-error.ts";
import type { Failure, FailureKind } from "./failure.ts";
import { KINDS } from "./kinds.ts";

/** Base of all runtime failures; also spawn refusals (missing binary, no handshake). */
export class AcpRuntimeError extends Error {
  override readonly name: string = "AcpRuntimeError";
  readonly kind: FailureKind;
  readonly transient: boolean;
  readonly failure: Failure | undefined;

  constructor(message: string, facts: ErrorFacts & { readonly transient?: boolean | undefined } = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.failure = facts.failure;
    this.kind = facts.failure?.kind ?? facts.kind ?? "unknown";
    this.transient = facts.transient ?? facts.failure?.transient ?? KINDS[this.kind].retry !== "never";
  }
}

/** The underlying process is gone; a fresh one is needed. */
export class AcpRuntimeDead extends AcpRuntimeError {
  override readonly name = "AcpRuntimeDead";

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { kind: "agent_died", ...facts });
  }
}

/**
 * The response to a control request missed its budget. Transient by type: no prompt was sent, so nothing was attempted
 * that a second request could repeat.
 */
export class AcpRequestTimeout extends AcpRuntimeError {
  override readonly name = "AcpRequestTimeout";
  /** JSON-RPC method, such as `session/new`. */
  readonly method: string;
  readonly budgetMs: number;

  constructor(
    message: string,
    facts: ErrorFacts & { readonly method?: string | undefined; readonly budgetMs?: number | undefined } = {},
  ) {
    super(message, { kind: "timeout", ...facts, transient: true });
    this.method = facts.method ?? "";
    this.budgetMs = facts.budgetMs ?? 0;
  }
}

/** A runtime that is bound to one folder cannot serve another; the caller starts a runtime of its own for it. */
export class AcpWorkspaceBindingError extends AcpRuntimeError {
  override readonly name = "AcpWorkspaceBindingError";

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { kind: "configuration", ...facts });
  }
}
