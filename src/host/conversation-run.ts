/**
 * Listens to one conversation for as long as nothing of it has to be kept, and hands everything over to the record of its
 * run when something has: a tool call, a failure, a death. It is on the way of every one-shot, so it does next to nothing.
 */
import type { FailureSink, FrameListener, LogSink, ProcessLedger, WireTap } from "../acp/ports.ts";
import type { Runtime } from "../acp/runtime.ts";
import type { Session } from "../acp/session-link.ts";
import type { Turn, TurnOutcome } from "../acp/types.ts";
import { AcpError } from "../errors/acp-error.ts";
import type { Failure } from "../errors/failure.ts";
import { AcpRuntimeError } from "../errors/runtime-error.ts";
import type { RunEntry, RunEvent } from "../failures/run-lines.ts";
import type { DispositionAnswer, DispositionCall } from "../failures/run-recorder.ts";
import type { AgentRun } from "./agent-run.ts";
import { HeldEntries, updateKind } from "./held-entries.ts";

/** What listens to one process of the run. */
export interface ProcessListeners {
  readonly onFrame: FrameListener;
  readonly processTap: WireTap;
  readonly ledger: ProcessLedger;
  /** It shook hands. */
  readonly running: (runtime: Runtime) => void;
  /** It did not; `error` is what `createRuntime` threw. */
  readonly notStarted: (error: unknown) => void;
}

export class ConversationRun {
  readonly #open: () => Promise<AgentRun>;
  readonly #log: LogSink | undefined;
  readonly #held = new HeldEntries();
  #record: AgentRun | undefined;
  #opening: Promise<void> | undefined;
  #processes = 0;
  /** A process was started. */
  #hasBegun = false;
  #lastOutcome: TurnOutcome["kind"] | undefined;

  /** `open` makes the record; it is called once, when something has to be kept. */
  constructor(open: () => Promise<AgentRun>, log?: LogSink) {
    this.#open = open;
    this.#log = log;
  }

  /** Keeps everything from now on. Resolves when the record is open; never rejects. */
  keep(): Promise<AgentRun | undefined> {
    this.#opening ??= this.#openRecord();
    return this.#opening.then(() => this.#record);
  }

