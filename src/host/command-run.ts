/**
 * The life of one background command, led by the process that owns it: written down, started, waited for, observed, told.
 * How far it came (metadata) and what failed (journal) are two facts; neither is made of the other.
 */
import { KINDS } from "../errors/kinds.ts";
import { cleanLine } from "../errors/redact.ts";
import { systemCode } from "../errors/system-code.ts";
import { keyOf } from "../failures/keys.ts";
import { eventOfExit } from "../failures/observation/command-exit.ts";
import { MAX_SUMMARY_CHARS } from "../failures/records.ts";
import type { FailureEvent } from "../failures/records.ts";
import { RunRegistry } from "../failures/runs/registry.ts";
import type { RunContext, RunOutcome } from "./command-run-context.ts";
import { endOf, exitCodeOf } from "./command-run-end.ts";
import type { StopRequests } from "./command-run-end.ts";
import type { CommandLaunch, RunNews } from "./command-run-launch.ts";
import { CommandProcess, CommandUnstartable, requireProgram } from "./command-run-process.ts";
import { RunRecord } from "./command-run-record.ts";
import { recoverEarlier } from "./command-run-recovery.ts";
import { RunTeller } from "./command-run-teller.ts";
import { pollHeader, runWatch } from "./command-run-watch.ts";
import { DEFAULT_BACKEND_SETTINGS } from "./config-defaults.ts";
import { proveConfinement } from "./confinement.ts";
import type { Confinement } from "./confinement.ts";
import { childEnvironment } from "./environment.ts";
import { NoticeBox } from "./notice-box.ts";
import { ensureStateFolder, shortPath } from "./paths.ts";
import type { Paths } from "./paths.ts";

export interface SupervisorPorts {
  readonly paths: Paths;
  /** Of the supervisor; the command gets it without Ostler's secrets. */
  readonly env: NodeJS.ProcessEnv;
  /** To whoever asked for the run. Resolves with false when nobody listens any more. */
  readonly tell: (news: RunNews) => Promise<boolean>;
  readonly requests: StopRequests;
}

/** Runs it to its end, whatever that is. Resolves when all of it is written down and told. */
export async function superviseRun(launch: CommandLaunch, ports: SupervisorPorts): Promise<void> {
  const { paths, env, tell, requests } = ports;
  const registry = new RunRegistry(paths.state);
  const confinement = launch.confined ? await proveConfinement({ paths, workspace: launch.cwd, env }) : undefined;
  if (confinement?.trusted === false) await tell({ type: "unconfined", because: confinement.because });
  const record = createRecord(registry, launch, { paths, confinement });
  if (!(record instanceof RunRecord)) {
    const sentence = `No run can be written down in ${shortPath(paths.state, env)} (${record.code})`;
    await tell({ type: "refused", sentence });
    return;
  }
  const childEnv = childEnvironment({ env, surface: "ask", profile: "generic", settings: DEFAULT_BACKEND_SETTINGS });
  const teller = new RunTeller({ launch, record, env: childEnv, box: new NoticeBox(paths.state), tell });
  const start = async (): Promise<CommandProcess> => {
    const [file, ...args] = launch.command;
    // Bubblewrap is always there to be started: what it cannot start has to be known before.
    if (confinement?.trusted === true) requireProgram(file, { cwd: launch.cwd, env: childEnv });
    const process = await CommandProcess.start({
      command: confinement?.trusted === true ? confinement.confine({ file, args }) : { file, args },
      cwd: launch.cwd,
      env: childEnv,
      stdout: record.output.pipe(),
      stderr: record.output.pipe(),
    });
    record.update({ status: "running", process: process.identity });
    return process;
  };
  const deadline = launch.timeoutMs === undefined ? undefined : performance.now() + launch.timeoutMs;
  const context: RunContext = { launch, record, requests, deadline, start, look: () => teller.look() };
  const outcome = await runTask(context, teller);
  await noteLostOutput(context);
  record.update({
    status: outcome.status,
    endedAt: Date.now(),
    ...(outcome.exit !== undefined && { exit: outcome.exit }),
  });
  const { meta } = record;
  if (outcome.status === "completed" && outcome.exit?.code === 0 && meta !== undefined)
    await recoverEarlier(registry, meta);
  await teller.ended(outcome);
  await record.close();
  await tell({ type: "ended", status: outcome.status, exitCode: outcome.exitCode });
}

/** The system's code when it cannot be written. */
function createRecord(
  registry: RunRegistry,
  launch: CommandLaunch,
  { paths, confinement }: { readonly paths: Paths; readonly confinement: Confinement | undefined },
): RunRecord | { readonly code: string } {
  try {
    ensureStateFolder(paths);
    return RunRecord.create(registry, launch, confinement?.trusted === false ? [confinement.because] : []);
  } catch (error) {
    return { code: systemCode(error) || "unknown reason" };
  }
}

async function runTask(context: RunContext, teller: RunTeller): Promise<RunOutcome> {
  const { launch, record, start } = context;
  if (launch.watch !== undefined) record.output.header(pollHeader(1));
  let first: CommandProcess;
  try {
    first = await start();
  } catch (error) {
    if (!(error instanceof CommandUnstartable)) throw error;
    const problem = cleanLine(error.message, MAX_SUMMARY_CHARS);
    await noteExit(context, { code: null, signal: null, timedOut: false, problem });
    await teller.unstarted(problem);
    return { status: "failed", exitCode: KINDS.agent_spawn.exit };
  }
  await teller.started();
  if (launch.watch !== undefined) return runWatch(context, launch.watch, first);
  return runOnce(context, first);
}

async function runOnce(context: RunContext, process: CommandProcess): Promise<RunOutcome> {
  const end = await endOf(process, context.requests, context.deadline);
  const { code, signal, by } = end;
  const exit = { code, signal };
  const exitCode = exitCodeOf(end);
  if (by === "stop") return { status: "cancelled", exitCode, exit };
  const event = await noteExit(context, { ...exit, timedOut: by === "timeout" });
  return { status: event === undefined || event.expected === true ? "completed" : "failed", exitCode, exit };
}

async function noteExit(
  { record, launch, look }: RunContext,
  end: Parameters<typeof eventOfExit>[1],
): Promise<FailureEvent | undefined> {
  const evidence = `output.log#byte=${record.output.lastLineAt}`;
  const event = eventOfExit({ ...launch, id: record.id }, end, { at: Date.now(), evidence });
  if (event !== undefined) await record.note(event, { durable: true });
  look();
  return event;
}

/** What a full disk did not take is evidence that is missing. */
async function noteLostOutput({ record, look }: RunContext): Promise<void> {
  const { problem, lastLineAt } = record.output;
  if (problem === undefined) return;
  const event: FailureEvent = {
    kind: "incomplete",
    category: "observation-incomplete",
    id: `gap:output:${record.id}`,
    operation: keyOf("log-access"),
    at: Date.now(),
    summary: problem,
    evidence: `output.log#byte=${lastLineAt}`,
  };
  await record.note(event, { durable: true });
  look();
}
