/** What fails in the real adapters, through the CLI: observed, labelled, and recovered by what really recovered it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { text, toolCall } from "../model-service/steps.ts";
import type { CommonStep } from "../model-service/steps.ts";
import { ENDLESS_COMMAND, OSTLER, runAsk } from "./ask.ts";
import { openWorld } from "./live.ts";
import type { World } from "./live.ts";

const LIST = z.object({ incidents: z.array(z.object({ label: z.string(), category: z.string() })) });

interface Harness {
  readonly name: "codex" | "claude";
  /** A call of its tool for commands. */
  readonly command: (line: string) => CommonStep;
  /** A call of the tool `run` of Ostler's server, as the harness names it to its model. */
  readonly run: (input: Readonly<Record<string, unknown>>) => CommonStep;
  readonly disposition: (input: Readonly<Record<string, unknown>>) => CommonStep;
}

const HARNESSES: readonly Harness[] = [
  {
    name: "codex",
    command: (cmd) => toolCall("exec_command", { cmd, yield_time_ms: 10_000 }),
    run: (input) => toolCall("mcp__ostler__run", input),
    disposition: (input) => toolCall("mcp__ostler__failure_disposition", input),
  },
  {
    name: "claude",
    command: (command) => toolCall("Bash", { command, description: "Do it" }),
    run: (input) => toolCall("mcp__ostler__run", input),
    disposition: (input) => toolCall("mcp__ostler__failure_disposition", input),
  },
];

describe.each(HARNESSES)("$name", ({ name, command, run, disposition }) => {
  test("a failing check that passes the second time has recovered", async () => {
    await using world = await openWorld(name, {
      CHECK: [command("sh check.sh"), command("touch made.txt"), command("sh check.sh"), text("It passes.")],
    });
    // Not `test` itself: to Claude Code 2.1 its exit code 1 is an answer and no failure.
    writeFileSync(join(world.home.workspace, "check.sh"), "test -f made.txt\n");
    expect(await ask(world, ["-s", "work", "--approve", "all"], "CHECK")).toMatchObject({ exitCode: 0 });
    expect(await labelsOf(world)).toEqual([["Recovered", "tool"]]);
  });

  test("a declared exit of run is expected, an undeclared one is not, and the agent says what it meant", async () => {
    await using world = await openWorld(name, {
      SEARCH: [
        run({ command: "grep gamma notes.txt", expectedExitCodes: [1] }),
        run({ command: "grep delta notes.txt", attemptId: "second" }),
        disposition({ disposition: "expected", targets: ["second"], reason: "It was to find nothing" }),
        run({ command: "grep omega notes.txt" }),
        text("Neither is there."),
      ],
    });
    const args = ["-s", "work", "--approve", "all", "--confined"];
    expect(await ask(world, args, "SEARCH")).toMatchObject({ exitCode: 0 });
    expect(await labelsOf(world)).toEqual([
      ["Unclassified failure observation", "tool"],
      ["Expected failure", "tool"],
      ["Expected failure", "tool"],
    ]);
  });

  test("a killed harness needs somebody until a turn goes well", async () => {
    await using world = await openWorld(name, {
      HANG: [command(ENDLESS_COMMAND), text("Not after that.")],
      FINE: [text("Fine.")],
    });
    const turnArrived = world.service.untilTurn(1);
    const strike = { when: "command", signal: "SIGKILL", target: "adapter", harness: name, turnArrived } as const;
    const args = ["-s", "work", "--approve", "all", "--format", "ndjson", "-b", name];
    const killed = await runAsk(world.home, world.env, [...args, "HANG"], { strike });
    expect(killed).toMatchObject({ exitCode: 9, left: [] });
    expect(await labelsOf(world)).toEqual([["Action required", "exit"]]);
    expect(await ask(world, ["-s", "work"], "FINE")).toMatchObject({ exitCode: 0 });
    expect(await labelsOf(world)).toEqual([["Recovered", "exit"]]);
  });
});

async function ask({ home, env, harness }: World, args: readonly string[], prompt: string) {
  const { exitCode, stderr } = await runAsk(home, env, ["-b", harness, ...args, prompt]);
  return { exitCode, stderr };
}

/** Label and category of every incident, in the order in which they are listed. */
async function labelsOf({ home, env }: World): Promise<string[][]> {
  const { stdout } = await execa(process.execPath, [OSTLER, "incidents", "list", "--history", "--json"], {
    cwd: home.workspace,
    env,
    extendEnv: false,
  });
  const { incidents } = LIST.parse(JSON.parse(stdout));
  return incidents.map(({ label, category }) => [label, category]);
}
