/** The last step of a turn: decisions that need no frames, and the outcome with what the session adds to the decision. */
import { AcpError } from "../errors/acp-error.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import { toError } from "../errors/typed.ts";
import type { ClassifyContext } from "../errors/verdict.ts";
import { MAX_KEPT_CHARS } from "./answer.ts";
import type { Attempt } from "./attempt.ts";
import type { ClockName } from "./clocks.ts";
import { exitOf } from "./death.ts";
import { makeFailure, plainVerdict } from "./make-failure.ts";
import type { AttemptFacts, Decision, Ending } from "./outcome.ts";
import type { TurnOutcome, TurnTimeouts } from "./types.ts";

/** The caller aborted before anything was sent. */
export const ABORTED: Decision = { kind: "cancelled", by: "caller", warnings: [] };

type OutcomeBase = Omit<Extract<TurnOutcome, { kind: "completed" }>, "kind" | "stderr" | "cause">;

/** What was said and refused in a turn. `shown`: there was an answer before the agent was asked to go on. */
export function saidIn(
  decision: Decision,
  attempt: Attempt | undefined,
  shown: boolean,
): Pick<OutcomeBase, "text" | "partial" | "warnings"> {
  const failure = "failure" in decision ? decision.failure : null;
  const onlyWords = decision.kind === "completed" && !shown && attempt?.facts().output === false;
  const warnings = [...(attempt?.warnings.values() ?? []), ...decision.warnings];
  return {
    text: (onlyWords ? attempt.adapterWords.text : attempt?.answer.text) ?? "",
    partial: decision.kind !== "completed" && (shown || (attempt?.answer.visible ?? false)),
    warnings: warnings.filter((warning) => warning.id !== failure?.id),
  };
}

/** What is known of a turn none of whose prompts went out. */
export function nothingSent(turnId: string, context: ClassifyContext): AttemptFacts {
  return {
    turnId,
    attempt: 1,
    handedOver: false,
    output: false,
    toolStarted: false,
    adapterWords: false,
    raisedError: undefined,
    systemError: undefined,
    refusal: undefined,
    refusalIsOurs: false,
    context,
  };
}

/** A bug of Ostler's own: said as such, with the error as cause for the log. */
export function bugEnding(error: unknown): Ending {
  const name = error instanceof Error ? error.name : "unknown";
  return {
    type: "fact",
    verdict: plainVerdict("unknown", "internal-error"),
    source: "rpc_error",
    title: `Ostler failed internally (${name})`,
  };
}

/** The harness said everything, but the caller, who wanted it whole, may get a part. */
export function unlessTooLong(
  decided: Decision,
  attempt: Attempt | undefined,
  { turnId, attempts }: { readonly turnId: string; readonly attempts: number },
): Decision {
  if (attempt?.answer.isCut !== true || decided.kind !== "completed") return decided;
  const failure = makeFailure({
    verdict: plainVerdict("output_limit", "answer-too-long"),
    source: "framing",
    id: `${turnId}:error`,
    revision: attempts,
    replaySafety: "output_seen",
    title: `The answer is longer than ${MAX_KEPT_CHARS / 1024 / 1024} MiB and was cut there`,
  });
  return { kind: "truncated", failure, unreadable: false, warnings: decided.warnings };
}

const LIMITS: Readonly<Record<ClockName, (timeouts: TurnTimeouts) => readonly [limitMs: number, what: string]>> = {
  wall: ({ wallMs }) => [wallMs, "The turn took longer than"],
  first_byte: ({ firstByteMs }) => [firstByteMs, "The agent did not begin to answer within"],
  idle: ({ idleMs }) => [idleMs, "The agent was silent for"],
  tool: ({ toolMs }) => [toolMs, "A tool ran longer than"],
};

/** A deadline, with what was last heard: the difference between a dead network and a long thought. */
export function deadlineEnding(clock: ClockName, timeouts: TurnTimeouts, lastHeard: string): Ending {
  const [limitMs, what] = LIMITS[clock](timeouts);
  const title = `${what} ${limitMs / 1000} s; last heard: ${lastHeard}`;
  return { type: "fact", verdict: plainVerdict("timeout", `clock-${clock}`), source: "timeout", title };
}

/** Joins the decision and the facts of the session into the outcome, with the typed error as `cause`. */
export function outcomeOf(
  decision: Decision,
  base: OutcomeBase,
  extra: { readonly stderr: () => string; readonly advertised: readonly string[]; readonly bug?: unknown },
): TurnOutcome {
  switch (decision.kind) {
    case "completed":
      return { ...base, kind: "completed" };
    case "refused":
      return { ...base, kind: "refused", refusal: decision.refusal };
    case "cancelled":
      return { ...base, kind: "cancelled", by: decision.by };
    case "truncated":
      return { ...base, kind: "truncated", failure: decision.failure };
    case "empty":
      return { ...base, ...stderrOf(extra.stderr), kind: "empty", failure: decision.failure };
    case "failed": {
      const { failure } = decision;
      const cause = toError(failure, {
        cause: extra.bug ?? decision.cause,
        partialText: base.text,
        advertised: extra.advertised,
        ...exitOf(decision.cause),
      });
      const died = failure.kind === "agent_died" || failure.kind === "protocol";
      return { ...base, ...(died ? stderrOf(extra.stderr) : {}), kind: "failed", failure, cause };
    }
  }
}

function stderrOf(read: () => string): { stderr?: string } {
  const stderr = read();
  return stderr === "" ? {} : { stderr };
}

/** No other process could take the prompt, which never left. undefined = a bug of ours, not a failure. */
export function failedToReopen(
  error: unknown,
  { turnId, attempt }: { readonly turnId: string; readonly attempt: number },
): Decision | undefined {
  if (!(error instanceof AcpError || error instanceof AcpRuntimeError) || error.failure === undefined) return undefined;
  const failure = { ...error.failure, id: `${turnId}:error`, revision: attempt };
  return { kind: "failed", failure, cause: error, warnings: [] };
}
