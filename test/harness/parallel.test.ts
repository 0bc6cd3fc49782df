/** Two runs of one user at the same time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { heldText } from "../model-service/steps.ts";
import { playClaude } from "./play.ts";
import { promised } from "./promise.ts";
import { completed } from "./scenario.ts";

test("two asks that share the harness's settings and Ostler's state each get their own answer", async () => {
  const shared = mkdtempSync(join(tmpdir(), "ostler-shared-"));
  const env = { XDG_STATE_HOME: join(shared, "state"), CLAUDE_CONFIG_DIR: join(shared, "claude") };
  const scenarios = ["first", "second"].map((name) => ({
    name,
    service: [heldText(`The ${name} `, "answer.")] as const,
    env,
    expect: completed(`The ${name} answer.`),
  }));
  try {
    const runs = await Promise.all(scenarios.map(playClaude));
    expect(runs).toMatchObject(scenarios.map((scenario) => promised(scenario.expect)));
  } finally {
    rmSync(shared, { recursive: true, force: true });
  }
});
