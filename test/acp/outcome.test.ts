import { describe, expect, test } from "vitest";
import { RpcError } from "../../src/acp/connection.ts";
import { decideOutcome, replaySafetyOf } from "../../src/acp/outcome.ts";
import type { AttemptFacts, Ending } from "../../src/acp/outcome.ts";
import { readSessionFailure } from "../../src/acp/air/session-failure.ts";
import type { SessionFailureReading, TypedSessionFailure } from "../../src/acp/air/session-failure.ts";
import { plainVerdict } from "../../src/acp/make-failure.ts";

const FACTS: AttemptFacts = {
  turnId: "turn-1",
  attempt: 1,
  handedOver: true,
  output: false,
  toolStarted: false,
  raisedError: undefined,
  adapterWords: false,
  systemError: undefined,
  refusal: undefined,
  refusalIsOurs: false,
  context: {},
};
const NONE: SessionFailureReading = { kind: "none" };
const UNUSABLE: SessionFailureReading = { kind: "unusable", why: "title is not a string" };
const BARE = { category: "", explanation: "", recommendedModel: "" };
const CYBER = { category: "CYBER", explanation: "E", recommendedModel: "m2" };

const reading = (fields: object = {}): SessionFailureReading =>
  readSessionFailure({
    jetbrains: {
      air: {
        version: 1,
        sessionFailure: {
          id: "r1",
          revision: 2,
          category: "service",
          severity: "error",
          title: "x",
          actions: [],
          ...fields,
        },
      },
    },
  });
function recorded(fields: object = {}): TypedSessionFailure {
  const read = reading(fields);
  if (read.kind !== "ok") throw new Error("The record was not read");
  return read.record;
}
const result = (stopReason: string | undefined, terminal: SessionFailureReading = NONE): Ending => ({
  type: "result",
  stopReason,
  terminal,
});
const rejection = (code: number, message: string, data?: unknown): Ending => ({
  type: "rpc_error",
  error: new RpcError({ code, message, ...(data === undefined ? {} : { data }) }),
});

interface Row {
  readonly from: string;
  readonly ending: Ending;
  readonly facts?: Partial<AttemptFacts>;
  /** What is decided; of a failure the kind. */
  readonly decided: object;
}

