/**
 * The run of one conversation on disk: its folder, its log, its journal, and who is told. Loaded when something of a
 * conversation has to be kept; a one-shot that ends without a failure never comes here.
 */
import { statSync } from "node:fs";
import type { LogSink } from "../acp/ports.ts";
import { startTimeOf } from "../acp/processes.ts";
import { thisProcess } from "../acp/this-process.ts";
import type { TurnOutcome } from "../acp/types.ts";
import { systemCode } from "../errors/system-code.ts";
import { Journal } from "../failures/journal/journal.ts";
import { RunLog } from "../failures/log/run-log.ts";
import { Notifier } from "../failures/notify/notifier.ts";
import { Observer } from "../failures/observation/observer.ts";
import type { RunEntry } from "../failures/run-lines.ts";
import { RunRecorder } from "../failures/run-recorder.ts";
import type { DispositionAnswer, DispositionCall } from "../failures/run-recorder.ts";
import { newRunId } from "../failures/runs/ids.ts";
import type { RunMeta } from "../failures/runs/meta.ts";
import type { MetaPatch } from "../failures/runs/registry.ts";
import { RunRegistry } from "../failures/runs/registry.ts";
import { TrustedFold } from "./trusted-fold.ts";
import type { Confinement } from "./confinement.ts";
import type { Config } from "./config-defaults.ts";
import type { RunWishes } from "./host-options.ts";
import type { Paths } from "./paths.ts";

export interface AgentRunOptions extends RunWishes {
  readonly paths: Paths;
  readonly config: Config;
  readonly log: LogSink | undefined;
  /** Told, in a sentence, when nothing can be written down. */
  readonly onNotice: ((sentence: string) => void) | undefined;
  readonly backend: string;
  readonly cwd: string;
  /** Absent when it was not asked for. */
  readonly confinement?: Confinement | undefined;
}

/** What a prompt that is sent again may mend. */
const RETRIED: ReadonlySet<string> = new Set(["model", "session"]);

/**
 * Opens the record of a run. It goes on with the one that is named, if that is there and was started in the same way:
 * whether it is trusted is decided when a run is made.
 */
export function openAgentRun(options: AgentRunOptions): AgentRun {
  const registry = new RunRegistry(options.paths.state);
  const before = options.kept?.runId;
  const meta = before === undefined ? "missing" : registry.readMeta(before);
  const isOurs = meta === "unreadable" || (meta !== "missing" && meta.taskRuntime === isTrusted(options));
  const run = new AgentRun(registry, options, isOurs ? before : undefined);
  options.kept?.onRun(run.runId);
  return run;
}

export class AgentRun {
  readonly runId: string;
  readonly #registry: RunRegistry;
  readonly #options: AgentRunOptions;
  readonly #runLog: RunLog;
  readonly #recorder: RunRecorder;
  /** Of a run that goes on: what happens when it is known whether it is trusted. */
  readonly #fold: TrustedFold | undefined;
  #notifier: Notifier | undefined;
  /** Operations whose prompt is being sent again. */
  readonly #retried = new Set<string>();
  /** As it was made by this process; it stands in where the disk has none. */
  #made: RunMeta | undefined;
  #exit: RunMeta["exit"];
  #closing: Promise<void> | undefined;

