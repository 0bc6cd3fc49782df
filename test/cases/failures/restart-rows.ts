/** What only several processes in one session show: calls that are counted anew, and what the first one left behind. */
import {
  chunk,
  end,
  err,
  permission,
  record,
  air,
  reply,
  toolUpdate,
  update,
  waitFor,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { TOKENS } from "../../errors/secrets.ts";
import { DONE, disposes, ends, fails, failsInChild, passes, runs, starts } from "./frames.ts";
import type { FailureCase } from "./played-case.ts";

const ONCE = "Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1";
const TWICE = "Unclassified failure observation: tool, occurrences 2, strikes 2, exit 1";
const RECOVERED = "Recovered: tool, occurrences 1, strikes 1, exit 1";
const DIED = "Recovered: exit, occurrences 1, strikes 1, exit 1";
const LONG_ID = `x${"y".repeat(5000)}\u0000\u001B[31m`;
const NO_LOGIN = err(-32_000, "Authentication required");

/** A call that Ostler does not allow. */
const DENIED = [
  starts("a", "rm -rf x"),
  permission("a"),
  waitForAnswer("p1"),
  toolUpdate("a", { status: "failed" }),
  ...DONE,
];

/** An agent that counts its calls anew in every process. */
export const COUNTED_ANEW_ROWS: readonly FailureCase[] = [
  {
    name: "a call succeeds; in the next process one of the same id fails",
    prompts: [
      [...passes("a"), ...DONE],
      [...fails("a"), ...DONE],
    ],
    incidents: [ONCE],
  },
  {
    name: "it fails; in the next process one of the same id succeeds",
    prompts: [
      [...fails("a"), ...DONE],
      [...passes("a"), ...DONE],
    ],
    incidents: [RECOVERED],
  },
  {
    name: "it succeeds, and fails in the next process and in the one after that",
    prompts: [
      [...passes("a"), ...DONE],
      [...fails("a"), ...DONE],
      [...fails("a"), ...DONE],
    ],
    incidents: [TWICE],
  },
  {
    name: "it fails, succeeds and fails in every process",
    prompts: [
      [...fails("a"), ...passes("a"), ...fails("a"), ...DONE],
      [...passes("a"), ...fails("a"), ...passes("a"), ...DONE],
      [...fails("a"), ...passes("a"), ...DONE],
    ],
    incidents: [RECOVERED, RECOVERED, RECOVERED, RECOVERED],
  },
  {
    name: "one call recovers two commands, one after the other",
    prompts: [
      [...fails("a"), ...passes("same"), ...DONE],
      [...fails("b"), ...passes("same"), ...DONE],
    ],
    incidents: [RECOVERED, RECOVERED],
  },
  {
    name: "it ends well and then as failed, in both processes",
    prompts: [
      [starts("a", "npm test"), ends("a", 0), ends("a", 1), ...DONE],
      [starts("a", "npm test"), ends("a", 0), ends("a", 1), ...DONE],
    ],
    incidents: [ONCE, RECOVERED],
  },
];

/** What the earlier processes of a session left behind. */
export const LATER_PROCESS_ROWS: readonly FailureCase[] = [
  {
    name: "the next process succeeds with what the first one failed",
    prompts: [
      [...fails("a"), ...DONE],
      [...passes("b"), ...DONE],
    ],
    incidents: [RECOVERED],
    told: [0, 0],
  },
  {
    name: "a session that is lost: the new one succeeds",
    prompts: [
      [...fails("a"), ...DONE],
      [...passes("b"), ...DONE],
    ],
    processes: [
      {},
      { "session/load": [[err(-32_002, "Session not found")]], "session/new": [[reply({ sessionId: "s2" })]] },
      {},
    ],
    incidents: [RECOVERED],
  },
  {
    name: "an agent that dies with a call open; the next one has a call of the same id",
    prompts: [
      [starts("a", "npm test"), { exit: 1 }],
      [...fails("a"), ...DONE],
    ],
    incidents: [ONCE, DIED],
  },
  {
    name: "the second process does not start",
    prompts: [[...fails("a"), ...DONE], DONE, DONE],
    processes: [{}, { initialize: [[{ exit: 1 }]] }, {}],
    incidents: [ONCE, DIED],
  },
  {
    name: "the first process does not start",
    prompts: [DONE, DONE],
    processes: [{ initialize: [[{ exit: 1 }]] }, {}],
    incidents: [DIED],
  },
  {
    name: "no login for a new session, and one later",
    prompts: [DONE, DONE],
    processes: [{ "session/new": [[NO_LOGIN]] }, {}],
    incidents: ["Recovered: auth, occurrences 1, strikes 1"],
  },
  {
    name: "no login in two processes",
    prompts: [[NO_LOGIN], [NO_LOGIN]],
    incidents: ["Action required: auth, occurrences 2, strikes 2"],
    recoversByGoodTurn: true,
  },
  {
    name: "a revision of a record in the next process",
    prompts: [
      [end("end_turn", air(record({ category: "limit" })))],
      [end("end_turn", air(record({ category: "limit", revision: 2 })))],
    ],
    incidents: ["Action required: session, occurrences 1, strikes 1"],
    recoversByGoodTurn: true,
  },
  {
    name: "a turn without any answer",
    prompts: [[end()]],
    incidents: ["Action required: model, occurrences 1, strikes 1"],
    recoversByGoodTurn: true,
  },
  {
    name: "a turn that Ostler ends after its timeout",
    argv: ["--timeout", "1"],
    prompts: [
      [
        starts("a", "npm test"),
        chunk("Working"),
        waitFor("session/cancel"),
        toolUpdate("a", { status: "failed" }),
        end("cancelled"),
      ],
    ],
    incidents: ["Action required: supervision, occurrences 1, strikes 1"],
    recoversByGoodTurn: true,
  },
  {
    name: "what Ostler did not allow, twice",
    prompts: [DENIED, DENIED],
    incidents: ["Unclassified failure observation: tool, occurrences 2, strikes 2"],
  },
  {
    name: "what Ostler did not allow succeeds later",
    prompts: [DENIED, [...passes("b", "rm -rf x"), ...DONE]],
    incidents: ["Recovered: tool, occurrences 1, strikes 1"],
  },
  {
    name: "ids of calls that are long, or a secret",
    prompts: [
      [...fails(LONG_ID), ...fails(TOKENS["anthropic"] ?? "", "make"), ...DONE],
      [...fails(LONG_ID), ...passes(TOKENS["anthropic"] ?? "", "make"), ...DONE],
    ],
    incidents: [TWICE, RECOVERED],
  },
  {
    name: "the id of a session is a secret",
    prompts: [
      [...fails("a"), ...DONE],
      [...fails("a"), ...DONE],
    ],
    processes: [{ "session/new": [[reply({ sessionId: TOKENS["anthropic"] ?? "" })]] }],
    incidents: [TWICE],
  },
  {
    name: "arguments that the log does not hold whole",
    prompts: [[...fails("a", "x".repeat(300 * 1024)), ...passes("b", "x".repeat(300 * 1024)), ...DONE]],
    incidents: [RECOVERED],
  },
  {
    name: "confined: what was declared and disposed of in one process stands in the next",
    trusted: true,
    prompts: [
      [runs("exit 1", { attemptId: "one" }), runs("exit 1 # all", { operationId: "u" }), ...DONE],
      [
        runs("true", { attemptId: "two", operationId: "u" }),
        disposes("superseded", ["one"], { evidence: "two" }),
        disposes("expected", ["one"]),
        ...DONE,
      ],
    ],
    incidents: ["Superseded: tool, occurrences 1, strikes 1, exit 1", RECOVERED],
    answers: ["", "", "", "Recorded as superseded", "Nothing was recorded: "],
  },
  {
    name: "confined: a command that is not allowed, twice",
    trusted: true,
    approve: "none",
    prompts: [
      [runs("touch ran"), ...DONE],
      [runs("touch ran"), ...DONE],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 2, strikes 2"],
    answers: ["The command did not run: ", "The command did not run: "],
  },
  {
    name: "confined: a command that ends with its cancelled turn",
    trusted: true,
    interruptAt: "Working",
    prompts: [[chunk("Working"), runs("sleep 60"), end("cancelled")]],
    incidents: [],
  },
];

const BARE = [starts("a", "npm test"), toolUpdate("a", { status: "failed" })];

/** Calls that are told in other ways than the usual one. */
export const SHAPE_ROWS: readonly FailureCase[] = [
  {
    name: "a child session fails, its parent succeeds",
    prompts: [[...failsInChild("c", "npm test"), ...passes("a"), ...DONE]],
    incidents: [RECOVERED],
  },
  {
    name: "two calls that end without a word, each in a turn that goes well",
    prompts: [
      [...BARE, ...DONE],
      [...BARE, ...DONE],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 2, strikes 2"],
  },
  {
    name: "a call that ends without a word before its agent dies",
    prompts: [[...BARE, { exit: 1 }]],
    incidents: ["Action required: exit, occurrences 1, strikes 1, exit 1"],
    recoversByGoodTurn: true,
  },
  {
    name: "a call that nobody announced",
    prompts: [
      [
        toolUpdate("a", {
          status: "failed",
          kind: "execute",
          rawInput: { command: "npm test" },
          rawOutput: { exit_code: 1 },
        }),
        ...DONE,
      ],
      [...passes("b"), ...DONE],
    ],
    incidents: [RECOVERED],
  },
  {
    name: "calls without an id, and with a status that is no word",
    prompts: [
      [
        update({ sessionUpdate: "tool_call" }),
        update({ sessionUpdate: "tool_call_update", toolCallId: 5, status: "failed" }),
        update({ sessionUpdate: "tool_call", toolCallId: "q", status: 7 }),
        ...fails("a"),
        ...DONE,
      ],
    ],
    incidents: ["Observation incomplete: observation-incomplete, occurrences 3, strikes 3", ONCE],
    told: [1],
  },
];

/** Without a session: nothing is on disk before something fails. */
export const ONE_SHOT_ROWS: readonly FailureCase[] = [
  {
    name: "two commands fail behind text of more bytes than characters",
    oneShot: true,
    prompts: [[chunk("日本 😀"), ...fails("a"), ...fails("b", "make"), ...DONE]],
    incidents: [ONCE, ONCE],
    told: [0],
  },
  {
    name: "a command fails behind more text than is held",
    oneShot: true,
    prompts: [[...Array.from({ length: 600 }, (_, index) => chunk(`é ${index} `)), ...fails("a"), ...DONE]],
    incidents: [ONCE],
  },
  {
    name: "the agent dies",
    oneShot: true,
    prompts: [[chunk("日本"), starts("a", "npm test"), { exit: 3 }]],
    incidents: ["Action required: exit, occurrences 1, strikes 1, exit 3"],
  },
  {
    name: "no login",
    oneShot: true,
    prompts: [[NO_LOGIN]],
    incidents: ["Action required: auth, occurrences 1, strikes 1"],
  },
];
