/** Kills, stops and deadlines, through the real CLI and the real adapters. */
import { expect, test } from "vitest";
import { playClaude, playCodex } from "./play.ts";
import { promised } from "./promise.ts";
import { CLAUDE_SUPERVISION, CODEX_SUPERVISION } from "./supervision-scenarios.ts";

test.each(CODEX_SUPERVISION)("codex: $name", async (scenario) => {
  expect(await playCodex(scenario)).toMatchObject(promised(scenario.expect));
});

test.each(CLAUDE_SUPERVISION)("claude: $name", async (scenario) => {
  expect(await playClaude(scenario)).toMatchObject(promised(scenario.expect));
});
