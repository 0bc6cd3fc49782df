/**
 * Drives one recording through the whole product: a replay agent as a real child, and `ostler ask` in process. What the
 * command line cannot say (several prompts, several sessions, a question that stays open) goes through the library.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Backend, PermissionPolicy } from "../../src/acp/ports.ts";
import { createRuntime } from "../../src/acp/runtime.ts";
import type { Session } from "../../src/acp/session-link.ts";
import type { TurnOutcome } from "../../src/acp/types.ts";
import { createPermissionPolicy } from "../../src/host/permissions.ts";
import { Log } from "../../src/host/log.ts";
import { ostlerPaths } from "../../src/host/paths.ts";
import { main } from "../../src/surfaces/cli/main.ts";
import type { Io } from "../../src/surfaces/cli/io.ts";
import { decideExitCode, type StopSignal } from "../../src/surfaces/shared/exit-code.ts";
import { resultOf, type ResultLine } from "../../src/surfaces/shared/result.ts";
import type { Drive } from "./expectation.ts";

/** One recording and how to drive it. */
export interface ReplayJob {
  /** Absolute path of the `.jsonl`. */
  readonly recording: string;
  /** For runs through the library; the command line names it by `backend.profile`. */
  readonly backend: Backend;
  /** Prompts to send. */
  readonly turns: number;
  readonly drive: Drive;
}

/** What came of it. */
export interface Replayed {
  /** One result line per prompt. */
  readonly results: readonly ResultLine[];
  /** Everything that was printed; for a run through the library the results as JSON. */
  readonly printed: string;
  /** `session/prompt` frames that reached the agent. */
  readonly prompts: number;
  /** What its permission questions were answered with: an option id, or `cancelled`. */
  readonly answers: readonly string[];
}

const AGENT = join(import.meta.dirname, "../fixtures/agents/replay.mjs");
/** For what the recording has no prompt of. */
const PROMPT = "Please do the task.";
/** How long an agent that ignores a cancel is waited for: long enough for one that answers, on a busy machine too. */
const CANCEL_GRACE_S = 2;

