/** Failures before the first prompt: of the handshake, of opening a session, of a setting. */
import { classifyError, classifyText } from "../errors/classify.ts";
import type { Profile } from "../errors/failure.ts";
import { KINDS } from "../errors/kinds.ts";
import { readRawError } from "../errors/raw.ts";
import type { Verdict } from "../errors/verdict.ts";
import { METHOD_NOT_FOUND, DeadlineExceeded, RpcError } from "./connection.ts";
import { RuntimeGone, startError } from "./death.ts";
import { plainVerdict } from "./make-failure.ts";
import type { Backend } from "./ports.ts";

const INVALID_PARAMS = -32602;

/** Whatever stopped a start, as the class that the library throws; what is no failure of the agent stays as it is. */
export function toStartError(
  error: unknown,
  agent: { readonly backend: Backend; stderrTail?(): string },
  method: string,
): unknown {
  const { backend } = agent;
  if (error instanceof RuntimeGone) return startError(error, error, { method });
  if (error instanceof DeadlineExceeded) {
    const isHandshake = method === "initialize";
    const verdict = plainVerdict(isHandshake ? "protocol" : "timeout", "request-deadline");
    const title = isHandshake
      ? `${backend.label} did not speak ACP within ${error.budgetMs / 1000} s`
      : `${backend.label}: ${error.message}`;
    // What it printed instead of speaking is the only hint at why.
    const details = isHandshake ? agent.stderrTail?.() : undefined;
    const facts = { verdict, source: "timeout" as const, title, ...(details ? { details } : {}) };
    return startError(facts, error, { method, budgetMs: error.budgetMs });
  }
  if (!(error instanceof RpcError)) return error;
  const raw = readRawError(error);
  const verdict = classifyError(raw, { profile: backend.profile });
  return startError(
    {
      verdict: startVerdict(verdict, error, { method, text: raw.text, profile: backend.profile }),
      source: "rpc_error",
      title: raw.text,
    },
    error,
  );
}

/**
 * A reason that no row knows, or a complaint about our own parameters, means that no session can be had: the harness
 * cannot be used as it is (recordings protocol-errors), which is not an unknown turn.
 */
function startVerdict(
  verdict: Verdict,
  error: RpcError,
  { method, text, profile }: { readonly method: string; readonly text: string; readonly profile: Profile },
): Verdict {
  const { retry, needs } = KINDS.agent_spawn;
  // A method that was advertised and then is not known says nothing about the agent as a whole.
  if (isReopening(method) && error.code === METHOD_NOT_FOUND) return plainVerdict("request_rejected", "no-such-method");
  // Some agents have one code for everything; what they say of the session they were asked for is more specific.
  const byText = isReopening(method) ? classifyText(text, { profile }) : undefined;
  if (byText?.kind === "session_not_found") return byText;
  const opens = method === "initialize" || method === "session/new";
  const unexplained =
    verdict.kind === "unknown" || (verdict.kind === "request_rejected" && error.code === INVALID_PARAMS);
  if (!opens || !unexplained) return verdict;
  return { ...verdict, kind: "agent_spawn", retry, ...(needs === undefined ? {} : { needs }) };
}

function isReopening(method: string): boolean {
  return method === "session/load" || method === "session/resume" || method === "session/fork";
}
