import type { FailureEvent } from "../../src/failures/records.ts";

/** Ten of a stream have one operation. */
const PER_OPERATION = 10;

/** The event of that number in a stream: the same in every process, as long as it is short or long by its number. */
export function eventOf(stream: string, number: number): FailureEvent {
  return {
    id: `${stream}-${number}`,
    operation: `${stream}/${Math.floor(number / PER_OPERATION)}`,
    kind: "failure",
    category: "tool",
    tool: "run",
    summary: `${number} é😀 `.repeat((number * 7919) % 40).trim(),
    evidence: `output.log#byte=${number}`,
  };
}
