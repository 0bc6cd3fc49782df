/** `ostler goal` and `ostler steer`, in process with real agents: what is shown, what is sent, and the exit code. */
import { describe, expect, test } from "vitest";
import { chunk, end, logOf, reply } from "../../fixtures/agents/scenario.ts";
import type { Action, Scenario } from "../../fixtures/agents/scenario.ts";
import { ACTIVE, advertised, goal, status } from "../../acp/goals.ts";
import { linesOf, newFolder, run } from "./run-main.ts";

/** An agent whose goal requests are played one after the other. */
function goals(...requests: readonly (readonly Action[])[]): Scenario {
  return { on: { "_session/goal": requests }, initializeResult: advertised() };
}

const DONE = { objective: "Ship it", status: "complete" };
const WORK: readonly Action[] = [goal(ACTIVE), status("active"), chunk("Shipped.", { messageId: "m1" })];

describe("a session that nobody runs", () => {
  test("set shows what the agent does, and says how far the goal is", async () => {
    const ran = await run(["goal", "set", "-s", "ship", "Ship", "it"], {
      scenario: goals([...WORK, goal(DONE), status("idle"), reply({})]),
    });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "Shipped.\n" });
    expect(ran.stderr).toContain("◎ Goal active: Ship it\n");
    expect(ran.stderr).toContain("The agent works for its goal, without a prompt\n");
    expect(ran.stderr).toContain("Goal complete: Ship it");
  });
});
