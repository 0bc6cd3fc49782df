/** What a permission question knows of the changes it is about. */
import { expect, test } from "vitest";
import type { Frame } from "../../src/acp/frames.ts";
import { readPermissionRequest } from "../../src/acp/permissions.ts";
import { ToolCalls } from "../../src/acp/tool-calls.ts";
import { call, end, tool, turns, waitForAnswer } from "../fixtures/agents/scenario.ts";
import { drive } from "./drive.ts";

const PATCH =
  "diff --git a/w/a.txt b/w/a.txt\n--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n";
const patched = (text: string, path = "/w/a.txt") => ({
  type: "diff",
  path,
  oldText: null,
  newText: "",
  _meta: { jetbrains: { air: { version: 1, diffPatch: { version: 1, format: "git_patch", text } } } },
});
const snippet = (newText: string, path = "/w/a.txt") => ({ type: "diff", path, oldText: "beta", newText });
const shownSnippet = (newText: string) => ({ path: "/w/a.txt", change: { form: "texts", oldText: "beta", newText } });
const shownPatch = {
  path: "/w/a.txt",
  change: { form: "patch", patch: PATCH, kind: "modified", addedLines: 1, removedLines: 1 },
};

function request(frames: readonly Frame[], inline: Frame) {
  const tools = new ToolCalls();
  for (const frame of frames) tools.apply({ toolCallId: "t", ...frame });
  return readPermissionRequest("s", { toolCall: { toolCallId: "t", ...inline }, options: [] }, tools);
}

test.each<{ from: string; frames: readonly Frame[]; inline?: Frame; diffs: unknown; otherwise?: unknown }>([
  {
    from: "recording codex-acp 2.6.0 air apply-patch-approval-reject: the patch is in the frame alone",
    frames: [{ kind: "edit", status: "in_progress", content: [patched(PATCH)] }],
    inline: { title: "Editing files", locations: [{ path: "/w/a.txt" }] },
    diffs: [shownPatch],
  },
  {
    from: "recording claude-agent-acp 0.101.0 edit-diff: a snippet in the frame, its exact preview in the question",
    frames: [{ kind: "edit", status: "pending", content: [snippet("BETA")] }],
    inline: { content: [patched(PATCH)] },
    diffs: [shownPatch],
  },
  {
    from: "recording claude-agent-acp 0.101.0 write-new: no diff before the question",
    frames: [{ kind: "edit", status: "pending", content: [] }],
    inline: { content: [patched(PATCH)] },
    diffs: [shownPatch],
  },
  {
    from: "claude-agent-acp 0.101.0, plain client: the question repeats the call",
    frames: [{ kind: "edit", content: [snippet("BETA")] }],
    inline: { content: [snippet("BETA")] },
    diffs: [shownSnippet("BETA")],
  },
  {
    from: "other texts in the question stand beside what the frames said",
    frames: [{ kind: "edit", content: [snippet("rm -rf /")] }],
    inline: { content: [snippet("harmless")] },
    diffs: [shownSnippet("rm -rf /")],
    otherwise: [shownSnippet("harmless")],
  },
  {
    from: "a later frame replaces what an earlier one said of the file",
    frames: [{ kind: "edit", content: [snippet("one")] }, { content: [snippet("two")] }],
    diffs: [shownSnippet("two")],
  },
  {
    from: "a patch of another file is no news of this one",
    frames: [{ kind: "edit", content: [snippet("BETA")] }],
    inline: { content: [patched(PATCH.replaceAll("a.txt", "b.txt"))] },
    diffs: [shownSnippet("BETA")],
    otherwise: [{ path: "/w/a.txt", change: { form: "unavailable", why: "The agent sent a patch of another file" } }],
  },
  {
    from: "a call that ended",
    frames: [{ kind: "edit", content: [snippet("x")] }, { status: "completed" }],
    diffs: undefined,
  },
  { from: "a call without diffs", frames: [{ kind: "execute" }], diffs: undefined },
])("$from", ({ frames, inline = {}, diffs, otherwise }) => {
  const asked = request(frames, inline);
  expect([asked.diffs, asked.claimed?.diffs]).toEqual([diffs, otherwise]);
});

test("of many whole files those of the newest calls are kept", () => {
  const tools = new ToolCalls();
  const newText = "x".repeat(1024 * 1024 - 100);
  for (let n = 0; n < 10; n += 1)
    tools.apply({ toolCallId: `t${n}`, content: [{ type: "diff", path: "/w/a", newText }] });
  const kept = Array.from({ length: 10 }, (_, n) => tools.diffs.of(`t${n}`).length);
  expect(kept).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
});

