import { describe, expect, test } from "vitest";
import { readPermissionHints } from "../../../src/acp/air/permission-hints.ts";
import { readPermissionRequest } from "../../../src/acp/permissions.ts";
import { ToolCalls } from "../../../src/acp/tool-calls.ts";

const record = (permission: unknown, version = 1) => ({ jetbrains: { air: { version, permission } } });

describe("the record (seed document 002, Permission presentation)", () => {
  test.each<{ from: string; meta: unknown; hints: object }>([
    {
      from: "the document's own example",
      meta: record({ version: 1, title: "npm test", description: "Reason: Needed to verify the change." }),
      hints: { title: "npm test", description: "Reason: Needed to verify the change." },
    },
    {
      from: "recording claude-agent-acp 0.101.0 exit-plan-approve",
      meta: record({ version: 1, title: "Ready to code?" }),
      hints: { title: "Ready to code?" },
    },
    {
      from: "a default to no",
      meta: record({ version: 1, title: "rm -rf /", defaultToNo: true }),
      hints: { title: "rm -rf /", defaultToNo: true },
    },
    {
      from: "only true is true",
      meta: record({ version: 1, title: "x", defaultToNo: "true" }),
      hints: { title: "x" },
    },
    {
      from: "a newer version: only what makes it stricter",
      meta: record({ version: 2, title: "x", description: "y", defaultToNo: true }),
      hints: { defaultToNo: true },
    },
    { from: "no version", meta: record({ title: "x" }), hints: {} },
    { from: "a version of another type", meta: record({ version: "1", title: "x" }), hints: {} },
    { from: "a title that is empty", meta: record({ version: 1, title: " \n" }), hints: {} },
    { from: "texts of wrong types", meta: record({ version: 1, title: 3, description: ["y"] }), hints: {} },
    {
      from: "control characters go, the lines of a command stay",
      meta: record({ version: 1, title: "echo \u001b[31m'a\nb'\u0007", description: "R\u0000eason" }),
      hints: { title: "echo 'a\nb'", description: "Reason" },
    },
    {
      from: "fields of the future",
      meta: record({ version: 1, title: "x", defaultToYes: true, colour: "red" }),
      hints: { title: "x" },
    },
    { from: "another version of the namespace", meta: record({ version: 1, title: "x" }, 2), hints: {} },
    { from: "no record", meta: record(undefined), hints: {} },
    { from: "a record that is none", meta: record([]), hints: {} },
    { from: "no _meta", meta: undefined, hints: {} },
  ])("$from", ({ meta, hints }) => {
    expect(readPermissionHints(meta)).toEqual(hints);
  });
});

describe("the request with it", () => {
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "always", name: "Yes, and don't ask again for npm test commands", kind: "allow_always" },
    { optionId: "no", name: "No", kind: "reject_once" },
    { optionId: "never", name: "Never", kind: "reject_always" },
  ];
  const read = (permission: unknown) =>
    readPermissionRequest(
      "s1",
      { toolCall: { toolCallId: "t", title: "npm test" }, options, _meta: record(permission) },
      new ToolCalls(),
    );

  test("the options stay as they were offered", () => {
    expect(read({ version: 1, title: "Ready to code?" })).toMatchObject({ title: "Ready to code?", options });
    expect(read(undefined)).toMatchObject({ title: "npm test", options });
  });

  test("with a default to no the noes come first, each kind in its order, and every id is as it came", () => {
    const request = read({ version: 1, title: "npm test", defaultToNo: true });
    expect(request.options.map(({ optionId }) => optionId)).toEqual(["no", "never", "yes", "always"]);
    expect(request.defaultToNo).toBe(true);
  });
});
