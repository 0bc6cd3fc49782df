/**
 * What is written down about one background command: its metadata, its output, its journal. The supervisor alone writes
 * the first two. A disk that is full for a while is waited for at the end, within bounds.
 */
import { delay } from "../acp/abort.ts";
import { thisProcess } from "../acp/this-process.ts";
import { cleanLine } from "../errors/redact.ts";
import { Journal } from "../failures/journal/journal.ts";
import type { Incident, JournalEvent } from "../failures/records.ts";
import { newRunId } from "../failures/runs/ids.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import type { MetaPatch, RunRegistry } from "../failures/runs/registry.ts";
import type { CommandLaunch } from "./command-run-launch.ts";
import { CommandOutput } from "./command-run-output.ts";

const MAX_TITLE_CHARS = 200;
/** How long the end of a run waits for a disk that takes nothing. */
const RETRY_MS = 1000;
const RETRIES = 30;

export class RunRecord {
  readonly id: string;
  readonly journal: Journal;
  readonly output: CommandOutput;
  readonly #registry: RunRegistry;
  /** What the metadata should say and does not yet. */
  #unwritten: MetaPatch = {};

  private constructor(registry: RunRegistry, id: string) {
    this.id = id;
    this.#registry = registry;
    this.output = new CommandOutput(registry.logFile(id));
    this.journal = Journal.open(registry.runFolder(id));
  }

  /** Writes down that a run begins. `confined`: a probe has proved it; else why not, one sentence each. Throws the system's error. */
  static create(registry: RunRegistry, launch: CommandLaunch, untrustedBecause: readonly string[]): RunRecord {
    const { kind, command, cwd, owner, operationId, expectedExitCodes, callback, confined } = launch;
    const meta: RunMeta = {
      version: 1,
      id: newRunId(kind),
      kind,
      status: "starting",
      createdAt: Date.now(),
      title: cleanLine(command.map(asWord).join(" "), MAX_TITLE_CHARS),
      cwd,
      supervisor: thisProcess(),
      taskRuntime: confined && untrustedBecause.length === 0,
      owner,
      ...(operationId !== undefined && { operationId }),
      ...(expectedExitCodes !== undefined && { expectedExitCodes }),
      callback,
      told: [],
      ...(confined && { untrustedBecause }),
    };
    registry.createRun(meta);
    return new RunRecord(registry, meta.id);
  }

  /** Undefined when it cannot be read. */
  get meta(): RunMeta | undefined {
    const meta = this.#registry.readMeta(this.id);
    return typeof meta === "string" ? undefined : meta;
  }

  /** The newest incident of an operation, while nothing has closed it. */
  unresolved(operation: string): Incident | undefined {
    const { current, incidents } = this.journal.state;
    const incident = incidents.get(current.get(operation) ?? "");
    return incident?.status === "unresolved" ? incident : undefined;
  }

  /** Resolves when it is on disk, or waits for the disk in memory. */
  async note(event: JournalEvent, { durable }: { readonly durable: boolean }): Promise<void> {
    await this.journal.append([event], { durable });
  }

  /** False when the metadata cannot be written now; the next change tries again. */
  update(patch: MetaPatch): boolean {
    this.#unwritten = { ...this.#unwritten, ...patch };
    try {
      if (this.#registry.updateMeta(this.id, this.#unwritten) === undefined) return false;
      this.#unwritten = {};
      return true;
    } catch {
      return false;
    }
  }

  /** Notes that a callback was handed over. Throws the system's error. */
  markTold(moment: RunMeta["told"][number]): void {
    this.#registry.updateMeta(this.id, ({ told }) => (told.includes(moment) ? undefined : { told: [...told, moment] }));
  }

  /** Writes the last of it. Never rejects. */
  async close(): Promise<void> {
    for (let tries = 0; tries < RETRIES && !this.#isWritten(); tries += 1) await delay(RETRY_MS);
    this.output.close();
    await this.journal.close();
  }

  #isWritten(): boolean {
    this.journal.refresh();
    return this.journal.pending === 0 && (Object.keys(this.#unwritten).length === 0 || this.update({}));
  }
}

/** As it would be typed, for a person. */
function asWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
