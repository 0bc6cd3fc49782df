/** The CLI as a real process: bundled once per test file, run by a shell with a scripted agent. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { agentOption } from "../../fixtures/agents/scenario.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { newFolder } from "./run-main.ts";

const SOURCE = fileURLToPath(new URL("../../../src/surfaces/cli/ostler.ts", import.meta.url));
/** Inside the project, so that its dependencies are found. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/ostler-cli-test", import.meta.url));

/**
 * Bundles the CLI for one test file and returns its path: one file starts several times as fast as the sources, and is
 * what is shipped.
 */
export async function bundleCli(testFile: string): Promise<string> {
  const dir = join(CACHE, testFile);
  await using bundle = await rolldown({ input: { ostler: SOURCE }, platform: "node", logLevel: "silent" });
  await bundle.write({ dir, format: "esm" });
  return join(dir, "ostler.js");
}

/** A shell command in which `ostler ARGS` is the CLI, and `ostler ask ARGS` has an agent that plays `scenario`. */
export function shell(ostler: string, command: string, scenario: Scenario, env: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const log = join(folder, "agent.log");
  const line = command
    .replaceAll("ostler ask", `ostler ask --agent '${agentOption(scenario, folder)}'`)
    .replaceAll("ostler ", `"${process.execPath}" "${ostler}" `);
  const child = spawn("bash", ["-c", line], {
    cwd: folder,
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home"), AGENT_LOG: log, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const done = once(child, "close").then(([code]: unknown[]) => ({ code, stdout, stderr, log }));
  return { child, done, folder, state: join(folder, "home", "state") };
}
