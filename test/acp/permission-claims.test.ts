import { expect, test } from "vitest";
import type { Frame } from "../../src/acp/frames.ts";
import { readPermissionRequest } from "../../src/acp/permissions.ts";
import { QuestionDesk } from "../../src/acp/question-desk.ts";
import { ToolCalls } from "../../src/acp/tool-calls.ts";

const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

/** What a request says of a call that the frames announced like this. */
function claimOf(announced: Frame, inline: Frame) {
  const tools = new ToolCalls();
  tools.apply({ sessionUpdate: "tool_call", toolCallId: "t", ...announced });
  return readPermissionRequest("s", { toolCall: { toolCallId: "t", ...inline }, options: OPTIONS }, tools).claimed;
}

test.each([
  { from: "kiro v2 names id and title alone", announced: { kind: "read" }, inline: { title: "x" } },
  {
    from: "recording claude-agent-acp 0.101.0 plain write-new, the same again",
    announced: { kind: "edit", locations: [{ path: "/w/new.txt" }], rawInput: { file_path: "/w/new.txt" } },
    inline: { kind: "edit", locations: [{ path: "/w/new.txt" }], rawInput: { file_path: "/w/new.txt" } },
  },
  { from: "wrong types", announced: { kind: "read" }, inline: { kind: 1, locations: "x" } },
])("nothing is claimed: $from", ({ announced, inline }) => {
  expect(claimOf(announced, inline)).toBeUndefined();
});

