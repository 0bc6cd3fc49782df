/** `ostler ask`: one prompt, one turn, one true outcome, told and turned into an exit code. Other work is told the same way. */
import type { TurnOutcome } from "../../acp/types.ts";
import { EXIT } from "../../errors/kinds.ts";
import { LOG_THRESHOLDS, readLogThreshold } from "../../host/log.ts";
import { UsageError } from "../../host/usage-error.ts";
import { decideExitCode } from "../shared/exit-code.ts";
import { outcomeWithoutTurn, resultOf } from "../shared/result.ts";
import type { AskRequest } from "./ask-request.ts";
import { runTurn } from "./ask-turn.ts";
import type { Run } from "./ask-turn.ts";
import { describeCauses, failureFor } from "./boundary.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BatchedOutput } from "./output.ts";
import { createPresenter } from "./presenters.ts";
import { Terminal } from "./terminal.ts";

/** What a tool that SIGPIPE ended would return: nobody reads the answer any more. */
const EXIT_BROKEN_PIPE = 141;
/** After a stop, a reader that does not read is waited for no longer than this. */
const FLUSH_GRACE_MS = 1000;

const NEW_CONVERSATION = "Every call of ostler ask starts a new conversation: ask again, with less in the prompt.";

/**
 * Runs the request and returns the exit code; by then no process is left. `work` is what is done, a prompt by default.
 * @throws UsageError for a request that cannot be carried out (the machine-readable formats have their result line by then).
 */
export async function ask(
  request: AskRequest,
  io: Io,
  work: (run: Run) => Promise<TurnOutcome> = runTurn,
): Promise<number> {
  using interrupt = new Interrupt(io);
  await using resources = new AsyncDisposableStack();
  let broken: NodeJS.ErrnoException | undefined;
  const stdout = new BatchedOutput(io.stdout, (error) => {
    broken = error;
    interrupt.stop();
  });
  const noColor = request.options["no-color"];
  const terminal = new Terminal({
    stdout,
    stdoutIsTerminal: io.stdout.isTTY === true,
    stderr: io.stderr,
    env: io.env,
    noColor,
  });
  const presenter = createPresenter(request.format, stdout, terminal);
  interrupt.onStop = (signal) => presenter.stopping(signal);
  const backend = request.options.backend ?? "";
  const run: Run = {
    request,
    io,
    interrupt,
    resources,
    terminal,
    presenter,
    backend,
    personSaidNo: 0,
    showsCard: false,
    words: { newConversation: NEW_CONVERSATION },
    agent: undefined,
  };
  const sayAtOnce = io.log.onBroken;
  useLog(request, io, (sentence) => presenter.notice(sentence));
  const startedAt = performance.now();
  let outcome: TurnOutcome;
  let unusable: UsageError | undefined;
  try {
    outcome = await work(run);
  } catch (error) {
    // A file that was given up on is no mistake in the request.
    if (error instanceof UsageError && !interrupt.signal.aborted) unusable = error;
    const reason = interrupt.signal.aborted ? "cancelled" : failureFor(error);
    outcome = outcomeWithoutTurn(reason, Math.round(performance.now() - startedAt), error);
  }
  // Between two attempts, or before the first, a bug finds no turn that it could end.
  if (interrupt.bug !== undefined && outcome.kind === "cancelled")
    outcome = outcomeWithoutTurn(failureFor(interrupt.bug), outcome.durationMs, interrupt.bug);
  if (outcome.kind === "failed" && outcome.failure.kind === "auth") await adviseLogin(run);
  run.showsCard = outcome.kind === "failed" || outcome.kind === "empty" || outcome.kind === "truncated";
  const exitCode = unusable?.exitCode ?? exitCodeOf(outcome, run);
  const isSaidByCaller = unusable !== undefined || interrupt.bug !== undefined;
  if (broken === undefined) present(run, outcome, exitCode, isSaidByCaller);
  interrupt.expectEnd();
  io.log.onBroken = sayAtOnce;
  await Promise.all([flushed(terminal, interrupt), resources.disposeAsync()]);
  // What failed besides is told when the run is closed.
  await flushed(terminal, interrupt);
  if (broken !== undefined && interrupt.received === undefined) return exitCodeOfBroken(broken, terminal);
  if (unusable !== undefined) throw unusable;
  return exitCode;
}

/** Only where a login is missing: it looks for programs. */
async function adviseLogin(run: Run): Promise<void> {
  const { agent, io } = run;
  if (agent === undefined) return;
  const { loginAdvice } = await import("../../host/inspect-login.ts");
  run.words = { ...run.words, loginHint: loginAdvice(agent, io) };
}

/** `--log-level` beats `OSTLER_LOG`, which has been read. What is wrong with the log is a remark while the run lasts. */
function useLog({ options }: AskRequest, { log, env }: Io, notice: (sentence: string) => void): void {
  log.onBroken = notice;
  const name = env["OSTLER_LOG"];
  if (options["log-level"] !== undefined) log.threshold = options["log-level"];
  else if (name && readLogThreshold(name) === undefined)
    notice(`OSTLER_LOG cannot be "${name}"; it is one of ${LOG_THRESHOLDS.join(", ")}`);
}

function exitCodeOf(outcome: TurnOutcome, { request, interrupt, personSaidNo, cutWait }: Run): number {
  // A turn that completed before the signal could stop it did what it was asked.
  const isDone = outcome.kind === "completed" && cutWait !== "stopped";
  const signal = isDone ? undefined : interrupt.received;
  return decideExitCode({
    outcome: outcome.kind,
    denied: outcome.denied.length > personSaidNo,
    denialWanted: request.options.approve === "none" || request.options["permission-policy"] !== undefined,
    ...(outcome.kind === "failed" && { failureKind: outcome.failure.kind }),
    ...(signal !== undefined && { signal }),
    waitTimedOut: cutWait === "timeout",
    waitLost: cutWait === "lost",
  });
}

function present(
  { request, presenter, terminal, backend, words }: Run,
  outcome: TurnOutcome,
  exitCode: number,
  isSaidByCaller: boolean,
): void {
  // A usage error and a crash are one sentence, said by the caller; only a program needs the result line as well.
  if (isSaidByCaller && (request.format === "text" || request.format === "quiet")) {
    terminal.endAnswer();
    return;
  }
  if (request.options.verbose && outcome.cause !== undefined && !isSaidByCaller) {
    for (const line of describeCauses(outcome.cause)) terminal.say(line, "dim");
  }
  const deniedByPolicy = exitCode === EXIT.permissionDenied && outcome.denied.length > 0;
  presenter.end({ outcome, result: resultOf(outcome, { backend, exitCode }), words, deniedByPolicy });
}

/** All output has left, or the run was stopped and its reader does not read. */
async function flushed(terminal: Terminal, { stopped }: Interrupt): Promise<void> {
  const givenUp = stopped.then(() => new Promise((resolve) => setTimeout(resolve, FLUSH_GRACE_MS).unref()));
  await Promise.race([terminal.finish(), givenUp]);
}

async function exitCodeOfBroken({ code, message }: NodeJS.ErrnoException, terminal: Terminal): Promise<number> {
  if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") return EXIT_BROKEN_PIPE;
  terminal.say(`ostler: Cannot write the answer: ${code ?? message}`, "failure");
  await terminal.finish();
  return EXIT.failed;
}
