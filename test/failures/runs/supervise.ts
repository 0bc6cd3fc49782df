/**
 * A supervisor of one run, for tests that stop it: `supervise.ts STATE RUN HABIT`. It starts a command with a grandchild
 * that leaves the group, writes both down, says "up" and the two numbers, and then: `obeys` (ends the run at the first
 * request), `escalates` (at the second), `deaf` (at none), `leaves` (exits at once, without a word).
 */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { once } from "node:events";
import { markEnvironment, newMark } from "../../../src/acp/process-mark.ts";
import { startTimeOf } from "../../../src/acp/processes.ts";
import { thisProcess } from "../../../src/acp/this-process.ts";
import { RunRegistry } from "../../../src/failures/runs/registry.ts";

const [state = "", id = "", habit = ""] = process.argv.slice(2);
const registry = new RunRegistry(state);
const mark = newMark();
const LINGER = "setInterval(() => {}, 1e6)";
const COMMAND = `
  const { spawn } = require("node:child_process");
  const far = spawn(process.execPath, ["-e", ${JSON.stringify(LINGER)}], { detached: true, stdio: "ignore" });
  console.log(far.pid);
  ${LINGER}`;

const command = spawn(process.execPath, ["-e", COMMAND], {
  env: { ...process.env, ...markEnvironment(mark) },
  detached: true,
  stdio: ["ignore", "pipe", "ignore"],
});
const pid = command.pid ?? 0;
let requests = 0;
const onRequest = (): void => {
  requests += 1;
  const isHeard = habit === "obeys" || (habit === "escalates" && requests > 1);
  if (!isHeard) return;
  process.kill(-pid, "SIGKILL");
  registry.updateMeta(id, { status: "cancelled", endedAt: 7, noiseLines: requests });
  process.exit();
};
process.on("SIGTERM", onRequest).on("SIGINT", onRequest);

const [far] = await once(command.stdout, "data");
registry.updateMeta(id, { supervisor: thisProcess(), process: { pid, startedAt: startTimeOf(pid) ?? "", mark } });
writeSync(1, `up ${pid} ${String(far).trim()}\n`);
if (habit === "leaves") process.exit();
