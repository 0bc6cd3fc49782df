/** Another process that appends to a journal, one step after the other. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JournalEvent } from "../../../src/failures/records.ts";
import type { ShownState } from "./shown-state.ts";

const PROGRAM = fileURLToPath(new URL("./journal-writer.ts", import.meta.url));

export type Step =
  | { readonly do: "append"; readonly events: readonly JournalEvent[]; readonly durable: boolean }
  | { readonly do: "refresh" }
  | { readonly do: "close" };

export interface Known extends ShownState {
  readonly stored?: "stored" | "pending";
  readonly pending: number;
}

export class JournalProcess {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  /** The journal of this folder. It sees the same files as this process. */
  constructor(folder: string) {
    const child = spawn(process.execPath, ["--no-warnings", PROGRAM, folder], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** What is known when the step is done. */
  async take(step: Step): Promise<Known> {
    this.#child.stdin?.write(`${JSON.stringify(step)}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error("The process with the journal is gone");
    return JSON.parse(value);
  }

  append(events: readonly JournalEvent[], durable = false): Promise<Known> {
    return this.take({ do: "append", events, durable });
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