  /** Listeners for the next process. */
  nextProcess({ cwd, ledger }: { readonly cwd: string; readonly ledger: ProcessLedger }): ProcessListeners {
    const n = (this.#processes += 1);
    const exit = Promise.withResolvers<{ readonly code: number | null; readonly signal: string | null }>();
    let isKnown = false;
    const ended = async (why: Failure | undefined): Promise<void> => {
      const fact = await exit.promise;
      const expected = why === undefined;
      this.#event({ type: "exited", n, ...fact, expected, ...(why !== undefined && { title: why.title }) });
    };
    return {
      onFrame: (dir, frame, chars) => this.#frame(dir, frame, chars),
      processTap: (entry) => {
        if (entry.dir === "stderr") this.#entry({ d: "err", text: entry.line }, entry.line.length);
        else if (entry.dir === "exit") exit.resolve({ code: entry.code, signal: entry.signal });
      },
      ledger: {
        started: (agent) => {
          ledger.started(agent);
          this.#hasBegun = true;
          if (!isKnown) this.#event({ type: "started", n, pid: agent.pid, cwd });
          isKnown = true;
        },
        ended: (agent) => ledger.ended(agent),
      },
      running: (runtime) => {
        void runtime.gone.then((end) => ended(end.expected ? undefined : end.failure));
      },
      notStarted: (error) => {
        const failure = failureOf(error);
        void ended(failure?.source === "exit" ? failure : undefined);
      },
    };
  }

  /** A sink that writes failures down before it passes them on. */
  sink(next: FailureSink | undefined): FailureSink {
    return (failure, context) => {
      if (failure.severity === "error") this.#event({ type: "failure", failure, ...context });
      next?.(failure, context);
    };
  }

  /** Hears when Ostler itself tries again: until that ended, nobody needs to be told of what it tries again for. */
  listen(session: Session): void {
    session.subscribe(({ event }) => {
      if (event.type === "retry" && event.by === "ostler") this.#record?.retryScheduled();
    });
  }

  /** Follows a turn that was just begun. */
  turn({ id: turnId, outcome }: Turn, sessionId: string): void {
    this.#event({ type: "turn", state: "started", turnId, sessionId });
    void outcome.then((ended) => this.#turnEnded(turnId, ended));
  }

  /**
   * The conversation could not be opened. A session that somebody else uses, and a stop, are no failure of the run; without
   * a process, and without an earlier one, there is no run.
   */
  failed(error: unknown): void {
    const failure = failureOf(error);
    if (failure === undefined || failure.kind === "busy") return;
    if (!this.#hasBegun && this.#opening === undefined) return;
    this.#lastOutcome = "failed";
    this.#event({ type: "failure", failure, sessionId: null, turnId: null });
  }

  /** What happened beside the frames: calls of Ostler's own tools. */
  note(event: RunEvent): void {
    this.#event(event);
  }

  /** As `AgentRun.isSpent`, of a run that is kept; without a record nobody can tell. */
  isSpent(attemptId: string): boolean {
    return this.#record?.isSpent(attemptId) ?? true;
  }

  /** As `AgentRun.watchOperation`, of a run that is kept. */
  watchOperation(operation: string): () => boolean {
    return this.#record?.watchOperation(operation) ?? (() => false);
  }

  /** As `AgentRun.dispose`, of a run that is kept. */
  async dispose(call: DispositionCall): Promise<DispositionAnswer> {
    const record = await this.keep();
    return record?.dispose(call) ?? { accepted: false, message: "Nothing is recorded of this run" };
  }

  /** Nothing more comes. Resolves when all is written and told; never rejects. */
  async close(): Promise<void> {
    // An exit is told in the microtasks after the end of its process.
    await new Promise(setImmediate);
    await this.#opening;
    await this.#record?.close(this.#lastOutcome);
  }

  #turnEnded(turnId: string, { kind, sessionId }: TurnOutcome): void {
    this.#lastOutcome = kind;
    this.#event({ type: "turn", state: "ended", turnId, sessionId, outcome: kind, hasOutput: kind === "completed" });
  }

  #event(ev: RunEvent): void {
    this.#entry({ d: "ev", ev }, 0);
  }

  /** On the way of every frame: a piece of an answer makes nothing new as long as nothing is kept. */
  #frame(d: "in" | "out", frame: unknown, chars: number): void {
    if (this.#record !== undefined) {
      this.#record.record({ d, frame }, Date.now(), chars);
      return;
    }
    const kind = d === "in" ? updateKind(frame) : undefined;
    if (kind === "agent_message_chunk" || kind === "agent_thought_chunk") this.#held.addPiece(frame, chars);
    else {
      this.#held.add({ d, frame }, chars);
      if (kind === "tool_call" || kind === "tool_call_update") void this.keep();
    }
  }

  #entry(entry: RunEntry, chars: number): void {
    if (this.#record !== undefined) {
      this.#record.record(entry, Date.now(), chars);
      return;
    }
    this.#held.add(entry, chars);
    if (this.#opening === undefined && hasToBeKept(entry)) void this.keep();
  }

  async #openRecord(): Promise<void> {
    try {
      const record = await this.#open();
      for (const { entry, t, chars } of this.#held.take()) record.record(entry, t, chars);
      this.#record = record;
    } catch (error) {
      // A full disk is no reason: this is a bug, or a damaged installation, and no turn ends for it.
      this.#log?.("error", "run.unopened", { error });
    }
  }
}

/** Whether something may have to be observed from it: everything else changes nothing. */
function hasToBeKept(entry: RunEntry): boolean {
  if (entry.d !== "ev") return false;
  const { ev } = entry;
  return (
    ev.type === "failure" ||
    (ev.type === "exited" && !ev.expected) ||
    (ev.type === "turn" && ev.state === "ended" && ev.outcome === "empty")
  );
}

function failureOf(error: unknown): Failure | undefined {
  return error instanceof AcpError || error instanceof AcpRuntimeError ? error.failure : undefined;
}
