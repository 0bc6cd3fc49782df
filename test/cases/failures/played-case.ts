/**
 * One case of the failure observations, played by a scripted agent through `ostler ask` and looked at through
 * `ostler incidents`: while it is new, after the next call of its session, and as its log tells it to somebody who has
 * lost the journal.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Profile } from "../../../src/errors/failure.ts";
import { readJournal } from "../../../src/failures/journal/read-journal.ts";
import type { Incident } from "../../../src/failures/records.ts";
import type { RunRegistry } from "../../../src/failures/runs/registry.ts";
import { readToTheEnd } from "../../../src/host/settle-runs.ts";
import type { Action, Scenario } from "../../fixtures/agents/scenario.ts";
import { agentOption, chunk, end, logOf, reply } from "../../fixtures/agents/scenario.ts";
import { newFolder, run } from "../../surfaces/cli/run-main.ts";
import { registryIn } from "../../surfaces/cli/stored-runs.ts";

/** A case of failure observations, section 15. */
export interface NumberedCase extends FailureCase {
  readonly number: number;
}

export interface FailureCase {
  readonly name: string;
  /** What the agent does for each prompt; each is a call of `ostler ask` in one named session, and a new process. */
  readonly prompts: readonly (readonly Action[])[];
  /** Confined, with Ostler's own tools. */
  readonly trusted?: true;
  readonly profile?: Profile;
  /** Fields of the configuration file. */
  readonly config?: object;
  /** Which permissions are given; default `reads`, with `trusted` `all`. */
  readonly approve?: "all" | "reads" | "none";
  /** Further arguments of `ask`. */
  readonly argv?: readonly string[];
  /** It does not go on: one `ostler ask` without a session. */
  readonly oneShot?: true;
  /** What the n-th process does for other requests. */
  readonly processes?: readonly NonNullable<Scenario["on"]>[];
  /** What the agent does for the second and later processes' `session/load`. */
  readonly loads?: readonly Action[];
  /** Once the agent has said this, the person presses Ctrl-C. */
  readonly interruptAt?: string;
  /** As `ostler incidents list --history` orders them, in the words of {@link shown}. */
  readonly incidents: readonly string[];
  /** A good turn of the same session closes them: only what needs action for other reasons than a tool. */
  readonly recoversByGoodTurn?: true;
  /** What Ostler's tools answered, in order; the beginnings. */
  readonly answers?: readonly string[];
  /** How many incidents each call of `ask` told of that need somebody. */
  readonly told?: readonly number[];
  readonly more?: (played: PlayedCase) => void | Promise<void>;
}

/** An incident as `--json` shows it. */
export type ListedIncident = Incident & { readonly runId: string; readonly label: string };

const SESSION_NAME = "case";
const NEWLINE = 0x0a;
/** Of the state folder: what there is of runs. */
const KEPT_FOLDERS = ["runs", "provenance", "open-runs"];

export class PlayedCase {
  readonly folder = newFolder();
  readonly stderrs: string[] = [];
  readonly #row: FailureCase;
  readonly #agent: readonly string[];

