/** codex-acp 2.6.0 with native codex 0.166, through the real CLI. */
import { expect, test } from "vitest";
import { CODEX_SCENARIOS } from "./codex-scenarios.ts";
import { playCodex } from "./play.ts";
import { promised } from "./promise.ts";

test.each(CODEX_SCENARIOS)("codex: $name", async (scenario) => {
  expect(await playCodex(scenario)).toMatchObject(promised(scenario.expect));
});
