/** `session/fork`: a new session that begins with the history of another one (seed document 002, Session fork point). */
import { createHash } from "node:crypto";
import { abortable } from "./abort.ts";
import { AIR_VERSION } from "./air/namespace.ts";
import { RpcError } from "./connection.ts";
import { startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import {
  claimId,
  closeLateSession,
  openParams,
  prepareSession,
  readOpenedId,
  requireGate,
  signedIn,
} from "./open-session.ts";
import type { OpenContext, OpenSessionOptions } from "./open-session.ts";
import type { SessionSetup } from "./session-link.ts";

/** A message of the agent that a fork ends with. */
export interface ForkPoint {
  /** As events name it. */
  readonly messageId: string;
  /** Its whole text, where it is known: an agent that does not know the id finds the message by that. */
  readonly text?: string;
  /** The how many-eth message with this very text it is, from 1. */
  readonly occurrence?: number;
}

export interface ForkSessionOptions extends OpenSessionOptions {
  /** The session to begin like; it stays what it is. */
  readonly sessionId: string;
  /** Default: its whole history. */
  readonly at?: ForkPoint;
}

const INVALID_PARAMS = -32602;

/** Throws the typed error: kind `request_rejected` for an agent that cannot fork, or does not find the message. */
export function setUpForkedSession(options: ForkSessionOptions, context: OpenContext): Promise<SessionSetup> {
  return abortable(forkAndSet(options, context), options.signal);
}

async function forkAndSet(options: ForkSessionOptions, context: OpenContext): Promise<SessionSetup> {
  const { backend, capabilities, connection, approval, sessionMs } = context;
  const { sessionId, at } = options;
  if (!capabilities.fork) throw rejected("no-fork", `${backend.label} cannot fork a session`);
  requireGate(options, context);
  const meta = { ...backend.sessionMeta(approval, context.gate), ...(at !== undefined && forkMeta(at)) };
  const params = { sessionId, ...openParams(options, Object.keys(meta).length === 0 ? undefined : meta) };
  const onLate = (result: unknown): void => closeLateSession(readOpenedId(result), context);
  const { result, notes } = await signedIn(context, "session/fork", async () => {
    try {
      return await connection.request("session/fork", params, { deadlineMs: sessionMs, onLate });
    } catch (error) {
      if (at === undefined || !(error instanceof RpcError) || error.code !== INVALID_PARAMS) throw error;
      throw rejected("fork-point-unknown", `${backend.label} finds no message ${at.messageId} in this session`, error);
    }
  });
  const id = readOpenedId(result);
  if (id === undefined || id === sessionId) throw rejected("no-fork-id", `${backend.label} forked without a new id`);
  claimId(id, context);
  return prepareSession(id, result, notes, options, context);
}

/** The fork point as the contract has it; the fingerprint is of the text. */
export function forkMeta({ messageId, text, occurrence }: ForkPoint): Readonly<Record<string, unknown>> {
  const fork = {
    version: AIR_VERSION,
    messageId,
    ...(text !== undefined && { messageFingerprint: fingerprintOf(text), messageOccurrence: occurrence ?? 1 }),
  };
  return { jetbrains: { air: { version: AIR_VERSION, fork } } };
}

function fingerprintOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function rejected(rule: string, title: string, cause?: unknown): Error {
  return startError({ verdict: plainVerdict("request_rejected", rule), source: "rpc_error", title }, cause);
}