  /** `before` goes on; its folder is there. */
  constructor(registry: RunRegistry, options: AgentRunOptions, before: string | undefined) {
    this.#registry = registry;
    this.#options = options;
    this.runId = before ?? newRunId("agent");
    this.#runLog = before === undefined ? RunLog.inMemory() : RunLog.open(registry.runFolder(before));
    this.#recorder = new RunRecorder({
      runId: this.runId,
      log: this.#runLog,
      observer: before === undefined ? this.#newObserver(isTrusted(options)) : undefined,
      openJournal: () => this.#openJournal(before !== undefined),
      onChange: () => this.#notifier?.look(),
    });
    if (before !== undefined) {
      this.#patch({ status: "running", told: [], supervisor: thisProcess() });
      this.#recorder.keep();
      this.#fold = new TrustedFold({
        registry,
        runId: before,
        recorder: this.#recorder,
        newObserver: (trusted) => this.#newObserver(trusted),
      });
      this.#fold.begin();
    } else if (options.kept !== undefined || options.confinement !== undefined) this.#recorder.keep();
  }

  /** As `RunRecorder.record`. */
  record(entry: RunEntry, t: number, chars: number): void {
    if (entry.d === "ev") this.#follow(entry.ev);
    this.#recorder.record(entry, t, chars);
  }

  /** Ostler sends a prompt again: what failed is told only if that fails too (failure observations, section 8, rule 7). */
  retryScheduled(): void {
    for (const { status, category, operation } of this.#recorder.state.incidents.values()) {
      if (status !== "unresolved" || !RETRIED.has(category)) continue;
      this.#retried.add(operation);
      this.#notifier?.retryScheduled(operation);
    }
  }

  /** As `RunRecorder.watchOperation`. */
  watchOperation(operation: string): () => boolean {
    return this.#recorder.watchOperation(operation);
  }

  /** As `RunRecorder.dispose`. */
  dispose(call: DispositionCall): Promise<DispositionAnswer> {
    return this.#recorder.dispose(call);
  }

  /** As `RunRecorder.isSpent`. */
  isSpent(attemptId: string): boolean {
    return this.#recorder.isSpent(attemptId);
  }

  /** `outcome` is that of the last turn. Everything is on disk and told when this resolves. Idempotent; never rejects. */
  close(outcome: TurnOutcome["kind"] | undefined): Promise<void> {
    this.#closing ??= this.#close(outcome);
    return this.#closing;
  }

  async #close(outcome: TurnOutcome["kind"] | undefined): Promise<void> {
    this.#fold?.end();
    this.#recorder.end();
    if (this.#recorder.journal !== undefined) {
      const bytes = statSync(this.#registry.logFile(this.runId), { throwIfNoEntry: false })?.size;
      this.#patch({
        // A lifecycle, and no verdict on the work: a run that completed may hold failures that need somebody.
        status: outcome === "failed" || outcome === "cancelled" ? outcome : "completed",
        endedAt: Date.now(),
        ...(bytes !== undefined && { observedTo: { bytes, n: this.#recorder.n } }),
        ...(this.#exit !== undefined && { exit: this.#exit }),
      });
      await this.#notifier?.ended("completion");
      await this.#notifier?.close();
    }
    await this.#recorder.close();
    if (this.#recorder.journal !== undefined) {
      const { pruneIfDue } = await import("../failures/runs/prune.ts");
      pruneIfDue(this.#registry, this.#options.config.retention);
    }
    const { problem } = this.#runLog;
    if (problem !== undefined) this.#options.onNotice?.(problem);
  }

  #follow(ev: Extract<RunEntry, { d: "ev" }>["ev"]): void {
    if (ev.type === "exited") this.#exit = { code: ev.code, signal: ev.signal };
    else if (ev.type === "turn" && ev.state === "ended") this.#retryEnded();
    else if (ev.type === "started" && this.#recorder.journal !== undefined)
      this.#patch({ process: { pid: ev.pid, startedAt: startTimeOf(ev.pid) ?? "" } });
  }

  #retryEnded(): void {
    for (const operation of this.#retried) this.#notifier?.retryEnded(operation);
    this.#retried.clear();
  }

  #newObserver(trusted: boolean): Observer {
    const { config, kept } = this.#options;
    const conversationId = kept?.conversationId ?? this.runId;
    return new Observer({ runId: this.runId, conversationId, trusted, strict: config.failures.strictRetry });
  }

  /** Where nothing can be written the journal lives in memory: what failed is told all the same. */
  #openJournal(isThere: boolean): Journal {
    const folder = this.#registry.runFolder(this.runId);
    if (!isThere) {
      this.#attempt(() => {
        this.#made = this.#newMeta();
        this.#registry.createRun(this.#made);
        this.#runLog.persist(folder);
      });
    }
    const journal = Journal.open(folder);
    const { sink, callback = true } = this.#options;
    if (sink !== undefined && callback) {
      this.#notifier = new Notifier({
        journal,
        sink,
        readMeta: () => {
          const meta = this.#registry.readMeta(this.runId);
          return typeof meta === "string" ? this.#made : meta;
        },
        markTold: (moment) =>
          this.#attempt(() => {
            this.#registry.updateMeta(this.runId, ({ told }) => ({ told: [...new Set([...told, moment])] }));
          }),
      });
    }
    return journal;
  }

  #newMeta(): RunMeta {
    const { backend, cwd, kept, confinement, callback = true } = this.#options;
    return {
      version: 1,
      id: this.runId,
      kind: "agent",
      status: "running",
      createdAt: Date.now(),
      title: backend,
      cwd,
      supervisor: thisProcess(),
      conversationId: kept?.conversationId ?? this.runId,
      backend,
      taskRuntime: isTrusted(this.#options),
      callback,
      told: [],
      ...(confinement?.trusted === false && { untrustedBecause: [confinement.because] }),
    };
  }

  #patch(patch: MetaPatch): void {
    if (this.#made !== undefined) this.#made = { ...this.#made, ...patch };
    this.#attempt(() => this.#registry.updateMeta(this.runId, patch));
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      const code = systemCode(error);
      if (code === "") throw error;
      this.#options.log?.("warn", "run.unwritable", { run: this.runId, code });
      this.#options.onNotice?.(`What fails in this run cannot be written down (${code}): ${this.#registry.folder}`);
    }
  }
}

function isTrusted({ confinement }: AgentRunOptions): boolean {
  return confinement?.trusted === true;
}
