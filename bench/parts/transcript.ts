/** What a transcript costs beside the parsing of the same frames. */
import type { SessionEvent } from "../../src/acp/events.ts";
import { emptyTranscript } from "../../src/acp/transcript/placement.ts";
import { reduceTranscript } from "../../src/acp/transcript/reduce.ts";
import { UpdateReader } from "../../src/acp/update-reader.ts";
import { backendFor } from "../../src/backends/registry.ts";
import type { Bench, Part, Row } from "../bench.ts";
import { sampleFrames } from "../frames.ts";
import { inTurns, median, medianRatio } from "../measure/rounds.ts";

const FRAMES = 100_000;

interface Parsed {
  readonly params: { readonly update: Readonly<Record<string, unknown>> };
}

export const transcriptPart: Part = {
  name: "transcript",
  title: `Transcript: ${FRAMES} frames of one session, parsed, read and reduced`,
  async run({ rounds }: Bench): Promise<Row[]> {
    return [
      await measure("chunks of one answer", "text", rounds),
      await measure("4 chunks, 6 tool frames", "tools", rounds),
    ];
  },
};

async function measure(name: string, kind: "text" | "tools", rounds: number): Promise<Row> {
  const frames = sampleFrames(kind, FRAMES);
  let parsed: readonly Parsed[] = [];
  let events: readonly SessionEvent[] = [];
  // In this order: each takes what the one before it made.
  const figures = await inTurns(rounds, {
    parse: () => timed(() => (parsed = frames.map((frame): Parsed => JSON.parse(frame)))),
    read: () => timed(() => (events = read(parsed))),
    reduce: () => timed(() => events.reduce(reduceTranscript, emptyTranscript())),
  });
  const microseconds = (times: readonly number[]): string => ((median(times) * 1000) / FRAMES).toFixed(2);
  return {
    frames: name,
    "JSON.parse µs": microseconds(figures.parse),
    "to events µs": microseconds(figures.read),
    "to transcript µs": microseconds(figures.reduce),
    "transcript × parse": medianRatio(figures.reduce, figures.parse).toFixed(2),
    target: "1.5",
  };
}

function read(parsed: readonly Parsed[]): SessionEvent[] {
  const backend = backendFor("codex");
  const reader = new UpdateReader(backend, { profile: backend.profile, advertisedModels: [] });
  return parsed.flatMap(({ params }) => reader.readAll(params.update).map((event) => ({ turnId: "turn", event })));
}

/** Milliseconds of processor time: other programs of the machine do not count. */
function timed(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve((user + system) / 1000);
}
