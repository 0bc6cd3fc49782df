/** Supervises real commands in process, and reads back what was written down. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { thisSystem } from "../../src/acp/this-process.ts";
import { labelOf } from "../../src/failures/incidents/labels.ts";
import { Journal } from "../../src/failures/journal/journal.ts";
import type { Incident } from "../../src/failures/records.ts";
import type { RunMeta } from "../../src/failures/runs/meta.ts";
import { RunRegistry } from "../../src/failures/runs/registry.ts";
import type { CommandLaunch, RunNews } from "../../src/host/command-run-launch.ts";
import { superviseRun } from "../../src/host/command-run.ts";
import { ostlerPaths } from "../../src/host/paths.ts";

/** What a run was and left, read anew from the disk. */
export interface Supervised {
  readonly id: string;
  readonly news: readonly RunNews[];
  readonly meta: RunMeta;
  readonly log: Buffer;
  readonly incidents: readonly Incident[];
  /** `<label> · <summary>`. */
  readonly labels: readonly string[];
  /** Words of the notifications that whoever waited was shown. */
  readonly notices: readonly string[];
}

/** What a test may do while it runs. */
export interface WhileRunning {
  readonly stop: () => void;
  readonly kill: () => void;
  readonly logFile: string;
  readonly runId: string;
}

/** A folder of Ostler's own, removed with the test. */
export class World {
  readonly folder = mkdtempSync(join(tmpdir(), "ostler-run-"));
  readonly env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], OSTLER_HOME: this.folder };
  readonly paths = ostlerPaths(this.env);
  readonly registry = new RunRegistry(this.paths.state);

  constructor() {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Runs a line for `sh` to its end. `isHeard`: whether somebody reads the news. */
  async supervise(
    line: string,
    changes: Partial<CommandLaunch> = {},
    { onStarted = () => {}, isHeard = true }: { onStarted?: (running: WhileRunning) => void; isHeard?: boolean } = {},
  ): Promise<Supervised> {
    const launch: CommandLaunch = {
      kind: changes.watch === undefined ? "command" : "watch",
      command: ["sh", "-c", line],
      cwd: this.folder,
      owner: `process:${thisSystem()}:1`,
      callback: true,
      confined: false,
      awaited: true,
      ...changes,
    };
    const stop = new AbortController();
    const kill = new AbortController();
    const news: RunNews[] = [];
    const tell = async (told: RunNews): Promise<boolean> => {
      news.push(told);
      if (told.type === "started") {
        const logFile = this.registry.logFile(told.runId);
        onStarted({ stop: () => stop.abort(), kill: () => kill.abort(), logFile, runId: told.runId });
      }
      return isHeard;
    };
    const requests = { stop: stop.signal, kill: kill.signal };
    await superviseRun(launch, { paths: this.paths, env: this.env, tell, requests });
    const begun = news.find((told) => told.type === "started" || told.type === "unstarted");
    if (begun === undefined) throw new Error(`Nothing was started: ${JSON.stringify(news)}`);
    const incidents = this.incidentsOf(begun.runId);
    return {
      id: begun.runId,
      news,
      meta: this.metaOf(begun.runId),
      log: readFileSync(this.registry.logFile(begun.runId)),
      incidents,
      labels: incidents.map((incident) => `${labelOf(incident)} · ${incident.summary}`),
      notices: news.flatMap((told) => (told.type === "notice" ? [told.text] : [])),
    };
  }

  metaOf(id: string): RunMeta {
    const meta = this.registry.readMeta(id);
    if (typeof meta === "string") throw new Error(`The metadata of ${id} is ${meta}`);
    return meta;
  }

  /** As another process folds them. */
  incidentsOf(id: string): Incident[] {
    return [...Journal.open(this.registry.runFolder(id)).state.incidents.values()];
  }
}
