/**
 * The tool `run`: arguments, then the permission policy, then the command under confinement. Everything that happens is
 * told to the record of the run before the agent hears of it.
 */
import { statSync } from "node:fs";
import { abortable } from "../../acp/abort.ts";
import type { CommandLine, PermissionPolicy } from "../../acp/ports.ts";
import type { RunEvent } from "../../failures/run-lines.ts";
import { runConfined } from "./confined-process.ts";
import type { ConfinedEnd } from "./confined-process.ts";
import { readNamedAttempt, readRunCall } from "./run-arguments.ts";
import type { RunCall } from "./run-arguments.ts";
import type { ToolAnswer } from "./tool-answer.ts";
import { errorAnswer } from "./tool-answer.ts";
import { RUN_TOOL } from "./tool-list.ts";

/** Commands at a time; a model that starts more has lost count. */
const MAX_RUNNING = 16;
const UNDECIDED = "Whether it is allowed could not be decided";
const ALLOW = "allow";
const REJECT = "reject";

export interface RunToolOptions {
  /** Of the session: absolute, without links. */
  readonly cwd: string;
  /** The agent's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly confine: (command: CommandLine) => CommandLine;
  readonly permissions: PermissionPolicy;
  /** Writes into the run's log; must not throw. */
  readonly emit: (event: RunEvent) => void;
  /** Whether a call of this run has named the attempt before. */
  readonly isSpent: (attemptId: string) => boolean;
}

export class RunTool {
  readonly #options: RunToolOptions;
  /** Named in this process, also by calls that still wait for a permission. */
  readonly #named = new Set<string>();
  readonly #running = new Set<Promise<ToolAnswer>>();
  #stop = new AbortController();

  constructor(options: RunToolOptions) {
    this.#options = options;
  }

  /** Answers one call; the signal ends its command. Never rejects. */
  async call(callId: string, input: unknown, signal: AbortSignal): Promise<ToolAnswer> {
    if (this.#running.size >= MAX_RUNNING)
      return errorAnswer(`The command did not run: ${MAX_RUNNING} commands are running; wait until one has ended`);
    const running = this.#call(callId, input, AbortSignal.any([signal, this.#stop.signal]));
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends what is running now. Resolves when nothing of it is left. */
  async endAll(): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    await Promise.allSettled(this.#running);
  }

  async #call(callId: string, input: unknown, signal: AbortSignal): Promise<ToolAnswer> {
    const { cwd, emit } = this.#options;
    const refuse = (by: "intent" | "permission", reason: string): ToolAnswer => {
      const attemptId = readNamedAttempt(input);
      emit({
        type: "call",
        state: "refused",
        callId,
        tool: RUN_TOOL,
        input,
        by,
        reason,
        ...(attemptId !== undefined && { attemptId }),
      });
      return errorAnswer(`The command did not run: ${reason}`);
    };
    const read = readRunCall(input, cwd);
    const spent = this.#spend(readNamedAttempt(input));
    if (!read.ok) return refuse("intent", read.reason);
    if (spent !== undefined)
      return refuse("intent", `attemptId ${spent} was already used in this run; choose another one`);
    const { call } = read;
    if (!isFolder(call.cwd)) return refuse("intent", `cwd is not a folder: ${call.cwd}`);
    const denial = await abortable(this.#askPolicy(callId, call, signal), signal).catch(() => UNDECIDED);
    if (signal.aborted) return errorAnswer("The command did not run: the call was cancelled");
    if (denial !== undefined) return refuse("permission", denial);
    return this.#execute(callId, call, signal);
  }

  /** The id, when it has been named before. */
  #spend(attemptId: string | undefined): string | undefined {
    if (attemptId === undefined) return undefined;
    const isSpent = this.#named.has(attemptId) || this.#options.isSpent(attemptId);
    this.#named.add(attemptId);
    return isSpent ? attemptId : undefined;
  }

  /** Why it may not run. */
  async #askPolicy(callId: string, { command, cwd }: RunCall, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#options.permissions(
      {
        sessionId: "",
        toolCallId: callId,
        title: command,
        kind: "execute",
        rawInput: { command, cwd },
        paths: [],
        options: [
          { optionId: ALLOW, name: "Yes", kind: "allow_once" },
          { optionId: REJECT, name: "No", kind: "reject_once" },
        ],
        isQuestion: false,
      },
      signal,
    );
    if (answer.action === "select" && answer.optionId === ALLOW) return undefined;
    return answer.reason ?? "It is not allowed";
  }

  async #execute(callId: string, call: RunCall, signal: AbortSignal): Promise<ToolAnswer> {
    const { emit, env, confine } = this.#options;
    const { command, cwd, timeoutS, intent } = call;
    emit({
      type: "call",
      state: "started",
      callId,
      tool: RUN_TOOL,
      input: { command, cwd, timeout: timeoutS, ...intent },
    });
    const end = await runConfined({ command, cwd, env, confine, timeoutMs: timeoutS * 1000, signal });
    const { exitCode, signal: by, timedOut, cancelled, problem } = end;
    emit({
      type: "call",
      state: "ended",
      callId,
      tool: RUN_TOOL,
      exitCode,
      signal: by,
      timedOut,
      cancelled,
      ...(problem !== undefined && { problem }),
    });
    return answerOf(end, call);
  }
}

function answerOf(end: ConfinedEnd, { intent, timeoutS }: RunCall): ToolAnswer {
  const { output, exitCode, signal, timedOut, durationMs } = end;
  const wasEnded = timedOut || end.cancelled;
  const isExpected = !wasEnded && exitCode !== null && intent.expectedExitCodes?.includes(exitCode) === true;
  const isError = wasEnded || (exitCode !== 0 && !isExpected);
  const text = `${output}${output === "" || output.endsWith("\n") ? "" : "\n"}${endSentence(end, timeoutS, isExpected)}`;
  return {
    content: [{ type: "text", text }],
    // codex gives its model this instead of the content, so that it has to be the whole.
    structuredContent: { exitCode, signal, timedOut, durationMs, output },
    ...(isError && { isError }),
  };
}

function endSentence(end: ConfinedEnd, timeoutS: number, isExpected: boolean): string {
  const { exitCode, signal, timedOut, cancelled, problem, durationMs } = end;
  if (problem !== undefined) return `[The command could not be started: ${problem}]`;
  if (timedOut) return `[Ended after its timeout of ${timeoutS} s]`;
  if (cancelled) return "[Ended before it was done: the call was cancelled]";
  const how = exitCode === null ? `Ended by ${signal ?? "a signal"}` : `Exit code ${exitCode}`;
  return `[${how}${isExpected ? ", as expected" : ""}, after ${(durationMs / 1000).toFixed(1)} s]`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
