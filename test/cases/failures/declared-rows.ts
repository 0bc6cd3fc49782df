/** Confined runs: what a command declares before it runs, and what the agent says of its failures. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sessionTag } from "../../../src/failures/keys.ts";
import { tool, toolUpdate } from "../../fixtures/agents/scenario.ts";
import { DONE, disposes, ends, fails, passes, passesInChild, runs, starts } from "./frames.ts";
import type { NumberedCase } from "./played-case.ts";

const ONCE = "Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1";
const RECOVERED = "Recovered: tool, occurrences 1, strikes 1, exit 1";
const REFUSED = "Unclassified failure observation: rejected-intent, occurrences 1, strikes 1";
const OPEN = "Action required: tool, occurrences 1, strikes 1, exit 1";
const NO = "Nothing was recorded: ";
/** The incident of the failed call `a` of the agent's own shell. */
const INCIDENT_A = `tool:${sessionTag("s1")}:a`;

/** The agent's own shell under Claude's name, with what it lets through of declared fields. */
const claudeBash = (id: string, command: string, expectedExitCodes: readonly number[]) =>
  tool(id, {
    status: "in_progress",
    name: "Bash",
    rawInput: { command, expectedExitCodes },
    _meta: { claudeCode: { toolName: "Bash" } },
  });