test.each<{ from: string; frames: readonly Frame[]; inline: Frame; told: readonly unknown[] }>([
  {
    from: "recording claude-agent-acp 0.101.0 edit-diff: the exact patch of a snippet, which no frame repeats",
    frames: [{ kind: "edit", status: "pending", content: [snippet("BETA")] }],
    inline: { content: [patched(PATCH)] },
    told: [{ type: "diff", toolCallId: "t", ...shownPatch }],
  },
  {
    from: "recording codex-acp 2.6.0 air apply-patch-approval-reject: the frame told it",
    frames: [{ kind: "edit", status: "in_progress", content: [patched(PATCH)] }],
    inline: {},
    told: [],
  },
  {
    from: "other texts than those of the frames",
    frames: [{ kind: "edit", status: "pending", content: [snippet("BETA")] }],
    inline: { content: [snippet("harmless")] },
    told: [],
  },
  {
    from: "a call that ended meanwhile",
    frames: [{ kind: "edit", status: "pending" }, { status: "completed" }],
    inline: { content: [patched(PATCH)] },
    told: [],
  },
])(
  "what an allowed question says of a file is told as a change of its call, once: $from",
  ({ frames, inline, told }) => {
    const tools = new ToolCalls();
    for (const frame of frames) tools.apply({ toolCallId: "t", ...frame });
    const asked = readPermissionRequest("s", { toolCall: { toolCallId: "t", ...inline }, options: [] }, tools);
    expect([tools.allowed(asked), tools.allowed(asked)]).toEqual([told, []]);
  },
);

test("what an allowed question showed is part of the call, whose frames leave it out (recording claude-agent-acp 0.101.0 write-new)", () => {
  const tools = new ToolCalls();
  tools.apply({ toolCallId: "t", sessionUpdate: "tool_call", kind: "edit", status: "pending", content: [] });
  const toolCall = { toolCallId: "t", content: [patched(PATCH)] };
  tools.allowed(readPermissionRequest("s", { toolCall, options: [] }, tools));
  const content = [{ type: "diff", path: "/w/a.txt" }];
  expect(tools.apply({ toolCallId: "t", status: "completed" })).toMatchObject([{ status: "completed", content }]);
  const error = [{ type: "content", content: { type: "text", text: "No space left" } }];
  const failed = tools.apply({ toolCallId: "t", status: "failed", content: error });
  expect(failed).toMatchObject([{ content: [{ type: "text", text: "No space left" }] }]);
});

test.each<{ from: string; optionId: string; types: readonly string[] }>([
  { from: "allowed", optionId: "a", types: ["tool", "permission", "diff"] },
  { from: "denied", optionId: "r", types: ["tool", "permission"] },
])("in a turn: $from", async ({ optionId, types }) => {
  const toolCall = { toolCallId: "t", content: [patched(PATCH)] };
  const options = [
    { optionId: "a", name: "Yes", kind: "allow_once" },
    { optionId: "r", name: "No", kind: "reject_once" },
  ];
  const asks = call("session/request_permission", { sessionId: "$S", toolCall, options }, "p1");
  const turn = [tool("t", { kind: "edit" }), asks, waitForAnswer("p1"), end()];
  const { events } = await drive(turns(turn), {
    permissions: async () => ({ action: "select", optionId, denied: optionId === "r" }),
  });
  expect(events.map(({ type }) => type).slice(1)).toEqual(types);
});

const notice = (text: string) => ({ type: "content", content: { type: "text", text } });

test.each<{ from: string; frames: readonly Frame[]; inline: Frame; texts: readonly string[] | undefined }>([
  {
    from: "a notice in the question alone",
    frames: [{ kind: "edit", content: [] }],
    inline: { content: [notice("This overwrites an existing file.")] },
    texts: ["This overwrites an existing file."],
  },
  {
    from: "a text of the call, which the question repeats",
    frames: [{ kind: "execute", content: [notice("Run the tests")] }],
    inline: { content: [notice("Run the tests"), notice("in the workspace")] },
    texts: ["Run the tests", "in the workspace"],
  },
  { from: "diffs are no texts", frames: [{ kind: "edit" }], inline: { content: [patched(PATCH)] }, texts: undefined },
  { from: "no list", frames: [{ kind: "edit" }], inline: { content: "x" }, texts: undefined },
])("texts that stand with a call: $from", ({ frames, inline, texts }) => {
  expect(request(frames, inline).texts).toEqual(texts);
});
