/** Patches, plan files and file-change reports, through the real CLI and the real adapters. */
import { expect, test } from "vitest";
import { CLAUDE_CHANGES, CODEX_CHANGES } from "./air-changes-scenarios.ts";
import { playClaude, playCodex } from "./play.ts";
import { promised } from "./promise.ts";

test.each(CODEX_CHANGES)("codex: $name", async (scenario) => {
  expect(await playCodex(scenario)).toMatchObject(promised(scenario.expect));
});

test.each(CLAUDE_CHANGES)("claude: $name", async (scenario) => {
  expect(await playClaude(scenario)).toMatchObject(promised(scenario.expect));
});
