/** Diff blocks of tool calls: Git patches, the placeholders beside them, and standard diffs. */
import { expect, test } from "vitest";
import { readDiffBlocks } from "../../../src/acp/diff-blocks.ts";
import type { FileChange } from "../../../src/acp/events.ts";
import { cpuMs } from "../../cpu-time.ts";

const UNREADABLE = { form: "unavailable", why: "The agent sent a patch that cannot be read" };
const OTHER_FILE = { form: "unavailable", why: "The agent sent a patch of another file" };

const payload = (text: unknown) => ({ version: 1, format: "git_patch", text });
const block = (path: string, diffPatch: unknown, air: object = { version: 1 }) => ({
  type: "diff",
  path,
  oldText: null,
  newText: "",
  _meta: { jetbrains: { air: { ...air, diffPatch } } },
});
const lines = (...all: readonly string[]) => `${all.join("\n")}\n`;
const hunk = ["@@ -1,3 +1,3 @@", " alpha", "-beta", "+BETA", " gamma"];
const EDIT = lines("diff --git a/w/a.txt b/w/a.txt", "--- a/w/a.txt", "+++ b/w/a.txt", ...hunk);

interface Shown {
  readonly kind: "added" | "modified" | "deleted" | "renamed";
  readonly added: number;
  readonly removed: number;
  readonly fromPath?: string;
}

test.each<{ from: string; path: string; text: string; shown: Shown }>([
  {
    from: "recording claude-agent-acp 0.101.0 edit-diff",
    path: "/workspace/app.txt",
    text: "diff --git a/workspace/app.txt b/workspace/app.txt\n--- a/workspace/app.txt\n+++ b/workspace/app.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n",
    shown: { kind: "modified", added: 1, removed: 1 },
  },
  {
    from: "recording claude-agent-acp 0.101.0 write-new",
    path: "/workspace/new.txt",
    text: "diff --git a/workspace/new.txt b/workspace/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/workspace/new.txt\n@@ -0,0 +1,2 @@\n+line one\n+line two\n",
    shown: { kind: "added", added: 2, removed: 0 },
  },
  {
    from: "recording codex-acp 2.6.0 apply-patch, one new line",
    path: "/workspace/fresh.txt",
    text: "diff --git a/workspace/fresh.txt b/workspace/fresh.txt\nnew file mode 100644\n--- /dev/null\n+++ b/workspace/fresh.txt\n@@ -0,0 +1 @@\n+new file\n",
    shown: { kind: "added", added: 1, removed: 0 },
  },
  {
    from: "git: a deleted file",
    path: "/w/gone.txt",
    text: lines(
      "diff --git a/w/gone.txt b/w/gone.txt",
      "deleted file mode 100644",
      "index 286c5f5..0000000",
      "--- a/w/gone.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-gone",
    ),
    shown: { kind: "deleted", added: 0, removed: 1 },
  },
  {
    from: "git: a renamed file with a change, its new name with a space and so a tab",
    path: "/w/new name.txt",
    text: lines(
      "diff --git a/w/old.txt b/w/new name.txt",
      "similarity index 75%",
      "rename from w/old.txt",
      "rename to w/new name.txt",
      "index f0f2307..0ddd0f3 100644",
      "--- a/w/old.txt",
      "+++ b/w/new name.txt\t",
      "@@ -1,3 +1,4 @@",
      " l1",
      " l2",
      " l3",
      "+l4",
    ),
    shown: { kind: "renamed", added: 1, removed: 0, fromPath: "/w/old.txt" },
  },
  {
    from: "git: a renamed file without a change",
    path: "/w/b.txt",
    text: lines("diff --git a/w/a.txt b/w/b.txt", "similarity index 100%", "rename from w/a.txt", "rename to w/b.txt"),
    shown: { kind: "renamed", added: 0, removed: 0, fromPath: "/w/a.txt" },
  },
  {
    from: "git: a quote and a backslash in a path",
    path: '/w/q"b\\c.txt',
    text: lines(
      'diff --git "a/w/q\\"b\\\\c.txt" "b/w/q\\"b\\\\c.txt"',
      '--- "a/w/q\\"b\\\\c.txt"',
      '+++ "b/w/q\\"b\\\\c.txt"',
      "@@ -1 +1 @@",
      "-x",
      "+y",
    ),
    shown: { kind: "modified", added: 1, removed: 1 },
  },
  {
    from: "git: a path beyond ASCII is quoted byte by byte; no newline at the end of either",
    path: "/w/ü.txt",
    text: lines(
      'diff --git "a/w/\\303\\274.txt" "b/w/\\303\\274.txt"',
      '--- "a/w/\\303\\274.txt"',
      '+++ "b/w/\\303\\274.txt"',
      "@@ -1 +1 @@",
      "-x",
      "\\ No newline at end of file",
      "+y",
      "\\ No newline at end of file",
    ),
    shown: { kind: "modified", added: 1, removed: 1 },
  },
  {
    from: "codex-acp 2.6.0: a path beyond ASCII as it is",
    path: "/w/ü.txt",
    text: lines("diff --git a/w/ü.txt b/w/ü.txt", "--- a/w/ü.txt", "+++ b/w/ü.txt", "@@ -1 +1 @@", "-x", "+y"),
    shown: { kind: "modified", added: 1, removed: 1 },
  },
  {
    from: "a Windows path",
    path: "C:\\w\\a b.txt",
    text: lines("diff --git a/C:/w/a b.txt b/C:/w/a b.txt", "--- a/C:/w/a b.txt\t", "+++ b/C:/w/a b.txt\t", ...hunk),
    shown: { kind: "modified", added: 1, removed: 1 },
  },
  {
    from: "lines that look like headers, and a blank context line",
    path: "/w/a.sql",
    text: lines(
      "diff --git a/w/a.sql b/w/a.sql",
      "--- a/w/a.sql",
      "+++ b/w/a.sql",
      "@@ -1,4 +1,4 @@",
      "--- a/w/b.sql",
      "+++ b/w/b.sql",
      "",
      "-old",
      "+new",
      " end",
    ),
    shown: { kind: "modified", added: 2, removed: 2 },
  },
  {
    from: "several hunks",
    path: "/w/a.txt",
    text: lines(EDIT.trimEnd(), "@@ -10 +10,2 @@ function f()", " x", "+y"),
    shown: { kind: "modified", added: 2, removed: 1 },
  },
])("a patch is shown with its own counts: $from", ({ path, text, shown }) => {
  const { kind, added, removed, fromPath } = shown;
  const change = { form: "patch", patch: text, kind, addedLines: added, removedLines: removed };
  expect(readDiffBlocks([block(path, payload(text))]).diffs).toEqual([
    { path, change: fromPath === undefined ? change : { ...change, fromPath } },
  ]);
});

