/** Where a scene is played: a folder of its own, whose path every process of the scene carries in its environment. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promptsIn, scenarioFile } from "../fixtures/agents/scenario.ts";
import { killAll, processesOf } from "../harness/processes.ts";
import type { LiveProcess } from "../harness/processes.ts";
import type { Moment, Scene, Victim } from "./scene.ts";

const AGENTS = fileURLToPath(new URL("../fixtures/agents", import.meta.url));

/** What a kill looks for in the command lines of the scene's processes. */
const VICTIMS: Readonly<Record<Victim, (process: LiveProcess) => boolean>> = {
  agent: ({ command }) => /^\S+ \S+scripted\.mjs /.test(command),
  launcher: ({ command }) => /^\S+ \S+launcher\.mjs /.test(command),
  grandchild: ({ command }) => /^\S+ -e /.test(command),
  ostler: ({ command }) => /^\S+ \S+ostler\.js ask /.test(command),
};

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), "ostler-chaos-"));
  readonly log = join(this.folder, "agent.log");
  /** For createHost and for the CLI. */
  readonly env: Readonly<Record<string, string>> = {
    PATH: process.env["PATH"] ?? "",
    OSTLER_HOME: join(this.folder, "home"),
    AGENT_LOG: this.log,
  };
  #scenario: string | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();

  /** The value of `--agent`. */
  agentOption({ start: { launcher, scenario } }: Scene): string {
    const words = [process.execPath];
    if (launcher !== "none") {
      const how = launcher === "leaves" ? { leaves: "now" } : {};
      words.push(join(AGENTS, "launcher.mjs"), `'${JSON.stringify(how)}'`, process.execPath);
    }
    this.#scenario ??= scenarioFile(scenario, this.folder);
    return [...words, join(AGENTS, "scripted.mjs"), this.#scenario].join(" ");
  }

  /** Does something at a moment; `events` tells how many events there were when another one comes. */
  at(moment: Moment, act: () => void): { events: (count: number) => void } {
    if (moment === "early" || moment === "same tick") act();
    else if ("afterMs" in moment) this.after(moment.afterMs, act);
    else {
      let done = false;
      return {
        events: (count) => {
          if (done || count < moment.afterEvents) return;
          done = true;
          act();
        },
      };
    }
    return { events: () => {} };
  }

  after(ms: number, act: () => void): void {
    this.#timers.add(setTimeout(act, ms));
  }

  /** Kills every such process that there is. */
  kill(victim: Victim): void {
    killAll(processesOf(this.folder).filter(VICTIMS[victim]));
  }

  /** How many agents run. A process that one of them has just forked still looks like it. */
  get agents(): number {
    const agents = processesOf(this.folder).filter((found) => VICTIMS.agent(found) && !found.isKilled);
    return agents.filter(({ parent }) => agents.every(({ pid }) => pid !== parent)).length;
  }

  /** The texts of the prompts that reached an agent, in order. */
  get prompts(): readonly string[] {
    return promptsIn(this.log).map(({ params }) => readText(params?.["prompt"]));
  }

  /** A permission question reached whoever decides, before any cancel. */
  readonly openQuestions = new Set<string>();

  /** What is left when all should be gone: processes, and files that name some. */
  leftovers(): string[] {
    const processes = processesOf(this.folder).map(({ pid, command }) => `process ${pid} is left: ${command}`);
    const leases = join(this.folder, "home/state/leases");
    const files = !existsSync(leases)
      ? []
      : readdirSync(leases, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return [...processes, ...files.map(({ parentPath, name }) => `lease ${join(parentPath, name)} is left`)];
  }

  /** There are processes left, and every one of them was killed. */
  get isBurying(): boolean {
    const left = processesOf(this.folder);
    return left.length > 0 && left.every(({ isKilled }) => isKilled);
  }

  /** Ends what a fault left; keeps the folder for whoever looks into it. */
  clear({ keep }: { keep: boolean }): void {
    for (const timer of this.#timers) clearTimeout(timer);
    killAll(processesOf(this.folder));
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}

function readText(prompt: unknown): string {
  const [block]: readonly unknown[] = Array.isArray(prompt) ? prompt : [];
  return typeof block === "object" && block !== null && "text" in block ? String(block.text) : "";
}

/** The value, or `undefined` when it does not come in time. */
export async function within<T>(budgetMs: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), budgetMs);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
