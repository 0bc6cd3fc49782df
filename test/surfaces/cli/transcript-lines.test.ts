import { expect, test } from "vitest";
import type { TurnEventBody } from "../../../src/acp/events.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import { emptyTranscript } from "../../../src/acp/transcript/placement.ts";
import { transcriptLines } from "../../../src/surfaces/cli/transcript-lines.ts";

const call = { type: "tool", toolCallId: "c1", title: "npm test", kind: "execute", paths: [] } as const;
const compaction = { type: "compaction", compactionId: "k1" } as const;

test.each<{ from: string; event: TurnEventBody; lines: readonly string[] }>([
  { from: "a command that is done", event: { ...call, status: "completed" }, lines: ["  ✓ npm test"] },
  {
    from: "a command that only began is not said to be done",
    event: { ...call, status: "completed", isBackgrounded: true },
    lines: ["  ▸ npm test (in the background)"],
  },
  {
    from: "a compaction",
    event: { ...compaction, state: "completed" },
    lines: ["  · The history was compacted here"],
  },
  { from: "a compaction that failed compacted nothing", event: { ...compaction, state: "failed" }, lines: [] },
])("$from", ({ event, lines }) => {
  expect(transcriptLines(reduceTranscript(emptyTranscript(), { turnId: "t1", event }))).toEqual(lines);
});
