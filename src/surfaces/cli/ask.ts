/** `ostler ask`: one prompt, one turn, one true outcome. The straight line from request to exit code. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { EXIT } from "../../errors/kinds.ts";
import type { PromptBlock, Turn, TurnOutcome, TurnTimeouts } from "../../acp/types.ts";
import type { Config } from "../../host/config-defaults.ts";
import { createHost } from "../../host/host.ts";
import type { AskPerson } from "../../host/permissions.ts";
import { UsageError } from "../../host/usage-error.ts";
import { decideExitCode } from "../shared/exit-code.ts";
import type { CardWords } from "../shared/failure-card.ts";
import { outcomeWithoutTurn, resultOf } from "../shared/result.ts";
import type { AskRequest } from "./ask-request.ts";
import type { AskOptions } from "./options.ts";
import { describeCauses, failureFor } from "./boundary.ts";
import { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { BatchedOutput } from "./output.ts";
import type { Presenter } from "./presenter.ts";
import { createPresenter } from "./presenters.ts";
import { readPrompt, readsStdin, watchUnreadInput } from "./prompt.ts";
import { Terminal } from "./terminal.ts";

/** What a tool that SIGPIPE ended would return: nobody reads the answer any more. */
const EXIT_BROKEN_PIPE = 141;
/** After a stop, a reader that does not read is waited for no longer than this. */
const FLUSH_GRACE_MS = 1000;

const UNREAD_INPUT = "The data on stdin was not read; -f - adds it to the prompt.";
const NEW_CONVERSATION = "Every call of ostler ask starts a new conversation: ask again, with less in the prompt.";

/** One run: what was asked for, where it goes, and what becomes known on the way. */
interface Run {
  readonly request: AskRequest;
  readonly io: Io;
  readonly interrupt: Interrupt;
  readonly resources: AsyncDisposableStack;
  readonly terminal: Terminal;
  readonly presenter: Presenter;
  /** The name of the agent, empty until it is chosen. */
  backend: string;
  words: CardWords;
}

/**
 * Runs the request and returns the exit code; by then no process is left.
 * @throws UsageError for a request that cannot be carried out (the machine-readable formats have their result line by then).
 */
export async function ask(request: AskRequest, io: Io): Promise<number> {
  using interrupt = new Interrupt(io.onSignal);
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
  const backend = request.options.backend ?? "";
  const run: Run = {
    request,
    io,
    interrupt,
    resources,
    terminal,
    presenter,
    backend,
    words: { newConversation: NEW_CONVERSATION },
  };
  const startedAt = performance.now();
  let outcome: TurnOutcome;
  let unusable: UsageError | undefined;
  try {
    outcome = await runTurn(run);
  } catch (error) {
    if (error instanceof UsageError) unusable = error;
    const reason = interrupt.signal.aborted ? "cancelled" : failureFor(error);
    outcome = outcomeWithoutTurn(reason, Math.round(performance.now() - startedAt), error);
  }
  const exitCode = unusable?.exitCode ?? exitCodeOf(outcome, run);
  if (broken === undefined) present(run, outcome, exitCode, unusable !== undefined);
  interrupt.expectEnd();
  await Promise.all([flushed(terminal, interrupt), resources.disposeAsync()]);
  if (broken !== undefined) return exitCodeOfBroken(broken, terminal);
  if (unusable !== undefined) throw unusable;
  return exitCode;
}

