/** Calls of the agent's own shell, in a run that is not trusted: what recovers, and what only looks like it. */
import { toolUpdate } from "../../fixtures/agents/scenario.ts";
import { DONE, ends, fails, passes, starts } from "./frames.ts";
import type { NumberedCase } from "./played-case.ts";

const ONCE = "Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1";
const RECOVERED = "Recovered: tool, occurrences 1, strikes 1, exit 1";
const SILENT = [0];

/** The end of a command as Kiro tells it. */
const kiroEnd = (exit_status: string) =>
  toolUpdate("a", { status: "completed", rawOutput: { items: [{ Json: { exit_status, stdout: "", stderr: "" } }] } });

export const RETRY_ROWS: readonly NumberedCase[] = [
  { number: 1, name: "a command fails", prompts: [[...fails("a"), ...DONE]], incidents: [ONCE], told: SILENT },
  {
    number: 2,
    name: "another command succeeds",
    prompts: [[...fails("a"), ...passes("b", "pwd"), ...DONE]],
    incidents: [ONCE],
    told: SILENT,
  },
  {
    number: 3,
    name: "the same command succeeds",
    prompts: [[...fails("a"), ...passes("b"), ...DONE]],
    incidents: [RECOVERED],
    told: SILENT,
  },
  {
    number: 4,
    name: "a success that had started before the failure",
    prompts: [[starts("p", "npm test"), ...fails("a"), ends("p", 0), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 5,
    name: "and then one that started after it",
    prompts: [[starts("p", "npm test"), ...fails("a"), ends("p", 0), ...passes("r"), ...DONE]],
    incidents: [RECOVERED],
  },
  {
    number: 6,
    name: "the same command in another folder",
    prompts: [[...fails("a", "npm test", { cwd: "/p/a" }), ...passes("b", "npm test", { cwd: "/p/b" }), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 7,
    name: "the same command with another timeout",
    prompts: [[...fails("a", "npm test", { timeout: 1000 }), ...passes("b", "npm test", { timeout: 2000 }), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 8,
    name: "the same command, described in other words",
    prompts: [
      [
        ...fails("a", "npm test", { description: "Run the tests" }),
        ...passes("b", "npm test", { description: "Run the tests again" }),
        ...DONE,
      ],
    ],
    incidents: [RECOVERED],
  },
  {
    number: 8,
    name: "the same, where descriptions count",
    config: { failures: { strictRetry: true } },
    prompts: [
      [
        ...fails("a", "npm test", { description: "Run the tests" }),
        ...passes("b", "npm test", { description: "Run the tests again" }),
        ...DONE,
      ],
    ],
    incidents: [ONCE],
  },
  {
    number: 9,
    name: "a command fails three times",
    prompts: [[...fails("a"), ...fails("b"), ...fails("c"), ...DONE]],
    incidents: ["Action required: tool, occurrences 3, strikes 3, exit 1"],
    told: [1],
  },
  {
    number: 9,
    name: "it fails once in each of three calls: counted, then told",
    prompts: [
      [...fails("a"), ...DONE],
      [...fails("b"), ...DONE],
      [...fails("c"), ...DONE],
    ],
    incidents: ["Action required: tool, occurrences 3, strikes 3, exit 1"],
    told: [0, 0, 1],
  },
  {
    number: 10,
    name: "it fails, fails, recovers, fails",
    prompts: [[...fails("a"), ...fails("b"), ...passes("c"), ...fails("d"), ...DONE]],
    incidents: [ONCE, "Recovered: tool, occurrences 2, strikes 2, exit 1"],
    told: SILENT,
  },
  {
    number: 11,
    name: "told at the third failure, and not again at the fourth and fifth",
    prompts: [
      [...fails("a"), ...fails("b"), ...fails("c"), ...DONE],
      [...fails("d"), ...fails("e"), ...DONE],
    ],
    incidents: ["Action required: tool, occurrences 5, strikes 5, exit 1"],
    told: [1, 0],
  },
  {
    number: 12,
    name: "told, recovered, and told anew after three more failures",
    prompts: [
      [...fails("a"), ...fails("b"), ...fails("c"), ...DONE],
      [...passes("d"), ...fails("e"), ...fails("f"), ...fails("g"), ...DONE],
    ],
    incidents: [
      "Action required: tool, occurrences 3, strikes 3, exit 1",
      "Recovered: tool, occurrences 3, strikes 3, exit 1",
    ],
    told: [1, 1],
  },
  {
    number: 14,
    name: "an operationId is an argument like any other",
    prompts: [[...fails("a", "full", { operationId: "u" }), ...passes("b", "scoped", { operationId: "u" }), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 20,
    name: "kiro: completed, with an exit status of 127",
    prompts: [[starts("a", "npm test"), kiroEnd("exit status: 127"), ...DONE]],
    incidents: ["Unclassified failure observation: tool, occurrences 1, strikes 1, exit 127"],
  },
  {
    number: 21,
    name: "kiro: completed, with an exit status of 0",
    prompts: [[...fails("z", "make"), starts("a", "npm test"), kiroEnd("exit status: 0"), ...DONE]],
    incidents: [ONCE],
  },
  {
    number: 22,
    name: "text that tells of an exit code",
    prompts: [
      [
        ...fails("z", "make"),
        starts("a", "npm test"),
        toolUpdate("a", {
          status: "completed",
          content: [{ type: "content", content: { type: "text", text: "Command exited with code 2" } }],
        }),
        ...DONE,
      ],
    ],
    incidents: [ONCE],
  },
  {
    number: 23,
    name: "a result with a code of its own domain",
    prompts: [
      [
        ...fails("z", "make"),
        starts("a", "curl"),
        toolUpdate("a", { status: "completed", rawOutput: { code: 500 } }),
        ...DONE,
      ],
    ],
    incidents: [ONCE],
  },
  {
    number: 75,
    name: "calls whose ids every object has",
    prompts: [
      [...fails("constructor"), ...fails("__proto__", "make"), ...passes("toString"), ...DONE],
      [...fails("__proto__", "make"), ...DONE],
    ],
    incidents: [
      "Unclassified failure observation: tool, occurrences 2, strikes 2, exit 1",
      "Recovered: tool, occurrences 1, strikes 1, exit 1",
    ],
  },
];
