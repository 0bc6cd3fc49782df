/** Starts the process of one need: its limits from the configuration, and whoever listens to it. */
import type { FailureSink, LogSink, PermissionPolicy, ProcessLedger, WireTap } from "../acp/ports.ts";
import type { AskQuestion } from "../acp/questions.ts";
import type { StartDelay } from "../acp/restart-budget.ts";
import type { RuntimeSpec } from "../acp/runtime-binding.ts";
import { createRuntime } from "../acp/runtime.ts";
import type { Runtime } from "../acp/runtime.ts";
import type { Config } from "./config-defaults.ts";
import type { ConversationRun } from "./conversation-run.ts";
import type { FlightRecorder } from "./flight-recorder.ts";

/** A need for an agent, with what only its process can be given. */
export interface HostSpec extends RuntimeSpec {
  readonly permissions: PermissionPolicy;
  readonly questions: AskQuestion | undefined;
  readonly sink: FailureSink | undefined;
  readonly tap: WireTap | undefined;
  /** The run that the process belongs to. */
  readonly run: ConversationRun | undefined;
}

/** Throws what `createRuntime` throws, and UsageError for a gate that the settings of codex leave open. */
export async function startAgent(
  { backend, binding, permissions, questions, sink, tap, run }: HostSpec,
  host: {
    readonly config: Config;
    readonly ledger: ProcessLedger;
    readonly log: LogSink | undefined;
    readonly recorder: FlightRecorder | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Runtime> {
  const { config, ledger, log, recorder, signal } = host;
  const { timeouts, limits } = config;
  if (binding.gate === "required" && backend.profile === "codex") {
    const { requireAskingSettings } = await import("./codex-allowances.ts");
    requireAskingSettings(binding);
  }
  const listeners = run?.nextProcess({ cwd: binding.cwd, ledger });
  const frameListeners = [recorder?.listen(backend.id), listeners?.onFrame].filter((listen) => listen !== undefined);
  try {
    const runtime = await createRuntime({
      backend,
      ...binding,
      permissions,
      signal,
      timeouts: {
        handshakeMs: timeouts.handshakeS * 1000,
        sessionMs: timeouts.sessionS * 1000,
        permissionMs: timeouts.permissionS * 1000,
        turn: {
          wallMs: timeouts.turnS * 1000,
          idleMs: timeouts.idleS * 1000,
          toolMs: timeouts.toolS * 1000,
          firstByteMs: timeouts.firstByteS * 1000,
          cancelGraceMs: timeouts.cancelGraceS * 1000,
        },
      },
      lineBytes: limits.lineBytes,
      ledger: listeners?.ledger ?? ledger,
      ...(questions !== undefined && { questions }),
      ...(sink !== undefined && { sink }),
      ...(tap !== undefined && { tap }),
      ...(listeners !== undefined && { processTap: listeners.processTap }),
      ...(log !== undefined && { log }),
      ...(frameListeners.length > 0 && {
        onFrame: (dir, frame, chars) => {
          for (const listen of frameListeners) listen(dir, frame, chars);
        },
      }),
    });
    listeners?.running(runtime);
    return runtime;
  } catch (error) {
    listeners?.notStarted(error);
    throw error;
  }
}

/** For the person who waits. */
export function delaySentence(backend: string, { delayMs, title }: StartDelay): string {
  return `${backend} crashed a moment ago (${title}); it is started again in ${(delayMs / 1000).toFixed(1)} s`;
}