async function runTurn(run: Run): Promise<TurnOutcome> {
  const { request, io, interrupt, presenter } = run;
  const { options } = request;
  const workspace = readWorkspace(options.cwd, io.cwd);
  const readsInput = readsStdin({ words: request.words, file: options.file }, io.stdin);
  if (!readsInput) run.resources.defer(watchUnreadInput(io.stdin, () => presenter.notice(UNREAD_INPUT)));
  const prompt = await readBlocks(request, io, interrupt.signal);
  const mcpServers =
    options.mcp.length === 0 ? [] : await (await import("./mcp-file.ts")).readMcpServers(options.mcp, io.cwd);
  presenter.begin(run.backend || "ostler");

  const configFile = options.config === undefined ? undefined : resolve(io.cwd, options.config);
  const host = run.resources.use(
    await createHost({ env: io.env, cwd: workspace, surface: "ask", ...given({ configFile }) }),
  );
  for (const warning of host.warnings) presenter.notice(warning);
  const additionalDirectories = options["add-dir"].map((folder) => readWorkspace(folder, io.cwd));
  const { runtime, settings, notice, ...opened } = await host.openRuntime({
    ...given({ backend: options.backend, agent: options.agent, profile: options.profile, approve: options.approve }),
    cwd: workspace,
    additionalDirectories,
    isTty: io.stdout.isTTY === true,
    signal: interrupt.signal,
    ...(await personToAsk(run)),
  });
  interrupt.kill = () => runtime.kill();
  run.backend = opened.backend;
  const { loginHint, profile } = runtime.backend;
  run.words = { ...run.words, loginHint, profile };
  if (notice !== undefined) presenter.notice(notice);

  const session = await runtime.openSession({
    cwd: workspace,
    ...given({ model: options.model ?? settings.model, mode: options.mode ?? settings.mode }),
    configOptions: request.configOptions,
    mcpServers,
    additionalDirectories,
    signal: interrupt.signal,
  });
  run.words = { ...run.words, usableModels: session.models };
  const turn = session.prompt(prompt, {
    signal: interrupt.signal,
    timeouts: turnTimeouts(options, host.config.timeouts),
    retries: options.retries ?? host.config.retry.retries,
    keepText: presenter.keepsText,
    whenUnread: "pause",
  });
  return follow(turn, run);
}

/**
 * Shows events as they come, at the pace of the reader. A turn that is over is not held up by one that stopped reading;
 * after a stop such a reader is given up, so that the agent can be heard saying that it stopped.
 */
async function follow(
  { events, outcome }: Turn,
  { presenter, interrupt: { signal, stopped } }: Run,
): Promise<TurnOutcome> {
  for await (const event of events) {
    const behind = presenter.event(event);
    if (behind === undefined) continue;
    await Promise.race([behind, outcome, stopped]);
    if (signal.aborted) break;
  }
  return outcome;
}

async function readBlocks(
  { options, words }: AskRequest,
  io: Io,
  signal: AbortSignal,
): Promise<string | PromptBlock[]> {
  const text = await readPrompt({ words, file: options.file }, io, signal);
  if (options.attach.length === 0) return text;
  const { readAttachments } = await import("./attachments.ts");
  return [{ type: "text", text }, ...(await readAttachments(options.attach, io.cwd))];
}

/** Permission questions go to the person only where one sits: at a terminal that shows remarks. */
async function personToAsk({ request, io, terminal }: Run): Promise<{ ask?: AskPerson }> {
  if (io.stdin.kind !== "terminal" || io.stderr.isTTY !== true || request.format !== "text") return {};
  const { createAskPerson } = await import("./ask-person.ts");
  return { ask: createAskPerson(io, terminal) };
}

function readWorkspace(folder: string | undefined, cwd: string): string {
  const path = resolve(cwd, folder ?? ".");
  if (folder === undefined || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new UsageError(`Cannot work in ${folder}: there is no such folder`);
}

/** A flag beats the configuration. Whoever bounds silence bounds the first silence too. */
function turnTimeouts(
  options: AskOptions,
  { turnS, idleS, toolS, firstByteS, cancelGraceS, permissionS }: Config["timeouts"],
): TurnTimeouts {
  const idle = options["idle-timeout"];
  return {
    wallMs: (options.timeout ?? turnS) * 1000,
    idleMs: (idle ?? idleS) * 1000,
    toolMs: (options["tool-timeout"] ?? toolS) * 1000,
    firstByteMs: Math.min(firstByteS, idle ?? Infinity) * 1000,
    cancelGraceMs: cancelGraceS * 1000,
    permissionMs: permissionS * 1000,
  };
}

function exitCodeOf(outcome: TurnOutcome, { request, interrupt }: Run): number {
  const signal = outcome.kind === "cancelled" ? interrupt.received : undefined;
  return decideExitCode({
    outcome: outcome.kind,
    denied: outcome.denied.length > 0,
    denialWanted: request.options.approve === "none",
    ...given({ signal, failureKind: outcome.kind === "failed" ? outcome.failure.kind : undefined }),
  });
}

function present(
  { request, presenter, terminal, backend, words }: Run,
  outcome: TurnOutcome,
  exitCode: number,
  isUsage: boolean,
): void {
  if (request.options.verbose && outcome.cause !== undefined) {
    for (const line of describeCauses(outcome.cause)) terminal.say(line, "dim");
  }
  // A usage error is one sentence, said by the caller; only a program needs the result line as well.
  if (isUsage && (request.format === "text" || request.format === "quiet")) return;
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

/** The entries that have a value. */
function given<Values extends object>(values: Values): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names and values come out as they went in
  return Object.fromEntries(entries) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}
