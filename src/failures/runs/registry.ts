/**
 * The runs of a state folder, on disk. `runs/<id>/` holds `meta.json`, `output.log` and `failures.jsonl`, and comes into
 * being whole; `open-runs/<id>` is an empty file for every run that Ostler is not done with, so that finding those costs
 * nothing for the thousands that are over. Folders 0700, files 0600.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../errors/system-code.ts";
import { withFileLock } from "./file-lock.ts";
import { isRunId, newestFirst } from "./ids.ts";
import { thisMachine } from "./machine.ts";
import type { RunMeta } from "./meta.ts";
import { ProvenanceRecords } from "./provenance.ts";
import { readRunMeta } from "./read-meta.ts";
import { isEnded, isSettled } from "./settled.ts";
import { readWhole, replaceWhole, syncFolder } from "./whole-file.ts";

const META_FILE = "meta.json";
/** Some hundred bytes, and what was typed. */
const MAX_META_BYTES = 256 * 1024;

/** What stays as it was made. */
export type MetaPatch = Partial<Omit<RunMeta, "version" | "id" | "kind" | "createdAt" | "taskRuntime">>;

export class RunRegistry {
  readonly provenance: ProvenanceRecords;
  readonly #runs: string;
  readonly #open: string;

  /** Makes nothing yet. `stateFolder` is `Paths.state`. */
  constructor(stateFolder: string) {
    this.provenance = new ProvenanceRecords(stateFolder);
    this.#runs = join(stateFolder, "runs");
    this.#open = join(stateFolder, "open-runs");
  }

  /** Where all runs are. */
  get folder(): string {
    return this.#runs;
  }

  /** Where notifications wait for somebody at a terminal; their names hold the id of the run. */
  get noticesFolder(): string {
    return join(this.#runs, "..", "notices");
  }

  /** What belongs to a run; its journal is here as well. Throws a TypeError for what is no id of a run. */
  runFolder(id: string): string {
    if (!isRunId(id)) throw new TypeError(`Not the id of a run: ${JSON.stringify(id.slice(0, 100))}`);
    return join(this.#runs, id);
  }

  logFile(id: string): string {
    return join(this.runFolder(id), "output.log");
  }

  metaFile(id: string): string {
    return join(this.runFolder(id), META_FILE);
  }

  /** What `withFileLock` locks a run's metadata by. */
  lockFile(id: string): string {
    return join(this.runFolder(id), "meta.lock");
  }

  /**
   * Puts a run there, whole, and its provenance before it where `taskRuntime` says that it is confined: call it before the
   * child starts. Throws the system's error, EEXIST for an id that is taken; then nothing of it is left.
   */
  createRun(meta: RunMeta): void {
    const { id, createdAt, supervisor } = meta;
    if (this.has(id)) throw Object.assign(new Error(`There is a run ${id} already`), { code: "EEXIST" });
    if (meta.taskRuntime) this.provenance.write({ version: 1, id, createdAt, supervisor });
    const made = join(this.#runs, `.new-${id}`);
    try {
      mkdirSync(made, { recursive: true, mode: 0o700 });
      replaceWhole(join(made, META_FILE), textOf({ ...meta, machine: thisMachine() }));
      this.#mark(meta);
      renameSync(made, this.runFolder(id));
      syncFolder(this.#runs);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      this.dropOpen(id);
      if (meta.taskRuntime) this.provenance.remove(id);
      throw error;
    }
  }

  /** `missing`: no such file, or no id of a run; `unreadable`: there is one that cannot be read, or that this version cannot rely on. */
  readMeta(id: string): RunMeta | "missing" | "unreadable" {
    if (!isRunId(id)) return "missing";
    let text: string;
    try {
      text = readWhole(this.metaFile(id), MAX_META_BYTES);
    } catch (error) {
      return ["ENOENT", "ENOTDIR"].includes(systemCode(error)) ? "missing" : "unreadable";
    }
    const meta = readRunMeta(text);
    return meta?.id === id ? meta : "unreadable";
  }

  /**
   * Changes the metadata, alone among all processes; a function decides on what stands there now, and leaves it with
   * undefined. Gives what stands there then; undefined when that cannot be read, and then changes nothing. Throws the
   * system's error.
   */
  updateMeta(id: string, change: MetaPatch | ((meta: RunMeta) => MetaPatch | undefined)): RunMeta | undefined {
    if (typeof this.readMeta(id) === "string") return undefined;
    return withFileLock(this.lockFile(id), () => {
      const meta = this.readMeta(id);
      if (typeof meta === "string") return undefined;
      const patch = typeof change === "function" ? change(meta) : change;
      if (patch === undefined) return meta;
      const changed = current({ ...meta, ...patch });
      this.writeMeta(changed);
      return changed;
    });
  }

  /** Puts the whole metadata there, for a supervisor whose `meta.json` was damaged under it. Throws the system's error. */
  writeMeta(meta: RunMeta): void {
    this.#mark(meta);
    replaceWhole(this.metaFile(meta.id), textOf(meta));
    if (isSettled(meta)) rmSync(join(this.#open, meta.id), { force: true });
  }

  /** The ids of all runs, the newest first. */
  ids(): string[] {
    return namesIn(this.#runs).filter(isRunId).toSorted(newestFirst);
  }

  /** All runs, the newest first, as `readMeta` reads them; a run that is removed meanwhile is left out. */
  list(): { readonly id: string; readonly meta: RunMeta | "unreadable" }[] {
    return this.ids().flatMap((id) => {
      const meta = this.readMeta(id);
      if (meta !== "missing") return [{ id, meta }];
      return this.has(id) ? [{ id, meta: "unreadable" as const }] : [];
    });
  }

  /** The runs that Ostler is not done with: not over, or over and not told. The newest first. */
  openIds(): string[] {
    return namesIn(this.#open).filter(isRunId).toSorted(newestFirst);
  }

  /** When a run became one that Ostler is not done with, ms since 1970; NaN for one that is not. */
  openedAt(id: string): number {
    return statSync(join(this.#open, id), { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN;
  }

  /** When anything of a run was last written, ms since 1970; 0 for one that is not there. */
  lastSignOf(id: string): number {
    const files = [this.metaFile(id), this.logFile(id)];
    return Math.max(0, ...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
  }

  /** Whether there is a run of this name, readable or not. */
  has(id: string): boolean {
    return isRunId(id) && statSync(this.runFolder(id), { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** Forgets that a run is open, for one that is not there any more. */
  dropOpen(id: string): void {
    if (isRunId(id)) rmSync(join(this.#open, id), { force: true });
  }

  /** Before the metadata says so: a crash in between leaves a mark too many, which the next look takes away. */
  #mark(meta: RunMeta): void {
    if (isSettled(meta)) return;
    const mark = join(this.#open, meta.id);
    if (statSync(mark, { throwIfNoEntry: false }) !== undefined) return;
    mkdirSync(this.#open, { recursive: true, mode: 0o700 });
    writeFileSync(mark, "", { mode: 0o600 });
    syncFolder(this.#open);
  }
}

/** A run that goes on again has no end any more. */
function current(meta: RunMeta): RunMeta {
  if (isEnded(meta.status)) return meta;
  const { endedAt: _endedAt, ...goesOn } = meta;
  return goesOn;
}

function textOf(meta: RunMeta): string {
  return `${JSON.stringify(meta)}\n`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
