/** Compactions of the real adapters: asked for, begun by the harness itself, and one that fails. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Compaction, TurnEvent } from "../../src/acp/events.ts";
import type { Session } from "../../src/acp/session-link.ts";
import { failureOf, play } from "../acp/drive.ts";
import { anthropicError } from "../model-service/anthropic.ts";
import { httpError, longContext, text } from "../model-service/steps.ts";
import { openWorld } from "./live.ts";
import type { World } from "./live.ts";
import { codexConfigFile } from "./scenario-files.ts";
import { codexConfig } from "./scenario-home.ts";

interface Harness {
  readonly name: "codex" | "claude";
  /** Only in its own request for a summary. */
  readonly summaryWord: string;
  /** So many tokens and it compacts before the next turn. */
  readonly fullTokens: number;
  /** What it tells of a compaction that was asked for, and of its own. */
  readonly asked: Partial<Compaction>;
  readonly own: Partial<Compaction>;
}

const HARNESSES: readonly Harness[] = [
  {
    name: "codex",
    summaryWord: "CONTEXT CHECKPOINT COMPACTION",
    fullTokens: 90_000,
    asked: { state: "completed" },
    own: { state: "completed" },
  },
  {
    name: "claude",
    summaryWord: "followed by a <summary> block",
    fullTokens: 985_000,
    asked: { state: "completed", trigger: "manual", summary: "So far: a test.", preTokens: expect.any(Number) },
    own: { state: "completed", trigger: "automatic", summary: "So far: a test.", postTokens: expect.any(Number) },
  },
];
const SUMMARY = text("<summary>So far: a test.</summary>");
const REJECTED = httpError(400, anthropicError("invalid_request_error", "messages: not now"));

describe.each(HARNESSES)("$name", ({ name, summaryWord, fullTokens, asked, own }) => {
  let world: World;
  let session: Session;
  beforeAll(async () => {
    world = await openWorld(name, {
      "SAY-ONE": [text("One.")],
      "SAY-TWO": [longContext("Two.", fullTokens)],
      "SAY-THREE": [text("Three.")],
      [summaryWord]: [SUMMARY, SUMMARY, REJECTED],
    });
    codexConfigFile(world.home, `model_auto_compact_token_limit = 50000\n${codexConfig(world.service.url)}`);
    session = await (await world.start()).runtime.openSession({ cwd: world.home.workspace });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("one that was asked for is an event, no tool call, and completes its turn", async () => {
    await play(session, { retries: 0 }, "SAY-ONE");
    const { outcome, events } = await play(session, { retries: 0 }, "/compact");
    expect(outcome).toMatchObject({ kind: "completed", text: "", warnings: [] });
    expect(
      compactionsOf(events)
        .map(({ state }) => state)
        .slice(0, 2),
    ).toEqual(["running", "completed"]);
    expect(compactionsOf(events).at(-1)).toMatchObject(asked);
    expect(events.filter(({ type }) => type === "tool")).toEqual([]);
  });

  test("one that it begins by itself, in a turn that goes on", async () => {
    await play(session, { retries: 0 }, "SAY-TWO");
    const { outcome, events } = await play(session, { retries: 0 }, "SAY-THREE");
    expect(outcome).toMatchObject({ kind: "completed", text: "Three.", warnings: [] });
    expect(compactionsOf(events).at(-1)).toMatchObject(own);
  });

  if (name !== "claude") return;
  test("one that was asked for and fails, though claude says end_turn", async () => {
    const { outcome, events } = await play(session, { retries: 3 }, "/compact");
    expect(outcome).toMatchObject({ kind: "failed", stopReason: "end_turn", attempts: 1 });
    expect(failureOf(outcome)).toMatchObject({ kind: "compaction", retry: "never", replaySafety: "no_output" });
    expect(compactionsOf(events).at(-1)).toMatchObject({ state: "failed", error: expect.stringContaining("not now") });
  });
});

function compactionsOf(events: readonly TurnEvent[]): Compaction[] {
  return events.filter((event) => event.type === "compaction");
}
