/** A required gate, through the real CLI and the real adapters. */
import { expect, test } from "vitest";
import { CLAUDE_GATES, CODEX_GATES } from "./gate-scenarios.ts";
import { playClaude, playCodex } from "./play.ts";
import { promised } from "./promise.ts";

test.each(CODEX_GATES)("codex: $name", async (scenario) => {
  expect(await playCodex(scenario)).toMatchObject(promised(scenario.expect));
});

test.each(CLAUDE_GATES)("claude: $name", async (scenario) => {
  expect(await playClaude(scenario)).toMatchObject(promised(scenario.expect));
});
