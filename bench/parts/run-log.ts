/** What a frame costs in the log of a run, beside the parsing of it. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RunLog } from "../../src/failures/log/run-log.ts";
import type { Bench, Part, Row } from "../bench.ts";
import { sampleFrames } from "../frames.ts";
import { inTurns, median } from "../measure/rounds.ts";

const FRAMES = 100_000;

export const runLogPart: Part = {
  name: "run-log",
  title: `Run log: ${FRAMES} frames, scrubbed and written`,
  async run(bench: Bench): Promise<Row[]> {
    return [
      await measure(bench, "chunks of one answer", "text"),
      await measure(bench, "4 chunks, 6 tool frames", "tools"),
    ];
  },
};

async function measure({ folder, rounds }: Bench, name: string, kind: "text" | "tools"): Promise<Row> {
  const sources = sampleFrames(kind, FRAMES);
  const home = join(folder, "run-log");
  const appendAll = (log: RunLog): void => {
    for (const source of sources) log.append({ d: "in", frame: JSON.parse(source) }, { chars: source.length });
    log.close();
  };
  const figures = await inTurns(rounds, {
    parse: () => timed(() => sources.forEach((source) => void JSON.parse(source))),
    memory: () => timed(() => appendAll(RunLog.inMemory())),
    file: () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home);
      return timed(() => appendAll(RunLog.open(home)));
    },
  });
  const micros = (runs: readonly number[]): string => ((median(runs) * 1000) / FRAMES).toFixed(2);
  const more = (runs: readonly number[]): string => micros(runs.map((ms, round) => ms - figures.parse[round]!));
  return {
    frames: name,
    "JSON.parse µs": micros(figures.parse),
    "more in memory µs": more(figures.memory),
    "more in a file µs": more(figures.file),
  };
}

/** Milliseconds of processor time: other programs of the machine do not count. */
function timed(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve((user + system) / 1000);
}
