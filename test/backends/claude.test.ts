import { beforeAll, describe, expect, test } from "vitest";
import type { AdvertisedModes } from "../../src/acp/ports.ts";
import { claudeBackend } from "../../src/backends/claude.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import { chunk, end, record, recordUpdate, tool, toolUpdate } from "../fixtures/agents/scenario.ts";
import { playEach, textsOf } from "../acp/drive.ts";
import type { Played } from "../acp/drive.ts";

const modes = (current: string | null): AdvertisedModes => ({ current, available: ["default", "plan", "auto"] });

test.each<{ from: string; modes: AdvertisedModes | undefined; expected: string | undefined }>([
  { from: "it starts in auto", modes: modes("auto"), expected: "default" },
  { from: "the user's settings say plan", modes: modes("plan"), expected: "default" },
  { from: "it asks already", modes: modes("default"), expected: undefined },
  { from: "no current mode", modes: modes(null), expected: "default" },
  { from: "no modes were told", modes: undefined, expected: undefined },
])("the mode to set: $from", ({ modes, expected }) => {
  expect(claudeBackend.modeToSet(modes, "reads")).toBe(expected);
});

test.each([
  { mode: "default", asks: true },
  { mode: "plan", asks: true },
  { mode: "dontAsk", asks: true },
  { mode: "acceptEdits", asks: false },
  { mode: "auto", asks: false },
  { mode: "bypassPermissions", asks: false },
  { mode: "brand-new", asks: undefined },
])("mode $mode asks: $asks", ({ mode, asks }) => {
  expect(claudeBackend.modeAsks(mode)).toBe(asks);
});

test("permissions may not be skipped, whatever is approved", () => {
  for (const approval of ["all", "reads", "none"] as const) {
    expect(claudeBackend.sessionMeta(approval)).toEqual({
      claudeCode: { options: { allowDangerouslySkipPermissions: false } },
    });
  }
});

test("where the gate is required, no setting of the user's lets a tool run unasked", () => {
  expect(claudeBackend.sessionMeta("all", "required")).toEqual({
    claudeCode: {
      options: {
        allowDangerouslySkipPermissions: false,
        managedSettings: {
          allowManagedPermissionRulesOnly: true,
          allowManagedHooksOnly: true,
          permissions: { ask: ["*"] },
        },
      },
    },
  });
});

const model = (text: string, messageId = "m1"): Action => chunk(text, { messageId });
const kind = (text: string): Action => chunk(text, { messageId: "m1", _meta: { claudeCode: { kind: "notice" } } });

interface Row {
  readonly from: string;
  readonly turn: readonly Action[];
  readonly outcome: string;
  readonly text: string;
  readonly notices?: readonly string[];
  readonly warnings?: readonly string[];
}

const ONLY_WORDS = "The model said nothing: the text is the adapter's own";
const ROWS: readonly Row[] = [
  {
    from: "the model's words have an id",
    turn: [model("Hel"), model("lo"), end()],
    outcome: "completed",
    text: "Hello",
  },
  {
    from: "words without an id are the adapter's",
    turn: [chunk("Compacting..."), model("Hello"), end()],
    outcome: "completed",
    text: "Hello",
    notices: ["Compacting..."],
  },
  {
    from: "words with a kind too",
    turn: [kind("Compacting..."), model("Hello"), end()],
    outcome: "completed",
    text: "Hello",
    notices: ["Compacting..."],
  },
  {
    from: "other metadata of claude is the model's",
    turn: [chunk("Hello", { messageId: "m1", _meta: { claudeCode: { toolName: "Agent" } } }), end()],
    outcome: "completed",
    text: "Hello",
  },
  {
    from: "words of a subagent that is told in this session are not the answer",
    turn: [
      chunk("I look.", { messageId: "m1", _meta: { claudeCode: { parentToolUseId: "t1" } } }),
      model("Hello"),
      end(),
    ],
    outcome: "completed",
    text: "Hello",
  },
  {
    from: "metadata that is no object",
    turn: [chunk("Hello", { messageId: "m1", _meta: { claudeCode: "kind" } }), end()],
    outcome: "completed",
    text: "Hello",
  },
  {
    from: "the adapter's words are all there is: they are the text, with a warning",
    turn: [chunk("Compacted."), end()],
    outcome: "completed",
    text: "Compacted.",
    notices: ["Compacted."],
    warnings: [ONLY_WORDS],
  },
  {
    from: "the adapter's words beside a tool call are not the text",
    turn: [chunk("Compacted."), tool("t1"), toolUpdate("t1", { status: "completed" }), end()],
    outcome: "completed",
    text: "",
    notices: ["Compacted."],
  },
  {
    from: "streamed again after a retry that was announced",
    turn: [
      model("Hello wo"),
      recordUpdate(record({ id: "n1", severity: "warning", title: "Reconnecting to Claude, attempt 1" })),
      model("Hello world", "m2"),
      end(),
    ],
    outcome: "completed",
    text: "Hello world",
    warnings: ["Reconnecting to Claude, attempt 1"],
  },
  {
    from: "a notice of the session announces no retry",
    turn: [
      model("One. "),
      recordUpdate(record({ id: "s1:notice:1", severity: "warning", title: "You are close to your limit" })),
      model("Two.", "m2"),
      end(),
    ],
    outcome: "completed",
    text: "One. Two.",
    warnings: ["You are close to your limit"],
  },
];

describe("who speaks", () => {
  let played: (row: Row) => Played;
  beforeAll(async () => {
    played = await playEach(ROWS, { profile: "claude" });
  });

  test.each(ROWS)("$from", (row) => {
    const { outcome, events } = played(row);
    expect({
      outcome: outcome.kind,
      text: outcome.text,
      notices: textsOf(events, "notice"),
      warnings: outcome.warnings.map(({ title }) => title),
    }).toEqual({ outcome: row.outcome, text: row.text, notices: row.notices ?? [], warnings: row.warnings ?? [] });
  });
});
