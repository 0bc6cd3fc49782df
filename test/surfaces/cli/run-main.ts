/** Runs the CLI in process: real agents as children, streams that remember what was written. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Input, Io } from "../../../src/surfaces/cli/io.ts";
import { Log, readLogThreshold } from "../../../src/host/log.ts";
import { ostlerPaths } from "../../../src/host/paths.ts";
import { main } from "../../../src/surfaces/cli/main.ts";
import type { StopSignal } from "../../../src/surfaces/shared/exit-code.ts";
import type { Scenario } from "../../fixtures/agents/scenario.ts";
import { agentOption } from "../../fixtures/agents/scenario.ts";

/** A stream that takes everything and tells each piece to `onText`. */
export class Collector extends Writable {
  text = "";
  readonly isTTY: boolean;
  readonly columns = 80;
  readonly #onText: (text: string) => void;

  constructor({ isTTY = false, onText = () => {} }: { isTTY?: boolean; onText?: (text: string) => void } = {}) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.#onText = onText;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.#onText(this.text);
    done();
  }
}

export interface RunOptions {
  readonly stdin?: Partial<Input> & { readonly text?: string | Buffer };
  /** What the agent does; without it argv names one. */
  readonly scenario?: Scenario;
  readonly terminal?: boolean;
  /** Called with everything on stdout so far and a way to send a signal. */
  readonly onStdout?: (text: string, signal: (name: StopSignal) => void) => void;
  readonly onStderr?: (text: string, signal: (name: StopSignal) => void) => void;
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** Fields of the configuration file. */
  readonly config?: object;
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly folder: string;
  /** Where the scripted agent keeps its log. */
  readonly log: string;
}

/** A new folder for one test. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "ostler-cli-"));
}

/** Runs one command line to its end. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { scenario, terminal = false, folder = newFolder(), config } = options;
  const log = join(folder, "agent.log");
  const listeners = new Set<(signal: StopSignal) => void>();
  const signal = (name: StopSignal) => {
    for (const listener of listeners) listener(name);
  };
  const stdout = new Collector({ isTTY: terminal, onText: (text) => options.onStdout?.(text, signal) });
  const stderr = new Collector({ isTTY: terminal, onText: (text) => options.onStderr?.(text, signal) });
  const { text = "", ...stdin } = options.stdin ?? {};
  const io: Io = {
    stdin: { kind: "other", shared: false, open: () => Readable.from([Buffer.from(text)]), ...stdin },
    stdout,
    stderr,
    env: { PATH: process.env["PATH"], OSTLER_HOME: join(folder, "home"), AGENT_LOG: log, ...options.env },
    cwd: folder,
    log: new Log(ostlerPaths({ OSTLER_HOME: join(folder, "home") }), readLogThreshold(options.env?.["OSTLER_LOG"])),
    onSignal: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const extra = scenario === undefined ? [] : ["--agent", agentOption(scenario, folder)];
  if (config !== undefined) {
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    extra.push("--config", "config.json");
  }
  const [command = "", ...rest] = argv;
  const exitCode = await main(command === "" ? [] : [command, ...extra, ...rest], io);
  await io.log.flush();
  if (listeners.size > 0) throw new Error("A signal listener was left behind");
  return { exitCode, stdout: stdout.text, stderr: stderr.text, folder, log };
}

/** The lines of `--format ndjson`. */
export function linesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
}
