/** Makes a replayed recording and its row comparable: the fields that the row speaks about, nothing guessed about others. */
import { expect } from "vitest";
import type { Failure } from "../../src/errors/failure.ts";
import type { ResultLine } from "../../src/surfaces/shared/result.ts";
import type { Drive, ExpectedFailure, ExpectedTurn } from "./expectation.ts";
import type { Replayed } from "./replay.ts";

/** Escape codes, raw and in JSON: recorded on stderr and in errors, never for the user. */
const NEVER = ["\u001b", "\\u001b"];

/** What was seen, in the shape of {@link wantedFrom}. */
export function seenIn(run: Replayed, turns: readonly ExpectedTurn[]): unknown {
  return {
    turns: run.results.map((result, index) => seenTurn(result, turns[index])),
    prompts: run.prompts,
    ...(asksPermission(turns) && { answers: run.answers }),
    appeared: [...NEVER, ...turns.flatMap((turn) => turn.mustNotAppear ?? [])].filter((text) =>
      run.printed.includes(text),
    ),
  };
}

/** What the row says must be seen. */
export function wantedFrom(turns: readonly ExpectedTurn[]): unknown {
  return {
    turns: turns.map(wantedTurn),
    prompts: turns.reduce((sum, turn) => sum + turn.prompts, 0),
    ...(asksPermission(turns) && { answers: turns.flatMap((turn) => turn.answers ?? []) }),
    appeared: [],
  };
}

/**
 * Where a resend would be wrong the row runs with retries, so that one shows up as a second prompt; where it would be
 * right, without. A turn that had failed before the recorded cancel is not aborted (claude-agent-acp cancel-during-retry).
 */
export function driveOf(drive: Drive | undefined, turns: readonly ExpectedTurn[]): Drive {
  const { abortTurn, ...rest } = drive ?? {};
  const aborts = abortTurn !== undefined && turns[abortTurn - 1]?.outcome === "cancelled";
  return { retries: turns.some(isResendable) ? 0 : 3, ...rest, ...(aborts && { abortTurn }) };
}

function isResendable({ failure }: ExpectedTurn): boolean {
  const safe = failure?.replaySafety === "not_sent" || failure?.replaySafety === "no_output";
  return failure !== null && failure.retry !== "never" && safe;
}

function asksPermission(turns: readonly ExpectedTurn[]): boolean {
  return turns.some((turn) => turn.answers !== undefined);
}

function seenTurn(result: ResultLine, turn: ExpectedTurn | undefined): unknown {
  return {
    outcome: result.outcome,
    exitCode: result.exitCode,
    stopReason: result.stopReason,
    text: result.text,
    partial: result.partial,
    refusal: result.refusal,
    failure: result.failure === null ? null : seenFailure(result.failure, turn?.failure ?? null),
    attempts: result.attempts,
    ...(turn?.warnings && { warnings: result.warnings.map((warning) => warning.title) }),
  };
}

function wantedTurn(turn: ExpectedTurn): unknown {
  return {
    outcome: turn.outcome,
    exitCode: turn.exitCode,
    stopReason: turn.stopReason,
    text: turn.text,
    partial: turn.partial,
    refusal: turn.refusal,
    failure: turn.failure === null ? null : wantedFailure(turn.failure),
    attempts: turn.prompts,
    ...(turn.warnings && { warnings: turn.warnings }),
  };
}

/** The fields that the row names, and the three that a row never leaves open. */
function seenFailure(failure: Failure, expected: ExpectedFailure | null): unknown {
  const names = new Set<string>(["kind", "retry", ...Object.keys(expected ?? {})]);
  const named = Object.fromEntries(Object.entries(failure).filter(([name]) => names.has(name)));
  return { ...named, needs: failure.needs, transient: failure.transient, severity: failure.severity };
}

function wantedFailure({ title, ...rest }: ExpectedFailure): unknown {
  return {
    ...rest,
    ...(title !== undefined && { title: title instanceof RegExp ? expect.stringMatching(title) : title }),
    needs: rest.needs,
    transient: rest.retry !== "never",
    severity: "error",
  };
}
