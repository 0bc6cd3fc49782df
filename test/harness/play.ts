/** Plays a scenario on the real adapter and says what happened, and what of the row's promises did not. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFailed } from "vitest";
import { startAnthropic, type AnthropicStep } from "../model-service/anthropic.ts";
import { startOpenAi, type OpenAiStep } from "../model-service/openai.ts";
import { refusedUrl, type JsonObject, type ModelService } from "../model-service/server.ts";
import { runAsk, type AskRun } from "./ask.ts";
import { startOutboundGuard } from "./outbound-guard.ts";
import { codexConfigFile } from "./scenario-files.ts";
import {
  codexConfig,
  createScenarioHome,
  DUMMY_KEYS,
  scenarioEnv,
  type HarnessName,
  type ScenarioHome,
} from "./scenario-home.ts";
import type { Scenario, Script } from "./scenario.ts";

/** What one run did. */
export interface Observation {
  readonly exitCode: number | undefined;
  /** The result object; undefined in a format without one. */
  readonly result: JsonObject | undefined;
  readonly stdout: string;
  /** Turn requests that reached the service. */
  readonly prompts: number;
  /** Requests in which a second model was asked to approve a tool. */
  readonly secondModelAsked: number;
  /** Names in the workspace. */
  readonly files: readonly string[];
  /** Patterns of the row that were not printed, were printed all the same, or were not in the request. */
  readonly unkept: readonly string[];
  /** Lines that break the form of the output. */
  readonly malformedOutput: readonly string[];
  readonly stackTraces: readonly string[];
  readonly secretsPrinted: readonly string[];
  /** Secrets in Ostler's own files. */
  readonly secretsKept: readonly string[];
  /** Command lines of processes that outlived the CLI. */
  readonly processesLeft: readonly string[];
  /** Hosts other than 127.0.0.1 that somebody wanted to reach. */
  readonly outbound: readonly string[];
}

/** Plays one scenario of codex. */
export function playCodex(scenario: Scenario<OpenAiStep>): Promise<Observation> {
  return play("codex", scenario, startOpenAi);
}

/** Plays one scenario of Claude Code. */
export function playClaude(scenario: Scenario<AnthropicStep>): Promise<Observation> {
  return play("claude", scenario, startAnthropic);
}

/** What codex's sandbox mounts over in a workspace that has none of it. */
const MOUNT_POINTS: ReadonlySet<string> = new Set([".agents", ".aws", ".codex", ".git"]);

const PROMPT = "Please do the scripted task.";

async function play<Step>(
  harness: HarnessName,
  scenario: Scenario<Step>,
  start: (script: Script<Step>) => Promise<ModelService>,
): Promise<Observation> {
  const home = createScenarioHome();
  try {
    await using guard = await startOutboundGuard();
    await using service = scenario.service === "nothing listens" ? null : await start(scriptOf(scenario.service, home));
    const serviceUrl = service?.url ?? (await refusedUrl());
    const surroundings = { serviceUrl, proxyUrl: guard.url, adaptersHome: inject("adaptersHome") };
    const env = withChanges(scenarioEnv(home, surroundings), scenario.env ?? {});
    codexConfigFile(home, codexConfig(serviceUrl));
    const files = scenario.prepare?.(home, serviceUrl) ?? [];
    const turnArrived = service?.untilTurn(1) ?? Promise.resolve();
    const run = await runAsk(home, env, [...askArguments(harness, scenario), ...files, PROMPT], {
      strike: scenario.interrupt && { ...scenario.interrupt, harness, turnArrived },
      onAnswer: () => void Promise.resolve(scenario.untilRelease?.()).then(() => service?.release()),
    });
    onTestFailed(() => console.error(`--- stdout\n${shortened(run.stdout)}\n--- stderr\n${shortened(run.stderr)}`));
    return { ...observe(scenario, run, service, home), outbound: guard.attempts };
  } finally {
    home.remove();
  }
}

/** For the report of a failed test: long lines (the list of slash commands) cut. */
function shortened(output: string): string {
  return output.replace(/^(.{800}).+$/gm, "$1…");
}

function scriptOf<Step>(
  service: Script<Step> | ((home: ScenarioHome) => Script<Step>),
  home: ScenarioHome,
): Script<Step> {
  return typeof service === "function" ? service(home) : service;
}

function askArguments<Step>(harness: HarnessName, { ask = [], format = "ndjson" }: Scenario<Step>): string[] {
  const retries = ask.includes("--retries") ? [] : ["--retries", "0"];
  return ["--backend", harness, "--format", format, ...retries, ...ask];
}

function withChanges(
  env: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const all = Object.entries({ ...env, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

function observe<Step>(
  { expect: { says = [], never = [], sent = [], mountPointsMayStay }, format = "ndjson" }: Scenario<Step>,
  run: AskRun,
  service: ModelService | null,
  home: ScenarioHome,
): Omit<Observation, "outbound"> {
  const printed = `${run.stdout}\n${run.stderr}`;
  const request = JSON.stringify(service?.requests.find(({ role }) => role === "turn")?.body) ?? "";
  const { result, malformedOutput } = readOutput(run.stdout, format);
  return {
    exitCode: run.exitCode,
    result,
    stdout: run.stdout,
    prompts: service?.count("turn") ?? 0,
    secondModelAsked: service?.count("guardian") ?? 0,
    files: readdirSync(home.workspace)
      .filter((name) => mountPointsMayStay !== true || !MOUNT_POINTS.has(name))
      .sort(),
    unkept: [
      ...says.filter((pattern) => !pattern.test(printed)).map((pattern) => `not printed: ${pattern}`),
      ...never.filter((pattern) => pattern.test(printed)).map((pattern) => `printed: ${pattern}`),
      ...sent.filter((pattern) => !pattern.test(request)).map((pattern) => `not sent: ${pattern}`),
    ],
    malformedOutput,
    stackTraces: printed.match(/^\s+at .+:\d+:\d+\)?$/gm) ?? [],
    secretsPrinted: secretsIn([printed]),
    secretsKept: secretsIn(contentsBelow(home.state)),
    processesLeft: run.left,
  };
}

/** Every line of ndjson is an object with a type, and the result is the last one and the only one. */
function readOutput(
  stdout: string,
  format: string,
): { readonly result: JsonObject | undefined; readonly malformedOutput: readonly string[] } {
  if (format !== "ndjson" && format !== "json") return { result: undefined, malformedOutput: [] };
  const lines = stdout.trimEnd().split("\n");
  const objects = lines.map(readObject);
  const result = objects.at(-1);
  return {
    result,
    malformedOutput: lines.filter((_, index) => {
      const type = objects[index]?.["type"];
      return typeof type !== "string" || (type === "result") !== (index === lines.length - 1);
    }),
  };
}

function readObject(line: string): JsonObject | undefined {
  try {
    const value: JsonObject = JSON.parse(line);
    return value;
  } catch {
    return undefined;
  }
}

function secretsIn(texts: readonly string[]): string[] {
  return Object.values(DUMMY_KEYS).filter((key) => texts.some((text) => text.includes(key)));
}

function contentsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}
