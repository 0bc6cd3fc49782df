/** What changes: patches, plan files and file-change reports of the real adapters. Pure data. */
import { join } from "node:path";
import { writePlan, type AnthropicStep } from "../model-service/anthropic.ts";
import { applyPatch, type OpenAiStep } from "../model-service/openai.ts";
import { text, toolCall } from "../model-service/steps.ts";
import { completed, type Scenario } from "./scenario.ts";

/** In the diff event: the patch of `notes.txt`, in which beta became BETA, with its counts. */
const EDITED =
  /"type":"diff",.*notes\.txt","change":\{"form":"patch","patch":"diff --git .*@@ -1,2 \+1,2 @@\\n alpha\\n-beta\\n\+BETA\\n","kind":"modified","addedLines":1,"removedLines":1\}/;
const ADDED = /"type":"diff",.*made\.txt","change":\{"form":"patch",.*"kind":"added","addedLines":1,"removedLines":0\}/;
/** What stands in a block beside its patch, taken for a file. */
const PLACEHOLDER = /"oldText":null,"newText":""/;
const REPORT = /"type":"changes","report":\{"status":"reported","paths":\["[^"]*notes\.txt"\],"declaredComplete":false/;

export const CLAUDE_CHANGES: readonly Scenario<AnthropicStep>[] = [
  {
    name: "an edit has its patch, and the report its file",
    service: ({ workspace }) => [
      toolCall("Read", { file_path: join(workspace, "notes.txt") }),
      toolCall("Edit", { file_path: join(workspace, "notes.txt"), old_string: "beta", new_string: "BETA" }),
      text("Edited."),
    ],
    ask: ["--approve", "all", "--changes"],
    expect: completed("Edited.", { prompts: 3, says: [EDITED, REPORT], never: [PLACEHOLDER] }),
  },
  {
    name: "an edit in words: counts, and the list at the end",
    service: ({ workspace }) => [
      toolCall("Write", { file_path: join(workspace, "made.txt"), content: "line one\n" }),
      text("Written."),
    ],
    ask: ["--approve", "all", "--changes"],
    format: "text",
    expect: completed("", {
      stdout: "Written.\n",
      prompts: 2,
      files: ["made.txt"],
      says: [/± \S*made\.txt \(new, \+1\)/, /Files that the agent changed:\n {2}\S*made\.txt\n/],
    }),
  },
  {
    name: "a plan is read from the file that claude writes it to, and closed when it is approved",
    service: [writePlan("# The plan\n"), toolCall("ExitPlanMode", {}), text("Done.")],
    ask: ["--approve", "all", "--mode", "plan"],
    expect: completed("Done.", {
      prompts: 3,
      says: [
        /"type":"plan","toolCallId":"[^":]+","document":\{"text":"# The plan\\n","path":"[^"]+\/plans\/[^"]+\.md"\}/,
        /"type":"plan","toolCallId":"[^":]+","document":null/,
      ],
    }),
  },
  {
    name: "a plan in words: the file and its text",
    service: [writePlan("# The plan\n"), toolCall("ExitPlanMode", {}), text("Done.")],
    ask: ["--approve", "all", "--mode", "plan"],
    format: "text",
    expect: completed("", {
      stdout: "Done.\n",
      prompts: 3,
      says: [/The plan \(\S+\/plans\/\S+\.md\):\n {2}# The plan\n/],
    }),
  },
];

export const CODEX_CHANGES: readonly Scenario<OpenAiStep>[] = [
  {
    name: "a patch has its counts, and the report its files and its doubts",
    service: [
      applyPatch("*** Update File: notes.txt", "@@", " alpha", "-beta", "+BETA", "*** Add File: made.txt", "+line one"),
      text("Edited."),
    ],
    ask: ["--approve", "all", "--changes"],
    expect: completed("Edited.", {
      prompts: 2,
      files: ["made.txt"],
      mountPointsMayStay: true,
      says: [
        EDITED,
        ADDED,
        /"type":"changes","report":\{"status":"reported","paths":\[[^\]]*made\.txt[^\]]*\].*"uncertainty":"/,
      ],
      never: [PLACEHOLDER],
    }),
  },
  {
    name: "a turn that changes nothing has an empty list, which says what it may lack",
    service: [text("Nothing to do.")],
    ask: ["--changes"],
    format: "text",
    expect: completed("", {
      stdout: "Nothing to do.\n",
      says: [/The agent tells of no file that it changed\.\nThe agent does not say that the list is complete/],
      never: [/is not known/],
    }),
  },
];