  constructor(row: FailureCase) {
    this.#row = row;
    const { trusted, profile = "generic", approve = trusted === true ? "all" : "reads", config, argv = [] } = row;
    const agent = agentOption(scenarioOf(row), this.folder);
    if (config !== undefined) writeFileSync(join(this.folder, "config.json"), JSON.stringify(config));
    this.#agent = [
      "--agent",
      agent,
      "--profile",
      profile,
      "--approve",
      approve,
      ...(trusted === true ? ["--confined"] : []),
      ...(config === undefined ? [] : ["--config", "config.json"]),
      ...argv,
    ];
  }

  /** Every prompt of the case, one after the other. */
  async play(): Promise<void> {
    for (const index of this.#row.prompts.keys()) await this.ask(String(index + 1));
  }

  async ask(prompt: string): Promise<void> {
    const { interruptAt, oneShot } = this.#row;
    let isInterrupted = false;
    const session = oneShot === true ? [] : ["-s", SESSION_NAME];
    const { stderr } = await run(["ask", ...session, ...this.#agent, prompt], {
      folder: this.folder,
      onStdout: (text, signal) => {
        if (interruptAt === undefined || isInterrupted || !text.includes(interruptAt)) return;
        isInterrupted = true;
        signal("SIGINT");
      },
    });
    this.stderrs.push(stderr);
  }

  /** What `ostler incidents list` gives a program. */
  async incidents(...argv: readonly string[]): Promise<readonly ListedIncident[]> {
    const { stdout } = await run(["incidents", "list", "--json", "--bytes", "65536", ...argv], { folder: this.folder });
    const { incidents }: { readonly incidents: readonly ListedIncident[] } = JSON.parse(stdout);
    return incidents;
  }

  /** What Ostler's tools answered. */
  get answers(): readonly string[] {
    return logOf(join(this.folder, "agent.log")).flatMap(({ called }) => (called === undefined ? [] : [called.text]));
  }

  get registry(): RunRegistry {
    return registryIn(this.folder);
  }

  get runId(): string {
    const [id, ...more] = this.registry.ids();
    if (id === undefined || more.length > 0) throw new Error(`The case is not one run: ${this.registry.ids().join()}`);
    return id;
  }

  /** Number of the line that an incident's evidence points to; undefined when no line begins there. */
  lineOf({ evidence = "" }: Incident): number | undefined {
    const [, byte] = /^output\.log#byte=(\d+)$/.exec(evidence) ?? [];
    const log = readFileSync(this.registry.logFile(this.runId));
    const start = Number(byte);
    if (byte === undefined || (start > 0 && log[start - 1] !== NEWLINE)) return undefined;
    const line: { readonly n: number } = JSON.parse(log.toString("utf8", start, log.indexOf(NEWLINE, start)));
    return line.n;
  }

  /** The log of the run, read from its beginning where there is no journal. */
  async readAnew(): Promise<readonly Incident[]> {
    const { registry, folder } = copyWithoutJournal(this.folder, this.runId);
    const meta = registry.readMeta(this.runId);
    if (typeof meta === "string") throw new Error(`The metadata of the copy is ${meta}`);
    await readToTheEnd(registry, meta, JSON.stringify(this.#row.config ?? {}).includes('"strictRetry":true'));
    return [...readJournal(folder).incidents.values()];
  }
}

/** The run in the state folder of another test: its metadata, log, provenance and marks. */
export function copyWithoutJournal(from: string, id: string): { registry: RunRegistry; folder: string } {
  const [here, there] = [registryIn(from), registryIn(newFolder())];
  for (const folder of KEPT_FOLDERS) {
    const source = join(here.folder, "..", folder);
    if (existsSync(source)) cpSync(source, join(there.folder, "..", folder), { recursive: true, filter: isNoJournal });
  }
  return { registry: there, folder: there.runFolder(id) };
}

function isNoJournal(path: string): boolean {
  return !basename(path).startsWith("failures.jsonl");
}

/** `<label>: <category>, occurrences N, strikes N[, exit N]`. */
export function shown({ label, category, occurrences, strikes, exitCode }: ListedIncident): string {
  const exit = typeof exitCode === "number" ? `, exit ${exitCode}` : "";
  return `${label}: ${category}, occurrences ${occurrences}, strikes ${strikes}${exit}`;
}

function scenarioOf({ prompts, processes = [{}], loads = [] }: FailureCase): Scenario {
  const always = {
    initializeResult: { agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } } },
    prompts: {
      ...Object.fromEntries(prompts.map((actions, index) => [String(index + 1), [actions]])),
      "go on": [[chunk("Here I am"), end()]],
    },
  };
  return { runs: processes.map((on) => ({ ...always, on: { "session/load": [[...loads, reply({})]], ...on } })) };
}
