/**
 * The background work that a turn leaves. It ends with the process of its agent, and that ends with this command: so it
 * is waited for (`--wait-tasks`), or stopped through the agent; either way the person is told what was cut.
 */
import { delay } from "../../acp/abort.ts";
import type { AsyncTask, SessionEvent, TurnEvent, TurnEventBody } from "../../acp/events.ts";
import { makeFailure, plainVerdict } from "../../acp/make-failure.ts";
import type { Session } from "../../acp/session-link.ts";
import type { TurnOutcome } from "../../acp/types.ts";
import { cleanLine } from "../../errors/redact.ts";
import type { Run } from "./ask-turn.ts";

/** How long the agent may take to stop what is left. */
const STOP_MS = 3000;
/** claude goes on by itself with what a task came to, a moment later (recording 0.101.0 bash-background-fail). */
const SETTLE_MS = 1500;
const LOOK_MS = 50;
const MAX_NAMES = 5;
const MAX_NAME_CHARS = 100;
/** Late text is shown in portions of this size at most. */
const MAX_PORTION_CHARS = 64 * 1024;
/** Events that may wait for a turn to be shown to its end. */
const MAX_HELD = 1000;

const HINT = " (--wait-tasks waits for it)";

/** Why a wait for background work ended. */
type WaitEnd = "done" | "timeout" | "stopped";

export interface LeftTurn {
  readonly id: string;
  readonly outcome: TurnOutcome;
  /** When the time is up, on the clock of `performance.now()`. */
  readonly deadlineAt: number;
}

/** Waits for what still runs, or ends it. Returns the outcome with a warning that names what was cut; never throws. */
export async function settleTasks(
  run: Run,
  session: Session,
  turn: LeftTurn,
  late = new LateEvents(session),
): Promise<TurnOutcome> {
  const { presenter, interrupt, request } = run;
  late.follow(session);
  const waits = request.options["wait-tasks"] && !interrupt.signal.aborted && (late.heardTask || isAny(session));
  if (waits) sayWaiting(run, session);
  late.release((event) => void presenter.event(event));
  const end = waits ? await waitForTasks(run, session, late, turn.deadlineAt) : undefined;
  if (end === "timeout" || end === "stopped") run.cutWait = end;
  const advises = end === undefined && turn.outcome.kind !== "cancelled";
  const when = end === "timeout" ? "when the time was up" : "with this command";
  const lost = late.lostTasks(session);
  if (end === "done" && lost.length > 0) run.cutWait = "lost";
  const cut = [...lost, ...(await stopTasks(session, when, advises ? HINT : ""))];
  late[Symbol.dispose]();
  return withWarnings(run, turn, cut);
}

/** Ends what work that was no turn leaves, as {@link settleTasks} does without waiting. */
export async function endTasks(run: Run, session: Session, work: Omit<LeftTurn, "deadlineAt">): Promise<TurnOutcome> {
  return withWarnings(run, work, await stopTasks(session, "with this command", ""));
}

function withWarnings({ presenter }: Run, turn: Omit<LeftTurn, "deadlineAt">, cut: readonly string[]): TurnOutcome {
  const failures = cut.map((title, index) =>
    makeFailure({
      verdict: plainVerdict("unknown", "tasks-cut"),
      source: "session_failure",
      id: `${turn.id}:tasks:${index + 1}`,
      revision: 1,
      replaySafety: "tool_started",
      title,
      severity: "warning",
    }),
  );
  for (const failure of failures) void presenter.event({ type: "warning", failure, late: true });
  return { ...turn.outcome, warnings: [...turn.outcome.warnings, ...failures] };
}

function isAny({ tasks }: Session): boolean {
  return tasks.length > 0;
}

function sayWaiting({ presenter, terminal }: Run, session: Session): void {
  if (!isAny(session)) return;
  const text = `Waiting for background work: ${namesOf(session.tasks)}`;
  void presenter.event({ type: "notice", from: "ostler", text, late: true });
  terminal.outlasted();
}

async function waitForTasks(
  { interrupt }: Run,
  session: Session,
  late: LateEvents,
  deadlineAt: number,
): Promise<WaitEnd> {
  for (let quietSince: number | undefined; ;) {
    const now = performance.now();
    const running = session.tasks;
    if (interrupt.signal.aborted) return "stopped";
    if (running.length > 0) {
      late.saw(running);
      quietSince = undefined;
      if (now >= deadlineAt) return "timeout";
    } else {
      quietSince ??= now;
      if (now - quietSince >= SETTLE_MS || now >= deadlineAt) return "done";
    }
    await delay(LOOK_MS);
  }
}