test("input that is too deep to be compared counts as claimed", () => {
  const [one, other] = [0, 1].map((): unknown => JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`));
  expect(claimOf({ kind: "read", rawInput: one }, { rawInput: other })?.rawInput).toBe(other);
});

test.each([
  {
    from: "another kind and input",
    announced: { kind: "search" },
    inline: { kind: "execute", rawInput: { command: "rm" } },
    claimed: { kind: "execute", rawInput: { command: "rm" } },
  },
  {
    from: "recording codex-acp 2.6.0 apply-patch-approval-reject, a path that the frame did not have",
    announced: { kind: "edit" },
    inline: { kind: "edit", locations: [{ path: "/w/notes.txt" }] },
    claimed: { paths: ["/w/notes.txt"] },
  },
  {
    from: "a diff of another file",
    announced: { kind: "edit", content: [{ type: "diff", path: "/w/a" }] },
    inline: {
      content: [
        { type: "diff", path: "/w/a" },
        { type: "diff", path: "/etc/passwd" },
      ],
    },
    claimed: { paths: ["/etc/passwd"] },
  },
  {
    from: "an MCP tool",
    announced: { kind: "other" },
    inline: { _meta: { kiro: { mcpServerName: "shell" } } },
    claimed: { mcpServer: "shell" },
  },
])("claimed: $from", ({ announced, inline, claimed }) => {
  expect(claimOf(announced, inline)).toEqual(claimed);
});

const patch = (text: string) => ({ jetbrains: { air: { version: 1, diffPatch: { version: 1, text } } } });

test.each<{ from: string; frames: readonly Frame[]; paths: readonly string[] }>([
  {
    from: "recording codex-acp 2.6.0 plain apply-patch",
    frames: [
      {
        kind: "edit",
        content: [
          { type: "diff", oldText: null, newText: "new file\n", path: "/w/fresh.txt", _meta: { kind: "add" } },
          { type: "diff", oldText: "beta", newText: "two", path: "/w/notes.txt", _meta: { kind: "update" } },
        ],
      },
    ],
    paths: ["/w/fresh.txt", "/w/notes.txt"],
  },
  {
    from: "recording codex-acp 2.6.0 air apply-patch-approval-reject, a git patch beside",
    frames: [
      {
        kind: "edit",
        content: [
          {
            type: "diff",
            path: "/w/notes.txt",
            _meta: patch(
              "diff --git a/w/notes.txt b/w/notes.txt\n--- a/w/notes.txt\n+++ b/w/notes.txt\n@@ -1 +1 @@\n--- a/x\n+b\n",
            ),
          },
        ],
      },
    ],
    paths: ["/w/notes.txt"],
  },
  {
    from: "a git patch that renames",
    frames: [
      {
        kind: "edit",
        content: [
          {
            type: "diff",
            path: "/w/a",
            _meta: patch("diff --git a/w/a b/etc/cron.d/x\nrename from w/a\nrename to etc/cron.d/x\n"),
          },
        ],
      },
    ],
    paths: ["/w/a", "/etc/cron.d/x"],
  },
  {
    from: "a part of a git patch: what else it names, nobody knows",
    frames: [
      {
        kind: "edit",
        content: [{ type: "diff", path: "/w/a", _meta: patch("rename from w/a\nrename to etc/cron.d/x\n") }],
      },
    ],
    paths: ["/w/a", expect.stringContaining("\0"), "/etc/cron.d/x"],
  },
  {
    from: "a move beside the diff",
    frames: [{ kind: "edit", content: [{ type: "diff", path: "/w/a", _meta: { move_path: "/etc/x" } }] }],
    paths: ["/w/a", "/etc/x"],
  },
  {
    from: "a diff that a later frame no longer holds",
    frames: [
      { kind: "edit", content: [{ type: "diff", path: "/etc/passwd" }] },
      { content: [{ type: "diff", path: "/w/a" }], locations: [{ path: "/w/a" }] },
    ],
    paths: ["/w/a", "/etc/passwd"],
  },
  {
    from: "a diff without a path",
    frames: [{ kind: "edit", content: [{ type: "diff" }], locations: [{ path: "/w/a" }] }],
    paths: ["/w/a", expect.stringContaining("\0")],
  },
  { from: "content that is no diff", frames: [{ kind: "read", content: [{ type: "x", path: "/y" }] }], paths: [] },
])("the paths of diffs are evidence: $from", ({ frames, paths }) => {
  const tools = new ToolCalls();
  const events = frames.flatMap((frame) => tools.apply({ toolCallId: "t", ...frame }));
  expect(readPermissionRequest("s", { toolCall: { toolCallId: "t" }, options: OPTIONS }, tools).paths).toEqual(paths);
  expect(events[0]).not.toHaveProperty("evidence");
});

test.each<{ from: string; frames: readonly Frame[]; kind: string | undefined }>([
  { from: "a tool_call without a kind", frames: [{ sessionUpdate: "tool_call" }], kind: "other" },
  { from: "an update alone", frames: [{ sessionUpdate: "tool_call_update", rawInput: {} }], kind: undefined },
  { from: "an update with a kind", frames: [{ sessionUpdate: "tool_call_update", kind: "edit" }], kind: "edit" },
  { from: "a kind that is no text", frames: [{ sessionUpdate: "tool_call", kind: 7 }], kind: undefined },
  {
    from: "a call and its update",
    frames: [{ sessionUpdate: "tool_call", kind: "read" }, { sessionUpdate: "tool_call_update" }],
    kind: "read",
  },
])("the kind is certain only as it was announced: $from", ({ frames, kind }) => {
  const tools = new ToolCalls();
  for (const frame of frames) tools.apply({ toolCallId: "t", ...frame });
  expect(readPermissionRequest("s", { toolCall: { toolCallId: "t" }, options: OPTIONS }, tools).kind).toBe(kind);
});

test("two questions under one id: what is granted to one is not granted to the other", async () => {
  const answers: unknown[] = [];
  const decided = Promise.withResolvers<void>();
  const tools = new ToolCalls();
  const desk = new QuestionDesk({
    connection: { respond: (_id, result) => answers.push(result) },
    permissionMs: 60_000,
    onAnswer: () => {},
  });
  const asked = (toolCallId: string) => ({
    type: "permission" as const,
    request: readPermissionRequest("s", { toolCall: { toolCallId }, options: OPTIONS }, tools),
  });
  const first = desk.ask("same", asked("safe"), async () => {
    await decided.promise;
    return { ...asked("safe"), answer: { action: "select", optionId: "yes", denied: false } };
  });
  desk.refuseTwin("same", asked("dangerous"));
  decided.resolve();
  await first;
  expect(answers).toEqual([selected("no")]);
});
