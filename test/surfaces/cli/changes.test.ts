/** `ostler ask --changes`: the files that the agent says it changed, in every format. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Json, Scenario } from "../../fixtures/agents/scenario.ts";
import { call, chunk, end, promptsIn, tool, turns, update, waitForAnswer } from "../../fixtures/agents/scenario.ts";
import { linesOf, run } from "./run-main.ts";

const report = (fields: { readonly [key: string]: Json }) =>
  update({
    sessionUpdate: "session_info_update",
    _meta: { jetbrains: { air: { version: 1, agentFileChangeReport: { version: 1, requestId: "$R", ...fields } } } },
  });
const LIST = { status: "reported", paths: ["/w/a.ts", "/w/b c.ts"], declaredComplete: false, truncated: false };
const advertises = (scenario: Scenario): Scenario => ({
  ...scenario,
  initializeResult: { _meta: { jetbrains: { air: { version: 1, capabilities: ["agentFileChangeReport"] } } } },
});
const TELLS = advertises(turns([chunk("done"), report(LIST), end()]));
const IN_WORDS = [
  "Files that the agent changed:",
  "  /w/a.ts",
  "  /w/b c.ts",
  "The agent does not say that the list is complete; commands may have changed more.",
].join("\n");

test.each(["text", "quiet"] as const)(
  "--format %s: the answer on stdout, the list on stderr at the end",
  async (format) => {
    const { exitCode, stdout, stderr } = await run(["ask", "--changes", "--format", format, "go"], {
      scenario: TELLS,
    });
    expect([exitCode, stdout, stderr.trimEnd().slice(-IN_WORDS.length)]).toEqual([0, "done\n", IN_WORDS]);
  },
);

test("--format json: the result has the list", async () => {
  const { stdout, stderr } = await run(["ask", "--changes", "--format", "json", "go"], { scenario: TELLS });
  expect(JSON.parse(stdout)).toMatchObject({ type: "result", outcome: "completed", changes: LIST });
  expect(stderr).toBe("");
});

test("--format ndjson: an event when the agent tells it, and the result", async () => {
  const { stdout } = await run(["ask", "--changes", "--json", "go"], { scenario: TELLS });
  const lines = linesOf(stdout);
  expect(lines.filter(({ type }) => type === "changes")).toEqual([{ type: "changes", report: LIST }]);
  expect(lines.at(-1)).toMatchObject({ type: "result", changes: LIST });
});

test.each<{ from: string; scenario: Scenario; reason: string; sentence: string }>([
  {
    from: "an agent that has no such report",
    scenario: turns([chunk("done"), end()]),
    reason: "unsupported",
    sentence: "Which files changed is not known: this agent does not tell which files it changes.",
  },
  {
    from: "an agent that forgets it",
    scenario: advertises(turns([chunk("done"), end()])),
    reason: "notReported",
    sentence: "Which files changed is not known: the agent did not tell.",
  },
  {
    from: "an agent that cannot tell",
    scenario: advertises(turns([chunk("done"), report({ status: "unavailable", reason: "timeout" }), end()])),
    reason: "timeout",
    sentence: "Which files changed is not known: the agent could not tell in time.",
  },
])("an unavailable list is said, and is no empty one: $from", async ({ scenario, reason, sentence }) => {
  const text = await run(["ask", "--changes", "go"], { scenario });
  expect(text.stderr.trimEnd().endsWith(sentence)).toBe(true);
  expect(text.stderr).not.toContain("no file");
  const json = await run(["ask", "--changes", "--format", "json", "go"], { scenario });
  expect(JSON.parse(json.stdout)).toMatchObject({ outcome: "completed", changes: { status: "unavailable", reason } });
  expect([text.exitCode, json.exitCode]).toEqual([0, 0]);
});

test("without --changes nothing is asked and nothing is said", async () => {
  const { stdout, stderr, log } = await run(["ask", "--format", "json", "go"], { scenario: TELLS });
  expect(JSON.parse(stdout)).toMatchObject({ changes: null });
  expect(stderr).toBe("");
  expect(promptsIn(log).map(({ params }) => params?.["_meta"])).toEqual([undefined]);
});

test("at a terminal the plan stands whole before the question, and the question shows what would change", async () => {
  const keyboard = new PassThrough();
  const options = [
    { optionId: "a", name: "Yes", kind: "allow_once" },
    { optionId: "r", name: "No", kind: "reject_once" },
  ];
  const asks = (toolCallId: string) =>
    call("session/request_permission", { sessionId: "$S", toolCall: { toolCallId }, options }, toolCallId);
  const edit = { type: "diff", path: "/w/a.txt", oldText: "beta", newText: "BETA" };
  const scenario = turns([
    tool("plan", { kind: "switch_mode", title: "Approve Plan", rawInput: { plan: "# Plan\n- the last line" } }),
    asks("plan"),
    waitForAnswer("plan"),
    tool("edit", { kind: "edit", title: "Edit a.txt", content: [edit] }),
    asks("edit"),
    waitForAnswer("edit"),
    end(),
  ]);
  let asked = 0;
  const { stderr } = await run(["ask", "--no-color", "go"], {
    scenario,
    terminal: true,
    stdin: { kind: "terminal", open: () => keyboard },
    onStderr: (text) => {
      const questions = text.split("The agent asks:").length - 1;
      if (questions > asked) keyboard.write("1\n");
      asked = questions;
    },
  });
  const order = ["The plan:", "- the last line", "The agent asks: Approve Plan", "The agent asks: Edit a.txt"];
  expect(order.map((part) => stderr.indexOf(part))).toEqual(
    order.map((part) => stderr.indexOf(part)).sort((a, b) => a - b),
  );
  expect(order.filter((part) => !stderr.includes(part))).toEqual([]);
  expect(stderr).toContain("  ± /w/a.txt\n    -beta\n    +BETA\n  1) Yes\n");
});
