/** `gate: required`: an agent that would run tools without asking gets no prompt, and mostly is not even started. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOption, chunk, end, err, logOf, processesIn, promptsIn, turns } from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "./run-main.ts";

const hello = turns([chunk("Hello"), end()]);
const modes = (currentModeId: string, ...ids: string[]) => ({
  modes: { currentModeId, availableModes: [currentModeId, ...ids].map((id) => ({ id, name: id })) },
});
/** codex-acp 2.6.0 starts in `agent`, where a second model approves (recording guardian-allow). */
const codex: Scenario = { ...hello, newResult: modes("agent", "read-only", "agent-full-access") };
const codexThatStays: Scenario = {
  ...codex,
  on: { ...codex.on, "session/set_mode": [[err(-32603, "no")]] },
};

interface Attempt {
  readonly from: string;
  readonly scenario: Scenario;
  readonly profile: string;
  readonly args?: string;
  readonly flags?: readonly string[];
}

/** The gate comes from a policy file, or with `config` from the user's configuration. */
async function ask({ scenario, profile, args = "", flags = [] }: Attempt, gateFrom: "policy" | "config" = "policy") {
  const folder = newFolder();
  writeFileSync(join(folder, "policy.json"), JSON.stringify({ gate: "required" }));
  const agent = ["--agent", `${agentOption(scenario, folder)} ${args}`, "--profile", profile];
  if (gateFrom === "config") return run(["ask", ...agent, ...flags, "hi"], { folder, config: { gate: "required" } });
  return run(["ask", ...agent, "--permission-policy", "policy.json", ...flags, "hi"], { folder });
}

test.each<Attempt & { readonly says: string }>([
  { from: "any agent", scenario: hello, profile: "generic", says: "Nobody knows whether" },
  { from: "kiro", scenario: hello, profile: "kiro", args: "--trust-all-tools", says: "tools run without asking" },
  { from: "kiro", scenario: hello, profile: "kiro", args: "--trust-tools=shell", says: "tools run without asking" },
])("not started: $from $args", async ({ says, ...attempt }) => {
  const { exitCode, stdout, stderr, log } = await ask(attempt);
  expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: "" });
  expect(stderr).toContain(says);
  expect(processesIn(log)).toEqual([]);
});

test.each<Attempt>([
  { from: "codex", scenario: codex, profile: "codex", flags: ["--mode", "agent"] },
  { from: "codex", scenario: codex, profile: "codex", flags: ["--mode", "agent-full-access"] },
  ...["acceptEdits", "auto", "bypassPermissions", "of-a-later-version"].map((mode) => ({
    from: "claude",
    scenario: { ...hello, newResult: modes("default", mode) },
    profile: "claude",
    flags: ["--mode", mode],
  })),
])("no session: $from $flags", async (attempt) => {
  const { exitCode, stderr, log } = await ask(attempt);
  expect(exitCode).toBe(5);
  expect(stderr).toContain("in which tools may run without asking");
  expect(logOf(log).some(({ frame }) => frame?.method === "session/new")).toBe(false);
});

test.each<Attempt & { readonly says: string }>([
  {
    from: "codex that cannot be put into a mode that asks",
    scenario: codexThatStays,
    profile: "codex",
    says: 'is in mode "agent", in which tools may run without asking',
  },
  { from: "claude that names no modes", scenario: hello, profile: "claude", says: "does not say in which mode it is" },
])("no prompt: $from", async ({ says, ...attempt }) => {
  const { exitCode, stderr, log } = await ask(attempt);
  expect(exitCode).toBe(5);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain("could not be put into mode");
  expect(promptsIn(log)).toEqual([]);
});

test.each<Attempt>([
  { from: "codex is put into read-only", scenario: codex, profile: "codex" },
  { from: "claude in default", scenario: { ...hello, newResult: modes("default") }, profile: "claude" },
  {
    from: "claude in plan",
    scenario: { ...hello, newResult: modes("default", "plan") },
    profile: "claude",
    flags: ["--mode", "plan"],
  },
  { from: "kiro", scenario: hello, profile: "kiro" },
])("asked as usual: $from", async (attempt) => {
  expect(await ask(attempt)).toMatchObject({ exitCode: 0, stdout: "Hello\n" });
});

test("the user's configuration can require the gate as well", async () => {
  const attempt = { from: "any agent", scenario: hello, profile: "generic" };
  expect(await ask(attempt, "config")).toMatchObject({ exitCode: 5, stdout: "" });
});

test.each([
  { flags: [], exitCode: 0 },
  { flags: ["--mode", "auto"], exitCode: 5 },
])("the demo $flags exits $exitCode", async ({ flags, exitCode }) => {
  const config = { gate: "required" };
  expect(await run(["ask", "-b", "demo", ...flags, "hello"], { config })).toMatchObject({ exitCode });
});
