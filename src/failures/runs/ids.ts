/** Names of runs. A name is never a path, and those of a folder sort by the time of their making. */
import type { RunKind } from "./meta.ts";

const LETTERS = { agent: "ag", command: "cm", watch: "wa" } as const satisfies Record<RunKind, string>;
const RUN_ID = /^[a-z]{2}_[0-9a-z]{6,16}_[0-9]{1,6}$/;
/** Milliseconds since 1970 in base 36 have eight digits from 1972 to 2059. */
const TIME_CHARS = 8;
const RANDOM_CHARS = 4;
const MAX_COUNT = 999_999;

let count = 0;

/** A name that no other run has: `ag_mgx1k2a3b4c5_1`, with the time of its making and a number of this process. */
export function newRunId(kind: RunKind, now = Date.now()): string {
  count = (count % MAX_COUNT) + 1;
  const time = now.toString(36).padStart(TIME_CHARS, "0");
  // Drawn without node:crypto, which takes longer to load than a run to record.
  const random = Math.random()
    .toString(36)
    .slice(2, 2 + RANDOM_CHARS)
    .padEnd(RANDOM_CHARS, "0");
  return `${LETTERS[kind]}_${time}${random}_${count}`;
}

/** Whether a text is the name of a run; every other text may be a path, and is not to be joined to one. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** For `sort`: the newest run first, whatever its kind. */
export function newestFirst(a: string, b: string): number {
  const [, timeA = "", countA = ""] = a.split("_");
  const [, timeB = "", countB = ""] = b.split("_");
  if (timeA !== timeB) return timeA < timeB ? 1 : -1;
  return Number(countB) - Number(countA);
}
