import { expect, test } from "vitest";
import { decideExitCode } from "../../../src/surfaces/shared/exit-code.ts";
import type { ExitFacts } from "../../../src/surfaces/shared/exit-code.ts";

const plain = { denied: false, denialWanted: false } as const;
const denied = { denied: true, denialWanted: false } as const;
const wanted = { denied: true, denialWanted: true } as const;

test.each<ExitFacts & { exit: number }>([
  { ...plain, outcome: "completed", exit: 0 },
  { ...plain, outcome: "refused", exit: 7 },
  { ...plain, outcome: "truncated", exit: 11 },
  { ...plain, outcome: "empty", exit: 11 },
  { ...plain, outcome: "cancelled", exit: 1 },
  { ...plain, outcome: "failed", exit: 1 },
  { ...plain, outcome: "failed", failureKind: "auth", exit: 6 },
  { ...plain, outcome: "failed", failureKind: "credentials_settling", exit: 6 },
  { ...plain, outcome: "failed", failureKind: "usage_limit", exit: 8 },
  { ...plain, outcome: "failed", failureKind: "rate_limit", exit: 8 },
  { ...plain, outcome: "failed", failureKind: "context_overflow", exit: 8 },
  { ...plain, outcome: "failed", failureKind: "budget", exit: 8 },
  { ...plain, outcome: "failed", failureKind: "agent_died", exit: 9 },
  { ...plain, outcome: "failed", failureKind: "agent_spawn", exit: 9 },
  { ...plain, outcome: "failed", failureKind: "protocol", exit: 9 },
  { ...plain, outcome: "failed", failureKind: "busy", exit: 10 },
  { ...plain, outcome: "failed", failureKind: "session_not_found", exit: 4 },
  { ...plain, outcome: "failed", failureKind: "gate", exit: 5 },
  { ...plain, outcome: "failed", failureKind: "network", exit: 1 },
  { ...plain, outcome: "failed", failureKind: "timeout", exit: 3 },
  // A denial replaces success and cancel, nothing else.
  { ...denied, outcome: "completed", exit: 5 },
  { ...denied, outcome: "cancelled", exit: 5 },
  { ...denied, outcome: "refused", exit: 7 },
  { ...denied, outcome: "truncated", exit: 11 },
  { ...denied, outcome: "failed", failureKind: "usage_limit", exit: 8 },
  { ...denied, outcome: "failed", failureKind: "timeout", exit: 3 },
  // With --approve none it is what was asked for.
  { ...wanted, outcome: "completed", exit: 0 },
  { ...wanted, outcome: "cancelled", exit: 1 },
  // The time was up while background work was waited for: 3 stands above the outcome's own code.
  { ...plain, outcome: "completed", waitTimedOut: true, exit: 3 },
  { ...denied, outcome: "completed", waitTimedOut: true, exit: 3 },
  { ...plain, outcome: "failed", failureKind: "usage_limit", waitTimedOut: true, exit: 3 },
  { ...plain, outcome: "completed", waitTimedOut: true, signal: "SIGINT", exit: 130 },
  // A signal beats everything.
  { ...plain, outcome: "cancelled", signal: "SIGINT", exit: 130 },
  { ...plain, outcome: "cancelled", signal: "SIGTERM", exit: 143 },
  { ...plain, outcome: "cancelled", signal: "SIGHUP", exit: 129 },
  { ...denied, outcome: "cancelled", signal: "SIGINT", exit: 130 },
  { ...plain, outcome: "failed", failureKind: "timeout", signal: "SIGTERM", exit: 143 },
])("$outcome $failureKind denied=$denied wanted=$denialWanted $signal exits $exit", ({ exit, ...facts }) => {
  expect(decideExitCode(facts)).toBe(exit);
});
