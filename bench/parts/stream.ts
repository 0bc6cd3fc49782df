/**
 * What one frame costs. A run with one frame is taken from a run with many, and the agent's own share from both, so that
 * what is left is the client's work on a frame.
 */
import { randomUUID } from "node:crypto";
import type { Bench, Part, Row } from "../bench.ts";
import { writeTextFrames, writeToolFrames } from "../frames.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";
import { costOf } from "../measure/run.ts";
import { agentAlone, floodAgent, keptOstler, minimalClient, ostler } from "../subjects.ts";
import type { Command } from "../subjects.ts";

/** Enough for the ticks of 10 ms not to matter, and few enough for a start that is not warm to count. */
const FRAMES = 100_000;

export const streamText: Part = {
  name: "stream-text",
  title: `Stream: ${FRAMES} frames of answer text`,
  run: (bench) => measureFrames(bench, writeTextFrames, 3),
};

export const streamTools: Part = {
  name: "stream-tools",
  title: `Stream: ${FRAMES} frames, six of ten for tool calls`,
  run: (bench) => measureFrames(bench, writeToolFrames, 4),
};

type WriteFrames = (folder: string, count: number) => string;
type DriveAgent = (agent: Command) => Command;

async function measureFrames({ folder, rounds }: Bench, write: WriteFrames, target: number): Promise<Row[]> {
  const one = floodAgent(write(folder, 1));
  const many = floodAgent(write(folder, FRAMES));
  const microsPerFrame = async (drive: DriveAgent): Promise<number> => {
    const { cpuMs: withOne } = await costOf(drive(one), 1);
    const { cpuMs: withMany } = await costOf(drive(many), 1);
    return ((withMany - withOne) * 1000) / (FRAMES - 1);
  };
  const figures = await inTurns(rounds, {
    agent: () => microsPerFrame(agentAlone),
    "minimal text": () => microsPerFrame((agent) => minimalClient(agent, "text")),
    "ostler text": () => microsPerFrame((agent) => ostler(agent, "text")),
    "minimal json": () => microsPerFrame((agent) => minimalClient(agent, "json")),
    "ostler json": () => microsPerFrame((agent) => ostler(agent, "json")),
    "ostler kept": () => microsPerFrame((agent) => keptOstler(agent, randomUUID())),
  });
  const agentShare = median(figures.agent);
  const ownShare = (runs: readonly number[]): number[] => runs.map((micros) => micros - agentShare);
  const row = (subject: string, output: string, runs: readonly number[], base?: readonly number[], times = 1): Row => ({
    subject,
    output,
    "CPU µs per frame": median(runs).toFixed(2),
    "least CPU µs": Math.min(...runs).toFixed(2),
    "× minimal": base === undefined ? "" : medianRatio(runs, base).toFixed(2),
    target: base === undefined ? "" : `${times * target} ×`,
  });
  const minimal = { text: ownShare(figures["minimal text"]), json: ownShare(figures["minimal json"]) };
  return [
    row("minimal client", "text", minimal.text),
    row("ostler ask", "text", ownShare(figures["ostler text"]), minimal.text),
    row("ostler ask -s, logged", "text", ownShare(figures["ostler kept"]), minimal.text, 2),
    row("minimal client", "ndjson", minimal.json),
    row("ostler ask", "ndjson", ownShare(figures["ostler json"]), minimal.json),
  ];
}
