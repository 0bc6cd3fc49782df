/** Memory while very many frames pass: it must not follow the length of the answer. */
import type { Bench, Part, Row } from "../bench.ts";
import { writeTextFrames } from "../frames.ts";
import { followMemory } from "../measure/resident.ts";
import { floodAgent, minimalClient, ostler } from "../subjects.ts";
import type { Command } from "../subjects.ts";

const FRAMES_PER_FILE = 50_000;
const FILES = 20;
const LOOK_EVERY_MS = 50;

export const memory: Part = {
  name: "memory",
  title: `Memory: ${FRAMES_PER_FILE * FILES} frames of answer text`,
  async run({ folder }: Bench): Promise<Row[]> {
    const agent = floodAgent(writeTextFrames(folder, FRAMES_PER_FILE), FILES);
    return [
      await measure("minimal client", minimalClient(agent, "text"), ""),
      await measure("ostler ask", ostler(agent, "text"), "110 MiB"),
    ];
  },
};

async function measure(subject: string, command: Command, target: string): Promise<Row> {
  const { samplesMib, peakMib, exitCode, wallMs } = await followMemory(command, { everyMs: LOOK_EVERY_MS });
  const after = (part: number): string => (samplesMib[Math.floor(samplesMib.length * part)] ?? 0).toFixed(0);
  return {
    subject,
    "MiB after 10 %": after(0.1),
    "50 %": after(0.5),
    "90 %": after(0.9),
    "peak MiB": peakMib.toFixed(0),
    "wall s": (wallMs / 1000).toFixed(1),
    "exit code": String(exitCode),
    target,
  };
}
