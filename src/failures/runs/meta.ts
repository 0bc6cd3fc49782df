/** `meta.json` of a run: what it is and how far it came. Types only. Says nothing about whether the work is correct. */
import type { ProcessIdentity } from "../../acp/processes.ts";
import type { OwnerIdentity } from "../../acp/this-process.ts";

/**
 * `orphaned`: its supervisor is gone and its process lives. `lost`: neither is left and no end was recorded. Both are
 * decided by the next Ostler that looks.
 */
export type RunStatus = "starting" | "running" | "completed" | "failed" | "cancelled" | "orphaned" | "lost";

/** `agent`: a harness and its sessions. `command`: one command. `watch`: a command that is polled. */
export type RunKind = "agent" | "command" | "watch";

export interface RunMeta {
  readonly version: 1;
  /** `^[a-z]{2}_[0-9a-z]{6,16}_[0-9]{1,6}$`, so never a path; the letters tell the kind: ag, cm, wa. */
  readonly id: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly endedAt?: number;
  /** For a person: the backend, or the command line, scrubbed, at most 200 characters. */
  readonly title: string;
  readonly cwd: string;
  readonly supervisor: OwnerIdentity;
  /** Who completes the record of a run whose supervisor is gone: nobody else does meanwhile. */
  readonly settling?: OwnerIdentity;
  /**
   * The harness or the command; absent before it was started. `mark`: what everything it starts carries in its
   * environment (`process-mark.ts`), for whoever has to end the run.
   */
  readonly process?: ProcessIdentity & { readonly mark?: string };
  /** How the newest process ended. */
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
  /** An agent's run: the conversation that it belongs to (of the store, or the run's own id for a one-shot). */
  readonly conversationId?: string;
  readonly backend?: string;
  /** Started under confinement that was proved by a write probe. Trust needs the provenance record as well. */
  readonly taskRuntime: boolean;
  /** A command run: who may recover its failure with another run. */
  readonly owner?: string;
  readonly operationId?: string;
  readonly expectedExitCodes?: readonly number[];
  /** False: no notification is sent; nothing else changes. */
  readonly callback: boolean;
  /** The end and health callbacks that were handed over, so that each comes once. */
  readonly told: readonly ("completion" | "orphaned" | "lost")[];
  /** How far output.log was observed when the run was last left in order. */
  readonly observedTo?: { readonly bytes: number; readonly n: number };
  /** Lines that were no frames; kept in the debug log. */
  readonly noiseLines?: number;
  /** What is missing for trust, one sentence each; empty for a trusted run. */
  readonly untrustedBecause?: readonly string[];
  /** The machine that the run was made on: after a restart of it nothing of the run is left. Written by the registry. */
  readonly machine?: string;
}
