/** The turn of one `ostler ask`: prompt, agent, session, events. The straight line; everything thrown goes to the caller. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { AskQuestion } from "../../acp/questions.ts";
import type { Runtime } from "../../acp/runtime.ts";
import type { PromptBlock, Turn, TurnOutcome, TurnTimeouts } from "../../acp/types.ts";
import type { Config } from "../../host/config-defaults.ts";
import { createHost } from "../../host/host.ts";
import type { AskPerson } from "../../host/permissions.ts";
import type { WireTap } from "../../acp/ports.ts";
import type { PolicyRules } from "../../host/policy-rules.ts";
import { UsageError } from "../../host/usage-error.ts";
import type { CardWords } from "../shared/failure-card.ts";
import { openConversation } from "./ask-conversation.ts";
import type { Opened } from "./ask-conversation.ts";
import type { AskRequest } from "./ask-request.ts";
import { fileProblem } from "./file-problem.ts";
import type { Interrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import type { McpServer } from "./mcp-file.ts";
import type { AskOptions } from "./options.ts";
import type { Presenter } from "./presenter.ts";
import { readPrompt, readsStdin, watchUnreadInput } from "./prompt.ts";
import type { Terminal } from "./terminal.ts";

const UNREAD_INPUT = "The data on stdin was not read; -f - adds it to the prompt.";

/** One run: what was asked for, where it goes, and what becomes known on the way. */
export interface Run {
  readonly request: AskRequest;
  readonly io: Io;
  readonly interrupt: Interrupt;
  /** Disposed of when all is said; ends the agent. */
  readonly resources: AsyncDisposableStack;
  readonly terminal: Terminal;
  readonly presenter: Presenter;
  /** The name of the agent, empty until it is chosen. */
  backend: string;
  /** Permission requests that a person denied: no policy did, and nobody was absent. */
  personSaidNo: number;
  /** A card at the end says what failed. */
  showsCard: boolean;
  /** A wait for background work did not come to its end. */
  cutWait?: "timeout" | "stopped" | "lost";
  /** What the closing card may use, as far as it is known. */
  words: CardWords;
  /** The agent that runs, for the login that it may lack. */
  agent: Pick<Runtime, "backend" | "command" | "gone"> | undefined;
}

/** Runs the turn to its outcome. Throws what keeps it from starting. */
export async function runTurn(run: Run): Promise<TurnOutcome> {
  const { request, io, interrupt, presenter } = run;
  const { options } = request;
  const workspace = readWorkspace(options.cwd, io.cwd);
  const readsInput = readsStdin({ words: request.words, file: options.file }, io.stdin);
  if (!readsInput) run.resources.defer(watchUnreadInput(io.stdin, () => presenter.notice(UNREAD_INPUT)));
  const prompt = await readBlocks(request, io, interrupt.signal);
  const { opened, timeouts } = await openRun(run, workspace);
  const late = options["wait-tasks"] ? new (await import("./ask-tasks.ts")).LateEvents(opened.session) : undefined;
  const turn = opened.prompt(prompt, {
    signal: interrupt.signal,
    timeouts,
    keepText: presenter.keepsText,
    reportChanges: options.changes,
    whenUnread: "pause",
  });
  const deadlineAt = performance.now() + timeouts.wallMs;
  const outcome = await follow(turn, run);
  if (late === undefined && opened.session.tasks.length === 0) return outcome;
  const { settleTasks } = await import("./ask-tasks.ts");
  return settleTasks(run, opened.session, { id: turn.id, outcome, deadlineAt }, late);
}