/** Plays one recording and returns what the product made of it. The working folder is removed again. */
export async function replay(job: ReplayJob): Promise<Replayed> {
  const folder = mkdtempSync(join(tmpdir(), "ostler-replay-"));
  const log = join(folder, "agent.log");
  mkdirSync(join(folder, "workspace"));
  writeFileSync(log, "");
  try {
    const viaLibrary = job.turns > 1 || job.drive.holdPermission === true || job.drive.question !== undefined;
    const { results, printed } = await (viaLibrary ? promptInProcess(job, folder, log) : askOnce(job, folder, log));
    return { results, printed, ...readLog(log) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One prompt through `ostler ask --format json`. */
async function askOnce(job: ReplayJob, folder: string, log: string) {
  const { drive, backend } = job;
  const config = join(folder, "config.json");
  const command = [process.execPath, AGENT, job.recording, "--log", log];
  const timeouts = { cancelGraceS: CANCEL_GRACE_S };
  writeFileSync(
    config,
    JSON.stringify({ backends: { replay: { command, profile: backend.profile, air: backend.air } }, timeouts }),
  );
  const flags = ["--config", config, "--backend", "replay", "--format", "json"];
  if (drive.approve !== undefined) flags.push("--approve", drive.approve);
  if (drive.retries !== undefined) flags.push("--retries", String(drive.retries));
  if (drive.timeoutS !== undefined) flags.push("--timeout", String(drive.timeoutS));

  const stdout = new Collector();
  const stderr = new Collector();
  const stop = new AbortController();
  using _ = drive.abortTurn === undefined ? undefined : abortAtGate(log, stop);
  const io: Io = {
    stdin: { kind: "other", shared: false, open: () => Readable.from([]) },
    stdout,
    stderr,
    env: { ...agentEnvironment(folder), OSTLER_HOME: join(folder, "home") },
    cwd: join(folder, "workspace"),
    log: new Log(ostlerPaths({ OSTLER_HOME: join(folder, "home") })),
    onSignal: (listener) => interruptWith(listener, stop.signal),
  };
  const exitCode = await main(["ask", ...flags, promptIn(job.recording, 1)], io);
  if (stdout.text === "") throw new Error(`No result on stdout; stderr: ${stderr.text}`);
  const result: ResultLine = JSON.parse(stdout.text);
  if (result.exitCode !== exitCode) throw new Error(`The result says exit ${result.exitCode}, main said ${exitCode}`);
  return { results: [result], printed: stdout.text + stderr.text };
}

/** Several prompts on one session, or one on each of two, through the library. */
async function promptInProcess(job: ReplayJob, folder: string, log: string) {
  const { drive, backend } = job;
  const cwd = join(folder, "workspace");
  const approval = drive.approve ?? "reads";
  const question = new AbortController();
  const { question: answer } = drive;
  await using runtime = await createRuntime({
    backend,
    command: { file: process.execPath, args: [AGENT, job.recording, "--log", log] },
    cwd,
    env: agentEnvironment(folder),
    approval,
    permissions: drive.holdPermission
      ? cancelInstead(question)
      : createPermissionPolicy({ approve: approval, workspace: cwd }),
    ...(answer !== undefined && { questions: () => Promise.resolve(answer) }),
  });
  const results: ResultLine[] = [];
  const first = await runtime.openSession({ cwd });
  if (drive.twoSessions) {
    const second = await runtime.openSession({ cwd });
    results.push(
      ...(await Promise.all([first, second].map((session) => promptOnce(session, job, 1, new AbortController())))),
    );
  } else {
    for (let turn = 1; turn <= job.turns; turn += 1) {
      const stop = drive.holdPermission ? question : new AbortController();
      using _ = drive.abortTurn === turn && !drive.holdPermission ? abortAtGate(log, stop) : undefined;
      results.push(await promptOnce(first, job, turn, stop));
    }
  }
  return { results, printed: JSON.stringify(results) };
}

async function promptOnce(session: Session, job: ReplayJob, turn: number, stop: AbortController): Promise<ResultLine> {
  const { outcome } = session.prompt(promptIn(job.recording, turn), {
    retries: job.drive.retries ?? 0,
    signal: stop.signal,
    timeouts: { cancelGraceMs: CANCEL_GRACE_S * 1000 },
  });
  return lineFor(await outcome, job.backend, stop.signal);
}

/** What the recorded client said, counted from 1: `/compact` is judged as no other prompt is. */
function promptIn(recording: string, turn: number): string {
  const prompts = readFileSync(recording, "utf8")
    .split("\n")
    .filter((line) => line.includes('"session/prompt"'))
    .map((line): RecordedPrompt => JSON.parse(line));
  return prompts[turn - 1]?.frame?.params?.prompt?.[0]?.text ?? PROMPT;
}

interface RecordedPrompt {
  readonly frame?: { readonly params?: { readonly prompt?: readonly { readonly text?: string }[] } };
}

/** The line that the command line would close with. */
function lineFor(outcome: TurnOutcome, backend: Backend, interrupted: AbortSignal): ResultLine {
  const exitCode = decideExitCode({
    outcome: outcome.kind,
    ...(outcome.kind === "failed" && { failureKind: outcome.failure.kind }),
    denied: outcome.denied.length > 0,
    denialWanted: false,
    ...(interrupted.aborted && { signal: "SIGINT" }),
  });
  return resultOf(outcome, { backend: backend.id, exitCode });
}

/** A person who cancels the turn instead of answering. */
function cancelInstead(stop: AbortController): PermissionPolicy {
  return (_request, withdrawn) =>
    new Promise((resolve) => {
      withdrawn.addEventListener("abort", () => resolve({ action: "cancel", denied: false }), { once: true });
      stop.abort();
    });
}

/** Ctrl-C, as soon as `when` aborts. */
function interruptWith(listener: (signal: StopSignal) => void, when: AbortSignal): () => void {
  const interrupt = () => listener("SIGINT");
  if (when.aborted) interrupt();
  else when.addEventListener("abort", interrupt, { once: true });
  return () => when.removeEventListener("abort", interrupt);
}

/** Aborts when the agent says, from now on, that it waits for what ended the turn in the recording. */
function abortAtGate(log: string, stop: AbortController): Disposable {
  const gates = () => readFileSync(log, "utf8").split('"line":"waits for ').length;
  const passed = gates();
  const watcher = watch(log, () => {
    if (gates() > passed) stop.abort();
  });
  return { [Symbol.dispose]: () => watcher.close() };
}

function agentEnvironment(folder: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: folder };
}

function readLog(log: string): Pick<Replayed, "prompts" | "answers"> {
  const frames = readFileSync(log, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): { frame?: ClientFrame } => JSON.parse(line))
    .flatMap(({ frame }) => (frame === undefined ? [] : [frame]));
  return {
    prompts: frames.filter((frame) => frame.method === "session/prompt").length,
    answers: frames.flatMap(({ result }) => (result?.outcome === undefined ? [] : [result.outcome])).map(wordFor),
  };
}

interface ClientFrame {
  readonly method?: string;
  readonly result?: { readonly outcome?: PermissionOutcome };
}

type PermissionOutcome = { readonly outcome: string; readonly optionId?: string };

function wordFor({ outcome, optionId }: PermissionOutcome): string {
  return optionId ?? outcome;
}

class Collector extends Writable {
  text = "";

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
