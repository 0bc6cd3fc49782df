/**
 * Starts the supervisor of a background command as a process that outlives this one: a session of its own, so that the
 * terminal's end does not reach it, and nothing of the caller's stdio. The two speak over a channel until one leaves.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isNews } from "../../host/command-run-launch.ts";
import type { CommandLaunch, RunNews } from "../../host/command-run-launch.ts";
import type { Io } from "./io.ts";

/** The CLI from this module: in the bundle of the command, in that of a test, in the sources. */
const PLACES = ["./ostler.cjs", "./ostler.js", "./ostler.ts"];

export class SupervisorLink {
  readonly #process: ChildProcess;
  readonly #news: RunNews[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  constructor(launch: CommandLaunch, { env, cwd }: Pick<Io, "env" | "cwd">) {
    const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
    const ostler = files.find((file) => existsSync(file)) ?? files[0]!;
    // In the caller's folder: a relative OSTLER_HOME is looked for from there.
    this.#process = spawn(process.execPath, [ostler, "run-supervisor"], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#process.on("message", (message) => {
      if (isNews(message)) this.#news.push(message);
      this.#wake();
    });
    for (const event of ["error", "exit", "disconnect"] as const) this.#process.on(event, () => this.#end());
    this.#process.send(launch, () => {});
  }

  /** What it tells, in order; ends when it has left, or when we have. */
  async *news(): AsyncGenerator<RunNews, void> {
    for (;;) {
      const next = this.#news.shift();
      if (next !== undefined) yield next;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Asks it to end the command: the first time softly, the second time at once. */
  stop(): void {
    this.#process.kill("SIGTERM");
  }

  /** Leaves it to itself. */
  leave(): void {
    this.#process.removeAllListeners();
    if (this.#process.connected) this.#process.disconnect();
    this.#process.unref();
    this.#end();
  }

  /** What it said last may arrive after its exit was told. */
  #end(): void {
    setImmediate(() => {
      this.#isOver = true;
      this.#wake();
    });
  }
}
