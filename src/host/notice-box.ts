/**
 * Notifications that wait for somebody at a terminal: one file each in `notices/` of the state folder. Whoever shows one
 * claims it first by renaming it, so that of two Ostlers only one does; a claim of one that died is taken over.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { currentOwnerName, thisSystem } from "../acp/this-process.ts";
import type { Notification, NotificationSink } from "../failures/notification.ts";
import { createWhole, readWhole } from "../failures/runs/whole-file.ts";

/** More are left for the next command. */
const MAX_SHOWN = 20;
/** A notification has 16 KiB at most. */
const MAX_NOTICE_BYTES = 64 * 1024;
/** So long a claim of another system is believed, whose processes cannot be seen from here. */
const FOREIGN_CLAIM_MS = 24 * 3_600_000;
const WAITING = /\.txt$/;
/** `<notice>.claimed-by-<pid>-<start>@<system>`. */
const CLAIMED = /^(.+\.txt)\.claimed-by-(\d+)-([^@]*)@(.+)$/;

export class NoticeBox implements NotificationSink {
  readonly #folder: string;
  #count = 0;

  /** @param state the state folder, see `Paths` */
  constructor(state: string) {
    this.#folder = join(state, "notices");
  }

  /** Resolves when the words are on disk. */
  async deliver({ runId, text }: Notification): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#count += 1;
    createWhole(join(this.#folder, `${Date.now()}-${runId}-${process.pid}-${this.#count}.txt`), text);
  }

  /** Whether there may be something to show: one look into a folder. */
  get isFilled(): boolean {
    return this.#names().length > 0;
  }

  /** Shows what waits, the oldest first, and removes each once `show` has resolved. Never throws for a broken box. */
  async empty(show: (text: string) => Promise<void>): Promise<void> {
    for (const name of this.#names().toSorted().slice(0, MAX_SHOWN)) {
      const claimed = this.#claim(name);
      if (claimed === undefined) continue;
      const text = readNotice(claimed);
      if (text !== undefined) await show(text);
      quietly(() => rmSync(claimed));
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => WAITING.test(name) || this.#isAbandoned(name));
    } catch {
      return [];
    }
  }

  /** The path under which it is ours; undefined when another was faster. */
  #claim(name: string): string | undefined {
    const [, notice = name] = CLAIMED.exec(name) ?? [];
    const claimed = join(this.#folder, `${notice}.claimed-by-${currentOwnerName(process.pid)}@${thisSystem()}`);
    try {
      renameSync(join(this.#folder, name), claimed);
      return claimed;
    } catch {
      return undefined;
    }
  }

  #isAbandoned(name: string): boolean {
    const [, , pid, start, system] = CLAIMED.exec(name) ?? [];
    if (pid === undefined) return false;
    if (system === thisSystem()) return currentOwnerName(Number(pid)) !== `${pid}-${start}`;
    const changed = statSync(join(this.#folder, name), { throwIfNoEntry: false })?.ctimeMs;
    return changed !== undefined && Date.now() - changed > FOREIGN_CLAIM_MS;
  }
}

function readNotice(file: string): string | undefined {
  try {
    return readWhole(file, MAX_NOTICE_BYTES);
  } catch {
    return undefined;
  }
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {}
}