/** Starts the agent and opens the conversation that the options name. Throws what keeps it from opening. */
export async function openRun(
  run: Run,
  workspace = readWorkspace(run.request.options.cwd, run.io.cwd),
): Promise<{ readonly opened: Opened; readonly timeouts: TurnTimeouts }> {
  const { request, io, interrupt, presenter } = run;
  const { options } = request;
  const mcpServers = await readMcpOption(options.mcp, io.cwd, interrupt.signal);
  presenter.begin(run.backend || "ostler");

  const rules = await readPolicyOption(options["permission-policy"], io.cwd, interrupt.signal);
  const tap = await openTraceOption(run);
  const configFile = options.config === undefined ? undefined : resolve(io.cwd, options.config);
  const host = run.resources.use(
    await createHost({
      env: io.env,
      cwd: workspace,
      surface: "ask",
      signal: interrupt.signal,
      log: io.log.write,
      ...given({ configFile, recorder: io.recorder }),
    }),
  );
  for (const warning of host.warnings) presenter.notice(warning);
  const additionalDirectories = options["add-dir"].map((folder) => readWorkspace(folder, io.cwd));
  const opened = await openConversation(run, host, {
    ...given({ backend: options.backend, agent: options.agent, profile: options.profile, approve: options.approve }),
    cwd: workspace,
    additionalDirectories,
    isTty: io.stdout.isTTY === true,
    ...given({ tap, rules, model: options.model, mode: options.mode, retries: options.retries }),
    configOptions: request.configOptions,
    mcpServers,
    signal: interrupt.signal,
    onNotice: (sentence) => presenter.notice(sentence),
    onSelected: (backend) => {
      run.backend = backend;
    },
    onRuntime: (runtime) => {
      interrupt.kill = (bug) => runtime.kill(bug);
      run.agent = runtime;
      run.words = { ...run.words, profile: runtime.backend.profile };
    },
    ...(options.confined && { confined: true }),
    run: { sink: { deliver: async (told) => (await import("./run-notices.ts")).tell(run, told) } },
    ...(await personToAsk(run)),
  });
  run.words = { ...run.words, usableModels: opened.session.models };
  return { opened, timeouts: turnTimeouts(options, host.config.timeouts) };
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

async function readMcpOption(
  files: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<readonly McpServer[]> {
  if (files.length === 0) return [];
  const { readMcpServers } = await import("./mcp-file.ts");
  return readMcpServers(files, cwd, signal);
}

async function readPolicyOption(
  file: string | undefined,
  cwd: string,
  signal: AbortSignal,
): Promise<PolicyRules | undefined> {
  if (file === undefined) return undefined;
  const { readPolicyFile } = await import("../../host/policy-file.ts");
  return readPolicyFile(resolve(cwd, file), signal);
}

async function openTraceOption({ request, io, presenter, resources }: Run): Promise<WireTap | undefined> {
  const file = request.options.trace;
  if (file === undefined) return undefined;
  const { openTrace } = await import("../../host/trace.ts");
  return resources.use(openTrace(resolve(io.cwd, file), (sentence) => presenter.notice(sentence))).tap;
}

/** Questions of the agent go to the person only where one sits: at a terminal that shows remarks. */
async function personToAsk(run: Run): Promise<{ ask?: AskPerson; askQuestion?: AskQuestion }> {
  const { request, io, terminal } = run;
  if (io.stdin.kind !== "terminal" || io.stderr.isTTY !== true || request.format !== "text") return {};
  const { createPerson } = await import("./person.ts");
  return createPerson(io, terminal, { onNo: () => (run.personSaidNo += 1), agent: () => run.backend });
}

function readWorkspace(folder: string | undefined, cwd: string): string {
  const path = resolve(cwd, folder ?? ".");
  let problem = "there is no such folder";
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  } catch (error) {
    problem = fileProblem(error);
  }
  throw new UsageError(`Cannot work in ${folder ?? path}: ${problem}`);
}

/** A flag beats the configuration. Whoever bounds silence bounds the first silence too. */
function turnTimeouts(
  options: AskOptions,
  { turnS, idleS, toolS, firstByteS, cancelGraceS }: Config["timeouts"],
): TurnTimeouts {
  const idle = options["idle-timeout"];
  return {
    wallMs: (options.timeout ?? turnS) * 1000,
    idleMs: (idle ?? idleS) * 1000,
    toolMs: (options["tool-timeout"] ?? toolS) * 1000,
    firstByteMs: Math.min(firstByteS, idle ?? Infinity) * 1000,
    cancelGraceMs: cancelGraceS * 1000,
  };
}

/** The entries that have a value. */
function given<Values extends object>(values: Values): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names and values come out as they went in
  return Object.fromEntries(entries) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}
