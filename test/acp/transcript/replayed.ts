/** Recordings as transcripts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireEntry } from "../../../src/acp/ports.ts";
import { replayWire } from "../../../src/acp/transcript/replay-wire.ts";
import type { Transcript } from "../../../src/acp/transcript/transcript.ts";
import { backendFor } from "../../../src/backends/registry.ts";

const RECORDINGS = join(import.meta.dirname, "../../fixtures/recordings");
const FOLDERS = { codex: "codex-acp/2.6.0", claude: "claude-agent-acp/0.101.0" } as const;
/** The others are notes of the recorder. */
const WIRE: ReadonlySet<string> = new Set(["in", "out", "stderr", "exit"]);

export type Harness = keyof typeof FOLDERS;
export type Client = "air" | "plain";

/** What the two clients see of a recording. */
export type TranscriptRow = { readonly case: string } & (
  | { readonly both: readonly string[] }
  | Readonly<Record<Client, readonly string[]>>
);

/** What went over the wire in a recording. */
export function wireOf(harness: Harness, client: Client, name: string): WireEntry[] {
  const text = readFileSync(join(RECORDINGS, FOLDERS[harness], client, `${name}.jsonl`), "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): WireEntry => JSON.parse(line))
    .filter(({ dir }) => WIRE.has(dir));
}

/** The transcripts of a recording, in the order in which its sessions began. */
export function transcriptsOf(harness: Harness, client: Client, name: string): Transcript[] {
  return [...replayWire(wireOf(harness, client, name), backendFor(harness, { air: client === "air" })).values()];
}
