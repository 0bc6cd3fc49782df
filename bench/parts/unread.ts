/** Nobody reads the output for a while: the agent has to wait, and nothing may pile up in memory or be lost. */
import type { Bench, Part, Row } from "../bench.ts";
import { TEXT_CHARS, writeTextFrames } from "../frames.ts";
import { followMemory } from "../measure/resident.ts";
import { floodAgent, ostler } from "../subjects.ts";

const FRAMES_PER_FILE = 50_000;
const FILES = 20;
const UNREAD_MS = 10_000;
const LOOK_EVERY_MS = 100;

export const unread: Part = {
  name: "unread",
  title: `Unread: ${FRAMES_PER_FILE * FILES} frames, the output is left unread for ${UNREAD_MS / 1000} s`,
  async run({ folder }: Bench): Promise<Row[]> {
    const agent = floodAgent(writeTextFrames(folder, FRAMES_PER_FILE), FILES);
    let readBytes = 0;
    const { samplesMib, peakMib, exitCode } = await followMemory(ostler(agent, "text"), {
      everyMs: LOOK_EVERY_MS,
      onStdout: (stdout) => {
        setTimeout(() => stdout.on("data", (chunk: Buffer) => (readBytes += chunk.length)), UNREAD_MS);
      },
    });
    const at = (ms: number): string => (samplesMib[Math.floor(ms / LOOK_EVERY_MS)] ?? 0).toFixed(0);
    const sentBytes = FRAMES_PER_FILE * FILES * TEXT_CHARS;
    return [
      {
        "MiB after 2 s unread": at(2000),
        "after 9 s unread": at(UNREAD_MS - 1000),
        "peak MiB": peakMib.toFixed(0),
        // The answer ends with a newline of its own.
        "bytes lost": String(Math.max(0, sentBytes - readBytes)),
        "exit code": String(exitCode),
        target: "no growth, 110 MiB",
      },
    ];
  },
};
