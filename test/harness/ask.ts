/** One real `ostler ask` as a child process, watched until it and everything it started has gone. */
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { processesOf, type LiveProcess } from "./processes.ts";
import type { HarnessName, ScenarioHome } from "./scenario-home.ts";

/** A signal that hits the run once it is under way. */
export interface Interruption {
  /** `text`: the first words of the answer were printed. `turn`: the service has the request. */
  readonly when: "text" | "turn";
  readonly signal: "SIGINT" | "SIGTERM" | "SIGKILL";
  /** `adapter` is the process that Ostler started, `harness` the one that the adapter started. */
  readonly target: "ostler" | "adapter" | "harness";
}

export interface AskRun {
  /** Undefined when the CLI was killed by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Processes of the scenario that outlived the CLI. */
  readonly left: readonly string[];
}

/** The CLI under test, as the package's `bin` starts it. */
export const OSTLER = fileURLToPath(new URL("../../bin/ostler.js", import.meta.url));

/** Longest a run may take before the test gives up on it; the slowest scenario waits some 15 s. */
const RUN_LIMIT_MS = 90_000;

/** How long what the CLI ended may take to leave the process table. */
const LEAVE_LIMIT_MS = 1_500;

/** What {@link runAsk} needs to know to strike at the right moment. */
export interface Strike extends Interruption {
  readonly harness: HarnessName;
  /** Settles when the service has the request of the turn. */
  readonly turnArrived: Promise<void>;
}

/** Runs `ostler ask` with `args` in the scenario's workspace. */
export async function runAsk(
  home: ScenarioHome,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  strike?: Strike,
): Promise<AskRun> {
  const ask = execa(process.execPath, [OSTLER, "ask", ...args], {
    cwd: home.workspace,
    env,
    extendEnv: false,
    stdin: "ignore",
    reject: false,
    stripFinalNewline: false,
    timeout: RUN_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  if (strike !== undefined) {
    await Promise.race([ask, strike.when === "turn" ? strike.turnArrived : firstText(ask.stdout)]);
    if (strike.target === "ostler") ask.kill(strike.signal);
    else for (const pid of targetsOf(strike, ask.pid, processesOf(home.root))) process.kill(pid, strike.signal);
  }
  const { exitCode, stdout, stderr } = await ask;
  return { exitCode, stdout, stderr, left: await leftovers(home.root) };
}

/** Settles when the first text event is on stdout (`--format ndjson`). */
function firstText(stdout: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    let seen = "";
    stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes('"type":"text"')) resolve();
    });
  });
}

function targetsOf(
  { target, harness }: Strike,
  ostler: number | undefined,
  processes: readonly LiveProcess[],
): readonly number[] {
  const mark = harness === "codex" ? "app-server" : "stream-json";
  return processes
    .filter(({ parent, command }) => (target === "adapter" ? parent === ostler : command.includes(mark)))
    .map(({ pid }) => pid);
}

/** What is still alive after a short while for the kernel; killed here so that it cannot disturb the next scenario. */
async function leftovers(root: string): Promise<string[]> {
  const deadline = performance.now() + LEAVE_LIMIT_MS;
  let left = processesOf(root);
  while (left.length > 0 && performance.now() < deadline) {
    await delay(50);
    left = processesOf(root);
  }
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  return left.map(({ command }) => command);
}
