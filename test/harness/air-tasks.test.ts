/** Background work and subagents of claude-agent-acp 0.101.0 and codex-acp 2.6.0, through the real CLI. */
import { expect, test } from "vitest";
import { CLAUDE_TASKS, CODEX_TASKS } from "./air-tasks-scenarios.ts";
import { playClaude, playCodex } from "./play.ts";
import { promised } from "./promise.ts";

test.each(CLAUDE_TASKS)("claude: $name", async (scenario) => {
  expect(await playClaude(scenario)).toMatchObject(promised(scenario.expect));
});

test.each(CODEX_TASKS)("codex: $name", async (scenario) => {
  expect(await playCodex(scenario)).toMatchObject(promised(scenario.expect));
});