export const DECLARED_ROWS: readonly NumberedCase[] = [
  {
    number: 13,
    name: "another command of the same declared operation succeeds",
    trusted: true,
    prompts: [[runs("exit 1 # full", { operationId: "u" }), runs("exit 0 # scoped", { operationId: "u" }), ...DONE]],
    incidents: [RECOVERED],
  },
  {
    number: 15,
    name: "the same command succeeds, without the declared operation",
    trusted: true,
    prompts: [[runs("[ -e made ]", { operationId: "u" }), runs("touch made"), runs("[ -e made ]"), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 16,
    name: "a declared exit code",
    trusted: true,
    prompts: [[runs("exit 1", { expectedExitCodes: [1] }), ...DONE]],
    incidents: ["Expected failure: tool, occurrences 1, strikes 0, exit 1"],
    told: [0],
    more: ({ stderrs }) => expect(stderrs.join("")).not.toMatch(/expected|Kept as run/i),
  },
  {
    number: 17,
    name: "another exit code than the declared one",
    trusted: true,
    prompts: [[runs("exit 2", { expectedExitCodes: [1] }), ...DONE]],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 2"],
  },
  {
    number: 18,
    name: "ended by its timeout, whatever code was declared",
    trusted: true,
    prompts: [[runs("trap 'exit 1' TERM; sleep 60 & wait", { timeout: 0.3, expectedExitCodes: [1] }), ...DONE]],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1"],
  },
  {
    number: 19,
    name: "claude with AIR: code 1 stands for every failure",
    trusted: true,
    profile: "claude",
    prompts: [
      [
        claudeBash("a", "rg x", [1]),
        toolUpdate("a", { status: "failed", _meta: { terminal_exit: { exit_code: 1, signal: null } } }),
        ...DONE,
      ],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1"],
  },
  {
    number: 24,
    name: "declared exit codes that are none",
    trusted: true,
    prompts: [
      [
        runs("touch ran", { expectedExitCodes: [1, 1] }),
        runs("touch ran", { expectedExitCodes: [256] }),
        runs("touch ran", { expectedExitCodes: [] }),
        runs("touch ran", { expectedExitCodes: "1" }),
        ...DONE,
      ],
    ],
    incidents: [REFUSED, REFUSED, REFUSED, REFUSED],
    answers: ["The command did not run: ", "The command did not run: ", "The command did not run: ", "The command did"],
    more: ({ folder }) => expect(existsSync(join(folder, "ran"))).toBe(false),
  },
  {
    number: 25,
    name: "a declared zero says nothing",
    trusted: true,
    prompts: [
      [
        runs("exit 1 # with one", { expectedExitCodes: [0, 1] }),
        runs("exit 1 # alone", { expectedExitCodes: [0] }),
        ...DONE,
      ],
    ],
    incidents: [ONCE, "Expected failure: tool, occurrences 1, strikes 0, exit 1"],
  },
  {
    number: 26,
    name: "the attemptId of a call that was refused",
    trusted: true,
    prompts: [
      [
        runs("touch ran", { attemptId: "once", expectedExitCodes: [] }),
        runs("touch ran", { attemptId: "once" }),
        ...DONE,
      ],
      [runs("touch ran", { attemptId: "once" }), ...DONE],
    ],
    incidents: [REFUSED, REFUSED, REFUSED],
    answers: [
      "The command did not run: ",
      "The command did not run: attemptId once was already used in this run",
      "The command did not run: attemptId once was already used in this run",
    ],
    more: ({ folder }) => expect(existsSync(join(folder, "ran"))).toBe(false),
  },
  {
    number: 27,
    name: "the attemptId of a command in a child session",
    trusted: true,
    prompts: [
      [...passesInChild("c", "npm test", { attemptId: "once" }), runs("touch ran", { attemptId: "once" }), ...DONE],
    ],
    incidents: [REFUSED],
    answers: ["The command did not run: attemptId once was already used in this run"],
    more: ({ folder }) => expect(existsSync(join(folder, "ran"))).toBe(false),
  },
  {
    number: 28,
    name: "three refused calls of one command",
    trusted: true,
    prompts: [
      [
        runs("npm test", { expectedExitCodes: [] }),
        runs("npm test", { expectedExitCodes: [] }),
        runs("npm test", { expectedExitCodes: [] }),
        ...DONE,
      ],
    ],
    incidents: [REFUSED, REFUSED, REFUSED],
    told: [0],
  },
  {
    number: 29,
    name: "superseded, with a later success of another command",
    trusted: true,
    prompts: [
      [
        runs("exit 1", { attemptId: "full-1" }),
        runs("true", { attemptId: "check-1" }),
        disposes("superseded", ["full-1"], { evidence: "check-1" }),
        ...DONE,
      ],
    ],
    incidents: ["Superseded: tool, occurrences 1, strikes 1, exit 1"],
  },
  {
    number: 30,
    name: "recovered, with a success of another command",
    trusted: true,
    prompts: [
      [
        runs("exit 1", { attemptId: "full-1" }),
        runs("true", { attemptId: "check-1" }),
        disposes("recovered", ["full-1"], { evidence: "check-1" }),
        ...DONE,
      ],
    ],
    incidents: [ONCE],
    answers: ["", "", NO],
  },
  {
    number: 31,
    name: "superseded, with a success that started before the failure",
    trusted: true,
    prompts: [
      [
        starts("p", "npm run lint"),
        ...fails("a"),
        ends("p", 0),
        disposes("superseded", ["a"], { evidence: "p" }),
        ...DONE,
      ],
    ],
    incidents: [ONCE],
    answers: [NO],
  },
  {
    number: 32,
    name: "superseded, with an expected exit that is not zero",
    trusted: true,
    prompts: [
      [
        ...fails("a"),
        runs("exit 4", { attemptId: "later", expectedExitCodes: [4] }),
        disposes("superseded", ["a"], { evidence: "later" }),
        ...DONE,
      ],
    ],
    incidents: [ONCE, "Expected failure: tool, occurrences 1, strikes 0, exit 4"],
    answers: ["", NO],
  },
  {
    number: 33,
    name: "one incident and one that nobody knows",
    trusted: true,
    prompts: [[...fails("a"), ...fails("b", "make"), disposes("expected", ["a", "nobody"]), ...DONE]],
    incidents: [ONCE, ONCE],
    answers: [
      [
        `${NO}This run knows no incident, attempt, tool call or operation "nobody"`,
        "Incidents that can be named:",
        `- tool:${sessionTag("s1")}:b · execute failed with exit code 1: make`,
        `- ${INCIDENT_A} · execute failed with exit code 1: npm test`,
      ].join("\n"),
    ],
  },
  {
    number: 34,
    name: "a second disposition of what is closed",
    trusted: true,
    prompts: [
      [
        ...fails("a"),
        ...passes("b", "npm run check"),
        disposes("superseded", [INCIDENT_A], { evidence: "b" }),
        disposes("expected", [INCIDENT_A]),
        disposes("open", ["a"]),
        ...DONE,
      ],
    ],
    incidents: ["Superseded: tool, occurrences 1, strikes 1, exit 1"],
    answers: ["Recorded as superseded", NO, NO],
  },
  {
    number: 36,
    name: "open",
    trusted: true,
    prompts: [[...fails("a"), disposes("open", ["a"]), ...DONE]],
    incidents: [OPEN],
    answers: ["Recorded as open"],
    told: [1],
  },
  {
    number: 37,
    name: "open, then the same command succeeds",
    trusted: true,
    prompts: [[...fails("a"), disposes("open", ["a"]), ...passes("b"), ...DONE]],
    incidents: [RECOVERED],
    told: [0],
  },
  {
    number: 38,
    name: "expected, then the same command succeeds",
    trusted: true,
    prompts: [[...fails("a"), disposes("expected", ["a"]), ...passes("b"), ...DONE]],
    incidents: ["Expected failure: tool, occurrences 1, strikes 1, exit 1"],
    told: [0],
  },
  {
    number: 39,
    name: "expected, then it fails and nobody expects it",
    trusted: true,
    prompts: [
      [...fails("a"), disposes("expected", ["a"]), ...DONE],
      [...fails("b"), ...DONE],
    ],
    incidents: [ONCE, "Expected failure: tool, occurrences 1, strikes 1, exit 1"],
  },
  {
    number: 40,
    name: "it fails twice, then as declared",
    trusted: true,
    prompts: [
      [
        runs("exit $(cat code || echo 2)", { operationId: "u", expectedExitCodes: [1] }),
        runs("exit $(cat code || echo 2)", { operationId: "u", expectedExitCodes: [1] }),
        runs("echo 1 >code"),
        runs("exit $(cat code || echo 2)", { operationId: "u", expectedExitCodes: [1] }),
        ...DONE,
      ],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 3, strikes 2, exit 1"],
    told: [0],
  },
  {
    number: 45,
    name: "open, for the want of a permission",
    trusted: true,
    prompts: [[...fails("a"), disposes("open", ["a"], { permissionResource: "credential-files" }), ...DONE]],
    incidents: [OPEN],
    more: async (played) => {
      const [incident] = await played.incidents();
      expect(incident?.permissionBlockers).toEqual([
        {
          version: 1,
          kind: "permission-blocker",
          context: "worker",
          resource: "credential-files",
          basis: "agent-reported",
          operation: "execute",
          remoteOutcome: "unknown",
          incidentId: INCIDENT_A,
          runId: played.runId,
        },
      ]);
    },
  },
  {
    number: 46,
    name: "a permission that is wanted, and expected",
    trusted: true,
    prompts: [[...fails("a"), disposes("expected", ["a"], { permissionResource: "credential-files" }), ...DONE]],
    incidents: [ONCE],
    answers: [NO],
    more: async (played) => {
      const [incident] = await played.incidents("--history");
      expect(incident).not.toHaveProperty("permissionBlockers");
    },
  },
];
