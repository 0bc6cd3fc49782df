/**
 * A small file for every running agent. An Ostler that is killed with SIGKILL ends nothing; the next one finds its files
 * and ends what they name. A file is believed only where pid and start time, or the mark of that run, still fit.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentProcess, ProcessLedger } from "../acp/ports.ts";
import { inheritedMark, isMark } from "../acp/process-mark.ts";
import { ProcessTree } from "../acp/process-tree.ts";
import { isAlive, sessionGoesOn, startTimeOf } from "../acp/processes.ts";
import { ensureStateFolder } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { readSmallFile } from "./state-file.ts";
import { systemCode } from "../errors/system-code.ts";
import { currentOwnerName, thisSystem } from "../acp/this-process.ts";

/** A lease has some 200 bytes. */
const MAX_LEASE_BYTES = 64 * 1024;
/** How many files one start looks at; the others are met by the next. */
const MAX_LEASES = 500;

/** `leases/<system>/<owner>/<agent pid>.json` in the state folder. Its methods do not throw. */
export class Leases implements ProcessLedger {
  readonly #paths: Paths;
  readonly #root: string;
  readonly #system: string;
  #own: string | undefined;
  #problem: string | undefined;
  #told = false;

  constructor(paths: Paths) {
    this.#paths = paths;
    this.#root = join(paths.state, "leases");
    this.#system = join(this.#root, thisSystem());
  }

  started(agent: AgentProcess): void {
    const file = this.#fileOf(agent);
    try {
      ensureStateFolder(this.#paths);
      mkdirSync(this.#ownFolder, { recursive: true, mode: 0o700 });
      const owner = { pid: process.pid, startedAt: startTimeOf(process.pid) };
      // Whole or not at all: what stands there already is still true.
      writeFileSync(`${file}.new`, JSON.stringify({ ...agent, owner }), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (error) {
      this.#problem = systemCode(error) || "unknown";
      quietly(() => rmSync(`${file}.new`, { force: true }));
    }
  }

  ended(agent: AgentProcess): void {
    quietly(() => rmSync(this.#fileOf(agent), { force: true }));
    quietly(() => rmdirSync(this.#ownFolder));
  }

  /** A sentence, once, when an agent could not be written down. */
  takeProblem(): string | undefined {
    if (this.#problem === undefined || this.#told) return undefined;
    this.#told = true;
    return `Agents cannot be written down in ${this.#root} (${this.#problem}): if Ostler is killed, the next start cannot end them`;
  }

  /** Ends what Ostlers that are dead left running. Resolves when it is gone, or after a bounded wait stays. */
  async reap(): Promise<void> {
    const owners = list(this.#system).filter(
      (name) => /^\d+-/.test(name) && name !== currentOwnerName(Number.parseInt(name, 10)),
    );
    await Promise.all(owners.slice(0, MAX_LEASES).map((owner) => this.#reapOwner(owner)));
  }

  async #reapOwner(owner: string): Promise<void> {
    const folder = join(this.#system, owner);
    await Promise.all(
      list(folder)
        .slice(0, MAX_LEASES)
        .map(async (name) => {
          const file = join(folder, name);
          const agent = readLease(file);
          if (agent === undefined) quietly(() => this.#setAside(file, `${owner}-${name}`));
          else if (await endAgent(agent)) quietly(() => rmSync(file, { force: true }));
        }),
    );
    quietly(() => rmdirSync(folder));
  }

  #setAside(file: string, name: string): void {
    const folder = join(this.#root, "unreadable");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    renameSync(file, join(folder, name));
  }

  get #ownFolder(): string {
    this.#own ??= join(this.#system, currentOwnerName(process.pid));
    return this.#own;
  }

  #fileOf({ pid }: AgentProcess): string {
    return join(this.#ownFolder, `${pid}.json`);
  }
}

/** False when something of it is still there, or when this Ostler runs inside that very tree. */
async function endAgent({ pid, startedAt, mark, heldUntil }: Lease): Promise<boolean> {
  if (mark === inheritedMark()) return false;
  const leader = { pid, startedAt };
  const leaderIsAlive = (): boolean => isAlive(leader);
  const ownsGroup = leaderIsAlive() || sessionGoesOn(leader, heldUntil);
  return new ProcessTree(pid, { mark, leaderIsAlive, ownsGroup }).end();
}

type Lease = Omit<AgentProcess, "file">;

function readLease(file: string): Lease | undefined {
  try {
    const { pid, startedAt, mark, heldUntil }: Record<string, unknown> = JSON.parse(
      readSmallFile(file, MAX_LEASE_BYTES),
    );
    // A group signal to number 1 reaches every process of the user.
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
    if (typeof startedAt !== "string" || typeof mark !== "string" || !isMark(mark)) return undefined;
    return { pid, startedAt, mark, heldUntil: typeof heldUntil === "number" ? heldUntil : 0 };
  } catch {
    return undefined;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What cannot be tidied up now is met again by the next start. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {}
}
