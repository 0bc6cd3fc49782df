/**
 * What is known when Ostler itself failed, in one small file for a bug report: the error, the versions, the command line
 * without its prompt, and the last frames of every agent. Secrets and whatever a person or a model said are taken out.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../acp/version.ts";
import type { FlightRecorder, RecordedFrame } from "./flight-recorder.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { scrubFields } from "../errors/scrub-json.ts";
import type { ScrubLimits } from "../errors/scrub-json.ts";

/** Older ones are removed. */
const KEPT_REPORTS = 20;

const ERROR_LIMITS: ScrubLimits = { maxDepth: 10, maxValues: 200, maxChars: 16_000, masksNames: true };
/** Fields of ACP and its dialects that hold prompts, answers, and what tools read and wrote. */
const SPOKEN = new Set(["prompt", "content", "rawInput", "rawOutput", "text", "oldText", "newText", "entries"]);
const FRAME_LIMITS: ScrubLimits = { maxDepth: 16, maxValues: 500, maxChars: 1000, masksNames: true, spoken: SPOKEN };

export interface CrashFacts {
  readonly error: unknown;
  /** The command line; whoever gives it has taken the prompt out. */
  readonly argv: readonly string[];
  readonly recorder: FlightRecorder;
}

/** Writes `crash-reports/<time>-<pid>.json` in the state folder (0600) and returns its path. Throws the system's error. */
export function writeCrashReport(paths: Paths, { error, argv, recorder }: CrashFacts): string {
  const folder = join(paths.state, "crash-reports");
  ensureStateFolder(paths);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString();
  const report = {
    at,
    ostler: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    uptimeMs: Math.round(performance.now()),
    ...scrubFields({ error, argv }, ERROR_LIMITS),
    agents: recorder.recorded().map(({ backend, frames }) => ({ backend, frames: frames.map(describeFrame) })),
  };
  const file = join(folder, `${at.replaceAll(/[-:.]/g, "")}-${process.pid}.json`);
  writeFileSync(file, `${JSON.stringify(report, null, 1)}\n`, { mode: 0o600, flag: "wx" });
  for (const name of readdirSync(folder).toSorted().slice(0, -KEPT_REPORTS))
    rmSync(join(folder, name), { force: true });
  return file;
}

function describeFrame({ dir, atMs, chars, ...rest }: RecordedFrame): object {
  return { dir, at: new Date(atMs).toISOString(), chars, ...scrubFields(rest, FRAME_LIMITS) };
}
