import { beforeAll, describe, expect, test } from "vitest";
import type { AdvertisedModes, Approval } from "../../src/acp/ports.ts";
import { codexBackend } from "../../src/backends/codex.ts";
import type { Action, Json } from "../fixtures/agents/scenario.ts";
import { chunk, end, update } from "../fixtures/agents/scenario.ts";
import { failureOf, playEach, textsOf } from "../acp/drive.ts";
import type { Played } from "../acp/drive.ts";

const modes = (current: string | null): AdvertisedModes => ({
  current,
  available: ["read-only", "workspace-write", "agent", "agent-full-access"],
});

test.each<{ from: string; modes: AdvertisedModes | undefined; approval: Approval; expected: string | undefined }>([
  { from: "its default lets a second model approve", modes: modes("agent"), approval: "reads", expected: "read-only" },
  { from: "already there", modes: modes("read-only"), approval: "reads", expected: undefined },
  { from: "everything approved", modes: modes("read-only"), approval: "all", expected: "workspace-write" },
  { from: "nothing approved", modes: modes("workspace-write"), approval: "none", expected: "read-only" },
  { from: "full access is left", modes: modes("agent-full-access"), approval: "all", expected: "workspace-write" },
  { from: "no current mode", modes: modes(null), approval: "reads", expected: "read-only" },
  { from: "no modes were told", modes: undefined, approval: "reads", expected: undefined },
])("the mode to set, $approval: $from", ({ modes, approval, expected }) => {
  expect(codexBackend.modeToSet(modes, approval)).toBe(expected);
});

test.each([
  { mode: "read-only", asks: true },
  { mode: "workspace-write", asks: false },
  { mode: "agent", asks: false },
  { mode: "agent-full-access", asks: false },
  { mode: "brand-new", asks: undefined },
])("mode $mode asks: $asks", ({ mode, asks }) => {
  expect(codexBackend.modeAsks(mode)).toBe(asks);
});

test.each<{ approval: Approval; mode: string }>([
  { approval: "all", mode: "workspace-write" },
  { approval: "reads", mode: "read-only" },
  { approval: "none", mode: "read-only" },
])("started for $approval in $mode", ({ approval, mode }) => {
  expect(codexBackend.env(approval)).toEqual({ INITIAL_AGENT_MODE: mode });
});

test("its login sentence names the file that it blames on the login", () => {
  expect(codexBackend.loginHint).toContain("codex login");
  expect(codexBackend.loginHint).toContain("config.toml");
});

const status = (codex: Json): Action => update({ sessionUpdate: "session_info_update", _meta: { codex } });
const systemError = status({ threadStatus: { type: "systemError" } });
const sentence = (text: string): Action => chunk(text);
const answer = (text: string, messageId = "m1"): Action => chunk(text, { messageId });

interface Row {
  readonly from: string;
  readonly turn: readonly Action[];
  readonly outcome: string;
  readonly kind?: string;
  readonly title?: string;
  readonly text?: string;
}

const ROWS: readonly Row[] = [
  {
    from: "systemError and its sentence (plain client)",
    turn: [systemError, sentence("You've hit your usage limit. Try again at 4:44 AM."), end()],
    outcome: "failed",
    kind: "usage_limit",
    title: "You've hit your usage limit. Try again at 4:44 AM.",
  },
  {
    from: "the sentence is no part of an answer before it",
    turn: [answer("half"), systemError, sentence("stream disconnected before completion: x"), end()],
    outcome: "failed",
    kind: "service_error",
    text: "half",
  },
  {
    from: "the sentence in two chunks",
    turn: [systemError, sentence("The model `m9` does not "), sentence("exist"), end()],
    outcome: "failed",
    kind: "model_unavailable",
    title: "The model `m9` does not exist",
  },
  {
    from: "no sentence",
    turn: [systemError, end()],
    outcome: "failed",
    kind: "unknown",
  },
  {
    from: "a structured error refines a sentence that says nothing",
    turn: [
      status({ error: { message: "x", codexErrorInfo: "usageLimitExceeded" } }),
      systemError,
      sentence("It broke."),
      end(),
    ],
    outcome: "failed",
    kind: "usage_limit",
    title: "It broke.",
  },
  {
    from: "the same behind it",
    turn: [systemError, status({ error: { message: "x", codexErrorInfo: "contextWindowExceeded" } }), end()],
    outcome: "failed",
    kind: "context_overflow",
  },
  {
    from: "the same with text that came before: still failed",
    turn: [answer("whole"), systemError, end()],
    outcome: "failed",
    kind: "unknown",
    text: "whole",
  },
  {
    from: "an active thread is nothing",
    turn: [status({ threadStatus: { type: "active" } }), answer("ok"), end()],
    outcome: "completed",
    text: "ok",
  },
  {
    from: "a chunk without an id and without systemError is an answer",
    turn: [sentence("ok"), end()],
    outcome: "completed",
    text: "ok",
  },
  {
    from: "an error that it retries by itself is none; the cut text is taken back",
    turn: [
      answer("Hel"),
      status({ error: { message: "Reconnecting... 1/5", willRetry: true } }),
      answer("Hello", "m2"),
      end(),
    ],
    outcome: "completed",
    text: "Hello",
  },
  { from: "silence: not tried again, its refusal looks like that", turn: [end()], outcome: "empty" },
];

describe("the plain client's signs of a failed turn", () => {
  let played: (row: Row) => Played;
  beforeAll(async () => {
    played = await playEach(ROWS, { profile: "codex", prompt: { retries: 3 } });
  });

  test.each(ROWS)("$from", (row) => {
    const { outcome, events } = played(row);
    const failure = failureOf(outcome);
    expect({ outcome: outcome.kind, kind: failure?.kind, text: outcome.text, attempts: outcome.attempts }).toEqual({
      outcome: row.outcome,
      kind: row.kind,
      text: row.text ?? "",
      attempts: 1,
    });
    expect(failure?.title ?? "").toContain(row.title ?? "");
    expect(failure?.source).toBe(row.kind === undefined ? undefined : "thread_status");
    expect(textsOf(events, "text").join("")).not.toContain(row.title ?? "no such text");
  });
});
