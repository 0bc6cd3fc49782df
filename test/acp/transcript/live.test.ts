/** The transcript of a live session, and the one that its wire gives back. */
import { expect, test } from "vitest";
import type { WireEntry } from "../../../src/acp/ports.ts";
import { emptyTranscript } from "../../../src/acp/transcript/placement.ts";
import { reduceTranscript } from "../../../src/acp/transcript/reduce.ts";
import { replayWire } from "../../../src/acp/transcript/replay-wire.ts";
import type { Transcript } from "../../../src/acp/transcript/transcript.ts";
import type { Action, Scenario } from "../../fixtures/agents/scenario.ts";
import {
  air,
  chunk,
  end,
  err,
  permission,
  record,
  recordUpdate,
  send,
  thought,
  tool,
  toolUpdate,
  turns,
  update,
  waitForAnswer,
} from "../../fixtures/agents/scenario.ts";
import { habits, start } from "../drive.ts";
import { linesOf } from "./describe.ts";

/** Prompts as often as the scenario has turns, and returns what was seen live and what the wire says of it. */
async function both(scenario: Scenario, prompts: number): Promise<[Transcript, Transcript]> {
  const wire: WireEntry[] = [];
  let live = emptyTranscript();
  const backend = habits("claude");
  await using agent = await start(scenario, {
    backend,
    tap: (entry) => wire.push(structuredClone(entry)),
    permissions: ({ options }) =>
      Promise.resolve({ action: "select", optionId: options[0]?.optionId ?? "", denied: false }),
  });
  const session = await agent.open();
  session.subscribe((event) => (live = reduceTranscript(live, event)));
  for (let turn = 0; turn < prompts; turn += 1) await session.prompt(`Prompt ${turn}`, { retries: 0 }).outcome;
  await session.close();
  const [again] = replayWire(wire, backend).values();
  if (again === undefined) throw new Error("The wire names no session");
  return [live, again];
}

const named = (text: string, messageId: string): Action => chunk(text, { messageId });
const subagent = "child-1";

test.each<{ from: string; turns: Action[][]; lines: string[] }>([
  {
    from: "words, thoughts and a command that was allowed",
    turns: [
      [
        thought("Hm"),
        named("I run ", "m1"),
        named("it.", "m1"),
        tool("t1", { title: "ls", kind: "execute", rawInput: { command: "ls" } }),
        permission("t1", { title: "ls" }),
        waitForAnswer("p1"),
        toolUpdate("t1", { _meta: { terminal_output_delta: { terminal_id: "t1", data: "a\n" } } }),
        toolUpdate("t1", { status: "completed", _meta: { terminal_exit: { exit_code: 0 } } }),
        named("Done.", "m2"),
        end(),
      ],
    ],
    lines: [
      "user: Prompt 0",
      "thought: Hm",
      "message: I run it.",
      "tool execute ls completed, exit 0",
      '  in: {"command":"ls"}',
      "  prints: a⏎",
      "permission ls: a",
      "message: Done.",
      "end: completed",
    ],
  },
  {
    from: "a retry that says it again, and a failure",
    turns: [
      [
        named("Half", "m1"),
        recordUpdate(record({ id: "x:error", severity: "warning", title: "Retrying, attempt 1 of 2." })),
        named("Half an", "m2"),
        end("end_turn", air(record({ id: "x:error", revision: 2, title: "It is down." }))),
      ],
      [named("Fine.", "m3"), end()],
    ],
    lines: [
      "user: Prompt 0",
      "superseded message: Half",
      "error service_error r2: It is down.",
      "message: Half an",
      "end: failed, failed",
      "user: Prompt 1",
      "message: Fine.",
      "end: completed",
    ],
  },
  {
    from: "an error of the protocol",
    turns: [[named("So", "m1"), err(-32000, "Authentication required")]],
    lines: ["user: Prompt 0", "message: So", "error auth r1: Authentication required", "end: failed, failed"],
  },
  {
    from: "a subagent with a session, a plan, a mode and late news",
    turns: [
      [
        update({ sessionUpdate: "subagent_spawned", subagentSessionId: subagent, name: "Small check" }),
        chunk("Looking", { messageId: "c1" }, subagent),
        update({ sessionUpdate: "subagent_state_update", subagentSessionId: subagent, state: "completed" }),
        update({ sessionUpdate: "plan", entries: [{ content: "One", status: "in_progress" }] }),
        update({ sessionUpdate: "plan", entries: [{ content: "One", status: "completed" }] }),
        update({ sessionUpdate: "current_mode_update", currentModeId: "plan" }),
        tool("t1", { title: "sleep" }),
        named("Started.", "msg_00000001"),
        end(),
        toolUpdate("t1", { status: "completed" }),
        named("Late words", "msg_00000001"),
        send({ jsonrpc: "2.0", method: "_unknown/news", params: {} }),
      ],
    ],
    lines: [
      "user: Prompt 0",
      "subagent Small check completed",
      "  message: Looking",
      "plan: completed One",
      "tool execute sleep completed late",
      "message: Started.",
      "end: completed",
      "message: Late words late",
    ],
  },
])("$from", async ({ turns: lists, lines }) => {
  const [live, again] = await both(turns(...lists), lists.length);
  expect(linesOf(live)).toEqual(lines);
  expect(linesOf(again)).toEqual(lines);
  expect({ ...again.state, tokens: null }).toEqual({ ...live.state, tokens: null });
});
