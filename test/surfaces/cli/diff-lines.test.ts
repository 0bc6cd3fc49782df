/** Changes of files as lines of text, in a permission question. */
import { expect, test } from "vitest";
import type { FileChange, FileDiff } from "../../../src/acp/events.ts";
import type { PermissionRequest } from "../../../src/acp/types.ts";
import { renderQuestion } from "../../../src/surfaces/cli/ask-person.ts";
import { renderDiffs } from "../../../src/surfaces/cli/diff-lines.ts";

const PATCH =
  "diff --git a/w/a.txt b/w/a.txt\n--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n";
const patch: FileChange = { form: "patch", patch: PATCH, kind: "modified", addedLines: 1, removedLines: 1 };
const texts = (oldText: string | null, newText: string): FileChange => ({ form: "texts", oldText, newText });
const of = (change: FileChange, path = "/w/a.txt"): FileDiff => ({ path, change });

test.each<{ from: string; diffs: readonly FileDiff[]; lines: readonly string[] }>([
  {
    from: "a patch without its headers",
    diffs: [of(patch)],
    lines: ["± /w/a.txt (+1 -1)", "  @@ -1,3 +1,3 @@", "   alpha", "  -beta", "  +BETA", "   gamma"],
  },
  {
    from: "a renamed file without a change",
    diffs: [
      of({
        form: "patch",
        patch: "diff --git a/w/b b/w/a.txt\n",
        kind: "renamed",
        fromPath: "/w/b",
        addedLines: 0,
        removedLines: 0,
      }),
    ],
    lines: ["± /w/a.txt (renamed from /w/b, +0 -0)"],
  },
  {
    from: "a change that is unavailable shows no text",
    diffs: [of({ form: "unavailable", why: "The agent sent a patch that cannot be read" })],
    lines: ["± /w/a.txt (change unavailable: The agent sent a patch that cannot be read)"],
  },
  { from: "a snippet", diffs: [of(texts("beta", "BETA"))], lines: ["± /w/a.txt", "  -beta", "  +BETA"] },
  { from: "a new text", diffs: [of(texts(null, "one\ntwo\n"))], lines: ["± /w/a.txt", "  +one", "  +two"] },
  {
    from: "a whole file: what changes, and three lines around it",
    diffs: [of(texts("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"))],
    lines: ["± /w/a.txt", "   2", "   3", "   4", "  -5", "  +five", "   6", "   7", "   8"],
  },
  {
    from: "lines that repeat",
    diffs: [of(texts("a\na\n", "a\na\na\n"))],
    lines: ["± /w/a.txt", "   a", "   a", "  +a"],
  },
  { from: "the same text", diffs: [of(texts("a\n", "a\n"))], lines: ["± /w/a.txt", "   a"] },
  {
    from: "control characters and a carriage return leave their line",
    diffs: [of(texts(null, "a\u001b[2Jb\rc\n"), "/w/\u001b[31mx")],
    lines: ["± /w/x", "  +ab c"],
  },
  {
    from: "a long line is cut",
    diffs: [of(texts(null, "x".repeat(500)))],
    lines: ["± /w/a.txt", `  +${"x".repeat(199)}…`],
  },
])("$from", ({ diffs, lines }) => {
  expect(renderDiffs(diffs, 60)).toEqual(lines);
});

test("of many lines the first are shown, and the rest is counted", () => {
  const lines = renderDiffs([of(texts(null, "x\n".repeat(1000))), of(patch, "/w/b.txt")], 10);
  expect([lines.length, lines.at(-1)]).toEqual([11, "… and 997 more lines"]);
});

test("a permission question shows the patch, and what the question itself says otherwise", () => {
  const request: PermissionRequest = {
    sessionId: "s",
    toolCallId: "t",
    title: "Make edits?",
    kind: "edit",
    paths: ["/w/a.txt"],
    texts: ["This overwrites\nanother file."],
    diffs: [of(patch)],
    claimed: { diffs: [of(texts("beta", "harmless"))] },
    options: [{ optionId: "yes", name: "Yes, proceed", kind: "allow_once" }],
    isQuestion: false,
  };
  expect(renderQuestion(request, { reason: "", byKey: true }).split("\n").slice(0, 15)).toEqual([
    "The agent asks: Make edits?",
    "  What it would do: edit",
    "  /w/a.txt",
    "  This overwrites another file.",
    "  ± /w/a.txt (+1 -1)",
    "    @@ -1,3 +1,3 @@",
    "     alpha",
    "    -beta",
    "    +BETA",
    "     gamma",
    "  The question says otherwise:",
    "  ± /w/a.txt",
    "    -beta",
    "    +harmless",
    "  1) Yes, proceed",
  ]);
});
