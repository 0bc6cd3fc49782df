import { describe, expect, test } from "vitest";
import type { Profile } from "../../src/errors/failure.ts";
import { drive } from "../acp/drive.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  chunk,
  end,
  recordUpdate,
  record,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
} from "../fixtures/agents/scenario.ts";
import { ask, askAsText } from "./ask-case.ts";

const SECRET = "sk-ant-SECRETSECRET1234";
const complaint: Action = { stderr: `401 invalid token=${SECRET}\n` };
const usage = update({ sessionUpdate: "usage_update", used: 10, size: 100 });

describe("nothing was said: empty after one more try, exit 11", () => {
  test.concurrent.each<{ from: string; turn: readonly Action[]; profile?: Profile; prompts?: number; argv?: string[] }>(
    [
      { from: "C09 a", turn: [end()] },
      { from: "C09 b", turn: [usage, end()] },
      { from: "C09 d", turn: [thought("hm"), end()] },
      { from: "claude", turn: [end()], profile: "claude" },
      { from: "kiro", turn: [end()], profile: "kiro" },
      { from: "codex does not try again: its silent refusal repeats", turn: [end()], profile: "codex", prompts: 1 },
      { from: "nor with --retries 0", turn: [end()], prompts: 1, argv: ["--retries", "0"] },
      { from: "one more try, not five", turn: [end()], argv: ["--retries", "5"] },
      { from: "blank text is nothing", turn: [chunk(" \n\t"), end()] },
      { from: "an empty chunk is nothing", turn: [chunk(""), end()] },
      {
        from: "a list of commands and a title are nothing",
        turn: [
          update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "x", description: "" }] }),
          update({ sessionUpdate: "session_info_update", title: "A title" }),
          update({ sessionUpdate: "an_update_of_tomorrow", text: "hm" }),
          end(),
        ],
      },
      { from: "a warning is nothing", turn: [recordUpdate(record({ severity: "warning" })), end()] },
    ],
  )("$from", async ({ turn, profile = "generic", prompts = 2, argv = [] }) => {
    const asked = await ask(turns([complaint, ...turn]), { profile, argv });
    expect(asked.result).toMatchObject({ outcome: "empty", failure: null, attempts: prompts, partial: false });
    expect(asked.result.text.trim()).toBe("");
    expect({ exitCode: asked.exitCode, prompts: asked.prompts }).toEqual({ exitCode: 11, prompts });
    expect(asked.printed).not.toContain(SECRET);
  });
});

test.concurrent("the tail of stderr is attached, redacted", async () => {
  const { outcome } = await drive(turns([complaint, end()]));
  expect(outcome.stderr?.split("\n")[0]).toBe("401 invalid token=[redacted]");
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
});

test.concurrent("people read that nothing was said, and why it may be; stdout stays empty", async () => {
  const { exitCode, stdout, stderr } = await askAsText(turns([complaint, end()]));
  expect({ exitCode, stdout }).toEqual({ exitCode: 11, stdout: "" });
  expect(stderr).toContain("without an answer");
  expect(stderr).toContain("401 invalid token=[redacted]");
});

describe("something was done or said: completed, sent once", () => {
  const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };
  test.concurrent.each<{ from: string; turn: readonly Action[]; text?: string }>([
    { from: "C09 c, a tool call", turn: [tool("t1"), toolUpdate("t1", { status: "completed" }), end()] },
    { from: "a tool call that failed", turn: [tool("t1"), toolUpdate("t1", { status: "failed" }), end()] },
    { from: "a tool call that was only announced", turn: [tool("t1"), end()] },
    { from: "an update of a tool call that was not", turn: [toolUpdate("t1", { status: "completed" }), end()] },
    {
      from: "a plan",
      turn: [update({ sessionUpdate: "plan", entries: [{ content: "a", priority: "low", status: "pending" }] }), end()],
    },
    {
      from: "a picture",
      turn: [update({ sessionUpdate: "agent_message_chunk", content: image }), end()],
    },
    { from: "one letter", turn: [chunk("k"), end()], text: "k" },
    { from: "a zero", turn: [chunk("0"), end()], text: "0" },
  ])("$from", async ({ turn, text = "" }) => {
    const { result, exitCode, prompts } = await ask(turns(turn));
    expect(result).toMatchObject({ outcome: "completed", text, attempts: 1 });
    expect({ exitCode, prompts }).toEqual({ exitCode: 0, prompts: 1 });
  });
});

test.concurrent("the second try may answer", async () => {
  const { outcome, events, prompts } = await drive(turns([end()], [chunk("now"), end()]));
  expect(outcome).toMatchObject({ kind: "completed", text: "now", attempts: 2 });
  expect(events.filter(({ type }) => type === "retry")).toEqual([
    {
      type: "retry",
      how: "again",
      by: "ostler",
      attempt: 2,
      of: 4,
      delayMs: 0,
      reason: "The agent ended its turn without an answer",
    },
  ]);
  expect(prompts).toBe(2);
});
