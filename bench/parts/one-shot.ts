/** What one question costs from the shell's point of view: start, handshake, one frame of an answer, end. */
import type { Bench, Part, Row } from "../bench.ts";
import { writeTextFrames } from "../frames.ts";
import { followMemory } from "../measure/resident.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";
import { costOf } from "../measure/run.ts";
import { BARE_NODE, acpx, floodAgent, minimalClient, ostler } from "../subjects.ts";
import type { Command } from "../subjects.ts";

/** Runs that are counted together, because the kernel counts in ticks of 10 ms. */
const RUNS_PER_ROUND = 5;
/** A one-shot is over soon; its high-water mark must be read before. */
const LOOK_EVERY_MS = 3;

const BASE = "node -e 0";
const TARGETS: Readonly<Record<string, string>> = { "ostler ask": "3.0 ×, 70 MiB" };

export const oneShot: Part = {
  name: "one-shot",
  title: "One-shot: start, handshake, one frame, end",
  async run({ folder, rounds, acpx: acpxCli }: Bench): Promise<Row[]> {
    const agent = floodAgent(writeTextFrames(folder, 1));
    const commands: Record<string, Command> = {
      [BASE]: BARE_NODE,
      "minimal client": minimalClient(agent, "text"),
      "ostler ask": ostler(agent, "text"),
    };
    if (acpxCli !== undefined) commands["acpx"] = acpx(acpxCli, agent);
    const subjects = Object.entries(commands).map(([name, command]) => [name, () => measure(command)] as const);
    const figures = await inTurns(rounds, Object.fromEntries(subjects));
    const base = (figures[BASE] ?? []).map(({ cpuMs }) => cpuMs);
    return Object.entries(figures).map(([name, runs]) => {
      const cpuMs = runs.map((run) => run.cpuMs);
      return {
        subject: name,
        "CPU ms": median(cpuMs).toFixed(0),
        "least CPU ms": Math.min(...cpuMs).toFixed(0),
        "wall ms": median(runs.map(({ wallMs }) => wallMs)).toFixed(0),
        "× node -e 0": medianRatio(cpuMs, base).toFixed(2),
        "peak MiB": Math.max(...runs.map(({ peakMib }) => peakMib)).toFixed(0),
        target: TARGETS[name] ?? "",
      };
    });
  },
};

async function measure(command: Command): Promise<{ cpuMs: number; wallMs: number; peakMib: number }> {
  const cost = await costOf(command, RUNS_PER_ROUND);
  const { peakMib } = await followMemory(command, { everyMs: LOOK_EVERY_MS });
  return { ...cost, peakMib };
}
