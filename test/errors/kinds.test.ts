import { expect, test } from "vitest";
import { EXIT, KINDS } from "../../src/errors/kinds.ts";

/** The product contract, section 2: verdict, need, exit code. A change here is a change for users. */
test("the kinds are this closed list with these verdicts", () => {
  const rows = Object.entries(KINDS).map(([kind, { retry, needs, exit }]) => [kind, retry, needs ?? null, exit]);
  expect(rows).toEqual([
    ["auth", "never", "login", 6],
    ["credentials_settling", "backoff", "login", 6],
    ["usage_limit", "never", "quota", 8],
    ["rate_limit", "backoff", null, 8],
    ["context_overflow", "never", "new_session", 8],
    ["budget", "never", "new_session", 8],
    ["output_limit", "never", null, 11],
    ["model_unavailable", "never", "human", 1],
    ["model_capacity", "backoff", null, 1],
    ["malformed_request", "never", "new_session", 1],
    ["request_rejected", "never", null, 1],
    ["policy_denied", "never", null, 7],
    ["overloaded", "backoff", null, 1],
    ["service_error", "backoff", null, 1],
    ["network", "backoff", null, 1],
    ["agent_died", "after_respawn", null, 9],
    ["agent_spawn", "never", "human", 9],
    ["protocol", "never", "human", 9],
    ["timeout", "never", null, 3],
    ["busy", "backoff", null, 10],
    ["session_not_found", "never", "new_session", 4],
    ["gate", "never", "human", 5],
    ["configuration", "never", "human", 1],
    ["compaction", "never", null, 1],
    ["unknown", "never", null, 1],
  ]);
});

test("the exit codes that no kind owns", () => {
  expect(EXIT).toEqual({
    completed: 0,
    failed: 1,
    usage: 2,
    timeout: 3,
    permissionDenied: 5,
    refused: 7,
    truncatedOrEmpty: 11,
    sigint: 130,
    sigterm: 143,
  });
});
