/** An entry of a run's log without secrets, as a value and as the rest of its line. */
import { redactKept } from "../../errors/redact.ts";
import { scrubJson } from "../../errors/scrub-json.ts";
import type { RunEntry, RunEvent } from "../run-lines.ts";

/** `entry` and `json` say the same: `json` is what stands behind the ordinal of its line. */
export interface ScrubbedEntry {
  readonly entry: RunEntry;
  readonly json: string;
}

export function scrubEntry(entry: RunEntry): ScrubbedEntry {
  const scrubbed = scrubbedOf(entry);
  return { entry: scrubbed, json: JSON.stringify(scrubbed).slice(1) };
}

function scrubbedOf(entry: RunEntry): RunEntry {
  if (entry.d === "err") return { d: entry.d, text: redactKept(entry.text) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- scrubbing changes texts, never the shape
  if (entry.d === "ev") return { d: entry.d, ev: scrubJson(entry.ev) as RunEvent };
  return { d: entry.d, frame: scrubJson(entry.frame) };
}
