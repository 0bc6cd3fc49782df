/** Recordings rebuild the transcripts that were decided from them by reading, for both kinds of client. */
import { expect, test } from "vitest";
import { CLAUDE_TRANSCRIPTS } from "./claude.expected.ts";
import { CODEX_TRANSCRIPTS } from "./codex.expected.ts";
import { linesOf } from "./describe.ts";
import { transcriptsOf } from "./replayed.ts";
import type { Client, Harness, TranscriptRow } from "./replayed.ts";

const TABLES: readonly [Harness, readonly TranscriptRow[]][] = [
  ["claude", CLAUDE_TRANSCRIPTS],
  ["codex", CODEX_TRANSCRIPTS],
];

const rows = TABLES.flatMap(([harness, table]) =>
  table.flatMap((row) =>
    (["air", "plain"] as const).map((client: Client) => ({
      harness,
      client,
      name: row.case,
      lines: "both" in row ? row.both : row[client],
    })),
  ),
);

test.each(rows)("$harness $name, $client", ({ harness, client, name, lines }) => {
  expect(transcriptsOf(harness, client, name).flatMap((transcript) => linesOf(transcript))).toEqual(lines);
});

test("the state of a recorded session stands beside its entries", () => {
  const [transcript] = transcriptsOf("claude", "air", "bash-allow");
  expect(transcript?.state).toMatchObject({
    sessionId: "7ae39707-c7f0-4391-9a3e-a5dd07fa3c95",
    backend: "claude",
    agent: "Claude Agent 0.101.0",
    model: "opus",
    mode: "default",
    isWorking: false,
    goal: null,
    context: { used: 124, size: 1_000_000, cost: { amount: 0.00168, currency: "USD" } },
    tokens: { inputTokens: 240, outputTokens: 10 },
  });
});

test("a goal and its end, a background command that was stopped", () => {
  const [goal] = transcriptsOf("claude", "air", "goal-set");
  expect(goal?.state.goal).toBeNull();
  const [stopped] = transcriptsOf("claude", "air", "bash-background-stop");
  expect([...(stopped?.state.tasks.values() ?? [])]).toMatchObject([
    { taskId: "bptxbbmut", state: "stopped", toolCallId: "toolu_fake000477", showInTranscript: false },
  ]);
});