test.each<{ from: string; diffPatch: unknown; air?: object; path?: string; change: object }>([
  { from: "version 2 of the payload", diffPatch: { ...payload(EDIT), version: 2 }, change: UNREADABLE },
  { from: "no version", diffPatch: { format: "git_patch", text: EDIT }, change: UNREADABLE },
  { from: "a version that is a text", diffPatch: { ...payload(EDIT), version: "1" }, change: UNREADABLE },
  { from: "another format", diffPatch: { ...payload(EDIT), format: "unified" }, change: UNREADABLE },
  { from: "a newer namespace", diffPatch: payload(EDIT), air: { version: 2 }, change: UNREADABLE },
  { from: "no text", diffPatch: payload(undefined), change: UNREADABLE },
  { from: "a text of the wrong type", diffPatch: payload(["x"]), change: UNREADABLE },
  { from: "a payload of the wrong type", diffPatch: EDIT, change: UNREADABLE },
  { from: "an empty text", diffPatch: payload(""), change: UNREADABLE },
  { from: "no hunk", diffPatch: payload(lines(...EDIT.split("\n").slice(0, 3))), change: UNREADABLE },
  { from: "no headers", diffPatch: payload(lines(...hunk)), change: UNREADABLE },
  { from: "no diff --git line", diffPatch: payload(EDIT.slice(EDIT.indexOf("---"))), change: UNREADABLE },
  {
    from: "a mode alone",
    diffPatch: payload("diff --git a/w/a.txt b/w/a.txt\nold mode 100644\nnew mode 100755\n"),
    change: UNREADABLE,
  },
  { from: "a hunk that was cut", diffPatch: payload(EDIT.slice(0, -9)), change: UNREADABLE },
  { from: "a hunk with more than it says", diffPatch: payload(`${EDIT}+more\n`), change: UNREADABLE },
  { from: "words after the hunk", diffPatch: payload(`${EDIT}and so on\n`), change: UNREADABLE },
  { from: "two files", diffPatch: payload(EDIT + EDIT), change: UNREADABLE },
  { from: "a hunk without numbers", diffPatch: payload(EDIT.replace("-1,3 +1,3", "x")), change: UNREADABLE },
  { from: "headers without a/ and b/", diffPatch: payload(EDIT.replaceAll(/[ab]\/w/g, "w")), change: UNREADABLE },
  {
    from: "two names and no rename",
    diffPatch: payload(EDIT.replace("--- a/w/a.txt", "--- a/w/b.txt")),
    change: UNREADABLE,
  },
  {
    from: "more than 4 MiB",
    diffPatch: payload(EDIT.replace("+BETA", `+${"x".repeat(4 * 1024 * 1024)}`)),
    change: UNREADABLE,
  },
  { from: "another file", diffPatch: payload(EDIT), path: "/w/b.txt", change: OTHER_FILE },
  { from: "the same name elsewhere", diffPatch: payload(EDIT), path: "/v/w/a.txt", change: OTHER_FILE },
])(
  "what a patch does not say is unavailable, and never an empty file: $from",
  ({ diffPatch, air, path = "/w/a.txt", change }) => {
    expect(readDiffBlocks([block(path, diffPatch, air)]).diffs).toEqual([{ path, change }]);
  },
);

