/** The frames of a recording as the lines of a run's log; the recorder's own remarks are no lines. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunLine } from "../../../src/failures/run-lines.ts";

const RECORDINGS = join(import.meta.dirname, "../../fixtures/recordings");

interface Recorded {
  readonly dir: string;
  readonly ms: number;
  readonly frame?: unknown;
  readonly line?: string;
  readonly code?: number | null;
  readonly signal?: string | null;
}

/** Every recording, as `codex-acp/2.6.0/air/shell-ok`. */
export function recordingNames(): string[] {
  return readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => file.replace(/\.jsonl$/, ""))
    .toSorted();
}

/** `n` is the line in the file of the recording. An adapter that was killed was not stopped by Ostler. */
export function recordedLines(name: string): RunLine[] {
  const lines = readFileSync(join(RECORDINGS, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.flatMap((text, index): RunLine[] => {
    const entry: Recorded = JSON.parse(text);
    const place = { t: entry.ms, n: index + 1 };
    if (entry.dir === "in" || entry.dir === "out") return [{ d: entry.dir, frame: entry.frame, ...place }];
    if (entry.dir === "stderr") return [{ d: "err", text: entry.line ?? "", ...place }];
    if (entry.dir !== "exit") return [];
    const { code = null, signal = null } = entry;
    return [{ d: "ev", ev: { type: "exited", n: 0, code, signal, expected: signal === null }, ...place }];
  });
}