const ROWS: readonly Row[] = [
  // Our own knowledge comes first.
  {
    from: "our abort",
    ending: { type: "aborted" },
    facts: { output: true },
    decided: { kind: "cancelled", by: "caller" },
  },
  { from: "kiro's interrupted tools", ending: { type: "interrupted" }, decided: { kind: "cancelled", by: "harness" } },
  {
    from: "a death after the hand-over",
    ending: { type: "fact", verdict: plainVerdict("agent_died", "exit"), source: "exit", title: "gone" },
    decided: {
      kind: "failed",
      failure: { kind: "agent_died", source: "exit", replaySafety: "unknown", title: "gone" },
    },
  },
  {
    from: "a death before the hand-over",
    ending: { type: "fact", verdict: plainVerdict("agent_died", "exit"), source: "exit", title: "gone" },
    facts: { handedOver: false },
    decided: { kind: "failed", failure: { kind: "agent_died", replaySafety: "not_sent" } },
  },
  {
    from: "a deadline",
    ending: { type: "fact", verdict: plainVerdict("timeout", "clock-idle"), source: "timeout", title: "silent" },
    facts: { toolStarted: true, output: true },
    decided: { kind: "failed", failure: { kind: "timeout", retry: "never", replaySafety: "unknown" } },
  },

  // A result.
  {
    from: "an answer",
    ending: result("end_turn"),
    facts: { output: true },
    decided: { kind: "completed", warnings: [] },
  },
  {
    from: "no stop reason (kiro wire notes, section 7)",
    ending: result(undefined),
    facts: { output: true },
    decided: { kind: "completed" },
  },
  { from: "nothing", ending: result("end_turn"), decided: { kind: "empty", failure: null, unreadable: false } },
  { from: "nothing and no stop reason", ending: result(undefined), decided: { kind: "empty" } },
  { from: "cancelled by the harness", ending: result("cancelled"), decided: { kind: "cancelled", by: "harness" } },
  {
    from: "cancelled beside a record",
    ending: result("cancelled", reading()),
    decided: { kind: "cancelled", warnings: [{ id: "r1", severity: "warning", title: "x" }] },
  },
  { from: "refused", ending: result("refusal"), decided: { kind: "refused", refusal: BARE, warnings: [] } },
  {
    from: "refused beside a record",
    ending: result("refusal", reading()),
    decided: { kind: "refused", warnings: [{ id: "r1", severity: "warning" }] },
  },
  {
    from: "refused beside a record that cannot be read",
    ending: result("refusal", UNUSABLE),
    decided: {
      kind: "refused",
      warnings: [{ title: "The backend reported a failure in a form this version cannot read" }],
    },
  },
  {
    from: "kiro's metadata",
    ending: result("end_turn"),
    facts: { refusal: CYBER, output: true },
    decided: { kind: "refused", refusal: CYBER },
  },
  {
    from: "kiro's refusal after our own cancelled answer",
    ending: result("refusal"),
    facts: { refusalIsOurs: true },
    decided: { kind: "cancelled", by: "harness" },
  },
  {
    from: "max_tokens",
    ending: result("max_tokens"),
    facts: { output: true },
    decided: { kind: "truncated", failure: null },
  },
  { from: "max_turn_requests", ending: result("max_turn_requests"), decided: { kind: "truncated", failure: null } },
  {
    from: "a stop reason that no version knows",
    ending: result("tired"),
    facts: { output: true },
    decided: {
      kind: "failed",
      failure: { kind: "unknown", title: 'The agent ended the turn with "tired"', replaySafety: "output_seen" },
    },
  },
  {
    from: "a terminal record",
    ending: result("end_turn", reading({ actions: ["retry"] })),
    decided: {
      kind: "failed",
      failure: {
        id: "r1",
        revision: 2,
        kind: "service_error",
        source: "session_failure",
        retry: "backoff",
        replaySafety: "no_output",
      },
    },
  },
  {
    from: "a terminal record and output",
    ending: result("end_turn", reading({ actions: ["retry"] })),
    facts: { output: true },
    decided: { kind: "failed", failure: { kind: "service_error", transient: true, replaySafety: "output_seen" } },
  },
  {
    from: "a terminal warning and nothing",
    ending: result("end_turn", reading({ severity: "warning" })),
    decided: { kind: "empty", failure: null, warnings: [] },
  },
  {
    from: "a record of a filter",
    ending: result(
      "end_turn",
      reading({ category: "request", title: "This request was flagged for possible cybersecurity risk" }),
    ),
    decided: {
      kind: "refused",
      refusal: { ...BARE, explanation: "This request was flagged for possible cybersecurity risk" },
    },
  },
  {
    from: "a record of an output limit",
    ending: result(
      "end_turn",
      reading({ category: "limit", title: "Claude's response exceeded the 32000 output token maximum." }),
    ),
    facts: { output: true },
    decided: { kind: "truncated", failure: { kind: "output_limit", retry: "never" } },
  },
  // An unreadable record beside the turn is no silent success either.
  {
    from: "an unreadable record in the turn, no output",
    ending: result("end_turn"),
    facts: { unreadable: "version 2 is newer than 1" },
    decided: { kind: "empty", unreadable: true, warnings: [{ rule: "record-unreadable: version 2 is newer than 1" }] },
  },
  {
    from: "an unreadable record in the turn, output",
    ending: result("end_turn"),
    facts: { unreadable: "version 2 is newer than 1", output: true },
    decided: { kind: "completed", warnings: [{ rule: "record-unreadable: version 2 is newer than 1" }] },
  },
  {
    from: "an unreadable record in the turn and a readable error, no output",
    ending: result("end_turn"),
    facts: { unreadable: "version 2 is newer than 1", raisedError: recorded() },
    decided: { kind: "failed", failure: { kind: "service_error", id: "r1" } },
  },
  {
    from: "a record that cannot be read, and nothing",
    ending: result("end_turn", UNUSABLE),
    decided: { kind: "empty", unreadable: true },
  },
  {
    from: "a record that cannot be read, and an earlier error",
    ending: result("end_turn", UNUSABLE),
    facts: { raisedError: recorded() },
    decided: { kind: "empty", unreadable: true },
  },
  {
    from: "a record that cannot be read, and output",
    ending: result("end_turn", UNUSABLE),
    facts: { output: true },
    decided: { kind: "completed", warnings: [{ severity: "warning" }] },
  },
  {
    from: "an earlier error and nothing",
    ending: result("end_turn"),
    facts: { raisedError: recorded({ category: "limit" }) },
    decided: { kind: "failed", failure: { kind: "usage_limit", id: "r1" } },
  },
  {
    from: "an earlier error and output",
    ending: result("end_turn"),
    facts: { raisedError: recorded({ category: "limit" }), output: true },
    decided: { kind: "completed", warnings: [] },
  },
  {
    from: "codex systemError, the plain client's sentence",
    ending: result("end_turn"),
    facts: { systemError: { text: "You've hit your usage limit.", codexError: undefined }, output: true },
    decided: {
      kind: "failed",
      failure: {
        kind: "usage_limit",
        source: "thread_status",
        title: "You've hit your usage limit.",
        replaySafety: "output_seen",
      },
    },
  },
  {
    from: "codex systemError, a structured error refines a sentence that says nothing",
    ending: result("end_turn"),
    facts: { systemError: { text: "It broke.", codexError: { codexErrorInfo: "contextWindowExceeded" } } },
    decided: { kind: "failed", failure: { kind: "context_overflow", title: "It broke." } },
  },
  {
    from: "codex systemError without a word",
    ending: result("end_turn"),
    facts: { systemError: { text: "", codexError: undefined } },
    decided: {
      kind: "failed",
      failure: { kind: "unknown", title: "The backend failed for a reason it did not explain" },
    },
  },
  {
    from: "codex systemError beside a record: the record speaks",
    ending: result("end_turn", reading({ category: "limit", title: "Spent" })),
    facts: { systemError: { text: "words", codexError: undefined } },
    decided: { kind: "failed", failure: { source: "session_failure", title: "Spent" } },
  },
  {
    from: "adapter words are all there is",
    ending: result("end_turn"),
    facts: { adapterWords: true },
    decided: {
      kind: "completed",
      warnings: [{ title: "The model said nothing: the text is the adapter's own", severity: "warning" }],
    },
  },

  // A rejection.
  {
    from: "an error that says nothing",
    ending: rejection(-32603, "Internal error"),
    decided: {
      kind: "failed",
      failure: { kind: "unknown", source: "rpc_error", retry: "never", title: "Internal error", id: "turn-1:error" },
    },
  },
  {
    from: "an error, after output",
    ending: rejection(-32603, "HTTP 503"),
    facts: { output: true },
    decided: { kind: "failed", failure: { kind: "service_error", replaySafety: "output_seen" } },
  },
  {
    from: "an error, after a tool",
    ending: rejection(-32603, "HTTP 503"),
    facts: { output: true, toolStarted: true },
    decided: { failure: { replaySafety: "tool_started" } },
  },
  {
    from: "codex 1001: its child died",
    ending: rejection(1001, "codex process exited"),
    decided: { failure: { kind: "agent_died", retry: "after_respawn", replaySafety: "unknown" } },
  },
  {
    from: "kiro's filtered turn",
    ending: rejection(-32603, "Internal error"),
    facts: { refusal: CYBER },
    decided: { kind: "refused", refusal: CYBER },
  },
  {
    from: "kiro's filtered turn with data keeps its own class",
    ending: rejection(-32603, "Internal error", "Too many requests"),
    facts: { refusal: CYBER },
    decided: { kind: "failed", failure: { kind: "rate_limit" } },
  },
  {
    from: "a filter that says no by an error",
    ending: rejection(-32603, "Internal error", { codexErrorInfo: "cyberPolicy", message: "No" }),
    decided: { kind: "refused", refusal: { explanation: "No" } },
  },
  {
    from: "a record raised before refines it, and lends its actions",
    ending: rejection(-32603, "Internal error"),
    facts: { raisedError: recorded({ category: "limit", actions: ["new_session"] }) },
    decided: { kind: "failed", failure: { kind: "context_overflow", category: "limit", actions: ["new_session"] } },
  },
  {
    from: "a record raised before cannot make a final error transient",
    ending: rejection(-32603, "Internal error", { codexErrorInfo: "usageLimitExceeded" }),
    facts: { raisedError: recorded({ actions: ["retry"] }) },
    decided: { kind: "failed", failure: { kind: "usage_limit", retry: "never" } },
  },
];

