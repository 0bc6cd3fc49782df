/** One real `ostler ask` as a child process, watched until it and everything it started has gone. */
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { killAll, processesOf, untilTaken, type LiveProcess } from "./processes.ts";
import type { HarnessName, ScenarioHome } from "./scenario-home.ts";

/** A signal that hits the run once it is under way. */
export interface Interruption {
  /**
   * `text`: the first words of the answer were printed. `turn`: the service has the request. `retry`: the harness said
   * that it tries again. `command`: the harness has told of {@link ENDLESS_COMMAND}, and its process runs; before that
   * codex 0.166 kills the command itself, and its sandbox has no time to take its mount points away.
   */
  readonly when: "text" | "turn" | "retry" | "command";
  readonly signal: "SIGINT" | "SIGTERM" | "SIGKILL";
  /** The signal comes twice. */
  readonly twice?: true;
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

/** How long a process may outlive the CLI. */
const LEAVE_LIMIT_MS = 1_500;

/** What was killed is not left, but gone it must be: this only keeps the test from waiting for ever. */
const BURIAL_LIMIT_MS = 30_000;

/** What {@link runAsk} needs to know to strike at the right moment. */
export interface Strike extends Interruption {
  readonly harness: HarnessName;
  /** Settles when the service has the request of the turn. */
  readonly turnArrived: Promise<void>;
}

/** What a scripted model has the harness run when the row needs a command that does not end. */
export const ENDLESS_COMMAND = "tail -f notes.txt";

/** What is done while the run lasts. */
export interface During {
  readonly strike?: Strike | undefined;
  /** Called whenever more of the answer is on stdout. */
  readonly onAnswer?: () => void;
}

/** Runs `ostler ask` with `args` in the scenario's workspace. */
export async function runAsk(
  home: ScenarioHome,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  { strike, onAnswer = () => {} }: During = {},
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
  watchAnswer(ask.stdout, onAnswer);
  if (strike !== undefined) {
    await Promise.race([ask, momentOf(strike, ask.stdout, home.root)]);
    if (strike.target === "ostler") {
      ask.kill(strike.signal);
      if (strike.twice && ask.pid !== undefined) {
        await untilTaken(ask.pid, strike.signal);
        ask.kill(strike.signal);
      }
    } else killAll(targetsOf(strike, ask.pid, processesOf(home.root)), strike.signal);
  }
  const { exitCode, stdout, stderr } = await ask;
  return { exitCode, stdout, stderr, left: await leftovers(home.root) };
}

/** Tells of every line with an event of the answer, and of everything that is no event (`--format text`). */
function watchAnswer(stdout: NodeJS.ReadableStream, tell: () => void): void {
  let line = "";
  stdout.on("data", (chunk: Buffer) => {
    const lines = `${line}${chunk.toString()}`.split("\n");
    line = lines.pop() ?? "";
    if (lines.some((one) => one.includes('"type":"text"')) || (line !== "" && !line.startsWith("{"))) tell();
  });
}

function momentOf({ when, turnArrived }: Strike, stdout: NodeJS.ReadableStream, root: string): Promise<void> {
  switch (when) {
    case "turn":
      return turnArrived;
    case "text":
    case "retry":
      return firstEvent(stdout, when);
    case "command":
      return firstEvent(stdout, "tool").then(() => commandRuns(root));
  }
}

/** Settles when the first event of the type is on stdout (`--format ndjson`). */
function firstEvent(stdout: NodeJS.ReadableStream, type: string): Promise<void> {
  return new Promise((resolve) => {
    let seen = "";
    stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes(`"type":"${type}"`)) resolve();
    });
  });
}

/** Settles when {@link ENDLESS_COMMAND} runs below the folder; nobody announces a process, so it is looked for. */
export async function commandRuns(root: string): Promise<void> {
  const deadline = performance.now() + RUN_LIMIT_MS;
  while (!processesOf(root).some(({ command }) => command === ENDLESS_COMMAND)) {
    if (performance.now() > deadline) throw new Error(`"${ENDLESS_COMMAND}" was never started`);
    await delay(50);
  }
}

function targetsOf(
  { target, harness }: Strike,
  ostler: number | undefined,
  processes: readonly LiveProcess[],
): readonly LiveProcess[] {
  const mark = harness === "codex" ? "app-server" : "stream-json";
  return processes.filter(({ parent, command }) => (target === "adapter" ? parent === ostler : command.includes(mark)));
}

/** What is still alive after a short while; killed here so that it cannot disturb the next scenario. */
export async function leftovers(root: string): Promise<string[]> {
  const since = performance.now();
  let left = processesOf(root);
  while (left.length > 0 && performance.now() - since < limitFor(left)) {
    await delay(50);
    left = processesOf(root);
  }
  killAll(left);
  return left.map(({ command }) => command);
}

function limitFor(left: readonly LiveProcess[]): number {
  return left.every(({ isKilled }) => isKilled) ? BURIAL_LIMIT_MS : LEAVE_LIMIT_MS;
}
