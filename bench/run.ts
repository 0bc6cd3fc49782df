/**
 * The project's own bench: what a one-shot costs, what a frame costs, and what memory does. Prints one Markdown table
 * per part; docs/performance.md says what the figures mean. Linux only: it reads /proc.
 *
 *   npm run bench -- [--only one-shot,loads,stream-text,stream-tools,memory,unread,junk,transcript,run-log,scan,journal,
 *                  fold,soak] [--rounds 7]
 *                  [--acpx FILE]   the dist/cli.js of an installed acpx, measured beside the one-shot
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Bench, Part } from "./bench.ts";
import { foldPart, journalPart } from "./parts/journal.ts";
import { junk } from "./parts/junk.ts";
import { loads } from "./parts/loads.ts";
import { memory } from "./parts/memory.ts";
import { oneShot } from "./parts/one-shot.ts";
import { runLogPart } from "./parts/run-log.ts";
import { scanPart } from "./parts/scan.ts";
import { soakPart } from "./parts/soak.ts";
import { streamText, streamTools } from "./parts/stream.ts";
import { transcriptPart } from "./parts/transcript.ts";
import { unread } from "./parts/unread.ts";
import { OSTLER_BUNDLE } from "./subjects.ts";
import { markdownTable } from "./table.ts";

const PARTS: readonly Part[] = [
  oneShot,
  loads,
  streamText,
  streamTools,
  memory,
  unread,
  junk,
  transcriptPart,
  runLogPart,
  scanPart,
  journalPart,
  foldPart,
  soakPart,
];
const DEFAULT_ROUNDS = 7;

const { values } = parseArgs({
  options: { only: { type: "string" }, rounds: { type: "string" }, acpx: { type: "string" } },
});
const problem = findProblem();
if (problem === undefined) await runParts();
else {
  console.error(`bench: ${problem}`);
  process.exitCode = 2;
}

async function runParts(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ostler-bench-"));
  const acpx = values.acpx === undefined ? undefined : resolve(values.acpx);
  const bench: Bench = { folder, rounds: Number(values.rounds ?? DEFAULT_ROUNDS), acpx };
  // Away from the configuration and the project files of whoever runs it.
  process.env["OSTLER_HOME"] = folder;
  process.env["HOME"] = folder;
  process.chdir(folder);
  try {
    console.log(`Node ${process.version}, ${cpus().length} cores, ${bench.rounds} rounds\n`);
    for (const part of chosenParts()) {
      console.log(`### ${part.title}\n`);
      console.log(markdownTable(await part.run(bench)));
      console.log(`\nLoad of the machine: ${loadavg()[0]!.toFixed(1)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function chosenParts(): readonly Part[] {
  const names = values.only?.split(",");
  return names === undefined
    ? PARTS.filter(({ onlyByName }) => !onlyByName)
    : PARTS.filter(({ name }) => names.includes(name));
}

function findProblem(): string | undefined {
  if (process.platform !== "linux") return "it reads /proc, so it runs on Linux only";
  if (!existsSync(OSTLER_BUNDLE)) return "there is nothing to measure yet; run npm run build first";
  if (!/^[1-9]\d*$/.test(values.rounds ?? "1")) return "--rounds is a whole number from 1";
  const unknown = values.only?.split(",").find((only) => PARTS.every(({ name }) => name !== only));
  if (unknown === undefined) return undefined;
  return `there is no part ${unknown}; the parts are ${PARTS.map(({ name }) => name).join(", ")}`;
}
