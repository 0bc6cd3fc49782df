import { expect, test } from "vitest";
import type { Profile } from "../../src/errors/failure.ts";
import { play, start } from "../acp/drive.ts";
import type { Action } from "../fixtures/agents/scenario.ts";
import {
  air,
  chunk,
  end,
  processesIn,
  record,
  recordUpdate,
  reply,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
} from "../fixtures/agents/scenario.ts";
import { ask, askAsText, countOf } from "./ask-case.ts";

const NOTHING_GUESSED = { category: "", explanation: "", recommendedModel: "" };

test.concurrent.each<{ from: string; turn: readonly Action[]; text: string; profile?: Profile }>([
  { from: "C01 a, no update", turn: [end("refusal")], text: "" },
  { from: "C01 b, a thought", turn: [thought("Hm"), end("refusal")], text: "" },
  { from: "C01 c, partial text", turn: [chunk("I can"), end("refusal")], text: "I can" },
  { from: "claude, bare", turn: [end("refusal")], text: "", profile: "claude" },
  {
    from: "claude, partial text under a message id",
    turn: [chunk("I can", { messageId: "m1" }), end("refusal")],
    text: "I can",
    profile: "claude",
  },
  { from: "codex, bare", turn: [end("refusal")], text: "", profile: "codex" },
  { from: "kiro, bare", turn: [end("refusal")], text: "", profile: "kiro" },
  { from: "blank text", turn: [chunk(" \n"), end("refusal")], text: " \n" },
  {
    from: "a tool call that ran before",
    turn: [tool("t1"), toolUpdate("t1", { status: "completed" }), chunk("no"), end("refusal")],
    text: "no",
  },
  {
    from: "a plan before",
    turn: [
      update({ sessionUpdate: "plan", entries: [{ content: "a", priority: "low", status: "pending" }] }),
      end("refusal"),
    ],
    text: "",
  },
  { from: "usage beside it", turn: [reply({ stopReason: "refusal", usage: { inputTokens: 3 } })], text: "" },
  { from: "a foreign _meta beside it", turn: [end("refusal", { vendor: { why: "CYBER" } })], text: "" },
  { from: "a record that cannot be read beside it", turn: [end("refusal", air(record({ title: null })))], text: "" },
  {
    from: "a terminal record that recommends a retry (typed failures, row 33)",
    turn: [end("refusal", air(record({ actions: ["retry"] })))],
    text: "",
  },
  {
    from: "an earlier record that recommends a retry (typed failures, row 32)",
    turn: [recordUpdate(record({ actions: ["retry"] })), end("refusal")],
    text: "",
  },
])("$from is refused, sent once, exit 7", async ({ turn, text, profile = "generic" }) => {
  const { result, exitCode, prompts, processes } = await ask(turns(turn), { profile, argv: ["--retries", "5"] });
  expect(result).toMatchObject({ outcome: "refused", refusal: NOTHING_GUESSED, text, failure: null, attempts: 1 });
  expect({ exitCode, prompts, processes: processes.length }).toEqual({ exitCode: 7, prompts: 1, processes: 1 });
});

test.concurrent("the partial text stands above one card (C01 c)", async () => {
  const { exitCode, stdout, stderr } = await askAsText(turns([chunk("I can"), end("refusal")]));
  expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "I can\n" });
  expect(countOf("The model refused", stderr)).toBe(1);
  expect(stderr).not.toMatch(/undefined|null|retry|Category|Explanation|Recommended/i);
});

test.concurrent("the harness stays up and takes the next prompt", async () => {
  await using agent = await start(turns([chunk("I can"), end("refusal")], [chunk("fine"), end()]));
  const session = await agent.open();
  const first = await play(session, { retries: 5 });
  const next = await play(session, { retries: 5 });
  expect(first.outcome).toMatchObject({ kind: "refused", text: "I can", partial: true });
  expect(next.outcome).toMatchObject({ kind: "completed", text: "fine", partial: false });
  expect(processesIn(agent.log)).toEqual([agent.runtime.pid]);
  expect(agent.runtime.state).toBe("ready");
});

test.concurrent.each([
  { stopReason: "REFUSAL", why: "not the word of the protocol" },
  { stopReason: "content_filter", why: "a word of another interface" },
])("stop reason $stopReason is $why: failed, its word shown, never a success", async ({ stopReason }) => {
  const { result, exitCode, prompts } = await ask(turns([end(stopReason)]));
  expect(result).toMatchObject({ outcome: "failed", refusal: null, failure: { kind: "unknown", retry: "never" } });
  expect(result.failure?.title).toContain(stopReason.trim());
  expect({ exitCode, prompts }).toEqual({ exitCode: 1, prompts: 1 });
});
