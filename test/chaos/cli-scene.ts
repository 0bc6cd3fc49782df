/** Plays a scene through the command: one real `ostler ask`, and after a kill the next start. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "../../src/host/host.ts";
import type { Ending } from "./agent-turn.ts";
import { allowedEndings, findFaults, runBudgetMs } from "./expectations.ts";
import { LINE_BYTES } from "./scene.ts";
import type { Scene, TurnPlan } from "./scene.ts";
import { within } from "./stage.ts";
import type { Stage } from "./stage.ts";
import type { Told } from "./storm.ts";

const OSTLER = fileURLToPath(new URL("../../bin/ostler.js", import.meta.url));
/** Two graces of the stop ladder per rung, for whatever a dead Ostler left. */
const REAP_MS = 15_000;

/** What a run of the command left behind. */
export interface Ran {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Plays it; every outcome and everything that was wrong is told. */
export async function playCliScene(scene: Scene, stage: Stage, told: Told): Promise<void> {
  const [[turn] = []] = scene.sessions;
  if (turn === undefined) throw new Error("A scene of the CLI has one turn");
  const ran = await playRun(scene, turn, stage, told);
  if (ran?.signal === "SIGKILL") await startNext(stage, told);
}

/** One `ostler ask` with further arguments, to its end; undefined when it had none. */
export async function playRun(
  scene: Scene,
  turn: TurnPlan,
  stage: Stage,
  told: Told,
  more: RunOptions = {},
): Promise<Ran | undefined> {
  const ran = await within(runBudgetMs(scene), runAsk(scene, turn, stage, more));
  if (ran === undefined) told.fault(`${turn.prompt}: still runs after ${runBudgetMs(scene)} ms`);
  else for (const fault of faultsOf(scene, turn, stage, ran, told)) told.fault(`${turn.prompt}: ${fault}`);
  return ran;
}

/** What an Ostler that was killed left is ended by the next one. */
export async function startNext(stage: Stage, told: Told): Promise<void> {
  const reaped = createHost({ env: stage.env, cwd: stage.folder }).then((host) => host.close().then(() => true));
  if ((await within(REAP_MS, reaped)) === undefined) told.fault("the next start does not come to an end");
}

export interface RunOptions {
  readonly argv?: readonly string[];
  /** Called with everything on stdout so far. */
  readonly onStdout?: (stdout: string) => void;
}

function runAsk(scene: Scene, turn: TurnPlan, stage: Stage, { argv: extra = [], onStdout }: RunOptions): Promise<Ran> {
  const { disturbance, retries, prompt } = turn;
  const config = join(stage.folder, `config-${prompt}.json`);
  writeFileSync(config, JSON.stringify(configOf(scene, turn)));
  const agent = stage.agentOption(scene);
  const argv = [
    "--config",
    config,
    "--agent",
    agent,
    "--retries",
    String(retries),
    "--format",
    scene.format,
    ...extra,
    prompt,
  ];
  const ask = spawn(process.execPath, [OSTLER, "ask", ...argv], {
    cwd: stage.folder,
    env: stage.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let pieces = 0;
  const strike =
    disturbance.what === "nothing"
      ? undefined
      : stage.at(disturbance.at, () => {
          switch (disturbance.what) {
            case "cancel": {
              const signal = disturbance.by === "signal" ? "SIGINT" : "SIGTERM";
              ask.kill(signal);
              if (disturbance.againMs !== undefined) stage.after(disturbance.againMs, () => ask.kill(signal));
              return;
            }
            case "kill":
              if (disturbance.victim === "ostler") ask.kill("SIGKILL");
              else stage.kill(disturbance.victim);
              return;
            case "leave":
              ask.stdout.destroy();
              return;
            default:
          }
        });
  ask.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    pieces += 1;
    strike?.events(pieces);
    onStdout?.(stdout);
  });
  ask.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    ask.once("error", reject);
    ask.once("close", (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
}

function configOf({ start: { handshakeMs, sessionMs } }: Scene, { timeouts }: TurnPlan): object {
  return {
    timeouts: {
      handshakeS: handshakeMs / 1000,
      sessionS: sessionMs / 1000,
      firstByteS: timeouts.firstByteMs / 1000,
      idleS: timeouts.idleMs / 1000,
      toolS: timeouts.toolMs / 1000,
      turnS: timeouts.wallMs / 1000,
      cancelGraceS: timeouts.cancelGraceMs / 1000,
    },
    limits: { lineBytes: LINE_BYTES },
  };
}

/** The exit codes of the contract, as far as an ending of a scene can have them. */
const EXIT_CODES: Readonly<Partial<Record<Ending, number>>> = {
  completed: 0,
  refused: 7,
  truncated: 11,
  empty: 11,
  cancelled: 1,
  "failed/agent_died": 9,
  "failed/agent_spawn": 9,
  "failed/auth": 6,
  "failed/busy": 10,
  "failed/overloaded": 1,
  "failed/protocol": 9,
  "failed/rate_limit": 8,
  "failed/request_rejected": 1,
  "failed/service_error": 1,
  "failed/timeout": 3,
  "failed/unknown": 1,
  "failed/usage_limit": 8,
};
const EXIT_DENIED = 5;
const EXIT_BROKEN_PIPE = 141;

function faultsOf(scene: Scene, turn: TurnPlan, stage: Stage, ran: Ran, told: Told): string[] {
  const { disturbance, prompt, agent } = turn;
  const prompts = stage.prompts.filter((text) => text === prompt).length;
  const sentTooOften = prompts > agent.prompts ? [`${prompts} prompts reached the agent`] : [];
  if (ran.signal !== null) {
    told.ended("killed");
    const mayDie = disturbance.what === "kill" ? disturbance.victim === "ostler" : disturbance.what === "cancel";
    if (!mayDie) return [...sentTooOften, `was killed by ${ran.signal}`];
    // A signal before Ostler listens ends it as it ends any program: nothing has begun by then.
    const began = ran.signal !== "SIGKILL" && (ran.stdout !== "" || prompts > 0);
    return [...sentTooOften, ...(began ? [`${ran.signal} ended it without a result`] : [])];
  }
  if (disturbance.what === "leave" && ran.exitCode === EXIT_BROKEN_PIPE) {
    told.ended("unread");
    return sentTooOften;
  }
  if (scene.format === "text") {
    told.ended("told as text");
    const codes = [...allowedEndings(turn, scene)].flatMap((ending) => codesFor(ending, turn));
    return codes.includes(ran.exitCode ?? -1) ? sentTooOften : [...sentTooOften, `exit code ${ran.exitCode}`];
  }
  const lines = ran.stdout.split("\n").filter(Boolean);
  const objects = lines.map((line): Record<string, unknown> => JSON.parse(line));
  const results = objects.filter(({ type }) => type === "result");
  const result = objects.at(-1);
  if (results.length !== 1 || result === undefined || result["type"] !== "result")
    return disturbance.what === "leave" ? sentTooOften : [`${results.length} result lines in ${lines.length} lines`];
  const ending = readEnding(result);
  told.ended(ending);
  const faults = findFaults(turn, scene, {
    ending,
    text: String(result["text"]),
    attempts: Number(result["attempts"]),
    prompts,
  });
  if (result["exitCode"] !== ran.exitCode)
    faults.push(`the result says ${String(result["exitCode"])}, it left with ${ran.exitCode}`);
  if (!codesFor(ending, turn).includes(ran.exitCode ?? -1)) faults.push(`exit code ${ran.exitCode} for ${ending}`);
  return faults;
}

function readEnding({ outcome, failure }: Record<string, unknown>): Ending {
  const kind = typeof failure === "object" && failure !== null && "kind" in failure ? String(failure.kind) : "unknown";
  const ending = outcome === "failed" ? `failed/${kind}` : String(outcome);
  const known = Object.keys(EXIT_CODES).find((name) => name === ending);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name that is not known is a fault, and told as it came
  return (known ?? ending) as Ending;
}

/** A signal first, then the outcome's own code; a denied permission replaces success and a cancel of the harness. */
function codesFor(ending: Ending, { disturbance, agent }: TurnPlan): readonly number[] {
  const own = EXIT_CODES[ending] ?? 1;
  const denied = agent.denied && (ending === "completed" || ending === "cancelled") ? [EXIT_DENIED] : [];
  if (disturbance.what !== "cancel" || ending === "completed") return [own, ...denied];
  const signal = disturbance.by === "signal" ? 130 : 143;
  return ending === "cancelled" && !agent.endings.includes("cancelled") ? [signal] : [signal, own, ...denied];
}