test.each(ROWS)("$from", ({ ending, facts = {}, decided }) => {
  expect(decideOutcome(ending, { ...FACTS, ...facts })).toMatchObject(decided);
});

test("a rejection is the cause of its failure", () => {
  const ending = rejection(-32603, "HTTP 503");
  const decision = decideOutcome(ending, FACTS);
  expect(decision).toMatchObject({ cause: { code: -32603 } });
});

test("a failure of Ostler's own carries the number of its try as revision", () => {
  expect(decideOutcome(rejection(-32603, "HTTP 503"), { ...FACTS, attempt: 3 })).toMatchObject({
    failure: { id: "turn-1:error", revision: 3 },
  });
});

describe("what forbids a resend", () => {
  test.each([
    { handedOver: false, toolStarted: false, output: false, expected: "not_sent" },
    { handedOver: true, toolStarted: false, output: false, expected: "no_output" },
    { handedOver: true, toolStarted: false, output: true, expected: "output_seen" },
    { handedOver: true, toolStarted: true, output: true, expected: "tool_started" },
    { handedOver: true, toolStarted: true, output: false, expected: "tool_started" },
  ])("$expected", ({ expected, ...facts }) => {
    expect(replaySafetyOf(facts)).toBe(expected);
  });
});

test("no text of a failure leaves unscrubbed", () => {
  const secret = "sk-ant-SECRETSECRET1234";
  const endings: readonly Ending[] = [
    rejection(-32603, `boom ${secret}`, { details: `token=${secret}` }),
    result("end_turn", reading({ title: `boom ${secret}`, details: secret })),
    result(`stop ${secret}`),
    { type: "fact", verdict: plainVerdict("agent_died", "exit"), source: "exit", title: secret, details: secret },
  ];
  for (const ending of endings) {
    const decision = decideOutcome(ending, FACTS);
    expect(JSON.stringify("failure" in decision ? decision.failure : decision)).not.toContain("SECRETSECRET");
  }
});
