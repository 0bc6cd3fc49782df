/** A watch: a command that is run again until its exit code says that what was waited for is there, or will not come. */
import { delay } from "../acp/abort.ts";
import { EXIT } from "../errors/kinds.ts";
import { cleanLine } from "../errors/redact.ts";
import { keyOf } from "../failures/keys.ts";
import type { FailureEvent, RecoveredEvent } from "../failures/records.ts";
import { MAX_SUMMARY_CHARS } from "../failures/records.ts";
import type { RunContext, RunOutcome } from "./command-run-context.ts";
import { endOf } from "./command-run-end.ts";
import type { CommandEnd } from "./command-run-end.ts";
import type { WatchPlan } from "./command-run-launch.ts";
import { CommandUnstartable } from "./command-run-process.ts";
import type { CommandExit, CommandProcess } from "./command-run-process.ts";

/** What one poll says. `negative` ends the watch as failed; `expected` and `positive` let it go on. */
export type PollVerdict = "done" | "negative" | "expected" | "positive" | "failing";

/** By the exit code alone: a signal, or a poll that could not be started, says nothing and never ends a watch. Pure. */
export function decidePoll(
  { code }: Pick<CommandExit, "code">,
  { untilExit, failExits }: Pick<WatchPlan, "untilExit" | "failExits">,
  expected: readonly number[] = [],
): PollVerdict {
  if (code === null) return "failing";
  if (code === untilExit) return "done";
  if (failExits.includes(code)) return "negative";
  if (expected.includes(code)) return "expected";
  return code === 0 ? "positive" : "failing";
}

/** The end of one poll; `problem`: it could not be started. */
type PollEnd = CommandEnd & { readonly problem?: string };

/** Polls until the watch is over. `first`: the first poll, which runs already. */
export async function runWatch(context: RunContext, plan: WatchPlan, first: CommandProcess): Promise<RunOutcome> {
  const { launch, record, requests, deadline } = context;
  let process: CommandProcess | undefined = first;
  for (let poll = 1; ; poll += 1) {
    const end: PollEnd = await (process === undefined ? startAndEnd(context) : endOf(process, requests, deadline));
    process = undefined;
    const exit = { code: end.code, signal: end.signal };
    if (end.by !== "itself") return cutShort(context, end.by, poll, exit);
    const verdict = decidePoll(end, plan, launch.expectedExitCodes);
    await notePoll(context, poll, end, verdict);
    if (verdict === "done") return { status: "completed", exitCode: EXIT.completed, exit };
    if (verdict === "negative") {
      await noteEnd(context, poll, `Poll ${poll} exited with ${end.code}, which ends the watch as failed`);
      return { status: "failed", exitCode: end.code || EXIT.failed, exit };
    }
    if (poll === plan.maxPolls) {
      await noteEnd(context, poll, `Not done after ${poll} ${poll === 1 ? "poll" : "polls"}`);
      return { status: "failed", exitCode: EXIT.failed, exit };
    }
    const interrupted = await pause(context, plan.everyMs);
    if (interrupted !== undefined) return cutShort(context, interrupted, poll, exit);
    record.output.header(pollHeader(poll + 1));
  }
}

/** The line above the output of a poll. */
export function pollHeader(poll: number): string {
  return `--- poll ${poll} · ${new Date().toISOString()} ---`;
}

async function startAndEnd({ start, requests, deadline }: RunContext): Promise<PollEnd> {
  try {
    return await endOf(await start(), requests, deadline);
  } catch (error) {
    if (!(error instanceof CommandUnstartable)) throw error;
    return { code: null, signal: null, by: "itself", problem: error.message };
  }
}

/** Undefined when the next poll is due. */
async function pause({ requests, deadline }: RunContext, everyMs: number): Promise<"timeout" | "stop" | undefined> {
  const leftMs = deadline === undefined ? Infinity : Math.max(0, deadline - performance.now());
  await delay(Math.min(everyMs, leftMs), requests.stop);
  if (requests.stop.aborted) return "stop";
  return leftMs <= everyMs ? "timeout" : undefined;
}

async function cutShort(
  context: RunContext,
  by: "timeout" | "stop",
  poll: number,
  exit: CommandExit,
): Promise<RunOutcome> {
  if (by === "stop") return { status: "cancelled", exitCode: EXIT.sigterm, exit };
  const { timeoutMs = 0 } = context.launch;
  await noteEnd(context, poll, `The watch timed out after ${timeoutMs / 1000} s`);
  return { status: "failed", exitCode: EXIT.timeout, exit };
}

async function notePoll({ record, look }: RunContext, poll: number, end: PollEnd, verdict: PollVerdict): Promise<void> {
  const operation = keyOf("watch-poll", record.id);
  if (verdict === "failing" || verdict === "expected") {
    const event = failedPoll({ runId: record.id, operation, poll, end, expected: verdict === "expected" });
    await record.note(event, { durable: verdict === "failing" });
  } else {
    const incident = record.unresolved(operation);
    if (incident === undefined) return;
    const event: RecoveredEvent = {
      kind: "recovered",
      id: `recovered:${record.id}:${poll}`,
      operation,
      at: Date.now(),
      incidents: [incident.id],
      attempt: { startN: poll, endN: poll },
    };
    await record.note(event, { durable: false });
  }
  look();
}

function failedPoll(facts: {
  readonly runId: string;
  readonly operation: string;
  readonly poll: number;
  readonly end: PollEnd;
  readonly expected: boolean;
}): FailureEvent {
  const { runId, operation, poll, end, expected } = facts;
  const { code, signal, problem } = end;
  const how = problem ?? (signal === null ? `exited with ${code}` : `was ended by ${signal}`);
  return {
    kind: "failure",
    category: "watch",
    id: `poll:${runId}:${poll}`,
    operation,
    at: Date.now(),
    summary: cleanLine(`Poll ${poll}: ${problem === undefined ? "the command " : ""}${how}`, MAX_SUMMARY_CHARS),
    evidence: `output.log#poll=${poll}`,
    expected,
    exitCode: code,
    ...(signal !== null && { signal }),
    attempt: { startN: poll, endN: poll },
  };
}

async function noteEnd({ record, look }: RunContext, poll: number, summary: string): Promise<void> {
  const event: FailureEvent = {
    kind: "failure",
    category: "watch",
    id: `watch-end:${record.id}`,
    operation: keyOf("watch-eval", record.id),
    at: Date.now(),
    summary,
    evidence: `output.log#poll=${poll}`,
    expected: false,
  };
  await record.note(event, { durable: true });
  look();
}
