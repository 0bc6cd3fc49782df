/**
 * Crashes on disk, so that the Ostlers of one person share one count: `crashes/<backend>.jsonl` in the state folder, one
 * crash a line, appended by whoever saw it. The folder does not exist while nothing ever crashed.
 */
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { CommandLine } from "../acp/ports.ts";
import { createMemoryLedger } from "../acp/restart-budget.ts";
import type { CrashLedger } from "../acp/restart-budget.ts";
import type { Crash } from "../acp/restart-policy.ts";
import { cleanBlock, cleanLine } from "../errors/redact.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { appendText, readLastLines } from "./state-file.ts";
import { systemCode } from "../errors/system-code.ts";

const MAX_TITLE_CHARS = 400;
const MAX_STDERR_CHARS = 2000;
/** A file that has grown over this is written anew with what still counts: the longest period is a day, the longest burst 100. */
const MAX_FILE_BYTES = 64 * 1024;
/** How much is read of a file that something else made larger. */
const MAX_READ_BYTES = 256 * 1024;
const KEPT_MS = 24 * 3600 * 1000;
const KEPT_CRASHES = 100;

/** The ledger of one state folder. Its methods do not throw; what cannot be written is kept in memory. */
export class CrashFiles implements CrashLedger {
  readonly #paths: Paths;
  readonly #folder: string;
  readonly #unwritten = createMemoryLedger();
  #problem: string | undefined;
  #told = false;

  constructor(paths: Paths) {
    this.#paths = paths;
    this.#folder = join(paths.state, "crashes");
  }

  read(backend: string): readonly Crash[] {
    return [...readCrashes(this.#fileOf(backend)), ...this.#unwritten.read(backend)];
  }

  add(backend: string, crash: Crash): void {
    const title = cleanLine(crash.title, MAX_TITLE_CHARS);
    const stderr = cleanBlock(crash.stderr, MAX_STDERR_CHARS, "end");
    const { at, livedMs, program } = crash;
    const scrubbed = { at, livedMs, program, title, stderr };
    try {
      ensureStateFolder(this.#paths);
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const file = this.#fileOf(backend);
      // The line end before it: the last line may be torn.
      appendText(file, `\n${JSON.stringify(scrubbed)}\n`);
      if (statSync(file).size > MAX_FILE_BYTES) shorten(file, at);
    } catch (error) {
      this.#problem = systemCode(error) || "unknown";
      this.#unwritten.add(backend, scrubbed);
    }
  }

  clear(backend: string): boolean {
    const hadSome = this.read(backend).length > 0;
    this.#unwritten.clear(backend);
    try {
      rmSync(this.#fileOf(backend), { force: true });
    } catch (error) {
      this.#problem = systemCode(error) || "unknown";
    }
    return hadSome;
  }

  /** A sentence, once, when the folder could not be changed. */
  takeProblem(): string | undefined {
    if (this.#problem === undefined || this.#told) return undefined;
    this.#told = true;
    return `Crashes cannot be written down in ${this.#folder} (${this.#problem}): other Ostlers do not know of them`;
  }

  /** One file for one name, whatever the name is. */
  #fileOf(backend: string): string {
    return join(this.#folder, `${encodeURIComponent(backend.toWellFormed())}.jsonl`);
  }
}

/**
 * What is started, for `RuntimeSpec.program`: name, size and time of change of the program and of the files among its
 * arguments (`node agent.mjs`). Repaired or updated, it is another one.
 */
export function identifyProgram(at: string, { args }: Pick<CommandLine, "args">, cwd: string): string {
  const files = [at, ...args.filter((argument) => !argument.startsWith("-"))];
  const marks = files.flatMap((file) => {
    try {
      const stat = statSync(resolve(cwd, file));
      return stat.isFile() ? [`${basename(file)}:${stat.size}:${stat.mtimeMs}`] : [];
    } catch {
      return [];
    }
  });
  return marks.join(" ") || basename(at);
}

function readCrashes(file: string): Crash[] {
  let text: string;
  try {
    text = readLastLines(file, MAX_READ_BYTES);
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const crash = readCrash(line);
    return crash === undefined ? [] : [crash];
  });
}

/** A torn or foreign line is no crash. */
function readCrash(line: string): Crash | undefined {
  try {
    const { at, livedMs, program, title, stderr }: Record<string, unknown> = JSON.parse(line);
    if (!Number.isFinite(at) || !Number.isFinite(livedMs)) return undefined;
    if (typeof at !== "number" || typeof livedMs !== "number") return undefined;
    if (typeof program !== "string" || typeof title !== "string" || typeof stderr !== "string") return undefined;
    return { at, livedMs, program, title, stderr };
  } catch {
    return undefined;
  }
}

/** What another process appends between reading and renaming is lost: one crash less in a count of many. */
function shorten(file: string, now: number): void {
  const kept = readCrashes(file)
    .filter(({ at }) => now - at < KEPT_MS)
    .slice(-KEPT_CRASHES);
  const next = `${file}.${process.pid}`;
  writeFileSync(next, kept.map((crash) => `${JSON.stringify(crash)}\n`).join(""), { mode: 0o600 });
  renameSync(next, file);
}
