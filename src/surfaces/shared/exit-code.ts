/** The exit code of a turn: one pure decision over the facts of the run (the table of the product contract, section 2). */
import type { FailureKind } from "../../errors/failure.ts";
import { EXIT, KINDS } from "../../errors/kinds.ts";
import type { TurnOutcome } from "../../acp/types.ts";

/** The signals that end `ostler ask` politely. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface ExitFacts {
  readonly outcome: TurnOutcome["kind"];
  /** Why, for a failed turn. */
  readonly failureKind?: FailureKind;
  /** Some permission request was answered with a no. */
  readonly denied: boolean;
  /** The person asked for denials (`--approve none` or a policy file on the command line), so that one is no surprise. */
  readonly denialWanted: boolean;
  /** The time was up while background work was waited for (`--wait-tasks`). */
  readonly waitTimedOut?: boolean;
  /** The agent died while background work was waited for. */
  readonly waitLost?: boolean;
  /** The signal that stopped the run. */
  readonly signal?: StopSignal;
}

const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: EXIT.sigint, SIGTERM: EXIT.sigterm };

/** What a shell calls the death by this signal. */
export function signalExitCode(signal: StopSignal): number {
  return SIGNAL_EXIT[signal];
}

/**
 * A signal first, then the outcome's own code (3 for a timeout among them), then 5 for a denied permission, then 0.
 * A denial replaces success and a cancel of the harness: both hide that the work was not done.
 */
export function decideExitCode(facts: ExitFacts): number {
  if (facts.signal !== undefined) return signalExitCode(facts.signal);
  if (facts.waitTimedOut === true) return KINDS.timeout.exit;
  if (facts.waitLost === true && facts.outcome === "completed") return KINDS.agent_died.exit;
  const denied = facts.denied && !facts.denialWanted;
  switch (facts.outcome) {
    case "failed":
      return KINDS[facts.failureKind ?? "unknown"].exit;
    case "refused":
      return EXIT.refused;
    case "truncated":
    case "empty":
      return EXIT.truncatedOrEmpty;
    case "cancelled":
      return denied ? EXIT.permissionDenied : EXIT.failed;
    case "completed":
      return denied ? EXIT.permissionDenied : EXIT.completed;
  }
}
