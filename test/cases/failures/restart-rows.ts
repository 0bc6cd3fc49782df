/** What only several processes in one session show: calls that are counted anew, and what the first one left behind. */
import { chunk, end, toolUpdate } from "../../fixtures/agents/scenario.ts";
import { DONE, disposes, ends, fails, passes, runs, starts } from "./frames.ts";
import type { FailureCase } from "./played-case.ts";

const ONCE = "Unclassified failure observation: tool, occurrences 1, strikes 1, exit 1";
const RECOVERED = "Recovered: tool, occurrences 1, strikes 1, exit 1";

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
    incidents: ["Unclassified failure observation: tool, occurrences 2, strikes 2, exit 1"],
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
