/** An agent that prints log lines on stdout and reads nothing meanwhile: a client that answers them waits for ever. */
import type { Bench, Part, Row } from "../bench.ts";
import { writeJunkLines } from "../frames.ts";
import { inTurns, median } from "../measure/rounds.ts";
import { costOf } from "../measure/run.ts";
import { floodAgent, ostler } from "../subjects.ts";

const LINE_COUNTS = [0, 5000, 200_000];

export const junk: Part = {
  name: "junk",
  title: "Junk: lines that are no frames, from an agent that does not read",
  async run({ folder, rounds }: Bench): Promise<Row[]> {
    const agents = LINE_COUNTS.map((count) => [String(count), floodAgent(writeJunkLines(folder, count))] as const);
    const subjects = agents.map(([count, agent]) => [count, () => costOf(ostler(agent, "text"), 1)] as const);
    const figures = await inTurns(rounds, Object.fromEntries(subjects));
    return LINE_COUNTS.map((count) => {
      const runs = figures[count] ?? [];
      return {
        "junk lines": String(count),
        "wall ms": median(runs.map(({ wallMs }) => wallMs)).toFixed(0),
        "CPU ms": median(runs.map(({ cpuMs }) => cpuMs)).toFixed(0),
        target: "the turn ends",
      };
    });
  },
};
