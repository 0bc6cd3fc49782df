/** One failure to the one class of the two families that callers branch on. */
import {
  AcpAuthRequired,
  AcpError,
  AcpModelUnavailable,
  AcpPermissionNeeded,
  AcpProcessDied,
  AcpPromptBusy,
  AcpTimeoutError,
  AcpToolGateUnroutable,
} from "./acp-error.ts";
import type { Failure } from "./failure.ts";
import { namedModel } from "./patterns.ts";
import { AcpRequestTimeout, AcpRuntimeDead, AcpRuntimeError } from "./runtime-error.ts";
import { ToolGateUnroutable } from "./tool-gate.ts";
import { sentenceFor } from "./wording.ts";

/** What the caller knows besides the failure; fields that the class does not have are ignored. */
export interface ErrorDetails {
  readonly cause?: unknown;
  readonly partialText?: string | undefined;
  readonly exitCode?: number | null | undefined;
  readonly signal?: string | null | undefined;
  readonly advertised?: readonly string[] | undefined;
  readonly modelId?: string | undefined;
  /** The control request that failed. Absent for a prompt: then the failure is one of the turn. */
  readonly method?: string | undefined;
  readonly budgetMs?: number | undefined;
  /** What was to be permitted, for a permission request that nobody could answer. */
  readonly requestTitle?: string | undefined;
}

/** The rule of a failure that says: no permission callback was there to ask. Every other `gate` is a bypassed gate. */
export const PERMISSION_NEEDED_RULE = "permission-needed";

/** The typed error of a failure. An error of either family that caused it is that error already, and returned as it is. */
export function toError(failure: Failure, details: ErrorDetails = {}): AcpError | AcpRuntimeError {
  const { cause, method } = details;
  if (isTyped(cause) && cause.kind === failure.kind && cause.failure !== undefined) return cause;
  const message = messageOf(failure);
  const facts = { failure, cause };
  const isPrompt = method === undefined || method === "session/prompt";
  switch (failure.kind) {
    case "auth":
      return new AcpAuthRequired(message, facts);
    case "model_unavailable": {
      const modelId = details.modelId ?? namedModel(failure.title);
      return new AcpModelUnavailable(message, { ...facts, modelId, advertised: details.advertised });
    }
    case "busy":
      return new AcpPromptBusy(message, facts);
    case "gate":
      if (failure.rule === PERMISSION_NEEDED_RULE) {
        const requestTitle = details.requestTitle ?? failure.title;
        return new AcpPermissionNeeded(message, { ...facts, requestTitle, responseSoFar: details.partialText });
      }
      return new AcpToolGateUnroutable(message, { failure, cause: gateLeaf(message, cause) });
    case "timeout":
      if (!isPrompt) return new AcpRequestTimeout(message, { ...facts, method, budgetMs: details.budgetMs });
      return new AcpTimeoutError(message, { ...facts, partialOutput: details.partialText });
    case "agent_died":
      if (!isPrompt) return new AcpRuntimeDead(message, facts);
      return new AcpProcessDied(message, { ...facts, exitCode: details.exitCode, signal: details.signal });
    case "agent_spawn":
    case "protocol":
      return new AcpRuntimeError(message, facts);
    case "credentials_settling":
    case "usage_limit":
    case "rate_limit":
    case "context_overflow":
    case "budget":
    case "output_limit":
    case "model_capacity":
    case "malformed_request":
    case "request_rejected":
    case "policy_denied":
    case "overloaded":
    case "service_error":
    case "network":
    case "session_not_found":
    case "configuration":
    case "compaction":
    case "unknown":
      return new AcpError(message, facts);
  }
}

function isTyped(value: unknown): value is AcpError | AcpRuntimeError {
  return value instanceof AcpError || value instanceof AcpRuntimeError;
}

function gateLeaf(message: string, cause: unknown): ToolGateUnroutable {
  if (cause instanceof ToolGateUnroutable) return cause;
  return new ToolGateUnroutable(message, cause === undefined ? undefined : { cause });
}

/** Upper-case start, no full stop: messages stand inside other sentences and logs. */
function messageOf(failure: Failure): string {
  const sentence = sentenceFor(failure).replace(/\.$/, "");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