/** Sentences for the person: none when nothing was cut. */
async function stopTasks(session: Session, when: string, hint: string): Promise<readonly string[]> {
  const running = session.tasks;
  const asked = running.map(async (task) => ({
    task,
    answer: await session.stopTask(task.taskId, { timeoutMs: STOP_MS }),
  }));
  const answers = await Promise.all(asked);
  const left = new Set(session.tasks.map(({ taskId }) => taskId));
  const stopped = answers.filter(({ answer }) => answer.stopped);
  // What ended by itself meanwhile was not cut.
  const unclear = answers.filter(({ task, answer }) => !answer.stopped && left.has(task.taskId));
  return [
    ...(stopped.length === 0 ? [] : [`Background work was ended ${when}: ${namesOf(stopped.map(taskOf))}${hint}`]),
    ...(unclear.length === 0
      ? []
      : [`Background work did not stop, and ends with its agent: ${namesOf(unclear.map(taskOf))}${hint}`]),
  ];
}

function taskOf({ task }: { readonly task: AsyncTask }): AsyncTask {
  return task;
}

/** What a person calls them, shortened. */
function namesOf(tasks: readonly AsyncTask[]): string {
  const names = tasks.slice(0, MAX_NAMES).map(({ name }) => cleanLine(name, MAX_NAME_CHARS));
  const more = tasks.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** What a session tells after its turn: kept until it may be shown, words of one message in one piece. */
export class LateEvents implements Disposable {
  readonly #unsubscribe = new Map<Session, () => void>();
  readonly #running = new Map<string, AsyncTask>();
  #show: ((event: TurnEvent) => void) | undefined;
  #held: TurnEvent[] = [];
  #text: { readonly messageId: string | undefined; parts: string[]; chars: number } | undefined;
  /** There was background work, in the turn or after it. */
  heardTask = false;

  constructor(session: Session) {
    this.follow(session);
  }

  /** The turn may have ended in another session than it began in. */
  follow(session: Session): void {
    if (!this.#unsubscribe.has(session))
      this.#unsubscribe.set(
        session,
        session.subscribe((event) => this.#hear(event)),
      );
  }

  /** From now on everything is shown, first what was kept. */
  release(show: (event: TurnEvent) => void): void {
    this.#show = show;
    for (const event of this.#held.splice(0)) show(event);
  }

  saw(running: readonly AsyncTask[]): void {
    for (const task of running) this.#running.set(task.taskId, task);
  }

  /** One sentence for tasks whose end nobody told: their agent is gone. */
  lostTasks(session: Session): readonly string[] {
    for (const { taskId } of session.tasks) this.#running.delete(taskId);
    const lost = [...this.#running.values()];
    return lost.length === 0 ? [] : [`Background work ended with its agent: ${namesOf(lost)}`];
  }

  [Symbol.dispose](): void {
    for (const unsubscribe of this.#unsubscribe.values()) unsubscribe();
    this.#flush();
  }

  #hear({ event, late, turnId }: SessionEvent): void {
    if (event.type === "user" || event.type === "turn") return;
    this.#seeTask(event);
    // What belongs to the running turn is shown by the turn.
    if (late === undefined && turnId !== null) return;
    if (event.type === "text" && event.superseded === undefined) {
      this.#add(event.text, event.messageId);
      return;
    }
    // A usage report may stand between two pieces of one message.
    if (event.type !== "usage") this.#flush();
    this.#tell({ ...event, late: true });
  }

  #tell(event: TurnEvent): void {
    if (this.#show !== undefined) this.#show(event);
    else if (this.#held.length < MAX_HELD) this.#held.push(event);
  }

  #flush(): void {
    const text = this.#text;
    if (text === undefined) return;
    this.#text = undefined;
    const named = text.messageId === undefined ? {} : { messageId: text.messageId };
    this.#tell({ type: "text", text: text.parts.join(""), ...named, late: true });
  }

  #add(text: string, messageId: string | undefined): void {
    if (this.#text !== undefined && (this.#text.messageId !== messageId || this.#text.chars > MAX_PORTION_CHARS))
      this.#flush();
    this.#text ??= { messageId, parts: [], chars: 0 };
    this.#text.parts.push(text);
    this.#text.chars += text.length;
  }

  #seeTask(event: TurnEventBody): void {
    const told = event.type === "subagent" && "event" in event ? event.event : event;
    if (told.type !== "task") return;
    this.heardTask = true;
    if (told.state !== "running" && told.state !== "paused") this.#running.delete(told.taskId);
  }
}
