/** claude-agent-acp 0.101.0 with Claude Code 2.1.318, through the real CLI. */
import { expect, test } from "vitest";
import { CLAUDE_SCENARIOS } from "./claude-scenarios.ts";
import { playClaude } from "./play.ts";
import { promised } from "./promise.ts";

test.each(CLAUDE_SCENARIOS)("claude: $name", async (scenario) => {
  expect(await playClaude(scenario)).toMatchObject(promised(scenario.expect));
});
