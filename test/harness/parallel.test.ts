/** Two runs of one user at the same time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { heldText } from "../model-service/steps.ts";
import { playClaude } from "./play.ts";
import { promised } from "./promise.ts";
import { completed } from "./scenario.ts";

test("two asks that share the harness's settings and Ostler's state, in the middle of their answers at once, each get their own", async () => {
  const shared = mkdtempSync(join(tmpdir(), "ostler-shared-"));
  const env = { XDG_STATE_HOME: join(shared, "state"), CLAUDE_CONFIG_DIR: join(shared, "claude") };
  const answering = new Set<string>();
  const both = Promise.withResolvers<void>();
  const scenarios = ["first", "second"].map((name) => ({
    name,
    service: [heldText(`The ${name} `, "answer.")] as const,
    env,
    untilRelease: () => {
      answering.add(name);
      if (answering.size === 2) both.resolve();
      return both.promise;
    },
    expect: completed(`The ${name} answer.`),
  }));
  try {
    const runs = await Promise.all(scenarios.map(playClaude));
    expect(runs).toMatchObject(scenarios.map((scenario) => promised(scenario.expect)));
  } finally {
    rmSync(shared, { recursive: true, force: true });
  }
});
