import { expect, test } from "vitest";
import type { Frame } from "../../src/acp/frames.ts";
import { PermissionDesk, readPermissionRequest } from "../../src/acp/permissions.ts";
import type { PermissionPolicy } from "../../src/acp/ports.ts";
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
])("claimed: $from", ({ announced, inline, claimed }) => {
  expect(claimOf(announced, inline)).toEqual(claimed);
});

test("two questions under one id: what is granted to one is not granted to the other", async () => {
  const answers: unknown[] = [];
  const asked = Promise.withResolvers<void>();
  const policy: PermissionPolicy = async ({ toolCallId }) => {
    await asked.promise;
    return { action: "select", optionId: toolCallId === "safe" ? "yes" : "no", denied: toolCallId !== "safe" };
  };
  const tools = new ToolCalls();
  const desk = new PermissionDesk({
    connection: { respond: (_id, result) => answers.push(result) },
    tools,
    policy,
    permissionMs: 60_000,
    onAnswer: () => {},
  });
  const request = (toolCallId: string) =>
    readPermissionRequest("s", { toolCall: { toolCallId }, options: OPTIONS }, tools);
  const both = [desk.ask("same", request("safe")), desk.ask("same", request("dangerous"))];
  asked.resolve();
  await Promise.all(both);
  expect(answers).toEqual([selected("no"), selected("no")]);
});
