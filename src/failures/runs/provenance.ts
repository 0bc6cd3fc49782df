/**
 * The record that Ostler itself started a run under confinement: outside every run's folder, where nothing confined can
 * write, and made before the child starts (failure observations, section 10).
 */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OwnerIdentity } from "../../acp/this-process.ts";
import { isRunId } from "./ids.ts";
import { systemCode } from "../../errors/system-code.ts";
import { createWhole, readWhole } from "./whole-file.ts";

/** A record has some 200 bytes. */
const MAX_RECORD_BYTES = 16 * 1024;
/** A run is made right after its record: one without a run is left over when it is older. */
const LEFT_OVER_MS = 3600 * 1000;

export interface Provenance {
  readonly version: 1;
  readonly id: string;
  readonly createdAt: number;
  readonly supervisor: OwnerIdentity;
}

/** `provenance/<runId>.json` in the state folder. */
export class ProvenanceRecords {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, "provenance");
  }

  fileOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }

  /** Throws the system's error; EEXIST when there is a record of that run already. */
  write(record: Provenance): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    createWhole(this.fileOf(record.id), `${JSON.stringify(record)}\n`);
  }

  /** `proved`: there is one, and it is that run's. `unknown`: it may be there, and could not be read. */
  read(id: string): "proved" | "absent" | "unknown" {
    let text: string;
    try {
      text = readWhole(this.fileOf(id), MAX_RECORD_BYTES);
    } catch (error) {
      return systemCode(error) === "ENOENT" ? "absent" : "unknown";
    }
    return isRecordOf(id, text) ? "proved" : "absent";
  }

  /** After a launch that failed, or with its run. Throws the system's error. */
  remove(id: string): void {
    rmSync(this.fileOf(id), { force: true });
  }

  /** Removes what has no run and is older than an hour; gives the ids. Does not throw. */
  sweep(hasRun: (id: string) => boolean, now: number): string[] {
    return namesIn(this.#folder).flatMap((name) => {
      const file = join(this.#folder, name);
      const id = /^(.+)\.json(?:\.\d+\.new)?$/.exec(name)?.[1] ?? "";
      try {
        if (!isRunId(id) || now - statSync(file).mtimeMs <= LEFT_OVER_MS) return [];
        if (name.endsWith(".json") && hasRun(id)) return [];
        rmSync(file, { force: true });
        return [id];
      } catch {
        return [];
      }
    });
  }
}

function isRecordOf(id: string, text: string): boolean {
  try {
    const { version, id: found }: Record<string, unknown> = JSON.parse(text);
    return version === 1 && found === id;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
