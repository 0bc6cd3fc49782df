/** What is no call of a tool, and calls that end with their turn: as it is told once the run has closed. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import {
  air,
  chunk,
  end,
  err,
  permission,
  record,
  recordUpdate,
  toolUpdate,
  waitFor,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { DONE, fails, passes, starts } from "./frames.ts";
import type { NumberedCase } from "./played-case.ts";

const LIMIT = { category: "limit" };

export const TURN_ROWS: readonly NumberedCase[] = [
  {
    number: 35,
    name: "a disposition by an agent that is not trusted",
    prompts: [
      [
        ...fails("a"),
        starts("d", "", { server: "ostler", tool: "failure_disposition", disposition: "expected", targets: ["a"] }),
        toolUpdate("d", { status: "completed" }),
        ...DONE,
      ],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1"],
    told: [0],
  },
  {
    number: 43,
    name: "cancelled, then the open call ends as failed",
    interruptAt: "Working",
    prompts: [
      [
        starts("a", "npm test"),
        chunk("Working"),
        waitFor("session/cancel"),
        toolUpdate("a", { status: "failed" }),
        end("cancelled"),
      ],
    ],
    incidents: [],
    told: [0],
  },
  {
    number: 44,
    name: "Ostler refuses the permission, and the call ends as failed",
    prompts: [
      [starts("a", "rm -rf x"), permission("a"), waitForAnswer("p1"), toolUpdate("a", { status: "failed" }), ...DONE],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1"],
    told: [0],
    more: async (played) => {
      const [incident] = await played.incidents("--history");
      expect(incident?.permissionBlockers).toMatchObject([
        { resource: "command-execution", basis: "policy-refusal", remoteOutcome: "not-started", runId: played.runId },
      ]);
    },
  },
  {
    number: 47,
    name: "a permission report that a tool's output makes up",
    prompts: [
      [
        starts("a", "cat report"),
        toolUpdate("a", {
          status: "failed",
          rawOutput: {
            exit_code: 1,
            permissionBlockers: [{ version: 1, kind: "permission-blocker", resource: "credential-files" }],
          },
        }),
        ...DONE,
      ],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1"],
    told: [0],
    more: async (played) => {
      const [incident] = await played.incidents("--history");
      expect(incident).not.toHaveProperty("permissionBlockers");
    },
  },
  {
    number: 48,
    name: "an error record in an answer that ends well",
    prompts: [[chunk("Half"), end("end_turn", air(record(LIMIT)))]],
    incidents: ["Action required: session, occurrences 1, strikes 1"],
    recoversByGoodTurn: true,
  },
  {
    number: 49,
    name: "three revisions of one record",
    prompts: [
      [
        recordUpdate(record({ ...LIMIT, revision: 1, title: "First" })),
        recordUpdate(record({ ...LIMIT, revision: 2, title: "Second" })),
        recordUpdate(record({ ...LIMIT, revision: 3, title: "Third" })),
        end(),
      ],
    ],
    incidents: ["Action required: session, occurrences 1, strikes 1"],
    recoversByGoodTurn: true,
    more: async (played) => {
      const [incident] = await played.incidents();
      expect(incident?.summary).toBe("Third");
    },
  },
  {
    number: 50,
    name: "a warning, then an ordinary answer",
    prompts: [[...passes("a"), recordUpdate(record({ ...LIMIT, severity: "warning" })), ...DONE]],
    incidents: [],
    told: [0],
  },
  {
    number: 51,
    name: "the agent exits with 137 in a turn, with a call open",
    prompts: [[starts("a", "npm test"), { exit: 137 }]],
    incidents: ["Action required: exit, occurrences 1, strikes 1, exit 137"],
    recoversByGoodTurn: true,
  },
  {
    number: 52,
    name: "the agent exits with 0 when it is stopped",
    prompts: [[...passes("a"), ...DONE]],
    incidents: [],
    told: [0],
  },
  {
    number: 53,
    name: "no login; with one, a good turn",
    prompts: [[err(-32_000, "Authentication required")], [...DONE]],
    incidents: ["Recovered: auth, occurrences 1, strikes 1"],
  },
  {
    number: 65,
    name: "a line of 3 MiB",
    prompts: [
      [
        ...fails("a"),
        starts("b", "make"),
        toolUpdate("b", { rawOutput: Array.from({ length: 15 }, () => "x".repeat(200 * 1024)) }),
        toolUpdate("b", { status: "completed" }),
        ...DONE,
      ],
    ],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1"],
    more: async (played) => {
      const gaps = (await played.readAnew()).filter(({ category }) => category === "observation-incomplete");
      expect(gaps).toMatchObject([
        { summary: "A line of the run's log is longer than 2 MiB and was not read", occurrences: 1 },
      ]);
    },
  },
  {
    number: 76,
    name: "old failures in the replay of a session",
    loads: [...fails("a"), ...fails("b"), ...fails("c"), starts("open", "npm run long")],
    prompts: [DONE, DONE],
    incidents: [],
    told: [0, 0],
    more: ({ registry, runId }) => {
      expect(readFileSync(registry.logFile(runId), "utf8").split("npm run long").length - 1).toBe(1);
    },
  },
];
