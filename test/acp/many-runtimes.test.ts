/** Two hundred agents in one process: small ones, for the machine's sake. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Runtime } from "../../src/acp/runtime.ts";
import { createSupervisor } from "../../src/acp/supervisor.ts";
import { habits, isRunning, play, recordOf, rejectionOf } from "./drive.ts";

const TINY = fileURLToPath(new URL("../fixtures/agents/tiny.sh", import.meta.url));
const STARTS_AT_A_TIME = 8;

test("all of them work, some are killed, and none is left", { timeout: 180_000 }, async () => {
  const cwd = mkdtempSync(join(tmpdir(), "ostler-many-"));
  const backend = { ...habits("generic"), sessionsPerRuntime: 1 };
  const command = { file: "/bin/sh", args: [TINY] };
  const binding = { command, cwd, env: { PATH: process.env["PATH"] ?? "" }, approval: "reads" } as const;
  const supervisor = createSupervisor({
    start: (_, signal) => createRuntime({ backend, ...binding, signal }),
    intensity: { burst: 5, periodMs: 60_000 },
  });
  onTestFinished(async () => {
    await supervisor.stop();
    rmSync(cwd, { recursive: true });
  });
  const acquire = () => supervisor.acquire({ backend, binding, program: "tiny" });
  const startOne = async (): Promise<Runtime> => {
    const { runtime } = await acquire();
    const { outcome } = await play(await runtime.openSession({ cwd }));
    expect(outcome).toMatchObject({ kind: "completed", text: "ok" });
    return runtime;
  };
  await (await startOne()).stop();
  const before = openDescriptors();
  const runtimes: Runtime[] = [];
  while (runtimes.length < 200) {
    runtimes.push(...(await Promise.all(Array.from({ length: STARTS_AT_A_TIME }, startOne))));
  }
  expect(runtimes.filter(({ pid }) => isRunning(pid))).toHaveLength(200);
  const killed = runtimes.filter((_, index) => index % 10 === 0);
  for (const { pid } of killed) process.kill(pid, "SIGKILL");
  for (const { gone } of killed) expect(await gone).toMatchObject({ expected: false });
  expect(recordOf(await rejectionOf(acquire()))).toMatchObject({ rule: "parked" });
  expect(runtimes.filter(({ state }) => state === "ready")).toHaveLength(180);
  await supervisor.stop();
  expect(runtimes.filter(({ pid }) => isRunning(pid))).toEqual([]);
  // The stderr of the last one closes a moment after its process.
  await vi.waitFor(() => expect(openDescriptors()).toBeLessThanOrEqual(before), { timeout: 10_000 });
});

/** Of this process; macOS lists its own in another folder. */
function openDescriptors(): number {
  return readdirSync(process.platform === "linux" ? "/proc/self/fd" : "/dev/fd").length;
}
