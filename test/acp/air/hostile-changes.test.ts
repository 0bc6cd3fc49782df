/** Whatever an agent sends as a diff, a plan or a report: nothing throws, and nothing is taken for what it is not. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeReports } from "../../../src/acp/air/change-report.ts";
import { PlanDocuments, namePlanFile } from "../../../src/acp/air/plan-file.ts";
import { readDiffBlocks } from "../../../src/acp/diff-blocks.ts";

const KEYS = (
  "type path oldText newText _meta jetbrains air version diffPatch format text plan planFilePath planId content contentDelta " +
  "entries kind toolCallId rawInput agentFileChangeReport requestId status paths declaredComplete truncated uncertainty reason " +
  "__proto__ constructor toString"
).split(" ");
const WORDS = [
  "diff",
  "git_patch",
  "markdown",
  "items",
  "reported",
  "unavailable",
  "r1",
  "/w/a",
  "",
  "\0",
  "@@ -1 +1 @@\n",
];
const leaf = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string(),
  fc.integer(),
  fc.constant(1),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "medium" }, leaf, fc.array(tie("value"), { maxLength: 4 }), tie("object")),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 6 }),
}));
const frame = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 8 });

test("frames of any shape", () => {
  fc.assert(
    fc.property(frame, value, (update, content) => {
      const plans = new PlanDocuments();
      plans.readFile = namePlanFile;
      plans.ofCall("switch_mode", update);
      plans.ofPlan(update);
      const changes = new ChangeReports();
      changes.request("r1");
      changes.apply(update);
      expect(changes.end(() => {}).changes?.status).toMatch(/^(?:reported|unavailable)$/);
      readDiffBlocks(content);
      readDiffBlocks([content, update]);
    }),
    { numRuns: 2000 },
  );
});

/** Lines of patches in any order: mostly no patch, and sometimes one. */
const LINES = `diff --git a/w/a b/w/a
--- a/w/a
+++ b/w/a
--- /dev/null
+++ /dev/null
@@ -1 +1 @@
@@ -0,0 +1 @@
@@ -1,2 +1,2 @@
new file mode 100644
deleted file mode 100644
rename from w/a
rename to w/b
-x
+y
 z

\\ No newline at end of file
Binary files a/w/a and b/w/a differ
diff --git "a/w/\\
Index: x
===`.split("\n");
const line = fc.oneof(fc.constantFrom(...LINES), fc.string());

test("a patch of any lines is shown whole, or not at all", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = `${lines.join("\n")}\n`;
      const diffPatch = { version: 1, format: "git_patch", text };
      const block = {
        type: "diff",
        path: "/w/a",
        oldText: null,
        newText: "",
        _meta: { jetbrains: { air: { version: 1, diffPatch } } },
      };
      const [diff] = readDiffBlocks([block]).diffs;
      expect(diff?.change.form).not.toBe("texts");
      if (diff?.change.form !== "patch") return;
      const body = text.slice(text.search(/^@@ /m)).split("\n");
      expect(diff.change.addedLines).toBe(text.includes("@@ ") ? body.filter((one) => one.startsWith("+")).length : 0);
    }),
    { numRuns: 5000 },
  );
});