test("unknown fields, and a version left out of the namespace, do not make a patch invalid", () => {
  const { diffs } = readDiffBlocks([block("/w/a.txt", { ...payload(EDIT), later: true }, { also: 1 })]);
  expect(diffs).toMatchObject([{ path: "/w/a.txt", change: { form: "patch", addedLines: 1, removedLines: 1 } }]);
});

const texts = (oldText: string | null, newText: string): FileChange => ({ form: "texts", oldText, newText });

test.each<{ from: string; content: unknown; diffs: readonly { path: string; change: object }[] }>([
  {
    from: "recording codex-acp 2.6.0 plain apply-patch",
    content: [
      { type: "diff", oldText: null, newText: "new file\n", path: "/w/fresh.txt", _meta: { kind: "add" } },
      { type: "diff", oldText: "beta\n", newText: "two\n", path: "/w/notes.txt", _meta: { kind: "update" } },
    ],
    diffs: [
      { path: "/w/fresh.txt", change: texts(null, "new file\n") },
      { path: "/w/notes.txt", change: texts("beta\n", "two\n") },
    ],
  },
  {
    from: "codex-acp 2.6.0, plain client: a block for each hunk of one file",
    content: [
      { type: "diff", oldText: "a\n", newText: "A\n", path: "/w/a" },
      { type: "diff", oldText: "z\n", newText: "Z\n", path: "/w/a" },
    ],
    diffs: [{ path: "/w/a", change: texts("a\nz\n", "A\nZ\n") }],
  },
  {
    from: "no new text",
    content: [{ type: "diff", path: "/w/a" }],
    diffs: [{ path: "/w/a", change: { form: "unavailable", why: "The agent did not say what changes in the file" } }],
  },
  {
    from: "an empty patch is none",
    content: [block("/w/a", null)],
    diffs: [{ path: "/w/a", change: texts(null, "") }],
  },
  {
    from: "a patch by inheritance",
    content: [{ type: "diff", path: "/w/a", newText: "x", _meta: { jetbrains: { air: "__proto__" } } }],
    diffs: [{ path: "/w/a", change: texts(null, "x") }],
  },
  { from: "no path", content: [{ type: "diff", newText: "x" }], diffs: [] },
  { from: "other content", content: [{ type: "content" }, null, 7, "diff", ["diff"]], diffs: [] },
  { from: "no list", content: { type: "diff", path: "/w/a" }, diffs: [] },
])("a standard diff keeps its texts: $from", ({ content, diffs }) => {
  expect(readDiffBlocks(content).diffs).toEqual(diffs);
});

test.each<{ from: string; path?: string; text: unknown; paths: readonly unknown[] }>([
  { from: "a patch of its own file", text: EDIT, paths: ["/w/a.txt"] },
  {
    from: "a quoted name of another file",
    text: EDIT.replaceAll("a/w/a.txt", '"a/etc/\\160asswd"').replaceAll("b/w/a.txt", '"b/etc/\\160asswd"'),
    paths: ["/w/a.txt", "/etc/passwd"],
  },
  {
    from: "a rename out of the workspace",
    text: lines("diff --git a/w/a.txt b/etc/x", "rename from w/a.txt", "rename to etc/x"),
    paths: ["/w/a.txt", "/etc/x"],
  },
  { from: "a patch that cannot be read", text: "+++ nothing", paths: ["/w/a.txt", expect.stringContaining("\0")] },
  {
    from: "a patch that cannot be read and names a file all the same",
    text: lines("--- a/etc/x", "+++ b/etc/x"),
    paths: ["/w/a.txt", expect.stringContaining("\0"), "/etc/x"],
  },
  { from: "no text", text: 7, paths: ["/w/a.txt", expect.stringContaining("\0")] },
])("every path of a patch is evidence: $from", ({ text, paths }) => {
  expect([...readDiffBlocks([block("/w/a.txt", payload(text))]).paths]).toEqual(paths);
});

test("of a hundred thousand files in one list those are read that a policy would look at, and one more", () => {
  const content = Array.from({ length: 100_000 }, (_, n) => ({ type: "diff", path: `/w/${n}`, newText: "" }));
  const { diffs, paths } = readDiffBlocks(content);
  expect([diffs.length, paths.size]).toEqual([1001, 1001]);
});

test("a file that is named after a thousand others is evidence, if those are one and the same", () => {
  const content = Array.from({ length: 5000 }, (_, n) => ({ type: "diff", path: n < 4999 ? "/w/a" : "/etc/passwd" }));
  expect([...readDiffBlocks(content).paths]).toEqual(["/w/a", "/etc/passwd"]);
});

test("four MiB of a patch cost linear time", () => {
  const text = lines("diff --git a/w/a.txt b/w/a.txt", "--- a/w/a.txt", "+++ b/w/a.txt", "@@ -0,0 +1,900000 @@").concat(
    "+x\n".repeat(900_000),
  );
  const startedAt = cpuMs();
  expect(readDiffBlocks([block("/w/a.txt", payload(text))]).diffs).toMatchObject([{ change: { addedLines: 900_000 } }]);
  expect(cpuMs() - startedAt).toBeLessThan(5000);
});
